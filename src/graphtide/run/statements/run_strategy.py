"""How a run reaches its views, by the words of a statement: ours, and Graphsurge's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphtide.lang.gvdl import statements as s
from graphtide.optimize.strategy import AlwaysDifferential, Chooser, Move
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.facts import Strategy
from graphtide.run.collection.start import RunInHand

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


def forced_splits(plan: CollectionPlan, statement: s.Run) -> Callable[[RunInHand], Chooser] | None:
    """What begins anew at the views that the statement lists, counted from 0.

    Excess ones are ignored, as Graphsurge does; `option_notes` tells of them.
    """
    if statement.indices is None or chosen_strategy(statement).name == "scratch":
        return None
    steps = plan.view_steps
    wanted = frozenset(steps[index] for index in statement.indices if index < len(steps))
    return lambda hand: SplitAt(wanted)
