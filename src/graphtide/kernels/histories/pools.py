"""Rows of differences, or of messages: finding, inserting and removing in chunks of a pool."""

from __future__ import annotations

import numpy as np

from graphtide.kernels.chunks import can_take_more, give_back, lie_in, take_chunk
from graphtide.kernels.histories.records import Pool
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def first_at(pool: Pool, vertex: int, key: int, iteration: int) -> int:
    """The place of the first of a row that is not below a key and an iteration. O(log row)."""
    low = int(pool.start[vertex])
    high = low + pool.length[vertex]
    while low < high:
        middle = (low + high) >> 1
        found = pool.key[middle]
        if found < key or (found == key and pool.iteration[middle] < iteration):
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
    if place == end_of(pool, vertex) or pool.key[place] != key:
        return -1
    return place if pool.iteration[place] == iteration else -1


@joined_kernel
def last_until(pool: Pool, vertex: int, key: int, iteration: int) -> int:
    """The place of the last with a key and at most an iteration, or -1."""
    place = first_at(pool, vertex, key, iteration + 1) - 1
    return place if place >= pool.start[vertex] and pool.key[place] == key else -1


@joined_kernel
def cost_at(pool: Pool, place: int) -> float:
    """The cost at a place."""
    if len(pool.wide) > 0:
        return float(pool.wide[place])
    return float(pool.narrow[place])


@joined_kernel
def put_cost(pool: Pool, place: int, cost: float) -> None:
    """Write the cost at a place, which fits."""
    if len(pool.wide) > 0:
        pool.wide[place] = cost
    elif len(pool.narrow) > 0:
        pool.narrow[place] = cost


@joined_kernel
def fits(pool: Pool, cost: float) -> bool:
    """Whether the pool can hold a cost exactly as it is."""
    return len(pool.narrow) == 0 or float(np.float32(cost)) == cost


@inner_kernel
def can_grow(pool: Pool, vertex: int) -> bool:
    """Whether a row can take one more."""
    return can_take_more(pool, vertex)


@inner_kernel
def open_place(pool: Pool, vertex: int, place: int, key: int, iteration: int) -> int:
    """Insert a key and an iteration at a place of a row, which can grow; where they are now."""
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
    pool.key[place] = key
    pool.iteration[place] = iteration
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
    pool.key[to] = pool.key[place]
    pool.iteration[to] = pool.iteration[place]
    if len(pool.wide) > 0:
        pool.wide[to] = pool.wide[place]
    elif len(pool.narrow) > 0:
        pool.narrow[to] = pool.narrow[place]
    if len(pool.copies) > 0:
        pool.copies[to] = pool.copies[place]
