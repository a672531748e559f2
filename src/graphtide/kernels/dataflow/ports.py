"""Ports: rows that wait for an operator, sorted into buckets by position.

A row in a bucket is its data words, the version and the diff; the position is the bucket's. The
operator takes the whole bucket when the run comes to that position. Buckets are kept ascending by
position, and the one written last is tried first, so a row costs a comparison and a store.

A bucket that is full is added up before it grows, once it has as many rows as operators may send
in one go. So what waits takes no more than twice the memory of what it adds up to, even where a
join of two hubs sends every pair of their neighbours. Each such pass is paid for by the rows that
have come since the last one: as many as were left then.

Add up the rows of a bucket where they stand: equal records of one version become one row.

Rows find their like by a table of hashes, so it takes one pass and no sorting. What is left keeps
the order in which it came. The table is two words a row, and is gone afterwards.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import (
    allocate,
    allocate_zeros,
    copy_words,
    free,
    larger_block,
)
from graphtide.kernels.dataflow.numbers import can_be_held
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, lean_kernel

_SPREAD = -7046029254386353131


@inner_kernel
def add_up_bucket(memory: Memory, bucket: int, width: int) -> None:
    """Leave one row of so many words for all that differ in their last word alone, the diff."""
    count = memory[bucket + at.BUCKET_COUNT]
    rows = bucket + at.BUCKET_ROWS
    size = 1
    while size < 2 * count:
        size *= 2
    table = allocate_zeros(memory, size)
    kept = 0
    for number in range(count):
        row = rows + number * width
        place = hash_words(memory, row, width - 1) & (size - 1)
        while memory[table + place] != 0:
            other = rows + (memory[table + place] - 1) * width
            diff = memory[other + width - 1] + memory[row + width - 1]
            # Rows whose sum cannot be held stay apart: the operator that takes them will tell.
            if can_be_held(diff) and same_words(memory, row, other, width - 1):
                memory[other + width - 1] = diff
                break
            place = (place + 1) & (size - 1)
        if memory[table + place] == 0:
            if kept != number:
                copy_words(memory, row, rows + kept * width, width)
            kept += 1
            memory[table + place] = kept
    free(memory, table)
    memory[bucket + at.BUCKET_COUNT] = _without_zeros(memory, rows, kept, width)


@joined_kernel
def hash_words(memory: Memory, row: int, words: int) -> int:
    """A number that differs for different words, as a rule."""
    found = 0
    for word in range(words):
        found = (found ^ memory[row + word]) * _SPREAD
        found ^= found >> 29
    return found


@joined_kernel
def same_words(memory: Memory, one: int, other: int, words: int) -> bool:
    same = True
    for word in range(words):
        if memory[one + word] != memory[other + word]:
            same = False
            break
    return same


@joined_kernel
def _without_zeros(memory: Memory, rows: int, count: int, width: int) -> int:
    """Move rows whose diff is not 0 to the front; how many there are."""
    kept = 0
    for number in range(count):
        if memory[rows + number * width + width - 1] != 0:
            if kept != number:
                copy_words(memory, rows + number * width, rows + kept * width, width)
            kept += 1
    return kept


NOWHERE = (1 << 62) - 1
"""The first position of a port that is empty: after all others."""


def new_port(memory: Memory, data_words: int) -> int:
    """A port for rows of so many data words. For Python alone: it is not compiled."""
    port = allocate_zeros(memory, at.PORT_WORDS)
    memory[port + at.PORT_WIDTH] = data_words + 2
    memory[port + at.PORT_ROOM] = 8
    memory[port + at.PORT_LIST] = allocate(memory, 16)
    return port


@bare_kernel
def drop_port(memory: Memory, port: int) -> None:
    pairs = memory[port + at.PORT_LIST]
    for number in range(memory[port + at.PORT_COUNT]):
        free(memory, memory[pairs + 2 * number + 1])
    free(memory, pairs)
    free(memory, port)


@lean_kernel
def first_position(memory: Memory, port: int) -> int:
    """The least position with rows, or NOWHERE."""
    if port == 0 or memory[port + at.PORT_COUNT] == 0:
        return NOWHERE
    return memory[memory[port + at.PORT_LIST]]  # type: ignore[no-any-return]


@inner_kernel
def new_row(memory: Memory, port: int, position: int) -> int:
    """The address of one more row at a position, for the caller to fill."""
    pairs = memory[port + at.PORT_LIST]
    last = memory[port + at.PORT_LAST]
    if last >= memory[port + at.PORT_COUNT] or memory[pairs + 2 * last] != position:
        last = _find_bucket(memory, port, position)
        memory[port + at.PORT_LAST] = last
        pairs = memory[port + at.PORT_LIST]
    bucket = memory[pairs + 2 * last + 1]
    width = memory[port + at.PORT_WIDTH]
    count = memory[bucket + at.BUCKET_COUNT]
    if count == memory[bucket + at.BUCKET_ROOM]:
        bucket = _more_room(memory, bucket, width, 1)
        count = memory[bucket + at.BUCKET_COUNT]
        memory[pairs + 2 * last + 1] = bucket
    memory[bucket + at.BUCKET_COUNT] = count + 1
    memory[port + at.PORT_RECEIVED] += 1
    return bucket + at.BUCKET_ROWS + count * width  # type: ignore[no-any-return]


@inner_kernel
def new_rows(memory: Memory, port: int, position: int, rows: int) -> int:
    """The address of so many more rows at a position, one behind the other, to be filled."""
    last = _find_bucket(memory, port, position)
    pairs = memory[port + at.PORT_LIST]
    memory[port + at.PORT_LAST] = last
    bucket, width = memory[pairs + 2 * last + 1], memory[port + at.PORT_WIDTH]
    if memory[bucket + at.BUCKET_COUNT] + rows > memory[bucket + at.BUCKET_ROOM]:
        bucket = _more_room(memory, bucket, width, rows)
        memory[pairs + 2 * last + 1] = bucket
    count = memory[bucket + at.BUCKET_COUNT]
    memory[bucket + at.BUCKET_COUNT] = count + rows
    memory[port + at.PORT_RECEIVED] += rows
    return bucket + at.BUCKET_ROWS + count * width  # type: ignore[no-any-return]


@inner_kernel
def _more_room(memory: Memory, bucket: int, width: int, rows: int) -> int:
    """The bucket with room for more rows: added up where that frees half of it, or larger."""
    count, room = memory[bucket + at.BUCKET_COUNT], memory[bucket + at.BUCKET_ROOM]
    if count >= memory[at.FUEL]:
        add_up_bucket(memory, bucket, width)
        count = memory[bucket + at.BUCKET_COUNT]
        if 2 * count <= room and count + rows <= room:
            return bucket
    room = max(2 * room, count + rows)
    fresh = larger_block(
        memory, bucket, at.BUCKET_ROWS + count * width, at.BUCKET_ROWS + room * width
    )
    memory[fresh + at.BUCKET_ROOM] = room
    return fresh


@inner_kernel
def _find_bucket(memory: Memory, port: int, position: int) -> int:
    """The place of the bucket for a position in the list, made where there is none."""
    pairs = memory[port + at.PORT_LIST]
    count = memory[port + at.PORT_COUNT]
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if memory[pairs + 2 * middle] < position:
            low = middle + 1
        else:
            high = middle
    if low < count and memory[pairs + 2 * low] == position:
        return low
    if count == memory[port + at.PORT_ROOM]:
        pairs = larger_block(memory, pairs, 2 * count, 4 * count)
        memory[port + at.PORT_LIST] = pairs
        memory[port + at.PORT_ROOM] = 2 * count
    for place in range(2 * count - 1, 2 * low - 1, -1):
        memory[pairs + place + 2] = memory[pairs + place]
    memory[pairs + 2 * low] = position
    memory[pairs + 2 * low + 1] = _new_bucket(memory, memory[port + at.PORT_WIDTH])
    memory[port + at.PORT_COUNT] = count + 1
    return low


@joined_kernel
def _new_bucket(memory: Memory, width: int) -> int:
    bucket = allocate(memory, at.BUCKET_ROWS + 8 * width)
    memory[bucket + at.BUCKET_COUNT] = 0
    memory[bucket + at.BUCKET_ROOM] = 8
    return bucket


@bare_kernel
def room_for(memory: Memory, port: int, position: int, rows: int) -> int:
    """Make room for so many rows at a position and count them as there; the first one's address."""
    bucket = reserve(memory, port, position, rows)
    count = memory[bucket + at.BUCKET_COUNT]
    memory[bucket + at.BUCKET_COUNT] = count + rows
    memory[port + at.PORT_RECEIVED] += rows
    return bucket + at.BUCKET_ROWS + count * memory[port + at.PORT_WIDTH]  # type: ignore[no-any-return]


