"""Rows in chunks of a pool: which chunk a row lies in, and those that wait to be used again.

A record with such rows has, by row, `start`, `length` and `kind`. `sizes` says how many items a
chunk of each kind holds (kind 0: none), `free` where the first free one of each kind is, or -1, and
`top` where the part of the pool begins that was never used. A free chunk names the next one of its
kind as its first `key`. The items are the record's own: whoever moves a row copies them.

Numba compiles these for each record that has such fields.
"""

from __future__ import annotations

from typing import Any

from graphtide.kernels.jit import joined_kernel


@joined_kernel
def can_take_more(pool: Any, row: int) -> bool:
    """Whether a row can take one more item, where it lies or in the next larger chunk."""
    kind = int(pool.kind[row])
    if pool.length[row] < pool.sizes[kind]:
        return True
    return bool(pool.free[kind + 1] >= 0 or pool.top[0] + pool.sizes[kind + 1] <= len(pool.key))


@joined_kernel
def take_chunk(pool: Any, kind: int) -> int:
    """Where a chunk of a kind begins, of which there is one; it is free no more."""
    there = int(pool.free[kind])
    if there >= 0:
        pool.free[kind] = pool.key[there]
    else:
        there = int(pool.top[0])
        pool.top[0] = there + pool.sizes[kind]
    return there


@joined_kernel
def lie_in(pool: Any, row: int, there: int, kind: int) -> None:
    """Let a row lie in a chunk that its items have been copied to, and give the one before back."""
    if pool.kind[row] > 0:
        give_back(pool, row)
    pool.start[row] = there
    pool.kind[row] = kind


@joined_kernel
def give_back(pool: Any, row: int) -> None:
    """Let the chunk of a row be used by others."""
    kind, start = int(pool.kind[row]), int(pool.start[row])
    pool.key[start] = pool.free[kind]
    pool.free[kind] = start
    pool.kind[row] = 0
