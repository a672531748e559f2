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

from graphtide.kernels.dataflow.batches import diff_of, time_of, value_of
from graphtide.kernels.dataflow.exchange import make_room, owner_of
from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    BATCH_KEYS,
    BATCH_KEYS_AT,
    BATCH_ROWS_AT,
    BATCH_STARTS_AT,
    BUCKET_COUNT,
    BUCKET_ROWS,
    CHUNK,
    EDGE_ADD,
    EDGE_BEYOND,
    EDGE_FAULTS,
    EDGE_KEEP,
    EDGE_KEYS,
    EDGE_LAST_ROUND,
    EDGE_NEXT,
    EDGE_OWNERS,
    EDGE_PASSED,
    EDGE_PORT,
    EDGE_PROGRAM,
    EDGE_ROUND_MASK,
    EDGE_ROUND_SHIFT,
    EDGE_SIGN,
    FAULTS,
    FRAME_WIDTH,
    LETTER_BODY,
    LETTER_COLUMNS,
    LETTER_NEXT,
    LETTER_OPERATOR,
    LETTER_POSITION,
    LETTER_ROWS,
    OP_EDGES,
    OP_FLOOR,
    OP_OUT,
    OUTGOING,
    PORT_WIDTH,
    PROGRAM_BODY,
    PROGRAM_DELAY,
    PROGRAM_FAULT,
    PROGRAM_FILTER,
    PROGRAM_OUTPUTS,
    PROGRAM_STEPS,
    PROGRAM_SUMS,
    PROGRAM_WEIGHT,
    RUNNING,
    STAGE,
    STAGED,
    SUMMING,
    TRACE_KEY_WORDS,
    TRACE_VALUE_WORDS,
    VERSION_SHAPE,
    WORKERS,
    Memory,
)
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
    port = memory[edge + EDGE_FAULTS]
    position = memory[versions + CHUNK + row] & memory[edge + EDGE_KEEP]
    target, columns = new_row(memory, port, position), memory[port + PORT_WIDTH] - 2
    for column in range(columns):
        memory[target + column] = memory[stage + column * CHUNK + row]
    memory[target + columns] = memory[versions + row]
    memory[target + columns + 1] = memory[versions + 2 * CHUNK + row]
    memory[FAULTS] += 1


TABLE = 2 * CHUNK
"""Places of the table of groups; a place holds the number of a group, from 1, or 0."""
CHUNK_BITS = 8
"""Bits that a chunk of rows may add to the largest of them."""
_SPREAD = -7046029254386353131


@inner_kernel
def send_sums(memory: Memory, edge: int, program: int, stage: int, columns: int, rows: int) -> None:
    """Add up a chunk over which the program of an edge has run, and send the sums."""
    listed = program + PROGRAM_BODY + memory[program + PROGRAM_STEPS] * STEP_WORDS
    keys, sums = memory[program + PROGRAM_OUTPUTS], memory[program + PROGRAM_SUMS]
    passing, fault = memory[program + PROGRAM_FILTER], memory[program + PROGRAM_FAULT]
    versions = stage + columns * CHUNK
    table = memory[SUMMING]
    totals = table + TABLE + CHUNK
    tags = listed + keys
    for place in range(TABLE):
        memory[table + place] = 0
    tame = _are_tame(memory, stage, versions, tags, sums, rows)
    groups = 0
    for row in range(rows):
        if fault >= 0 and memory[stage + fault * CHUNK + row] != 0:
            keep_fault(memory, edge, stage, versions, row)
            continue
        if passing >= 0 and memory[stage + passing * CHUNK + row] == 0:
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
        diff = memory[versions + 2 * CHUNK + row]
        for number in range(sums):
            weight = memory[tags + 2 * number + 1]
            times = memory[stage + weight * CHUNK + row] if weight >= 0 else 1
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
            most = max(most, bits_of_column(memory, stage + weight * CHUNK, rows))
    return bits_of_column(memory, versions + 2 * CHUNK, rows) + most + CHUNK_BITS <= TAME_BITS


