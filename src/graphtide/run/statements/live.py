"""Statements on live graphs, carried out.

A workspace keeps a live graph open from the first statement on that is about it; so one process
that carries out a script reads it once. What only looks leaves the folder to whoever writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import live_statements as s
from graphtide.lang.gvdl.tree import Duration
from graphtide.model.errors import ExistsError, InputError, StoreError
from graphtide.model.wording import counted
from graphtide.run.catalog.rows import table_of
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.expiry import told_keep
from graphtide.run.durable.files import edge_types, read_file_rows, vertex_types
from graphtide.run.durable.live_store import is_live
from graphtide.run.durable.recover import Replay
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.statements.answers import Answer, Made
from graphtide.run.statements.live_at_hand import (
    check_live,
    committed,
    live_at_hand,
    live_names,
    told_state,
)
from graphtide.run.statements.live_registered import (
    create_program,
    create_query,
    drop_registered,
    explain_registered,
    show_registered,
)
from graphtide.run.views.sources import frame_source

_ROWS = {
    "insert": "edges",
    "delete": "edges",
    "vertices": "vertices",
    "update": "edges",
    "remove": "vertices",
}
"""What the file of each clause of an advance holds."""


def create_live(space: Workspace, statement: s.CreateLive) -> Answer[Made]:
    """Begin a live graph of files, or make the graph of that name live."""
    name = statement.name
    folder = space.catalog.graph_folder(name)
    if is_live(folder) or (statement.edges is not None and space.catalog.has_graph(name)):
        raise ExistsError(
            f"there is a {'live ' * is_live(folder)}graph '{name}' already",
            where=str(folder),
            hint=f"give another name, or delete it first: delete graph {name}",
        )
    if statement.edges is None and not space.catalog.has_graph(name):
        raise language_error(
            f"there is no graph '{name}' that could become live",
            statement.span,
            f"say what it begins with: create live graph {name} with edges from 'FILE'; "
            "on the command line, --edges FILE",
        )
    if statement.edges is None and not statement.directed:
        raise language_error(
            f"'undirected' is said of files, and the graph '{name}' is stored already",
            statement.span,
            "leave it out: the live graph is directed if the graph is; or load that anew",
        )
    start = None if statement.edges is None else _start(statement)
    try:
        space.close_live(name)
        graph = space.live(name, start, keep=_period(statement), time=statement.time)
    except InputError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    space._live[name] = graph
    return Answer(told_state(graph))


def _start(statement: s.CreateLive) -> MemoryGraph:
    ends, key = (statement.src or "src", statement.dst or "dst"), statement.id or "id"
    edges, vertices = _files(statement, {})
    found = [edges.schema.field(name).type for name in ends if name in edges.column_names]
    if vertices is not None and key in vertices.column_names:
        found.append(vertices.schema.field(key).type)
    if any(map(pa.types.is_string, found)) and any(map(pa.types.is_integer, found)):
        edges, vertices = _files(statement, dict.fromkeys((*ends, key), pa.string()))
    if vertices is not None and statement.id in vertices.column_names:
        names = ["id" if name == statement.id else name for name in vertices.column_names]
        vertices = vertices.rename_columns(names)
    source = frame_source(edges, *ends, vertices, directed=statement.directed)
    return MemoryGraph._of_source(source, simple=False)


def _files(
    statement: s.CreateLive, types: dict[str, pa.DataType]
) -> tuple[pa.Table, pa.Table | None]:
    """The edges and the vertices that a graph begins with."""
    assert statement.edges is not None
    edges = read_file_rows(statement.edges, "edges", types, statement.separator)
    if statement.vertices is None:
        return edges, None
    return edges, read_file_rows(statement.vertices, "vertices", types, statement.separator)


def _period(statement: s.CreateLive) -> Any:
    keep = statement.keep
    if isinstance(keep, Duration):
        return f"{keep.count} {keep.unit}{'' if keep.count == 1 else 's'}"
    return None if keep is None else keep.value


def advance_live(space: Workspace, statement: s.AdvanceLive) -> Answer[Made]:
    """One batch of files; none where a batch of its id was applied before."""
    graph = live_at_hand(space, statement.name, statement.span)
    if statement.id is not None and graph.applied(statement.id):
        return Answer(f"the batch '{statement.id}' was applied before; {told_state(graph)}")
    types = {"edges": edge_types(graph._shape), "vertices": vertex_types(graph._shape)}
    tables = {
        clause: read_file_rows(path, rows, types[rows], statement.separator)
        for clause, rows in _ROWS.items()
        if (path := getattr(statement, clause)) is not None
    }
    if "remove" in tables:
        tables["remove"] = _ids(tables["remove"], statement)
    graph.advance(**tables, match=statement.match, id=statement.id)
    return Answer(told_state(graph))


def _ids(table: Any, statement: s.AdvanceLive) -> Any:
    if "id" not in table.column_names:
        raise InputError(
            "the file of vertices to remove has no column 'id'",
            where=statement.remove,
            hint=f"it has {', '.join(table.column_names)}",
        )
    return table.column("id").to_pylist()


def show_live(space: Workspace, statement: s.ShowLive) -> Answer[Made]:
    """All live graphs, or one."""
    if statement.name is not None:
        check_live(space, statement.name, statement.span)
    names = live_names(space) if statement.name is None else [statement.name]
    rows, notes = [], []
    for name in names:
        try:
            rows.append(_state_row(name, committed(space, name)))
        except StoreError as error:
            notes.append(error.what)
    columns = ("live graph", "version", "vertices", "edges", "programs", "queries", "keep")
    return Answer(counted(len(rows), "live graph"), table_of(columns, rows), notes=tuple(notes))


def set_live(space: Workspace, statement: s.SetLive) -> Answer[Made]:
    """Give the queries on a live graph another budget, or other landmarks, also after a start."""
    graph = live_at_hand(space, statement.graph, statement.span)
    try:
        if statement.what == "budget":
            graph.set_budget(statement.to)
        else:
            graph.set_landmarks(_landmarks(statement))
    except InputError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return Answer(graph.explain().partition("\n  ")[0])


def _landmarks(statement: s.SetLive) -> Landmarks | None:
    if statement.to is None:
        return None
    return Landmarks(int(statement.to), "far" if statement.far else "degree")


def _state_row(name: str, replay: Replay) -> tuple[object, ...]:
    tables, state = replay.tables(), replay.state
    keep = None if state.keep is None else told_keep(state.keep, replay.shape)
    sizes = tables.vertices.num_rows, tables.edges.num_rows - len(tables.gone)
    return name, state.version, *sizes, len(state.registered), len(state.queries), keep


LIVE_ACTIONS: dict[type, Callable[[Workspace, Any], Answer[Made]]] = {
    s.CreateLive: create_live,
    s.AdvanceLive: advance_live,
    s.ShowLive: show_live,
    s.SetLive: set_live,
    s.CreateQuery: create_query,
    s.CreateProgram: create_program,
    s.ShowRegistered: show_registered,
    s.DropRegistered: drop_registered,
    s.ExplainRegistered: explain_registered,
}
