"""What a walk program can do wrong while it runs, noted for whoever called the kernel."""

from __future__ import annotations

from graphtide.kernels.jit import joined_kernel
from graphtide.kernels.walks.records import Walking

OUTSIDE, ENDLESS = 1, 2
"""Faults: an index outside of its array, which follows with the length; a vertex that never stands
still."""


@joined_kernel
def within(walking: Walking, index: int, length: int) -> int:
    """The index; noted as a fault, and 0, if an array of that length has no such element."""
    if 0 <= index < length:
        return index
    walking.fault[0] = OUTSIDE
    walking.fault[1] = index
    walking.fault[2] = length
    return 0
