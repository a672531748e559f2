"""Add up the rows of a bucket where they stand: equal records of one version become one row.

Rows find their like by a table of hashes, so it takes one pass and no sorting. What is left keeps
the order in which it came. The table is two words a row, and is gone afterwards.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.diffs import can_be_held
from graphtide.kernels.dataflow.layout import BUCKET_COUNT, BUCKET_ROWS, Memory
from graphtide.kernels.dataflow.memory import allocate_zeros, copy_words, free
from graphtide.kernels.jit import inner_kernel, joined_kernel

_SPREAD = -7046029254386353131


@inner_kernel
def add_up_bucket(memory: Memory, bucket: int, width: int) -> None:
    """Leave one row of so many words for all that differ in their last word alone, the diff."""
    count = memory[bucket + BUCKET_COUNT]
    rows = bucket + BUCKET_ROWS
    size = 1
    while size < 2 * count:
        size *= 2
    table = allocate_zeros(memory, size)
    kept = 0
    for number in range(count):
        row = rows + number * width
        place = hash_words(memory, row, width - 1) & (size - 1)
        while memory[table + place] != 0:
            other = rows + (memory[table + place] - 1) * width
            diff = memory[other + width - 1] + memory[row + width - 1]
            # Rows whose sum cannot be held stay apart: the operator that takes them will tell.
            if can_be_held(diff) and same_words(memory, row, other, width - 1):
                memory[other + width - 1] = diff
                break
            place = (place + 1) & (size - 1)
        if memory[table + place] == 0:
            if kept != number:
                copy_words(memory, row, rows + kept * width, width)
            kept += 1
            memory[table + place] = kept
    free(memory, table)
    memory[bucket + BUCKET_COUNT] = _without_zeros(memory, rows, kept, width)


@joined_kernel
def hash_words(memory: Memory, row: int, words: int) -> int:
    """A number that differs for different words, as a rule."""
    found = 0
    for word in range(words):
        found = (found ^ memory[row + word]) * _SPREAD
        found ^= found >> 29
    return found


@joined_kernel
def same_words(memory: Memory, one: int, other: int, words: int) -> bool:
    """True where so many words are equal."""
    same = True
    for word in range(words):
        if memory[one + word] != memory[other + word]:
            same = False
            break
    return same


@joined_kernel
def _without_zeros(memory: Memory, rows: int, count: int, width: int) -> int:
    """Move rows whose diff is not 0 to the front; how many there are."""
    kept = 0
    for number in range(count):
        if memory[rows + number * width + width - 1] != 0:
            if kept != number:
                copy_words(memory, rows + number * width, rows + kept * width, width)
            kept += 1
    return kept
