"""Several versions of a graph as one list of edges, each with the set of versions that have it.

The order within a row is that of edge numbers, whatever was flipped before and whoever else is in
the group: a sum over a row has the same bits in every group that its version is part of.
"""

from __future__ import annotations

from graphtide.kernels.graph.adjacency import Slabs, is_apart
from graphtide.kernels.jit import kernel
from graphtide.kernels.lanes.records import Int32, KnownRows, UInt8, UInt64
from graphtide.kernels.lanes.values import EVERY_LANE


@kernel
def fill_known_rows(slabs: Slabs, neighbours: Int32, ends: Int32, rows: KnownRows) -> None:
    """Sort all known edges by an end; `ends` and `neighbours` have them by number. O(edges).

    Loops that stand apart are in no row: their place is -1.
    """
    vertices = len(slabs.used)
    rows.start[0] = 0
    for vertex in range(vertices):
        rows.start[vertex + 1] = rows.start[vertex] + slabs.used[vertex]
    for edge in range(len(ends)):
        end = ends[edge]
        if end == neighbours[edge] and is_apart(slabs, edge, end):
            rows.place[edge] = -1
            continue
        place = rows.start[end]
        rows.start[end] = place + 1
        rows.neighbour[place] = neighbours[edge]
        rows.edge[place] = edge
        rows.place[edge] = place
    for vertex in range(vertices - 1, -1, -1):
        rows.start[vertex + 1] = rows.start[vertex]
    rows.start[0] = 0


@kernel
def mark_live(slabs: Slabs, rows: KnownRows) -> None:
    """Every lane has the edges that are live now, and no others. O(vertices and known edges)."""
    rows.lanes[:] = 0
    for vertex in range(len(slabs.live)):
        begin = slabs.start[vertex]
        for position in range(begin, begin + slabs.live[vertex]):
            rows.lanes[rows.place[slabs.edge[position]]] = EVERY_LANE


@kernel
def flip_lanes(rows: KnownRows, edges: Int32, first: int) -> None:
    """Edges that come or go before a lane: they do so in it and in those behind. O(edges)."""
    lanes = (EVERY_LANE << first) & EVERY_LANE
    for edge in edges:
        if rows.place[edge] >= 0:
            rows.lanes[rows.place[edge]] ^= lanes


@kernel
def compress_rows(
    rows: KnownRows, start: UInt64, neighbour: Int32, lanes: UInt8, edge: Int32
) -> None:
    """The edges that any lane has; `edge` is filled where it has room. O(known edges).

    An edge that no lane has is written, too, and overwritten by the next: all have room for one
    more than are known. Whether one is held cannot be foreseen, so that a branch took longer.
    """
    count, with_edges = 0, len(edge) > 0
    for vertex in range(len(start) - 1):
        start[vertex] = count
        for place in range(rows.start[vertex], rows.start[vertex + 1]):
            there = rows.lanes[place]
            neighbour[count] = rows.neighbour[place]
            lanes[count] = there
            if with_edges:
                edge[count] = rows.edge[place]
            count += 1 if there != 0 else 0
    start[len(start) - 1] = count
