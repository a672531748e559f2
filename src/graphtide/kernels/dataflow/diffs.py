"""Diffs that are added up and multiplied: exact, or an error, never wrapped around.

Every diff that the machine holds, a multiplicity or one times a weight, is below 2^62 in either
direction. Two such numbers can be added without leaving a word, and one comparison then tells
whether the sum may be held. Products may leave a word by far, so they are looked at before: by the
bits of the largest factors, once for a batch or a chunk, and only where these are many one by one.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import (
    BATCH_LEAST_DIFF,
    BATCH_MOST_DIFF,
    Memory,
)
from graphtide.kernels.dataflow.memory import bit_length
from graphtide.kernels.dataflow.wide import product_overflows
from graphtide.kernels.jit import Index, inner_kernel, joined_kernel

END_OF_DIFFS = 1 << 62
"""No diff is this large, of either sign."""
TOO_OFTEN = "records are there too often"
TAME_BITS = 61
"""Factors that have so many bits together have a product that may be held."""


@joined_kernel
def can_be_held(diff: int) -> bool:
    """True where a sum of two diffs is one."""
    return -END_OF_DIFFS < diff < END_OF_DIFFS


@joined_kernel
def held(diff: int) -> int:
    """A sum of two diffs; an error where it is none itself."""
    if not can_be_held(diff):
        raise ArithmeticError(TOO_OFTEN)
    return diff


@inner_kernel
def product_of(diff: int, times: int) -> int:
    """A diff times a number; an error where that is no diff."""
    if product_overflows(diff, times):
        raise ArithmeticError(TOO_OFTEN)
    return held(diff * times)


@joined_kernel
def bits_of_batch(memory: Memory, batch: int) -> int:
    """Bits of the largest diff of a batch, of either sign."""
    return bit_length(max(memory[batch + BATCH_MOST_DIFF], -memory[batch + BATCH_LEAST_DIFF]))


@joined_kernel
def is_tame(memory: Memory, diffs: int, times: int, rows: int) -> bool:
    """True where no product of a column of diffs and another one can be too large."""
    bits = bits_of_column(memory, diffs, rows) + bits_of_column(memory, times, rows)
    return bits <= TAME_BITS


@inner_kernel
def bits_of_column(memory: Memory, column: int, rows: int) -> int:
    """Bits of the largest word of a column: none is beyond two to their power, of either sign."""
    source = Index(column)
    found = 0
    for row in range(Index(rows)):
        word = memory[source + row]
        found |= word ^ (word >> 63)
    return bit_length(found)
