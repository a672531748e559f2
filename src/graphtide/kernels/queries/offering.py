"""A better cost for an entry is written down, noted for the undoing, and passed on best first.

Costs are never negative, so that an entry which comes out of the heap is final unless a batch has
more to offer from elsewhere: then it comes out again. A call that lacks room leaves everything in
order, with the entry that it was at back on the heap: to offer the same again changes nothing.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.heap import Keyed, keyed_pop, keyed_push
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    BASE,
    DONE,
    HEAP,
    LACKS_HEAP,
    LACKS_LOG,
    LACKS_POOL,
    LACKS_WIDTH,
    LOG,
    LOGS,
    MOST,
    NO_SIGN,
    TAKES_LONG,
    TOUCHED,
    Int64,
    rows_of,
    searches_of,
    work_of,
)
from graphtide.kernels.queries.rows import (
    can_grow,
    find_entry,
    fits,
    insert_entry,
    key_of,
    packed,
    put_value,
    sign_of,
    value_at,
    vertex_of,
)
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of


@joined_kernel
def push_entry(words: Int64, vertex: int, key: int, value: float) -> None:
    """Put an entry on the heap, which has room."""
    work = work_of(words)
    heap = Keyed(work.item, work.rank)
    work.counts[HEAP] = keyed_push(heap, work.counts[HEAP], packed(vertex, key), value, 1)


@joined_kernel
def pop_entry(words: Int64) -> None:
    """Take the best entry off the heap; read it before."""
    work = work_of(words)
    work.counts[HEAP] = keyed_pop(Keyed(work.item, work.rank), work.counts[HEAP], 1)


@joined_kernel
def count_looks(words: Int64, search: int, edges: int) -> None:
    """Count edges that a search looks at: of this batch, and of the search."""
    work_of(words).counts[TOUCHED] += edges
    searches_of(words).looked[search] += edges


@joined_kernel
def lacks_work(words: Int64) -> int:
    """Whether heap and log have room: for one more, and for the one that goes back on the heap."""
    work = work_of(words)
    if work.counts[HEAP] + 2 > len(work.item):
        return LACKS_HEAP
    if work.counts[LOGS] and work.counts[LOG] == len(work.log_item):
        return LACKS_LOG
    return DONE


@joined_kernel
def note_entry(words: Int64, vertex: int, key: int, place: int) -> None:
    """Write down what is at a place of the pool, or, where that is -1, that nothing was there."""
    rows, work = rows_of(words), work_of(words)
    if work.counts[LOGS] == 0:
        return
    at = work.counts[LOG]
    work.log_item[at] = packed(vertex, key)
    work.log_value[at] = np.inf if place < 0 else value_at(rows, place)
    work.log_sign[at] = NO_SIGN if place < 0 else rows.sign[place]
    work.counts[LOG] = at + 1


@inner_kernel
def offer(words: Int64, vertex: int, key: int, value: float, edge: int) -> int:
    """Take a cost for an entry if it is better; says what was lacking where it could not."""
    rows = rows_of(words)
    place = find_entry(words, vertex, key)
    if place >= 0 and value >= value_at(rows, place):
        return DONE
    lacking = lacks_work(words)
    if lacking != DONE:
        return lacking
    if not fits(rows, value):
        return LACKS_WIDTH
    if place < 0:
        if not can_grow(words, vertex):
            return LACKS_POOL
        note_entry(words, vertex, key, -1)
        place = insert_entry(words, vertex, key)
        searches = searches_of(words)
        searches.entries[searches.owner[key]] += 1
    elif value_at(rows, place) < np.inf:  # What has fallen was noted then.
        note_entry(words, vertex, key, place)
    put_value(rows, place, value)
    rows.sign[place] = sign_of(edge)
    push_entry(words, vertex, key, value)
    return DONE


@inner_kernel
def spread(words: Int64, vertex: int, key: int, value: float) -> int:
    """Offer to all that an entry leads to what it costs from there."""
    searches, graph = searches_of(words), adjacency_at(words, 0)
    search = searches.owner[key]
    state = key - fact(words, search, BASE)
    ways, lacking = ways_of(words, search, state), DONE
    if ways & ALONG:
        lacking = spread_one_way(words, graph.out, vertex, (search, state, 0), value)
    if lacking == DONE and ways & AGAINST:
        lacking = spread_one_way(words, graph.into, vertex, (search, state, 1), value)
    return lacking


@inner_kernel
def spread_one_way(
    words: Int64, slabs: Slabs, vertex: int, from_state: tuple[int, int, int], value: float
) -> int:
    """The same along edges, or against them: `from_state` is a search, a state and the way."""
    search, state, back = from_state
    base, bound = fact(words, search, BASE), searches_of(words).bound[search]
    start, live = slabs.start[vertex], slabs.live[vertex]
    count_looks(words, search, live)
    for place in range(start, start + live):
        edge = slabs.edge[place]
        reached = step_of(words, search, state, 2 * class_of(words, search, edge) + back)
        if reached < 0:
            continue
        total = value + cost_of(words, search, edge)
        if total <= bound:
            ended = offer(words, slabs.neighbour[place], base + reached, total, edge)
            if ended != DONE:
                return ended
    return DONE


@inner_kernel
def settle(words: Int64) -> int:
    """Pass on whatever is on the heap, best first, until nothing is."""
    work, rows = work_of(words), rows_of(words)
    while work.counts[HEAP] > 0:
        if work.counts[TOUCHED] > work.counts[MOST]:
            return TAKES_LONG
        item, value = work.item[0], work.rank[0]
        pop_entry(words)
        vertex, key = vertex_of(item), key_of(item)
        place = find_entry(words, vertex, key)
        if place < 0 or value_at(rows, place) != value:
            continue
        ended = spread(words, vertex, key, value)
        if ended != DONE:
            push_entry(words, vertex, key, value)
            return ended
    return DONE
