"""Live-prefix adjacency: slabs of neighbours, live edges first.

For each direction a vertex has a slab, a run of entries (neighbour, edge). The first `live` of
them are the edges of the current version; the rest are known but not there now. `slot[edge]` is
where an edge stands, so that taking it out or in (`kernels.flips`) is one swap across the border of
the prefix. A scan touches live edges only.

The source of an edge is the neighbour that its entry in `into` names, its destination the one
in `out`: no other endpoint arrays are kept.

A slab that is full moves to the end of the pool with more room (`move_slabs`). Edges that were
appended last can be forgotten again (`forget_edges`), so that undoing leaves nothing behind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import joined_kernel, kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Slabs(NamedTuple):
    """One direction: vertex v's slab is entries start[v] to start[v] + room[v]."""

    start: Int64
    live: Int32
    used: Int32
    room: Int32
    neighbour: Int32
    edge: Int32
    slot: Int32


class Adjacency(NamedTuple):
    """Both directions of one graph."""

    out: Slabs
    into: Slabs


@kernel
def count_ends(ends: Int32, counts: Int64) -> None:
    """Add up how many edges each vertex is an end of."""
    for end in ends:
        counts[end] += 1


@kernel
def fill_slabs(slabs: Slabs, ends: Int32, others: Int32, first: int) -> None:
    """Append edges first, first + 1, ... to the slabs of `ends`, behind what they hold, not live.

    There must be room.
    """
    for at in range(len(ends)):
        end = ends[at]
        place = slabs.start[end] + slabs.used[end]
        slabs.neighbour[place] = others[at]
        slabs.edge[place] = first + at
        slabs.slot[first + at] = place
        slabs.used[end] += 1


@kernel
def move_slabs(slabs: Slabs, vertices: Int32, starts: Int64, rooms: Int64) -> None:
    """Move slabs to places of the pool that nobody uses. O(entries moved)."""
    for at in range(len(vertices)):
        vertex, place = vertices[at], starts[at]
        start = slabs.start[vertex]
        for step in range(slabs.used[vertex]):
            slabs.neighbour[place + step] = slabs.neighbour[start + step]
            edge = slabs.edge[start + step]
            slabs.edge[place + step] = edge
            slabs.slot[edge] = place + step
        slabs.start[vertex] = place
        slabs.room[vertex] = rooms[at]


@kernel
def revive_all(slabs: Slabs) -> None:
    """Make every edge that is known live. O(vertices)."""
    for vertex in range(len(slabs.live)):
        slabs.live[vertex] = slabs.used[vertex]


@joined_kernel
def swap_entries(slabs: Slabs, one: int, other: int) -> None:
    """Exchange two entries of the pool."""
    one_edge, other_edge = slabs.edge[one], slabs.edge[other]
    one_end, other_end = slabs.neighbour[one], slabs.neighbour[other]
    slabs.edge[one], slabs.edge[other] = other_edge, one_edge
    slabs.neighbour[one], slabs.neighbour[other] = other_end, one_end
    slabs.slot[one_edge] = other
    slabs.slot[other_edge] = one


@joined_kernel
def source_of(graph: Adjacency, edge: int) -> int:
    """The vertex that an edge leaves."""
    return int(graph.into.neighbour[graph.into.slot[edge]])


@joined_kernel
def destination_of(graph: Adjacency, edge: int) -> int:
    """The vertex that an edge enters."""
    return int(graph.out.neighbour[graph.out.slot[edge]])


@joined_kernel
def other_end(graph: Adjacency, edge: int, vertex: int) -> int:
    """Where an edge leads from one of its ends."""
    source = source_of(graph, edge)
    return destination_of(graph, edge) if source == vertex else source


@kernel
def drop_entry(slabs: Slabs, end: int, edge: int) -> None:
    """Take an edge that is not live out of a slab: the last entry takes its place."""
    slabs.used[end] -= 1
    swap_entries(slabs, slabs.slot[edge], slabs.start[end] + slabs.used[end])


@kernel
def forget_edges(graph: Adjacency, first: int) -> None:
    """Remove the edges numbered `first` and above, none of which may be live. O(1) an edge."""
    for edge in range(first, len(graph.out.slot)):
        source, destination = source_of(graph, edge), destination_of(graph, edge)
        drop_entry(graph.out, source, edge)
        drop_entry(graph.into, destination, edge)


@kernel
def scan_between(slabs: Slabs, ends: tuple[int, int], alive: bool, found: Int32, count: int) -> int:
    """List the edges of one slab to one neighbour, live or not, from `found[count]` on.

    Only counts once `found` is full. Returns the count.
    """
    end, other = ends
    first = slabs.start[end]
    border, last = first + slabs.live[end], first + slabs.used[end]
    for place in range(first if alive else border, border if alive else last):
        if slabs.neighbour[place] == other:
            if count < len(found):
                found[count] = slabs.edge[place]
            count += 1
    return count


@kernel
def edges_between(
    graph: Adjacency, src: Int32, dst: Int32, alive: bool, bounds: Int64, found: Int32
) -> int:
    """The live (or the other) edges of each pair: found[bounds[at]:bounds[at + 1]] for pair `at`.

    Scans the shorter of the two slabs. Returns how much room `found` needs; if it has less, the
    caller gives it more and asks again. Pairs that are alike get the same list.
    """
    count = 0
    for at in range(len(src)):
        source, target = src[at], dst[at]
        bounds[at] = count
        if graph.out.used[source] <= graph.into.used[target]:
            count = scan_between(graph.out, (source, target), alive, found, count)
        else:
            count = scan_between(graph.into, (target, source), alive, found, count)
    bounds[len(src)] = count
    return count


@kernel
def live_edges(graph: Adjacency, found: Int32) -> int:
    """List the live edges, by source; returns how many. `found` must have room for them."""
    count = 0
    for vertex in range(len(graph.out.live)):
        start = graph.out.start[vertex]
        for place in range(start, start + graph.out.live[vertex]):
            found[count] = graph.out.edge[place]
            count += 1
    return count
