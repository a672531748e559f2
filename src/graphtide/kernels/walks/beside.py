"""Who is beside one vertex, in a small table, while a loop goes through those beside another.

A look into the table of pairs waits for memory and takes some 45 nanoseconds. A loop that closes
triangles looks once for each neighbour of the end that has fewer; where the other end has not many
times as many, taking those into a table that stays in the processor's first cache costs a few
nanoseconds each, and so does every question then.

A word is the vertex below the number of its gathering: words of earlier gatherings are places that
are free, so that nothing is ever cleared between two. One gathering is valid at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.jit import Index, joined_kernel
from graphtide.kernels.prefetch import NEAR, prefetch
from graphtide.kernels.walks.records import GATHERED, NEW, SUMS_WIDTH, Int64, Walking
from graphtide.kernels.walks.versions import LEFT_LIST, bounds, entries, is_neighbour, size_of

ROOM = 1 << 13
"""Words of the table; a gathering takes a share that it fills by a quarter, the largest by half."""
SPARSE = 4
"""A gathering has so many words for each neighbour.

A vertex that meets another one makes the processor guess wrong where to go on. With two words, and
the number of the gathering read from memory for each vertex, terms took a fifth longer.
"""
TIMES = 6
"""Asking is dearer than gathering until the other vertex has so many times as many neighbours.

On com-dblp 6 and 12 take the same time, on RMAT 16 (longer rows, asked ahead) 4 and 6 do.
"""
LAST_GATHERING = 1 << 31
"""Whoever begins a batch behind so many gatherings clears the table, and counts from 0 again."""
NOBODY, ANYBODY = -1, -2
_SHIFT = np.int64(31)
_MIX = np.int64(0x9E3779B1)
_FIRST_MASK = 31


@joined_kernel
def gather_beside(
    walking: Walking, vertex: int, way: int, how: tuple[int, int, int, int], few: int
) -> int:
    """Take the neighbours of a vertex, as `is_neighbour` sees them, into the table.

    Returns what `is_beside` must be told, or 0 where that costs more than `few` looks into the
    table of pairs, and nothing is gathered.
    """
    size = size_of(walking.graph, vertex, way) + left_of(walking, vertex, how[3])
    if size > TIMES * few or 2 * size >= ROOM:
        return 0
    mask = _FIRST_MASK
    while mask < SPARSE * size and mask < ROOM - 1:
        mask = 2 * mask + 1
    walking.counts[GATHERED] += 1
    number = walking.counts[GATHERED]
    doubtful = doubtful_neighbour(walking, vertex, how[3])
    for stretch in range(3):
        neighbours, _ = entries(walking, stretch)
        begin, end = bounds(walking, stretch, vertex, way, how[3])
        plain = stretch != LEFT_LIST and doubtful != ANYBODY
        for place in range(begin, end):
            found = neighbours[place]
            if (plain and found != doubtful) or is_neighbour(walking, stretch, place, vertex, how):
                enter_beside(walking.beside, number, mask, found)
    return mask


@joined_kernel
def ask_rows(walking: Walking, vertex: int, way: int) -> None:
    """Ask for what walks through the first neighbours of a vertex will look at: whether these are
    at changed edges, and their accumulators. Gathering takes about as long as memory then.
    """
    width = walking.counts[SUMS_WIDTH]
    for stretch in range(2):
        neighbours, _ = entries(walking, stretch)
        begin, end = bounds(walking, stretch, vertex, way, NEW)
        for place in range(begin, min(begin + NEAR, end)):
            prefetch(walking.changed.slots, neighbours[place])
            prefetch(walking.sums.whole, neighbours[place] * width)


@joined_kernel
def left_of(walking: Walking, vertex: int, upto: int) -> int:
    """How many entries have left a vertex, as far as a version may still see them."""
    slot = walking.changed.slots[vertex]
    if upto == NEW or slot == 0:
        return 0
    return int(walking.changed.left_start[slot] - walking.changed.left_start[slot - 1])


@joined_kernel
def doubtful_neighbour(walking: Walking, vertex: int, upto: int) -> int:
    """Whom alone a vertex may be joined to otherwise than its slabs say; NOBODY, or ANYBODY.

    Most vertices of a batch are at one changed pair. Whether a neighbour is at a changed edge need
    not be looked up then, which would wait for memory once for each.
    """
    slot = walking.changed.slots[vertex]
    if upto == NEW or slot == 0:
        return NOBODY
    if walking.changed.pairs_at[slot - 1] != 1:
        return ANYBODY
    return int(walking.changed.partner[slot - 1])


@joined_kernel
def enter_beside(beside: Int64, number: int, mask: int, vertex: int) -> None:
    """Put a vertex behind those that are in its way; parallel edges put it there again."""
    base = np.int64(number) << _SHIFT
    place = place_beside(mask, vertex)
    while beside[place] >= base:
        place = (place + Index(1)) & Index(mask)
    beside[place] = base | np.int64(vertex)


@joined_kernel
def place_beside(mask: int, vertex: int) -> Any:
    """Where a vertex is looked for first."""
    return Index((np.int64(vertex) * _MIX >> np.int64(15)) & np.int64(mask))


@joined_kernel
def is_beside(beside: Int64, number: int, mask: int, vertex: int) -> bool:
    """True if a vertex was gathered, by the number of the gathering."""
    base = np.int64(number) << _SHIFT
    word = base | np.int64(vertex)
    place = place_beside(mask, vertex)
    while beside[place] >= base:
        if beside[place] == word:
            return True
        place = (place + Index(1)) & Index(mask)
    return False
