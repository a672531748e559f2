"""Programs and queries on live graphs, by statements: registered, shown, explained and dropped.

A program is named as in `run`: by the library, or by a file of the user's own. What is registered
is the program itself, as text, so that its file may change or go.
"""

from __future__ import annotations

import warnings
from typing import Any

from graphtide.lang.diagnostics import language_error, render_span
from graphtide.lang.gvdl import live_statements as s
from graphtide.lang.gvdl.statements import Run
from graphtide.model.cells import VALUES
from graphtide.model.errors import InputError, NotFoundError, UnseenVertexWarning
from graphtide.model.wording import counted
from graphtide.run.catalog.rows import table_of
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.asked import made_query
from graphtide.run.durable.registered import stored_program, told_program
from graphtide.run.statements.answers import Answer, Made
from graphtide.run.statements.computations import chosen_computation, error_place
from graphtide.run.statements.live_at_hand import check_live, committed, live_at_hand, live_names
from graphtide.run.statements.live_queries import asked_text, query_of


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
