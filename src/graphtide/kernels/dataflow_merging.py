"""Merging two batches into one, key by key, as far as the fuel lasts.

Merging compacts: versions are replaced by their representatives before all readers, and rows that
have become equal are added up. A merge that is not done leaves both batches as they are; its
result counts once it is whole.
"""

from __future__ import annotations

from graphtide.kernels.dataflow_batches import begin_batch, compare_keys, finish_batch
from graphtide.kernels.dataflow_layout import (
    BATCH_KEYS,
    BATCH_KEYS_AT,
    BATCH_ROWS,
    BATCH_ROWS_AT,
    BATCH_STARTS_AT,
    SLOT_NEWER,
    SLOT_NEWER_AT,
    SLOT_OLDER,
    SLOT_OLDER_AT,
    SLOT_RESULT,
    SLOT_SIZE,
    SMALL_SLOT,
    TRACE_BODY_WORDS,
    TRACE_KEY_WORDS,
    TRACE_MERGED,
    TRACE_POSITION_AT,
    Memory,
)
from graphtide.kernels.dataflow_memory import allocate, copy_words, free
from graphtide.kernels.dataflow_times import representative
from graphtide.kernels.jit import inlined_kernel, inner_kernel

ALL_OF_IT = 1 << 60
"""Fuel for a merge that has to end now."""


@inner_kernel
def begin_merge(memory: Memory, trace: int, left: int, right: int) -> None:
    """Put the batch of the right slot beside that of the left one."""
    older, newer = memory[left + SLOT_OLDER], memory[right + SLOT_OLDER]
    if older == 0 or newer == 0:
        memory[left + SLOT_OLDER] = older if newer == 0 else newer
        memory[left + SLOT_SIZE] += memory[right + SLOT_SIZE]
        return
    memory[left + SLOT_NEWER] = newer
    memory[left + SLOT_OLDER_AT] = 0
    memory[left + SLOT_NEWER_AT] = 0
    memory[left + SLOT_SIZE] = memory[older + BATCH_ROWS] + memory[newer + BATCH_ROWS]
    memory[left + SLOT_RESULT] = begin_batch(
        memory,
        trace,
        memory[older + BATCH_KEYS] + memory[newer + BATCH_KEYS],
        memory[left + SLOT_SIZE],
    )


@inner_kernel
def merge_on(memory: Memory, trace: int, slot: int, fuel: int) -> None:
    """Carry the merge of a slot on by about so many rows, key by key; end it where it is done."""
    result = memory[slot + SLOT_RESULT]
    if result == 0:
        return
    older, newer = memory[slot + SLOT_OLDER], memory[slot + SLOT_NEWER]
    left, right = memory[slot + SLOT_OLDER_AT], memory[slot + SLOT_NEWER_AT]
    lefts, rights = memory[older + BATCH_KEYS], memory[newer + BATCH_KEYS]
    left_keys, right_keys = memory[older + BATCH_KEYS_AT], memory[newer + BATCH_KEYS_AT]
    words = memory[trace + TRACE_KEY_WORDS]
    while fuel > 0 and (left < lefts or right < rights):
        which = -1 if right >= rights else 1
        if left < lefts and right < rights:
            which = compare_keys(
                memory, left_keys + left * words, right_keys + right * words, words
            )
        key = left_keys + left * words if which <= 0 else right_keys + right * words
        add_key(memory, trace, result, key)
        if which <= 0:
            fuel -= add_rows(memory, trace, result, older, left)
            left += 1
        if which >= 0:
            fuel -= add_rows(memory, trace, result, newer, right)
            right += 1
        close_key(memory, trace, result)
    memory[slot + SLOT_OLDER_AT] = left
    memory[slot + SLOT_NEWER_AT] = right
    if left == lefts and right == rights:
        free(memory, older)
        free(memory, newer)
        memory[slot + SLOT_OLDER] = 0
        memory[slot + SLOT_NEWER] = 0
        end_merge(memory, trace, slot)


@inner_kernel
def end_merge(memory: Memory, trace: int, slot: int) -> None:
    """Make the result the batch of its slot, in a smaller block where much was cancelled."""
    result = memory[slot + SLOT_RESULT]
    keys, rows = memory[result + BATCH_KEYS], memory[result + BATCH_ROWS]
    memory[slot + SLOT_RESULT] = 0
    memory[slot + SLOT_SIZE] = rows
    memory[trace + TRACE_MERGED] += rows
    if rows == 0:
        free(memory, result)
        return
    words, body = memory[trace + TRACE_KEY_WORDS], memory[trace + TRACE_BODY_WORDS]
    room = memory[result + BATCH_STARTS_AT] - memory[result + BATCH_KEYS_AT]
    if 4 * (keys * words + rows * body) < 3 * (room + rows * body) or rows < SMALL_SLOT:
        smaller = begin_batch(memory, trace, keys, rows)
        for part, size in ((BATCH_KEYS_AT, keys * words), (BATCH_ROWS_AT, rows * body)):
            copy_words(memory, memory[result + part], memory[smaller + part], size)
        copy_words(
            memory, memory[result + BATCH_STARTS_AT], memory[smaller + BATCH_STARTS_AT], keys
        )
        memory[smaller + BATCH_KEYS] = keys
        memory[smaller + BATCH_ROWS] = rows
        free(memory, result)
        result = smaller
    finish_batch(memory, trace, result)
    memory[slot + SLOT_OLDER] = result


