"""Sum, least, greatest and number of the finite values, kept from those that change."""

from __future__ import annotations

import math

from graphtide.kernels.jit import kernel, lean_kernel
from graphtide.kernels.summaries.exact_sums import add_exactly
from graphtide.kernels.summaries.records import (
    Blocks,
    Float64,
    FoundNumbers,
    Int32,
    Moves,
    NumberTotals,
)
from graphtide.kernels.summaries.value_blocks import look_through, put_value


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
