"""Write sorted rows as a batch: from words that hold all of a row, or from the rows themselves.

What a word or a row is made of is told by *parts*, one for each of its words in the order in which
rows are sorted, keys first (see `dataflow_sorting`).
"""

from __future__ import annotations

from graphtide.kernels.dataflow.batches import begin_batch, compare_keys, finish_batch
from graphtide.kernels.dataflow.diffs import held
from graphtide.kernels.dataflow.frames import PACKED_BITS, lay_out, put_field, set_range
from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    BATCH_KEYS,
    BATCH_KEYS_AT,
    BATCH_LEAST_DIFF,
    BATCH_MOST_DIFF,
    BATCH_ROWS,
    BATCH_ROWS_AT,
    BATCH_STARTS_AT,
    BATCH_TIMES,
    BATCH_TIMES_AT,
    FIELD_LEAST,
    FIELD_SHIFT,
    FIELD_WORD,
    FIELD_WORDS,
    FRAME,
    FRAME_DIFF,
    FRAME_TIME,
    FRAME_VALUES,
    FRAME_WIDTH,
    TRACE_BY_TIME,
    TRACE_KEY_WORDS,
    TRACE_VALUE_WORDS,
    Memory,
)
from graphtide.kernels.dataflow.memory import allocate, free
from graphtide.kernels.dataflow.rows import sort_rows
from graphtide.kernels.jit import inner_kernel, joined_kernel

PART_WORDS = 5
"""Which word of a row; its least and largest value; its bits, and their shift when packed."""


@inner_kernel
def write_packed(
    memory: Memory, trace: int, pairs: int, count: int, parts: int, position: int
) -> int:
    """A batch of sorted pairs of packed word and diff, equal ones added up; 0 where none is left.

    Below the key, a packed word is a packed row without its diff: versions are numbers from the
    least on, and so are their times.
    """
    keys = memory[trace + TRACE_KEY_WORDS]
    below = _bits_below_keys(memory, trace, parts)
    kept, key_count = _add_equal(memory, pairs, count, below)
    if kept == 0:
        return 0
    versions = parts + PART_WORDS * _version_part(memory, trace)
    first, last = memory[versions + 1], memory[versions + 2]
    _frame_parts(memory, trace, pairs, kept, parts, last - first)
    batch = begin_batch(memory, trace, key_count, kept, last - first + 1, memory[FRAME])
    times = memory[batch + BATCH_TIMES_AT]
    for number in range(last - first + 1):
        memory[times + 2 * number] = position
        memory[times + 2 * number + 1] = first + number
    keys_at, starts_at = memory[batch + BATCH_KEYS_AT], memory[batch + BATCH_STARTS_AT]
    row = memory[batch + BATCH_ROWS_AT]
    width = memory[batch + BATCH_FRAME + FRAME_WIDTH]
    diff_at = batch + BATCH_FRAME + FRAME_DIFF
    diff_word, diff_shift = memory[diff_at + FIELD_WORD], memory[diff_at + FIELD_SHIFT]
    least = memory[diff_at + FIELD_LEAST]
    mask, up = (1 << below) - 1, PACKED_BITS - below
    key = -1
    before = -1
    for place in range(kept):
        word, diff = memory[pairs + 2 * place], memory[pairs + 2 * place + 1]
        if word >> below != before:
            before = word >> below
            key += 1
            for number in range(keys):
                part = parts + PART_WORDS * number
                bits = (word >> memory[part + 4]) & ((1 << memory[part + 3]) - 1)
                memory[keys_at + key * keys + number] = bits + memory[part + 1]
            memory[starts_at + key] = place
        memory[row + width - 1] = 0
        memory[row] = (word & mask) << up
        memory[row + diff_word] |= (diff - least) << diff_shift
        row += width
    return _finish(memory, trace, batch, key + 1, kept, pairs)


@joined_kernel
def _bits_below_keys(memory: Memory, trace: int, parts: int) -> int:
    """How many bits of a packed word are not those of its key."""
    found = 0
    keys = memory[trace + TRACE_KEY_WORDS]
    for place in range(keys, keys + memory[trace + TRACE_VALUE_WORDS] + 1):
        found += memory[parts + PART_WORDS * place + 3]
    return found


@joined_kernel
def _version_part(memory: Memory, trace: int) -> int:
    """Which part is the version."""
    keys = memory[trace + TRACE_KEY_WORDS]
    by_time = memory[trace + TRACE_BY_TIME] != 0
    return keys if by_time else keys + memory[trace + TRACE_VALUE_WORDS]  # type: ignore[no-any-return]


@joined_kernel
def _add_equal(memory: Memory, pairs: int, count: int, below: int) -> tuple[int, int]:
    """Add up pairs of equal words in place, drop zeros; how many are left, of how many keys."""
    kept, key_count, before = 0, 0, -1
    place = 0
    while place < count:
        word, diff = memory[pairs + 2 * place], memory[pairs + 2 * place + 1]
        place += 1
        while place < count and memory[pairs + 2 * place] == word:
            diff = held(diff + memory[pairs + 2 * place + 1])
            place += 1
        if diff != 0:
            memory[pairs + 2 * kept] = word
            memory[pairs + 2 * kept + 1] = diff
            key_count += 1 if word >> below != before else 0
            before = word >> below
            kept += 1
    return kept, key_count


