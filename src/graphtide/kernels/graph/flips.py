"""From one version of a graph to the next: edges flipped in and out, appended, and forgotten again.

A flip swaps two entries of a slab in each direction and moves the border of its live prefix: O(1)
an edge, but at a dozen scattered places of memory. So edges are flipped in batches: the ends of all
are found, then one direction is flipped, then the other, each asking ahead for the places that its
next edges need, unless the graph is small. A batch is small enough that what was read for the ends
is still near when it is flipped. Whoever follows the graph to its new version wants the ends too,
and finds them in `Delta`. An edge that stands at the border stays where it is: those of a window
that grows come in the order in which their sources have them.

Edges that arrive are appended to the slabs of both their ends, not live yet. A slab that is full
moves to the end of its pool with twice the room. Edges that were appended last can be forgotten
again, so that undoing leaves nothing behind.

What is kept of a graph in memory is one block, `KnownGraph`, with its property columns behind it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import adjacency_at, places, record_reader
from graphtide.kernels.graph.adjacency import (
    Adjacency,
    Slabs,
    destination_of,
    goes_back,
    is_apart,
    source_of,
    swap_entries,
)
from graphtide.kernels.graph.hash_tables import leave_pair, pair_hash
from graphtide.kernels.intrinsics import FAR, MIDDLE, NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, kernel


class KnownGraph(NamedTuple):
    """`taken` has a bit for each edge, 0 but while rows are matched; `tops` are the ends of the
    parts of both pools that are in use; `pairs` is a table of edges by their ends, or empty
    (`pair_tables`); `types` are those of the property columns, which come behind it.
    """

    graph: Adjacency
    taken: NDArray[np.uint8]
    tops: NDArray[np.int64]
    pairs: NDArray[np.int64]
    types: NDArray[np.int64]


WHOLE, REAL, TRUTH = 0, 1, 2
"""The types that a property can have: int64, float64, bool."""

COLUMNS = places(KnownGraph)
known_at = record_reader(KnownGraph)


Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

BATCH = 256
"""So many ends are found before their edges are flipped."""

NEAR_EDGES = 1 << 19
"""Slabs of no more edges stay in the last cache, where waiting takes less than asking ahead.

