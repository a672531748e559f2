"""Rounds of any vertex program: each gathers messages and updates states, from the round before.

Every vertex gathers what its live edges bring from the states of the round before, then all states
are updated in place. What a vertex tells all neighbours alike is computed once, as a parcel, before
anybody gathers; PageRank's inner loop is then one load and one addition an edge, and gathering and
updating are one pass.

Kept true: none of the messages to a vertex changed since it last gathered. So where few states
changed, only the targets of those gather again; where many did, everybody does.

Two kinds of sums of floats go with this: plain ones, off by up to n * 2^-53 of the sum of the
absolute messages, n being their number; and those with their errors beside them, for runs that are
kept and corrected, off by n * n * 2^-106 of it. Both are made in the order of the slabs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, program_kernel
from graphtide.kernels.synchronous.histories import (
    ACTIVE,
    EVERYBODY,
    GATHERED,
    ITERATION,
    PENDING,
    Context,
    Course,
    Work,
    same_words,
)
from graphtide.kernels.synchronous.sums import add_to_sum, float_moved, merge_sum

MOST_SLACK = 2.0**46
"""An accumulator is trusted while no more than this often itself has passed through it."""


# program section: begin
@program_kernel(np.bool_)
def forward() -> bool:
    """True if edges carry anything from source to target."""
    return True


@program_kernel(np.bool_)
def backward() -> bool:
    """True if they carry anything the other way."""
    return False


@program_kernel(np.bool_)
def reversible() -> bool:
    """True if accumulators can be corrected by what messages differ by."""
    return True


@program_kernel(np.bool_)
def hoisted() -> bool:
    """True if a vertex tells all neighbours the same, at most once."""
    return True


@program_kernel(np.bool_)
def own_state() -> bool:
    """True if what a vertex has next depends on what it has."""
    return False


@program_kernel(np.bool_)
def reads_iteration() -> bool:
    """True if updates look at the number of the iteration."""
    return False


@program_kernel(np.bool_)
def source_out_degree() -> bool:
    """True if messages look at how many edges leave their source."""
    return True


@program_kernel(np.bool_)
def source_in_degree() -> bool:
    """True if they look at how many lead there."""
    return False


@program_kernel(np.bool_)
def target_degrees() -> bool:
    """True if they look at degrees of their target."""
    return False


@program_kernel(np.bool_)
def degrees() -> bool:
    """True if anything looks at degrees."""
    return True


@program_kernel(np.int64)
def state_width(read: Any) -> int:
    """How many words a state has."""
    return 1


@program_kernel(np.int64)
def sums_width(read: Any) -> int:
    """How many words the accumulators have."""
    return 2


@program_kernel(None, joined=False)
def initial_state(context: Any, vertex: int, states: Any, at: int) -> None:
    """The state of iteration 0."""
    states.real[at] = 1.0


@program_kernel(None, joined=False)
def update_state(
    context: Any, vertex: int, iteration: int, states: Any, sums: Any, place: tuple[int, int]
) -> None:
    """Replace a state by that of the next iteration; `place` is that of state and accumulators."""
    at, sums_at = place
    states.real[at] = 0.15 + 0.85 * sums.real[sums_at]


@program_kernel(None, joined=False)
def clear_sums(context: Any, sums: Any, at: int) -> None:
    """Accumulators to which nothing was sent."""
    sums.real[at] = 0.0
    sums.real[at + 1] = 0.0


@program_kernel(None, joined=False)
def contribute(context: Any, states: Any, source: Any, target: Any, edge: int, sums: Any) -> None:
    """Send what an edge carries."""
    message = states.real[source[1]] / float(source[2])
    add_to_sum(sums.real, target[2], message)
    sums.real[target[2] + sums_width(context.read)] += abs(message)


@program_kernel(None, joined=False)
def withdraw(context: Any, states: Any, source: Any, target: Any, edge: int, sums: Any) -> None:
    """Take back what an edge carried."""
    message = states.real[source[1]] / float(source[2])
    add_to_sum(sums.real, target[2], -message)
    sums.real[target[2] + sums_width(context.read)] += abs(message)


@program_kernel(np.bool_, joined=False)
def merge_sums(context: Any, sums: Any, at: int, other: Any, other_at: int) -> bool:
    """Put one row of accumulators into another; False if the result cannot be trusted."""
    sums.real[at + sums_width(context.read)] += other.real[other_at + sums_width(context.read)]
    return merge_sum(sums.real, at, other.real, other_at)


@program_kernel(np.bool_, joined=False)
def in_doubt(context: Any, sums: Any, at: int, slack: float) -> bool:
    """True if so much passed through that the last digits may be wrong."""
    return bool(abs(sums.real[at]) * MOST_SLACK < slack)


@program_kernel(np.bool_, joined=False)
def moved(context: Any, states: Any, before: int, after: int, tolerance: float) -> bool:
    """True if any field moved by more than a share of itself."""
    return float_moved(states.real[before], states.real[after], tolerance)


@program_kernel(None, joined=False)
def make_parcel(context: Any, vertex: int, states: Any, parcels: Any) -> None:
    """What a vertex tells all neighbours alike."""
    parcels.real[vertex] = states.real[vertex] / float(context.graph.out.live[vertex])


@program_kernel(None, joined=False)
def gather_parcels(
    context: Any, slabs: Slabs, vertex: int, parcels: Any, sums: Any, at: int
) -> None:
    """Add up the parcels of all neighbours in one direction."""
    total, low = sums.real[at], sums.real[at + 1]
    begin = slabs.start[vertex]
    for position in range(begin, begin + slabs.live[vertex]):
        message = parcels.real[slabs.neighbour[position]]
        raised = total + message
        part = raised - total
        low += (total - (raised - part)) + (message - part)
        total = raised
    raised = total + low
    sums.real[at], sums.real[at + 1] = total, 0.0
    if math.isfinite(raised):
        sums.real[at], sums.real[at + 1] = raised, low - (raised - total)


@program_kernel(None, joined=False)
def gather_messages(
    context: Any, slabs: Slabs, vertex: int, states: Any, sums: Any, at: int
) -> None:
    """Add up what all edges in one direction carry, edge by edge."""


# program section: end


@bare_kernel
def begin_states(context: Context, work: Work) -> None:
    """Iteration 0 for every vertex."""
    for vertex in range(len(work.changed)):
        initial_state(context, vertex, work.states, vertex * state_width(context.read))


@joined_kernel
def gather(context: Context, work: Work, vertex: int) -> int:
    """The accumulators of a vertex, from its neighbours; returns how many edges brought them."""
    at = vertex * sums_width(context.read)
    clear_sums(context, work.sums, at)
    looked = 0
    if forward():
        slabs = context.graph.into
        looked += slabs.live[vertex]
        if hoisted():
            gather_parcels(context, slabs, vertex, work.parcels, work.sums, at)
        else:
            gather_messages(context, slabs, vertex, work.states, work.sums, at)
    if backward():
        slabs = context.graph.out
        looked += slabs.live[vertex]
        if hoisted():
            gather_parcels(context, slabs, vertex, work.parcels, work.sums, at)
        else:
            gather_messages(context, slabs, vertex, work.states, work.sums, at)
    return looked


@inner_kernel
def list_along(slabs: Slabs, work: Work, vertex: int, size: int, iteration: int) -> int:
    """List the neighbours of a vertex that are not listed yet."""
    begin = slabs.start[vertex]
    for position in range(begin, begin + slabs.live[vertex]):
        target = slabs.neighbour[position]
        if work.mark[target] != iteration:
            work.mark[target] = iteration
            work.listed[size] = target
            size += 1
    return size


@inner_kernel
def list_targets(context: Context, work: Work, active: int, iteration: int, most: int) -> int:
    """List the changed and those they tell; EVERYBODY beyond a quarter of the vertices, or if
    more than `most` edges would be looked at: all may as well gather then.
    """
    vertices = len(work.changed)
    size, looked = 0, 0
    for number in range(active):
        vertex = work.changed[number]
        if work.mark[vertex] != iteration:
            work.mark[vertex] = iteration
            work.listed[size] = vertex
            size += 1
        if forward():
            size = list_along(context.graph.out, work, vertex, size, iteration)
            looked += context.graph.out.live[vertex]
        if backward():
            size = list_along(context.graph.into, work, vertex, size, iteration)
            looked += context.graph.into.live[vertex]
        if 4 * size > vertices or looked > most:
            return EVERYBODY
    return size


@joined_kernel
def make_parcels(context: Context, work: Work, active: int, size: int) -> None:
    """What everybody, or who changed, tells all neighbours alike."""
    everybody = size == EVERYBODY
    for number in range(len(work.changed) if everybody else active):
        vertex = number if everybody else work.changed[number]
        make_parcel(context, vertex, work.states, work.parcels)


@joined_kernel
def update_one(
    context: Context, work: Work, vertex: int, iteration: int, tolerance: float
) -> tuple[bool, bool]:
    """Update a state in place; says whether it changed, and whether it moved."""
    width = state_width(context.read)
    at, spare = vertex * width, len(work.changed) * width
    for step in range(width):
        work.states.whole[spare + step] = work.states.whole[at + step]
    place = (at, vertex * sums_width(context.read))
    update_state(context, vertex, iteration, work.states, work.sums, place)
    if same_words(work.states.whole, spare, at, width):
        return False, False
    return True, moved(context, work.states, spare, at, tolerance)


@inner_kernel
def pass_over(context: Context, work: Work, course: Course, size: int, vertices: int) -> int:
    """Gather and update those that are listed, or the first so many vertices for EVERYBODY.

    The iteration is the one after the last; `course.progress` tells of it, and `work.changed` who
    changed. Returns how many moved.
    """
    iteration, active = course.progress[ITERATION] + 1, course.progress[ACTIVE]
    everybody = size == EVERYBODY
    count = vertices if everybody else size
    if hoisted():
        make_parcels(context, work, active, size)
    active, moves, looked = 0, 0, 0
    if not hoisted():
        for number in range(count):
            looked += gather(context, work, number if everybody else work.listed[number])
    for number in range(count):
        vertex = number if everybody else work.listed[number]
        if hoisted():
            looked += gather(context, work, vertex)
        changes, moves_far = update_one(context, work, vertex, iteration, course.tolerance)
        if changes:
            work.changed[active] = vertex
            active += 1
            moves += moves_far
    course.progress[ITERATION], course.progress[ACTIVE] = iteration, active
    course.progress[GATHERED] += looked
    return moves


@inner_kernel
def run_round(context: Context, work: Work, course: Course) -> int:
    """Run the iteration after the last; `course.progress` tells of it. Returns how many moved."""
    iteration, active = course.progress[ITERATION] + 1, course.progress[ACTIVE]
    vertices, size = len(work.changed), EVERYBODY
    if 0 <= 4 * active <= vertices and not reads_iteration():
        size = list_targets(context, work, active, iteration, 4 * vertices)
    moves = pass_over(context, work, course, size, vertices)
    course.counts[iteration] = moves
    course.progress[PENDING] = size
    return moves


@bare_kernel
def run_rounds(context: Context, work: Work, course: Course) -> None:
    """Run on from where `course.progress` is, in the states that `work` has of it."""
    while course.progress[ITERATION] < course.last:
        moves = run_round(context, work, course)
        if context.fault[0] != 0 or (moves == 0 and not course.patient):
            break
