"""Records once each, by a table of hashes: what `distinct` is where nothing is ever taken away.

A dataflow that runs once, and whose records only ever come, needs no times for its distinct
records: one that has been seen is sent never again. Records stand one behind the other in a block,
and a table of their numbers, twice as large at least, finds them. Nothing is sorted or merged.

Both the table and the records are large and are read at scattered places, which would each have to
be waited for. So what rows to come need is asked for ahead: the place in the table first, and when
that is there, the record that it names. Records in the table itself, without numbers, were tried:
no faster, and larger where records are wide.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.adding import hash_words, same_words
from graphtide.kernels.dataflow.layout import (
    BUCKET_COUNT,
    BUCKET_ROWS,
    CHUNK,
    OP_IN,
    OP_PORT,
    OP_SEEN,
    PORT_WIDTH,
    SEEN_COUNT,
    SEEN_RECORDS,
    SEEN_ROOM,
    SEEN_TABLE,
    SEEN_WORDS,
    STAGE,
    STAGED,
    Memory,
)
from graphtide.kernels.dataflow.memory import (
    allocate,
    allocate_zeros,
    copy_words,
    free,
    larger_block,
)
from graphtide.kernels.dataflow.ports import take_bucket
from graphtide.kernels.dataflow.sending import flush
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.prefetch import MIDDLE, NEAR, prefetch

FIRST_ROOM = 64


@bare_kernel
def new_seen(memory: Memory, words: int) -> int:
    """A table that has seen nothing yet, for records of so many words."""
    seen = allocate(memory, SEEN_WORDS)
    memory[seen + SEEN_COUNT] = 0
    memory[seen + SEEN_ROOM] = FIRST_ROOM
    memory[seen + SEEN_RECORDS] = allocate(memory, FIRST_ROOM * words + 1)
    memory[seen + SEEN_TABLE] = allocate_zeros(memory, 2 * FIRST_ROOM)
    return seen


@bare_kernel
def drop_seen(memory: Memory, seen: int) -> None:
    """Free a table."""
    free(memory, memory[seen + SEEN_RECORDS])
    free(memory, memory[seen + SEEN_TABLE])
    free(memory, seen)


@joined_kernel
def send_unseen(memory: Memory, operator: int, position: int) -> None:
    """Send what waits and has not been seen, once each."""
    port, seen = memory[operator + OP_PORT], memory[operator + OP_SEEN]
    bucket = take_bucket(memory, port, position)
    count, columns = memory[bucket + BUCKET_COUNT], memory[port + PORT_WIDTH] - 2
    memory[operator + OP_IN] += count
    row = bucket + BUCKET_ROWS
    for number in range(count):
        if number + MIDDLE < count:
            _ask_ahead(memory, seen, row, columns)
        if _is_new(memory, seen, row, columns):
            place = memory[STAGE] + memory[STAGED]
            for word in range(columns + 1):
                memory[place + word * CHUNK] = memory[row + word]
            memory[place + (columns + 1) * CHUNK] = position
            memory[place + (columns + 2) * CHUNK] = 1
            memory[STAGED] += 1
            if memory[STAGED] == CHUNK:
                flush(memory, operator, columns)
        row += columns + 2
    flush(memory, operator, columns)
    free(memory, bucket)


@joined_kernel
def _ask_ahead(memory: Memory, seen: int, row: int, words: int) -> None:
    """Ask for what rows some steps behind this one will need of the table and of the records."""
    width, table = words + 2, memory[seen + SEEN_TABLE]
    mask = 2 * memory[seen + SEEN_ROOM] - 1
    prefetch(memory, table + (hash_words(memory, row + MIDDLE * width, words) & mask))
    other = memory[table + (hash_words(memory, row + NEAR * width, words) & mask)]
    prefetch(memory, memory[seen + SEEN_RECORDS] + (other - 1) * words)


@inner_kernel
def _is_new(memory: Memory, seen: int, row: int, words: int) -> bool:
    """Put a record among those that have been seen; False where it was there."""
    if memory[seen + SEEN_COUNT] == memory[seen + SEEN_ROOM]:
        _grow(memory, seen, words)
    records, table = memory[seen + SEEN_RECORDS], memory[seen + SEEN_TABLE]
    mask = 2 * memory[seen + SEEN_ROOM] - 1
    place = hash_words(memory, row, words) & mask
    while memory[table + place] != 0:
        if same_words(memory, row, records + (memory[table + place] - 1) * words, words):
            return False
        place = (place + 1) & mask
    number = memory[seen + SEEN_COUNT]
    copy_words(memory, row, records + number * words, words)
    memory[table + place] = number + 1
    memory[seen + SEEN_COUNT] = number + 1
    return True


@inner_kernel
def _grow(memory: Memory, seen: int, words: int) -> None:
    """Twice the room for records, and a table of them anew."""
    count, room = memory[seen + SEEN_COUNT], 2 * memory[seen + SEEN_ROOM]
    records = larger_block(memory, memory[seen + SEEN_RECORDS], count * words, room * words + 1)
    free(memory, memory[seen + SEEN_TABLE])
    table = allocate_zeros(memory, 2 * room)
    mask = 2 * room - 1
    for number in range(count):
        place = hash_words(memory, records + number * words, words) & mask
        while memory[table + place] != 0:
            place = (place + 1) & mask
        memory[table + place] = number + 1
    memory[seen + SEEN_RECORDS], memory[seen + SEEN_TABLE] = records, table
    memory[seen + SEEN_ROOM] = room
