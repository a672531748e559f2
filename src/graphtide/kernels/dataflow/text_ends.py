"""First and last records by texts: codes have no order, so labels decide among those alike.

Each text of a record stands behind a word of its first bytes, which orders the way texts do as far
as it goes. A record's words up to the first such word are its *head*: records are read in the order
of heads, and only those whose head is that of the last one needed are compared by labels, which
stand in a table by code and order the way the texts do. So a look goes through what is needed and
what begins alike, and the answer never depends on how texts are numbered.

OP_TEXTS names a block: how many words a head has, and for each word of a record 1 where it is the
code of a text, and 0 for any other.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.batches import compare_keys
from graphtide.kernels.dataflow.layout import BUCKET_COUNT, LABELS, RECORD, WANTED, Memory
from graphtide.kernels.dataflow.lists import list_count, list_rows
from graphtide.kernels.dataflow.rows import sort_rows
from graphtide.kernels.jit import inner_kernel


@inner_kernel
def stands_with_last(memory: Memory, texts: int, values: int) -> bool:
    """True where the head of the record that was found is that of the last one in WANTED."""
    if texts == 0:
        return False
    last = list_rows(memory, WANTED) + (list_count(memory, WANTED) - 1) * (values + 1)
    return compare_keys(memory, last, memory[RECORD], memory[texts]) == 0


@inner_kernel
def keep_ends(memory: Memory, texts: int, wanted: int, values: int, downward: bool) -> None:
    """Leave of WANTED the first records by their texts, as many as are wanted, in order of words.

    They are chosen one by one: what was read beyond them begins alike, and is short as a rule.
    """
    width = values + 1
    count, kept, left = list_count(memory, WANTED), 0, wanted
    rows = list_rows(memory, WANTED)
    while left > 0 and kept < count:
        best = kept
        for other in range(kept + 1, count):
            order = _compare(memory, texts, rows + other * width, rows + best * width, values)
            if (order > 0) if downward else (order < 0):
                best = other
        _swap(memory, rows + kept * width, rows + best * width, width)
        times = rows + kept * width + values
        memory[times] = min(memory[times], left)
        left -= memory[times]
        kept += 1
    memory[memory[WANTED] + BUCKET_COUNT] = kept
    sort_rows(memory, rows, kept, width, 0)


@inner_kernel
def _compare(memory: Memory, texts: int, one: int, other: int, values: int) -> int:
    """-1, 0 or 1 as a record comes before, with or after another."""
    for word in range(values):
        left, right = memory[one + word], memory[other + word]
        if left == right:
            continue
        if memory[texts + 1 + word] != 0:
            left, right = memory[memory[LABELS] + left], memory[memory[LABELS] + right]
        return -1 if left < right else 1
    return 0


@inner_kernel
def _swap(memory: Memory, one: int, other: int, width: int) -> None:
    for word in range(width):
        kept = memory[one + word]
        memory[one + word] = memory[other + word]
        memory[other + word] = kept
