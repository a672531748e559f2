"""A walk along a plan, from the beginning or from where an earlier one was left off.

The plan is that of a collection, or a sub-plan of it: nothing here knows which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from graphtide.engine.changes import Values
from graphtide.optimize.adaptive import Adaptive
from graphtide.optimize.strategy import (
    AlwaysScratch,
    AlwaysTogether,
    Chooser,
    Move,
    Observation,
    StepSizes,
)
from graphtide.run.collection.current import CurrentResults
from graphtide.run.collection.facts import Strategy
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.reading import Differences
from graphtide.run.collection.runner import Runner
from graphtide.run.collection.settings import RunSettings
from graphtide.run.collection.steps import Deltas, RunSteps
from graphtide.store.parts import KeptParts

CHOOSERS: dict[str, Callable[[StepSizes], Chooser]] = {
    "adaptive": Adaptive,
    "differential": lambda sizes: AlwaysTogether(),
    "scratch": lambda sizes: AlwaysScratch(),
}


@dataclass(frozen=True)
class Visited:
    """What a walk visits: steps, the edges in and out of each, and the results before the first."""

    steps: RunSteps
    deltas: Deltas
    base: Values


def walk(
    visited: Visited,
    prepared: PreparedProgram,
    parts: KeptParts,
    chooser: Chooser,
    settings: RunSettings,
) -> None:
    """All steps that the parts do not have yet."""
    steps, known = visited.steps, Differences(parts, prepared.compiled.results)
    current = CurrentResults(visited.base)
    runner = Runner(steps, visited.deltas, prepared, current, parts)
    first = known.finished
    if first:
        _recall(known.record, chooser)
    if first < len(steps):
        moves = [] if known.record is None else known.record.column("move").to_pylist()
        for step in steps.path(int(steps.parent[first])):
            runner.descend(step, known.of(step), moves[step] == Move.PASS)
        runner.run(first, chooser, settings)


def chooser_of(strategy: Strategy, steps: RunSteps, prepared: PreparedProgram) -> Chooser:
    """What decides how the steps of a program are reached."""
    return CHOOSERS[strategy](program_sizes(steps, prepared))


def program_sizes(steps: RunSteps, prepared: PreparedProgram) -> StepSizes:
    """What strategies are chosen by, and what depends on the program."""
    sizes = steps.sizes(prepared.graph.vertices)
    return replace(sizes, spreads=prepared.adds_up, prices=prepared.prices)


def _recall(record: Any, chooser: Chooser) -> None:
    """Teach the models what the steps took that were finished before."""
    columns = [record.column(name).to_pylist() for name in ("step", "move", "seconds")]
    for step, code, seconds in zip(*columns, strict=True):
        move = Move(code)
        if move == Move.FOLLOW:
            chooser.observe(step, Observation(move, 0.0, seconds))
        elif move != Move.RESTART:
            chooser.observe(step, Observation(move, seconds, 0.0))
