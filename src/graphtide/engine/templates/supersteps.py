"""Rounds of any vertex program on a part of a graph: a task's own vertices, and mirrors of others.

A task gathers and updates its own vertices, the first `owned`, as a run on the whole graph does it.
Mirrors are behind them: they have states, which their owners send, and gather nothing. The graph of
`context` has the edges along which own vertices gather; `reach` leads the other way, from every
vertex to the own ones that gather from it.

Kept true: none of the messages to an own vertex changed since it last gathered, those of mirrors
included: who sends or takes in a state of a mirror lists it among the changed.
"""

from __future__ import annotations

from graphtide.engine.templates.own_targets import list_own_targets
from graphtide.engine.templates.synchronous import hoisted, make_parcels, pass_over, reads_iteration
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import bare_kernel
from graphtide.kernels.synchronous.histories import (
    ACTIVE,
    EVERYBODY,
    ITERATION,
    Context,
    Course,
    Work,
)


@bare_kernel
def make_all_parcels(context: Context, work: Work) -> None:
    """What everybody tells all neighbours alike, from states that no superstep has made."""
    if hoisted():
        make_parcels(context, work, 0, EVERYBODY)


@bare_kernel
def run_superstep(
    context: Context, reach: Adjacency, work: Work, course: Course, owned: int
) -> None:
    """Run the superstep after the last on the own vertices.

    `course.progress` tells how many of them changed, and `course.counts[0]` how many moved.
    """
    iteration, active = course.progress[ITERATION] + 1, course.progress[ACTIVE]
    size = EVERYBODY
    if 0 <= 4 * active <= len(work.changed) and not reads_iteration():
        size = list_own_targets(reach, work, active, owned, iteration)
    course.counts[0] = pass_over(context, work, course, size, owned)
