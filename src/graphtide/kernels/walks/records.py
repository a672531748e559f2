"""The arrays that kernels of walks work with, as one block, and how accumulators take walks in.

A version of the graph is a number, `upto`: changed pairs of a lower rank have been changed already.
`OLD` has seen none of them and `NEW` all. Degrees and edges know these two alone.

The journal is all that it takes to undo an advance, and to say what changed: in the order of
writing, what each word was before. The row of a vertex is noted before it changes for the first
time. A vertex whose accumulator cannot take a walk back is in doubt, and its walks are gathered
anew behind the last term:

- a least value loses a walk that is at least as good. Terms send walks that are in neither version,
  which cancel out: whichever of the two messages of such a walk comes first, one of them finds it
  at least as good as what is there, so that it never stays;
- a product loses a walk;
- a sum of floats meets an infinity or NaN, or becomes so small beside what went through it that its
  rounding error shows. The sum has twice the digits of a float.

A kernel raises no errors: it notes a fault, and whoever called it raises.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import places, record_reader
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.summaries.statistics import LIMBS, add_exactly
from graphtide.kernels.synchronous.sums import (
    add_to_sum,
    divide_floats,
    divide_ints,
    multiply_floats,
    multiply_ints,
)

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
    PARALLEL,
    GATHERED,
    JOURNALED,
    INDEXED,
) = range(22)
"""What `counts` counts: changed pairs, ends of changed edges, what left them, vertices whose row
changed, rows reported; whether an accumulator of the whole graph must be taken anew; how many
vertices there were and are; taken places of the table; edges beside the one that their pair is
visited by; the width of rows; how many iterations there may be, whether the program says so, and
whether it runs all of them; where walks read state, how many entries loops went through, and how
many an advance may; a number that is 0 only if no edges are parallel before and behind the batch;
how often neighbours were gathered (`beside`); and the words of the journal in use, in all and those
of pairs and edges."""
COUNTS = INDEXED + 1


class PairIndex(NamedTuple):
    """The set of joined pairs (`pairs`), and a mark of each edge."""

    table: Int64
    marks: UInt8


class BatchChanges(NamedTuple):
    """What a batch changed. `slots` has one more than the slot of a vertex, 0 for most; `vertex` to
    `left_start` go by slot, `left_vertex` to `left_kind` by what left, and `low` to `lost` by
    rank; `place` leads from pairs to ranks. `pairs_at` counts the changed pairs of a
    vertex, and `partner` is its other end in the last. `known` is where a changed pair stood in the
    table of pairs before the batch.
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


class TouchedVertices(NamedTuple):
    """Vertices whose accumulators changed. `entry` says where a vertex may stand: it does if that
    entry is in use and names it.
    """

    entry: Int32
    vertex: Int32
    doubt: UInt8


class WordRows(NamedTuple):
    """Words, as ints and as floats: one memory."""

    whole: Int64
    real: Float64


class Walking(NamedTuple):
    """All arrays of one maintainer, but for properties and parameters."""

    graph: Adjacency
    pairs: PairIndex
    changed: BatchChanges
    ordered: Ordered
    touched: TouchedVertices
    sums: WordRows
    states: WordRows
    work: WordRows
    """Room for one row of state."""
    globals: WordRows
    global_values: WordRows
    reported: WordRows
    journal: Int64
    beside: Int64
    counts: Int64
    fault: Int64


READ = places(Walking)
"""Where edge properties and parameters begin."""
walking_at = record_reader(Walking, strided=("slots", "entry"))
"""`slots` and `entry` lie side by side: whoever looks at the one of a vertex wants the other."""


OUTSIDE, ENDLESS = 1, 2
"""Faults: an index outside of its array, which follows with the length; a vertex that never stands
still."""


@joined_kernel
def within(walking: Walking, index: int, length: int) -> int:
    """The index, or 0 and a noted fault where an array of that length has no such element."""
    if 0 <= index < length:
        return index
    walking.fault[0] = OUTSIDE
    walking.fault[1] = index
    walking.fault[2] = length
    return 0


