"""Batches: sorted, immutable rows with an index of their keys.

A batch is one block: its head, the distinct keys, where the rows of each key begin, the index, the
distinct times, and the rows. A row has its values, time and diff in consecutive words, packed as
the frame in the head says so that what belongs to a key is read together.
Rows of a key are sorted by value or by time: `TRACE_BY_TIME` says which.

The index divides the range of the first key word into equal parts, about one for four keys, and
holds where each begins. Where keys are dense a seek is two loads; where they are not, a binary
search within one part.

Frames: how the rows of a batch are packed into words.

The rows of a batch differ little: values lie in a range, diffs are mostly 1, and all rows share
a few times. So a row is stored as fields, each less the least that it is in the batch, in as many
bits as its range takes; its time is a number into the table of distinct times of the batch, which
holds each position and version once. An edge of a graph of a million vertices takes one word
where it would take four.

Fields follow one another in the order in which rows are sorted, from the highest bit down, with
the diff last, and do not straddle words; so rows of one frame compare word by word, once the diff
is masked. Only 63 bits of a word are used, or all 64 by one field as it is: words compare as
signed numbers either way.

Rows of words: sort them, and add up equal ones.

Rows have one width, and compare word by word, the last word under a mask: what the mask leaves
out, a diff or a number, goes with the row. Sorting takes n log n at most, and little more than a
look where rows come in order or in two runs, as those of one key from two batches do.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import allocate, bit_length, copy_words, free
from graphtide.kernels.dataflow.numbers import held
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

KEYS_A_PART = 4
ONE_PART = 63
MOST_WORD = (1 << 63) - 1


@inner_kernel
def begin_batch(memory: Memory, trace: int, keys: int, rows: int, times: int, frame: int) -> int:
    """A block with room for so many keys, rows and times, and all that its head says of them."""
    key_words = memory[trace + at.TRACE_KEY_WORDS]
    head = frame_words(memory[trace + at.TRACE_VALUE_WORDS])
    keys_at = at.BATCH_FRAME + head
    starts_at = keys_at + keys * key_words
    index_at = starts_at + keys + 1
    times_at = index_at + keys // KEYS_A_PART + 2
    rows_at = times_at + 2 * times
    batch = allocate(memory, rows_at + rows * memory[frame + at.FRAME_WIDTH])
    memory[batch + at.BATCH_KEYS] = 0
    memory[batch + at.BATCH_ROWS] = 0
    memory[batch + at.BATCH_KEYS_AT] = batch + keys_at
    memory[batch + at.BATCH_STARTS_AT] = batch + starts_at
    memory[batch + at.BATCH_INDEX_AT] = batch + index_at
    memory[batch + at.BATCH_TIMES] = times
    memory[batch + at.BATCH_TIMES_AT] = batch + times_at
    memory[batch + at.BATCH_ROWS_AT] = batch + rows_at
    memory[batch + at.BATCH_LEAST_DIFF] = MOST_WORD
    memory[batch + at.BATCH_MOST_DIFF] = -MOST_WORD
    copy_words(memory, frame, batch + at.BATCH_FRAME, head)
    return batch


@joined_kernel
def frame_words(values: int) -> int:
    return at.FRAME_VALUES + values * at.FIELD_WORDS


@inner_kernel
def finish_batch(memory: Memory, trace: int, batch: int) -> None:
    """Close the last key and make the index; keys and rows are written and counted."""
    keys = memory[batch + at.BATCH_KEYS]
    words = memory[trace + at.TRACE_KEY_WORDS]
    keys_at = memory[batch + at.BATCH_KEYS_AT]
    memory[memory[batch + at.BATCH_STARTS_AT] + keys] = memory[batch + at.BATCH_ROWS]
    if keys == 0 or words == 0:
        memory[batch + at.BATCH_INDEX_SIZE] = 0
        return
    base = memory[keys_at]
    last = memory[keys_at + (keys - 1) * words]
    span = -1 if base < 0 and last > MOST_WORD + base else last - base
    parts = keys // KEYS_A_PART + 1
    shift = 0
    while span >= 0 and span >> shift >= parts:
        shift += 1
    if span < 0:  # The range of the keys is itself too large for a word: one part.
        shift, span = ONE_PART, 0
    memory[batch + at.BATCH_INDEX_BASE] = base
    memory[batch + at.BATCH_INDEX_SHIFT] = shift
    size = (span >> shift) + 1
    memory[batch + at.BATCH_INDEX_SIZE] = size
    index = memory[batch + at.BATCH_INDEX_AT]
    part = -1
    for key in range(keys):
        here = 0 if shift == ONE_PART else (memory[keys_at + key * words] - base) >> shift
        while part < here:
            part += 1
            memory[index + part] = key
    memory[index + size] = keys


@inner_kernel
def compare_keys(memory: Memory, one: int, other: int, words: int) -> int:
    """-1, 0 or 1 as the key at one address comes before, with or after that at another."""
    for word in range(words):
        if memory[one + word] != memory[other + word]:
            return -1 if memory[one + word] < memory[other + word] else 1
    return 0


@bare_kernel
def seek_key(memory: Memory, batch: int, key: int, words: int) -> int:
    """The number of the key at an address among the keys of a batch, or -1."""
    size = memory[batch + at.BATCH_INDEX_SIZE]
    if size == 0:
        return 0 if words == 0 and memory[batch + at.BATCH_KEYS] > 0 else -1
    base = memory[batch + at.BATCH_INDEX_BASE]
    shift = memory[batch + at.BATCH_INDEX_SHIFT]
    if memory[key] < base or (base < 0 and memory[key] > MOST_WORD + base and shift < ONE_PART):
        return -1
    part = 0 if shift == ONE_PART else (memory[key] - base) >> shift
    if part >= size:
        return -1
    index = memory[batch + at.BATCH_INDEX_AT] + part
    keys_at = memory[batch + at.BATCH_KEYS_AT]
    low, high = memory[index], memory[index + 1]
    while low < high:
        middle = (low + high) >> 1
        found = compare_keys(memory, keys_at + middle * words, key, words)
        if found == 0:
            return middle  # type: ignore[no-any-return]
        if found < 0:
            low = middle + 1
        else:
            high = middle
    return -1


PACKED_BITS = 63
WHOLE_WORD = 64


@inner_kernel
def set_range(memory: Memory, field: int, least: int, most: int) -> None:
    """Say what a field has to hold; until `lay_out`, its shift is its number of bits."""
    too_far = least < 0 and most > MOST_WORD + least
    bits = WHOLE_WORD if too_far else bit_length(most - least)
    if bits >= PACKED_BITS:
        bits = WHOLE_WORD
    memory[field + at.FIELD_SHIFT] = bits
    memory[field + at.FIELD_MASK] = -1 if bits == WHOLE_WORD else (1 << bits) - 1
    memory[field + at.FIELD_LEAST] = 0 if bits == WHOLE_WORD else least
    memory[field + at.FIELD_MOST] = most


@inner_kernel
def widen_range(memory: Memory, field: int, one: int, other: int) -> None:
    """Let a field hold what two fields of other frames hold."""
    if memory[one + at.FIELD_MASK] == -1 or memory[other + at.FIELD_MASK] == -1:
        set_range(memory, field, -MOST_WORD, MOST_WORD)
        return
    least = min(memory[one + at.FIELD_LEAST], memory[other + at.FIELD_LEAST])
    most = max(memory[one + at.FIELD_MOST], memory[other + at.FIELD_MOST])
    set_range(memory, field, least, most)


@inner_kernel
def lay_out(memory: Memory, frame: int, values: int, by_time: bool) -> None:
    """Give each field its place, in the order of significance; ranges are set."""
    word, used = 0, 0
    for place in range(values + 2):
        field = frame + at.FRAME_VALUES + (place - (1 if by_time else 0)) * at.FIELD_WORDS
        if place == (0 if by_time else values):
            field = frame + at.FRAME_TIME
        if place == values + 1:
            field = frame + at.FRAME_DIFF
        bits = memory[field + at.FIELD_SHIFT]
        if bits > 0 and used > 0 and used + bits > PACKED_BITS:
            word += 1
            used = 0
        packed = 0 < bits < WHOLE_WORD
        memory[field + at.FIELD_WORD] = word
        memory[field + at.FIELD_SHIFT] = PACKED_BITS - used - bits if packed else 0
        used += bits
    memory[frame + at.FRAME_WIDTH] = word + 1
    diff = frame + at.FRAME_DIFF
    memory[frame + at.FRAME_ORDER] = ~(
        memory[diff + at.FIELD_MASK] << memory[diff + at.FIELD_SHIFT]
    )


@joined_kernel
def field_of(memory: Memory, row: int, field: int) -> int:
    word = memory[row + memory[field + at.FIELD_WORD]]
    packed = (word >> memory[field + at.FIELD_SHIFT]) & memory[field + at.FIELD_MASK]
    return packed + memory[field + at.FIELD_LEAST]  # type: ignore[no-any-return]


@joined_kernel
def put_field(memory: Memory, row: int, field: int, value: int) -> None:
    """Write a field into a row where it is still 0."""
    packed = (value - memory[field + at.FIELD_LEAST]) << memory[field + at.FIELD_SHIFT]
    memory[row + memory[field + at.FIELD_WORD]] |= packed


@joined_kernel
def time_of(memory: Memory, batch: int, row: int) -> int:
    """The address of the position of a row; the version follows it."""
    field = batch + at.BATCH_FRAME + at.FRAME_TIME
    word = memory[row + memory[field + at.FIELD_WORD]]
    number = (word >> memory[field + at.FIELD_SHIFT]) & memory[field + at.FIELD_MASK]
    return memory[batch + at.BATCH_TIMES_AT] + 2 * number  # type: ignore[no-any-return]


@joined_kernel
def value_of(memory: Memory, batch: int, row: int, number: int) -> int:
    return field_of(memory, row, batch + at.BATCH_FRAME + at.FRAME_VALUES + number * at.FIELD_WORDS)


@joined_kernel
def diff_of(memory: Memory, batch: int, row: int) -> int:
    return field_of(memory, row, batch + at.BATCH_FRAME + at.FRAME_DIFF)


@inner_kernel
def load_row(memory: Memory, batch: int, row: int, values: int, target: int) -> None:
    """Write a row as plain words: values, position, version, diff."""
    field = batch + at.BATCH_FRAME + at.FRAME_VALUES
    for word in range(values):
        memory[target + word] = field_of(memory, row, field)
        field += at.FIELD_WORDS
    time = time_of(memory, batch, row)
    memory[target + values] = memory[time]
    memory[target + values + 1] = memory[time + 1]
    memory[target + values + 2] = diff_of(memory, batch, row)


@inner_kernel
def compare_rows(memory: Memory, one: int, other: int, width: int, order: int) -> int:
    """-1, 0 or 1 as one row comes before, with or after another of the same frame."""
    last = width - 1
    for word in range(last):
        if memory[one + word] != memory[other + word]:
            return -1 if memory[one + word] < memory[other + word] else 1
    left, right = memory[one + last] & order, memory[other + last] & order
    if left == right:
        return 0
    return -1 if left < right else 1


@inner_kernel
def sort_rows(memory: Memory, rows: int, count: int, width: int, order: int) -> None:
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
        place = rows + row * width
        if compare_rows(memory, place - width, place, width, order) > 0:
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