Measured in nanoseconds an edge, asked for and not. Of half a million: those of a window that grows
28 and 15, random ones 65 and 60 to 87. Of a million: 37 and 24, 81 and 117.
"""

FEW = 4
"""So few edges are flipped sooner than asked for."""


class Delta(NamedTuple):
    """Edges in and out, and the ends of all of them: first of the inserted, then the deleted."""

    inserted: Int32
    deleted: Int32
    sources: Int32
    targets: Int32


@inner_kernel
def find_ends_of(graph: Adjacency, edges: Int32, sources: Int32, targets: Int32) -> None:
    """Sources and targets of edges; all slots first, so that no step waits for the one before."""
    for at in range(len(edges)):
        sources[at] = graph.into.slot[edges[at]]
        targets[at] = graph.out.slot[edges[at]]
    for at in range(len(edges)):
        sources[at] = graph.into.neighbour[sources[at]]
        targets[at] = graph.out.neighbour[targets[at]]


@bare_kernel
def flip_delta(words: Int64, delta: Delta) -> int:
    """Flip a delta, all or nothing, and find its ends; -1, or where the first misfit is listed.

    `words` is a block that begins with the graph.

    Places count the deleted first, then the inserted. An edge that is listed twice is found at
    its second place.
    """
    graph, count = adjacency_at(words, 0), len(delta.inserted)
    alive = count >= 0  # True, but no constant: for each of those, all would be compiled anew.
    sources, targets = delta.sources[count:], delta.targets[count:]
    misfit = flip_both(graph, delta.deleted, sources, targets, not alive)
    if misfit >= 0:
        return misfit
    misfit = flip_both(graph, delta.inserted, delta.sources[:count], delta.targets[:count], alive)
    if misfit < 0:
        return -1
    flip_both(graph, delta.deleted, sources, targets, alive)
    return len(delta.deleted) + misfit


@bare_kernel
def flip_arrays(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> int:
    """The same, called from Python: an edge takes 0.7 microseconds, and 2 to 4 by a tuple."""
    return flip_delta(words, Delta(inserted, deleted, sources, targets))


@joined_kernel
def flip_few(graph: Adjacency, edges: Int32, sources: Int32, targets: Int32, alive: bool) -> int:
    """The same as `flip_both` for so few edges that asking for their places takes longer."""
    for at in range(len(edges)):
        edge = edges[at]
        source, target = source_of(graph, edge), destination_of(graph, edge)
        sources[at], targets[at] = source, target
        if (graph.out.slot[edge] < graph.out.start[source] + graph.out.live[source]) == alive:
            for before in range(at - 1, -1, -1):
                flip_edge(graph.out, edges[before], sources[before], not alive)
                if goes_back(graph, edges[before], sources[before], targets[before]):
                    flip_edge(graph.into, edges[before], targets[before], not alive)
            return at
        flip_edge(graph.out, edge, source, alive)
        if goes_back(graph, edge, source, target):
            flip_edge(graph.into, edge, target, alive)
    return -1


@joined_kernel
def flip_edge(slabs: Slabs, edge: int, end: int, alive: bool) -> None:
    move_border(slabs, slabs.slot[edge], end, alive)


@joined_kernel
def move_border(slabs: Slabs, slot: int, end: int, alive: bool) -> None:
    """Move the border of a slab across an entry, which changes places with the one there."""
    border = border_of(slabs, end, alive)
    if slot != border:
        swap_entries(slabs, slot, border)
    slabs.live[end] += 1 if alive else -1


@inner_kernel
def flip_both(graph: Adjacency, edges: Int32, sources: Int32, targets: Int32, alive: bool) -> int:
    """Flip edges in both directions, all or none: the place of the first misfit, or -1.

    The ends of a batch are found while the one before it is flipped.
    """
    count = len(edges)
    if count <= FEW:
        return flip_few(graph, edges, sources, targets, alive)
    find_ends_of(graph, edges[:BATCH], sources[:BATCH], targets[:BATCH])
    far = len(graph.out.slot) > NEAR_EDGES
    for first in range(0, count, BATCH):
        last, ahead = min(first + BATCH, count), min(first + 2 * BATCH, count)
        find_ends_of(graph, edges[last:ahead], sources[last:ahead], targets[last:ahead])
        asked = ahead if far else first
        misfit = flip_side(graph.out, edges, (sources, targets), (first, last, asked), alive)
        if misfit >= 0:
            start = first - first
            flip_side(graph.out, edges, (sources, targets), (start, misfit, misfit), not alive)
            flip_side(graph.into, edges, (targets, sources), (start, first, first), not alive)
            return misfit
        flip_side(graph.into, edges, (targets, sources), (first, last, asked), alive)
    return -1


@inner_kernel
def flip_side(slabs: Slabs, edges: Int32, both: Any, part: Any, alive: bool) -> int:
    """Flip a part of the edges in the slabs of one direction, up to the first that already is so.

    Returns its place, or -1. `both` are the ends in this direction and the others, `part` is the
    first, the end, and the end of those that are asked for ahead. What stands at the border when an
    edge is flipped is known only then: the places asked for are those of now, which are the same or
    next to them.
    """
    (ends, others), (first, last, known) = both, part
    if first == 0 and known > FEW:
        ask_for_first(slabs, edges[:known], ends, alive)
    for at in range(first, last):
        if at + FAR < known:
            ask_for_border(slabs, edges[at + FAR], ends[at + FAR])
        if at + MIDDLE < known:
            ask_for_entries(slabs, edges[at + MIDDLE], border_of(slabs, ends[at + MIDDLE], alive))
        if at + NEAR < known:
            ask_for_other(slabs, edges[at + NEAR], border_of(slabs, ends[at + NEAR], alive))
        end, slot = ends[at], slabs.slot[edges[at]]
        if others[at] == end and is_apart(slabs, edges[at], end):
            continue
        if (slot < slabs.start[end] + slabs.live[end]) == alive:
            return at
        move_border(slabs, slot, end, alive)
    return -1


@joined_kernel
def ask_for_first(slabs: Slabs, edges: Int32, ends: Int32, alive: bool) -> None:
    """Ask for what the first flips need: a small delta has no others."""
    count = len(edges)
    for at in range(min(FAR, count)):
        ask_for_border(slabs, edges[at], ends[at])
    for at in range(min(MIDDLE, count)):
        ask_for_entries(slabs, edges[at], border_of(slabs, ends[at], alive))
    for at in range(min(NEAR, count)):
        ask_for_other(slabs, edges[at], border_of(slabs, ends[at], alive))


@joined_kernel
def border_of(slabs: Slabs, end: int, alive: bool) -> int:
    """The entry that an edge of the vertex changes places with: the first dead or the last live.

    Stays within the pool where there is none, which only happens ahead of time.
    """
    border = slabs.start[end] + slabs.live[end]
    if alive:
        return int(min(border, len(slabs.edge) - 1))
    return int(max(border - 1, 0))


@joined_kernel
def ask_for_border(slabs: Slabs, edge: int, end: int) -> None:
    """Ask for what leads to the entries of a flip."""
    prefetch(slabs.start, end)
    prefetch(slabs.live, end)
    prefetch(slabs.slot, edge)


@joined_kernel
def ask_for_entries(slabs: Slabs, edge: int, border: int) -> None:
    """Ask for the two entries that change places, if they are two."""
    slot = slabs.slot[edge]
    if slot == border:
        return
    prefetch(slabs.edge, border)
    prefetch(slabs.neighbour, border)
    prefetch(slabs.edge, slot)
    prefetch(slabs.neighbour, slot)


@joined_kernel
def ask_for_other(slabs: Slabs, edge: int, border: int) -> None:
    """Ask for where it is told of the edge at the border that it moves."""
    if slabs.slot[edge] != border:
        prefetch(slabs.slot, slabs.edge[border])


OUT, INTO, DIRECTED, ALWAYS_NEW = 0, 1, 2, 3
"""The places of the two pools among `tops`; of whether loops are in both (1) or in `out`; and of
whether an inserted row is always a new edge (1) or may be a known one that has left."""

_LEAST_ROOM = 2


def wanted_room(room: int) -> int:
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
