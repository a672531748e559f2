"""Skipping: when a look of min or max need not read its group, and what then has to be looked at.

What stands at the time is one record m, and what is new is no nearer than the bound. Where the
bound is m or beyond, nothing can change. Where the bound is m taken away, nothing changes as long
as m is there more often, and that is told by the rows of m alone, which stand together: a count of
supports that the arrangement keeps anyway.

What was skipped carries its bound to the later times of the output, where m may be another; and
where m was taken away, to the times at which it is taken away again. The proof is in
docs/concepts/dataflow.md.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.diffs import held
from graphtide.kernels.dataflow.frames import diff_of, time_of, value_of
from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    CURSOR_BATCH,
    CURSOR_END,
    CURSOR_ROW,
    CURSOR_WORDS,
    CURSORS,
    FIRST,
    FRAME_WIDTH,
    HELD,
    LAST,
    LOOK_KEY,
    LOOK_POSITION,
    ONE_VERSION,
    OP_ARGUMENT,
    OP_LEFT,
    OP_OUTPUT,
    OP_REDUCER,
    OP_SHAPE,
    SKIPPING,
    STANDING,
    TRACE_BY_TIME,
    TRACE_VALUE_WORDS,
    Memory,
)
from graphtide.kernels.dataflow.lists import list_count, list_rows
from graphtide.kernels.dataflow.todo import forced_bound, in_time, schedule_later
from graphtide.kernels.dataflow.traces import open_cursors
from graphtide.kernels.jit import inner_kernel, joined_kernel

MOST_LATER_ROWS = 64
"""More rows of output than this are not looked through for a shortcut: it takes their square."""


@inner_kernel
def can_skip(memory: Memory, operator: int, bound: int, taken: int) -> bool:
    """True where the rule of the module says that nothing can change at this time."""
    reducer = memory[operator + OP_REDUCER]
    if memory[SKIPPING] == 0 or (reducer != FIRST and reducer != LAST):
        return False
    values = memory[memory[operator + OP_OUTPUT] + TRACE_VALUE_WORDS]
    if list_count(memory, STANDING) != 1 or memory[operator + OP_ARGUMENT] != 1:
        return False
    standing = list_rows(memory, STANDING)
    if memory[standing + values] != 1:
        return False
    if bound == forced_bound(memory, operator):
        return False
    least = memory[standing]
    beyond = bound >= least if reducer == FIRST else bound <= least
    before = least - 1 if reducer == FIRST else least + 1
    counted = taken != 0 and bound == before and memory[SKIPPING] > 1
    return beyond or (counted and _is_supported(memory, operator, least, bound))


@inner_kernel
def _is_supported(memory: Memory, operator: int, least: int, bound: int) -> bool:
    """True where the input has a record at the time, though it is taken away there.

    Only its own rows are read. Those that take more of it away at times to come are scheduled.
    """
    trace = memory[operator + OP_LEFT]
    if memory[trace + TRACE_BY_TIME] != 0:
        return False
    total = 0
    count = open_cursors(memory, trace, memory[LOOK_KEY])
    for number in range(count):
        cursor = memory[CURSORS] + number * CURSOR_WORDS
        batch = memory[cursor + CURSOR_BATCH]
        row = _first_row_of(memory, cursor, least)
        memory[cursor + CURSOR_ROW] = row
        while row < memory[cursor + CURSOR_END] and value_of(memory, batch, row, 0) == least:
            time = time_of(memory, batch, row)
            if in_time(memory, operator, memory[time], memory[time + 1]):
                total = held(total + diff_of(memory, batch, row))
            row += memory[batch + BATCH_FRAME + FRAME_WIDTH]
    if total <= 0:
        return False
    for number in range(count):
        cursor = memory[CURSORS] + number * CURSOR_WORDS
        _schedule_losses(memory, operator, cursor, least, bound)
    return True


@inner_kernel
def _schedule_losses(memory: Memory, operator: int, cursor: int, least: int, bound: int) -> None:
    """Schedule the times at which rows under a cursor take more of a record away."""
    batch, row = memory[cursor + CURSOR_BATCH], memory[cursor + CURSOR_ROW]
    while row < memory[cursor + CURSOR_END] and value_of(memory, batch, row, 0) == least:
        time = time_of(memory, batch, row)
        position, version = memory[time], memory[time + 1]
        if diff_of(memory, batch, row) < 0 and not in_time(memory, operator, position, version):
            schedule_later(memory, operator, position, version, bound, 1)
        row += memory[batch + BATCH_FRAME + FRAME_WIDTH]


@joined_kernel
def _first_row_of(memory: Memory, cursor: int, value: int) -> int:
    """The first row under a cursor with at least a value; rows are sorted by it."""
    batch = memory[cursor + CURSOR_BATCH]
    width = memory[batch + BATCH_FRAME + FRAME_WIDTH]
    first = memory[cursor + CURSOR_ROW]
    low, high = 0, (memory[cursor + CURSOR_END] - first) // width
    while low < high:
        middle = (low + high) >> 1
        if value_of(memory, batch, first + middle * width, 0) < value:
            low = middle + 1
        else:
            high = middle
    return first + low * width  # type: ignore[no-any-return]


@inner_kernel
def schedule_output(memory: Memory, operator: int, bound: int, taken: int) -> None:
    """Schedule the key where a row of its output joins this time."""
    values = memory[memory[operator + OP_OUTPUT] + TRACE_VALUE_WORDS]
    if _stays_beyond(memory, operator, bound, values):
        return
    body = values + 3
    for row in range(list_count(memory, HELD)):
        at = list_rows(memory, HELD) + row * body + values
        if not in_time(memory, operator, memory[at], memory[at + 1]):
            schedule_later(memory, operator, memory[at], memory[at + 1], bound, taken)


@inner_kernel
def _stays_beyond(memory: Memory, operator: int, bound: int, values: int) -> bool:
    """True where a bound lies beyond the output at all later times too: nothing to schedule.

    Only in a single loop and for one version, and where each later round replaces one record by
    another, so that there is always one.
    """
    if (
        memory[operator + OP_SHAPE] != 0
        or memory[ONE_VERSION] < 0
        or bound == forced_bound(memory, operator)
    ):
        return False
    body = values + 3
    reducer = memory[operator + OP_REDUCER]
    rows = list_rows(memory, HELD)
    count = list_count(memory, HELD)
    if count > MOST_LATER_ROWS:
        return False
    for row in range(count):
        at = rows + row * body
        if memory[at + values] <= memory[LOOK_POSITION]:
            continue
        beyond = bound >= memory[at] if reducer == FIRST else bound <= memory[at]
        if memory[at + values + 2] > 0 and not beyond:
            return False
        # In no round may the output be gone: there, any record would count.
        total = 0
        for other in range(count):
            place = rows + other * body + values
            if memory[place] == memory[at + values]:
                total += memory[place + 2]
        if total != 0:
            return False
    return True
