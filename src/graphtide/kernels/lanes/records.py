"""What the kernels of lanes are given and work with: several versions of a graph as one.

Rows of a vertex are words of eight bytes, a lane each: `LANES` words for each state field, then
the next vertex. Sums and parcels lie in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.synchronous.records import Rows

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
UInt64 = NDArray[np.uint64]

ITERATION, ACTIVE, CHANGED, HEARING, RESTLESS, PLACES = 0, 1, 2, 3, 4, 5
"""Places in `LaneCourse.progress`: the last iteration that was run, the set of lanes that go on,
how many vertices changed in it (or EVERYBODY), how many hear anything, how many of the others
changed when they last took part; and how many places there are."""


class KnownRows(NamedTuple):
    """All edges that a graph knows by one of their ends, in the order of their numbers.

    `place[edge]` is where an edge stands, `lanes` the set of versions that have it.
    """

    start: Int64
    neighbour: Int32
    edge: Int32
    place: Int32
    lanes: UInt8


class LaneRows(NamedTuple):
    """The edges that any lane has, by one of their ends, with the set of lanes that have each.

    Those of vertex v are at places start[v] to stop[v]. Places are unsigned: Numba looks out for
    negative ones otherwise, in every step of a loop. In a run of one version the rows are slabs:
    `lanes` is empty, and `edge` leads to properties, which otherwise lie as the edges do. They
    are a block.
    """

    start: UInt64
    stop: UInt64
    neighbour: Int32
    edge: Int32
    lanes: UInt8
    properties: Int64


class LaneContext(NamedTuple):
    """What a program's functions read. Degrees are rows of a word a lane.

    `graph` tells whom a vertex may tell anything. Rows hold `edges` edges in all.
    """

    graph: Adjacency
    into: LaneRows
    out: LaneRows
    in_degree: Int64
    out_degree: Int64
    read: Int64
    edges: int


class LaneWork(NamedTuple):
    """Rows of states, sums and parcels, and lists of vertices as in a run of one version.

    `hearing` are those that an edge leads to; it has room for one more than there are.
    """

    states: Rows
    sums: Rows
    parcels: Rows
    listed: Int32
    changed: Int32
    mark: Int32
    hearing: Int32


class LaneCourse(NamedTuple):
    """Up to which iteration to run, and when a lane stops: where nothing moves, unless patient."""

    last: int
    tolerance: float
    patient: bool
    progress: Int64
