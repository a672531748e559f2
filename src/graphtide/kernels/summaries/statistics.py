"""Statistics of the results of every view of a plan, kept from what changes between views.

A plan is walked move by move. Numbers are counted, summed and compared; labels of components are
counted and measured; the greatest values and the places of some vertices are found. Each costs what
changes, near enough, and not the number of vertices.

Sums of floating-point numbers are made without any rounding, so that what was added can be taken
away. A number is a whole one of 53 bits, shifted by its exponent. The sum is kept as limbs of 32
bits over the whole range of exponents: limb n counts 2**(32 n - 1074). Each is held in 64 bits,
which leaves room for a thousand million numbers before one would have to be carried.

The least and the greatest of many values are kept by blocks. A value that was the least or the
greatest of its block leaves the block stale; it is looked through again when somebody asks. All
others cost a comparison or two. Leaders come greatest first, the same values in the order of their
vertices, NaN last; blocks whose greatest value is too small are not looked into.

For each size of a component it is known how many labels have it. The largest size is found by going
down from the last one: whenever it falls by so much, at least as many vertices have changed their
label, so that a move costs no more than its changes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel, lean_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]


class Moves(NamedTuple):
    """Moves from version to version: move n has the rows from start[n] to stop[n].

    Where `back[n]`, it goes from new values to old ones. After it the version is that of the view
    `slot[n]`, or nobody's where that is -1.
    """

    start: Int64
    stop: Int64
    back: Bool
    slot: Int64


class LabelCounts(NamedTuple):
    """How many vertices have each label, how many labels have so many, and two numbers.

    `known[0]` is how many labels there are, `known[1]` no less than the size of the largest.
    """

    vertices: Int64
    labels: Int64
    known: Int64


class Blocks(NamedTuple):
    """Values, and the least and the greatest of each block of 2**shift of them.

    Both are those of an empty block where none counts; they may be wrong where a block is stale.
    """

    values: Float64
    least: Float64
    greatest: Float64
    stale: Bool
    shift: int


class NumberTotals(NamedTuple):
    """What adds up: `limbs`, the exact sum; `counts[0]` numbers, `counts[1]` that are reached.

    What is not reached has the value `missing`.
    """

    limbs: Int64
    counts: Int64
    missing: float


class FoundNumbers(NamedTuple):
    """A row a view: its sum by limbs, its counts, its least and greatest value."""

    limbs: Int64
    counts: Int64
    extremes: Float64


class PlaceQuestions(NamedTuple):
    """Vertices whose places are asked for, those of view n from start[n] to start[n + 1]."""

    start: Int64
    vertices: Int64


class FoundLeaders(NamedTuple):
    """A row a view: its first vertices and their values; and the places that were asked for."""

    vertices: Int64
    values: Float64
    places: Int64


LIMBS = 67
LOWEST_BIT = -1074

_LOW = (1 << 32) - 1
_MANTISSA = (1 << 52) - 1


@lean_kernel
def add_exactly(limbs: Int64, number: float, sign: int) -> None:
    """Add a finite number (`sign` 1), or take it away (-1)."""
    bits = np.float64(number).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    whole = bits & _MANTISSA
    if exponent:
        whole |= _MANTISSA + 1
        exponent -= 1
    if bits < 0:
        sign = -sign
    limb, shift = exponent >> 5, exponent & 31
    low, high = (whole & _LOW) << shift, (whole >> 32) << shift
    limbs[limb] += sign * (low & _LOW)
    limbs[limb + 1] += sign * ((low >> 32) + (high & _LOW))
    limbs[limb + 2] += sign * (high >> 32)


@lean_kernel
def put_value(blocks: Blocks, place: int, value: float) -> None:
    """Put a value in place of another. NaN is neither less nor greater than anything."""
    block = place >> blocks.shift
    before = blocks.values[place]
    blocks.values[place] = value
    if before <= blocks.least[block] or before >= blocks.greatest[block]:
        blocks.stale[block] = True
    if value < blocks.least[block]:
        blocks.least[block] = value
    if value > blocks.greatest[block]:
        blocks.greatest[block] = value


@lean_kernel
def look_through(blocks: Blocks, block: int) -> None:
    """Find the least and the greatest value of a stale block anew."""
    least, greatest = math.inf, -math.inf
    start = block << blocks.shift
    for place in range(start, min(start + (1 << blocks.shift), len(blocks.values))):
        value = blocks.values[place]
        if value < least:
            least = value
        if value > greatest:
            greatest = value
    blocks.least[block], blocks.greatest[block] = least, greatest
    blocks.stale[block] = False


def blocks_of(values: Float64) -> Blocks:
    """Blocks about as long as there are blocks, all of them stale. Copies the values."""
    own = np.array(values, np.float64)
    shift = max(4, len(own).bit_length() // 2)
    count = -(-len(own) >> shift)
    empty = np.full(count, np.inf), np.full(count, -np.inf)
    return Blocks(own, *empty, np.ones(count, np.bool_), shift)


@kernel
def follow_labels(moves: Moves, old: Int64, new: Int64, kept: LabelCounts, found: Int64) -> None:
    """Make all moves; `found` has a row a view: how many labels, the largest, those of one vertex.

    O(changes).
    """
    count, labels, known = kept
    for at in range(len(moves.start)):
        back = moves.back[at]
        for row in range(moves.start[at], moves.stop[at]):
            left, joined = (new[row], old[row]) if back else (old[row], new[row])
            size = count[left]
            count[left] = size - 1
            labels[size] -= 1
            labels[size - 1] += 1
            known[0] -= size == 1
            size = count[joined] + 1
            count[joined] = size
            labels[size - 1] -= 1
            labels[size] += 1
            known[0] += size == 1
            known[1] = max(known[1], size)
        slot = moves.slot[at]
        if slot >= 0:
            while known[1] > 0 and labels[known[1]] == 0:
                known[1] -= 1
            found[slot, 0], found[slot, 1], found[slot, 2] = known[0], known[1], labels[1]


@kernel
def add_numbers(values: Float64, totals: NumberTotals) -> None:
    """Count all values in, where nothing is known yet."""
    for value in values:
        _count(totals, value, 1)


@kernel
def follow_numbers(
    moves: Moves,
    changes: tuple[Int32, Float64, Float64],
    totals: NumberTotals,
    blocks: Blocks,
    found: FoundNumbers,
) -> None:
    """Make all moves, and tell what there is to tell of each view. O(changes), near enough.

    `changes` are vertices with old and new values. The blocks have NaN where a value is infinite.
    """
    vertices, old, new = changes
    for at in range(len(moves.start)):
        back = moves.back[at]
        for row in range(moves.start[at], moves.stop[at]):
            left, joined = (new[row], old[row]) if back else (old[row], new[row])
            _count(totals, left, -1)
            _count(totals, joined, 1)
            put_value(blocks, vertices[row], joined if math.isfinite(joined) else math.nan)
        slot = moves.slot[at]
        if slot >= 0:
            _tell(totals, blocks, found, slot)


@lean_kernel
def _count(totals: NumberTotals, value: float, sign: int) -> None:
    if value != totals.missing:
        totals.counts[1] += sign
    if math.isfinite(value):
        totals.counts[0] += sign
        add_exactly(totals.limbs, value, sign)


@lean_kernel
def _tell(totals: NumberTotals, blocks: Blocks, found: FoundNumbers, slot: int) -> None:
    least, greatest = math.inf, -math.inf
    for block in range(len(blocks.least)):
        if blocks.stale[block]:
            look_through(blocks, block)
        least = min(least, blocks.least[block])
        greatest = max(greatest, blocks.greatest[block])
    found.extremes[slot, 0], found.extremes[slot, 1] = least, greatest
    found.counts[slot, 0], found.counts[slot, 1] = totals.counts[0], totals.counts[1]
    for limb in range(len(totals.limbs)):
        found.limbs[slot, limb] = totals.limbs[limb]


@kernel
def follow_leaders(
    moves: Moves,
    changes: tuple[Int32, Float64, Float64],
    blocks: Blocks,
    asked: PlaceQuestions,
    found: FoundLeaders,
) -> None:
    """Make all moves; of each view tell the first vertices, and the places asked for, from 1 on."""
    vertices, old, new = changes
    for at in range(len(moves.start)):
        back = moves.back[at]
        for row in range(moves.start[at], moves.stop[at]):
            put_value(blocks, vertices[row], old[row] if back else new[row])
        slot = moves.slot[at]
        if slot < 0:
            continue
        for block in range(len(blocks.stale)):
            if blocks.stale[block]:
                look_through(blocks, block)
        _find_leaders(blocks, found.vertices[slot])
        for place in range(found.vertices.shape[1]):
            found.values[slot, place] = blocks.values[found.vertices[slot, place]]
        for question in range(asked.start[slot], asked.start[slot + 1]):
            found.places[question] = _place(blocks, asked.vertices[question])


@lean_kernel
def _find_leaders(blocks: Blocks, leaders: Int64) -> None:
    """Vertices come in order, so that one is put behind those that have the same value."""
    values, most, full = blocks.values, len(leaders), 0
    for block in range(len(blocks.greatest)):
        if most == 0 or (full == most and blocks.greatest[block] <= values[leaders[most - 1]]):
            continue
        start = block << blocks.shift
        for vertex in range(start, min(start + (1 << blocks.shift), len(values))):
            if full == most and not _before(values[vertex], values[leaders[most - 1]]):
                continue
            full = min(full + 1, most)
            at = full - 1
            while at > 0 and _before(values[vertex], values[leaders[at - 1]]):
                leaders[at] = leaders[at - 1]
                at -= 1
            leaders[at] = vertex


@lean_kernel
def _place(blocks: Blocks, vertex: int) -> int:
    values, place = blocks.values, 1
    mine = values[vertex]
    for block in range(len(blocks.greatest)):
        if blocks.greatest[block] < mine:
            continue
        start = block << blocks.shift
        for other in range(start, min(start + (1 << blocks.shift), len(values))):
            earlier = other < vertex and not _before(mine, values[other])
            if earlier or _before(values[other], mine):
                place += 1
    return place


@lean_kernel
def _before(one: float, other: float) -> bool:
    """True where a value comes before another whatever their vertices."""
    return one > other or (one == one and other != other)
