"""Sort the rows of a bucket, add up equal ones, and make them a batch.

The words that differ between rows are packed into one: each word less its minimum, in as many
bits as its range takes, keys highest. Pairs of packed word and row number are then sorted by
radix, which is linear; and since packing loses nothing, the batch is written from the sorted
words without going back to the rows, except for their diffs. Rows too wide to pack are sorted by
comparison. Rows that come in order, as those of reduce do, are found so on the way and not
sorted at all.
"""

from __future__ import annotations

from graphtide.kernels.dataflow_batches import begin_batch, compare_keys, finish_batch
from graphtide.kernels.dataflow_layout import (
    BATCH_KEYS,
    BATCH_KEYS_AT,
    BATCH_ROWS,
    BATCH_ROWS_AT,
    BATCH_STARTS_AT,
    BUCKET_COUNT,
    BUCKET_ROWS,
    TRACE_BODY_WORDS,
    TRACE_KEY_WORDS,
    TRACE_POSITION_AT,
    TRACE_VALUE_AT,
    TRACE_VALUE_WORDS,
    Memory,
)
from graphtide.kernels.dataflow_memory import allocate, bit_length, free
from graphtide.kernels.jit import inlined_kernel, inner_kernel

PACKED_BITS = 62
MOST_WORD = (1 << 63) - 1
INSERTION_ROWS = 24
WIDE_DIGIT_ROWS = 16384


@inner_kernel
def batch_of_bucket(memory: Memory, trace: int, bucket: int, position: int) -> int:
    """A batch of the rows of a bucket, all at one position; 0 where they cancel. Frees the bucket.

    The trace says which words are the key and how bodies are laid out.
    """
    count = memory[bucket + BUCKET_COUNT]
    words = memory[trace + TRACE_KEY_WORDS] + memory[trace + TRACE_VALUE_WORDS] + 1
    fields = allocate(memory, 4 * words)
    order = allocate(memory, 4 * count)
    total = _measure(memory, trace, bucket, fields)
    if total <= PACKED_BITS:
        _pack(memory, bucket, fields, words, order)
        ordered = _radix_sort(memory, order, count, total)
    else:
        ordered = _comparison_sort(memory, bucket, fields, words, order)
    batch = _build(memory, trace, bucket, fields, ordered, position)
    free(memory, order)
    free(memory, fields)
    free(memory, bucket)
    return batch


@inlined_kernel
def _measure(memory: Memory, trace: int, bucket: int, fields: int) -> int:
    """For each word in order of significance: which one, its least value, bits, shift. Sums bits.

    More than PACKED_BITS bits are too many to pack; shifts are then not set.
    """
    keys = memory[trace + TRACE_KEY_WORDS]
    values = memory[trace + TRACE_VALUE_WORDS]
    words = keys + values + 1
    by_time = memory[trace + TRACE_POSITION_AT] == 0
    width = words + 1
    count = memory[bucket + BUCKET_COUNT]
    total = 0
    for place in range(words):
        word = place
        if by_time and place >= keys:
            word = keys + values if place == keys else place - 1
        least = memory[bucket + BUCKET_ROWS + word]
        most = least
        for row in range(count):
            value = memory[bucket + BUCKET_ROWS + row * width + word]
            if value < least:
                least = value
            elif value > most:
                most = value
        too_far = least < 0 and most > MOST_WORD + least
        bits = 64 if too_far else bit_length(most - least)
        memory[fields + 4 * place] = word
        memory[fields + 4 * place + 1] = least
        memory[fields + 4 * place + 2] = bits
        total += bits
    shift = total
    for place in range(words):
        shift -= memory[fields + 4 * place + 2]
        memory[fields + 4 * place + 3] = shift
    return total


@inlined_kernel
def _pack(memory: Memory, bucket: int, fields: int, words: int, order: int) -> None:
    """Write pairs of packed word and row number."""
    width = words + 1
    count = memory[bucket + BUCKET_COUNT]
    for row in range(count):
        memory[order + 2 * row] = 0
        memory[order + 2 * row + 1] = row
    for place in range(words):
        word = memory[fields + 4 * place]
        least = memory[fields + 4 * place + 1]
        shift = memory[fields + 4 * place + 3]
        if memory[fields + 4 * place + 2] == 0:
            continue
        start = bucket + BUCKET_ROWS + word
        for row in range(count):
            memory[order + 2 * row] |= (memory[start + row * width] - least) << shift


@inlined_kernel
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


@inlined_kernel
def _insertion_sort(memory: Memory, pairs: int, count: int) -> None:
    for row in range(1, count):
        word = memory[pairs + 2 * row]
        number = memory[pairs + 2 * row + 1]
        place = row
        while place > 0 and memory[pairs + 2 * place - 2] > word:
            memory[pairs + 2 * place] = memory[pairs + 2 * place - 2]
            memory[pairs + 2 * place + 1] = memory[pairs + 2 * place - 1]
            place -= 1
        memory[pairs + 2 * place] = word
        memory[pairs + 2 * place + 1] = number


