"""Frames: how the rows of a batch are packed into words.

The rows of a batch differ little: values lie in a range, diffs are mostly 1, and all rows share
a few times. So a row is stored as fields, each less the least that it is in the batch, in as many
bits as its range takes; its time is a number into the table of distinct times of the batch, which
holds each position and version once. An edge of a graph of a million vertices takes one word
where it would take four.

Fields follow one another in the order in which rows are sorted, from the highest bit down, with
the diff last, and do not straddle words; so rows of one frame compare word by word, once the diff
is masked. Only 63 bits of a word are used, or all 64 by one field as it is: words compare as
signed numbers either way.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    BATCH_TIMES_AT,
    FIELD_LEAST,
    FIELD_MASK,
    FIELD_MOST,
    FIELD_SHIFT,
    FIELD_WORD,
    FIELD_WORDS,
    FRAME_DIFF,
    FRAME_ORDER,
    FRAME_TIME,
    FRAME_VALUES,
    FRAME_WIDTH,
    Memory,
)
from graphtide.kernels.dataflow.memory import bit_length
from graphtide.kernels.jit import inner_kernel, joined_kernel

PACKED_BITS = 63
WHOLE_WORD = 64
MOST_WORD = (1 << 63) - 1


@inner_kernel
def set_range(memory: Memory, field: int, least: int, most: int) -> None:
    """Say what a field has to hold; until `lay_out`, its shift is its number of bits."""
    too_far = least < 0 and most > MOST_WORD + least
    bits = WHOLE_WORD if too_far else bit_length(most - least)
    if bits >= PACKED_BITS:
        bits = WHOLE_WORD
    memory[field + FIELD_SHIFT] = bits
    memory[field + FIELD_MASK] = -1 if bits == WHOLE_WORD else (1 << bits) - 1
    memory[field + FIELD_LEAST] = 0 if bits == WHOLE_WORD else least
    memory[field + FIELD_MOST] = most


@inner_kernel
def widen_range(memory: Memory, field: int, one: int, other: int) -> None:
    """Let a field hold what two fields of other frames hold."""
    if memory[one + FIELD_MASK] == -1 or memory[other + FIELD_MASK] == -1:
        set_range(memory, field, -MOST_WORD, MOST_WORD)
        return
    least = min(memory[one + FIELD_LEAST], memory[other + FIELD_LEAST])
    most = max(memory[one + FIELD_MOST], memory[other + FIELD_MOST])
    set_range(memory, field, least, most)


@inner_kernel
def lay_out(memory: Memory, frame: int, values: int, by_time: bool) -> None:
    """Give each field its place, in the order of significance; ranges are set."""
    word, used = 0, 0
    for place in range(values + 2):
        field = frame + FRAME_VALUES + (place - (1 if by_time else 0)) * FIELD_WORDS
        if place == (0 if by_time else values):
            field = frame + FRAME_TIME
        if place == values + 1:
            field = frame + FRAME_DIFF
        bits = memory[field + FIELD_SHIFT]
        if bits > 0 and used > 0 and used + bits > PACKED_BITS:
            word += 1
            used = 0
        packed = 0 < bits < WHOLE_WORD
        memory[field + FIELD_WORD] = word
        memory[field + FIELD_SHIFT] = PACKED_BITS - used - bits if packed else 0
        used += bits
    memory[frame + FRAME_WIDTH] = word + 1
    diff = frame + FRAME_DIFF
    memory[frame + FRAME_ORDER] = ~(memory[diff + FIELD_MASK] << memory[diff + FIELD_SHIFT])


@joined_kernel
def field_of(memory: Memory, row: int, field: int) -> int:
    """What a row holds in a field."""
    word = memory[row + memory[field + FIELD_WORD]]
    packed = (word >> memory[field + FIELD_SHIFT]) & memory[field + FIELD_MASK]
    return packed + memory[field + FIELD_LEAST]  # type: ignore[no-any-return]


@joined_kernel
def put_field(memory: Memory, row: int, field: int, value: int) -> None:
    """Write a field into a row where it is still 0."""
    packed = (value - memory[field + FIELD_LEAST]) << memory[field + FIELD_SHIFT]
    memory[row + memory[field + FIELD_WORD]] |= packed


@joined_kernel
def time_of(memory: Memory, batch: int, row: int) -> int:
    """The address of the position of a row; the version follows it."""
    field = batch + BATCH_FRAME + FRAME_TIME
    word = memory[row + memory[field + FIELD_WORD]]
    number = (word >> memory[field + FIELD_SHIFT]) & memory[field + FIELD_MASK]
    return memory[batch + BATCH_TIMES_AT] + 2 * number  # type: ignore[no-any-return]


@joined_kernel
def value_of(memory: Memory, batch: int, row: int, number: int) -> int:
    """One of the values of a row."""
    return field_of(memory, row, batch + BATCH_FRAME + FRAME_VALUES + number * FIELD_WORDS)


@joined_kernel
def diff_of(memory: Memory, batch: int, row: int) -> int:
    """The diff of a row."""
    return field_of(memory, row, batch + BATCH_FRAME + FRAME_DIFF)


@inner_kernel
def load_row(memory: Memory, batch: int, row: int, values: int, target: int) -> None:
    """Write a row as plain words: values, position, version, diff."""
    field = batch + BATCH_FRAME + FRAME_VALUES
    for word in range(values):
        memory[target + word] = field_of(memory, row, field)
        field += FIELD_WORDS
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
