"""What a vertex does in a round of any program: it gathers messages and updates its state.

It gathers what its live edges bring from the states of the round before; then all states are
updated in place. What a vertex tells all neighbours alike is computed once, as a parcel, before
anybody gathers; PageRank's inner loop is then one load and one addition an edge, and gathering and
updating are one pass (`phases`).

Two kinds of sums of floats go with this: plain ones, off by up to n * 2^-53 of the sum of the
absolute messages, n being their number; and those with their errors beside them, for runs that are
kept and corrected, off by n * n * 2^-106 of it. Both are made in the order of the slabs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import joined_kernel, program_kernel
from graphtide.kernels.synchronous.histories import RoundContext, same_words
from graphtide.kernels.synchronous.rounds import Round, RoundWork
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
    return 1


@program_kernel(np.int64)
def sums_width(read: Any) -> int:
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
    message = states.real[source[1]] / float(source[2])
    add_to_sum(sums.real, target[2], message)
    sums.real[target[2] + sums_width(context.read)] += abs(message)


@program_kernel(None, joined=False)
def withdraw(context: Any, states: Any, source: Any, target: Any, edge: int, sums: Any) -> None:
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


@joined_kernel
def begin_vertex(context: RoundContext, work: RoundWork, vertex: int) -> None:
    """The state of iteration 0."""
    initial_state(context, vertex, work.states, vertex * state_width(context.read))


@joined_kernel
def hears(context: RoundContext, vertex: int) -> bool:
    """True of a vertex that some edge leads to, in the direction of messages."""
    if forward() and context.graph.into.live[vertex] > 0:
        return True
    return backward() and context.graph.out.live[vertex] > 0


@joined_kernel
def make_parcel_of(context: RoundContext, work: RoundWork, vertex: int) -> None:
    make_parcel(context, vertex, work.states, work.parcels)


@joined_kernel
def gather(context: RoundContext, work: RoundWork, vertex: int, place: int) -> int:
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


@joined_kernel
def update_vertex(
    context: RoundContext, work: RoundWork, vertex: int, place: int, setting: Round
) -> tuple[int, int]:
    """Update a state in place; says whether it changed, and whether it moved.

    What it was is kept meanwhile in the row of states at `place`.
    """
    width = state_width(context.read)
    at = vertex * width
    for step in range(width):
        work.states.whole[place + step] = work.states.whole[at + step]
    places = (at, vertex * sums_width(context.read))
    update_state(context, vertex, setting.iteration, work.states, work.sums, places)
    if same_words(work.states.whole, place, at, width):
        return 0, 0
    return 1, int(moved(context, work.states, place, at, setting.tolerance))
