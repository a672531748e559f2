"""The statement `run`: a computation over a collection, in our words and in Graphsurge's.

A note answers words that only Graphsurge's engine understands (arrangements, stages, batches,
hosts). A statement that contradicts itself fails before anything runs. A run that the user
interrupts says how much of it is kept and how to go on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphtide.api.answers import Answer
from graphtide.api.collection import Collection
from graphtide.api.computations import chosen_computation, error_place
from graphtide.api.run import Run
from graphtide.api.run_answers import left_off, run_answer, save_results
from graphtide.api.run_strategy import chosen_strategy, forced_splits, option_notes
from graphtide.api.stored_runs import RunRequest, run_collection
from graphtide.lang.diagnostics import language_error, render_span
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.unparse import unparse_statement
from graphtide.model.errors import InputError
from graphtide.model.paths import given_path
from graphtide.run.collection.runner import RunSettings
from graphtide.run.collection.start import check_verify
from graphtide.run.live.programs import Bound, compiled_program

if TYPE_CHECKING:
    from graphtide.api.session import Session


def carry_out_run(session: Session, statement: s.Run) -> Answer:
    """Run the computation of a statement, and answer with its summary."""
    from graphtide.api.run_pairs import said_outright

    check_run(statement)
    collection = session.collection(statement.collection)
    statement = said_outright(collection, statement)
    chosen = chosen_computation(statement)
    notes = (*chosen.notes, *option_notes(statement, len(collection)))
    if statement.results == "noresults":
        return _timed(collection, statement, chosen.program, notes)
    name = run_name(statement, chosen.program.program.name)
    run = run_program(collection, statement, chosen.program, name)
    return run_answer(run, (*notes, *_saved(run, statement)))


def run_name(statement: s.Run, program: str) -> str:
    """The name of a run in the catalog: the given one, or that which `collection.run` gives."""
    return statement.name or f"{statement.collection}-{program}"


def run_program(collection: Collection, statement: s.Run, program: Bound, name: str) -> Run:
    """Run a program as a statement says, under that name."""
    session, strategy = collection._session, chosen_strategy(statement)
    request = RunRequest(
        name,
        compiled_program(program, "auto"),
        strategy.name,
        statement.resume,
        RunSettings(verify=strategy.verify),
        forced_splits(collection, statement),
        kept=statement.results != "noresults",
    )
    try:
        return run_collection(session, collection._stored, request)
    except KeyboardInterrupt as stop:
        stop.add_note(_left_off(session, statement, request.name))
        raise
    except InputError as error:
        place = error_place(error, statement)
        error.where = error.where or (render_span(place) if place else None)
        raise


def check_run(statement: s.Run) -> None:
    """Refuse what contradicts itself."""
    if statement.verify is not None:
        try:
            check_verify(statement.verify)
        except InputError as error:
            raise language_error(error.what, statement.place("verify"), error.hint) from None
    if statement.results != "noresults":
        return
    for field, word in (("save_to", "save results to"), ("name", "as"), ("resume", "resume")):
        if getattr(statement, field):
            raise language_error(
                f"'noresults' keeps nothing, so there is nothing for '{word}'",
                statement.place(field),
                "leave out one of the two",
            )


def _timed(
    collection: Collection, statement: s.Run, program: Bound, notes: tuple[str, ...]
) -> Answer:
    """Run, tell what it took (of pairs, what was found), and keep nothing."""
    run = run_program(collection, statement, program, run_name(statement, program.program.name))
    table = run.to_arrow() if run.of_pairs else run.record()
    return Answer(f"{run.explain()}\n  no results are kept", table, notes=notes)


def _saved(run: Run, statement: s.Run) -> tuple[str, ...]:
    if statement.save_to is None:
        return ()
    folder = given_path(statement.save_to)
    files = save_results(run, folder, differences=statement.results == "diffresults")
    return (f"written to {folder}: {', '.join(file.name for file in files)}",)


def _left_off(session: Session, statement: s.Run, name: str) -> str:
    """What an interrupted run has kept, and how to go on."""
    again = f"{unparse_statement(replace(statement, resume=True))};"
    return left_off(session.catalog, name, None if statement.results == "noresults" else again)
