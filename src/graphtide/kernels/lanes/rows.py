"""Several versions of a graph as one list of edges, and what the kernels of lanes work with.

Each edge has the set of versions that have it. The order within a row is that of edge numbers,
whatever was flipped before and whoever else is in the group: a sum over a row has the same bits in
every group that its version is part of.

What a run works with is a word of eight bytes for each lane: `LANES` words for each state field,
then the next vertex. Sums and parcels lie in the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Rows, Slabs, is_apart
from graphtide.kernels.jit import joined_kernel, kernel
from graphtide.kernels.lanes.values import EVERY_LANE

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
UInt64 = NDArray[np.uint64]


class KnownRows(NamedTuple):
    """All edges that a graph knows by one of their ends, in the order of their numbers.

    `place[edge]` is where an edge stands, `lanes` the set of versions that have it.
    """

    start: Int64
    neighbour: Int32
    edge: Int32
    place: Int32
    lanes: UInt8


class LaneContext(NamedTuple):
    """What a program's functions read. Degrees are rows of a word a lane; nothing faults."""

    into: Rows
    out: Rows
    in_degree: Int64
    out_degree: Int64
    read: Int64
    fault: Int64


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


@joined_kernel
def edge_at(rows: Rows, position: Any) -> Any:
    """The number of the edge at a position; by source it is the position. Without a sign."""
    if len(rows.edge) == 0:
        return np.uint64(position)
    return np.uint64(rows.edge[position])
