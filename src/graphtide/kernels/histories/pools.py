"""Rows of differences, or of messages: finding, inserting and removing in chunks of a pool.

An entry is found by one comparison of its key and iteration, in four bytes, as long as no search
takes 256 iterations. Graphs of small diameter take a dozen, and memory is what rows are about.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.chunks import can_take_more, give_back, lie_in, take_chunk
from graphtide.kernels.histories.records import DONE, LACKS_LATE, LACKS_WIDTH, Pool
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import MOST_SMALL

_BITS = 8
_EARLY = (1 << _BITS) - 1


@joined_kernel
def key_at(pool: Pool, place: int) -> int:
    """The key at a place."""
    return int(pool.key[place]) >> _BITS


@joined_kernel
def iteration_at(pool: Pool, place: int) -> int:
    """The iteration at a place."""
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
    """The place behind a row."""
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
    """The cost at a place."""
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
    """Write what is at a place to another."""
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