@inlined_kernel
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
def _row_before(memory: Memory, one: int, other: int, fields: int, words: int) -> int:
    """-1, 0 or 1 as one row comes before, with or after another, by all words but the diff."""
    for place in range(words):
        word = memory[fields + 4 * place]
        if memory[one + word] != memory[other + word]:
            return -1 if memory[one + word] < memory[other + word] else 1
    return 0


@inlined_kernel
def _comparison_sort(memory: Memory, bucket: int, fields: int, words: int, order: int) -> int:
    """Merge sort of row numbers; then pairs whose first word counts distinct rows upward."""
    count = memory[bucket + BUCKET_COUNT]
    rows, width = bucket + BUCKET_ROWS, words + 1
    source, target = order, order + count
    for row in range(count):
        memory[source + row] = row
    run = 1
    while run < count:
        for start in range(0, count, 2 * run):
            _merge_runs(memory, source, target, start, run, count, rows, width, fields, words)
        source, target = target, source
        run *= 2
    pairs = order + 2 * count
    number = 0
    for place in range(count):
        row = memory[source + place]
        if place > 0:
            before = rows + memory[source + place - 1] * width
            number += 1 if _row_before(memory, before, rows + row * width, fields, words) else 0
        memory[pairs + 2 * place] = number
        memory[pairs + 2 * place + 1] = row
    return pairs  # type: ignore[no-any-return]


@inlined_kernel
def _merge_runs(
    memory: Memory,
    source: int,
    target: int,
    start: int,
    run: int,
    count: int,
    rows: int,
    width: int,
    fields: int,
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
            take_left = _row_before(memory, one, other, fields, words) <= 0
        if take_left:
            memory[target + place] = memory[source + left]
            left += 1
        else:
            memory[target + place] = memory[source + right]
            right += 1


@inlined_kernel
def _build(memory: Memory, trace: int, bucket: int, fields: int, pairs: int, position: int) -> int:
    """Add up equal rows of the sorted pairs in place, then write what is left as a batch."""
    count = memory[bucket + BUCKET_COUNT]
    keys = memory[trace + TRACE_KEY_WORDS]
    values = memory[trace + TRACE_VALUE_WORDS]
    width = keys + values + 2
    rows = bucket + BUCKET_ROWS
    kept = 0
    key_count = 0
    row = 0
    while row < count:
        word = memory[pairs + 2 * row]
        number = memory[pairs + 2 * row + 1]
        diff = memory[rows + number * width + width - 1]
        row += 1
        while row < count and memory[pairs + 2 * row] == word:
            diff += memory[rows + memory[pairs + 2 * row + 1] * width + width - 1]
            row += 1
        if diff == 0:
            continue
        memory[pairs + 2 * kept] = number
        memory[pairs + 2 * kept + 1] = diff
        if kept == 0 or not _same_key(
            memory, rows + number * width, rows + memory[pairs + 2 * kept - 2] * width, keys
        ):
            key_count += 1
        kept += 1
    if kept == 0:
        return 0
    return _write(memory, trace, rows, pairs, position, key_count, kept)


@inner_kernel
def _same_key(memory: Memory, one: int, other: int, words: int) -> bool:
    return compare_keys(memory, one, other, words) == 0


@inlined_kernel
def _write(
    memory: Memory, trace: int, rows: int, pairs: int, position: int, key_count: int, kept: int
) -> int:
    keys = memory[trace + TRACE_KEY_WORDS]
    values = memory[trace + TRACE_VALUE_WORDS]
    body = memory[trace + TRACE_BODY_WORDS]
    value_at = memory[trace + TRACE_VALUE_AT]
    position_at = memory[trace + TRACE_POSITION_AT]
    width = keys + values + 2
    batch = begin_batch(memory, trace, key_count, kept)
    keys_at = memory[batch + BATCH_KEYS_AT]
    starts_at = memory[batch + BATCH_STARTS_AT]
    target = memory[batch + BATCH_ROWS_AT]
    key = -1
    for place in range(kept):
        source = rows + memory[pairs + 2 * place] * width
        if key < 0 or not _same_key(memory, source, keys_at + key * keys, keys):
            key += 1
            for word in range(keys):
                memory[keys_at + key * keys + word] = memory[source + word]
            memory[starts_at + key] = place
        for word in range(values):
            memory[target + value_at + word] = memory[source + keys + word]
        memory[target + position_at] = position
        memory[target + position_at + 1] = memory[source + width - 2]
        memory[target + body - 1] = memory[pairs + 2 * place + 1]
        target += body
    memory[batch + BATCH_KEYS] = key + 1
    memory[batch + BATCH_ROWS] = kept
    finish_batch(memory, trace, batch)
    return batch