@inner_kernel
def _group_place(
    memory: Memory, stage: int, listed: int, keys: int, versions: int, row: int
) -> int:
    """Where the group of a row stands in the table, or is to stand."""
    found = memory[versions + row] ^ memory[versions + CHUNK + row]
    for key in range(keys):
        found = (found ^ memory[stage + memory[listed + key] * CHUNK + row]) * _SPREAD
        found ^= found >> 29
    table = memory[SUMMING]
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
        and memory[versions + CHUNK + row] == memory[versions + CHUNK + other]
    )
    for key in range(keys):
        column = stage + memory[listed + key] * CHUNK
        same = same and memory[column + row] == memory[column + other]
    return same  # type: ignore[no-any-return]


@joined_kernel
def _send_group(
    memory: Memory, edge: int, program: int, stage: int, versions: int, group: int
) -> None:
    """Append the sums of a group that are not 0 to the port: key, tag, version and sum."""
    listed = program + PROGRAM_BODY + memory[program + PROGRAM_STEPS] * STEP_WORDS
    keys, sums = memory[program + PROGRAM_OUTPUTS], memory[program + PROGRAM_SUMS]
    table = memory[SUMMING]
    row = memory[table + TABLE + group]
    totals = table + TABLE + CHUNK + group * sums
    position = (memory[versions + CHUNK + row] & memory[edge + EDGE_KEEP]) + memory[edge + EDGE_ADD]
    if position & memory[edge + EDGE_BEYOND]:
        raise OverflowError("too many rounds")
    port, owners = memory[edge + EDGE_PORT], memory[edge + EDGE_OWNERS]
    if owners != 0:
        port = memory[owners + owner_of(memory, stage + row, listed, memory[edge + EDGE_KEYS])]
    for number in range(sums):
        total = memory[totals + number]
        if total == 0:
            continue
        target = new_row(memory, port, position)
        for key in range(keys):
            memory[target + key] = memory[stage + memory[listed + key] * CHUNK + row]
        memory[target + keys] = memory[listed + keys + 2 * number]
        memory[target + keys + 1] = memory[versions + row]
        memory[target + keys + 2] = total * memory[edge + EDGE_SIGN]
        memory[edge + EDGE_PASSED] += 1


@inner_kernel
def flush(memory: Memory, operator: int, columns: int) -> None:
    """Send what is staged, a record of so many columns, along all edges of an operator."""
    rows = memory[STAGED]
    if rows == 0:
        return
    memory[STAGED] = 0
    memory[operator + OP_OUT] += rows
    if memory[operator + OP_FLOOR] > 0:
        versions = memory[STAGE] + columns * CHUNK
        for row in range(versions, versions + rows):
            memory[row] = upper_bound(
                memory[row], memory[operator + OP_FLOOR], memory[VERSION_SHAPE]
            )
    edge = memory[operator + OP_EDGES]
    while edge != 0:
        _send(memory, edge, memory[STAGE], columns, rows)
        edge = memory[edge + EDGE_NEXT]


@inner_kernel
def _send(memory: Memory, edge: int, stage: int, columns: int, rows: int) -> None:
    """Run the program of one edge over the chunk and append the rows that pass."""
    program, versions = memory[edge + EDGE_PROGRAM], stage + columns * CHUNK
    run_program(memory, program, stage, rows)
    if memory[program + PROGRAM_SUMS] > 0:
        send_sums(memory, edge, program, stage, columns, rows)
        return
    plain = (
        memory[edge + EDGE_OWNERS] == 0
        and memory[program + PROGRAM_WEIGHT] < 0
        and memory[program + PROGRAM_DELAY] < 0
        and memory[program + PROGRAM_FAULT] < 0
    )
    if plain and _go_together(memory, versions, rows):
        if memory[program + PROGRAM_FILTER] < 0:
            memory[edge + EDGE_PASSED] += _send_together(memory, edge, stage, versions, rows)
        else:
            memory[edge + EDGE_PASSED] += _send_passing(memory, edge, stage, versions, rows)
    else:
        memory[edge + EDGE_PASSED] += _send_singly(memory, edge, stage, versions, rows)


