"""What queries kept by histories have in memory: rows of differences, and which are dropped.

A search runs by iterations: the cost of an entry (vertex, state) at iteration i is the least of a
walk of at most i edges. Where an iteration lowers it, the history of the entry has a difference:
the iteration and the new cost. Keys are those of `kernels.queries`: a state of one search. Kernels
take two blocks: `words`, which begins like that of `kernels.queries`, so that what an edge means to
a search is asked there, and `state`, whose records are these.

Rows of differences, or of messages, lie in chunks of a pool. An entry is found by one comparison of
its key and iteration, in four bytes, as long as no search takes 256 iterations. Graphs of small
diameter take a dozen, and memory is what rows are about.

Whether a difference is dropped is drawn by a hash of the seed and what it is, so that the same run
drops the same. It is remembered by a record, or in a Bloom filter. A filter never forgets: what was
dropped and is gone stays in it, as a difference that may be there, until the search is given a new
one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import adjacency_at, placed_reader, places
from graphtide.kernels.chunks import can_take_more, give_back, lie_in, take_chunk
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import MOST_SMALL

UInt8 = NDArray[np.uint8]
UInt16 = NDArray[np.uint16]
UInt64 = NDArray[np.uint64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


class Pool(NamedTuple):
    """Rows of (key, iteration, cost, copies) by vertex, sorted, each in a chunk of a `kind`.

    `key` has the key and, as its last eight bits, the iteration; once there was one of more bits,
    `late` has those. Costs are `small` while each of them is a small whole number, and `wide` once
    one was not. What a pool does not have is empty. `free`, `sizes` and `top` are those of
    `kernels.chunks`.
    """

    start: Int32
    length: Int32
    kind: UInt8
    key: Int32
    late: UInt8
    small: UInt16
    wide: Float64
    copies: Int32
    free: Int64
    sizes: Int64
    top: Int64


class Filters(NamedTuple):
    """Bloom filters of dropped differences: `facts` has `FILTER_FACTS` numbers for each search."""

    bits: UInt64
    facts: Int64


FIRST, SIZE, USED, LAST, RECOMPUTED, KEPT_COUNT, DROPPED_COUNT, JOINED_COUNT = range(8)
FILTER_FACTS = 8
"""Of a search: the first word of its filter and how many bits it has, how many differences went in;
the last iteration that ever had one; how many were recomputed; how many are kept, how many have a
record, and how many messages there are."""


class BatchWork(NamedTuple):
    """Room of a batch. Items are `packed` of `kernels.queries`: a vertex and a key.

    The heap has items to evaluate by iteration. Every item that is evaluated is first noted: where
    it stands in `noted_item` is found by `table`, and its history as it was is in the log, from
    `noted_first` on, with a cost that is no number where it was dropped. `memo` has costs that were
    recomputed, `stack` those that wait for others. `edges` and their ends are the batch: the
    inserted, then the deleted; `inserted` is sorted, `by_source` and `by_target` order the deleted.
    """

    heap_item: Int64
    heap_rank: Float64
    table: Int64
    noted_item: Int64
    noted_first: Int64
    noted_done: Int32
    noted_old: Float64
    noted_new: Float64
    log_iteration: Int32
    log_value: Float64
    message_item: Int64
    message_iteration: Int32
    message_value: Float64
    message_change: Int32
    memo_item: Int64
    memo_tag: Int64
    memo_value: Float64
    stack_item: Int64
    stack_iteration: Int32
    edges: Int32
    sources: Int32
    targets: Int32
    inserted: Int32
    by_source: Int32
    by_target: Int32
    counts: Int64
    settings: Int64


HEAP, NOTED, LOG, MESSAGES, MEMO, STACK, INSERTED, DELETED = range(8)
STAMP, LACKING, AT, TOUCHED, EVALUATED, TOLD = range(8, 14)
COUNTS = 14
"""How much of each is in use; which call this is, what it lacks, how far it got; edges looked at
and entries evaluated; and whether all of the batch has been told, and entries are evaluated."""

ON_DEMAND, HOW, POLICY, SHARE, LEAST, MOST, SEED = range(7)
SETTINGS = 7
KEEP, DETERMINISTIC, PROBABILISTIC = range(3)
RANDOM, DEGREE = range(2)

DONE, LACKS_KEPT, LACKS_DROPPED, LACKS_JOINED, LACKS_WIDTH, ENDLESS = range(6)
LACKS_HEAP, LACKS_NOTED, LACKS_LOG, LACKS_MESSAGES, LACKS_MEMO, LACKS_STACK = range(6, 12)
LACKS_LATE = 12
"""How a call ended: done, or to be called again once there is more room, or never."""

MOST_ITERATIONS = (1 << 15) - 2
MOST_KEYS = 1 << 23
"""With this many keys, eight bits of 31 are left to iterations."""

OLD, NEW = 0, 1
"""As of the graph before the batch, and after it."""

KEPT = 0
DROPPED = KEPT + places(Pool)
JOINED = DROPPED + places(Pool)
FILTERS = JOINED + places(Pool)
WORK = FILTERS + places(Filters)
"""Where the records of `state` begin."""

kept_of = placed_reader(Pool, KEPT)
dropped_of = placed_reader(Pool, DROPPED)
joined_of = placed_reader(Pool, JOINED)
filters_of = placed_reader(Filters, FILTERS)
work_of = placed_reader(BatchWork, WORK)


PROBES = 4
"""A difference sets this many bits of a filter: with ten bits each, 1% are falsely found."""

_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_OTHER_FACTOR = np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_THIRTY, _TWENTY_SEVEN, _HALF = np.uint64(30), np.uint64(27), np.uint64(32)
_SIX, _LOW_SIX, _ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@joined_kernel
def mixed(number: Any) -> Any:
    """64 bits, each of which depends on all of those given."""
    number = (number ^ (number >> _THIRTY)) * _FIRST_FACTOR
    number = (number ^ (number >> _TWENTY_SEVEN)) * _OTHER_FACTOR
    return number ^ (number >> _HALF)


@joined_kernel
def hash_of(seed: int, item: int, iteration: int) -> Any:
    return mixed(mixed(np.uint64(item) + _STEP) + np.uint64(iteration) * _STEP + np.uint64(seed))


@inner_kernel
def drops(words: Int64, state: Int64, item: int, iteration: int) -> bool:
    """Whether the policy drops a difference. A start has its own at iteration 0, and keeps it."""
    settings = work_of(state).settings
    if settings[HOW] == KEEP or iteration == 0:
        return False
    if settings[POLICY] == DEGREE:
        graph, vertex = adjacency_at(words, 0), item >> 32
        degree = graph.out.live[vertex] + graph.into.live[vertex]
        if degree < settings[LEAST]:
            return True
        if degree > settings[MOST]:
            return False
    return bool(np.int64(hash_of(settings[SEED], item, iteration) >> _HALF) < settings[SHARE])


@inner_kernel
def filter_has(state: Int64, search: int, item: int, iteration: int) -> bool:
    filters = filters_of(state)
    size = np.uint64(filters.facts[search * FILTER_FACTS + SIZE])
    first = np.uint64(filters.facts[search * FILTER_FACTS + FIRST])
    one = hash_of(1, item, iteration)
    step = (one >> _HALF) | _ONE
    for _ in range(PROBES):
        bit = one % size
        if not (filters.bits[first + (bit >> _SIX)] >> (bit & _LOW_SIX)) & _ONE:
            return False
        one = one + step
    return True


@inner_kernel
def filter_add(state: Int64, search: int, item: int, iteration: int) -> None:
    filters = filters_of(state)
    size = np.uint64(filters.facts[search * FILTER_FACTS + SIZE])
    first = np.uint64(filters.facts[search * FILTER_FACTS + FIRST])
    one = hash_of(1, item, iteration)
    step, fresh = (one >> _HALF) | _ONE, False
    for _ in range(PROBES):
        bit = one % size
        place, mask = first + (bit >> _SIX), _ONE << (bit & _LOW_SIX)
        fresh = fresh or (filters.bits[place] & mask) != mask
        filters.bits[place] |= mask
        one = one + step
    filters.facts[search * FILTER_FACTS + USED] += fresh


_BITS = 8
_EARLY = (1 << _BITS) - 1


@joined_kernel
def key_at(pool: Pool, place: int) -> int:
    return int(pool.key[place]) >> _BITS


@joined_kernel
def iteration_at(pool: Pool, place: int) -> int:
    early = int(pool.key[place]) & _EARLY
    return early if len(pool.late) == 0 else early | int(pool.late[place]) << _BITS


@joined_kernel
def is_at(pool: Pool, vertex: int, place: int, key: int) -> bool:
    """Whether a place is in the row of a vertex, and has a key."""
    return bool(place < end_of(pool, vertex) and key_at(pool, place) == key)


@inner_kernel
def first_at(pool: Pool, vertex: int, key: int, iteration: int) -> int:
    """The place of the first of a row that is not below a key and an iteration. O(log row)."""
    low = int(pool.start[vertex])
    high = low + int(pool.length[vertex])
    if len(pool.late) > 0:
        return first_late(pool, low, high, key, iteration)
    wanted = key << _BITS | iteration if iteration <= _EARLY else (key + 1) << _BITS
    while low < high:
        middle = (low + high) >> 1
        if pool.key[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return int(low)


@inner_kernel
def first_late(pool: Pool, low: int, high: int, key: int, iteration: int) -> int:
    """The same between two places, where iterations may be of more bits."""
    while low < high:
        middle = (low + high) >> 1
        found = key_at(pool, middle)
        if found < key or (found == key and iteration_at(pool, middle) < iteration):
            low = middle + 1
        else:
            high = middle
    return int(low)


@joined_kernel
def end_of(pool: Pool, vertex: int) -> int:
    return int(pool.start[vertex]) + int(pool.length[vertex])


@inner_kernel
def exactly_at(pool: Pool, vertex: int, key: int, iteration: int) -> int:
    """The place of the first with a key and an iteration, or -1."""
    place = first_at(pool, vertex, key, iteration)
    found = is_at(pool, vertex, place, key) and iteration_at(pool, place) == iteration
    return place if found else -1


@joined_kernel
def last_until(pool: Pool, vertex: int, key: int, iteration: int) -> int:
    """The place of the last with a key and at most an iteration, or -1."""
    place = first_at(pool, vertex, key, iteration + 1) - 1
    return place if place >= pool.start[vertex] and key_at(pool, place) == key else -1


@joined_kernel
def cost_at(pool: Pool, place: int) -> float:
    if len(pool.wide) > 0:
        return float(pool.wide[place])
    return float(pool.small[place])


@joined_kernel
def put_cost(pool: Pool, place: int, cost: float) -> None:
    """Write the cost at a place, which fits."""
    if len(pool.wide) > 0:
        pool.wide[place] = cost
    elif len(pool.small) > 0:
        pool.small[place] = np.uint16(cost)


@joined_kernel
def fits(pool: Pool, cost: float) -> bool:
    """Whether the pool can hold a cost exactly as it is."""
    return len(pool.small) == 0 or (cost <= MOST_SMALL and cost == np.floor(cost))


@inner_kernel
def lacking_for(pool: Pool, vertex: int, iteration: int, cost: float, lacks_room: int) -> int:
    """What a pool lacks to take one more into a row; `lacks_room` where that is room."""
    if iteration > _EARLY and len(pool.late) == 0:
        return LACKS_LATE
    if not fits(pool, cost):
        return LACKS_WIDTH
    return DONE if can_take_more(pool, vertex) else lacks_room


@inner_kernel
def open_place(pool: Pool, vertex: int, place: int, key: int, iteration: int) -> int:
    """Insert a key and an iteration at a place of a row that lacks nothing; where they are now."""
    at, length, kind = (
        place - int(pool.start[vertex]),
        int(pool.length[vertex]),
        int(pool.kind[vertex]),
    )
    if length == pool.sizes[kind]:
        move_row(pool, vertex, kind + 1)
    place = int(pool.start[vertex]) + at
    for later in range(pool.start[vertex] + length, place, -1):
        copy_place(pool, later - 1, later)
    pool.key[place] = key << _BITS | iteration & _EARLY
    if len(pool.late) > 0:
        pool.late[place] = iteration >> _BITS
    pool.length[vertex] = length + 1
    return place


@inner_kernel
def close_place(pool: Pool, vertex: int, place: int) -> None:
    """Remove what is at a place; a row without any gives its chunk back."""
    last = end_of(pool, vertex) - 1
    for later in range(place, last):
        copy_place(pool, later + 1, later)
    pool.length[vertex] -= 1
    if pool.length[vertex] == 0:
        give_back(pool, vertex)


@inner_kernel
def move_row(pool: Pool, vertex: int, kind: int) -> None:
    """Move a row to a chunk of another kind, of which there is one."""
    start, there = int(pool.start[vertex]), take_chunk(pool, kind)
    for step in range(pool.length[vertex]):
        copy_place(pool, start + step, there + step)
    lie_in(pool, vertex, there, kind)


@joined_kernel
def copy_place(pool: Pool, place: int, to: int) -> None:
    copy_between(pool, place, pool, to)


@joined_kernel
def copy_between(pool: Pool, place: int, other: Pool, to: int) -> None:
    """Write what is at a place to one of another pool, which has the same columns."""
    other.key[to] = pool.key[place]
    if len(pool.late) > 0:
        other.late[to] = pool.late[place]
    if len(pool.wide) > 0:
        other.wide[to] = pool.wide[place]
    elif len(pool.small) > 0:
        other.small[to] = pool.small[place]
    if len(pool.copies) > 0:
        other.copies[to] = pool.copies[place]