@inner_kernel
def reserve(memory: Memory, port: int, position: int, rows: int) -> int:
    """The bucket of a position, with room for so many more rows."""
    place = _find_bucket(memory, port, position)
    pairs = memory[port + at.PORT_LIST]
    bucket = memory[pairs + 2 * place + 1]
    width = memory[port + at.PORT_WIDTH]
    count = memory[bucket + at.BUCKET_COUNT]
    if count + rows > memory[bucket + at.BUCKET_ROOM]:
        bucket = larger_block(
            memory, bucket, at.BUCKET_ROWS + count * width, at.BUCKET_ROWS + (count + rows) * width
        )
        memory[bucket + at.BUCKET_ROOM] = count + rows
        memory[pairs + 2 * place + 1] = bucket
    return bucket  # type: ignore[no-any-return]


@bare_kernel
def take_bucket(memory: Memory, port: int, position: int) -> int:
    """The bucket of the least position if it is this one, out of the port; else 0."""
    if first_position(memory, port) != position:
        return 0
    pairs = memory[port + at.PORT_LIST]
    bucket = memory[pairs + 1]
    count = memory[port + at.PORT_COUNT] - 1
    for place in range(2 * count):
        memory[pairs + place] = memory[pairs + place + 2]
    memory[port + at.PORT_COUNT] = count
    memory[port + at.PORT_LAST] = 0
    return bucket  # type: ignore[no-any-return]
