"""Triangles as a careful engineer would count them by hand: from scratch, and kept current.

Vertices are numbers, every pair of neighbours is there once and no vertex is its own neighbour.
From scratch, edges point to the end of the higher degree, and the neighbours of one end are marked
while those of the other are looked through. Kept current, a hash of the pairs says whether two
vertices are neighbours, and an edge that comes or goes looks through the shorter of two rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
FREE = -1
MIX = 0x3C6EF373, 0x2545F491
"""Two odd factors below 2^30: a vertex times one, and the sum of two such, fit into 63 bits."""


class Neighbours(NamedTuple):
    """The neighbours of vertex v are neighbour[start[v] : start[v + 1]], in both directions."""

    start: Int64
    neighbour: Int32


def neighbours(vertices: int, src: Int32, dst: Int32) -> Neighbours:
    """Rows of pairs that are there once each."""
    ends, others = np.concatenate([src, dst]), np.concatenate([dst, src])
    start = np.zeros(vertices + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=vertices), out=start[1:])
    return Neighbours(start, others[np.argsort(ends, kind="stable")])


def triangles(graph: Neighbours) -> Int64:
    """In how many triangles each vertex is, from scratch; ordering by degree is part of it."""
    degree = np.diff(graph.start)
    order = np.argsort(degree, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return count_ranked(graph, order, rank)[rank]


def clustering(graph: Neighbours) -> NDArray[np.float64]:
    """Each vertex's local clustering coefficient, from scratch."""
    return shares(triangles(graph), np.diff(graph.start))


def shares(found: Int64, degree: Int64) -> NDArray[np.float64]:
    """Of the pairs of neighbours of each vertex, the share that are neighbours; 0 without any."""
    return np.asarray(found / np.maximum(degree * (degree - 1) / 2, 1))


@kernel
def count_ranked(graph: Neighbours, order: Int64, rank: Int32) -> Int64:
    """Triangles by rank: of each vertex, those that lie above it are the ones of higher rank."""
    vertices = len(order)
    start = np.zeros(vertices + 1, np.int64)
    above = np.empty(len(graph.neighbour) // 2, np.int32)
    size = 0
    for at in range(vertices):
        u = order[at]
        for place in range(graph.start[u], graph.start[u + 1]):
            other = rank[graph.neighbour[place]]
            if other > at:
                above[size] = other
                size += 1
        start[at + 1] = size
    found, marked = np.zeros(vertices, np.int64), np.full(vertices, -1, np.int32)
    for u in range(vertices):
        for place in range(start[u], start[u + 1]):
            marked[above[place]] = u
        for place in range(start[u], start[u + 1]):
            v = above[place]
            for further in range(start[v], start[v + 1]):
                w = above[further]
                if marked[w] == u:
                    found[u] += 1
                    found[v] += 1
                    found[w] += 1
    return found


class Kept(NamedTuple):
    """Triangles that are kept current: rows with room for every edge to come, and a hash of pairs.

    `key` holds a pair as one word, or FREE; `place` has the pair's place in the rows of its lower
    and of its greater end.
    """

    start: Int64
    size: Int32
    neighbour: Int32
    key: Int64
    place: Int32
    found: Int64


def begin(vertices: int, src: Int32, dst: Int32) -> Kept:
    """Nothing is there yet, and there is room for all of these pairs."""
    start = neighbours(vertices, src, dst).start
    slots = 1 << int(2 * len(src)).bit_length()
    return Kept(
        start,
        np.zeros(vertices, np.int32),
        np.empty(2 * len(src), np.int32),
        np.full(slots, FREE, np.int64),
        np.empty((slots, 2), np.int32),
        np.zeros(vertices, np.int64),
    )


@kernel
def load(kept: Kept, src: Int32, dst: Int32, found: Int64) -> None:
    """Take in a first version whose triangles are known."""
    for at in range(len(src)):
        join(kept, src[at], dst[at])
    kept.found[:] = found


@kernel
def advance(kept: Kept, in_src: Int32, in_dst: Int32, out_src: Int32, out_dst: Int32) -> None:
    """Pairs that go, one after the other, then pairs that come."""
    for at in range(len(out_src)):
        part(kept, out_src[at], out_dst[at])
        close_triangles(kept, out_src[at], out_dst[at], -1)
    for at in range(len(in_src)):
        close_triangles(kept, in_src[at], in_dst[at], 1)
        join(kept, in_src[at], in_dst[at])


@kernel
def close_triangles(kept: Kept, u: int, v: int, change: int) -> None:
    """Every vertex beside both ends makes a triangle; the shorter row is looked through."""
    if kept.size[u] > kept.size[v]:
        u, v = v, u
    for at in range(kept.start[u], kept.start[u] + kept.size[u]):
        w = kept.neighbour[at]
        if kept.key[slot_of(kept, v, w)] != FREE:
            kept.found[w] += change
            kept.found[u] += change
            kept.found[v] += change


@kernel
def join(kept: Kept, u: int, v: int) -> None:
    """A pair comes in at the end of both rows."""
    slot = slot_of(kept, u, v)
    kept.key[slot] = pair_key(u, v)
    enter(kept, slot, u, v)
    enter(kept, slot, v, u)


@kernel
def enter(kept: Kept, slot: int, u: int, v: int) -> None:
    """Put v behind the neighbours of u."""
    kept.neighbour[kept.start[u] + kept.size[u]] = v
    kept.place[slot, 0 if u < v else 1] = kept.size[u]
    kept.size[u] += 1


@kernel
def part(kept: Kept, u: int, v: int) -> None:
    """A pair leaves both rows, and the hash."""
    slot = slot_of(kept, u, v)
    leave(kept, slot, u, v)
    leave(kept, slot, v, u)
    close_gap(kept, slot)


@kernel
def leave(kept: Kept, slot: int, u: int, v: int) -> None:
    """The last neighbour of u takes the place of v."""
    place, last = kept.place[slot, 0 if u < v else 1], kept.size[u] - 1
    moved = kept.neighbour[kept.start[u] + last]
    kept.neighbour[kept.start[u] + place] = moved
    kept.place[slot_of(kept, u, moved), 0 if u < moved else 1] = place
    kept.size[u] = last


@kernel
def pair_key(u: int, v: int) -> int:
    """One word for two vertices in any order."""
    lower, greater = np.int64(min(u, v)), np.int64(max(u, v))
    return int((lower << 32) | greater)


@kernel
def first_slot(key: int, slots: int) -> int:
    """Where a key belongs if nobody is in its way."""
    word = (key >> 32) * MIX[0] + (key & 0xFFFFFFFF) * MIX[1]
    return (word ^ (word >> 21)) & (slots - 1)


@kernel
def slot_of(kept: Kept, u: int, v: int) -> int:
    """The slot of a pair, or the free one where it belongs."""
    key, slots = pair_key(u, v), len(kept.key)
    slot = first_slot(key, slots)
    while kept.key[slot] != FREE and kept.key[slot] != key:
        slot = (slot + 1) & (slots - 1)
    return slot


@kernel
def close_gap(kept: Kept, gap: int) -> None:
    """Free a slot, and move those behind it up who belong before it."""
    slots = len(kept.key)
    at = gap
    while True:
        at = (at + 1) & (slots - 1)
        if kept.key[at] == FREE:
            break
        home = first_slot(kept.key[at], slots)
        if (at - home) & (slots - 1) >= (at - gap) & (slots - 1):
            kept.key[gap] = kept.key[at]
            kept.place[gap, 0], kept.place[gap, 1] = kept.place[at, 0], kept.place[at, 1]
            gap = at
    kept.key[gap] = FREE
