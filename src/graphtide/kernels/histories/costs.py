"""The cost of an entry at an iteration, before a batch and after it, dropped differences included.

Every entry that a batch evaluates is noted as it was before. Notes are what old costs are read
from, what goes back when the batch is undone, and what tells which answers changed. A table of
hashes finds them; slots of earlier calls have another stamp. Before the batch, an entry that was
noted is read from its note, any other from the rows: they are what they were. After the batch, rows
are final below the iteration that is evaluated.

A difference at iteration i comes from a difference of a neighbour at exactly i - 1: what a
neighbour offered before was known to the entry before. So one that was dropped is recomputed from
neighbours that have a difference there, and those of them that were dropped are recomputed first. A
filter may say that there was one where there was none: what is computed then is the cost of some
walk of so many edges, and never below the least.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.histories.rows import (
    DELETED,
    DETERMINISTIC,
    FILTER_FACTS,
    HOW,
    INSERTED,
    KEEP,
    LACKING,
    LACKS_LOG,
    LACKS_MEMO,
    LACKS_NOTED,
    LACKS_STACK,
    LAST,
    LOG,
    MEMO,
    NEW,
    NOTED,
    OLD,
    PROBABILISTIC,
    RECOMPUTED,
    STACK,
    STAMP,
    TOUCHED,
    Int32,
    Int64,
    Pool,
    cost_at,
    dropped_of,
    exactly_at,
    filter_has,
    filters_of,
    first_at,
    hash_of,
    is_at,
    iteration_at,
    kept_of,
    last_until,
    mixed,
    work_of,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel
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
)
from graphtide.kernels.queries.rows import key_of, packed, vertex_of

_HALF, _HIGH_HALF = np.int64(32), np.uint64(32)
_LOW = np.int64((1 << 32) - 1)


@inner_kernel
def slot_of(state: Int64, item: int) -> int:
    """The slot of an item in the table: where it is, or where it would be."""
    work = work_of(state)
    mask = len(work.table) - 1
    at = np.int64(mixed(np.uint64(item)) >> _HIGH_HALF) & mask
    stamp = work.counts[STAMP]
    while work.table[at] >> _HALF == stamp and work.noted_item[work.table[at] & _LOW] != item:
        at = (at + 1) & mask
    return int(at)


@joined_kernel
def noted_at(state: Int64, item: int) -> int:
    """Which note an item has, or -1."""
    work = work_of(state)
    slot = slot_of(state, item)
    if work.table[slot] >> _HALF != work.counts[STAMP]:
        return -1
    return int(work.table[slot] & _LOW)


@inner_kernel
def note_item(state: Int64, item: int) -> int:
    """Note the history of an item as it is, unless that was done; -1 where there is no room."""
    work, vertex, key = work_of(state), vertex_of(item), key_of(item)
    slot = slot_of(state, item)
    if work.table[slot] >> _HALF == work.counts[STAMP]:
        return int(work.table[slot] & _LOW)
    number = int(work.counts[NOTED])
    if number + 1 >= len(work.noted_item):
        work.counts[LACKING] = LACKS_NOTED
        return -1
    logged = log_row(state, kept_of(state), vertex, key)
    if logged and work.settings[HOW] == DETERMINISTIC:
        logged = log_row(state, dropped_of(state), vertex, key)
    if not logged:
        work.counts[LOG] = work.noted_first[number]
        return -1
    work.table[slot] = work.counts[STAMP] << _HALF | np.int64(number)
    work.noted_item[number] = item
    work.noted_done[number] = -1
    work.noted_first[number + 1] = work.counts[LOG]
    work.counts[NOTED] = number + 1
    return number


@inner_kernel
def enter_notes(state: Int64) -> None:
    """Let the table find all notes, which is a larger one now and may be empty."""
    work = work_of(state)
    for number in range(work.counts[NOTED]):
        slot = slot_of(state, work.noted_item[number])
        work.table[slot] = work.counts[STAMP] << _HALF | np.int64(number)


@inner_kernel
def log_row(state: Int64, pool: Pool, vertex: int, key: int) -> bool:
    """Log what a pool has of a key; whether there was room."""
    work, place = work_of(state), first_at(pool, vertex, key, 0)
    has_cost = len(pool.small) + len(pool.wide) > 0
    while is_at(pool, vertex, place, key):
        at = work.counts[LOG]
        if at == len(work.log_value):
            work.counts[LACKING] = LACKS_LOG
            return False
        work.log_iteration[at] = iteration_at(pool, place)
        work.log_value[at] = cost_at(pool, place) if has_cost else np.nan
        work.counts[LOG] = at + 1
        place += 1
    return True


NONE, KNOWN, GONE = range(3)
"""Of a difference: there is none, its cost is known, or it was dropped (or may have been)."""


@joined_kernel
def last_iteration(state: Int64, search: int) -> int:
    """The last iteration at which a search ever had a difference."""
    return int(filters_of(state).facts[search * FILTER_FACTS + LAST])


@inner_kernel
def difference_at(
    words: Int64, state: Int64, item: int, iteration: int, when: int
) -> tuple[int, float]:
    """Whether an entry has a difference at exactly an iteration, and its cost."""
    work, vertex, key = work_of(state), vertex_of(item), key_of(item)
    note = noted_at(state, item) if when == OLD else -1
    if note >= 0:
        for at in range(work.noted_first[note], work.noted_first[note + 1]):
            if work.log_iteration[at] == iteration:
                cost = work.log_value[at]
                return (GONE, np.inf) if np.isnan(cost) else (KNOWN, cost)
    else:
        kept = kept_of(state)
        place = exactly_at(kept, vertex, key, iteration)
        if place >= 0:
            return KNOWN, cost_at(kept, place)
        if work.settings[HOW] == DETERMINISTIC:
            gone = exactly_at(dropped_of(state), vertex, key, iteration) >= 0
            return (GONE if gone else NONE), np.inf
    if work.settings[HOW] == PROBABILISTIC and iteration > 0:
        search = searches_of(words).owner[key]
        if iteration <= last_iteration(state, search) and filter_has(
            state, search, item, iteration
        ):
            return GONE, np.inf
    return NONE, np.inf


@inner_kernel
def cheap_cost(state: Int64, item: int, iteration: int, when: int) -> tuple[int, float]:
    """The iteration and cost of the last kept difference until an iteration; -1 and infinity.

    The cost at that iteration is no more than this.
    """
    work, found, cost = work_of(state), -1, np.inf
    note = noted_at(state, item) if when == OLD else -1
    if note < 0:
        kept = kept_of(state)
        place = last_until(kept, vertex_of(item), key_of(item), iteration)
        return (iteration_at(kept, place), cost_at(kept, place)) if place >= 0 else (found, cost)
    for at in range(work.noted_first[note], work.noted_first[note + 1]):
        is_later = found < work.log_iteration[at] <= iteration
        if is_later and not np.isnan(work.log_value[at]):
            found, cost = int(work.log_iteration[at]), work.log_value[at]
    return found, cost


@inner_kernel
def last_dropped(state: Int64, item: int, iteration: int, when: int) -> int:
    """The last iteration until one at which a record says that a difference was dropped, or -1."""
    work, found = work_of(state), -1
    note = noted_at(state, item) if when == OLD else -1
    if note < 0:
        dropped = dropped_of(state)
        place = last_until(dropped, vertex_of(item), key_of(item), iteration)
        return iteration_at(dropped, place) if place >= 0 else found
    for at in range(work.noted_first[note], work.noted_first[note + 1]):
        is_later = found < work.log_iteration[at] <= iteration
        if is_later and np.isnan(work.log_value[at]):
            found = int(work.log_iteration[at])
    return found


@inner_kernel
def next_after(words: Int64, state: Int64, item: int, iteration: int, when: int) -> int:
    """The next iteration at which an entry has a difference, or may have; -1 without one."""
    work, vertex, key = work_of(state), vertex_of(item), key_of(item)
    search = searches_of(words).owner[key]
    last = last_iteration(state, search) + 1
    found = last
    note = noted_at(state, item) if when == OLD else -1
    if note >= 0:
        for at in range(work.noted_first[note], work.noted_first[note + 1]):
            if iteration < work.log_iteration[at] < found:
                found = int(work.log_iteration[at])
    else:
        kept, dropped = kept_of(state), dropped_of(state)
        place = first_at(kept, vertex, key, iteration + 1)
        if is_at(kept, vertex, place, key):
            found = min(found, iteration_at(kept, place))
        if work.settings[HOW] == DETERMINISTIC:
            place = first_at(dropped, vertex, key, iteration + 1)
            if is_at(dropped, vertex, place, key):
                found = min(found, iteration_at(dropped, place))
    if work.settings[HOW] == PROBABILISTIC:
        for later in range(iteration + 1, found):
            if filter_has(state, search, item, later):
                return later
    return found if found < last else -1


_TAG, _SHIFT = np.int64(17), np.uint64(32)


@inner_kernel
def cost_until(words: Int64, state: Int64, item: int, iteration: int, when: int) -> float:
    """The cost of an entry at an iteration; infinity where no walk has led to it by then."""
    found, cost = cheap_cost(state, item, iteration, when)
    how = work_of(state).settings[HOW]
    if how == KEEP:
        return cost
    if how == DETERMINISTIC:
        gone = last_dropped(state, item, iteration, when)
        return recomputed(words, state, item, gone, when) if gone > found else cost
    search = searches_of(words).owner[key_of(item)]
    for gone in range(min(iteration, last_iteration(state, search)), max(found, 0), -1):
        if filter_has(state, search, item, gone):
            cost = min(cost, recomputed(words, state, item, gone, when))
    return cost


@joined_kernel
def memo_slot(state: Int64, item: int, tag: int) -> int:
    """The slot of a recomputed cost: where it is, or where it would be."""
    work = work_of(state)
    mask = len(work.memo_tag) - 1
    at = np.int64(hash_of(0, item, tag) >> _SHIFT) & mask
    stamp = work.counts[STAMP]
    while work.memo_tag[at] >> _TAG == stamp and (
        work.memo_tag[at] != tag or work.memo_item[at] != item
    ):
        at = (at + 1) & mask
    return int(at)


@joined_kernel
def tag_of(state: Int64, iteration: int, when: int) -> int:
    """What a memo of this call is known by, beside its item."""
    return int(work_of(state).counts[STAMP] << _TAG | np.int64(2 * iteration + when))


@inner_kernel
def recomputed(words: Int64, state: Int64, item: int, iteration: int, when: int) -> float:
    """The cost of a difference that was dropped; each is computed once a call.

    Infinity where there is no room for it, which is told in `LACKING`.
    """
    work = work_of(state)
    work.stack_item[0], work.stack_iteration[0] = item, iteration
    work.counts[STACK] = 1
    settle_stack(words, state, when)
    if work.counts[LACKING] != 0:
        return np.inf
    return float(work.memo_value[memo_slot(state, item, tag_of(state, iteration, when))])


@inner_kernel
def pulled(words: Int64, state: Int64, item: int, iteration: int) -> float:
    """The least that neighbours offer an entry for an iteration, after the batch."""
    work = work_of(state)
    work.counts[STACK] = 0
    best = least_offer(words, state, item, iteration, NEW)
    while work.counts[STACK] > 0 and work.counts[LACKING] == 0:
        settle_stack(words, state, NEW)
        work.counts[STACK] = 0
        best = least_offer(words, state, item, iteration, NEW)
    return best


@inner_kernel
def settle_stack(words: Int64, state: Int64, when: int) -> None:
    """Recompute what is on the stack, and before each what it rests on."""
    work = work_of(state)
    while work.counts[STACK] > 0 and work.counts[LACKING] == 0:
        top = work.counts[STACK] - 1
        item, iteration = work.stack_item[top], int(work.stack_iteration[top])
        tag = tag_of(state, iteration, when)
        slot = memo_slot(state, item, tag)
        if work.memo_tag[slot] == tag:
            work.counts[STACK] = top
            continue
        cost = least_offer(words, state, item, iteration, when)
        if work.counts[STACK] == top + 1:
            remember(words, state, slot, item, tag, cost)
            work.counts[STACK] = top


@joined_kernel
def remember(words: Int64, state: Int64, slot: int, item: int, tag: int, cost: float) -> None:
    work = work_of(state)
    if 2 * work.counts[MEMO] + 2 > len(work.memo_tag):
        work.counts[LACKING] = LACKS_MEMO
        return
    work.memo_item[slot], work.memo_tag[slot], work.memo_value[slot] = item, tag, cost
    work.counts[MEMO] += 1
    search = searches_of(words).owner[key_of(item)]
    filters_of(state).facts[search * FILTER_FACTS + RECOMPUTED] += 1


@inner_kernel
def least_offer(words: Int64, state: Int64, item: int, iteration: int, when: int) -> float:
    """The least that neighbours with a difference at the iteration before offer, within the bound.

    Those that must be recomputed first are put on the stack; then what this returns is of no use.
    """
    graph, best = adjacency_at(words, 0), np.inf
    searches = searches_of(words)
    search = searches.owner[key_of(item)]
    wanted, ways = (item, iteration - 1, when), fact(words, search, WAYS)
    by_deleted = when == OLD and work_of(state).counts[DELETED] > 0
    if ways & ALONG:
        best = least_one_way(words, state, graph.into, wanted, 0)
        if by_deleted:
            best = min(best, least_of_deleted(words, state, wanted, 0))
    if ways & AGAINST:
        best = min(best, least_one_way(words, state, graph.out, wanted, 1))
        if by_deleted:
            best = min(best, least_of_deleted(words, state, wanted, 1))
    return best if best <= searches.bound[search] else np.inf


@joined_kernel
def count_looks(words: Int64, state: Int64, item: int, edges: int) -> None:
    """Count edges that are looked at for an entry: of this batch, and of its search."""
    searches = searches_of(words)
    work_of(state).counts[TOUCHED] += edges
    searches.looked[searches.owner[key_of(item)]] += edges


@inner_kernel
def least_one_way(
    words: Int64, state: Int64, slabs: Slabs, wanted: tuple[int, int, int], back: int
) -> float:
    """The same by live edges of one direction; before the batch, without those it inserted."""
    vertex, when = vertex_of(wanted[0]), wanted[2]
    work, start, best = work_of(state), slabs.start[vertex], np.inf
    skips = when == OLD and work.counts[INSERTED] > 0
    count_looks(words, state, wanted[0], slabs.live[vertex])
    for place in range(start, start + slabs.live[vertex]):
        edge = slabs.edge[place]
        if skips and is_inserted(work.inserted, work.counts[INSERTED], edge):
            continue
        best = min(best, offer_by(words, state, wanted, (edge, slabs.neighbour[place], back)))
    return best


@inner_kernel
def least_of_deleted(words: Int64, state: Int64, wanted: tuple[int, int, int], back: int) -> float:
    """The same by edges that the batch deleted, which lead to the entry, or from it."""
    work, vertex = work_of(state), vertex_of(wanted[0])
    first, count = work.counts[INSERTED], work.counts[DELETED]
    here, there = (work.sources, work.targets) if back else (work.targets, work.sources)
    order = work.by_source if back else work.by_target
    low, high = 0, int(count)
    while low < high:
        middle = (low + high) >> 1
        if here[first + order[middle]] < vertex:
            low = middle + 1
        else:
            high = middle
    best = np.inf
    while low < count and here[first + order[low]] == vertex:
        at = first + order[low]
        best = min(best, offer_by(words, state, wanted, (work.edges[at], there[at], back)))
        low += 1
    return best


@inner_kernel
def is_inserted(inserted: Int32, count: int, edge: int) -> bool:
    low, high = 0, int(count)
    while low < high:
        middle = (low + high) >> 1
        if inserted[middle] < edge:
            low = middle + 1
        else:
            high = middle
    return bool(low < count and inserted[low] == edge)


@inner_kernel
def offer_by(
    words: Int64, state: Int64, wanted: tuple[int, int, int], by: tuple[int, int, int]
) -> float:
    """The least that an entry is offered along one edge by differences at exactly an iteration.

    `wanted` is the entry, that iteration and when; `by` is the edge, its other end and the way.
    """
    item, iteration, when = wanted
    edge, neighbour, back = by
    work, key = work_of(state), key_of(item)
    search = searches_of(words).owner[key]
    base, best = fact(words, search, BASE), np.inf
    letter = 2 * class_of(words, search, edge) + back
    for other in range(fact(words, search, STATES)):
        if step_of(words, search, other, letter) != key - base:
            continue
        there = packed(neighbour, base + other)
        kind, cost = difference_at(words, state, there, iteration, when)
        if kind == GONE:
            tag = tag_of(state, iteration, when)
            slot = memo_slot(state, there, tag)
            if work.memo_tag[slot] == tag:
                cost = work.memo_value[slot]
            elif work.counts[STACK] == len(work.stack_item):
                work.counts[LACKING] = LACKS_STACK
            else:
                work.stack_item[work.counts[STACK]] = there
                work.stack_iteration[work.counts[STACK]] = iteration
                work.counts[STACK] += 1
        best = min(best, cost + cost_of(words, search, edge))
    return best
