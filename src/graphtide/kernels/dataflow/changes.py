"""A few changes of an output, added up and in order."""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.numbers import can_be_held
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

BEYOND = -1


@bare_kernel
def add_up_changes(rows: Memory, width: int) -> int:
    """Add up rows of words, version and diff in place, ascending by version and words.

    How many are left; BEYOND where a sum is no diff. Takes the square of the rows: they are few.
    """
    kept = 0
    for number in range(len(rows) // width):
        place = kept
        while place > 0 and _order(rows, place - 1, number, width) > 0:
            place -= 1
        if place > 0 and _order(rows, place - 1, number, width) == 0:
            total = place * width - 1
            rows[total] += rows[number * width + width - 1]
            if not can_be_held(rows[total]):
                return BEYOND
        else:
            _insert(rows, number, place, kept, width)
            kept += 1
    return _without_zeros(rows, kept, width)


@inner_kernel
def _order(rows: Memory, one: int, other: int, width: int) -> int:
    """-1, 0 or 1 as one row comes before, with or behind another."""
    difference = rows[one * width + width - 2] - rows[other * width + width - 2]
    for word in range(width - 2):
        if difference != 0:
            break
        left, right = rows[one * width + word], rows[other * width + word]
        difference = (1 if left > right else 0) - (1 if left < right else 0)
    return (1 if difference > 0 else 0) - (1 if difference < 0 else 0)


@joined_kernel
def _insert(rows: Memory, number: int, place: int, kept: int, width: int) -> None:
    """Put a row, which stands behind those that are kept, at a place among them."""
    for word in range(width):
        value = rows[number * width + word]
        for at in range(kept, place, -1):
            rows[at * width + word] = rows[(at - 1) * width + word]
        rows[place * width + word] = value


@joined_kernel
def _without_zeros(rows: Memory, count: int, width: int) -> int:
    """Leave out rows whose diff is 0; how many are left."""
    kept = 0
    for number in range(count):
        if rows[number * width + width - 1] != 0:
            for word in range(width):
                rows[kept * width + word] = rows[number * width + word]
            kept += 1
    return kept
