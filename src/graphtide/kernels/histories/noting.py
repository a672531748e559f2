"""Histories as they were before the batch, of all entries that it has evaluated.

They are what old costs are read from, what goes back when the batch is undone, and what tells which
answers changed. A table of hashes finds them; slots of earlier calls have another stamp.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.histories.dropping import mixed
from graphtide.kernels.histories.pools import cost_at, first_at, is_at, iteration_at
from graphtide.kernels.histories.records import (
    DETERMINISTIC,
    HOW,
    LACKING,
    LACKS_LOG,
    LACKS_NOTED,
    LOG,
    NOTED,
    STAMP,
    Int64,
    Pool,
    dropped_of,
    kept_of,
    work_of,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.rows import key_of, vertex_of

_HALF, _SHIFT = np.int64(32), np.uint64(32)
_LOW = np.int64((1 << 32) - 1)


@inner_kernel
def slot_of(state: Int64, item: int) -> int:
    """The slot of an item in the table: where it is, or where it would be."""
    work = work_of(state)
    mask = len(work.table) - 1
    at = np.int64(mixed(np.uint64(item)) >> _SHIFT) & mask
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
