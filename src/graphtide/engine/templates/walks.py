"""Kernels of walk programs: runs from scratch, terms of a batch, and updates of vertices.

The section below is that of a sample: every vertex counts its distinct out-neighbours.

A program whose walks read no state has the same walks in every iteration: `settle` then runs a
vertex from its start to its own end, alone, and only where something that it reads has changed.
"""

from __future__ import annotations

from typing import Any

from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, joined_kernel
from graphtide.kernels.walks.batch import clear_batch, note_states, take_batch
from graphtide.kernels.walks.records import (
    BOUNDED,
    DIRECT,
    DIRECT_CAME,
    DOUBT,
    ENDLESS,
    JOURNALED,
    LAST,
    LEFT_OUT,
    NEW,
    PAIRS,
    PATIENT,
    READ,
    REPORTED,
    SLOTS,
    STATE_WIDTH,
    SUMS_WIDTH,
    TOUCHED,
    touch,
    walking_at,
)
from graphtide.kernels.walks.versions import (
    OUT_WAY,
    bounds,
    direct_change,
    is_neighbour,
)

# program section: begin
NEEDS = 1
READS_DEGREES = False
READS_NOTHING = True


@joined_kernel
def properties_at(words: Any, first: int) -> Any:
    """The edge properties that it reads, from that place of a block on."""
    return ()


@joined_kernel
def parameters_at(words: Any, first: int) -> Any:
    """Its parameters, which come behind them."""
    return ()


@bare_kernel
def run_walks(words: Any, first: int, last: int) -> None:
    """All walks that begin at some vertices."""
    walking = walking_at(words, 0)
    for vertex in range(first, last):
        begin, end = bounds(walking, 0, vertex, OUT_WAY, NEW)
        for place in range(begin, end):
            if is_neighbour(walking, 0, place, vertex, (DIRECT, DIRECT_CAME, LEFT_OUT, NEW)):
                walking.sums.whole[vertex] += 1


@bare_kernel
def run_terms(words: Any, inserted: Any, deleted: Any, sources: Any, targets: Any) -> None:
    """What a batch changes of all walks."""
    walking = walking_at(words, 0)
    for rank in range(walking.counts[PAIRS]):
        for one in (walking.changed.low[rank], walking.changed.high[rank]):
            change = direct_change(walking.changed, rank, one)
            touch(walking, one, 1)
            walking.sums.whole[one] += change


@bare_kernel
def gather_walks(words: Any, vertex: int) -> None:
    """Take anew what a vertex in doubt was sent."""


@bare_kernel
def round_terms(
    words: Any, rounds: Any, inserted: Any, deleted: Any, sources: Any, targets: Any
) -> None:
    """What a round's walks send otherwise, where they read state; here they read none."""


@bare_kernel
def gather_in_round(words: Any, rounds: Any, vertex: int) -> None:
    """Take anew what a vertex in doubt was sent in a round."""


@joined_kernel
def clear_vertex(walking: Any, parameters: Any, vertex: int) -> None:
    """Empty the accumulators of a vertex."""
    walking.sums.whole[vertex] = 0


@joined_kernel
def clear_gathered(walking: Any, parameters: Any, vertex: int) -> None:
    """Empty those that may be gathered."""


@joined_kernel
def clear_globals(walking: Any, parameters: Any) -> None:
    """Empty those of the whole graph."""


@joined_kernel
def initialize(walking: Any, parameters: Any, vertex: int) -> None:
    """The state of iteration 0."""
    walking.states.whole[vertex] = 0


@joined_kernel
def update(walking: Any, parameters: Any, vertex: int, iteration: int) -> None:
    """The state of the next iteration."""
    walking.states.whole[vertex] = walking.sums.whole[vertex]


@joined_kernel
def moved(walking: Any, parameters: Any, vertex: int, tolerance: float) -> bool:
    """True if the state differs from the row in `work`."""
    return bool(walking.work.whole[0] != walking.states.whole[vertex])


# program section: end


@bare_kernel
def clear_all(words: Any) -> None:
    """Empty all accumulators."""
    walking, parameters = walking_at(words, 0), parameters_at(words, READ)
    for vertex in range(len(walking.graph.out.live)):
        clear_vertex(walking, parameters, vertex)
    clear_globals(walking, parameters)
    walking.counts[REPORTED], walking.counts[DOUBT] = 0, 0


