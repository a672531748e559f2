"""Ids that are whole numbers, and the vertex numbers that stand for them: a table of hashes.

An entry is two words side by side, an id and its number, so that a look costs one line of memory.
At least half of the table is free. Entries leave in the reverse of the order in which they came:
nothing that came later has then been placed behind them, and their place is simply free again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import bare_kernel, joined_kernel, kernel
from graphtide.kernels.prefetch import NEAR, prefetch

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

FREE = -1
_MIX = np.int64(-7046029254386353131)  # 2^64 over the golden ratio


@joined_kernel
def first_place(table: Int64, item: int) -> int:
    """Where the search for an id begins: ids side by side, and those a power of two apart, part."""
    mixed = (item ^ (item >> 32)) * _MIX
    return int((mixed ^ (mixed >> 29)) & (len(table) // 2 - 1))


@joined_kernel
def place_of(table: Int64, item: int) -> int:
    """The place of an id, or the free one where it would be entered."""
    place = first_place(table, item)
    while table[2 * place + 1] != FREE and table[2 * place] != item:
        place = (place + 1) & (len(table) // 2 - 1)
    return place


@kernel
def enter_ids(table: Int64, ids: Int64, first: int) -> None:
    """Enter ids[first:], each with its place among all ids as its number. None may be there."""
    for number in range(first, len(ids)):
        if number + NEAR < len(ids):
            prefetch(table, 2 * first_place(table, ids[number + NEAR]))
        place = place_of(table, ids[number])
        table[2 * place] = ids[number]
        table[2 * place + 1] = number


@kernel
def enter_distinct(
    table: Int64, ids: Int64, done: int, found: Int64, count: int
) -> tuple[int, int]:
    """Enter the ids from `done` on that are not there yet, and list them behind `found[:count]`.

    Ends early where `found` is full. Returns how many ids are done, and how many are listed.
    """
    for at in range(done, len(ids)):
        if at + NEAR < len(ids):
            prefetch(table, 2 * first_place(table, ids[at + NEAR]))
        place = place_of(table, ids[at])
        if table[2 * place + 1] == FREE:
            if count == len(found):
                return at, count
            table[2 * place] = ids[at]
            table[2 * place + 1] = count
            found[count] = ids[at]
            count += 1
    return len(ids), count


@kernel
def remove_ids(table: Int64, ids: Int64, first: int) -> None:
    """Take out ids[first:], which were entered last."""
    for number in range(len(ids) - 1, first - 1, -1):
        table[2 * place_of(table, ids[number]) + 1] = FREE


@bare_kernel
def find_ids(table: Int64, count: int, ids: Int64, numbers: Int32) -> int:
    """The number of each id, `FREE` where it is not there; returns how many are not.

    Without a table, ids are their own numbers, of which there are `count`.
    """
    missing = 0
    for at in range(len(ids)):
        item, number = ids[at], FREE
        if len(table) > 0:
            if at + NEAR < len(ids):
                prefetch(table, 2 * first_place(table, ids[at + NEAR]))
            number = table[2 * place_of(table, item) + 1]
        elif 0 <= item < count:
            number = item
        numbers[at] = number
        missing += number == FREE
    return missing