@inner_kernel
def add_key(memory: Memory, trace: int, result: int, key: int) -> None:
    """Write one more key; it counts only once rows of it are left (see `close_key`)."""
    words = memory[trace + TRACE_KEY_WORDS]
    number = memory[result + BATCH_KEYS]
    copy_words(memory, key, memory[result + BATCH_KEYS_AT] + number * words, words)
    memory[memory[result + BATCH_STARTS_AT] + number] = memory[result + BATCH_ROWS]


@inner_kernel
def add_rows(memory: Memory, trace: int, result: int, batch: int, number: int) -> int:
    """Append the rows of one key with representative versions; how many they were."""
    body = memory[trace + TRACE_BODY_WORDS]
    version_at = memory[trace + TRACE_POSITION_AT] + 1
    starts = memory[batch + BATCH_STARTS_AT] + number
    first, last = memory[starts], memory[starts + 1]
    source = memory[batch + BATCH_ROWS_AT] + first * body
    target = memory[result + BATCH_ROWS_AT] + memory[result + BATCH_ROWS] * body
    copy_words(memory, source, target, (last - first) * body)
    for _ in range(last - first):
        memory[target + version_at] = representative(memory, trace, memory[target + version_at])
        target += body
    memory[result + BATCH_ROWS] += last - first
    return last - first  # type: ignore[no-any-return]


@inner_kernel
def close_key(memory: Memory, trace: int, result: int) -> None:
    """Sort the rows of the last key where they need it, add up equal ones, count the key."""
    body = memory[trace + TRACE_BODY_WORDS]
    number = memory[result + BATCH_KEYS]
    first = memory[memory[result + BATCH_STARTS_AT] + number]
    rows = memory[result + BATCH_ROWS_AT] + first * body
    count = memory[result + BATCH_ROWS] - first
    if count > 1:
        sort_bodies(memory, rows, count, body)
        count = add_equal(memory, rows, count, body)
    memory[result + BATCH_ROWS] = first + count
    if count > 0:
        memory[result + BATCH_KEYS] = number + 1


@inner_kernel
def add_equal(memory: Memory, rows: int, count: int, body: int) -> int:
    """Add up equal neighbours and drop zeros, in place; how many rows are left."""
    kept = 0
    row = 0
    while row < count:
        source = rows + row * body
        diff = memory[source + body - 1]
        row += 1
        while row < count and compare_keys(memory, source, rows + row * body, body - 1) == 0:
            diff += memory[rows + row * body + body - 1]
            row += 1
        if diff != 0:
            target = rows + kept * body
            if target != source:
                copy_words(memory, source, target, body - 1)
            memory[target + body - 1] = diff
            kept += 1
    return kept


@inner_kernel
def sort_bodies(memory: Memory, rows: int, count: int, body: int) -> None:
    """Sort bodies by all their words but the diff: a merge of the sorted runs they come in.

    Two runs are the usual case: the rows of one key in an older and in a newer batch.
    """
    run = 1
    while run < count and _in_order(memory, rows, run, body):
        run += 1
    if run == count:
        return
    work = allocate(memory, count * body)
    while run < count:
        end = run + 1
        while end < count and _in_order(memory, rows, end, body):
            end += 1
        _merge_two(memory, rows, run, end, body, work)
        run = end
    free(memory, work)


@inlined_kernel
def _in_order(memory: Memory, rows: int, row: int, body: int) -> bool:
    """True where a row does not come before the one it follows."""
    return compare_keys(memory, rows + (row - 1) * body, rows + row * body, body - 1) <= 0


@inlined_kernel
def _merge_two(memory: Memory, rows: int, middle: int, end: int, body: int, work: int) -> None:
    """Merge rows[:middle] and rows[middle:end]."""
    copy_words(memory, rows, work, middle * body)
    left, right = 0, middle
    for place in range(end):
        if left == middle:
            break
        take_left = right == end or (
            compare_keys(memory, work + left * body, rows + right * body, body - 1) <= 0
        )
        source = work + left * body if take_left else rows + right * body
        for word in range(body):
            memory[rows + place * body + word] = memory[source + word]
        left += 1 if take_left else 0
        right += 0 if take_left else 1
