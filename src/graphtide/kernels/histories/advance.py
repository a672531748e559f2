"""One batch for all queries that are kept by histories, iteration by iteration; and the way back.

An entry is evaluated at an iteration where what it is offered has changed, or where it differs from
what it was and had a difference before. Its new difference is the least offer of that iteration, if
it is below the cost so far. Where that is another than before, those behind it are evaluated at the
next iteration, unless what they are offered is above what they have. An entry that costs more than
it did looks for the next offer as well: it may take what it did not need before. All at iterations
below the current one is final.

Where the messages of the join are kept, equal ones are one with a count. As costs only fall from
iteration to iteration, what a difference took back need not be kept: the least of an entry's
messages until an iteration is the same with it.

A call that lacks room says so and stops. Between two evaluations everything is in order: what lacks
room to work in there gets more, and goes on. What stops elsewhere, because a pool is full, is put
back by the notes, and begins again with more room. So nothing is lost by stopping anywhere.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.histories.costs import (
    GONE,
    cheap_cost,
    cost_until,
    count_looks,
    difference_at,
    enter_notes,
    last_iteration,
    next_after,
    note_item,
    pulled,
    recomputed,
)
from graphtide.kernels.histories.rows import (
    AT,
    DELETED,
    DETERMINISTIC,
    DONE,
    DROPPED_COUNT,
    ENDLESS,
    EVALUATED,
    FILTER_FACTS,
    HEAP,
    HOW,
    INSERTED,
    JOINED_COUNT,
    KEPT_COUNT,
    LACKING,
    LACKS_DROPPED,
    LACKS_HEAP,
    LACKS_JOINED,
    LACKS_KEPT,
    LACKS_MESSAGES,
    LAST,
    MESSAGES,
    MOST_ITERATIONS,
    NEW,
    NOTED,
    OLD,
    ON_DEMAND,
    PROBABILISTIC,
    TOLD,
    Float64,
    Int32,
    Int64,
    Pool,
    close_place,
    cost_at,
    dropped_of,
    drops,
    end_of,
    exactly_at,
    filter_add,
    filters_of,
    first_at,
    is_at,
    iteration_at,
    joined_of,
    kept_of,
    key_at,
    lacking_for,
    open_place,
    put_cost,
    work_of,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    BASE,
    STATES,
    WAYS,
    class_of,
    cost_of,
    fact,
    searches_of,
    step_of,
    ways_of,
)
from graphtide.kernels.queries.rows import key_of, packed, vertex_of
from graphtide.kernels.queues import Keyed, keyed_pop, keyed_push


@inner_kernel
def change_message(
    words: Int64, state: Int64, item: int, iteration: int, cost: float, change: int
) -> None:
    """Count a message once more or once less, and note it for the way back."""
    work = work_of(state)
    at = work.counts[MESSAGES]
    if at == len(work.message_item):
        work.counts[LACKING] = LACKS_MESSAGES
        return
    if not put_message(words, state, item, iteration, cost, change):
        return
    work.message_item[at], work.message_iteration[at] = item, iteration
    work.message_value[at], work.message_change[at] = cost, change
    work.counts[MESSAGES] = at + 1


@inner_kernel
def put_message(
    words: Int64, state: Int64, item: int, iteration: int, cost: float, change: int
) -> bool:
    """The same without a note; whether there was room."""
    pool, vertex, key = joined_of(state), vertex_of(item), key_of(item)
    work, facts = work_of(state), filters_of(state).facts
    counted = searches_of(words).owner[key] * FILTER_FACTS + JOINED_COUNT
    place = first_at(pool, vertex, key, iteration)
    while is_of(pool, vertex, place, key, iteration) and cost_at(pool, place) < cost:
        place += 1
    if is_of(pool, vertex, place, key, iteration) and cost_at(pool, place) == cost:
        pool.copies[place] += change
        if pool.copies[place] == 0:
            close_place(pool, vertex, place)
            facts[counted] -= 1
        return True
    lacking = lacking_for(pool, vertex, iteration, cost, LACKS_JOINED)
    if lacking != DONE:
        work.counts[LACKING] = lacking
        return False
    place = open_place(pool, vertex, place, key, iteration)
    put_cost(pool, place, cost)
    pool.copies[place] = change
    facts[counted] += 1
    return True


@inner_kernel
def least_message(state: Int64, item: int, iteration: int) -> float:
    """The least message that an entry has at exactly an iteration; infinity without one."""
    pool, vertex, key = joined_of(state), vertex_of(item), key_of(item)
    place = first_at(pool, vertex, key, iteration)
    return cost_at(pool, place) if is_of(pool, vertex, place, key, iteration) else np.inf


@joined_kernel
def is_of(pool: Pool, vertex: int, place: int, key: int, iteration: int) -> bool:
    """Whether a place is in the row of a vertex, and has a key and an iteration."""
    return is_at(pool, vertex, place, key) and iteration_at(pool, place) == iteration


@inner_kernel
def next_message(state: Int64, item: int, iteration: int) -> int:
    """The next iteration at which an entry has a message, or -1."""
    pool, vertex, key = joined_of(state), vertex_of(item), key_of(item)
    place = first_at(pool, vertex, key, iteration + 1)
    return iteration_at(pool, place) if is_at(pool, vertex, place, key) else -1


@joined_kernel
def push_item(state: Int64, item: int, iteration: int) -> None:
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


@bare_kernel
def follow_batch(words: Int64, state: Int64) -> int:
    """Bring all histories to the version that the graph is at; how that ended."""
    work = work_of(state)
    if work.counts[TOLD] == 0:
        tell_batch(words, state)
        work.counts[TOLD] = work.counts[LACKING] == 0
    else:
        enter_notes(state)
    evaluate_all(words, state)
    if work.counts[LACKING] == 0:
        note_ends(words, state)
    return int(work.counts[LACKING])


@inner_kernel
def tell_batch(words: Int64, state: Int64) -> None:
    """Have all entries evaluated that the edges of a batch concern."""
    work = work_of(state)
    inserted, deleted = work.counts[INSERTED], work.counts[DELETED]
    for at in range(inserted + deleted):
        source, target, edge = work.sources[at], work.targets[at], work.edges[at]
        tell_across(words, state, source, (edge, target, 0), at < inserted)
        tell_across(words, state, target, (edge, source, 1), at < inserted)


@inner_kernel
def tell_across(
    words: Int64, state: Int64, vertex: int, by: tuple[int, int, int], comes: bool
) -> None:
    """Tell those across an edge that comes or goes of all differences at its other end."""
    if work_of(state).settings[HOW] == PROBABILISTIC:
        tell_of_all(words, state, vertex, by, comes)
        return
    kept, key = kept_of(state), -1
    for place in range(kept.start[vertex], end_of(kept, vertex)):
        if key_at(kept, place) != key:
            key = key_at(kept, place)
            tell_of_key(words, state, packed(vertex, key), by, comes)
    if work_of(state).settings[HOW] == DETERMINISTIC:
        dropped, key = dropped_of(state), -1
        for place in range(dropped.start[vertex], end_of(dropped, vertex)):
            if key_at(dropped, place) != key:
                key = key_at(dropped, place)
                if not has_key(kept, vertex, key):
                    tell_of_key(words, state, packed(vertex, key), by, comes)


@inner_kernel
def has_key(pool: Pool, vertex: int, key: int) -> bool:
    return is_at(pool, vertex, first_at(pool, vertex, key, 0), key)


@inner_kernel
def tell_of_all(
    words: Int64, state: Int64, vertex: int, by: tuple[int, int, int], comes: bool
) -> None:
    """The same where only a filter knows which entries there are: every search is asked."""
    owner, key = searches_of(words).owner, 0
    while key < len(owner):
        search = owner[key]
        if search < 0 or fact(words, search, BASE) != key:
            key += 1
            continue
        for step in range(fact(words, search, STATES)):
            tell_of_key(words, state, packed(vertex, key + step), by, comes)
        key += fact(words, search, STATES)


@inner_kernel
def tell_of_key(
    words: Int64, state: Int64, item: int, by: tuple[int, int, int], comes: bool
) -> None:
    key = key_of(item)
    search = searches_of(words).owner[key]
    if search < 0:
        return
    if not ways_of(words, search, key - fact(words, search, BASE)) & (AGAINST if by[2] else ALONG):
        return
    iteration = next_after(words, state, item, -1, OLD)
    before = np.inf
    while iteration >= 0:
        cost = cost_until(words, state, item, iteration, OLD)
        if cost < before:
            costs = (np.inf, cost) if comes else (cost, np.inf)
            tell_by(words, state, item, iteration, costs, by)
            before = cost
        iteration = next_after(words, state, item, iteration, OLD)


@inner_kernel
def note_ends(words: Int64, state: Int64) -> None:
    """Note the costs of all evaluated entries before the batch and after it."""
    work = work_of(state)
    for note in range(work.counts[NOTED]):
        item = work.noted_item[note]
        last = last_iteration(state, searches_of(words).owner[key_of(item)])
        work.noted_old[note] = cost_until(words, state, item, last, OLD)
        work.noted_new[note] = cost_until(words, state, item, last, NEW)


@bare_kernel
def put_back(
    words: Int64, state: Int64, items: Int64, firsts: Int64, iterations: Int32, costs: Float64
) -> int:
    """Give entries the histories that were noted; `AT` counts how many are done. How that ended."""
    work, owner = work_of(state), searches_of(words).owner
    kept, dropped = kept_of(state), dropped_of(state)
    facts = filters_of(state).facts
    while work.counts[AT] < len(items):
        at = work.counts[AT]
        vertex, key = vertex_of(items[at]), key_of(items[at])
        if owner[key] >= 0:
            first = owner[key] * FILTER_FACTS
            facts[first + KEPT_COUNT] -= remove_key(kept, vertex, key)
            if work.settings[HOW] == DETERMINISTIC:
                facts[first + DROPPED_COUNT] -= remove_key(dropped, vertex, key)
            for place in range(firsts[at], firsts[at + 1]):
                pool, lacks, counted = kept, LACKS_KEPT, KEPT_COUNT
                if np.isnan(costs[place]):
                    pool, lacks, counted = dropped, LACKS_DROPPED, DROPPED_COUNT
                lacking = lacking_for(pool, vertex, iterations[place], costs[place], lacks)
                if lacking != DONE:
                    return lacking
                put_back_one(pool, vertex, key, iterations[place], costs[place])
                facts[first + counted] += 1
        work.counts[AT] += 1
    return DONE


@inner_kernel
def remove_key(pool: Pool, vertex: int, key: int) -> int:
    """Remove all that a row has of a key; how many that were."""
    count, place = 0, first_at(pool, vertex, key, 0)
    while is_at(pool, vertex, place, key):
        close_place(pool, vertex, place)
        count += 1
    return count


@inner_kernel
def put_back_one(pool: Pool, vertex: int, key: int, iteration: int, cost: float) -> None:
    """Insert a difference into a row that lacks nothing for it."""
    place = first_at(pool, vertex, key, iteration)
    put_cost(pool, open_place(pool, vertex, place, key, iteration), cost)


@bare_kernel
def put_back_messages(
    words: Int64, state: Int64, items: Int64, iterations: Int32, costs: Float64, changes: Int32
) -> int:
    """Undo changes of messages, from the last; `AT` counts how many are done. How that ended."""
    work, owner = work_of(state), searches_of(words).owner
    while work.counts[AT] < len(items):
        at = len(items) - 1 - work.counts[AT]
        gone = owner[key_of(items[at])] < 0
        change = -changes[at]
        if not gone and not put_message(words, state, items[at], iterations[at], costs[at], change):
            return int(work.counts[LACKING])
        work.counts[AT] += 1
    return DONE
