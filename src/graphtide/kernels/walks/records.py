"""What kernels of walks work with, as one block.

A *version* is a number, `upto`: changed pairs of a lower rank have been changed already. `OLD` has
seen none of them and `NEW` all. Degrees and edges know these two alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import places, record_reader
from graphtide.kernels.graph.adjacency import Adjacency

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
Float64 = NDArray[np.float64]

OLD, NEW = 0, 1 << 30

DIRECT, EITHER = 1, 2
"""Marks of a live edge: its pair is visited by it, seen in its direction, or whatever its
direction."""
DIRECT_CAME, EITHER_CAME, EDGE_CAME, EDGE_LEFT = 4, 8, 16, 32
"""Marks while a batch is followed: the pair that it stands for came, or the edge itself came or
left."""
CHANGED = DIRECT_CAME | EITHER_CAME | EDGE_CAME | EDGE_LEFT

LEFT_OUT, LEFT_IN, LEFT_EITHER, LEFT_EDGE_OUT, LEFT_EDGE_IN = 1, 2, 4, 8, 16
"""What left a vertex: a pair in either direction or in both, an edge in either direction."""

FORWARD, BACKWARD = 1, 2
"""How a pair is joined, seen from its lower vertex; a self-loop is both. Where a program never asks
for directions, every joined pair is both."""

NEEDS_DIRECT, NEEDS_EITHER, NEEDS_EDGES = 1, 2, 4
"""What a program asks of pairs and edges."""

(
    PAIRS,
    SLOTS,
    LEFT,
    MARKED,
    TOUCHED,
    REPORTED,
    DOUBT,
    OLD_VERTICES,
    VERTICES,
    USED,
    EXTRA_DIRECT,
    EXTRA_EITHER,
    SUMS_WIDTH,
    STATE_WIDTH,
    LAST,
    BOUNDED,
    PATIENT,
    LOOKED,
    BUDGET,
    OLD_DIRECT,
    OLD_EITHER,
    PARALLEL,
    GATHERED,
) = range(23)
"""What `counts` counts: changed pairs, ends of changed edges, what left them, marks that changed,
vertices whose row changed, rows reported; whether an accumulator of the whole graph must be taken
anew; how many vertices there were and are; taken places of the table; edges beside the one that
their pair is visited by; the width of rows; how many iterations there may be,
whether the program says so, and whether it runs all of them; where
walks read state, how many entries loops went through, and how many an advance may; and how many
edges were beside the one that their pair is visited by before the batch, in either meaning; 0 only
if there are none before and behind it; and how often neighbours were gathered (`beside`)."""
COUNTS = GATHERED + 1


class PairIndex(NamedTuple):
    """The set of joined pairs (`pairs`), and a mark of each edge."""

    table: Int64
    marks: UInt8


class Changed(NamedTuple):
    """What a batch changed. `slots` has one more than the slot of a vertex, 0 for most; `vertex` to
    `left_start` go by slot, `left_vertex` to `left_kind` by what left, and `low` to `lost` by
    rank; `place` leads from pairs to ranks. `marked` and `before` are edges and their old marks.
    `pairs_at` counts the changed pairs of a vertex, and `partner` is its other end in the last.
    `known` is where a changed pair stood in the table of pairs before the batch.
    """

    slots: Int32
    vertex: Int32
    out_more: Int32
    into_more: Int32
    pairs_at: Int32
    partner: Int32
    left_start: Int32
    left_vertex: Int32
    left_edge: Int32
    left_rank: Int32
    left_kind: UInt8
    low: Int32
    high: Int32
    known: Int64
    old: UInt8
    new: UInt8
    fresh_forward: Int32
    fresh_backward: Int32
    lost: UInt8
    place: Int32
    marked: Int32
    before: UInt8


class Ordered(NamedTuple):
    """Rows in the order of a property (`ordered`). `bounds` has four words a row: where its room in
    `entries` begins, where its own entries begin and end, and where its room ends. `pool` counts
    words; `widest` says how far from 0 a property ever was, `highest` which edge has the last place
    of all that ever were in a row, or -1, and `highest_before` the same before the batch.
    """

    bounds: Int64
    entries: Int64
    pool: Int64
    widest: Float64
    highest: Int64
    highest_before: Int64


class Touched(NamedTuple):
    """Vertices whose accumulators changed, with the rows that they had. `entry` says where a vertex
    may stand: it does if that entry is in use and names it.
    """

    entry: Int32
    vertex: Int32
    doubt: UInt8
    sums: Int64


class Rows(NamedTuple):
    """Words, as ints and as floats: one memory."""

    whole: Int64
    real: Float64


class Walking(NamedTuple):
    """All of it."""

    graph: Adjacency
    pairs: PairIndex
    changed: Changed
    ordered: Ordered
    touched: Touched
    sums: Rows
    states: Rows
    work: Rows
    """Room for one row of state."""
    globals: Rows
    global_values: Rows
    reported: Rows
    beside: Int64
    counts: Int64
    fault: Int64


READ = places(Walking)
"""Where edge properties and parameters begin."""
walking_at = record_reader(Walking, strided=("slots", "entry"))
"""`slots` and `entry` lie side by side: whoever looks at the one of a vertex wants the other."""