@inner_kernel
def _frame_parts(
    memory: Memory, trace: int, pairs: int, count: int, parts: int, last_time: int
) -> None:
    """Make FRAME that of rows with these parts, diffs in pairs, and times numbered up to a last."""
    frame = memory[FRAME]
    values = memory[trace + TRACE_VALUE_WORDS]
    by_time = memory[trace + TRACE_BY_TIME] != 0
    first = memory[trace + TRACE_KEY_WORDS] + (1 if by_time else 0)
    for number in range(values):
        part = parts + PART_WORDS * (first + number)
        field = frame + FRAME_VALUES + number * FIELD_WORDS
        set_range(memory, field, memory[part + 1], memory[part + 2])
    least = memory[pairs + 1]
    most = least
    for place in range(count):
        diff = memory[pairs + 2 * place + 1]
        least, most = min(least, diff), max(most, diff)
    set_range(memory, frame + FRAME_TIME, 0, last_time)
    set_range(memory, frame + FRAME_DIFF, least, most)
    lay_out(memory, frame, values, by_time)


@inner_kernel
def _finish(memory: Memory, trace: int, batch: int, keys: int, rows: int, pairs: int) -> int:
    memory[batch + BATCH_KEYS] = keys
    memory[batch + BATCH_ROWS] = rows
    least = memory[pairs + 1]
    most = least
    for place in range(rows):
        diff = memory[pairs + 2 * place + 1]
        least, most = min(least, diff), max(most, diff)
    memory[batch + BATCH_LEAST_DIFF] = least
    memory[batch + BATCH_MOST_DIFF] = most
    finish_batch(memory, trace, batch)
    return batch


@inner_kernel
def write_wide(
    memory: Memory, trace: int, pairs: int, count: int, parts: int, position: int, rows: int
) -> int:
    """A batch of distinct sorted rows, as pairs of row number and diff; 0 where there are none."""
    if count == 0:
        return 0
    keys, values = memory[trace + TRACE_KEY_WORDS], memory[trace + TRACE_VALUE_WORDS]
    width = keys + values + 2
    versions = allocate(memory, count)
    distinct = _distinct_versions(memory, pairs, count, rows + width - 2, width, versions)
    key_count = 1
    for place in range(1, count):
        row = rows + memory[pairs + 2 * place] * width
        before = rows + memory[pairs + 2 * place - 2] * width
        key_count += 1 if compare_keys(memory, before, row, keys) != 0 else 0
    _frame_parts(memory, trace, pairs, count, parts, distinct - 1)
    batch = begin_batch(memory, trace, key_count, count, distinct, memory[FRAME])
    times = memory[batch + BATCH_TIMES_AT]
    for number in range(distinct):
        memory[times + 2 * number] = position
        memory[times + 2 * number + 1] = memory[versions + number]
    _write_rows(memory, trace, batch, pairs, count, rows)
    free(memory, versions)
    return _finish(memory, trace, batch, key_count, count, pairs)


@inner_kernel
def _write_rows(memory: Memory, trace: int, batch: int, pairs: int, count: int, rows: int) -> None:
    """Write keys, starts and packed rows."""
    keys, values = memory[trace + TRACE_KEY_WORDS], memory[trace + TRACE_VALUE_WORDS]
    keys_at, starts_at = memory[batch + BATCH_KEYS_AT], memory[batch + BATCH_STARTS_AT]
    target = memory[batch + BATCH_ROWS_AT]
    frame = batch + BATCH_FRAME
    key = -1
    for place in range(count):
        source = rows + memory[pairs + 2 * place] * (keys + values + 2)
        if key < 0 or compare_keys(memory, source, keys_at + key * keys, keys) != 0:
            key += 1
            for word in range(keys):
                memory[keys_at + key * keys + word] = memory[source + word]
            memory[starts_at + key] = place
        for word in range(memory[frame + FRAME_WIDTH]):
            memory[target + word] = 0
        for word in range(values):
            field = frame + FRAME_VALUES + word * FIELD_WORDS
            put_field(memory, target, field, memory[source + keys + word])
        time = _time_number(memory, batch, memory[source + keys + values])
        put_field(memory, target, frame + FRAME_TIME, time)
        put_field(memory, target, frame + FRAME_DIFF, memory[pairs + 2 * place + 1])
        target += memory[frame + FRAME_WIDTH]


@joined_kernel
def _distinct_versions(
    memory: Memory, pairs: int, count: int, first: int, width: int, target: int
) -> int:
    """Write the distinct versions of rows, ascending; how many."""
    for place in range(count):
        memory[target + place] = memory[first + memory[pairs + 2 * place] * width]
    sort_rows(memory, target, count, 1, -1)
    distinct = 1
    for place in range(1, count):
        if memory[target + place] != memory[target + distinct - 1]:
            memory[target + distinct] = memory[target + place]
            distinct += 1
    return distinct


@joined_kernel
def _time_number(memory: Memory, batch: int, version: int) -> int:
    """The number of the time with a version, which is there; all have one position."""
    times = memory[batch + BATCH_TIMES_AT]
    low, high = 0, memory[batch + BATCH_TIMES] - 1
    while low < high:
        middle = (low + high) >> 1
        if memory[times + 2 * middle + 1] < version:
            low = middle + 1
        else:
            high = middle
    return low