SMALL = 2.0**-64
"""A sum may be this share of what went through it: its error, 2^-104 of that, is still 2^-40."""

INFINITIES = LIMBS
"""Behind the limbs of an exact sum: how often infinity, minus infinity and NaN were sent."""
EXACT_WORDS = LIMBS + 3


PAIR_WORD, EDGE_MARK, SUM_WORD, STATE_WORD, GLOBAL_WORD, COUNTER, HIGHEST = range(7)
KIND_BITS = 3
"""What an entry of the journal is of: a pair (its word, with the bits that it had), the mark of an
edge, a word of the accumulators or the state of vertices, or of the accumulators of the whole
graph, one of `counts`, or the highest edge of ordered rows."""


@joined_kernel
def note_word(walking: Walking, kind: int, index: int, old: int) -> None:
    """Write into the journal what stood somewhere before the advance changed it."""
    at = walking.counts[JOURNALED]
    walking.journal[at] = (np.int64(index) << KIND_BITS) | kind
    walking.journal[at + 1] = old
    walking.counts[JOURNALED] = at + 2


@joined_kernel
def touch(walking: Walking, vertex: int, width: int) -> int:
    """The entry of a vertex whose row is about to change; notes the row if it is the first time."""
    touched, count = walking.touched, walking.counts[TOUCHED]
    entry = touched.entry[vertex]
    if entry < count and touched.vertex[entry] == vertex:
        return int(entry)
    touched.entry[vertex] = count
    touched.vertex[count] = vertex
    touched.doubt[count] = 0
    for at in range(vertex * width, (vertex + 1) * width):
        note_word(walking, SUM_WORD, at, walking.sums.whole[at])
    walking.counts[TOUCHED] = count + 1
    return int(count)


@joined_kernel
def note_doubt(walking: Walking, entry: int) -> None:
    """Mark a vertex to be gathered anew; entry -1 is the whole graph."""
    if entry < 0:
        walking.counts[DOUBT] = 1
    else:
        walking.touched.doubt[entry] = 1


@joined_kernel
def send_float(walking: Walking, real: Float64, at: int, value: float, entry: int) -> None:
    """Add to the sum of floats of a vertex; minus the value takes it out."""
    add_to_sum(real, at, value)
    real[at + 2] += abs(value)
    if not abs(real[at]) >= real[at + 2] * SMALL or not math.isfinite(real[at]):
        note_doubt(walking, entry)


@inner_kernel
def gather_float(real: Float64, at: int, value: float) -> None:
    """Add to a sum of floats while it is gathered anew."""
    add_to_sum(real, at, value)
    real[at + 2] += abs(value)


@inner_kernel
def send_exactly(whole: Int64, at: int, value: float, sign: int) -> None:
    """Add to an exact sum, or take out of it."""
    if math.isfinite(value):
        add_exactly(whole[at : at + LIMBS], value, sign)
    elif value != value:
        whole[at + INFINITIES + 2] += sign
    elif value > 0:
        whole[at + INFINITIES] += sign
    else:
        whole[at + INFINITIES + 1] += sign


@joined_kernel
def multiply(walking: Walking, rows: WordRows, at: int, value: float, sign: int) -> None:
    """Take a factor into the product of floats of the whole graph, or out of it.

    No factor can be told apart again in a product that is infinite.
    """
    if not (math.isfinite(value) and math.isfinite(rows.real[at])):
        note_doubt(walking, -1)
    if sign > 0:
        multiply_floats(rows, at, value)
    else:
        divide_floats(rows, at, value)


@inner_kernel
def multiply_whole(whole: Int64, at: int, value: int, sign: int) -> None:
    """Take a factor into the product of ints of the whole graph, or out of it."""
    if sign > 0:
        multiply_ints(whole, at, value)
    else:
        divide_ints(whole, at, value)


@joined_kernel
def report(walking: Walking, width: int) -> int:
    """Where the next reported row begins; -1 where there is no room, but it is counted."""
    count = walking.counts[REPORTED]
    walking.counts[REPORTED] = count + 1
    if (count + 1) * width > len(walking.reported.whole):
        return -1
    return int(count * width)
