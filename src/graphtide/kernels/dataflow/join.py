"""Join: what is new on one side with all that is known on the other, key by key.

With A and B the histories and a and b what is new, the new output is a x (B + b) + A x b. Two
batches are joined by going through the keys of the one with fewer and seeking them in the other,
so the work is in proportion to the smaller side, however large the other is. A pair of rows meets
at the least upper bound of their times; where that lies at a later position, the result waits in
the port of its consumer until the run comes there.

A join that has sent as many rows as it has fuel pauses, in the middle of a key if need be, and the
run comes back to Python, which may stop it. It goes on where it was, before anything else runs:
no other operator ever sees half of what it sends.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import diff_of, seek_key, time_of, value_of
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.numbers import TAME_BITS, bits_of_batch, product_of, upper_bound
from graphtide.kernels.dataflow.sending import flush
from graphtide.kernels.dataflow.traces import batch_at, count_batches
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def join(memory: Memory, operator: int, position: int) -> bool:
    """Send what the news at this position add to the join; True where it has paused."""
    left, right = memory[operator + at.OP_LEFT], memory[operator + at.OP_RIGHT]
    memory[at.FUEL_LEFT] = memory[at.FUEL]
    if memory[operator + at.OP_PHASE] == 0:
        _begin(memory, operator, position)
    left_news, right_news = memory[operator + at.OP_NEW_LEFT], memory[operator + at.OP_NEW_RIGHT]
    paused = False
    one, other = memory[operator + at.OP_AT_LEFT], memory[operator + at.OP_AT_RIGHT]
    while one < count_batches(memory, left):
        is_news = _is_news(memory, left, one, left_news)
        if batch_at(memory, left, one) != 0 and (is_news or right_news != 0):
            while other < count_batches(memory, right) and not paused:
                if batch_at(memory, right, other) != 0 and (
                    is_news or _is_news(memory, right, other, right_news)
                ):
                    paused = _join_batches(
                        memory,
                        operator,
                        batch_at(memory, left, one),
                        batch_at(memory, right, other),
                    )
                if not paused:
                    other += 1
        if paused:
            break
        one += 1
        other = 0
    memory[operator + at.OP_PHASE] = 1 if paused else 0
    memory[operator + at.OP_AT_LEFT], memory[operator + at.OP_AT_RIGHT] = one, other
    flush(memory, operator, _columns(memory, left, right))
    return paused


@inner_kernel
def _begin(memory: Memory, operator: int, position: int) -> None:
    """Take the news of both sides, count them, and begin with the first pair of batches."""
    left, right = memory[operator + at.OP_LEFT], memory[operator + at.OP_RIGHT]
    left_news = _take_news(memory, operator, at.OP_LEFT_NEWS, at.OP_LEFT_AT, position)
    right_news = _take_news(memory, operator, at.OP_RIGHT_NEWS, at.OP_RIGHT_AT, position)
    memory[operator + at.OP_NEW_LEFT], memory[operator + at.OP_NEW_RIGHT] = left_news, right_news
    for place in range(at.OP_AT_LEFT, at.OP_AT_ROW + 1):
        memory[operator + place] = 0
    for place in range(count_batches(memory, left)):
        batch = batch_at(memory, left, place)
        if batch != 0 and _is_news(memory, left, place, left_news):
            memory[operator + at.OP_IN] += memory[batch + at.BATCH_ROWS]
    if right_news == 1:
        batch = batch_at(memory, right, count_batches(memory, right) - 1)
        memory[operator + at.OP_IN] += memory[batch + at.BATCH_ROWS]


@inner_kernel
def _take_news(memory: Memory, operator: int, news: int, place: int, position: int) -> int:
    """What is new on one side at this position: 0 nothing, 1 the fresh batch, 2 everything."""
    if memory[operator + news] == 0 or memory[operator + place] != position:
        return 0
    found = memory[operator + news]
    memory[operator + news] = 0
    return found  # type: ignore[no-any-return]


@joined_kernel
def _is_news(memory: Memory, trace: int, place: int, news: int) -> bool:
    return news == 2 or (news == 1 and place == count_batches(memory, trace) - 1)


@joined_kernel
def _columns(memory: Memory, left: int, right: int) -> int:
    """The columns of the joined record: the key, the left values, the right values."""
    return (  # type: ignore[no-any-return]
        memory[left + at.TRACE_KEY_WORDS]
        + memory[left + at.TRACE_VALUE_WORDS]
        + memory[right + at.TRACE_VALUE_WORDS]
    )


@joined_kernel
def _join_batches(memory: Memory, operator: int, left: int, right: int) -> bool:
    """Go through the keys of the batch with fewer and seek each in the other; True for a pause."""
    words = memory[memory[operator + at.OP_LEFT] + at.TRACE_KEY_WORDS]
    by_left = memory[left + at.BATCH_KEYS] <= memory[right + at.BATCH_KEYS]
    fewer, more = (left, right) if by_left else (right, left)
    keys, count = memory[fewer + at.BATCH_KEYS_AT], memory[fewer + at.BATCH_KEYS]
    wide = bits_of_batch(memory, left) + bits_of_batch(memory, right) > TAME_BITS
    number = memory[operator + at.OP_AT_KEY]
    paused = False
    while number < count and not paused:
        found = seek_key(memory, more, keys + number * words, words)
        if found >= 0:
            left_key, right_key = (number, found) if by_left else (found, number)
            if wide and memory[operator + at.OP_AT_ROW] == 0:
                _check_products(memory, left, left_key, right, right_key)
            _join_key(memory, operator, left, left_key, right, right_key)
            paused = memory[at.FUEL_LEFT] <= 0
        if memory[operator + at.OP_AT_ROW] == 0:
            number += 1
    memory[operator + at.OP_AT_KEY] = number if paused else 0
    return paused


@inner_kernel
def _check_products(memory: Memory, left: int, left_key: int, right: int, right_key: int) -> None:
    """Raise an error where a pair of rows of one key would be there too often."""
    one, other = left + at.BATCH_FRAME, right + at.BATCH_FRAME
    left_starts = memory[left + at.BATCH_STARTS_AT] + left_key
    right_starts = memory[right + at.BATCH_STARTS_AT] + right_key
    for left_place in range(memory[left_starts], memory[left_starts + 1]):
        left_row = memory[left + at.BATCH_ROWS_AT] + left_place * memory[one + at.FRAME_WIDTH]
        for right_place in range(memory[right_starts], memory[right_starts + 1]):
            right_row = (
                memory[right + at.BATCH_ROWS_AT] + right_place * memory[other + at.FRAME_WIDTH]
            )
            product_of(diff_of(memory, left, left_row), diff_of(memory, right, right_row))


@inner_kernel
def _join_key(
    memory: Memory, operator: int, left: int, left_key: int, right: int, right_key: int
) -> None:
    """Stage every pair of rows of one key, from the left row on that OP_AT_ROW says."""
    one, other = memory[operator + at.OP_LEFT], memory[operator + at.OP_RIGHT]
    shape, version_shape = memory[operator + at.OP_SHAPE], memory[at.VERSION_SHAPE]
    keys = memory[one + at.TRACE_KEY_WORDS]
    left_values, right_values = (
        memory[one + at.TRACE_VALUE_WORDS],
        memory[other + at.TRACE_VALUE_WORDS],
    )
    columns = keys + left_values + right_values
    key = memory[left + at.BATCH_KEYS_AT] + left_key * keys
    left_starts = memory[left + at.BATCH_STARTS_AT] + left_key
    right_starts = memory[right + at.BATCH_STARTS_AT] + right_key
    left_width = memory[left + at.BATCH_FRAME + at.FRAME_WIDTH]
    right_width = memory[right + at.BATCH_FRAME + at.FRAME_WIDTH]
    right_times = memory[right + at.BATCH_TIMES_AT]
    time_field, diff_field = (
        right + at.BATCH_FRAME + at.FRAME_TIME,
        right + at.BATCH_FRAME + at.FRAME_DIFF,
    )
    time_word, time_shift = memory[time_field + at.FIELD_WORD], memory[time_field + at.FIELD_SHIFT]
    time_mask = memory[time_field + at.FIELD_MASK]
    diff_word, diff_shift = memory[diff_field + at.FIELD_WORD], memory[diff_field + at.FIELD_SHIFT]
    diff_mask, least = memory[diff_field + at.FIELD_MASK], memory[diff_field + at.FIELD_LEAST]
    first = memory[operator + at.OP_AT_ROW]
    memory[operator + at.OP_AT_ROW] = 0
    left_row = memory[left + at.BATCH_ROWS_AT] + (memory[left_starts] + first) * left_width
    left_rows = memory[left_starts + 1] - memory[left_starts]
    right_rows = memory[right_starts + 1] - memory[right_starts]
    stage = memory[at.STAGE]
    for entry in range(first, left_rows):
        left_time = time_of(memory, left, left_row)
        position, version = memory[left_time], memory[left_time + 1]
        left_diff = diff_of(memory, left, left_row)
        right_row = memory[right + at.BATCH_ROWS_AT] + memory[right_starts] * right_width
        for _ in range(right_rows):
            place = stage + memory[at.STAGED]
            for word in range(keys):
                memory[place + word * at.CHUNK] = memory[key + word]
            place += keys * at.CHUNK
            for word in range(left_values):
                memory[place + word * at.CHUNK] = value_of(memory, left, left_row, word)
            place += left_values * at.CHUNK
            for word in range(right_values):
                memory[place + word * at.CHUNK] = value_of(memory, right, right_row, word)
            place += right_values * at.CHUNK
            number = (memory[right_row + time_word] >> time_shift) & time_mask
            right_time = right_times + 2 * number
            memory[place] = upper_bound(version, memory[right_time + 1], version_shape)
            memory[place + at.CHUNK] = upper_bound(position, memory[right_time], shape)
            diff = ((memory[right_row + diff_word] >> diff_shift) & diff_mask) + least
            memory[place + 2 * at.CHUNK] = left_diff * diff
            right_row += right_width
            memory[at.STAGED] += 1
            if memory[at.STAGED] == at.CHUNK:
                flush(memory, operator, columns)
        left_row += left_width
        memory[at.FUEL_LEFT] -= right_rows
        if memory[at.FUEL_LEFT] <= 0 and entry + 1 < left_rows:
            memory[operator + at.OP_AT_ROW] = entry + 1
            break
