"""Live-prefix adjacency: slabs of neighbours, live edges first.

For each direction a vertex has a slab, a run of entries (neighbour, edge). The first `live` of
them are the edges of the current version; the rest are known but not there now. `slot[edge]` is
where an edge stands, so that taking it out or in (`kernels.flips`) is one swap across the border of
the prefix. A scan touches live edges only.

The source of an edge is the neighbour that its entry in `into` names, its destination the one
in `out`: no other endpoint arrays are kept.

In an undirected graph a loop is in no slab of `into`: its vertex meets it once, in `out`, and
counts it once. Its entry there stands outside of all slabs, so that it has a source as every edge
has. Nothing else tells such a graph from a directed one, where a loop is in both.

Slabs lie in a pool with room at its end, where one that is full moves to (`kernels.appending`): the
arrays of entries, and those by edge, are longer than what is in use.
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


@joined_kernel
def is_apart(into: Slabs, edge: int, end: int) -> bool:
    """Whether the entry of an edge stands outside of the slab of its destination: a loop that is
    met once. To be asked of loops alone.
    """
    place = into.slot[edge] - into.start[end]
    return bool(place < 0 or place >= into.used[end])


@joined_kernel
def goes_back(graph: Adjacency, edge: int, source: int, target: int) -> bool:
    """Whether an edge that is gone along both ways is met a second time, from its destination."""
    return source != target or not is_apart(graph.into, edge, target)


@kernel
def put_apart(into: Slabs, loops: Int32, ends: Int32, first: int) -> None:
    """Give loops entries outside of all slabs, from a place of the pool on."""
    for at in range(len(loops)):
        into.neighbour[first + at] = ends[at]
        into.edge[first + at] = loops[at]
        into.slot[loops[at]] = first + at


@kernel
def fill_slabs(slabs: Slabs, ends: Int32, others: Int32, first: int, loops: bool) -> None:
    """Append edges first, first + 1, ... to the slabs of `ends`, behind what they hold, not live.

    There must be room. Without `loops`, these are left out.
    """
    for at in range(len(ends)):
        end = ends[at]
        if not loops and end == others[at]:
            continue
        place = slabs.start[end] + slabs.used[end]
        slabs.neighbour[place] = others[at]
        slabs.edge[place] = first + at
        slabs.slot[first + at] = place
        slabs.used[end] += 1


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
def live_edges(graph: Adjacency, found: Int32) -> int:
    """List the live edges, by source; returns how many. `found` must have room for them."""
    count = 0
    for vertex in range(len(graph.out.live)):
        start = graph.out.start[vertex]
        for place in range(start, start + graph.out.live[vertex]):
            found[count] = graph.out.edge[place]
            count += 1
    return count
