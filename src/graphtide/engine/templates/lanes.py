"""Rounds of a vertex program on several versions of a graph at once, a lane each.

Like the rounds of one version, with a row of lanes wherever that has a number: every vertex gathers
along the edges that any version has, and takes from each what it brings in the lanes that have it.
An edge then costs one load and one addition of eight numbers where eight runs make eight of each.

Kept true: a lane has what a run of its version alone would have, each sum being made in the order
of edge numbers. A lane whose run is over stays as it is while others go on. Where few vertices
changed in any lane, only those gather again that know an edge from one of them.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, program_kernel
from graphtide.kernels.lanes.rows import (
    ACTIVE,
    CHANGED,
    HEARING,
    ITERATION,
    RESTLESS,
    LaneContext,
    LaneCourse,
    LaneRows,
    LaneWork,
)
from graphtide.kernels.lanes.values import (
    LANES,
    add,
    as_floats,
    choose,
    differ,
    divide,
    floats_moved,
    lanes_in,
    load,
    multiply,
    set_of,
    spread,
    store,
)
from graphtide.kernels.synchronous.histories import EVERYBODY

# program section: begin
SINGLE = False
STATES, SUMS = 1, 1


@program_kernel(np.bool_)
def forward() -> bool:
    """True if edges carry anything from source to target."""
    return True


@program_kernel(np.bool_)
def backward() -> bool:
    """True if they carry anything the other way."""
    return False


@program_kernel(np.bool_)
def hoisted() -> bool:
    """True if a vertex tells all neighbours the same, at most once."""
    return True


@program_kernel(np.bool_)
def reads_iteration() -> bool:
    """True if updates look at the number of the iteration."""
    return False


@program_kernel(np.int64)
def sums_count() -> int:
    """How many accumulators there are."""
    return SUMS


@program_kernel(None)
def begin_state(context: LaneContext, vertex: int, work: LaneWork) -> None:
    """The states of iteration 0."""
    store(work.states.real, vertex * LANES, spread(1.0))


@program_kernel(None)
def make_parcel(context: LaneContext, source: int, work: LaneWork) -> None:
    """What a vertex tells all neighbours alike."""
    degree = load(context.out_degree, source * LANES)
    rank = load(work.states.real, source * LANES)
    store(work.parcels.real, source * LANES, divide(rank, as_floats(degree)))


@program_kernel(None)
def clear_sums(work: LaneWork, at: int) -> None:
    """Accumulators to which nothing was sent."""
    store(work.sums.real, at, spread(0.0))


@program_kernel(None)
def gather_along(
    context: LaneContext, rows: LaneRows, vertex: int, work: LaneWork, at: int
) -> None:
    """Add up what all edges in one direction bring."""
    total = load(work.sums.real, at)
    for position in range(rows.start[vertex], rows.stop[vertex]):
        there = lanes_in(rows.lanes[position])
        message = load(work.parcels.real, rows.neighbour[position] * LANES)
        total = add(total, choose(there, message, spread(0.0)))
    store(work.sums.real, at, total)


@program_kernel((np.int64, np.int64))
def update_state(
    context: LaneContext, vertex: int, work: LaneWork, at: int, course: tuple[int, int, float]
) -> tuple[int, int]:
    """The states of the next iteration in the lanes that go on; the sets that changed and moved."""
    _, active, tolerance = course
    running = lanes_in(np.uint8(active))
    before = load(work.states.real, vertex * LANES)
    after = add(spread(0.15), multiply(spread(0.85), load(work.sums.real, at)))
    after = choose(running, after, before)
    words = load(work.states.whole, vertex * LANES)
    store(work.states.real, vertex * LANES, after)
    changed = set_of(differ(words, load(work.states.whole, vertex * LANES)))
    return changed, set_of(floats_moved(before, after, tolerance))


# program section: end


@joined_kernel
def hears(context: LaneContext, vertex: int) -> bool:
    """True of a vertex that some edge leads to, in the direction of messages, in any lane."""
    if forward() and context.into.start[vertex] != context.into.stop[vertex]:
        return True
    return backward() and context.out.start[vertex] != context.out.stop[vertex]


@bare_kernel
def begin_lanes(context: LaneContext, work: LaneWork, course: LaneCourse) -> None:
    """Iteration 0 for every vertex, in every lane; and who hears anything."""
    size = 0
    for vertex in range(len(work.changed)):
        begin_state(context, vertex, work)
        work.mark[vertex] = 0
        work.hearing[size] = vertex
        size += 1 if hears(context, vertex) else 0
    course.progress[HEARING] = size


@inner_kernel
def list_along(slabs: Slabs, work: LaneWork, vertex: int, size: int, iteration: int) -> int:
    """List those that an edge from a vertex leads to and that are not listed yet."""
    begin = slabs.start[vertex]
    for position in range(begin, begin + (slabs.live[vertex] if SINGLE else slabs.used[vertex])):
        target = slabs.neighbour[position]
        if work.mark[target] != iteration:
            work.mark[target] = iteration
            work.listed[size] = target
            size += 1
    return size


@inner_kernel
def list_targets(context: LaneContext, work: LaneWork, changed: int, iteration: int) -> int:
    """List the changed and those they may tell, or nobody where all may as well gather.

    Of several versions, edges are looked at whether any lane has them or not; a quarter as many
    at most as there are.
    """
    vertices, most = len(work.changed), context.edges // 4
    size, looked = 0, 0
    for number in range(changed):
        vertex = work.changed[number]
        if work.mark[vertex] != iteration:
            work.mark[vertex] = iteration
            work.listed[size] = vertex
            size += 1
        if forward():
            size = list_along(context.graph.out, work, vertex, size, iteration)
            looked += context.graph.out.used[vertex]
        if backward():
            size = list_along(context.graph.into, work, vertex, size, iteration)
            looked += context.graph.into.used[vertex]
        if 4 * size > vertices or looked > most:
            return EVERYBODY
    return size


@joined_kernel
def gather(context: LaneContext, work: LaneWork, vertex: int, at: int) -> None:
    """The accumulators of a vertex, in all lanes."""
    clear_sums(work, at)
    if forward():
        gather_along(context, context.into, vertex, work, at)
    if backward():
        gather_along(context, context.out, vertex, work, at)


@joined_kernel
def choose_targets(
    context: LaneContext, work: LaneWork, course: LaneCourse, iteration: int
) -> tuple[int, bool]:
    """Who takes part in an iteration: so many vertices of `listed`, or all; True for all.

    Who hears nothing depends on itself alone: once none of those changes, none ever will.
    """
    vertices, changed = len(work.changed), course.progress[CHANGED]
    if reads_iteration() or changed == EVERYBODY:
        return vertices, True
    if 4 * changed <= vertices:
        size = list_targets(context, work, changed, iteration)
        if size != EVERYBODY:
            return size, False
    if course.progress[RESTLESS] > 0:
        return vertices, True
    for number in range(course.progress[HEARING]):
        work.listed[number] = work.hearing[number]
    return course.progress[HEARING], False


@inner_kernel
def run_round(context: LaneContext, work: LaneWork, course: LaneCourse) -> None:
    """Run the iteration after the last in the lanes that go on."""
    iteration, active = course.progress[ITERATION] + 1, course.progress[ACTIVE]
    changed = course.progress[CHANGED]
    count, everybody = choose_targets(context, work, course, iteration)
    if hoisted():
        for number in range(count if changed == EVERYBODY else changed):
            make_parcel(context, number if changed == EVERYBODY else work.changed[number], work)
    else:
        for number in range(count):
            vertex = number if everybody else work.listed[number]
            gather(context, work, vertex, vertex * sums_count() * LANES)
    changed, moved, restless = 0, 0, 0
    setting = (iteration, active, course.tolerance)
    for number in range(count):
        vertex = number if everybody else work.listed[number]
        at = 0
        if hoisted():
            gather(context, work, vertex, at)
        else:
            at = vertex * sums_count() * LANES
        changes, moves = update_state(context, vertex, work, at, setting)
        if changes != 0:
            work.changed[changed] = vertex
            changed += 1
            moved |= moves
            if everybody and not hears(context, vertex):
                restless += 1
    course.progress[ITERATION], course.progress[CHANGED] = iteration, changed
    course.progress[ACTIVE] = active if course.patient else active & moved
    if everybody:
        course.progress[RESTLESS] = restless


@bare_kernel
def run_lanes(context: LaneContext, work: LaneWork, course: LaneCourse) -> None:
    """Run on from where `course.progress` is, until every lane is done or the last iteration."""
    while course.progress[ITERATION] < course.last and course.progress[ACTIVE] != 0:
        run_round(context, work, course)
