"""Two hash tables: from ids to the numbers of vertices, and from pairs of vertices to their edges.

Ids are whole numbers. An entry is two words side by side, an id and its number, so that a look
costs one line of memory; at least half of the table is free.

A word of the table of pairs holds 31 more bits of the hash (its mark) and the number of an edge,
live or not. Whoever finds a mark looks whether the edge is what it wants: a mark alone proves
nothing. A graph without a table has an empty one. Of edges between the same ends, or with the same
mark, `MOST` are entered and no more: runs of one mark would be looked through by all whose place
lies among them. Whoever meets so many without finding what it wants looks through a slab instead.
It takes 8 bytes a place, and a quarter to five eighths of the places are free: 11 to 22 bytes an
edge.

Entries of both leave in the reverse of the order in which they came: nothing that came later has
then been placed behind them, and their place is simply free again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import destination_of, source_of
from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, kernel

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


NONE = -1
"""What stands at a free place."""
MOST = 8
"""So many edges of one mark are entered: a line of memory."""

_FIRST_MIX = np.int64(-7046029254386353131)  # 2^64 over the golden ratio
_SECOND_MIX = np.int64(-4417276706812531889)  # An odd number without a pattern.
_MARK = np.int64(0x7FFFFFFF)
_EDGE = np.int64(0xFFFFFFFF)


def places_for(edges: int) -> int:
    """How many places a table for so many edges has: a power of two, a quarter of it free."""
    return 1 << max(4, (4 * edges // 3).bit_length())


def edges_within(places: int) -> int:
    return 3 * places // 4


@joined_kernel
def pair_hash(source: int, target: int) -> int:
    """64 bits that look random, of which the low ones say the place and the high ones the mark."""
    mixed = ((np.int64(source) << 32) | np.int64(target)) * _FIRST_MIX
    mixed = (mixed ^ ((mixed >> 32) & _EDGE)) * _SECOND_MIX
    return int(mixed ^ ((mixed >> 29) & _EDGE))


@joined_kernel
def mark_of(hashed: int) -> int:
    """The mark in a hash."""
    return int((hashed >> 32) & _MARK)


@joined_kernel
def edge_in(word: int) -> int:
    return int(word & _EDGE)


@inner_kernel
def enter_pair(pairs: Int64, hashed: int, edge: int) -> None:
    """Enter an edge, unless there are enough of its mark."""
    place, mark, same = hashed & (len(pairs) - 1), mark_of(hashed), 0
    while pairs[place] != NONE:
        same += (pairs[place] >> 32) == mark
        if same == MOST:
            return
        place = (place + 1) & (len(pairs) - 1)
    pairs[place] = (mark << 32) | edge


@inner_kernel
def leave_pair(pairs: Int64, hashed: int, edge: int) -> None:
    """Take out the edge that was entered last, if it was."""
    place, word = hashed & (len(pairs) - 1), (mark_of(hashed) << 32) | edge
    same = 0
    while pairs[place] != NONE:
        if pairs[place] == word:
            pairs[place] = NONE
            return
        same += (pairs[place] >> 32) == mark_of(hashed)
        if same == MOST:
            return
        place = (place + 1) & (len(pairs) - 1)


@bare_kernel
def enter_edges(words: Int64, pairs: Int64, start: int, stop: int, hashes: Int64) -> None:
    """Enter the edges `start` to `stop` - 1 of the graph that a block begins with, in this order.

    `hashes` is room for some: their places are asked for before the first of them is entered.
    """
    graph = adjacency_at(words, 0)
    for first in range(start, stop, len(hashes)):
        last = min(first + len(hashes), stop)
        for edge in range(first, last):
            hashed = pair_hash(source_of(graph, edge), destination_of(graph, edge))
            prefetch(pairs, hashed & (len(pairs) - 1))
            hashes[edge - first] = hashed
        for edge in range(first, last):
            enter_pair(pairs, hashes[edge - first], edge)
