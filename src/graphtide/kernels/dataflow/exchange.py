"""Exchange: rows go to the worker that their keys belong to.

Every worker has a machine of its own with the same operators, and keeps the keys whose hash is its
share. What an operator sends to one that keeps keys goes to the port of that operator, if it is of
this worker's keys, or waits in an *outbox*, a port that stands for the one of another worker. When
all workers have come to the exchange before that operator, each *posts* what waits for the current
position: it takes the buckets out of its outboxes and lists them in a box. Then all meet, and each
takes from the boxes of the others what is for it.

What is kept true: nobody writes what another one may read. A worker reads boxes of others, and the
buckets listed there, between two exchanges; who has posted them posts into another box meanwhile,
and frees them only when all have met again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import free
from graphtide.kernels.dataflow.ports import (
    NOWHERE,
    add_up_bucket,
    first_position,
    reserve,
    room_for,
    take_bucket,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

Columns = NDArray[np.int64]
"""Rows that users feed, column by column: the record, version and diff."""
_SPREAD = -7046029254386353131
_HALF = (1 << 32) - 1
MANY_ROWS = 4096
"""Of fewer rows, a worker may well have none: no room is made for those."""


@inner_kernel
def owner_of(memory: Memory, staged: int, listed: int, keys: int) -> int:
    """The worker that a staged row belongs to, by the first of the columns that are listed.

    Tables of records take the low bits of such a hash, so this takes the high ones: otherwise each
    worker would have records for a part of its tables alone. The highest is always 0 by now.
    """
    found = 0
    for word in range(keys):
        found = _mixed(found, memory[staged + memory[listed + word] * at.CHUNK])
    return _share(memory, found)


@joined_kernel
def _mixed(found: int, word: int) -> int:
    found = (found ^ word) * _SPREAD
    return found ^ (found >> 29)


@joined_kernel
def _share(memory: Memory, found: int) -> int:
    return ((found >> 31) & _HALF) * memory[at.WORKERS] >> 32  # type: ignore[no-any-return]


@bare_kernel
def take_own(memory: Memory, port: int, columns: Columns, keys: int) -> None:
    """Append to a port, outside of loops, the rows of this worker: their first columns are the key.

    Every worker goes through all rows at the same time as the others. That takes less than to have
    one go through them for all, or to send half of them on.
    """
    width, rows = columns.shape
    own = 0
    for row in range(rows):
        own += 1 if _is_own(memory, columns, row, keys) else 0
    if own == 0:
        return
    target = room_for(memory, port, 0, own)
    for row in range(rows):
        if _is_own(memory, columns, row, keys):
            for column in range(width):
                memory[target + column] = columns[column, row]
            target += width


@joined_kernel
def _is_own(memory: Memory, columns: Columns, row: int, keys: int) -> bool:
    """True for a row whose key this worker has."""
    found = 0
    for word in range(keys):
        found = _mixed(found, columns[word, row])
    return _share(memory, found) == memory[at.WORKER]  # type: ignore[no-any-return]


@inner_kernel
def make_room(memory: Memory, operator: int, rows: int, position: int) -> None:
    """Make room, at once, for the shares of many rows that an input sends on whole.

    Buckets that grow as rows come, and grow again when others' come, are copied several times.
    """
    edge = memory[operator + at.OP_EDGES]
    while edge != 0:
        owners, program = memory[edge + at.EDGE_OWNERS], memory[edge + at.EDGE_PROGRAM]
        some = (
            memory[program + at.PROGRAM_FILTER] >= 0
            or memory[program + at.PROGRAM_DELAY] >= 0
            or memory[program + at.PROGRAM_SUMS] > 0
        )
        if rows >= MANY_ROWS and owners != 0 and memory[edge + at.EDGE_KEYS] > 0 and not some:
            target = (position & memory[edge + at.EDGE_KEEP]) + memory[edge + at.EDGE_ADD]
            for worker in range(memory[at.WORKERS]):
                share = rows // memory[at.WORKERS] + rows // 16
                if worker == memory[at.WORKER]:
                    share *= memory[at.WORKERS]
                reserve(memory, memory[owners + worker], target, share)
        edge = memory[edge + at.EDGE_NEXT]


@inner_kernel
def post(memory: Memory, operator: int, counter: int) -> None:
    """List what other workers are to take for an operator at this position, out of the outboxes."""
    outboxes, box = memory[operator + at.OP_OUTBOXES], memory[at.POSTED]
    trace = memory[operator + at.OP_OUTPUT]
    if trace != 0 and memory[trace + at.TRACE_KEY_WORDS] == 0:
        _add_up(memory, outboxes)
    entry = box + 1 + memory[box] * (memory[at.WORKERS] + 1)
    memory[entry] = counter
    for worker in range(memory[at.WORKERS]):
        memory[entry + 1 + worker] = 0
        if worker != memory[at.WORKER]:
            outbox = memory[outboxes + worker]
            memory[entry + 1 + worker] = take_bucket(memory, outbox, memory[at.POSITION])
    memory[box] += 1


@joined_kernel
def _add_up(memory: Memory, outboxes: int) -> None:
    """Add up what waits at this position for an operator without key, all of which one worker has.

    Otherwise that worker would do alone what is left to do: there are often few distinct records.
    """
    for worker in range(memory[at.WORKERS]):
        port = memory[outboxes + worker]
        if first_position(memory, port) == memory[at.POSITION]:
            bucket = memory[memory[port + at.PORT_LIST] + 1]
            add_up_bucket(memory, bucket, memory[port + at.PORT_WIDTH])


@bare_kernel
def turn_mail(memory: Memory) -> None:
    """Let others take what was posted, and free what they have taken; while all workers stand."""
    box = memory[at.TAKEN]
    for entry in range(memory[box]):
        buckets = box + 2 + entry * (memory[at.WORKERS] + 1)
        for worker in range(memory[at.WORKERS]):
            free(memory, memory[buckets + worker])
    memory[box] = 0
    memory[at.TAKEN] = memory[at.POSTED]
    memory[at.POSTED] = box


@bare_kernel
def take_mail(memory: Memory, other: Memory, schedule: int) -> None:
    """Append what another worker has posted for this one to the ports that it is for."""
    box = other[at.TAKEN]
    for number in range(other[box]):
        entry = box + 1 + number * (other[at.WORKERS] + 1)
        bucket = other[entry + 1 + memory[at.WORKER]]
        if bucket == 0 or other[bucket + at.BUCKET_COUNT] == 0:
            continue
        operator = memory[schedule + other[entry] * at.SCHEDULE_WORDS + 1]
        port = memory[operator + at.OP_PORT]
        rows = other[bucket + at.BUCKET_COUNT]
        target = room_for(memory, port, memory[at.POSITION], rows)
        for place in range(rows * memory[port + at.PORT_WIDTH]):
            memory[target + place] = other[bucket + at.BUCKET_ROWS + place]


@inner_kernel
def first_posted(memory: Memory, schedule: int, first: int, last: int) -> int:
    """The least position in the outboxes of some instructions, or NOWHERE."""
    found = NOWHERE
    for counter in range(first, last):
        place = schedule + counter * at.SCHEDULE_WORDS
        if memory[place] == at.EXCHANGE:
            outboxes = memory[memory[place + 1] + at.OP_OUTBOXES]
            for worker in range(memory[at.WORKERS]):
                if worker != memory[at.WORKER]:
                    found = min(found, first_position(memory, memory[outboxes + worker]))
    return found
