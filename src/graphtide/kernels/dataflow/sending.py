"""Sending: rows leave an operator through a chunk of columns, along each of its edges.

Whatever an operator makes is staged: record columns, then version, position and diff. A full
chunk is flushed: for each edge its program runs over the chunk, and the rows that pass its filter
go to the port at the other end, at the position that the edge gives them. So map, filter, negate,
concat, enter, leave and the way back round a loop are edges, not operators, and cost no stop of
their own.

A position only ever grows on the way, except where a loop is left; the schedule runs what is
outside a loop after the loop.

Where several workers share a dataflow, a row may belong to another one. It then goes to a port that
stands for the one over there, and waits for the next exchange (see `exchange`).

Sums on the way: the rows of a chunk are added up by key before they are sent.

An aggregate of several sums would have a row for each record and sum, most of which differ in
nothing but their weight. Where all those rows come of one program, and only their tags and weights
tell them apart, the chunk is gone through once: each row finds its group, by key, version and
position, and adds its weights to those of the group. What is sent is one row for each group and
sum that is not 0. Where diffs or weights are so large that a sum might not be held, each addition
is checked (see `numbers`).

Records for which the program of an edge has no word: they wait at the edge and are not sent.

A join sends the pair of a record that goes and one that comes, and takes it back. What is computed
of such a pair may be too large though no version has the pair. So nothing is told here: once the
batch is over, `engine.dataflow.recovery` adds up what waits.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import diff_of, time_of, value_of
from graphtide.kernels.dataflow.exchange import make_room, owner_of
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import free
from graphtide.kernels.dataflow.numbers import (
    TAME_BITS,
    bits_of_column,
    held,
    is_tame,
    product_of,
    upper_bound,
)
from graphtide.kernels.dataflow.ports import new_row, new_rows
from graphtide.kernels.dataflow.programs import STEP_WORDS, run_program
from graphtide.kernels.jit import Index, inner_kernel, joined_kernel


@inner_kernel
def keep_fault(memory: Memory, edge: int, stage: int, versions: int, row: int) -> None:
    """Keep one row of the chunk, as its origin made it.

    Rounds of loops that the edge leaves are added up: nobody behind it tells them apart.
    """
    port = memory[edge + at.EDGE_FAULTS]
    position = memory[versions + at.CHUNK + row] & memory[edge + at.EDGE_KEEP]
    target, columns = new_row(memory, port, position), memory[port + at.PORT_WIDTH] - 2
    for column in range(columns):
        memory[target + column] = memory[stage + column * at.CHUNK + row]
    memory[target + columns] = memory[versions + row]
    memory[target + columns + 1] = memory[versions + 2 * at.CHUNK + row]
    memory[at.FAULTS] += 1


TABLE = 2 * at.CHUNK
"""Places of the table of groups; a place holds the number of a group, from 1, or 0."""
CHUNK_BITS = 8
"""Bits that a chunk of rows may add to the largest of them."""
_SPREAD = -7046029254386353131


@inner_kernel
def send_sums(memory: Memory, edge: int, program: int, stage: int, columns: int, rows: int) -> None:
    """Add up a chunk over which the program of an edge has run, and send the sums."""
    listed = program + at.PROGRAM_BODY + memory[program + at.PROGRAM_STEPS] * STEP_WORDS
    keys, sums = memory[program + at.PROGRAM_OUTPUTS], memory[program + at.PROGRAM_SUMS]
    passing, fault = memory[program + at.PROGRAM_FILTER], memory[program + at.PROGRAM_FAULT]
    versions = stage + columns * at.CHUNK
    table = memory[at.SUMMING]
    totals = table + TABLE + at.CHUNK
    tags = listed + keys
    for place in range(TABLE):
        memory[table + place] = 0
    tame = _are_tame(memory, stage, versions, tags, sums, rows)
    groups = 0
    for row in range(rows):
        if fault >= 0 and memory[stage + fault * at.CHUNK + row] != 0:
            keep_fault(memory, edge, stage, versions, row)
            continue
        if passing >= 0 and memory[stage + passing * at.CHUNK + row] == 0:
            continue
        place = _group_place(memory, stage, listed, keys, versions, row)
        group = memory[table + place] - 1
        if group < 0:
            group = groups
            groups += 1
            memory[table + place] = groups
            memory[table + TABLE + group] = row
            for number in range(sums):
                memory[totals + group * sums + number] = 0
        diff = memory[versions + 2 * at.CHUNK + row]
        for number in range(sums):
            weight = memory[tags + 2 * number + 1]
            times = memory[stage + weight * at.CHUNK + row] if weight >= 0 else 1
            total = totals + group * sums + number
            if tame:
                memory[total] += diff * times
            else:
                memory[total] = held(memory[total] + product_of(diff, times))
    for group in range(groups):
        _send_group(memory, edge, program, stage, versions, group)


@joined_kernel
def _are_tame(memory: Memory, stage: int, versions: int, tags: int, sums: int, rows: int) -> bool:
    """True where no sum of a chunk can be beyond what a diff may be."""
    most = 0
    for number in range(sums):
        weight = memory[tags + 2 * number + 1]
        if weight >= 0:
            most = max(most, bits_of_column(memory, stage + weight * at.CHUNK, rows))
    return bits_of_column(memory, versions + 2 * at.CHUNK, rows) + most + CHUNK_BITS <= TAME_BITS


@inner_kernel
def _group_place(
    memory: Memory, stage: int, listed: int, keys: int, versions: int, row: int
) -> int:
    """Where the group of a row stands in the table, or is to stand."""
    found = memory[versions + row] ^ memory[versions + at.CHUNK + row]
    for key in range(keys):
        found = (found ^ memory[stage + memory[listed + key] * at.CHUNK + row]) * _SPREAD
        found ^= found >> 29
    table = memory[at.SUMMING]
    place = found & (TABLE - 1)
    while memory[table + place] != 0:
        first = memory[table + TABLE + memory[table + place] - 1]
        if _is_same_group(memory, stage, listed, keys, versions, row, first):
            break
        place = (place + 1) & (TABLE - 1)
    return place  # type: ignore[no-any-return]


@joined_kernel
def _is_same_group(
    memory: Memory, stage: int, listed: int, keys: int, versions: int, row: int, other: int
) -> bool:
    """True where two rows have the same key, version and position."""
    same = (
        memory[versions + row] == memory[versions + other]
        and memory[versions + at.CHUNK + row] == memory[versions + at.CHUNK + other]
    )
    for key in range(keys):
        column = stage + memory[listed + key] * at.CHUNK
        same = same and memory[column + row] == memory[column + other]
    return same  # type: ignore[no-any-return]


@joined_kernel
def _send_group(
    memory: Memory, edge: int, program: int, stage: int, versions: int, group: int
) -> None:
    """Append the sums of a group that are not 0 to the port: key, tag, version and sum."""
    listed = program + at.PROGRAM_BODY + memory[program + at.PROGRAM_STEPS] * STEP_WORDS
    keys, sums = memory[program + at.PROGRAM_OUTPUTS], memory[program + at.PROGRAM_SUMS]
    table = memory[at.SUMMING]
    row = memory[table + TABLE + group]
    totals = table + TABLE + at.CHUNK + group * sums
    position = (memory[versions + at.CHUNK + row] & memory[edge + at.EDGE_KEEP]) + memory[
        edge + at.EDGE_ADD
    ]
    if position & memory[edge + at.EDGE_BEYOND]:
        raise OverflowError("too many rounds")
    port, owners = memory[edge + at.EDGE_PORT], memory[edge + at.EDGE_OWNERS]
    if owners != 0:
        port = memory[owners + owner_of(memory, stage + row, listed, memory[edge + at.EDGE_KEYS])]
    for number in range(sums):
        total = memory[totals + number]
        if total == 0:
            continue
        target = new_row(memory, port, position)
        for key in range(keys):
            memory[target + key] = memory[stage + memory[listed + key] * at.CHUNK + row]
        memory[target + keys] = memory[listed + keys + 2 * number]
        memory[target + keys + 1] = memory[versions + row]
        memory[target + keys + 2] = total * memory[edge + at.EDGE_SIGN]
        memory[edge + at.EDGE_PASSED] += 1


@inner_kernel
def flush(memory: Memory, operator: int, columns: int) -> None:
    """Send what is staged, a record of so many columns, along all edges of an operator."""
    rows = memory[at.STAGED]
    if rows == 0:
        return
    memory[at.STAGED] = 0
    memory[operator + at.OP_OUT] += rows
    if memory[operator + at.OP_FLOOR] > 0:
        versions = memory[at.STAGE] + columns * at.CHUNK
        for row in range(versions, versions + rows):
            memory[row] = upper_bound(
                memory[row], memory[operator + at.OP_FLOOR], memory[at.VERSION_SHAPE]
            )
    edge = memory[operator + at.OP_EDGES]
    while edge != 0:
        _send(memory, edge, memory[at.STAGE], columns, rows)
        edge = memory[edge + at.EDGE_NEXT]


@inner_kernel
def _send(memory: Memory, edge: int, stage: int, columns: int, rows: int) -> None:
    """Run the program of one edge over the chunk and append the rows that pass."""
    program, versions = memory[edge + at.EDGE_PROGRAM], stage + columns * at.CHUNK
    run_program(memory, program, stage, rows)
    if memory[program + at.PROGRAM_SUMS] > 0:
        send_sums(memory, edge, program, stage, columns, rows)
        return
    plain = (
        memory[edge + at.EDGE_OWNERS] == 0
        and memory[program + at.PROGRAM_WEIGHT] < 0
        and memory[program + at.PROGRAM_DELAY] < 0
        and memory[program + at.PROGRAM_FAULT] < 0
    )
    if plain and _go_together(memory, versions, rows):
        if memory[program + at.PROGRAM_FILTER] < 0:
            memory[edge + at.EDGE_PASSED] += _send_together(memory, edge, stage, versions, rows)
        else:
            memory[edge + at.EDGE_PASSED] += _send_passing(memory, edge, stage, versions, rows)
    else:
        memory[edge + at.EDGE_PASSED] += _send_singly(memory, edge, stage, versions, rows)


@joined_kernel
def _go_together(memory: Memory, versions: int, rows: int) -> bool:
    """True where all rows of the chunk have one position, and no diff is 0."""
    positions, diffs = versions + at.CHUNK, versions + 2 * at.CHUNK
    first, differing = memory[positions], 0
    for row in range(rows):
        differing |= memory[positions + row] ^ first
        differing |= 1 if memory[diffs + row] == 0 else 0
    return differing == 0


@joined_kernel
def _send_together(memory: Memory, edge: int, stage: int, versions: int, rows: int) -> int:
    """Append all rows of the chunk, column by column; how many that are.

    Rows that nothing tells apart need no look at each: this is what most rows of first runs are,
    and takes a third of the time.
    """
    position = (memory[versions + at.CHUNK] & memory[edge + at.EDGE_KEEP]) + memory[
        edge + at.EDGE_ADD
    ]
    if not _is_due(memory, edge, position):
        return 0
    port, program = memory[edge + at.EDGE_PORT], memory[edge + at.EDGE_PROGRAM]
    outputs = memory[program + at.PROGRAM_OUTPUTS]
    listed = program + at.PROGRAM_BODY + memory[program + at.PROGRAM_STEPS] * STEP_WORDS
    target, sign = new_rows(memory, port, position, rows), memory[edge + at.EDGE_SIGN]
    width = outputs + 2
    for output in range(outputs):
        source = stage + memory[listed + output] * at.CHUNK
        for row in range(rows):
            memory[target + row * width + output] = memory[source + row]
    for row in range(rows):
        memory[target + row * width + outputs] = memory[versions + row]
        memory[target + row * width + outputs + 1] = memory[versions + 2 * at.CHUNK + row] * sign
    return rows


@joined_kernel
def _send_passing(memory: Memory, edge: int, stage: int, versions: int, rows: int) -> int:
    """Append the rows of the chunk that pass the filter, which nothing else tells apart; how many.

    Room is made for all of them at once.
    """
    position = (memory[versions + at.CHUNK] & memory[edge + at.EDGE_KEEP]) + memory[
        edge + at.EDGE_ADD
    ]
    program = memory[edge + at.EDGE_PROGRAM]
    passing, passed = stage + memory[program + at.PROGRAM_FILTER] * at.CHUNK, 0
    for row in range(rows):
        passed += 1 if memory[passing + row] != 0 else 0
    if passed == 0 or not _is_due(memory, edge, position):
        return 0
    outputs, sign = memory[program + at.PROGRAM_OUTPUTS], memory[edge + at.EDGE_SIGN]
    listed = program + at.PROGRAM_BODY + memory[program + at.PROGRAM_STEPS] * STEP_WORDS
    target = new_rows(memory, memory[edge + at.EDGE_PORT], position, passed)
    for row in range(rows):
        if memory[passing + row] != 0:
            for output in range(outputs):
                memory[target + output] = memory[stage + memory[listed + output] * at.CHUNK + row]
            memory[target + outputs] = memory[versions + row]
            memory[target + outputs + 1] = memory[versions + 2 * at.CHUNK + row] * sign
            target += outputs + 2
    return passed


@joined_kernel
def _is_due(memory: Memory, edge: int, position: int) -> bool:
    """False where a round counts no more; OverflowError for one that no loop may come to."""
    round_number = (position >> memory[edge + at.EDGE_ROUND_SHIFT]) & memory[
        edge + at.EDGE_ROUND_MASK
    ]
    if round_number > memory[edge + at.EDGE_LAST_ROUND]:
        return False
    if position & memory[edge + at.EDGE_BEYOND]:
        raise OverflowError("too many rounds")
    return True


@joined_kernel
def _send_singly(memory: Memory, edge: int, stage: int, versions: int, rows: int) -> int:
    """Append those rows of the chunk that pass, each at its position; how many."""
    port, program = memory[edge + at.EDGE_PORT], memory[edge + at.EDGE_PROGRAM]
    outputs = memory[program + at.PROGRAM_OUTPUTS]
    listed = program + at.PROGRAM_BODY + memory[program + at.PROGRAM_STEPS] * STEP_WORDS
    passing, weight = memory[program + at.PROGRAM_FILTER], memory[program + at.PROGRAM_WEIGHT]
    delay, fault = memory[program + at.PROGRAM_DELAY], memory[program + at.PROGRAM_FAULT]
    keep, add = memory[edge + at.EDGE_KEEP], memory[edge + at.EDGE_ADD]
    owners, keys = memory[edge + at.EDGE_OWNERS], memory[edge + at.EDGE_KEYS]
    tame = weight < 0 or is_tame(memory, versions + 2 * at.CHUNK, stage + weight * at.CHUNK, rows)
    passed = 0
    for row in range(rows):
        if fault >= 0 and memory[stage + fault * at.CHUNK + row] != 0:
            keep_fault(memory, edge, stage, versions, row)
            continue
        if passing >= 0 and memory[stage + passing * at.CHUNK + row] == 0:
            continue
        diff = memory[versions + 2 * at.CHUNK + row] * memory[edge + at.EDGE_SIGN]
        if weight >= 0:
            times = memory[stage + weight * at.CHUNK + row]
            diff = diff * times if tame else product_of(diff, times)
        if diff == 0:
            continue
        position = (memory[versions + at.CHUNK + row] & keep) + add
        if delay >= 0:
            position += memory[stage + delay * at.CHUNK + row]
        if not _is_due(memory, edge, position):
            continue
        if owners != 0:
            port = memory[owners + owner_of(memory, stage + row, listed, keys)]
        target = new_row(memory, port, position)
        for output in range(outputs):
            memory[target + output] = memory[stage + memory[listed + output] * at.CHUNK + row]
        memory[target + outputs] = memory[versions + row]
        memory[target + outputs + 1] = diff
        passed += 1
    return passed


@inner_kernel
def send_batch(memory: Memory, operator: int, trace: int, batch: int) -> None:
    """Send all rows of a batch along the edges of an operator: key words, then value words."""
    if memory[operator + at.OP_EDGES] == 0 or batch == 0:
        return
    keys, values = memory[trace + at.TRACE_KEY_WORDS], memory[trace + at.TRACE_VALUE_WORDS]
    width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
    columns = keys + values
    starts = memory[batch + at.BATCH_STARTS_AT]
    for number in range(memory[batch + at.BATCH_KEYS]):
        key = memory[batch + at.BATCH_KEYS_AT] + number * keys
        row = memory[batch + at.BATCH_ROWS_AT] + memory[starts + number] * width
        for _ in range(memory[starts + number + 1] - memory[starts + number]):
            place = memory[at.STAGE] + memory[at.STAGED]
            for word in range(keys):
                memory[place + word * at.CHUNK] = memory[key + word]
            for word in range(values):
                memory[place + (keys + word) * at.CHUNK] = value_of(memory, batch, row, word)
            time = time_of(memory, batch, row)
            memory[place + columns * at.CHUNK] = memory[time + 1]
            memory[place + (columns + 1) * at.CHUNK] = memory[time]
            memory[place + (columns + 2) * at.CHUNK] = diff_of(memory, batch, row)
            row += width
            memory[at.STAGED] += 1
            if memory[at.STAGED] == at.CHUNK:
                flush(memory, operator, columns)
    flush(memory, operator, columns)


@inner_kernel
def send_bucket(memory: Memory, operator: int, bucket: int, position: int, columns: int) -> None:
    """Send all rows of a bucket, as they are, along the edges of an operator. Frees the bucket."""
    row = bucket + at.BUCKET_ROWS
    for _ in range(memory[bucket + at.BUCKET_COUNT]):
        place = memory[at.STAGE] + memory[at.STAGED]
        for word in range(columns + 1):
            memory[place + word * at.CHUNK] = memory[row + word]
        memory[place + (columns + 1) * at.CHUNK] = position
        memory[place + (columns + 2) * at.CHUNK] = memory[row + columns + 1]
        row += columns + 2
        memory[at.STAGED] += 1
        if memory[at.STAGED] == at.CHUNK:
            flush(memory, operator, columns)
    flush(memory, operator, columns)
    free(memory, bucket)


@inner_kernel
def send_messages(memory: Memory) -> None:
    """Send what Python has written since the run last stopped, in the order in which it came.

    The run does that itself, so that there is one way from Python into all that sending needs: one
    more took a second to compile.
    """
    while memory[at.OUTGOING] != 0:
        message = memory[at.OUTGOING]
        memory[at.OUTGOING] = memory[message + at.MESSAGE_NEXT]
        _send_message(memory, message)
        free(memory, message)


@joined_kernel
def _send_message(memory: Memory, message: int) -> None:
    """Send records that stand column by column in a message along the edges of its operator."""
    operator = memory[message + at.MESSAGE_OPERATOR]
    position = memory[message + at.MESSAGE_POSITION]
    rows, columns = memory[message + at.MESSAGE_ROWS], memory[message + at.MESSAGE_COLUMNS]
    stage, body = memory[at.STAGE], message + at.MESSAGE_BODY
    memory[at.RUNNING] = operator
    if memory[at.WORKERS] > 1:
        make_room(memory, operator, rows, position)
    for first in range(0, rows, at.CHUNK):
        here = min(at.CHUNK, rows - first)
        for column in range(columns + 1):
            _copy_column(memory, body + column * rows + first, stage + column * at.CHUNK, here)
        positions = stage + (columns + 1) * at.CHUNK
        for row in range(here):
            memory[positions + row] = position
        diffs = body + (columns + 1) * rows + first
        _copy_column(memory, diffs, positions + at.CHUNK, here)
        memory[at.STAGED] = here
        flush(memory, operator, columns)


@inner_kernel
def _copy_column(memory: Memory, source: int, target: int, rows: int) -> None:
    one, other = Index(source), Index(target)
    for row in range(Index(rows)):
        memory[other + row] = memory[one + row]
