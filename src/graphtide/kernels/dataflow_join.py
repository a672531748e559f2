"""Join: what is new on one side with all that is known on the other, key by key.

With A and B the histories and a and b what is new, the new output is a x (B + b) + A x b. Two
batches are joined by going through the keys of the one with fewer and seeking them in the other,
so the work is in proportion to the smaller side, however large the other is. A pair of rows meets
at the least upper bound of their times; where that lies at a later position, the result waits in
the port of its consumer until the run comes there.
"""

from __future__ import annotations

from graphtide.kernels.dataflow_batches import seek_key
from graphtide.kernels.dataflow_frames import diff_of, time_of, value_of
from graphtide.kernels.dataflow_layout import (
    BATCH_FRAME,
    BATCH_KEYS,
    BATCH_KEYS_AT,
    BATCH_ROWS,
    BATCH_ROWS_AT,
    BATCH_STARTS_AT,
    BATCH_TIMES_AT,
    CHUNK,
    FIELD_LEAST,
    FIELD_MASK,
    FIELD_SHIFT,
    FIELD_WORD,
    FRAME_DIFF,
    FRAME_TIME,
    FRAME_WIDTH,
    OP_IN,
    OP_LEFT,
    OP_LEFT_AT,
    OP_LEFT_NEWS,
    OP_RIGHT,
    OP_RIGHT_AT,
    OP_RIGHT_NEWS,
    OP_SHAPE,
    STAGE,
    STAGED,
    TRACE_KEY_WORDS,
    TRACE_VALUE_WORDS,
    VERSION_SHAPE,
    Memory,
)
from graphtide.kernels.dataflow_sending import flush
from graphtide.kernels.dataflow_times import upper_bound
from graphtide.kernels.dataflow_traces import batch_at, count_batches
from graphtide.kernels.jit import inlined_kernel, inner_kernel


@inlined_kernel
def join(memory: Memory, operator: int, position: int) -> None:
    """Send what the news at this position add to the join."""
    left, right = memory[operator + OP_LEFT], memory[operator + OP_RIGHT]
    left_news = _take_news(memory, operator, OP_LEFT_NEWS, OP_LEFT_AT, position)
    right_news = _take_news(memory, operator, OP_RIGHT_NEWS, OP_RIGHT_AT, position)
    for one in range(count_batches(memory, left)):
        if batch_at(memory, left, one) == 0:
            continue
        is_news = _is_news(memory, left, one, left_news)
        if is_news:
            memory[operator + OP_IN] += memory[batch_at(memory, left, one) + BATCH_ROWS]
        elif right_news == 0:
            continue
        for other in range(count_batches(memory, right)):
            if batch_at(memory, right, other) == 0:
                continue
            if is_news or _is_news(memory, right, other, right_news):
                _join_batches(
                    memory,
                    operator,
                    batch_at(memory, left, one),
                    batch_at(memory, right, other),
                )
    if right_news == 1:
        memory[operator + OP_IN] += memory[
            batch_at(memory, right, count_batches(memory, right) - 1) + BATCH_ROWS
        ]
    flush(memory, operator, _columns(memory, left, right))


@inner_kernel
def _take_news(memory: Memory, operator: int, news: int, place: int, position: int) -> int:
    """What is new on one side at this position: 0 nothing, 1 the fresh batch, 2 everything."""
    if memory[operator + news] == 0 or memory[operator + place] != position:
        return 0
    found = memory[operator + news]
    memory[operator + news] = 0
    return found  # type: ignore[no-any-return]


@inlined_kernel
def _is_news(memory: Memory, trace: int, place: int, news: int) -> bool:
    return news == 2 or (news == 1 and place == count_batches(memory, trace) - 1)


@inlined_kernel
def _columns(memory: Memory, left: int, right: int) -> int:
    """The columns of the joined record: the key, the left values, the right values."""
    return (  # type: ignore[no-any-return]
        memory[left + TRACE_KEY_WORDS]
        + memory[left + TRACE_VALUE_WORDS]
        + memory[right + TRACE_VALUE_WORDS]
    )


