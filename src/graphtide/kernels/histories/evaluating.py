"""Entries brought to the new graph, iteration by iteration.

An entry is evaluated at an iteration where what it is offered has changed, or where it differs from
what it was and had a difference before. Its new difference is the least offer of that iteration, if
it is below the cost so far. Where that is another than before, those behind it are evaluated at the
next iteration, unless what they are offered is above what they have. An entry that costs more than
it did looks for the next offer as well: it may take what it did not need before.

All at iterations below the current one is final. An evaluation that lacks room to work in changes
nothing and waits: it is made again once there is more.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.heap import Keyed, keyed_pop, keyed_push
from graphtide.kernels.histories.dropping import drops, filter_add
from graphtide.kernels.histories.joining import change_message, least_message, next_message
from graphtide.kernels.histories.noting import note_item
from graphtide.kernels.histories.pools import (
    close_place,
    exactly_at,
    first_at,
    lacking_for,
    open_place,
    put_cost,
)
from graphtide.kernels.histories.reading import GONE, cheap_cost, difference_at, next_after
from graphtide.kernels.histories.recomputing import cost_until, count_looks, pulled, recomputed
from graphtide.kernels.histories.records import (
    DETERMINISTIC,
    DONE,
    DROPPED_COUNT,
    ENDLESS,
    EVALUATED,
    FILTER_FACTS,
    HEAP,
    HOW,
    KEPT_COUNT,
    LACKING,
    LACKS_DROPPED,
    LACKS_HEAP,
    LACKS_KEPT,
    LACKS_MESSAGES,
    LAST,
    MESSAGES,
    MOST_ITERATIONS,
    NEW,
    OLD,
    ON_DEMAND,
    PROBABILISTIC,
    Int64,
    dropped_of,
    filters_of,
    kept_of,
    work_of,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import AGAINST, ALONG, BASE, STATES, WAYS, searches_of
from graphtide.kernels.queries.rows import key_of, packed, vertex_of
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of


@joined_kernel
def push_item(state: Int64, item: int, iteration: int) -> None:
    """Have an entry evaluated at an iteration."""
    work = work_of(state)
    if work.counts[HEAP] == len(work.heap_item):
        work.counts[LACKING] = LACKS_HEAP
        return
    heap = Keyed(work.heap_item, work.heap_rank)
    work.counts[HEAP] = keyed_push(heap, work.counts[HEAP], item, float(iteration), 1)


@inner_kernel
def evaluate_all(words: Int64, state: Int64) -> None:
    """Evaluate whatever waits, the lowest iterations first, until nothing does or room lacks."""
    work = work_of(state)
    while work.counts[HEAP] > 0 and work.counts[LACKING] == 0:
        item, iteration = work.heap_item[0], int(work.heap_rank[0])
        heap = Keyed(work.heap_item, work.heap_rank)
        work.counts[HEAP] = keyed_pop(heap, work.counts[HEAP], 1)
        if iteration > MOST_ITERATIONS:
            work.counts[LACKING] = ENDLESS
            return
        note = note_item(state, item)
        if note >= 0 and work.noted_done[note] != iteration:
            evaluate(words, state, item, iteration)
            work.noted_done[note] = iteration if work.counts[LACKING] == 0 else -1
        if work.counts[LACKING] != 0:
            work.counts[HEAP] = keyed_push(heap, work.counts[HEAP], item, float(iteration), 1)


@inner_kernel
def has_room_to_tell(words: Int64, state: Int64, item: int) -> bool:
    """Whether there is room to tell all whom an entry leads to, itself, and those who wait."""
    work, graph, vertex = work_of(state), adjacency_at(words, 0), vertex_of(item)
    edges = graph.out.live[vertex] + graph.into.live[vertex]
    if work.counts[HEAP] + edges + 3 > len(work.heap_item):
        work.counts[LACKING] = LACKS_HEAP
    elif not work.settings[ON_DEMAND] and work.counts[MESSAGES] + 2 * edges > len(
        work.message_item
    ):
        work.counts[LACKING] = LACKS_MESSAGES
    return bool(work.counts[LACKING] == 0)


@inner_kernel
def evaluate(words: Int64, state: Int64, item: int, iteration: int) -> None:
    """Bring one entry to what it is at an iteration, and tell those whom that concerns."""
    work = work_of(state)
    work.counts[EVALUATED] += 1
    before = cost_until(words, state, item, iteration - 1, NEW)
    old_before = cost_until(words, state, item, iteration - 1, OLD)
    old = old_difference(words, state, item, iteration, old_before)
    if work.settings[ON_DEMAND]:
        new = pulled(words, state, item, iteration)
    else:
        new = least_message(state, item, iteration)
    if not new < before:
        new = np.inf
    if work.counts[LACKING] != 0 or not (new == old or has_room_to_tell(words, state, item)):
        return
    if new != old:
        write_difference(words, state, item, iteration, new)
        tell_followers(words, state, item, iteration, old, new)
    now, was = min(before, new), min(old_before, old)
    if now != was:
        later = next_after(words, state, item, iteration, OLD)
        if later >= 0:
            push_item(state, item, later)
    if now > was:
        later = next_offer(words, state, item, iteration)
        if later >= 0:
            push_item(state, item, later)


@inner_kernel
def old_difference(words: Int64, state: Int64, item: int, iteration: int, before: float) -> float:
    """The cost of a difference that an entry had before the batch; infinity where it had none."""
    kind, cost = difference_at(words, state, item, iteration, OLD)
    if kind == GONE:
        cost = recomputed(words, state, item, iteration, OLD)
    return cost if cost < before else np.inf


@inner_kernel
def write_difference(words: Int64, state: Int64, item: int, iteration: int, cost: float) -> None:
    """Let an entry have a difference, kept or dropped as the policy says; infinity is none."""
    remove_difference(words, state, item, iteration)
    if cost == np.inf:
        return
    work, vertex, key = work_of(state), vertex_of(item), key_of(item)
    search = searches_of(words).owner[key]
    facts, first = filters_of(state).facts, search * FILTER_FACTS
    facts[first + LAST] = max(facts[first + LAST], iteration)
    pool, lacks, counted = kept_of(state), LACKS_KEPT, KEPT_COUNT
    if drops(words, state, item, iteration):
        if work.settings[HOW] == PROBABILISTIC:
            filter_add(state, search, item, iteration)
            return
        pool, lacks, counted = dropped_of(state), LACKS_DROPPED, DROPPED_COUNT
    lacking = lacking_for(pool, vertex, iteration, cost, lacks)
    if lacking != DONE:
        work.counts[LACKING] = lacking
        return
    place = first_at(pool, vertex, key, iteration)
    put_cost(pool, open_place(pool, vertex, place, key, iteration), cost)
    facts[first + counted] += 1


@inner_kernel
def remove_difference(words: Int64, state: Int64, item: int, iteration: int) -> None:
    """Let an entry have no difference at an iteration; a filter keeps what was dropped."""
    vertex, key = vertex_of(item), key_of(item)
    facts = filters_of(state).facts
    first = searches_of(words).owner[key] * FILTER_FACTS
    kept = kept_of(state)
    place = exactly_at(kept, vertex, key, iteration)
    if place >= 0:
        close_place(kept, vertex, place)
        facts[first + KEPT_COUNT] -= 1
    if work_of(state).settings[HOW] == DETERMINISTIC:
        dropped = dropped_of(state)
        place = exactly_at(dropped, vertex, key, iteration)
        if place >= 0:
            close_place(dropped, vertex, place)
            facts[first + DROPPED_COUNT] -= 1


@inner_kernel
def tell_followers(
    words: Int64, state: Int64, item: int, iteration: int, old: float, new: float
) -> None:
    """Have those evaluated that a difference reaches, now that it is another; infinity is none."""
    graph, key = adjacency_at(words, 0), key_of(item)
    search = searches_of(words).owner[key]
    ways = ways_of(words, search, key - fact(words, search, BASE))
    if ways & ALONG:
        tell_one_way(words, state, graph.out, (item, iteration, 0), (old, new))
    if ways & AGAINST:
        tell_one_way(words, state, graph.into, (item, iteration, 1), (old, new))


@inner_kernel
def tell_one_way(
    words: Int64,
    state: Int64,
    slabs: Slabs,
    told: tuple[int, int, int],
    costs: tuple[float, float],
) -> None:
    """The same along edges, or against them: `told` is the entry, its iteration and the way."""
    item, iteration, back = told
    vertex = vertex_of(item)
    start = slabs.start[vertex]
    count_looks(words, state, item, slabs.live[vertex])
    for place in range(start, start + slabs.live[vertex]):
        by = slabs.edge[place], slabs.neighbour[place], back
        tell_by(words, state, item, iteration, costs, by)


@inner_kernel
def tell_by(
    words: Int64,
    state: Int64,
    item: int,
    iteration: int,
    costs: tuple[float, float],
    by: tuple[int, int, int],
) -> None:
    """The same by one edge, told as the edge, its other end and the way along it."""
    edge, neighbour, back = by
    key, work, searches = key_of(item), work_of(state), searches_of(words)
    search = searches.owner[key]
    base = fact(words, search, BASE)
    letter = 2 * class_of(words, search, edge) + back
    reached = step_of(words, search, key - base, letter)
    if reached < 0:
        return
    cost, bound = cost_of(words, search, edge), searches.bound[search]
    there, old, new = packed(neighbour, base + reached), costs[0] + cost, costs[1] + cost
    if min(old, new) > bound or min(old, new) == np.inf:
        return
    if not work.settings[ON_DEMAND]:
        if old <= bound and old < np.inf:
            change_message(words, state, there, iteration + 1, old, -1)
        if new <= bound and new < np.inf:
            change_message(words, state, there, iteration + 1, new, 1)
    # An offer that was below what the entry had made a difference, where it is evaluated anyway if
    # what it has now is another. So what it has now says whether the offer matters.
    if min(old, new) < cheap_cost(state, there, iteration, NEW)[1]:
        push_item(state, there, iteration + 1)


@inner_kernel
def next_offer(words: Int64, state: Int64, item: int, iteration: int) -> int:
    """The next iteration at which an entry is offered anything new; -1 without one."""
    if not work_of(state).settings[ON_DEMAND]:
        return next_message(state, item, iteration)
    graph, one, other = adjacency_at(words, 0), -1, -1
    ways = fact(words, searches_of(words).owner[key_of(item)], WAYS)
    if ways & ALONG:
        one = next_one_way(words, state, graph.into, (item, iteration, 0))
    if ways & AGAINST:
        other = next_one_way(words, state, graph.out, (item, iteration, 1))
    return other if one < 0 or 0 <= other < one else one


@inner_kernel
def next_one_way(words: Int64, state: Int64, slabs: Slabs, wanted: tuple[int, int, int]) -> int:
    """The same by edges of one direction; `wanted` is the entry, the iteration and the way."""
    item, iteration, back = wanted
    vertex, key, found = vertex_of(item), key_of(item), -1
    search = searches_of(words).owner[key]
    base, start = fact(words, search, BASE), slabs.start[vertex]
    count_looks(words, state, item, slabs.live[vertex])
    for place in range(start, start + slabs.live[vertex]):
        letter = 2 * class_of(words, search, slabs.edge[place]) + back
        for other in range(fact(words, search, STATES)):
            if step_of(words, search, other, letter) == key - base:
                there = packed(slabs.neighbour[place], base + other)
                later = next_after(words, state, there, iteration - 1, NEW) + 1
                if later > 0 and (found < 0 or later < found):
                    found = later
    return found
