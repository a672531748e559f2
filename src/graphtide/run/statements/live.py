"""Statements on live graphs, carried out: graphs begun and advanced, programs and queries on them.

A workspace keeps a live graph open from the first statement on that is about it; so one process
that carries out a script reads it once. What only looks leaves the folder to whoever writes it.

A program is named as in `run`: by the library, or by a file of the user's own. What is registered
is the program itself, as text, so that its file may change or go.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.lang.diagnostics import Span, language_error, render_span
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.statements import CreateQuery, Run
from graphtide.lang.gvdl.tree import Duration
from graphtide.lang.gvdl.unparse import unparse_query
from graphtide.model.errors import (
    ExistsError,
    InputError,
    NotFoundError,
    StoreError,
    UnseenVertexWarning,
)
from graphtide.model.text import VALUES, counted, sized
from graphtide.run.catalog.listings import table_of
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.batch import keep_text
from graphtide.run.durable.files import edge_types, read_file_rows, vertex_types
from graphtide.run.durable.live_store import is_live
from graphtide.run.durable.registrations import stored_program, told_program
from graphtide.run.durable.replay import Replay
from graphtide.run.durable.steps import read_committed
from graphtide.run.durable.stored_queries import made_query
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.queries.kinds import Hops, Path, Paths, QueryKind, Reach, Regular
from graphtide.run.statements.answers import Answer, Made
from graphtide.run.statements.computations import chosen_computation, error_place
from graphtide.run.views.sources import frame_source


def live_at_hand(space: Workspace, name: str, span: Span | None) -> Any:
    """A live graph to be written, open from now on; LanguageError if there is none of that name."""
    check_live(space, name, span)
    return space.live_at_hand(name)


def check_live(space: Workspace, name: str, span: Span | None) -> None:
    """Refuse a name that no live graph has, with its place."""
    if is_live(space.catalog.graph_folder(name)):
        return
    if space.catalog.has_graph(name):
        hint = f"make it live: create live graph {name}"
        raise language_error(f"the graph '{name}' is not a live one", span, hint)
    known = ", ".join(live_names(space)) or "none"
    raise language_error(
        f"there is no live graph '{name}'",
        span,
        f"there is: {known}; `create live graph {name} with edges from 'FILE'` begins one",
    )


def live_names(space: Workspace) -> list[str]:
    catalog = space.catalog
    return [name for name in catalog.graphs() if is_live(catalog.graph_folder(name))]


def committed(space: Workspace, name: str) -> Replay:
    """The last committed state of a live graph, without making a graph of it."""
    folder = space.catalog.graph_folder(name)
    return read_committed(folder, name, f"the live graph '{name}'")


def told_state(graph: Any) -> str:
    """Which version a live graph is at, and how large it is."""
    kind = "live graph" if graph.directed else "undirected live graph"
    return (
        f"{kind} '{graph._name}' is at version {graph.version:,}: "
        f"{sized(graph.num_vertices, graph.num_edges, ' and ')}"
    )


def query_of(node: CreateQuery) -> QueryKind:
    """What a statement asks; LanguageError with its place if that cannot be asked."""
    costs: dict[str, Any] = {"weight": node.weight, "bound": node.bound}
    way: dict[str, Any] = {"direction": node.direction or "out"}
    try:
        match node.asked:
            case "path":
                return Path(node.start, node.target, **costs, **way)
            case "paths":
                return Paths(node.pairs, **costs, **way)
            case "hops":
                return Hops(node.start, node.hops or 0, **way)
            case "reach":
                return Reach(node.start, node.target, **way)
            case "regular":
                label = "label" if node.label is None else node.label
                return Regular(node.path or "", node.start, node.target, label, **costs)
    except InputError as error:
        raise language_error(error.what, node.place(node.asked), error.hint) from None


def statement_of(name: str, graph: str, asked: QueryKind) -> CreateQuery:
    """The statement that asks a query."""
    costs: dict[str, Any] = {"weight": asked.weight, "bound": asked.bound}
    match asked:
        case Path(source, target):
            given = {"asked": "path", "start": source, "target": target, **costs}
        case Paths():
            given = {"asked": "paths", "pairs": asked.pairs, **costs}
        case Hops(start, k):
            given = {"asked": "hops", "start": start, "hops": k}
        case Reach(start, target):
            given = {"asked": "reach", "start": start, "target": target}
        case Regular(path, start, target, label):
            ends = {"start": start, "target": target}
            given = {"asked": "regular", "path": path, "label": label, **ends, **costs}
        case _:
            raise AssertionError(asked)
    way: Any = getattr(asked, "direction", "out")
    return CreateQuery(name, graph, **given, direction=None if way == "out" else way)


def asked_text(asked: QueryKind) -> str:
    return unparse_query(statement_of("", "", asked))


def create_program(space: Workspace, statement: s.CreateProgram) -> Answer[Made]:
    """Register a program, and answer with its results."""
    run = _as_run(statement)
    chosen = chosen_computation(run)
    if stored_program(chosen.program)["kind"] == "module":
        raise language_error(
            "a dataflow of a file cannot be registered by a statement",
            statement.place("library"),
            "it is a function, which is found again by its module: import that in Python, and "
            "live.register(name, dataflow)",
        )
    graph = live_at_hand(space, statement.graph, statement.span)
    if statement.replace and statement.name in graph.registered():
        graph.unregister(statement.name)
    knobs = {"mode": statement.mode, "tolerance": statement.tolerance, "keep": statement.keep}
    given: Any = {name: value for name, value in knobs.items() if value is not None}
    try:
        live = graph.register(statement.name, chosen.program, **given)
    except InputError as error:
        place = error_place(error, run)
        error.where = error.where or (render_span(place) if place else None)
        raise
    return _results(statement.name, live, chosen.notes)


def _as_run(statement: s.CreateProgram) -> Run:
    """The same computation as a statement `run` would have it, with its places."""
    return Run(
        statement.computation,
        statement.graph,
        parameters=statement.parameters,
        library=statement.library,
        places=statement.places,
        span=statement.span,
    )


def create_query(space: Workspace, statement: s.CreateQuery) -> Answer[Made]:
    """Ask a query, and answer with its answer."""
    asked = query_of(statement)
    graph = live_at_hand(space, statement.graph, statement.span)
    if statement.replace and statement.name in graph.queries:
        graph.drop_query(statement.name)
    try:
        with warnings.catch_warnings():  # The answer says it.
            warnings.simplefilter("ignore", UnseenVertexWarning)
            query = graph.query(statement.name, asked)
    except InputError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return _query_answer(query)


def drop_registered(space: Workspace, statement: s.DropRegistered) -> Answer[Made]:
    """Give up a query, or forget a program."""
    what, name = statement.what, statement.name
    graph = live_at_hand(space, statement.graph, statement.span)
    try:
        graph.drop_query(name) if what == "query" else graph.unregister(name)
    except NotFoundError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return Answer(f"{what} '{name}' on live graph '{statement.graph}' is dropped")


def show_registered(space: Workspace, statement: s.ShowRegistered) -> Answer[Made]:
    """Queries by what they ask and programs by what they run, or what one of them has found."""
    if statement.name is not None:
        one = _registered(space, statement.graph or "", statement)
        return _query_answer(one) if statement.what == "query" else _results(statement.name, one)
    if statement.graph is not None:
        check_live(space, statement.graph, statement.span)
    graphs = live_names(space) if statement.graph is None else [statement.graph]
    return _queries_on(space, graphs) if statement.what == "query" else _programs_on(space, graphs)


def explain_registered(space: Workspace, statement: s.ExplainRegistered) -> Answer[Made]:
    """What was proved of a program, how it or a query is kept current, and what that takes."""
    return Answer(_registered(space, statement.graph, statement).explain())


def _registered(
    space: Workspace, graph: str, statement: s.ShowRegistered | s.ExplainRegistered
) -> Any:
    """The query or the program of that name, on a graph that is only looked at."""
    check_live(space, graph, statement.span)
    known = space.live_at_hand(graph, readonly=True)
    try:
        if statement.what == "program":
            return known.program(statement.name)
        known._queries().get(statement.name)
    except NotFoundError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return known.queries[statement.name]


def _queries_on(space: Workspace, graphs: list[str]) -> Answer[Made]:
    rows = [
        (query, graph, asked_text(made_query(stored)), stored.get("version", 0))
        for graph in graphs
        for query, stored in committed(space, graph).state.queries.items()
    ]
    columns = ("query", "live graph", "asks", "since version")
    text = f"{len(rows):,} {'query' if len(rows) == 1 else 'queries'}"
    return Answer(text, table_of(columns, rows))


def _programs_on(space: Workspace, graphs: list[str]) -> Answer[Made]:
    rows = [
        (program, graph, told_program(stored), _given(stored), stored.get("version", 0))
        for graph in graphs
        for program, stored in committed(space, graph).state.registered.items()
    ]
    columns = ("program", "live graph", "runs", "parameters", "since version")
    return Answer(counted(len(rows), "program"), table_of(columns, rows))


def _given(stored: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in stored["values"].items())


def _results(name: str, live: Any, notes: tuple[str, ...] = ()) -> Answer[Made]:
    """The results of vertices or of the graph; of a program that only reports rows, these."""
    table = live.table() if live.fields or live.globals else live.matches()
    text = f"program '{name}': {live.program.program.name}; {counted(table.num_rows, 'row')}"
    return Answer(f"{text} at version {live.graph.version:,}", table, notes=notes, style=VALUES)


def _query_answer(query: Any) -> Answer[Made]:
    table = query.table()
    rows = counted(table.num_rows, "row")
    text = f"query '{query.name}': {asked_text(query.asked)}; {rows}"
    notes = (query.told_absent,) if query.absent else ()
    return Answer(f"{text} at version {query.graph.version:,}", table, notes=notes, style=VALUES)


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
    keep = None if state.keep is None else keep_text(state.keep, replay.shape)
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
