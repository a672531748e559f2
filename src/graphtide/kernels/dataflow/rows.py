"""Rows of words: sort them, and add up equal ones.

Rows have one width, and compare word by word, the last word under a mask: what the mask leaves
out, a diff or a number, goes with the row. Sorting takes n log n at most, and little more than a
look where rows come in order or in two runs, as those of one key from two batches do.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.diffs import held
from graphtide.kernels.dataflow.frames import compare_rows
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import allocate, copy_words, free
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def sort_rows(memory: Memory, rows: int, count: int, width: int, order: int) -> None:
    """Sort rows in place, stably."""
    middle = _end_of_run(memory, rows, 0, count, width, order)
    if middle == count:
        return
    work = allocate(memory, count * width)
    if _end_of_run(memory, rows, middle, count, width, order) == count:
        copy_words(memory, rows, work, middle * width)
        # What is left of the right run when the left one is used up stands where it belongs.
        _merge(memory, work, middle, rows + middle * width, count - middle, rows, width, order)
        free(memory, work)
        return
    source, target, run = rows, work, 1
    while run < count:
        for start in range(0, count, 2 * run):
            left = min(run, count - start)
            right = min(run, count - start - left)
            one = source + start * width
            other = one + left * width
            _merge(memory, one, left, other, right, target + start * width, width, order)
        source, target = target, source
        run *= 2
    if source != rows:
        copy_words(memory, source, rows, count * width)
    free(memory, work)


@joined_kernel
def _end_of_run(memory: Memory, rows: int, first: int, count: int, width: int, order: int) -> int:
    """The end of the rows that ascend from a first one on."""
    row = first + 1
    while row < count:
        at = rows + row * width
        if compare_rows(memory, at - width, at, width, order) > 0:
            break
        row += 1
    return row


@inner_kernel
def _merge(
    memory: Memory,
    one: int,
    ones: int,
    other: int,
    others: int,
    target: int,
    width: int,
    order: int,
) -> None:
    """Merge two sorted runs; the target may be that of which the second is the end."""
    one_end, other_end = one + ones * width, other + others * width
    while one < one_end and other < other_end:
        if compare_rows(memory, one, other, width, order) <= 0:
            copy_words(memory, one, target, width)
            one += width
        else:
            copy_words(memory, other, target, width)
            other += width
        target += width
    copy_words(memory, one, target, one_end - one)
    if one == one_end and target != other:
        copy_words(memory, other, target, other_end - other)


@inner_kernel
def add_equal_bodies(memory: Memory, rows: int, count: int, body: int) -> int:
    """Add up equal neighbours of plain rows, diff last, and drop zeros; how many are left."""
    kept = 0
    row = 0
    while row < count:
        source = rows + row * body
        diff = memory[source + body - 1]
        row += 1
        while row < count and compare_rows(memory, source, rows + row * body, body, 0) == 0:
            diff = held(diff + memory[rows + row * body + body - 1])
            row += 1
        if diff != 0:
            target = rows + kept * body
            copy_words(memory, source, target, body - 1)
            memory[target + body - 1] = diff
            kept += 1
    return kept
