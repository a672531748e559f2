"""Rows of accumulators while walks come and go: what was touched, and how each kind takes a walk.

The row of a vertex is saved before it changes for the first time. A vertex whose accumulator cannot
give a walk back is in *doubt*, and its walks are gathered anew behind the last term:

- a least value loses a walk that is at least as good. Terms send walks that are in neither version,
  which cancel out; whichever comes first of such a walk's two messages, one of them finds it at
  least as good as what is kept, so that it never stays;
- a product loses a walk;
- a sum of floats meets an infinity or NaN, or becomes so small beside what went through it that its
  rounding error shows. The sum has twice the digits of a float.
"""

from __future__ import annotations

import math

from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.summaries.exact_sums import LIMBS, add_exactly
from graphtide.kernels.synchronous.reversible import (
    add_to_sum,
    divide_floats,
    divide_ints,
    multiply_floats,
    multiply_ints,
)
from graphtide.kernels.walks.records import (
    DOUBT,
    REPORTED,
    TOUCHED,
    Float64,
    Int64,
    Rows,
    Walking,
)

SMALL = 2.0**-64
"""A sum may be this share of what went through it: its error, 2^-104 of that, is still 2^-40."""

INFINITIES = LIMBS
"""Behind the limbs of an exact sum: how often infinity, minus infinity and NaN were sent."""
EXACT_WORDS = LIMBS + 3


@joined_kernel
def touch(walking: Walking, vertex: int, width: int) -> int:
    """The entry of a vertex whose row is about to change; saves the row if it is the first time."""
    touched, count = walking.touched, walking.counts[TOUCHED]
    entry = touched.entry[vertex]
    if entry < count and touched.vertex[entry] == vertex:
        return int(entry)
    touched.entry[vertex] = count
    touched.vertex[count] = vertex
    touched.doubt[count] = 0
    for at in range(width):
        touched.sums[count * width + at] = walking.sums.whole[vertex * width + at]
    walking.counts[TOUCHED] = count + 1
    return int(count)


@joined_kernel
def note_doubt(walking: Walking, entry: int) -> None:
    """Let a vertex be gathered anew; entry -1 is the whole graph."""
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
    """Add to a sum of floats that is taken anew."""
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
def multiply(walking: Walking, rows: Rows, at: int, value: float, sign: int) -> None:
    """Take a factor into the product of floats of the whole graph, or out of it."""
    if not math.isfinite(value):
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
