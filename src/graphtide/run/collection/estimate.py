"""What a run would do and about how long it would take, before it is begun.

Differences are counted from the plan. Time is measured, not guessed from constants: the program is
run from scratch on one view, and following a delta is taken to cost a few times as much an edge as
a run from scratch does.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from graphtide.optimize.cutting import Cutting
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.steps import Deltas, RunSteps
from graphtide.run.live.programs import Compiled

_DEARER = 4.0
_FIXED = 5e-5


def explained_run(
    compiled: Compiled, plan: CollectionPlan, steps: RunSteps, seconds: tuple[float, float]
) -> str:
    """The program, its mode and why, the plan, and about how long both strategies take."""
    return "\n".join(_lines(compiled, plan, steps, seconds))


def explained_workers(cutting: Cutting, *, on_spark: bool) -> str:
    """How many workers a run would have, and what they are expected to gain."""
    if cutting.workers == 1 and on_spark:
        return "in this process: Spark is not expected to be done before it"
    if cutting.workers == 1:
        return "one worker: more are not expected to pay"
    pieces, who = len(cutting.cuts) + 1, "slots of Spark" if on_spark else "workers"
    gain = f"expected to be {cutting.gain:.1f} times as fast as one"
    return f"{cutting.workers} {who} on {pieces} sub-plans, {gain}"


def time_one_view(prepared: PreparedProgram, steps: RunSteps, deltas: Deltas) -> float:
    """Seconds a vertex and edge that a run from scratch takes on the first view of the plan.

    Leaves the graph at that view.
    """
    inserted, deleted = deltas.of(0)
    prepared.graph.flip(inserted, deleted)
    took = []
    for _ in range(3):
        began = perf_counter()
        prepared.scratch()
        took.append(perf_counter() - began)
    return min(took) / max(1, prepared.graph.vertices + int(steps.edges[0]))


def estimated_seconds(steps: RunSteps, vertices: int, each: float) -> tuple[float, float]:
    """From scratch, and differentially."""
    views = steps.view >= 0
    scratch = each * float((steps.edges[views] + vertices).sum())
    delta = steps.inserted + steps.deleted
    first = each * float(steps.edges[0] + vertices)
    follow = np.minimum(_DEARER * each * delta[1:], 2 * each * (steps.edges[1:] + vertices))
    return scratch, first + float(follow.sum()) + _FIXED * len(steps)


def _lines(
    compiled: Compiled, plan: CollectionPlan, steps: RunSteps, seconds: tuple[float, float]
) -> Iterator[str]:
    views, stones = len(steps.names), len(steps) - len(steps.names)
    reads = ", ".join(compiled.needed.properties) or "no properties"
    delta = steps.inserted + steps.deleted
    yield f"{compiled.bound} in {compiled.choice}"
    yield f"results: {', '.join(compiled.results)}; reads {reads} of the edges"
    yield f"{plan.kind} of {views:,} views and {stones:,} stepping stones"
    yield f"  from scratch: {int(steps.edges[steps.view >= 0].sum()):,} edges to run on"
    yield f"  differentially: {int(delta.sum()):,} differences to follow"
    scratch, follow = seconds
    yield f"about {scratch:.2g} s from scratch, {follow:.2g} s differentially;"
    yield "adaptive takes what turns out to be faster, view by view"
