"""Replay: the input rows of one key, brought forward version by version.

GATHERED holds the rows in order of version; REPLAYED those whose version has come, values first,
and equal rows added up. What a later version reads is then no more than what can still be told
apart, however long the history is.

Where versions are numbers, no look to come can tell those apart that have come: they become one.
REPLAYED is then a few runs, each sorted by value, of which the last ones are merged as soon as they
are not of falling size. A look adds the rows of its version as a run and puts a cursor over each:
so a reducer that stops early, as min does, goes through a few rows and not through its group.

Where versions are only partly ordered, the versions that are still to be looked at have a greatest
lower bound, the *floor*. No look to come can tell a version from its upper bound with the floor, so
versions are raised to it and equal rows added up, in the input and in the output of the key. What a
look goes through is thus what looks to come can tell apart, not the history. Finding the floor
takes the number of looks to come, and is done again after an eighth as many looks.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.frames import diff_of, time_of, value_of
from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    BUCKET_COUNT,
    CURSOR_BATCH,
    CURSOR_END,
    CURSOR_ROW,
    CURSOR_WORDS,
    CURSORS,
    FLOOR_AGE,
    FRAME_WIDTH,
    GATHERED,
    LOOK_FLOOR,
    LOOK_KEY,
    LOOK_POSITION,
    LOOK_VERSION,
    OP_FLOOR,
    OP_LEFT,
    OP_SHAPE,
    REPLAY_AT,
    REPLAYED,
    ROWS_TOLD_APART,
    RUNS,
    TIMES,
    TRACE_BODY_WORDS,
    VERSION_SHAPE,
    Memory,
)
from graphtide.kernels.dataflow.lists import append, clear_list, list_count, list_rows
from graphtide.kernels.dataflow.memory import copy_words
from graphtide.kernels.dataflow.rows import add_equal_bodies, sort_rows
from graphtide.kernels.dataflow.times import lower_bound, not_after, upper_bound
from graphtide.kernels.dataflow.todo import (
    TIME_WORDS,
    forced_bound,
    note_time,
    order_times,
    schedule_later,
)
from graphtide.kernels.dataflow.traces import open_cursors, plain_cursor
from graphtide.kernels.jit import inner_kernel, joined_kernel

LOOKS_A_FLOOR = 8


@inner_kernel
def gather_rows(memory: Memory, operator: int) -> None:
    """Copy the input rows of a key into GATHERED: version, position, values, diff; in that order.

    Every version after the one that is looked at is one to look at too: here or, for rows of
    later positions, there.
    """
    trace = memory[operator + OP_LEFT]
    body = memory[trace + TRACE_BODY_WORDS]
    memory[REPLAY_AT] = 0
    clear_list(memory, GATHERED)
    clear_list(memory, REPLAYED)
    clear_list(memory, RUNS)
    for number in range(open_cursors(memory, trace, memory[LOOK_KEY])):
        cursor = memory[CURSORS] + number * CURSOR_WORDS
        batch = memory[cursor + CURSOR_BATCH]
        width = memory[batch + BATCH_FRAME + FRAME_WIDTH]
        for row in range(memory[cursor + CURSOR_ROW], memory[cursor + CURSOR_END], width):
            time = time_of(memory, batch, row)
            version = upper_bound(
                memory[time + 1], memory[operator + OP_FLOOR], memory[VERSION_SHAPE]
            )
            target = append(memory, GATHERED, body)
            memory[target] = version
            memory[target + 1] = memory[time]
            for value in range(body - 3):
                memory[target + 2 + value] = value_of(memory, batch, row, value)
            memory[target + body - 1] = diff_of(memory, batch, row)
            if memory[VERSION_SHAPE] == 0 and version > memory[LOOK_VERSION]:
                _schedule_version(memory, operator, memory[time], version)
    order_times(memory, operator)
    sort_rows(memory, list_rows(memory, GATHERED), list_count(memory, GATHERED), body, 0)


@joined_kernel
def _schedule_version(memory: Memory, operator: int, position: int, version: int) -> None:
    """Note that a row of a later version is to be looked at: here, or at its later position."""
    forced = forced_bound(memory, operator)
    if not_after(position, memory[LOOK_POSITION], memory[operator + OP_SHAPE]):
        note_time(memory, operator, version, forced, 0)
    else:
        schedule_later(memory, operator, position, version, forced, 0)


@inner_kernel
def advance_replay(memory: Memory, operator: int) -> int:
    """Bring REPLAYED up to a version and put cursors over it; how many."""
    body = memory[memory[operator + OP_LEFT] + TRACE_BODY_WORDS]
    before = list_count(memory, REPLAYED)
    ordered = memory[VERSION_SHAPE] == 0
    _take_rows(memory, body, memory[LOOK_VERSION], ordered)
    if ordered:
        if list_count(memory, REPLAYED) > before:
            _add_run(memory, before, body)
        return _cursors_over_runs(memory, body)
    raise_versions(memory, REPLAYED, body)
    rows, count = list_rows(memory, REPLAYED), list_count(memory, REPLAYED)
    plain_cursor(memory, 0, rows, rows + count * body)
    return 1 if count > 0 else 0


@inner_kernel
def _add_run(memory: Memory, first: int, body: int) -> None:
    """Make the rows of REPLAYED from one on a run, and merge the last runs until sizes fall."""
    memory[append(memory, RUNS, 1)] = first
    _sort_last_run(memory, body)
    while list_count(memory, RUNS) > 1:
        last = list_rows(memory, RUNS) + list_count(memory, RUNS) - 1
        size = list_count(memory, REPLAYED) - memory[last]
        if memory[last] - memory[last - 1] > 2 * size:
            break
        memory[memory[RUNS] + BUCKET_COUNT] -= 1
        _sort_last_run(memory, body)


@inner_kernel
def _sort_last_run(memory: Memory, body: int) -> None:
    """Sort the last run by value and add up equal rows: one pass where it is two sorted runs."""
    first = memory[list_rows(memory, RUNS) + list_count(memory, RUNS) - 1]
    rows, count = list_rows(memory, REPLAYED) + first * body, list_count(memory, REPLAYED) - first
    sort_rows(memory, rows, count, body, 0)
    memory[memory[REPLAYED] + BUCKET_COUNT] = first + add_equal_bodies(memory, rows, count, body)
    memory[ROWS_TOLD_APART] += count


@joined_kernel
def _cursors_over_runs(memory: Memory, body: int) -> int:
    """Put a cursor over each run of REPLAYED."""
    rows, end = list_rows(memory, REPLAYED), list_count(memory, REPLAYED)
    runs, found = list_rows(memory, RUNS), 0
    for number in range(list_count(memory, RUNS) - 1, -1, -1):
        first = memory[runs + number]
        if first < end:
            plain_cursor(memory, found, rows + first * body, rows + end * body)
            found += 1
        end = first
    return found


@inner_kernel
def find_floor(memory: Memory, number: int) -> None:
    """Set the floor for the looks from a number in TIMES on; versions that are looked at ascend."""
    shape = memory[VERSION_SHAPE]
    if shape == 0:
        memory[LOOK_FLOOR] = memory[LOOK_VERSION]
        return
    left = list_count(memory, TIMES) - number
    memory[FLOOR_AGE] += 1
    if number > 0 and LOOKS_A_FLOOR * memory[FLOOR_AGE] < left:
        return
    found = memory[LOOK_VERSION]
    for place in range(left):
        time = list_rows(memory, TIMES) + TIME_WORDS * (number + place)
        found = lower_bound(found, memory[time], shape)
    memory[LOOK_FLOOR] = found
    memory[FLOOR_AGE] = 0


@inner_kernel
def raise_versions(memory: Memory, which: int, body: int) -> None:
    """Raise the versions of a list of plain rows to the floor, and add up equal rows."""
    rows, count = list_rows(memory, which), list_count(memory, which)
    floor, shape = memory[LOOK_FLOOR], memory[VERSION_SHAPE]
    for at in range(rows + body - 2, rows + count * body, body):
        memory[at] = upper_bound(memory[at], floor, shape)
    sort_rows(memory, rows, count, body, 0)
    count = add_equal_bodies(memory, rows, count, body)
    memory[memory[which] + BUCKET_COUNT] = count
    memory[ROWS_TOLD_APART] += count


@joined_kernel
def _take_rows(memory: Memory, body: int, version: int, ordered: bool) -> None:
    """Move the rows up to a version from GATHERED to REPLAYED; all where there is no order.

    Where there is, the versions that have come become one, the first.
    """
    values = body - 3
    while memory[REPLAY_AT] < list_count(memory, GATHERED):
        source = list_rows(memory, GATHERED) + memory[REPLAY_AT] * body
        if ordered and memory[source] > version:
            break
        target = append(memory, REPLAYED, body)
        copy_words(memory, source + 2, target, values)
        memory[target + values] = memory[source + 1]
        memory[target + values + 1] = 0 if ordered else memory[source]
        memory[target + values + 2] = memory[source + body - 1]
        memory[REPLAY_AT] += 1
