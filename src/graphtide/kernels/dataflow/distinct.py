"""Distinct records by a table of hashes, where no record is ever taken away.

A dataflow that runs once, and whose records only ever come, needs no times for its distinct
records: one that has been seen is never sent again. Records stand one behind the other in a block,
and a table finds them. Nothing is sorted or merged.

A word of the table is half a hash, and below it the number of the record that has it. So only
records with the same half are compared: one that is new reads none, as a rule. The place of a hash
is its first bits. A larger table therefore has its words in the order of the smaller one, and is
made by going through both once, without a look at records.

Both the table and the records are large and are read at scattered places, which would each have to
be waited for. So rows are gone through chunk by chunk: the places of a chunk are asked for, then
the records that they name, and only then is any of them needed.
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
    more_room,
)
from graphtide.kernels.dataflow.ports import hash_words, same_words, take_bucket
from graphtide.kernels.dataflow.sending import flush
from graphtide.kernels.intrinsics import prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

FIRST_ROOM = 64
FIRST_BITS = 7
HALF = 32
NUMBERS = (1 << HALF) - 1
"""The half of a word that is the number of a record. There are never as many: a table of so many
places would be full, and takes 32 gigabytes."""


@bare_kernel
def new_seen(memory: Memory, words: int) -> int:
    """A table that has seen nothing yet, for records of so many words."""
    seen = allocate(memory, at.SEEN_WORDS)
    memory[seen + at.SEEN_COUNT] = 0
    memory[seen + at.SEEN_ROOM] = FIRST_ROOM
    memory[seen + at.SEEN_RECORDS] = allocate(memory, FIRST_ROOM * words + 1)
    memory[seen + at.SEEN_TABLE] = allocate_zeros(memory, 1 << FIRST_BITS)
    memory[seen + at.SEEN_PLACES] = 1 << FIRST_BITS
    memory[seen + at.SEEN_SHIFT] = 64 - FIRST_BITS
    return seen


@bare_kernel
def drop_seen(memory: Memory, seen: int) -> None:
    free(memory, memory[seen + at.SEEN_RECORDS])
    free(memory, memory[seen + at.SEEN_TABLE])
    free(memory, seen)


@joined_kernel
def send_unseen(memory: Memory, operator: int, position: int) -> None:
    """Send what waits and has not been seen, once each."""
    port, seen = memory[operator + at.OP_PORT], memory[operator + at.OP_SEEN]
    bucket = take_bucket(memory, port, position)
    count, columns = memory[bucket + at.BUCKET_COUNT], memory[port + at.PORT_WIDTH] - 2
    memory[operator + at.OP_IN] += count
    hashes = allocate(memory, at.CHUNK)
    row = bucket + at.BUCKET_ROWS
    for first in range(0, count, at.CHUNK):
        rows = min(at.CHUNK, count - first)
        _make_room(memory, seen, columns, rows)
        _ask_for(memory, seen, row, columns, rows, hashes)
        for number in range(rows):
            if _is_new(memory, seen, row, columns, memory[hashes + number]):
                _stage(memory, row, columns, position)
            row += columns + 2
        # Not more than a chunk has been staged, and nothing from before.
        flush(memory, operator, columns)
    free(memory, hashes)
    free(memory, bucket)


@joined_kernel
def _stage(memory: Memory, row: int, columns: int, position: int) -> None:
    """Stage a record of a bucket, once."""
    place = memory[at.STAGE] + memory[at.STAGED]
    for word in range(columns + 1):
        memory[place + word * at.CHUNK] = memory[row + word]
    memory[place + (columns + 1) * at.CHUNK] = position
    memory[place + (columns + 2) * at.CHUNK] = 1
    memory[at.STAGED] += 1


@joined_kernel
def _ask_for(memory: Memory, seen: int, row: int, words: int, rows: int, hashes: int) -> None:
    """Write down half the hash of each row, and ask for what it will need of table and records."""
    table, records = memory[seen + at.SEEN_TABLE], memory[seen + at.SEEN_RECORDS]
    shift, mask = memory[seen + at.SEEN_SHIFT], memory[seen + at.SEEN_PLACES] - 1
    for number in range(rows):
        found = _half_hash(memory, row + number * (words + 2), words)
        memory[hashes + number] = found
        prefetch(memory, table + ((found >> shift) & mask))
    for number in range(rows):
        found = memory[hashes + number]
        known = memory[table + ((found >> shift) & mask)]
        if (known ^ found) >> HALF == 0:
            prefetch(memory, records + ((known & NUMBERS) - 1) * words)


@joined_kernel
def _is_new(memory: Memory, seen: int, row: int, words: int, found: int) -> bool:
    """Put a record with this half of a hash among those seen; False where it was there."""
    records, table = memory[seen + at.SEEN_RECORDS], memory[seen + at.SEEN_TABLE]
    mask = memory[seen + at.SEEN_PLACES] - 1
    place = (found >> memory[seen + at.SEEN_SHIFT]) & mask
    while memory[table + place] != 0:
        known = memory[table + place]
        if (known ^ found) >> HALF == 0:
            record = records + ((known & NUMBERS) - 1) * words
            if _same_record(memory, row, record, words):
                return False
        place = (place + 1) & mask
    number = memory[seen + at.SEEN_COUNT]
    _copy_record(memory, row, records + number * words, words)
    memory[table + place] = found | (number + 1)
    memory[seen + at.SEEN_COUNT] = number + 1
    return True


@joined_kernel
def _half_hash(memory: Memory, row: int, words: int) -> int:
    """Half the hash of a record, in the upper half of a word.

    Here and below, pairs are spelled out: most rules derive them, and a loop takes longer to begin
    than to hash, compare or copy two words.
    """
    return (hash_words(memory, row, 2) if words == 2 else hash_words(memory, row, words)) << HALF


@joined_kernel
def _same_record(memory: Memory, one: int, other: int, words: int) -> bool:
    if words == 2:
        differing = memory[one] ^ memory[other] | memory[one + 1] ^ memory[other + 1]
        return differing == 0  # type: ignore[no-any-return]
    return same_words(memory, one, other, words)


@joined_kernel
def _copy_record(memory: Memory, source: int, target: int, words: int) -> None:
    if words == 2:
        memory[target] = memory[source]
        memory[target + 1] = memory[source + 1]
    else:
        copy_words(memory, source, target, words)


@inner_kernel
def _make_room(memory: Memory, seen: int, words: int, rows: int) -> None:
    """Have room for so many more records, and a quarter of all places free when they are there."""
    count, room = memory[seen + at.SEEN_COUNT], memory[seen + at.SEEN_ROOM]
    while room < count + rows:
        room = more_room(room, words)
    if room > memory[seen + at.SEEN_ROOM]:
        records = memory[seen + at.SEEN_RECORDS]
        memory[seen + at.SEEN_RECORDS] = larger_block(
            memory, records, count * words, room * words + 1
        )
        memory[seen + at.SEEN_ROOM] = room
    while 4 * (count + rows) > 3 * memory[seen + at.SEEN_PLACES]:
        _grow(memory, seen)


@inner_kernel
def _grow(memory: Memory, seen: int) -> None:
    """A table of twice the places, from the words of the one that is there."""
    table, places = memory[seen + at.SEEN_TABLE], 2 * memory[seen + at.SEEN_PLACES]
    if places > NUMBERS:
        raise MemoryError("too many distinct records")
    fresh, shift = allocate_zeros(memory, places), memory[seen + at.SEEN_SHIFT] - 1
    for entry in range(table, table + places // 2):
        known = memory[entry]
        if known != 0:
            place = (known >> shift) & (places - 1)
            while memory[fresh + place] != 0:
                place = (place + 1) & (places - 1)
            memory[fresh + place] = known
    free(memory, table)
    memory[seen + at.SEEN_TABLE], memory[seen + at.SEEN_PLACES] = fresh, places
    memory[seen + at.SEEN_SHIFT] = shift
