"""What the functions of a program need besides arithmetic: checked indices, comparisons."""

from __future__ import annotations

import math

from graphtide.kernels.jit import inner_kernel
from graphtide.kernels.synchronous.records import Context

OUTSIDE = 1
"""The fault of an index outside of its array; the index and the length follow."""


@inner_kernel
def within(context: Context, index: int, length: int) -> int:
    """The index; noted as a fault, and 0, if an array of that length has no such element."""
    if 0 <= index < length:
        return index
    context.fault[0] = OUTSIDE
    context.fault[1] = index
    context.fault[2] = length
    return 0


@inner_kernel
def float_moved(before: float, after: float, tolerance: float) -> bool:
    """True if a float moved by more than a share of itself; NaN stays where it is."""
    if before == after or (before != before and after != after):
        return False
    if tolerance == 0.0 or math.isinf(before) or math.isinf(after):
        return True
    return not abs(before - after) <= tolerance * max(abs(before), abs(after))
