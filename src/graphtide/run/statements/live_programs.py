"""Programs registered on live graphs by statements: made, shown, explained and dropped.

A program is named as in `run`: by the library, or by a file of the user's own. What is registered
is the program itself, as text, so that its file may change or go.
"""

from __future__ import annotations

from typing import Any

from graphtide.lang.diagnostics import language_error, render_span
from graphtide.lang.gvdl import live_statements as s
from graphtide.lang.gvdl.statements import Run
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.wording import counted
from graphtide.run.catalog.rows import table_of
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.registered import stored_program, told_program
from graphtide.run.statements.answers import Answer, Made
from graphtide.run.statements.computations import chosen_computation, error_place
from graphtide.run.statements.live_at_hand import (
    check_live,
    committed,
    live_at_hand,
    live_names,
)


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


def drop_program(space: Workspace, statement: s.DropProgram) -> Answer[Made]:
    """Forget a registered program."""
    graph = live_at_hand(space, statement.graph, statement.span)
    try:
        graph.unregister(statement.name)
    except NotFoundError as error:
        raise language_error(error.what, statement.span, error.hint) from None
    return Answer(f"program '{statement.name}' on live graph '{statement.graph}' is dropped")


def show_programs(space: Workspace, statement: s.ShowPrograms) -> Answer[Made]:
    """Registered programs by what they run, or the results of one."""
    if statement.name is not None:
        return _results(statement.name, _program(space, statement.graph or "", statement))
    if statement.graph is not None:
        check_live(space, statement.graph, statement.span)
    names = live_names(space) if statement.graph is None else [statement.graph]
    rows = [
        (program, name, told_program(stored), _given(stored), stored.get("version", 0))
        for name in names
        for program, stored in committed(space, name).state.registered.items()
    ]
    columns = ("program", "live graph", "runs", "parameters", "since version")
    return Answer(counted(len(rows), "program"), table_of(columns, rows))


def explain_program(space: Workspace, statement: s.ExplainProgram) -> Answer[Made]:
    """What was proved of a program, and how it is kept current."""
    return Answer(_program(space, statement.graph, statement).explain())


def _program(space: Workspace, graph: str, statement: s.ShowPrograms | s.ExplainProgram) -> Any:
    check_live(space, graph, statement.span)
    known = space.live_at_hand(graph, readonly=True)
    try:
        return known.program(statement.name)
    except NotFoundError as error:
        raise language_error(error.what, statement.span, error.hint) from None


def _given(stored: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in stored["values"].items())


def _results(name: str, live: Any, notes: tuple[str, ...] = ()) -> Answer[Made]:
    """The results of vertices or of the graph; of a program that only reports rows, these."""
    table = live.table() if live.fields or live.globals else live.matches()
    text = f"program '{name}': {live.program.program.name}; {counted(table.num_rows, 'row')}"
    return Answer(f"{text} at version {live.graph.version:,}", table, notes=notes)
