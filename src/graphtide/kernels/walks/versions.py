"""The neighbours of a vertex, its degrees and its edges, at the version before or after a batch.

Where many questions go to the neighbours of one vertex, these are gathered first into a table that
stays in the processor's first cache: a look into the table of pairs waits for memory, some 45
nanoseconds. A word of that table is the vertex below the number of its gathering, so that words of
earlier gatherings are free places and nothing is cleared between two. One gathering is valid at a
time.

A term that closes a ring also knows the range of its closing step from the changed edge on. It
notes the far ends of that range as 64 bits before its loops, and walks go on only from vertices
whose bit is set: on rings of four over sx-mathoverflow that leaves 0.53 of 3.46 million searches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import Index, joined_kernel
from graphtide.kernels.walks.pairs import FREE, first_place, found_word, word_of
from graphtide.kernels.walks.records import (
    BACKWARD,
    EDGE_CAME,
    EITHER,
    FORWARD,
    GATHERED,
    NEW,
    OLD,
    PARALLEL,
    SUMS_WIDTH,
    BatchChanges,
    Int32,
    Int64,
    Walking,
)

_MIX = np.int64(-7046029254386353131)

OUT_WAY, IN_WAY, BOTH_WAYS = 1, 2, 3
"""Which way a hop goes, as stretches: the bits are those of slabs."""
OUT_SLAB, INTO_SLAB, LEFT_LIST = 0, 1, 2
AHEAD = 8


@joined_kernel
def rank_place(changed: BatchChanges, one: int, other: int) -> Any:
    """Where the rank of a changed pair stands, or would stand."""
    low, high = np.int64(min(one, other)), np.int64(max(one, other))
    last = np.int64(len(changed.place) - 1)
    place = ((((low << np.int64(31)) ^ high) * _MIX) >> np.int64(33)) & last
    while changed.place[place] != 0:
        rank = changed.place[place] - 1
        if changed.low[rank] == low and changed.high[rank] == high:
            break
        place = (place + 1) & last
    return place


@joined_kernel
def rank_of(changed: BatchChanges, one: int, other: int) -> int:
    """The rank of a pair that the batch changed; -1 of any other."""
    if changed.slots[one] == 0 or changed.slots[other] == 0:
        return -1
    return int(changed.place[rank_place(changed, one, other)] - 1)


@joined_kernel
def joined(walking: Walking, source: int, target: int, way: int, upto: int) -> bool:
    """True if a live edge leads from one vertex to another, either way where the way is both.

    A pair that has left keeps its place in the table: who finds none there need not ask the batch.
    """
    table = walking.pairs.table
    word = found_word(table, word_of(source, target))
    if word == FREE:
        return False
    if upto != NEW:
        rank = rank_of(walking.changed, source, target)
        if rank >= upto:
            word = np.int64(walking.changed.old[rank])
    return bool(word & bits_of(source, target, way) != 0)


@joined_kernel
def ask_first(walking: Walking, neighbours: Int32, begin: int, end: int, other: int) -> None:
    """Ask for what the first entries of a stretch need to know whether they are joined to a vertex.

    Every look into the table of pairs waits for memory. A loop that asks `AHEAD` of itself took
    half of the time where neighbourhoods are large.
    """
    for place in range(begin, min(begin + AHEAD, end)):
        ask_pair(walking, neighbours[place], other)


@joined_kernel
def ask_ahead(walking: Walking, neighbours: Int32, place: int, end: int, other: int) -> None:
    """Prefetch the same for the entry that comes `AHEAD` later."""
    if place + AHEAD < end:
        ask_pair(walking, neighbours[place + AHEAD], other)


@joined_kernel
def ask_pair(walking: Walking, one: int, other: int) -> None:
    """Prefetch the place of a pair."""
    table = walking.pairs.table
    prefetch(table, first_place(table, word_of(one, other)))


@joined_kernel
def ask_neighbours(walking: Walking, rank: int, pairs: int) -> None:
    """Prefetch the first neighbours of both ends of a changed pair that comes `AHEAD` later."""
    if rank + AHEAD >= pairs:
        return
    for slabs in (walking.graph.out, walking.graph.into):
        low, high = walking.changed.low[rank + AHEAD], walking.changed.high[rank + AHEAD]
        prefetch(slabs.neighbour, slabs.start[low])
        prefetch(slabs.neighbour, slabs.start[high])


@joined_kernel
def bits_of(source: int, target: int, way: int) -> int:
    """The bits of a pair's word that answer whether an edge leads from source to target."""
    if way == BOTH_WAYS:
        return FORWARD | BACKWARD
    return FORWARD if (source <= target) == (way == OUT_WAY) else BACKWARD


@joined_kernel
def out_degree(walking: Walking, vertex: int, upto: int) -> Any:
    """How many edges leave a vertex, before the batch or after it."""
    found = np.int64(walking.graph.out.live[vertex])
    slot = walking.changed.slots[vertex] if upto == OLD else 0
    return found - walking.changed.out_more[slot - 1] if slot else found


