"""The least and the greatest of many values that change: by blocks, of which few are looked at.

A value that was the least or the greatest of its block leaves the block stale; it is looked
through again when somebody asks. All others cost a comparison or two.
"""

from __future__ import annotations

import math

import numpy as np

from graphtide.kernels.jit import lean_kernel
from graphtide.kernels.summaries.records import Blocks, Float64


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
