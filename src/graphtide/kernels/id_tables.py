"""Ids that are whole numbers, and the vertex numbers that stand for them: a table of hashes.

An entry is two words side by side, an id and its number, so that a look costs one line of memory.
At least half of the table is free. Entries leave in the reverse of the order in which they came:
nothing that came later has then been placed behind them, and their place is simply free again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import joined_kernel, kernel
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
def remove_ids(table: Int64, ids: Int64, first: int) -> None:
    """Take out ids[first:], which were entered last."""
    for number in range(len(ids) - 1, first - 1, -1):
        table[2 * place_of(table, ids[number]) + 1] = FREE


@kernel
def find_ids(table: Int64, count: int, ids: Int64, numbers: Int32) -> None:
    """The number of each id, `FREE` where it is not there.

    Without a table, ids are their own numbers, of which there are `count`.
    """
    for at in range(len(ids)):
        item = ids[at]
        if len(table) == 0:
            numbers[at] = item if 0 <= item < count else FREE
        else:
            if at + NEAR < len(ids):
                prefetch(table, 2 * first_place(table, ids[at + NEAR]))
            numbers[at] = table[2 * place_of(table, item) + 1]