@joined_kernel
def _go_together(memory: Memory, versions: int, rows: int) -> bool:
    """True where all rows of the chunk have one position, and no diff is 0."""
    positions, diffs = versions + CHUNK, versions + 2 * CHUNK
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
    position = (memory[versions + CHUNK] & memory[edge + EDGE_KEEP]) + memory[edge + EDGE_ADD]
    if not _is_due(memory, edge, position):
        return 0
    port, program = memory[edge + EDGE_PORT], memory[edge + EDGE_PROGRAM]
    outputs = memory[program + PROGRAM_OUTPUTS]
    listed = program + PROGRAM_BODY + memory[program + PROGRAM_STEPS] * STEP_WORDS
    target, sign = new_rows(memory, port, position, rows), memory[edge + EDGE_SIGN]
    width = outputs + 2
    for output in range(outputs):
        source = stage + memory[listed + output] * CHUNK
        for row in range(rows):
            memory[target + row * width + output] = memory[source + row]
    for row in range(rows):
        memory[target + row * width + outputs] = memory[versions + row]
        memory[target + row * width + outputs + 1] = memory[versions + 2 * CHUNK + row] * sign
    return rows


@joined_kernel
def _send_passing(memory: Memory, edge: int, stage: int, versions: int, rows: int) -> int:
    """Append the rows of the chunk that pass the filter, which nothing else tells apart; how many.

    Room is made for all of them at once.
    """
    position = (memory[versions + CHUNK] & memory[edge + EDGE_KEEP]) + memory[edge + EDGE_ADD]
    program = memory[edge + EDGE_PROGRAM]
    passing, passed = stage + memory[program + PROGRAM_FILTER] * CHUNK, 0
    for row in range(rows):
        passed += 1 if memory[passing + row] != 0 else 0
    if passed == 0 or not _is_due(memory, edge, position):
        return 0
    outputs, sign = memory[program + PROGRAM_OUTPUTS], memory[edge + EDGE_SIGN]
    listed = program + PROGRAM_BODY + memory[program + PROGRAM_STEPS] * STEP_WORDS
    target = new_rows(memory, memory[edge + EDGE_PORT], position, passed)
    for row in range(rows):
        if memory[passing + row] != 0:
            for output in range(outputs):
                memory[target + output] = memory[stage + memory[listed + output] * CHUNK + row]
            memory[target + outputs] = memory[versions + row]
            memory[target + outputs + 1] = memory[versions + 2 * CHUNK + row] * sign
            target += outputs + 2
    return passed


@joined_kernel
def _is_due(memory: Memory, edge: int, position: int) -> bool:
    """False where a round counts no more; OverflowError for one that no loop may come to."""
    round_number = (position >> memory[edge + EDGE_ROUND_SHIFT]) & memory[edge + EDGE_ROUND_MASK]
    if round_number > memory[edge + EDGE_LAST_ROUND]:
        return False
    if position & memory[edge + EDGE_BEYOND]:
        raise OverflowError("too many rounds")
    return True


@joined_kernel
def _send_singly(memory: Memory, edge: int, stage: int, versions: int, rows: int) -> int:
    """Append those rows of the chunk that pass, each at its position; how many."""
    port, program = memory[edge + EDGE_PORT], memory[edge + EDGE_PROGRAM]
    outputs = memory[program + PROGRAM_OUTPUTS]
    listed = program + PROGRAM_BODY + memory[program + PROGRAM_STEPS] * STEP_WORDS
    passing, weight = memory[program + PROGRAM_FILTER], memory[program + PROGRAM_WEIGHT]
    delay, fault = memory[program + PROGRAM_DELAY], memory[program + PROGRAM_FAULT]
    keep, add = memory[edge + EDGE_KEEP], memory[edge + EDGE_ADD]
    owners, keys = memory[edge + EDGE_OWNERS], memory[edge + EDGE_KEYS]
    tame = weight < 0 or is_tame(memory, versions + 2 * CHUNK, stage + weight * CHUNK, rows)
    passed = 0
    for row in range(rows):
        if fault >= 0 and memory[stage + fault * CHUNK + row] != 0:
            keep_fault(memory, edge, stage, versions, row)
            continue
        if passing >= 0 and memory[stage + passing * CHUNK + row] == 0:
            continue
        diff = memory[versions + 2 * CHUNK + row] * memory[edge + EDGE_SIGN]
        if weight >= 0:
            times = memory[stage + weight * CHUNK + row]
            diff = diff * times if tame else product_of(diff, times)
        if diff == 0:
            continue
        position = (memory[versions + CHUNK + row] & keep) + add
        if delay >= 0:
            position += memory[stage + delay * CHUNK + row]
        if not _is_due(memory, edge, position):
            continue
        if owners != 0:
            port = memory[owners + owner_of(memory, stage + row, listed, keys)]
        target = new_row(memory, port, position)
        for output in range(outputs):
            memory[target + output] = memory[stage + memory[listed + output] * CHUNK + row]
        memory[target + outputs] = memory[versions + row]
        memory[target + outputs + 1] = diff
        passed += 1
    return passed


