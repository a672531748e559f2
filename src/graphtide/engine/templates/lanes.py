"""What a vertex does in a round on several versions of a graph at once, a lane each.

As in a run of one version, with a row of lanes wherever that has a number: every vertex gathers
along the edges that any version has, and takes from each what it brings in the lanes that have it.
An edge then costs one load and one addition of eight numbers where eight runs make eight of each.

Kept true: a lane has what a run of its version alone would have, each sum being made in the order
of edge numbers. A lane whose run is over stays as it is while others go on.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.graph.adjacency import Rows
from graphtide.kernels.jit import joined_kernel, program_kernel
from graphtide.kernels.lanes.rows import LaneContext
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
from graphtide.kernels.synchronous.rounds import Round, RoundWork

# program section: begin
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
    return SUMS


@program_kernel(None)
def begin_state(context: LaneContext, vertex: int, work: RoundWork) -> None:
    """The states of iteration 0."""
    store(work.states.real, vertex * LANES, spread(1.0))


@program_kernel(None)
def make_parcel(context: LaneContext, source: int, work: RoundWork) -> None:
    degree = load(context.out_degree, source * LANES)
    rank = load(work.states.real, source * LANES)
    store(work.parcels.real, source * LANES, divide(rank, as_floats(degree)))


@program_kernel(None)
def clear_sums(work: RoundWork, at: int) -> None:
    """Accumulators to which nothing was sent."""
    store(work.sums.real, at, spread(0.0))


@program_kernel(None)
def gather_along(context: LaneContext, rows: Rows, vertex: int, work: RoundWork, at: int) -> None:
    """Add up what all edges in one direction bring."""
    total = load(work.sums.real, at)
    for position in range(rows.start[vertex], rows.stop[vertex]):
        there = lanes_in(rows.lanes[position])
        message = load(work.parcels.real, rows.neighbour[position] * LANES)
        total = add(total, choose(there, message, spread(0.0)))
    store(work.sums.real, at, total)


@program_kernel((np.int64, np.int64))
def update_state(
    context: LaneContext, vertex: int, work: RoundWork, at: int, setting: Round
) -> tuple[int, int]:
    """The states of the next iteration in the lanes that go on; the sets that changed and moved."""
    _, active, tolerance = setting
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
def begin_vertex(context: LaneContext, work: RoundWork, vertex: int) -> None:
    """The state of iteration 0, in every lane."""
    begin_state(context, vertex, work)


@joined_kernel
def hears(context: LaneContext, vertex: int) -> bool:
    """True of a vertex that some edge leads to, in the direction of messages, in any lane."""
    if forward() and context.into.start[vertex] != context.into.stop[vertex]:
        return True
    return backward() and context.out.start[vertex] != context.out.stop[vertex]


@joined_kernel
def make_parcel_of(context: LaneContext, work: RoundWork, vertex: int) -> None:
    make_parcel(context, vertex, work)


@joined_kernel
def sums_at(vertex: int, place: int) -> int:
    """Where accumulators stand: those of parcels are used at once, and need room for one vertex."""
    return place if hoisted() else vertex * sums_count() * LANES


@joined_kernel
def gather(context: LaneContext, work: RoundWork, vertex: int, place: int) -> int:
    """The accumulators of a vertex, in all lanes; edges are not counted."""
    at = sums_at(vertex, place)
    clear_sums(work, at)
    if forward():
        gather_along(context, context.into, vertex, work, at)
    if backward():
        gather_along(context, context.out, vertex, work, at)
    return 0


@joined_kernel
def update_vertex(
    context: LaneContext, work: RoundWork, vertex: int, place: int, setting: Round
) -> tuple[int, int]:
    """Update a state; the sets of lanes in which it changed, and in which it moved."""
    changes, moves = update_state(context, vertex, work, sums_at(vertex, place), setting)
    return changes, moves
