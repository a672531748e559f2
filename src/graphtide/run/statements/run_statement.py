"""The statement `run`: a computation over a collection, in our words and in Graphsurge's.

A note answers words that only Graphsurge's engine understands (arrangements, stages, batches,
hosts). A statement that contradicts itself fails before anything runs. A run that the user
interrupts says how much of it is kept and how to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from graphtide.lang.diagnostics import language_error, render_span
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.unparse import unparse
from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.optimize.strategy import AlwaysDifferential, Chooser, Move
from graphtide.plan.collection import CollectionPlan
from graphtide.run.catalog.build import whole_view
from graphtide.run.catalog.stored_runs import run_collection
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.facts import RunRequest, RunSettings, Strategy, run_name
from graphtide.run.collection.start import (
    check_force,
    check_shards,
    check_verify,
    check_workers,
)
from graphtide.run.live.programs import Bound, compiled_program
from graphtide.run.statements.answers import (
    Answer,
    Made,
    left_off,
    run_answer,
    save_results,
    timed_answer,
)
from graphtide.run.statements.computations import chosen_computation, error_place, said_outright
from graphtide.store.collection import StoredCollection, graph_behind, open_collection
from graphtide.store.graph import open_graph

_HOSTS = "hosts has no meaning here: a run takes this process alone"
_WORDS = {
    "arranged_differential": "edges are always indexed",
    "1_stage_differential": "there are no stages",
    "2_stage_differential": "there are no stages",
    "arranged_individual": "edges are always indexed",
    "basic": "there is one way to follow a view",
    "basic_individual": "there is one way to run from scratch",
    "timely": "there is one way to run from scratch",
}
_SCRATCH = ("scratch", "individual", "arranged_individual", "basic_individual", "timely")
_LISTED = 5
_LEARNED = "what to expect is learned while the run goes on, and decided view by view"


@dataclass(frozen=True)
class ChosenStrategy:
    """How views are reached: the strategy, views to compare, and notes on words of no meaning."""

    name: Strategy
    verify: int | None = None
    notes: tuple[str, ...] = ()


class SplitAt(AlwaysDifferential):
    """Begin anew at given steps, and follow everywhere else."""

    def __init__(self, steps: frozenset[int]) -> None:
        self._steps = steps

    def choose(self, step: int, ready: bool) -> Move:
        """SPLIT at the given steps."""
        return Move.SPLIT if step in self._steps else super().choose(step, ready)


def chosen_strategy(statement: s.Run) -> ChosenStrategy:
    """Our strategy for the words of the statement."""
    given, verify = statement.strategy, statement.verify
    if given is None or given.name == "adaptive":
        return _adaptive(statement)
    name: Strategy = "scratch" if given.name in _SCRATCH else "differential"
    if given.name == "compare_differential":
        return ChosenStrategy(
            name, verify or 1, ("compare_differential verifies every view: 'verify 1'",)
        )
    if given.name in _WORDS:
        note = f"{given.name} is the same as {name} here: {_WORDS[given.name]}"
        return ChosenStrategy(name, verify, (note,))
    return ChosenStrategy(name, verify)


def _adaptive(statement: s.Run) -> ChosenStrategy:
    """Where views are listed that begin anew, there is nothing left to decide."""
    options = [name for name, _ in statement.strategy.options] if statement.strategy else []
    notes = [f"{', '.join(options)}: of no meaning here, {_LEARNED}"] if options else []
    if statement.indices is None:
        return ChosenStrategy("adaptive", statement.verify, tuple(notes))
    if statement.strategy is not None:
        notes.append("indices leaves adaptive nothing to decide: all other views are differential")
    return ChosenStrategy("differential", statement.verify, tuple(notes))


def option_notes(statement: s.Run, views: int) -> tuple[str, ...]:
    """Notes on words of a statement, besides its computation, that change nothing here."""
    strategy = chosen_strategy(statement)
    notes = [*strategy.notes, *([_HOSTS] if statement.hosts else [])]
    if statement.indices is not None and strategy.name == "scratch":
        notes.append("indices has no meaning here: every view is run from scratch")
    excess = [index for index in statement.indices or () if index >= views]
    if excess:
        listed = ", ".join(map(str, excess[:_LISTED])) + (", ..." if excess[_LISTED:] else "")
        notes.append(f"indices: there is no view {listed}; they are counted from 0 to {views - 1}")
    if statement.results == "diffresults" and statement.save_to is None:
        notes.append("diffresults has no meaning here: results are always kept as differences")
    return tuple(notes)


def forced_splits(plan: CollectionPlan, statement: s.Run) -> Chooser | None:
    """What begins anew at the views that the statement lists, counted from 0.

    Excess ones are ignored, as Graphsurge does; `option_notes` tells of them.
    """
    if statement.indices is None or chosen_strategy(statement).name == "scratch":
        return None
    steps = plan.view_steps
    wanted = frozenset(steps[index] for index in statement.indices if index < len(steps))
    return SplitAt(wanted)


def carry_out_run(space: Workspace, statement: s.Run) -> Answer[Made]:
    """Run the computation of a statement, and answer with its summary."""
    check_run(statement)
    stored = _views_of(space, statement)
    statement = said_outright(graph_behind(space.catalog, stored).schema, statement)
    chosen = chosen_computation(statement)
    notes = [*chosen.notes, *option_notes(statement, len(stored.views))]
    run = _run_program(space, stored, statement, chosen.program, notes.append)
    if statement.results == "noresults":
        return timed_answer(run, tuple(notes))
    return run_answer(run, (*notes, *_saved(run, statement)))


def _views_of(space: Workspace, statement: s.Run) -> StoredCollection:
    """The collection that is named; on shards, the view of all edges of a graph of the name."""
    catalog, name = space.catalog, statement.collection
    if statement.on == "shards" and not catalog.has_collection(name) and catalog.has_graph(name):
        return whole_view(space, open_graph(catalog, name))
    return open_collection(catalog, name)


def _run_program(
    space: Workspace,
    stored: StoredCollection,
    statement: s.Run,
    program: Bound,
    tell: Callable[[str], object],
) -> RunContents:
    """Run a program as a statement says, under its name or that which `collection.run` gives."""
    strategy = chosen_strategy(statement)
    request = RunRequest(
        statement.name or run_name(stored.name, program),
        compiled_program(program, "auto", directed=graph_behind(space.catalog, stored).directed),
        strategy.name,
        statement.resume,
        RunSettings(verify=strategy.verify),
        forced_splits(stored.plan, statement),
        kept=statement.results != "noresults",
        workers=statement.workers,
        on=statement.on,
        force=statement.force,
        tell=tell,
    )
    try:
        return run_collection(space, stored, request)
    except KeyboardInterrupt as stop:
        again = f"{unparse(replace(statement, resume=True))};"
        stop.add_note(left_off(space.catalog, request.name, again if request.kept else None))
        raise
    except InputError as error:
        place = error_place(error, statement)
        error.where = error.where or (render_span(place) if place else None)
        raise


def check_run(statement: s.Run) -> None:
    for field, check in (("verify", check_verify), ("workers", check_workers)):
        try:
            check(getattr(statement, field))
        except InputError as error:
            raise language_error(error.what, statement.place(field), error.hint) from None
    try:
        check_force(statement.force, statement.on, statement.workers)
    except InputError:
        raise language_error(
            "'forced' has nothing to force",
            statement.place("force"),
            "it goes with 'on spark' or 'workers N'",
        ) from None
    several = {"workers": (statement.workers or 1) > 1, "on": statement.on is not None}
    for field in (name for name, given in several.items() if given):
        if statement.indices is not None:
            raise language_error(
                "'indices' says where a run begins anew, and workers begin anew elsewhere",
                statement.place(field),
                "leave out one of the two",
            )
    chosen = chosen_strategy(statement)
    try:
        check_shards(statement.on, chosen.verify)
    except InputError as error:
        raise language_error(error.what, statement.place("on"), error.hint) from None
    if statement.results == "noresults" and statement.on is not None:
        raise language_error(
            "'noresults' keeps nothing, and tasks of Spark hand results over in files",
            statement.place("on"),
            "leave out one of the two",
        )
    if statement.results != "noresults":
        return
    for field, word in (("save_to", "save results to"), ("name", "as"), ("resume", "resume")):
        if getattr(statement, field):
            raise language_error(
                f"'noresults' keeps nothing, so there is nothing for '{word}'",
                statement.place(field),
                "leave out one of the two",
            )


def _saved(run: RunContents, statement: s.Run) -> tuple[str, ...]:
    if statement.save_to is None:
        return ()
    folder = given_path(statement.save_to)
    files = save_results(run, folder, differences=statement.results == "diffresults")
    return (f"written to {folder}: {', '.join(file.name for file in files)}",)