@inner_kernel
def send_batch(memory: Memory, operator: int, trace: int, batch: int) -> None:
    """Send all rows of a batch along the edges of an operator: key words, then value words."""
    if memory[operator + OP_EDGES] == 0 or batch == 0:
        return
    keys, values = memory[trace + TRACE_KEY_WORDS], memory[trace + TRACE_VALUE_WORDS]
    width = memory[batch + BATCH_FRAME + FRAME_WIDTH]
    columns = keys + values
    starts = memory[batch + BATCH_STARTS_AT]
    for number in range(memory[batch + BATCH_KEYS]):
        key = memory[batch + BATCH_KEYS_AT] + number * keys
        row = memory[batch + BATCH_ROWS_AT] + memory[starts + number] * width
        for _ in range(memory[starts + number + 1] - memory[starts + number]):
            place = memory[STAGE] + memory[STAGED]
            for word in range(keys):
                memory[place + word * CHUNK] = memory[key + word]
            for word in range(values):
                memory[place + (keys + word) * CHUNK] = value_of(memory, batch, row, word)
            time = time_of(memory, batch, row)
            memory[place + columns * CHUNK] = memory[time + 1]
            memory[place + (columns + 1) * CHUNK] = memory[time]
            memory[place + (columns + 2) * CHUNK] = diff_of(memory, batch, row)
            row += width
            memory[STAGED] += 1
            if memory[STAGED] == CHUNK:
                flush(memory, operator, columns)
    flush(memory, operator, columns)


@inner_kernel
def send_bucket(memory: Memory, operator: int, bucket: int, position: int, columns: int) -> None:
    """Send all rows of a bucket, as they are, along the edges of an operator. Frees the bucket."""
    row = bucket + BUCKET_ROWS
    for _ in range(memory[bucket + BUCKET_COUNT]):
        place = memory[STAGE] + memory[STAGED]
        for word in range(columns + 1):
            memory[place + word * CHUNK] = memory[row + word]
        memory[place + (columns + 1) * CHUNK] = position
        memory[place + (columns + 2) * CHUNK] = memory[row + columns + 1]
        row += columns + 2
        memory[STAGED] += 1
        if memory[STAGED] == CHUNK:
            flush(memory, operator, columns)
    flush(memory, operator, columns)
    free(memory, bucket)


@inner_kernel
def send_letters(memory: Memory) -> None:
    """Send what Python has written since the run last stopped, in the order in which it came.

    The run does that itself, so that there is one way from Python into all that sending needs: one
    more took a second to compile.
    """
    while memory[OUTGOING] != 0:
        letter = memory[OUTGOING]
        memory[OUTGOING] = memory[letter + LETTER_NEXT]
        _send_letter(memory, letter)
        free(memory, letter)


@joined_kernel
def _send_letter(memory: Memory, letter: int) -> None:
    """Send records that stand column by column in a letter along the edges of its operator."""
    operator, position = memory[letter + LETTER_OPERATOR], memory[letter + LETTER_POSITION]
    rows, columns = memory[letter + LETTER_ROWS], memory[letter + LETTER_COLUMNS]
    stage, body = memory[STAGE], letter + LETTER_BODY
    memory[RUNNING] = operator
    if memory[WORKERS] > 1:
        make_room(memory, operator, rows, position)
    for first in range(0, rows, CHUNK):
        here = min(CHUNK, rows - first)
        for column in range(columns + 1):
            _copy_column(memory, body + column * rows + first, stage + column * CHUNK, here)
        positions = stage + (columns + 1) * CHUNK
        for row in range(here):
            memory[positions + row] = position
        diffs = body + (columns + 1) * rows + first
        _copy_column(memory, diffs, positions + CHUNK, here)
        memory[STAGED] = here
        flush(memory, operator, columns)


@inner_kernel
def _copy_column(memory: Memory, source: int, target: int, rows: int) -> None:
    one, other = Index(source), Index(target)
    for row in range(Index(rows)):
        memory[other + row] = memory[one + row]
