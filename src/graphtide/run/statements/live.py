"""Statements on live graphs, carried out.

A workspace keeps a live graph open from the first statement on that is about it; so one process
that carries out a script reads it once. What only looks leaves the folder to whoever writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import live_statements as s
from graphtide.lang.gvdl.tree import Duration
from graphtide.model.errors import ExistsError, InputError, NotFoundError, StoreError
from graphtide.model.wording import counted
from graphtide.run.catalog.rows import table_of
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.asked import made_query
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
from graphtide.run.statements.live_programs import (
    create_program,
    drop_program,
    explain_program,
    show_programs,
)
from graphtide.run.statements.live_queries import asked_text, query_of
from graphtide.run.views.sources import frame_source


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
    start = None if statement.edges is None else _start(statement)
    try:
        space.close_live(name)
        graph = space.live(name, start, keep=_period(statement), time=statement.time)
    except InputError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    space._live[name] = graph
    return _state_answer(graph)


def _start(statement: s.CreateLive) -> MemoryGraph:
    assert statement.edges is not None
    edges = read_file_rows(statement.edges, "edges", {}, statement.separator)
    vertices = None
    if statement.vertices is not None:
        vertices = read_file_rows(statement.vertices, "vertices", {}, statement.separator)
        if statement.id is not None and statement.id in vertices.column_names:
            names = ["id" if n == statement.id else n for n in vertices.column_names]
            vertices = vertices.rename_columns(names)
    source = frame_source(edges, statement.src or "src", statement.dst or "dst", vertices)
    return MemoryGraph._of_source(source, simple=False)


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
    edges, vertices = edge_types(graph._shape), vertex_types(graph._shape)
    files = {
        "insert": (statement.insert, edges),
        "delete": (statement.delete, edges),
        "vertices": (statement.vertices, vertices),
        "update": (statement.update, edges),
        "remove": (statement.remove, vertices),
    }
    tables = {
        name: read_file_rows(path, "vertices" if types is vertices else "edges", types, sep)
        for name, (path, types) in files.items()
        if path is not None
        for sep in [statement.separator]
    }
    if "remove" in tables:
        tables["remove"] = _ids(tables["remove"], statement)
    graph.advance(**tables, match=statement.match, id=statement.id)
    return _state_answer(graph)


def _ids(table: Any, statement: s.AdvanceLive) -> Any:
    if "id" not in table.column_names:
        raise InputError(
            "the file of vertices to remove has no column 'id'",
            where=statement.remove,
            hint=f"it has {', '.join(table.column_names)}",
        )
    return table.column("id").to_pylist()


def create_query(space: Workspace, statement: s.CreateQuery) -> Answer[Made]:
    """Ask a query, and answer with its answer."""
    asked = query_of(statement)
    graph = live_at_hand(space, statement.graph, statement.span)
    if statement.replace and statement.name in graph.queries:
        graph.drop_query(statement.name)
    try:
        query = graph.query(statement.name, asked)
    except InputError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return _query_answer(query)


def drop_query(space: Workspace, statement: s.DropQuery) -> Answer[Made]:
    """Give a query up."""
    graph = live_at_hand(space, statement.graph, statement.span)
    try:
        graph.drop_query(statement.name)
    except NotFoundError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return Answer(f"query '{statement.name}' on live graph '{statement.graph}' is dropped")


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


def show_queries(space: Workspace, statement: s.ShowQueries) -> Answer[Made]:
    """Queries by what they ask, or the answer of one."""
    if statement.name is not None:
        return _query_answer(_query(space, statement.graph or "", statement))
    if statement.graph is not None:
        check_live(space, statement.graph, statement.span)
    names = live_names(space) if statement.graph is None else [statement.graph]
    rows = [
        (query, name, asked_text(made_query(stored)), stored.get("version", 0))
        for name in names
        for query, stored in committed(space, name).state.queries.items()
    ]
    columns = ("query", "live graph", "asks", "since version")
    text = f"{len(rows):,} {'query' if len(rows) == 1 else 'queries'}"
    return Answer(text, table_of(columns, rows))


def explain_query(space: Workspace, statement: s.ExplainQuery) -> Answer[Made]:
    """How a query is kept current, and what it takes."""
    return Answer(_query(space, statement.graph, statement).explain())


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


def _query(space: Workspace, graph: str, statement: s.ShowQueries | s.ExplainQuery) -> Any:
    check_live(space, graph, statement.span)
    known = space.live_at_hand(graph, readonly=True)
    try:
        known._queries().get(statement.name)
    except NotFoundError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return known.queries[statement.name]


def _query_answer(query: Any) -> Answer[Made]:
    table = query.table()
    rows = counted(table.num_rows, "row")
    text = f"query '{query.name}': {asked_text(query.asked)}; {rows}"
    return Answer(f"{text} at version {query.graph.version:,}", table)


def _state_row(name: str, replay: Replay) -> tuple[object, ...]:
    tables, state = replay.tables(), replay.state
    keep = None if state.keep is None else told_keep(state.keep, replay.shape)
    sizes = tables.vertices.num_rows, tables.edges.num_rows - len(tables.gone)
    return name, state.version, *sizes, len(state.registered), len(state.queries), keep


def _state_answer(graph: Any) -> Answer[Made]:
    return Answer(told_state(graph))


LIVE_ACTIONS: dict[type, Callable[[Workspace, Any], Answer[Made]]] = {
    s.CreateLive: create_live,
    s.AdvanceLive: advance_live,
    s.CreateQuery: create_query,
    s.DropQuery: drop_query,
    s.ShowLive: show_live,
    s.ShowQueries: show_queries,
    s.ExplainQuery: explain_query,
    s.CreateProgram: create_program,
    s.DropProgram: drop_program,
    s.ShowPrograms: show_programs,
    s.ExplainProgram: explain_program,
    s.SetLive: set_live,
}
