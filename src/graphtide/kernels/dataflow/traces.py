"""Traces: the batches of one arrangement, merged as they age.

The spine is a list of slots of falling size, oldest first. A slot holds one batch, or two that
are being merged; readers read both until the merge is done. Every batch that enters pays for
`effort` rows of merging per row of its own in each unfinished merge, so no single update waits
for a large merge, and the merge is over before its result is needed: a slot is asked to merge
again only after half its own size has come in behind it.

Rows of the batch that came in at the current position stand apart in `TRACE_FRESH`: to some
operators they are news, to others history. How two batches are merged is in `merging`.

What is kept true: the rows of all slots and of the fresh batch add up, at every time that a
reader may ask for, to the collection.

What Python wants of traces when it brings them back to before a batch that failed.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import seek_key
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import allocate, allocate_zeros, free
from graphtide.kernels.dataflow.merging import ALL_OF_IT, begin_merge, begin_result, merge_on
from graphtide.kernels.dataflow.sorting import batch_of_bucket
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, lean_kernel


def new_trace(memory: Memory, key_words: int, value_words: int, by_time: bool) -> int:
    """An empty trace with the rows of a key sorted by value, or by time. For Python alone."""
    trace = allocate_zeros(memory, at.TRACE_WORDS)
    memory[trace + at.TRACE_KEY_WORDS] = key_words
    memory[trace + at.TRACE_VALUE_WORDS] = value_words
    memory[trace + at.TRACE_BODY_WORDS] = value_words + 3
    memory[trace + at.TRACE_BY_TIME] = 1 if by_time else 0
    memory[trace + at.TRACE_SLOTS] = allocate(memory, at.MOST_SLOTS * at.SLOT_WORDS)
    return trace


@bare_kernel
def drop_trace(memory: Memory, trace: int) -> None:
    slots = memory[trace + at.TRACE_SLOTS]
    for number in range(memory[trace + at.TRACE_SLOT_COUNT]):
        slot = slots + number * at.SLOT_WORDS
        free(memory, memory[slot + at.SLOT_OLDER])
        free(memory, memory[slot + at.SLOT_NEWER])
        if memory[slot + at.SLOT_RESULT] != 0:
            free(memory, memory[slot + at.SLOT_RESULT])
            free(memory, memory[slot + at.SLOT_CODES])
    free(memory, memory[trace + at.TRACE_FRESH])
    free(memory, slots)
    free(memory, trace)


def add_reader(memory: Memory, trace: int, operator: int, side: int) -> None:
    """Tell an operator of every fresh batch; side 0 is its left input, 1 its right.

    For Python alone, like all that builds: it runs a few times, and is not worth to be compiled.
    """
    reader = allocate(memory, 3)
    memory[reader] = memory[trace + at.TRACE_READERS]
    memory[reader + 1] = operator
    memory[reader + 2] = side
    memory[trace + at.TRACE_READERS] = reader


@bare_kernel
def remove_reader(memory: Memory, trace: int, operator: int) -> None:
    before = trace + at.TRACE_READERS
    while memory[before] != 0:
        reader = memory[before]
        if memory[reader + 1] == operator:
            memory[before] = memory[reader]
            free(memory, reader)
        else:
            before = reader


@inner_kernel
def announce(memory: Memory, trace: int, position: int) -> None:
    """Mark the fresh batch as news for all readers. All of a trace as news stays so."""
    reader = memory[trace + at.TRACE_READERS]
    while reader != 0:
        operator = memory[reader + 1]
        news = operator + (at.OP_LEFT_NEWS if memory[reader + 2] == 0 else at.OP_RIGHT_NEWS)
        place = operator + (at.OP_LEFT_AT if memory[reader + 2] == 0 else at.OP_RIGHT_AT)
        if memory[news] != 2:
            memory[news] = 1
            memory[place] = position
        reader = memory[reader]


@lean_kernel
def count_batches(memory: Memory, trace: int) -> int:
    """How many places `batch_at` knows: two a slot, and one for the fresh batch."""
    return 2 * memory[trace + at.TRACE_SLOT_COUNT] + 1  # type: ignore[no-any-return]


@lean_kernel
def batch_at(memory: Memory, trace: int, place: int) -> int:
    """The batch at a place, or 0; the fresh batch has the last place."""
    if place == 2 * memory[trace + at.TRACE_SLOT_COUNT]:
        return memory[trace + at.TRACE_FRESH]  # type: ignore[no-any-return]
    slot = memory[trace + at.TRACE_SLOTS] + (place >> 1) * at.SLOT_WORDS
    return memory[slot + at.SLOT_OLDER] if place & 1 == 0 else memory[slot + at.SLOT_NEWER]  # type: ignore[no-any-return]


@inner_kernel
def open_cursors(memory: Memory, trace: int, key: int) -> int:
    """Find the rows of a key in all batches: a cursor in CURSORS for each; how many."""
    words = memory[trace + at.TRACE_KEY_WORDS]
    cursor = memory[at.CURSORS]
    found = 0
    for place in range(count_batches(memory, trace)):
        batch = batch_at(memory, trace, place)
        if batch == 0:
            continue
        number = seek_key(memory, batch, key, words)
        if number < 0:
            continue
        starts = memory[batch + at.BATCH_STARTS_AT] + number
        rows, width = (
            memory[batch + at.BATCH_ROWS_AT],
            memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH],
        )
        memory[cursor + at.CURSOR_ROW] = rows + memory[starts] * width
        memory[cursor + at.CURSOR_END] = rows + memory[starts + 1] * width
        memory[cursor + at.CURSOR_BATCH] = batch
        cursor += at.CURSOR_WORDS
        found += 1
    return found


@joined_kernel
def plain_cursor(memory: Memory, number: int, first: int, end: int) -> None:
    """Put plain rows, values first, under one of the cursors."""
    cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
    memory[cursor + at.CURSOR_ROW] = first
    memory[cursor + at.CURSOR_END] = end
    memory[cursor + at.CURSOR_BATCH] = 0


@inner_kernel
def settle_fresh(memory: Memory, trace: int) -> None:
    """Move the fresh batch into the spine, and pay for merging."""
    batch = memory[trace + at.TRACE_FRESH]
    if batch == 0:
        return
    memory[trace + at.TRACE_FRESH] = 0
    if memory[trace + at.TRACE_FORGETS] != 0:
        free(memory, batch)
        return
    rows = memory[batch + at.BATCH_ROWS]
    count = memory[trace + at.TRACE_SLOT_COUNT]
    slot = memory[trace + at.TRACE_SLOTS] + count * at.SLOT_WORDS
    memory[slot + at.SLOT_OLDER] = batch
    memory[slot + at.SLOT_NEWER] = 0
    memory[slot + at.SLOT_RESULT] = 0
    memory[slot + at.SLOT_SIZE] = rows
    memory[trace + at.TRACE_SLOT_COUNT] = count + 1
    # A merge may end in an error: by now, whoever reads the trace finds all batches in the spine.
    _work(memory, trace, rows * memory[at.EFFORT])
    _restore_order(memory, trace)


@joined_kernel
def _restore_order(memory: Memory, trace: int) -> None:
    """Begin merges until every slot is more than twice as large as the one behind it."""
    slots = memory[trace + at.TRACE_SLOTS]
    count = memory[trace + at.TRACE_SLOT_COUNT]
    while count > 1:
        left = slots + (count - 2) * at.SLOT_WORDS
        right = left + at.SLOT_WORDS
        size = memory[right + at.SLOT_SIZE]
        if memory[left + at.SLOT_SIZE] > 2 * size and memory[left + at.SLOT_SIZE] > at.SMALL_SLOT:
            break
        merge_on(memory, trace, left, ALL_OF_IT)
        merge_on(memory, trace, right, ALL_OF_IT)
        # A merge that finds no room leaves both batches in the left slot: none must be read twice.
        count -= 1
        memory[trace + at.TRACE_SLOT_COUNT] = count
        begin_merge(memory, trace, left, right)
        if memory[left + at.SLOT_SIZE] <= at.SMALL_SLOT or memory[at.EFFORT] < 0:
            merge_on(memory, trace, left, ALL_OF_IT)
        if memory[left + at.SLOT_SIZE] == 0:
            count -= 1
            memory[trace + at.TRACE_SLOT_COUNT] = count


@joined_kernel
def _work(memory: Memory, trace: int, fuel: int) -> None:
    """Carry every unfinished merge on by so many rows; newest first."""
    slots = memory[trace + at.TRACE_SLOTS]
    for number in range(memory[trace + at.TRACE_SLOT_COUNT] - 1, -1, -1):
        merge_on(memory, trace, slots + number * at.SLOT_WORDS, fuel)


@joined_kernel
def finish_merges(memory: Memory, trace: int) -> None:
    """Merge the whole trace into one compacted batch; linear in the trace."""
    settle_fresh(memory, trace)
    slots = memory[trace + at.TRACE_SLOTS]
    while memory[trace + at.TRACE_SLOT_COUNT] > 0:
        count = memory[trace + at.TRACE_SLOT_COUNT]
        last = slots + (count - 1) * at.SLOT_WORDS
        merge_on(memory, trace, last, ALL_OF_IT)
        if count == 1:
            break
        left = last - at.SLOT_WORDS
        merge_on(memory, trace, left, ALL_OF_IT)
        memory[trace + at.TRACE_SLOT_COUNT] = count - 1
        begin_merge(memory, trace, left, last)
        merge_on(memory, trace, left, ALL_OF_IT)
    if memory[trace + at.TRACE_SLOT_COUNT] == 1:
        _compact_alone(memory, trace, slots)


@joined_kernel
def _compact_alone(memory: Memory, trace: int, slot: int) -> None:
    """Rewrite the one batch of a trace with representative versions."""
    if memory[slot + at.SLOT_OLDER] != 0:
        begin_result(memory, trace, slot)
        merge_on(memory, trace, slot, ALL_OF_IT)
    if memory[slot + at.SLOT_SIZE] == 0:
        memory[trace + at.TRACE_SLOT_COUNT] = 0


@bare_kernel
def add_batch(memory: Memory, trace: int, bucket: int, position: int) -> None:
    """Let a trace have the rows of a bucket, all at one position; no reader is told of them."""
    settle_fresh(memory, trace)
    memory[trace + at.TRACE_FRESH] = batch_of_bucket(memory, trace, bucket, position)