@inlined_kernel
def _join_batches(memory: Memory, operator: int, left: int, right: int) -> None:
    """Go through the keys of the batch with fewer and seek each in the other."""
    words = memory[memory[operator + OP_LEFT] + TRACE_KEY_WORDS]
    lefts, rights = memory[left + BATCH_KEYS], memory[right + BATCH_KEYS]
    if lefts <= rights:
        keys = memory[left + BATCH_KEYS_AT]
        for number in range(lefts):
            found = seek_key(memory, right, keys + number * words, words)
            if found >= 0:
                _join_key(memory, operator, left, number, right, found)
    else:
        keys = memory[right + BATCH_KEYS_AT]
        for number in range(rights):
            found = seek_key(memory, left, keys + number * words, words)
            if found >= 0:
                _join_key(memory, operator, left, found, right, number)


@inner_kernel
def _join_key(
    memory: Memory, operator: int, left: int, left_key: int, right: int, right_key: int
) -> None:
    """Stage every pair of rows of one key."""
    one, other = memory[operator + OP_LEFT], memory[operator + OP_RIGHT]
    shape, version_shape = memory[operator + OP_SHAPE], memory[VERSION_SHAPE]
    keys = memory[one + TRACE_KEY_WORDS]
    left_values, right_values = memory[one + TRACE_VALUE_WORDS], memory[other + TRACE_VALUE_WORDS]
    columns = keys + left_values + right_values
    key = memory[left + BATCH_KEYS_AT] + left_key * keys
    left_starts = memory[left + BATCH_STARTS_AT] + left_key
    right_starts = memory[right + BATCH_STARTS_AT] + right_key
    left_width = memory[left + BATCH_FRAME + FRAME_WIDTH]
    right_width = memory[right + BATCH_FRAME + FRAME_WIDTH]
    right_times = memory[right + BATCH_TIMES_AT]
    time_field, diff_field = right + BATCH_FRAME + FRAME_TIME, right + BATCH_FRAME + FRAME_DIFF
    time_word, time_shift = memory[time_field + FIELD_WORD], memory[time_field + FIELD_SHIFT]
    time_mask = memory[time_field + FIELD_MASK]
    diff_word, diff_shift = memory[diff_field + FIELD_WORD], memory[diff_field + FIELD_SHIFT]
    diff_mask, least = memory[diff_field + FIELD_MASK], memory[diff_field + FIELD_LEAST]
    left_row = memory[left + BATCH_ROWS_AT] + memory[left_starts] * left_width
    stage = memory[STAGE]
    for _ in range(memory[left_starts + 1] - memory[left_starts]):
        left_time = time_of(memory, left, left_row)
        position, version = memory[left_time], memory[left_time + 1]
        left_diff = diff_of(memory, left, left_row)
        right_row = memory[right + BATCH_ROWS_AT] + memory[right_starts] * right_width
        for _ in range(memory[right_starts + 1] - memory[right_starts]):
            place = stage + memory[STAGED]
            for word in range(keys):
                memory[place + word * CHUNK] = memory[key + word]
            place += keys * CHUNK
            for word in range(left_values):
                memory[place + word * CHUNK] = value_of(memory, left, left_row, word)
            place += left_values * CHUNK
            for word in range(right_values):
                memory[place + word * CHUNK] = value_of(memory, right, right_row, word)
            place += right_values * CHUNK
            number = (memory[right_row + time_word] >> time_shift) & time_mask
            right_time = right_times + 2 * number
            memory[place] = upper_bound(version, memory[right_time + 1], version_shape)
            memory[place + CHUNK] = upper_bound(position, memory[right_time], shape)
            diff = ((memory[right_row + diff_word] >> diff_shift) & diff_mask) + least
            memory[place + 2 * CHUNK] = left_diff * diff
            right_row += right_width
            memory[STAGED] += 1
            if memory[STAGED] == CHUNK:
                flush(memory, operator, columns)
        left_row += left_width
