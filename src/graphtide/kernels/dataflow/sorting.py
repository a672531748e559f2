"""Sort the rows of a bucket, add up equal ones, and make them a batch.

The words that differ between rows are packed into one: each word less its minimum, in as many
bits as its range takes, keys highest. Pairs of packed word and diff are then sorted by radix,
which is linear; and since packing loses nothing, the batch is written from the sorted words
without going back to the rows: what is below the key is, but for the diff, the packed row of the
batch. Of rows too wide to pack, the words that fit are packed and sorted by, and what that leaves
undecided is sorted by comparison, all of it where nothing fits. Rows that come in order, as those
of reduce do, are found so on the way and not sorted at all.

Write sorted rows as a batch: from words that hold all of a row, or from the rows themselves.

What a word or a row is made of is told by *parts*, one for each of its words in the order in which
rows are sorted, keys first.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import (
    PACKED_BITS,
    begin_batch,
    compare_keys,
    finish_batch,
    lay_out,
    put_field,
    set_range,
    sort_rows,
)
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import allocate, bit_length, free
from graphtide.kernels.dataflow.numbers import held
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
    keys = memory[trace + at.TRACE_KEY_WORDS]
    below = _bits_below_keys(memory, trace, parts)
    kept, key_count = _add_equal_versions(memory, pairs, count, below)
    if kept == 0:
        return 0
    versions = parts + PART_WORDS * _version_part(memory, trace)
    first, last = memory[versions + 1], memory[versions + 2]
    _frame_parts(memory, trace, pairs, kept, parts, last - first)
    batch = begin_batch(memory, trace, key_count, kept, last - first + 1, memory[at.FRAME])
    times = memory[batch + at.BATCH_TIMES_AT]
    for number in range(last - first + 1):
        memory[times + 2 * number] = position
        memory[times + 2 * number + 1] = first + number
    keys_at, starts_at = memory[batch + at.BATCH_KEYS_AT], memory[batch + at.BATCH_STARTS_AT]
    row = memory[batch + at.BATCH_ROWS_AT]
    width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
    diff_at = batch + at.BATCH_FRAME + at.FRAME_DIFF
    diff_word, diff_shift = memory[diff_at + at.FIELD_WORD], memory[diff_at + at.FIELD_SHIFT]
    least = memory[diff_at + at.FIELD_LEAST]
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
    keys = memory[trace + at.TRACE_KEY_WORDS]
    for place in range(keys, keys + memory[trace + at.TRACE_VALUE_WORDS] + 1):
        found += memory[parts + PART_WORDS * place + 3]
    return found


@joined_kernel
def _version_part(memory: Memory, trace: int) -> int:
    """Which part is the version."""
    keys = memory[trace + at.TRACE_KEY_WORDS]
    by_time = memory[trace + at.TRACE_BY_TIME] != 0
    return keys if by_time else keys + memory[trace + at.TRACE_VALUE_WORDS]  # type: ignore[no-any-return]


@joined_kernel
def _add_equal_versions(memory: Memory, pairs: int, count: int, below: int) -> tuple[int, int]:
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
    frame = memory[at.FRAME]
    values = memory[trace + at.TRACE_VALUE_WORDS]
    by_time = memory[trace + at.TRACE_BY_TIME] != 0
    first = memory[trace + at.TRACE_KEY_WORDS] + (1 if by_time else 0)
    for number in range(values):
        part = parts + PART_WORDS * (first + number)
        field = frame + at.FRAME_VALUES + number * at.FIELD_WORDS
        set_range(memory, field, memory[part + 1], memory[part + 2])
    least = memory[pairs + 1]
    most = least
    for place in range(count):
        diff = memory[pairs + 2 * place + 1]
        least, most = min(least, diff), max(most, diff)
    set_range(memory, frame + at.FRAME_TIME, 0, last_time)
    set_range(memory, frame + at.FRAME_DIFF, least, most)
    lay_out(memory, frame, values, by_time)


@inner_kernel
def _finish(memory: Memory, trace: int, batch: int, keys: int, rows: int, pairs: int) -> int:
    memory[batch + at.BATCH_KEYS] = keys
    memory[batch + at.BATCH_ROWS] = rows
    least = memory[pairs + 1]
    most = least
    for place in range(rows):
        diff = memory[pairs + 2 * place + 1]
        least, most = min(least, diff), max(most, diff)
    memory[batch + at.BATCH_LEAST_DIFF] = least
    memory[batch + at.BATCH_MOST_DIFF] = most
    finish_batch(memory, trace, batch)
    return batch


@inner_kernel
def write_wide(
    memory: Memory, trace: int, pairs: int, count: int, parts: int, position: int, rows: int
) -> int:
    """A batch of distinct sorted rows, as pairs of row number and diff; 0 where there are none."""
    if count == 0:
        return 0
    keys, values = memory[trace + at.TRACE_KEY_WORDS], memory[trace + at.TRACE_VALUE_WORDS]
    width = keys + values + 2
    versions = allocate(memory, count)
    distinct = _distinct_versions(memory, pairs, count, rows + width - 2, width, versions)
    key_count = 1
    for place in range(1, count):
        row = rows + memory[pairs + 2 * place] * width
        before = rows + memory[pairs + 2 * place - 2] * width
        key_count += 1 if compare_keys(memory, before, row, keys) != 0 else 0
    _frame_parts(memory, trace, pairs, count, parts, distinct - 1)
    batch = begin_batch(memory, trace, key_count, count, distinct, memory[at.FRAME])
    times = memory[batch + at.BATCH_TIMES_AT]
    for number in range(distinct):
        memory[times + 2 * number] = position
        memory[times + 2 * number + 1] = memory[versions + number]
    _write_rows(memory, trace, batch, pairs, count, rows)
    free(memory, versions)
    return _finish(memory, trace, batch, key_count, count, pairs)


@inner_kernel
def _write_rows(memory: Memory, trace: int, batch: int, pairs: int, count: int, rows: int) -> None:
    """Write keys, starts and packed rows."""
    keys, values = memory[trace + at.TRACE_KEY_WORDS], memory[trace + at.TRACE_VALUE_WORDS]
    keys_at, starts_at = memory[batch + at.BATCH_KEYS_AT], memory[batch + at.BATCH_STARTS_AT]
    target = memory[batch + at.BATCH_ROWS_AT]
    frame = batch + at.BATCH_FRAME
    key = -1
    for place in range(count):
        source = rows + memory[pairs + 2 * place] * (keys + values + 2)
        if key < 0 or compare_keys(memory, source, keys_at + key * keys, keys) != 0:
            key += 1
            for word in range(keys):
                memory[keys_at + key * keys + word] = memory[source + word]
            memory[starts_at + key] = place
        for word in range(memory[frame + at.FRAME_WIDTH]):
            memory[target + word] = 0
        for word in range(values):
            field = frame + at.FRAME_VALUES + word * at.FIELD_WORDS
            put_field(memory, target, field, memory[source + keys + word])
        time = _time_number(memory, batch, memory[source + keys + values])
        put_field(memory, target, frame + at.FRAME_TIME, time)
        put_field(memory, target, frame + at.FRAME_DIFF, memory[pairs + 2 * place + 1])
        target += memory[frame + at.FRAME_WIDTH]


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
    times = memory[batch + at.BATCH_TIMES_AT]
    low, high = 0, memory[batch + at.BATCH_TIMES] - 1
    while low < high:
        middle = (low + high) >> 1
        if memory[times + 2 * middle + 1] < version:
            low = middle + 1
        else:
            high = middle
    return low


_WORD_BITS = 62
TOO_WIDE = 1 << 20
MOST_WORD = (1 << 63) - 1
INSERTION_ROWS = 24
MOST_MOVES = 8
"""So many moves a row are worth to mend an order with; beyond, a merge sort is cheaper."""
WIDE_DIGIT_ROWS = 16384


@inner_kernel
def batch_of_bucket(memory: Memory, trace: int, bucket: int, position: int) -> int:
    """A batch of the rows of a bucket, all at one position; 0 where they cancel. Frees the bucket.

    The trace says which words are the key and how rows are sorted.
    """
    count = memory[bucket + at.BUCKET_COUNT]
    words = memory[trace + at.TRACE_KEY_WORDS] + memory[trace + at.TRACE_VALUE_WORDS] + 1
    parts = allocate(memory, PART_WORDS * words)
    order = allocate(memory, 4 * count)
    total = _measure(memory, trace, bucket, parts)
    if total <= _WORD_BITS:
        _pack(memory, bucket, parts, words, order)
        pairs = _radix_sort(memory, order, count, total)
        batch = write_packed(memory, trace, pairs, count, parts, position)
    else:
        rows = bucket + at.BUCKET_ROWS
        if not _prefix_sort(memory, rows, count, parts, words, order):
            _comparison_sort(memory, rows, count, parts, words, order)
        kept = _add_equal(memory, order, rows, count, parts, words, order + 2 * count)
        batch = write_wide(memory, trace, order + 2 * count, kept, parts, position, rows)
    free(memory, order)
    free(memory, parts)
    free(memory, bucket)
    return batch


@inner_kernel
def _measure(memory: Memory, trace: int, bucket: int, parts: int) -> int:
    """Describe each word in order of significance (see PART_WORDS); the sum of their bits.

    More than PACKED_BITS bits are too many to pack; shifts are then of no use. So are versions
    that lie far apart: packed, they would have to be numbers from the least on.
    """
    keys = memory[trace + at.TRACE_KEY_WORDS]
    values = memory[trace + at.TRACE_VALUE_WORDS]
    words = keys + values + 1
    by_time = memory[trace + at.TRACE_BY_TIME] != 0
    width = words + 1
    count = memory[bucket + at.BUCKET_COUNT]
    total = 0
    for place in range(words):
        word = place
        if by_time and place >= keys:
            word = keys + values if place == keys else place - 1
        least = memory[bucket + at.BUCKET_ROWS + word]
        most = least
        for row in range(count):
            value = memory[bucket + at.BUCKET_ROWS + row * width + word]
            if value < least:
                least = value
            elif value > most:
                most = value
        too_far = least < 0 and most > MOST_WORD + least
        if word == keys + values and most - least > 4 * count + 64:
            total += TOO_WIDE
        part = parts + PART_WORDS * place
        memory[part] = word
        memory[part + 1] = least
        memory[part + 2] = most
        memory[part + 3] = 64 if too_far else bit_length(most - least)
        total += memory[part + 3]
    shift = total
    for place in range(words):
        part = parts + PART_WORDS * place
        shift -= memory[part + 3]
        memory[part + 4] = shift
    return total


@joined_kernel
def _pack(memory: Memory, bucket: int, parts: int, words: int, order: int) -> None:
    """Write pairs of packed word and diff."""
    width = words + 1
    rows = bucket + at.BUCKET_ROWS
    count = memory[bucket + at.BUCKET_COUNT]
    for row in range(count):
        memory[order + 2 * row] = 0
        memory[order + 2 * row + 1] = memory[rows + row * width + words]
    for place in range(words):
        part = parts + PART_WORDS * place
        start, least, shift = rows + memory[part], memory[part + 1], memory[part + 4]
        if memory[part + 3] == 0:
            continue
        for row in range(count):
            memory[order + 2 * row] |= (memory[start + row * width] - least) << shift


@inner_kernel
def _radix_sort(memory: Memory, pairs: int, count: int, bits: int) -> int:
    """Sort pairs by their first word; the room behind them is used. Where they are in the end."""
    ordered = True
    for row in range(1, count):
        if memory[pairs + 2 * row] < memory[pairs + 2 * row - 2]:
            ordered = False
            break
    if ordered:
        return pairs
    if count <= INSERTION_ROWS:
        _insertion_sort(memory, pairs, count)
        return pairs
    digit = 11 if count >= WIDE_DIGIT_ROWS else 8
    starts = allocate(memory, 1 << digit)
    source, target = pairs, pairs + 2 * count
    shift = 0
    while shift < bits:
        _scatter(memory, source, target, count, starts, shift, digit)
        source, target = target, source
        shift += digit
    free(memory, starts)
    return source


@joined_kernel
def _insertion_sort(memory: Memory, pairs: int, count: int) -> None:
    for row in range(1, count):
        word = memory[pairs + 2 * row]
        diff = memory[pairs + 2 * row + 1]
        place = row
        while place > 0 and memory[pairs + 2 * place - 2] > word:
            memory[pairs + 2 * place] = memory[pairs + 2 * place - 2]
            memory[pairs + 2 * place + 1] = memory[pairs + 2 * place - 1]
            place -= 1
        memory[pairs + 2 * place] = word
        memory[pairs + 2 * place + 1] = diff


@joined_kernel
def _scatter(
    memory: Memory, source: int, target: int, count: int, starts: int, shift: int, digit: int
) -> None:
    """One pass of the radix sort: a stable partition by one digit."""
    size = 1 << digit
    mask = size - 1
    for value in range(size):
        memory[starts + value] = 0
    for row in range(count):
        memory[starts + ((memory[source + 2 * row] >> shift) & mask)] += 1
    total = 0
    for value in range(size):
        here = memory[starts + value]
        memory[starts + value] = total
        total += here
    for row in range(count):
        word = memory[source + 2 * row]
        value = (word >> shift) & mask
        place = memory[starts + value]
        memory[starts + value] = place + 1
        memory[target + 2 * place] = word
        memory[target + 2 * place + 1] = memory[source + 2 * row + 1]


@inner_kernel
def _row_before(memory: Memory, one: int, other: int, parts: int, words: int) -> int:
    """-1, 0 or 1 as one row comes before, with or after another, by all words but the diff."""
    for place in range(words):
        word = memory[parts + PART_WORDS * place]
        if memory[one + word] != memory[other + word]:
            return -1 if memory[one + word] < memory[other + word] else 1
    return 0


@inner_kernel
def _prefix_sort(memory: Memory, rows: int, count: int, parts: int, words: int, order: int) -> bool:
    """Sort row numbers by the first words, as many as fit into one, and mend the rest.

    Rows that these words do not tell apart are few where they hold a key. False, and nothing
    sorted, where no word fits or too many rows are not told apart.
    """
    fitting, bits = 0, 0
    while fitting < words and bits + memory[parts + PART_WORDS * fitting + 3] <= _WORD_BITS:
        bits += memory[parts + PART_WORDS * fitting + 3]
        fitting += 1
    if bits == 0:
        return False
    for row in range(count):
        packed = 0
        for place in range(fitting):
            part = parts + PART_WORDS * place
            word = memory[rows + row * (words + 1) + memory[part]]
            packed = (packed << memory[part + 3]) | (word - memory[part + 1])
        memory[order + 2 * row] = packed
        memory[order + 2 * row + 1] = row
    pairs = _radix_sort(memory, order, count, bits)
    for row in range(count):
        memory[order + row] = memory[pairs + 2 * row + 1]
    return _mend(memory, rows, count, parts, words, order)


@joined_kernel
def _mend(memory: Memory, rows: int, count: int, parts: int, words: int, order: int) -> bool:
    """Put row numbers that are almost in order into order; False where that takes too long."""
    width = words + 1
    left = MOST_MOVES * count
    for place in range(1, count):
        number = memory[order + place]
        entry = place
        while entry > 0 and left > 0:
            other = rows + memory[order + entry - 1] * width
            if _row_before(memory, other, rows + number * width, parts, words) <= 0:
                break
            memory[order + entry] = memory[order + entry - 1]
            entry -= 1
            left -= 1
        memory[order + entry] = number
    return left > 0


@inner_kernel
def _comparison_sort(
    memory: Memory, rows: int, count: int, parts: int, words: int, order: int
) -> None:
    """Merge sort of row numbers; the room behind them is used."""
    source, target = order, order + count
    for row in range(count):
        memory[source + row] = row
    run = 1
    while run < count:
        for start in range(0, count, 2 * run):
            _merge_runs(memory, source, target, start, run, count, rows, words + 1, parts, words)
        source, target = target, source
        run *= 2
    if source != order:
        for place in range(count):
            memory[order + place] = memory[source + place]


@joined_kernel
def _merge_runs(
    memory: Memory,
    source: int,
    target: int,
    start: int,
    run: int,
    count: int,
    rows: int,
    width: int,
    parts: int,
    words: int,
) -> None:
    middle = min(start + run, count)
    end = min(start + 2 * run, count)
    left, right = start, middle
    for place in range(start, end):
        take_left = right >= end
        if left < middle and not take_left:
            one = rows + memory[source + left] * width
            other = rows + memory[source + right] * width
            take_left = _row_before(memory, one, other, parts, words) <= 0
        if take_left:
            memory[target + place] = memory[source + left]
            left += 1
        else:
            memory[target + place] = memory[source + right]
            right += 1


@joined_kernel
def _add_equal(
    memory: Memory, numbers: int, rows: int, count: int, parts: int, words: int, pairs: int
) -> int:
    """Write pairs of row number and diff for distinct rows that do not cancel; how many."""
    width = words + 1
    kept = 0
    place = 0
    while place < count:
        number = memory[numbers + place]
        row = rows + number * width
        diff = memory[row + words]
        place += 1
        while place < count:
            other = rows + memory[numbers + place] * width
            if _row_before(memory, row, other, parts, words) != 0:
                break
            diff = held(diff + memory[other + words])
            place += 1
        if diff != 0:
            memory[pairs + 2 * kept] = number
            memory[pairs + 2 * kept + 1] = diff
            kept += 1
    return kept
