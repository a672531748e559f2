"""Supersteps in the form of lanes, with a number in place of a lane: for programs that have it.

The same as `supersteps`, with what a program adds up or keeps between in registers: a superstep of
PageRank takes two thirds of the time.
"""

from __future__ import annotations

from graphtide.engine.templates.lanes import (
    begin_state,
    gather,
    hoisted,
    make_parcel,
    reads_iteration,
    sums_count,
    update_state,
)
from graphtide.engine.templates.own_targets import list_own_targets
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import bare_kernel
from graphtide.kernels.lanes.rows import CHANGED, ITERATION, LaneContext, LaneCourse, LaneWork
from graphtide.kernels.synchronous.histories import EVERYBODY

MOVED = 1
"""Where the course says whether any own vertex moved: the set of lanes that go on, of one lane."""


@bare_kernel
def begin_own_lane(context: LaneContext, work: LaneWork) -> None:
    """Superstep 0 for every vertex, mirrors included."""
    for vertex in range(len(work.changed)):
        begin_state(context, vertex, work)
        work.mark[vertex] = 0


@bare_kernel
def make_all_lane_parcels(context: LaneContext, work: LaneWork) -> None:
    """What everybody tells all neighbours alike, from states that no superstep has made."""
    if hoisted():
        for vertex in range(len(work.changed)):
            make_parcel(context, vertex, work)


@bare_kernel
def run_lane_superstep(
    context: LaneContext, reach: Adjacency, work: LaneWork, course: LaneCourse, owned: int
) -> None:
    """Run the superstep after the last on the own vertices; `course.progress` tells of it."""
    iteration, changed = course.progress[ITERATION] + 1, course.progress[CHANGED]
    size = EVERYBODY
    if 0 <= 4 * changed <= len(work.changed) and not reads_iteration():
        size = list_own_targets(reach, work, changed, owned, iteration)
    everybody = size == EVERYBODY
    count = owned if everybody else size
    if hoisted():
        for number in range(len(work.changed) if everybody else changed):
            make_parcel(context, number if everybody else work.changed[number], work)
    else:
        for number in range(count):
            vertex = number if everybody else work.listed[number]
            gather(context, work, vertex, vertex * sums_count())
    changed, moved = 0, 0
    setting = (iteration, 1, course.tolerance)
    for number in range(count):
        vertex = number if everybody else work.listed[number]
        at = 0
        if hoisted():
            gather(context, work, vertex, at)
        else:
            at = vertex * sums_count()
        changes, moves = update_state(context, vertex, work, at, setting)
        if changes != 0:
            work.changed[changed] = vertex
            changed += 1
            moved |= moves
    course.progress[ITERATION], course.progress[CHANGED] = iteration, changed
    course.progress[MOVED] = moved
