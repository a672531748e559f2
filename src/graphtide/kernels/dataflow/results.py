"""What the result of a merge will look like: its times, and the frame of its rows.

The times of both batches are moved to their representatives and sorted; equal ones become one.
How many of them come together bounds what diffs can add up to, so the frame of the result has
room for every sum that may occur, and no merge has to begin anew.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.batches import begin_batch
from graphtide.kernels.dataflow.frames import lay_out, set_range, widen_range
from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    BATCH_KEYS,
    BATCH_LEAST_DIFF,
    BATCH_MOST_DIFF,
    BATCH_ROWS,
    BATCH_TIMES,
    BATCH_TIMES_AT,
    FIELD_WORDS,
    FRAME,
    FRAME_DIFF,
    FRAME_TIME,
    FRAME_VALUES,
    SLOT_CODES,
    SLOT_NEWER,
    SLOT_NEWER_AT,
    SLOT_OLDER,
    SLOT_OLDER_AT,
    SLOT_RESULT,
    SLOT_SIZE,
    TRACE_BY_TIME,
    TRACE_VALUE_WORDS,
    Memory,
)
from graphtide.kernels.dataflow.memory import allocate, copy_words, free
from graphtide.kernels.dataflow.rows import sort_rows
from graphtide.kernels.dataflow.times import representative
from graphtide.kernels.jit import inner_kernel, joined_kernel

TIME_WORDS = 3
"""Position, version, and which time of the two batches it is."""
MOST_DIFF = 1 << 40
"""Diffs beyond this, or as many times that come together, are not bounded but kept whole."""
MOST_WORD = (1 << 63) - 1


@inner_kernel
def begin_result(memory: Memory, trace: int, slot: int) -> None:
    """Begin the result of a slot: of its two batches, or of the older one alone."""
    older, newer = memory[slot + SLOT_OLDER], memory[slot + SLOT_NEWER]
    olds = memory[older + BATCH_TIMES]
    news = memory[newer + BATCH_TIMES] if newer != 0 else 0
    times = allocate(memory, TIME_WORDS * (olds + news))
    _move_times(memory, trace, older, times, 0)
    if newer != 0:
        _move_times(memory, trace, newer, times + TIME_WORDS * olds, olds)
    sort_rows(memory, times, olds + news, TIME_WORDS, 0)
    memory[slot + SLOT_CODES] = allocate(memory, olds + news)
    distinct = _number_times(memory, slot, times, olds, olds + news)
    frame = memory[FRAME]
    set_range(memory, frame + FRAME_TIME, 0, distinct - 1)
    for number in range(memory[trace + TRACE_VALUE_WORDS]):
        field = FRAME_VALUES + number * FIELD_WORDS
        one = older + BATCH_FRAME + field
        other = newer + BATCH_FRAME + field if newer != 0 else one
        widen_range(memory, frame + field, one, other)
    by_time = memory[trace + TRACE_BY_TIME] != 0
    lay_out(memory, frame, memory[trace + TRACE_VALUE_WORDS], by_time)
    keys, rows = memory[older + BATCH_KEYS], memory[older + BATCH_ROWS]
    if newer != 0:
        keys += memory[newer + BATCH_KEYS]
        rows += memory[newer + BATCH_ROWS]
    result = begin_batch(memory, trace, keys, rows, distinct, frame)
    copy_words(memory, times, memory[result + BATCH_TIMES_AT], 2 * distinct)
    free(memory, times)
    memory[slot + SLOT_RESULT] = result
    memory[slot + SLOT_SIZE] = rows
    memory[slot + SLOT_OLDER_AT] = 0
    memory[slot + SLOT_NEWER_AT] = 0


@inner_kernel
def _move_times(memory: Memory, trace: int, batch: int, target: int, first: int) -> None:
    """Write the times of a batch with representative versions, numbered from a first number on."""
    source = memory[batch + BATCH_TIMES_AT]
    for number in range(memory[batch + BATCH_TIMES]):
        memory[target] = memory[source]
        memory[target + 1] = representative(memory, trace, memory[source + 1])
        memory[target + 2] = first + number
        source += 2
        target += TIME_WORDS


@inner_kernel
def _number_times(memory: Memory, slot: int, times: int, olds: int, count: int) -> int:
    """Write which result time each becomes, and the distinct ones as pairs in place; how many.

    Sets the range of the diff, since it sees how many times become one.
    """
    codes = memory[slot + SLOT_CODES]
    distinct = 0
    ones, others, most_ones, most_others = 0, 0, 0, 0
    for number in range(count):
        position, version = memory[times + 3 * number], memory[times + 3 * number + 1]
        which = memory[times + 3 * number + 2]
        last = times + 2 * distinct - 2
        if distinct == 0 or memory[last] != position or memory[last + 1] != version:
            memory[last + 2] = position
            memory[last + 3] = version
            distinct += 1
            ones, others = 0, 0
        memory[codes + which] = distinct - 1
        ones += 1 if which < olds else 0
        others += 1 if which >= olds else 0
        most_ones, most_others = max(most_ones, ones), max(most_others, others)
    _bound_diff(memory, slot, most_ones, most_others)
    return distinct


@joined_kernel
def _bound_diff(memory: Memory, slot: int, ones: int, others: int) -> None:
    """Let the diff hold sums of so many rows of the older batch and so many of the newer one."""
    field = memory[FRAME] + FRAME_DIFF
    older, newer = memory[slot + SLOT_OLDER], memory[slot + SLOT_NEWER]
    least, most = memory[older + BATCH_LEAST_DIFF], memory[older + BATCH_MOST_DIFF]
    if ones == 1 and newer == 0:
        set_range(memory, field, least, most)
        return
    other_least = memory[newer + BATCH_LEAST_DIFF] if newer != 0 else 0
    other_most = memory[newer + BATCH_MOST_DIFF] if newer != 0 else 0
    if (
        min(least, other_least) < -MOST_DIFF
        or max(most, other_most) > MOST_DIFF
        or ones + others > 1 << 20
    ):
        set_range(memory, field, -MOST_WORD, MOST_WORD)
        return
    lowest = ones * min(least, 0) + others * min(other_least, 0)
    highest = ones * max(most, 0) + others * max(other_most, 0)
    set_range(memory, field, lowest, highest)
