"""Batches: sorted, immutable rows with an index of their keys.

A batch is one block: its head, the distinct keys, where the rows of each key begin, the index, the
distinct times, and the rows. A row has its values, time and diff in consecutive words, packed as
the frame in the head says (see `dataflow_frames`), so that what belongs to a key is read together.
Rows of a key are sorted by value or by time: `TRACE_BY_TIME` says which.

The index divides the range of the first key word into equal parts, about one for four keys, and
holds where each begins. Where keys are dense a seek is two loads; where they are not, a binary
search within one part.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    BATCH_INDEX_AT,
    BATCH_INDEX_BASE,
    BATCH_INDEX_SHIFT,
    BATCH_INDEX_SIZE,
    BATCH_KEYS,
    BATCH_KEYS_AT,
    BATCH_LEAST_DIFF,
    BATCH_MOST_DIFF,
    BATCH_ROWS,
    BATCH_ROWS_AT,
    BATCH_STARTS_AT,
    BATCH_TIMES,
    BATCH_TIMES_AT,
    FIELD_WORDS,
    FRAME_VALUES,
    FRAME_WIDTH,
    TRACE_KEY_WORDS,
    TRACE_VALUE_WORDS,
    Memory,
)
from graphtide.kernels.dataflow.memory import allocate, copy_words
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

KEYS_A_PART = 4
ONE_PART = 63
MOST_WORD = (1 << 63) - 1


@inner_kernel
def begin_batch(memory: Memory, trace: int, keys: int, rows: int, times: int, frame: int) -> int:
    """A block with room for so many keys, rows and times, and all that its head says of them."""
    key_words = memory[trace + TRACE_KEY_WORDS]
    head = frame_words(memory[trace + TRACE_VALUE_WORDS])
    keys_at = BATCH_FRAME + head
    starts_at = keys_at + keys * key_words
    index_at = starts_at + keys + 1
    times_at = index_at + keys // KEYS_A_PART + 2
    rows_at = times_at + 2 * times
    batch = allocate(memory, rows_at + rows * memory[frame + FRAME_WIDTH])
    memory[batch + BATCH_KEYS] = 0
    memory[batch + BATCH_ROWS] = 0
    memory[batch + BATCH_KEYS_AT] = batch + keys_at
    memory[batch + BATCH_STARTS_AT] = batch + starts_at
    memory[batch + BATCH_INDEX_AT] = batch + index_at
    memory[batch + BATCH_TIMES] = times
    memory[batch + BATCH_TIMES_AT] = batch + times_at
    memory[batch + BATCH_ROWS_AT] = batch + rows_at
    memory[batch + BATCH_LEAST_DIFF] = MOST_WORD
    memory[batch + BATCH_MOST_DIFF] = -MOST_WORD
    copy_words(memory, frame, batch + BATCH_FRAME, head)
    return batch


@joined_kernel
def frame_words(values: int) -> int:
    """Words of the frame of rows of so many values."""
    return FRAME_VALUES + values * FIELD_WORDS


@inner_kernel
def finish_batch(memory: Memory, trace: int, batch: int) -> None:
    """Close the last key and make the index; keys and rows are written and counted."""
    keys = memory[batch + BATCH_KEYS]
    words = memory[trace + TRACE_KEY_WORDS]
    keys_at = memory[batch + BATCH_KEYS_AT]
    memory[memory[batch + BATCH_STARTS_AT] + keys] = memory[batch + BATCH_ROWS]
    if keys == 0 or words == 0:
        memory[batch + BATCH_INDEX_SIZE] = 0
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
    memory[batch + BATCH_INDEX_BASE] = base
    memory[batch + BATCH_INDEX_SHIFT] = shift
    size = (span >> shift) + 1
    memory[batch + BATCH_INDEX_SIZE] = size
    index = memory[batch + BATCH_INDEX_AT]
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
    size = memory[batch + BATCH_INDEX_SIZE]
    if size == 0:
        return 0 if words == 0 and memory[batch + BATCH_KEYS] > 0 else -1
    base = memory[batch + BATCH_INDEX_BASE]
    shift = memory[batch + BATCH_INDEX_SHIFT]
    if memory[key] < base or (base < 0 and memory[key] > MOST_WORD + base and shift < ONE_PART):
        return -1
    part = 0 if shift == ONE_PART else (memory[key] - base) >> shift
    if part >= size:
        return -1
    index = memory[batch + BATCH_INDEX_AT] + part
    keys_at = memory[batch + BATCH_KEYS_AT]
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