@bare_kernel
def begin_vertices(words: Any, first: int, last: int) -> None:
    """Let vertices be at iteration 0, with nothing sent to them."""
    walking, parameters = walking_at(words, 0), parameters_at(words, READ)
    for vertex in range(first, last):
        clear_vertex(walking, parameters, vertex)
        initialize(walking, parameters, vertex)


@bare_kernel
def update_all(words: Any, iteration: int, tolerance: float) -> int:
    """Bring all vertices to the next iteration; how many moved."""
    walking, parameters = walking_at(words, 0), parameters_at(words, READ)
    count = 0
    for vertex in range(len(walking.graph.out.live)):
        keep_state(walking, vertex)
        update(walking, parameters, vertex, iteration)
        if moved(walking, parameters, vertex, tolerance):
            count += 1
    return count


@joined_kernel
def keep_state(walking: Any, vertex: int) -> None:
    """Write down the state of a vertex, in `work`."""
    width = walking.counts[STATE_WIDTH]
    for at in range(width):
        walking.work.whole[at] = walking.states.whole[vertex * width + at]


@joined_kernel
def settle(walking: Any, parameters: Any, vertex: int) -> None:
    """Run a vertex from its start until it stands still, or to the last iteration.

    An `update` that reads no state of its own stands still at once.
    """
    counts = walking.counts
    initialize(walking, parameters, vertex)
    if READS_NOTHING:
        update(walking, parameters, vertex, 1)
        return
    for iteration in range(1, counts[LAST] + 1):
        keep_state(walking, vertex)
        update(walking, parameters, vertex, iteration)
        if not counts[PATIENT] and not moved(walking, parameters, vertex, 0.0):
            return
    if not counts[BOUNDED]:
        walking.fault[0] = ENDLESS


@bare_kernel
def settle_vertices(words: Any, first: int, last: int) -> None:
    """Settle vertices that follow one another."""
    walking, parameters = walking_at(words, 0), parameters_at(words, READ)
    for vertex in range(first, last):
        settle(walking, parameters, vertex)


@bare_kernel
def follow_walks(words: Any, inserted: Any, deleted: Any, sources: Any, targets: Any) -> None:
    """Bring the index and all accumulators to the version of the graph."""
    walking = walking_at(words, 0)
    counts = walking.counts
    counts[TOUCHED], counts[REPORTED], counts[DOUBT] = 0, 0, 0
    take_batch(walking, inserted, deleted, sources, targets, NEEDS)
    run_terms(words, inserted, deleted, sources, targets)
    for entry in range(counts[TOUCHED]):
        if walking.touched.doubt[entry]:
            vertex = walking.touched.vertex[entry]
            clear_gathered(walking, parameters_at(words, READ), vertex)
            gather_walks(words, vertex)
    if READS_DEGREES:
        for slot in range(counts[SLOTS]):
            if walking.changed.out_more[slot] != 0 or walking.changed.into_more[slot] != 0:
                touch(walking, walking.changed.vertex[slot], counts[SUMS_WIDTH])
    clear_batch(walking)


@bare_kernel
def follow_updates(words: Any, everyone: bool) -> int:
    """Settle the vertices that were touched, or all of them.

    The journal ends with the state that they had, but for those that stay as they are; returns
    where that begins.
    """
    walking, parameters = walking_at(words, 0), parameters_at(words, READ)
    counts, touched = walking.counts, walking.touched
    if everyone:
        for vertex in range(len(walking.graph.out.live)):
            touch(walking, vertex, counts[SUMS_WIDTH])
    width, first = counts[STATE_WIDTH], counts[JOURNALED]
    for entry in range(counts[TOUCHED]):
        if entry + NEAR < counts[TOUCHED]:
            prefetch(walking.states.whole, touched.vertex[entry + NEAR] * width)
        vertex, before = touched.vertex[entry], counts[JOURNALED]
        note_states(walking, vertex)
        settle(walking, parameters, vertex)
        differs = False
        for word in range(width):
            old = walking.journal[before + 2 * word + 1]
            differs = differs or walking.states.whole[vertex * width + word] != old
        if not differs:
            counts[JOURNALED] = before
    return int(first)
