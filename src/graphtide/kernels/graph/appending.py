"""Edges that arrive are appended to the slabs of both their ends, not live yet.

A slab that is full moves to the end of its pool with twice the room. Edges that were appended last
can be forgotten again, so that undoing leaves nothing behind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import (
    Slabs,
    destination_of,
    is_apart,
    source_of,
    swap_entries,
)
from graphtide.kernels.graph.pair_tables import leave_pair, pair_hash
from graphtide.kernels.graph.records import known_at
from graphtide.kernels.jit import inner_kernel, joined_kernel, kernel

Int64 = NDArray[np.int64]

OUT, INTO, DIRECTED = 0, 1, 2
"""The places of the two pools among `tops`, and of whether loops are in both (1) or in `out`."""

_LEAST_ROOM = 2


def wanted_room(room: int) -> int:
    """How much room a full slab gets."""
    return max(2 * room, _LEAST_ROOM)


@joined_kernel
def is_full(slabs: Slabs, end: int) -> bool:
    """Whether the slab of a vertex has no room for one more entry."""
    return bool(slabs.used[end] == slabs.room[end])


@inner_kernel
def make_room(slabs: Slabs, end: int, tops: Int64, pool: int) -> bool:
    """Let a full slab take one more entry; False where its pool has no room for that."""
    used = slabs.used[end]
    room = max(2 * slabs.room[end], _LEAST_ROOM)
    start, place = slabs.start[end], tops[pool]
    if place + room > len(slabs.edge):
        return False
    for step in range(used):
        slabs.neighbour[place + step] = slabs.neighbour[start + step]
        edge = slabs.edge[start + step]
        slabs.edge[place + step] = edge
        slabs.slot[edge] = place + step
    slabs.start[end] = place
    slabs.room[end] = room
    tops[pool] += room
    return True


@joined_kernel
def append_entry(slabs: Slabs, end: int, other: int, edge: int) -> None:
    """An entry behind those that a slab holds, which has room."""
    place = slabs.start[end] + slabs.used[end]
    slabs.neighbour[place] = other
    slabs.edge[place] = edge
    slabs.slot[edge] = place
    slabs.used[end] += 1


@joined_kernel
def has_room(slabs: Slabs, end: int, other: int, tops: Int64, pool: int) -> bool:
    """Let there be room for one more entry; False where the pool has none."""
    if pool == INTO and end == other and tops[DIRECTED] == 0:
        return bool(tops[INTO] < len(slabs.edge))
    return not is_full(slabs, end) or make_room(slabs, end, tops, pool)


@joined_kernel
def append_into(into: Slabs, end: int, other: int, edge: int, tops: Int64) -> None:
    """The same by destination, where loops of undirected graphs stand apart."""
    if end != other or tops[DIRECTED] == 1:
        append_entry(into, end, other, edge)
        return
    place = tops[INTO]
    into.neighbour[place] = other
    into.edge[place] = edge
    into.slot[edge] = place
    tops[INTO] += 1


@joined_kernel
def drop_entry(slabs: Slabs, end: int, edge: int) -> None:
    """Take an edge that is not live out of a slab: the last entry takes its place."""
    slabs.used[end] -= 1
    swap_entries(slabs, slabs.slot[edge], slabs.start[end] + slabs.used[end])


@kernel
def forget_edges(words: Int64, first: int, last: int) -> None:
    """Remove the edges from `first` to `last`, which are the last, and not live. O(1) an edge."""
    known = known_at(words, 0)
    graph, pairs = known.graph, known.pairs
    for edge in range(last - 1, first - 1, -1):
        source, destination = source_of(graph, edge), destination_of(graph, edge)
        if len(pairs) > 0:
            leave_pair(pairs, pair_hash(source, destination), edge)
        drop_entry(graph.out, source, edge)
        if source != destination or not is_apart(graph.into, edge, destination):
            drop_entry(graph.into, destination, edge)
        elif graph.into.slot[edge] == known.tops[INTO] - 1:
            known.tops[INTO] -= 1