@joined_kernel
def in_degree(walking: Walking, vertex: int, upto: int) -> Any:
    """How many edges enter a vertex, before the batch or after it."""
    found = np.int64(walking.graph.into.live[vertex])
    slot = walking.changed.slots[vertex] if upto == OLD else 0
    return found - walking.changed.into_more[slot - 1] if slot else found


@joined_kernel
def size_of(graph: Adjacency, vertex: int, way: int) -> int:
    """How many entries a loop over the neighbours of a vertex visits."""
    found = 0
    if way & OUT_WAY:
        found += graph.out.live[vertex]
    if way & IN_WAY:
        found += graph.into.live[vertex]
    return found


@joined_kernel
def entries(walking: Walking, stretch: int) -> tuple[Int32, Int32]:
    """The neighbours and the edges that the entries of a stretch name."""
    if stretch == OUT_SLAB:
        return walking.graph.out.neighbour, walking.graph.out.edge
    if stretch == INTO_SLAB:
        return walking.graph.into.neighbour, walking.graph.into.edge
    return walking.changed.left_vertex, walking.changed.left_edge


@joined_kernel
def bounds(walking: Walking, stretch: int, vertex: int, way: int, upto: int) -> Any:
    """The first entry of a vertex's stretch, and the end; the same where the way has none."""
    graph, changed = walking.graph, walking.changed
    if stretch == OUT_SLAB:
        begin = np.int64(graph.out.start[vertex])
        return begin, begin + (graph.out.live[vertex] if way & OUT_WAY else 0)
    if stretch == INTO_SLAB:
        begin = np.int64(graph.into.start[vertex])
        return begin, begin + (graph.into.live[vertex] if way & IN_WAY else 0)
    slot = changed.slots[vertex]
    if upto == NEW or slot == 0:
        return np.int64(0), np.int64(0)
    return np.int64(changed.left_start[slot - 1]), np.int64(changed.left_start[slot])


@joined_kernel
def is_neighbour(
    walking: Walking, stretch: int, place: int, vertex: int, how: tuple[int, int, int, int]
) -> bool:
    """True if an entry is how a distinct neighbour of a vertex is visited at a version.

    `how` is the mark of a pair that is visited so, that of one that came, the kind of those that
    left, and the version. Where no edges are parallel, and the neighbour is at no changed edge,
    the mark, which is far from its entry, need not be looked at.
    """
    mark, came, kind, upto = how
    changed = walking.changed
    if stretch == LEFT_LIST:
        return bool(changed.left_kind[place] & kind != 0 and changed.left_rank[place] >= upto)
    slabs = walking.graph.out if stretch == OUT_SLAB else walking.graph.into
    neighbour = slabs.neighbour[place]
    if mark == EITHER and stretch == INTO_SLAB and neighbour == vertex:
        return False
    if walking.counts[PARALLEL] == 0 and (upto == NEW or changed.slots[neighbour] == 0):
        return True
    found = walking.pairs.marks[slabs.edge[place]]
    if found & mark == 0:
        return False
    return bool(upto == NEW or found & came == 0 or rank_of(changed, vertex, neighbour) < upto)


@joined_kernel
def is_edge(walking: Walking, stretch: int, place: int, kind: int, upto: int) -> bool:
    """True if an entry is an edge that is live at a version."""
    if stretch == LEFT_LIST:
        return bool(walking.changed.left_kind[place] & kind != 0)
    if upto == NEW:
        return True
    edges = walking.graph.out.edge if stretch == OUT_SLAB else walking.graph.into.edge
    return bool(walking.pairs.marks[edges[place]] & EDGE_CAME == 0)


@joined_kernel
def either_change(changed: BatchChanges, rank: int, one: int) -> int:
    """1 if a pair came, -1 if it left, 0 if it is joined as before, whatever the direction."""
    was, is_now = changed.old[rank] != 0, changed.new[rank] != 0
    return 0 if was == is_now else (1 if is_now else -1)


@joined_kernel
def direct_change(changed: BatchChanges, rank: int, one: int) -> int:
    """The same for the direction that leads away from one vertex of the pair."""
    bit = FORWARD if one == changed.low[rank] else BACKWARD
    was, is_now = changed.old[rank] & bit != 0, changed.new[rank] & bit != 0
    return 0 if was == is_now else (1 if is_now else -1)


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
_VERTEX_MIX = np.int64(0x9E3779B1)
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
    return Index((np.int64(vertex) * _VERTEX_MIX >> np.int64(15)) & np.int64(mask))


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


FEW = 256
"""Entries of a range that a term looks through at most: more would set nearly every bit, and a
batch with many edges at one hub must not look through all of them for each."""
EVERYBODY = np.int64(-1)
"""The word of a range that is longer, or of which nobody asks who stands at its ends."""


@joined_kernel
def bit_of(vertex: int) -> Any:
    """The bit of a vertex, which it shares with others."""
    return np.int64(1) << ((np.int64(vertex) * _VERTEX_MIX >> np.int64(15)) & np.int64(63))
