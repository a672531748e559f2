"""Supersteps in the form of lanes, with a number in place of a lane: for programs that have it.

The same as `supersteps`, with what a program adds up or keeps between in registers: a superstep of
PageRank takes two thirds of the time.
"""

from __future__ import annotations

from graphtide.engine.templates.lanes import (
    backward,
    begin_state,
    forward,
    gather,
    hoisted,
    list_along,
    make_parcel,
    reads_iteration,
    sums_count,
    update_state,
)
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.lanes.records import CHANGED, ITERATION, LaneContext, LaneCourse, LaneWork
from graphtide.kernels.synchronous.records import EVERYBODY

MOVED = 1
"""Where the course says whether any own vertex moved: the set of lanes that go on, of one lane."""


@bare_kernel
def begin_own_lane(context: LaneContext, work: LaneWork) -> None:
    """Superstep 0 for every vertex, mirrors included."""
    for vertex in range(len(work.changed)):
        begin_state(context, vertex, work)
        work.mark[vertex] = 0


@inner_kernel
def list_lane_targets(
    reach: Adjacency, work: LaneWork, changed: int, owned: int, iteration: int
) -> int:
    """List the own vertices that changed or are told of a change; nobody where all may gather."""
    size, looked = 0, 0
    for number in range(changed):
        vertex = work.changed[number]
        if vertex < owned and work.mark[vertex] != iteration:
            work.mark[vertex] = iteration
            work.listed[size] = vertex
            size += 1
        if forward():
            size = list_along(reach.out, work, vertex, size, iteration)
            looked += reach.out.live[vertex]
        if backward():
            size = list_along(reach.into, work, vertex, size, iteration)
            looked += reach.into.live[vertex]
        if 4 * size > owned or looked > 4 * owned:
            return EVERYBODY
    return size


@bare_kernel
def run_lane_superstep(
    context: LaneContext, reach: Adjacency, work: LaneWork, course: LaneCourse, owned: int
) -> None:
    """Run the superstep after the last on the own vertices; `course.progress` tells of it."""
    iteration, changed = course.progress[ITERATION] + 1, course.progress[CHANGED]
    size = EVERYBODY
    if 0 <= 4 * changed <= len(work.changed) and not reads_iteration():
        size = list_lane_targets(reach, work, changed, owned, iteration)
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
    told = (iteration, 1, course.tolerance)
    for number in range(count):
        vertex = number if everybody else work.listed[number]
        at = 0
        if hoisted():
            gather(context, work, vertex, at)
        else:
            at = vertex * sums_count()
        changes, moves = update_state(context, vertex, work, at, told)
        if changes != 0:
            work.changed[changed] = vertex
            changed += 1
            moved |= moves
    course.progress[ITERATION], course.progress[CHANGED] = iteration, changed
    course.progress[MOVED] = moved
