"""The graph as it is at a version: whether two are joined, what a vertex's degrees are, and which
entries of its slabs are there.

A loop over neighbours goes through up to three stretches: the slab of out-edges, that of in-edges,
and what has left the vertex with this batch. An edge's mark says whether its pair is visited by it
and whether it came; only pairs that came are looked up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import joined_kernel
from graphtide.kernels.prefetch import prefetch
from graphtide.kernels.walks.pairs import FREE, first_place, found_word, word_of
from graphtide.kernels.walks.records import (
    BACKWARD,
    EDGE_CAME,
    EITHER,
    FORWARD,
    NEW,
    OLD,
    PARALLEL,
    Changed,
    Int32,
    Walking,
)

_MIX = np.int64(-7046029254386353131)

OUT_WAY, IN_WAY, BOTH_WAYS = 1, 2, 3
"""Which way a hop goes, as stretches: the bits are those of slabs."""
OUT_SLAB, INTO_SLAB, LEFT_LIST = 0, 1, 2
AHEAD = 8


@joined_kernel
def rank_place(changed: Changed, one: int, other: int) -> Any:
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
def rank_of(changed: Changed, one: int, other: int) -> int:
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
    """The same for the entry that comes so many later."""
    if place + AHEAD < end:
        ask_pair(walking, neighbours[place + AHEAD], other)


@joined_kernel
def ask_pair(walking: Walking, one: int, other: int) -> None:
    """Ask for the place of a pair."""
    table = walking.pairs.table
    prefetch(table, first_place(table, word_of(one, other)))


@joined_kernel
def ask_neighbours(walking: Walking, rank: int, pairs: int) -> None:
    """Ask for the first neighbours of both ends of a changed pair that comes `AHEAD` later."""
    if rank + AHEAD >= pairs:
        return
    for slabs in (walking.graph.out, walking.graph.into):
        low, high = walking.changed.low[rank + AHEAD], walking.changed.high[rank + AHEAD]
        prefetch(slabs.neighbour, slabs.start[low])
        prefetch(slabs.neighbour, slabs.start[high])


@joined_kernel
def bits_of(source: int, target: int, way: int) -> int:
    """The bits of a pair that a question is about."""
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
    """How many entries a loop over neighbours goes through."""
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
def either_change(changed: Changed, rank: int, one: int) -> int:
    """1 if a pair came, -1 if it left, 0 if it is joined as before, whatever the direction."""
    was, is_now = changed.old[rank] != 0, changed.new[rank] != 0
    return 0 if was == is_now else (1 if is_now else -1)


@joined_kernel
def direct_change(changed: Changed, rank: int, one: int) -> int:
    """The same for the direction that leads away from one vertex of the pair."""
    bit = FORWARD if one == changed.low[rank] else BACKWARD
    was, is_now = changed.old[rank] & bit != 0, changed.new[rank] & bit != 0
    return 0 if was == is_now else (1 if is_now else -1)
