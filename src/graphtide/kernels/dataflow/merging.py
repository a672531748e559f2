"""Merging two batches into one, key by key, as far as the fuel lasts.

Merging compacts: versions are replaced by their representatives before all readers, and rows that
have become equal are added up. Representatives are those of when the merge began, so they are
found once for each distinct time of the two batches and not for each row: rows are translated
from the frame of their batch to that of the result, their times by a table of numbers. A merge
that is not done leaves both batches as they are; its result counts once it is whole.

What the result of a merge will look like: its times, and the frame of its rows.

The times of both batches are moved to their representatives and sorted; equal ones become one.
How many of them come together bounds what diffs can add up to, so the frame of the result has
room for every sum that may occur, and no merge has to begin anew.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import (
    begin_batch,
    compare_keys,
    compare_rows,
    diff_of,
    field_of,
    finish_batch,
    frame_words,
    lay_out,
    put_field,
    set_range,
    sort_rows,
    widen_range,
)
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import (
    allocate,
    allocate_zeros,
    class_words,
    copy_words,
    free,
)
from graphtide.kernels.dataflow.numbers import held, representative
from graphtide.kernels.jit import inner_kernel, joined_kernel

TIME_WORDS = 3
"""Position, version, and which time of the two batches it is."""
MOST_DIFF = 1 << 40
"""Diffs beyond this, or as many times that come together, are not bounded but kept whole."""
MOST_WORD = (1 << 63) - 1


@inner_kernel
def begin_result(memory: Memory, trace: int, slot: int) -> None:
    """Begin the result of a slot: of its two batches, or of the older one alone."""
    older, newer = memory[slot + at.SLOT_OLDER], memory[slot + at.SLOT_NEWER]
    olds = memory[older + at.BATCH_TIMES]
    news = memory[newer + at.BATCH_TIMES] if newer != 0 else 0
    times = allocate(memory, TIME_WORDS * (olds + news))
    _move_times(memory, trace, older, times, 0)
    if newer != 0:
        _move_times(memory, trace, newer, times + TIME_WORDS * olds, olds)
    sort_rows(memory, times, olds + news, TIME_WORDS, 0)
    memory[slot + at.SLOT_CODES] = allocate(memory, olds + news)
    distinct = _number_times(memory, slot, times, olds, olds + news)
    frame = memory[at.FRAME]
    set_range(memory, frame + at.FRAME_TIME, 0, distinct - 1)
    for number in range(memory[trace + at.TRACE_VALUE_WORDS]):
        field = at.FRAME_VALUES + number * at.FIELD_WORDS
        one = older + at.BATCH_FRAME + field
        other = newer + at.BATCH_FRAME + field if newer != 0 else one
        widen_range(memory, frame + field, one, other)
    by_time = memory[trace + at.TRACE_BY_TIME] != 0
    lay_out(memory, frame, memory[trace + at.TRACE_VALUE_WORDS], by_time)
    keys, rows = memory[older + at.BATCH_KEYS], memory[older + at.BATCH_ROWS]
    if newer != 0:
        keys += memory[newer + at.BATCH_KEYS]
        rows += memory[newer + at.BATCH_ROWS]
    result = begin_batch(memory, trace, keys, rows, distinct, frame)
    copy_words(memory, times, memory[result + at.BATCH_TIMES_AT], 2 * distinct)
    free(memory, times)
    memory[slot + at.SLOT_RESULT] = result
    memory[slot + at.SLOT_SIZE] = rows
    memory[slot + at.SLOT_OLDER_AT] = 0
    memory[slot + at.SLOT_NEWER_AT] = 0


@inner_kernel
def _move_times(memory: Memory, trace: int, batch: int, target: int, first: int) -> None:
    """Write the times of a batch with representative versions, numbered from a first number on."""
    source = memory[batch + at.BATCH_TIMES_AT]
    for number in range(memory[batch + at.BATCH_TIMES]):
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
    codes = memory[slot + at.SLOT_CODES]
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
    field = memory[at.FRAME] + at.FRAME_DIFF
    older, newer = memory[slot + at.SLOT_OLDER], memory[slot + at.SLOT_NEWER]
    least, most = memory[older + at.BATCH_LEAST_DIFF], memory[older + at.BATCH_MOST_DIFF]
    if ones == 1 and newer == 0:
        set_range(memory, field, least, most)
        return
    other_least = memory[newer + at.BATCH_LEAST_DIFF] if newer != 0 else 0
    other_most = memory[newer + at.BATCH_MOST_DIFF] if newer != 0 else 0
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


ALL_OF_IT = 1 << 60
"""Fuel for a merge that has to end now."""


@inner_kernel
def begin_merge(memory: Memory, trace: int, left: int, right: int) -> None:
    """Put the batch of the right slot beside that of the left one.

    The right slot must not count any more: memory may end here, and whoever reads the trace then
    finds both batches in the left one, which has no result.
    """
    older, newer = memory[left + at.SLOT_OLDER], memory[right + at.SLOT_OLDER]
    if older == 0 or newer == 0:
        memory[left + at.SLOT_OLDER] = older if newer == 0 else newer
        memory[left + at.SLOT_SIZE] += memory[right + at.SLOT_SIZE]
        return
    memory[left + at.SLOT_NEWER] = newer
    begin_result(memory, trace, left)


@inner_kernel
def merge_on(memory: Memory, trace: int, slot: int, fuel: int) -> None:
    """Carry the merge of a slot on by about so many rows, key by key; end it where it is done."""
    result = memory[slot + at.SLOT_RESULT]
    if result == 0:
        return
    older, newer = memory[slot + at.SLOT_OLDER], memory[slot + at.SLOT_NEWER]
    left, right = memory[slot + at.SLOT_OLDER_AT], memory[slot + at.SLOT_NEWER_AT]
    lefts, rights = (
        memory[older + at.BATCH_KEYS],
        memory[newer + at.BATCH_KEYS] if newer != 0 else 0,
    )
    left_keys, right_keys = memory[older + at.BATCH_KEYS_AT], memory[newer + at.BATCH_KEYS_AT]
    left_codes = memory[slot + at.SLOT_CODES]
    right_codes = left_codes + memory[older + at.BATCH_TIMES]
    words, values = memory[trace + at.TRACE_KEY_WORDS], memory[trace + at.TRACE_VALUE_WORDS]
    while fuel > 0 and (left < lefts or right < rights):
        which = -1 if right >= rights else 1
        if left < lefts and right < rights:
            which = compare_keys(
                memory, left_keys + left * words, right_keys + right * words, words
            )
        key = left_keys + left * words if which <= 0 else right_keys + right * words
        _add_key(memory, words, result, key)
        if which <= 0:
            fuel -= _add_rows(memory, values, result, older, left, left_codes)
            left += 1
        if which >= 0:
            fuel -= _add_rows(memory, values, result, newer, right, right_codes)
            right += 1
        _close_key(memory, result)
    memory[slot + at.SLOT_OLDER_AT] = left
    memory[slot + at.SLOT_NEWER_AT] = right
    if left == lefts and right == rights:
        _end_merge(memory, trace, slot)


@inner_kernel
def _end_merge(memory: Memory, trace: int, slot: int) -> None:
    """Make the result the batch of its slot, in a smaller block where much was cancelled."""
    free(memory, memory[slot + at.SLOT_OLDER])
    free(memory, memory[slot + at.SLOT_NEWER])
    free(memory, memory[slot + at.SLOT_CODES])
    result = memory[slot + at.SLOT_RESULT]
    rows = memory[result + at.BATCH_ROWS]
    memory[slot + at.SLOT_OLDER] = result if rows > 0 else 0
    memory[slot + at.SLOT_NEWER] = 0
    memory[slot + at.SLOT_RESULT] = 0
    memory[slot + at.SLOT_SIZE] = rows
    memory[trace + at.TRACE_MERGED] += rows
    if rows == 0:
        free(memory, result)
        return
    finish_batch(memory, trace, result)
    # What makes the result smaller may find no memory: by now, the slot can be read.
    if 4 * memory[result + at.BATCH_TIMES] > rows + at.SMALL_SLOT:
        _forget_times(memory, result)
    memory[slot + at.SLOT_OLDER] = _fitting(memory, trace, result)


@inner_kernel
def _fitting(memory: Memory, trace: int, result: int) -> int:
    """The result of a merge, in a smaller block where it fills less than three quarters of its."""
    keys, rows = memory[result + at.BATCH_KEYS], memory[result + at.BATCH_ROWS]
    times = memory[result + at.BATCH_TIMES]
    words, width = (
        memory[trace + at.TRACE_KEY_WORDS],
        memory[result + at.BATCH_FRAME + at.FRAME_WIDTH],
    )
    used = keys * (words + 1) + (keys >> 2) + 2 * times + rows * width
    used += at.BATCH_FRAME + frame_words(memory[trace + at.TRACE_VALUE_WORDS])
    if 4 * used >= 3 * class_words(memory[result - 1]):
        return result
    smaller = begin_batch(memory, trace, keys, rows, times, result + at.BATCH_FRAME)
    for part, size in (
        (at.BATCH_KEYS_AT, keys * words),
        (at.BATCH_STARTS_AT, keys),
        (at.BATCH_TIMES_AT, 2 * times),
        (at.BATCH_ROWS_AT, rows * width),
    ):
        copy_words(memory, memory[result + part], memory[smaller + part], size)
    for field in (at.BATCH_KEYS, at.BATCH_ROWS, at.BATCH_LEAST_DIFF, at.BATCH_MOST_DIFF):
        memory[smaller + field] = memory[result + field]
    finish_batch(memory, trace, smaller)
    free(memory, result)
    return smaller


@inner_kernel
def _forget_times(memory: Memory, batch: int) -> None:
    """Drop the times that no row has; the others keep their order, and so do the rows."""
    times, table = memory[batch + at.BATCH_TIMES], memory[batch + at.BATCH_TIMES_AT]
    width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
    field = batch + at.BATCH_FRAME + at.FRAME_TIME
    codes = allocate_zeros(memory, times)
    first = memory[batch + at.BATCH_ROWS_AT]
    end = first + memory[batch + at.BATCH_ROWS] * width
    for row in range(first, end, width):
        memory[codes + field_of(memory, row, field)] = 1
    kept = 0
    for time in range(times):
        if memory[codes + time] != 0:
            memory[codes + time] = kept
            copy_words(memory, table + 2 * time, table + 2 * kept, 2)
            kept += 1
    for row in range(first, end, width):
        code = field_of(memory, row, field)
        place = row + memory[field + at.FIELD_WORD]
        memory[place] += (memory[codes + code] - code) << memory[field + at.FIELD_SHIFT]
    memory[batch + at.BATCH_TIMES] = kept
    free(memory, codes)


@joined_kernel
def _add_key(memory: Memory, words: int, result: int, key: int) -> None:
    """Write one more key; it counts only once rows of it are left (see `_close_key`)."""
    number = memory[result + at.BATCH_KEYS]
    copy_words(memory, key, memory[result + at.BATCH_KEYS_AT] + number * words, words)
    memory[memory[result + at.BATCH_STARTS_AT] + number] = memory[result + at.BATCH_ROWS]


@inner_kernel
def _add_rows(memory: Memory, values: int, result: int, batch: int, number: int, codes: int) -> int:
    """Append the rows of one key, translated to the frame of the result; how many they were."""
    starts = memory[batch + at.BATCH_STARTS_AT] + number
    count = memory[starts + 1] - memory[starts]
    source, target = batch + at.BATCH_FRAME, result + at.BATCH_FRAME
    width, wide = memory[source + at.FRAME_WIDTH], memory[target + at.FRAME_WIDTH]
    row = memory[batch + at.BATCH_ROWS_AT] + memory[starts] * width
    made = memory[result + at.BATCH_ROWS_AT] + memory[result + at.BATCH_ROWS] * wide
    memory[result + at.BATCH_ROWS] += count
    if values == 1 and width == 1 and wide == 1:
        _translate_words(memory, row, count, source, made, target, codes)
    else:
        _translate_rows(memory, row, count, source, made, target, codes, values)
    return count  # type: ignore[no-any-return]


@inner_kernel
def _translate_words(
    memory: Memory, row: int, count: int, source: int, made: int, target: int, codes: int
) -> None:
    """Translate rows of one value that take one word in either frame: nearly all."""
    old, new = source + at.FRAME_VALUES, target + at.FRAME_VALUES
    shift, mask, up = (
        memory[old + at.FIELD_SHIFT],
        memory[old + at.FIELD_MASK],
        memory[new + at.FIELD_SHIFT],
    )
    raised = memory[old + at.FIELD_LEAST] - memory[new + at.FIELD_LEAST]
    time_shift = memory[source + at.FRAME_TIME + at.FIELD_SHIFT]
    time_mask = memory[source + at.FRAME_TIME + at.FIELD_MASK]
    time_up = memory[target + at.FRAME_TIME + at.FIELD_SHIFT]
    old, new = source + at.FRAME_DIFF, target + at.FRAME_DIFF
    diff_shift, diff_mask = memory[old + at.FIELD_SHIFT], memory[old + at.FIELD_MASK]
    diff_up = memory[new + at.FIELD_SHIFT]
    diff_raised = memory[old + at.FIELD_LEAST] - memory[new + at.FIELD_LEAST]
    for place in range(count):
        word = memory[row + place]
        value = ((word >> shift) & mask) + raised
        code = memory[codes + ((word >> time_shift) & time_mask)]
        diff = ((word >> diff_shift) & diff_mask) + diff_raised
        memory[made + place] = value << up | code << time_up | diff << diff_up


@inner_kernel
def _translate_rows(
    memory: Memory,
    row: int,
    count: int,
    source: int,
    made: int,
    target: int,
    codes: int,
    values: int,
) -> None:
    width, wide = memory[source + at.FRAME_WIDTH], memory[target + at.FRAME_WIDTH]
    for _ in range(count):
        for word in range(wide):
            memory[made + word] = 0
        for value in range(values):
            field = at.FRAME_VALUES + value * at.FIELD_WORDS
            put_field(memory, made, target + field, field_of(memory, row, source + field))
        code = memory[codes + field_of(memory, row, source + at.FRAME_TIME)]
        put_field(memory, made, target + at.FRAME_TIME, code)
        diff = field_of(memory, row, source + at.FRAME_DIFF)
        put_field(memory, made, target + at.FRAME_DIFF, diff)
        row += width
        made += wide


@inner_kernel
def _close_key(memory: Memory, result: int) -> None:
    """Sort the rows of the last key where they need it, add up equal ones, count the key."""
    width = memory[result + at.BATCH_FRAME + at.FRAME_WIDTH]
    order = memory[result + at.BATCH_FRAME + at.FRAME_ORDER]
    number = memory[result + at.BATCH_KEYS]
    first = memory[memory[result + at.BATCH_STARTS_AT] + number]
    rows = memory[result + at.BATCH_ROWS_AT] + first * width
    count = memory[result + at.BATCH_ROWS] - first
    for row in range(rows + width, rows + count * width, width):
        if compare_rows(memory, row - width, row, width, order) >= 0:
            sort_rows(memory, rows, count, width, order)
            count = _add_equal(memory, result, rows, count, width, order)
            break
    least, most = memory[result + at.BATCH_LEAST_DIFF], memory[result + at.BATCH_MOST_DIFF]
    for row in range(rows, rows + count * width, width):
        diff = diff_of(memory, result, row)
        least, most = min(least, diff), max(most, diff)
    memory[result + at.BATCH_LEAST_DIFF] = least
    memory[result + at.BATCH_MOST_DIFF] = most
    memory[result + at.BATCH_ROWS] = first + count
    if count > 0:
        memory[result + at.BATCH_KEYS] = number + 1


@joined_kernel
def _add_equal(memory: Memory, batch: int, rows: int, count: int, width: int, order: int) -> int:
    """Add up equal neighbours and drop zeros, in place; how many rows are left."""
    field = batch + at.BATCH_FRAME + at.FRAME_DIFF
    kept = 0
    row = 0
    while row < count:
        source = rows + row * width
        diff = field_of(memory, source, field)
        row += 1
        while row < count and compare_rows(memory, source, rows + row * width, width, order) == 0:
            diff = held(diff + field_of(memory, rows + row * width, field))
            row += 1
        if diff != 0:
            target = rows + kept * width
            copy_words(memory, source, target, width)
            memory[target + width - 1] &= order
            put_field(memory, target, field, diff)
            kept += 1
    return kept
