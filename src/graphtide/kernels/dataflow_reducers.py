"""Reducers: what a group of records comes to.

The rows of a key are read through cursors, one a batch, each in order of value. `_next_record`
merges them into distinct records with their multiplicities at a time. FIRST and LAST stop at the
last record they use; rows that are not part of the time yet are scheduled as they are met, which
is how far the rule of `dataflow_reduce` asks to look. Records count where their multiplicity is
positive; LINEAR adds weights of any sign, and a group is there where its count is not 0.
"""

from __future__ import annotations

from graphtide.kernels.dataflow_batches import compare_keys
from graphtide.kernels.dataflow_layout import (
    ASK,
    ASKED,
    CURSORS,
    FLOAT_SUM,
    GROUPS,
    LAST,
    LINEAR,
    LOOK_KEY,
    LOOK_VERSION,
    OP_ARGUMENT,
    OP_ARGUMENTS,
    OP_LEFT,
    OP_REDUCER,
    RECORD,
    REPLAYED,
    REPLAYING,
    SUMS,
    THRESHOLD,
    TRACE_BODY_WORDS,
    TRACE_KEY_WORDS,
    TRACE_POSITION_AT,
    TRACE_VALUE_AT,
    TRACE_VALUE_WORDS,
    WANTED,
    Memory,
)
from graphtide.kernels.dataflow_lists import append, clear_list, list_count, list_rows
from graphtide.kernels.dataflow_memory import copy_words
from graphtide.kernels.dataflow_merging import sort_bodies
from graphtide.kernels.dataflow_programs import float_of, word_of
from graphtide.kernels.dataflow_todo import forced_bound, in_time, schedule_later
from graphtide.kernels.jit import inlined_kernel, inner_kernel


@inlined_kernel
def want(memory: Memory, operator: int, count: int) -> None:
    """Write to WANTED what the operator's reducer makes of the rows under so many cursors."""
    clear_list(memory, WANTED)
    reducer = memory[operator + OP_REDUCER]
    if reducer == LINEAR:
        _want_sums(memory, operator, count)
    elif reducer == THRESHOLD:
        _want_threshold(memory, operator, count)
    elif reducer == FLOAT_SUM:
        _want_float_sum(memory, operator, count)
    elif reducer == ASK:
        _ask(memory, operator, count)
    else:
        _want_ends(memory, operator, count)


@inlined_kernel
def order_by_value(memory: Memory, operator: int, count: int) -> int:
    """Make the rows under so many cursors, which are sorted by time, one cursor sorted by value."""
    trace = memory[operator + OP_LEFT]
    body, values = memory[trace + TRACE_BODY_WORDS], memory[trace + TRACE_VALUE_WORDS]
    clear_list(memory, REPLAYED)
    for cursor in range(count):
        row = memory[memory[CURSORS] + 2 * cursor]
        while row < memory[memory[CURSORS] + 2 * cursor + 1]:
            target = append(memory, REPLAYED, body)
            copy_words(memory, row + memory[trace + TRACE_VALUE_AT], target, values)
            copy_words(memory, row + memory[trace + TRACE_POSITION_AT], target + values, 2)
            memory[target + body - 1] = memory[row + body - 1]
            row += body
    rows = list_rows(memory, REPLAYED)
    sort_bodies(memory, rows, list_count(memory, REPLAYED), body)
    memory[memory[CURSORS]] = rows
    memory[memory[CURSORS] + 1] = rows + list_count(memory, REPLAYED) * body
    return 1 if count > 0 else 0


@inlined_kernel
def _first_record(memory: Memory, operator: int, count: int) -> int:
    """The address of the next record under the cursors, or 0. LAST reads downward."""
    trace = memory[operator + OP_LEFT]
    body, values = memory[trace + TRACE_BODY_WORDS], memory[trace + TRACE_VALUE_WORDS]
    downward = memory[operator + OP_REDUCER] == LAST
    cursors = memory[CURSORS]
    record = 0
    for cursor in range(count):
        row, end = memory[cursors + 2 * cursor], memory[cursors + 2 * cursor + 1]
        if row == end:
            continue
        here = end - body if downward else row
        order = 0 if record == 0 else compare_keys(memory, here, record, values)
        if record == 0 or (order > 0 if downward else order < 0):
            record = here
    return record


@inner_kernel
def _next_record(memory: Memory, operator: int, count: int) -> int:
    """Read the next distinct record under the cursors: its multiplicity; its address in RECORD.

    Rows that are not part of the time are scheduled. RECORD is 0 at the end.
    """
    trace = memory[operator + OP_LEFT]
    body, values = memory[trace + TRACE_BODY_WORDS], memory[trace + TRACE_VALUE_WORDS]
    downward = memory[operator + OP_REDUCER] == LAST
    forced = forced_bound(memory, operator)
    record = _first_record(memory, operator, count)
    memory[RECORD] = record
    total = 0
    for cursor in range(count if record != 0 else 0):
        at = memory[CURSORS] + 2 * cursor
        while memory[at] < memory[at + 1]:
            row = memory[at + 1] - body if downward else memory[at]
            if row != record and compare_keys(memory, row, record, values) != 0:
                break
            position, version = memory[row + values], memory[row + values + 1]
            if in_time(memory, operator, position, version):
                total += memory[row + body - 1]
            else:
                schedule_later(memory, operator, position, version, forced)
            if downward:
                memory[at + 1] -= body
            else:
                memory[at] += body
    return total


@inlined_kernel
def _want_ends(memory: Memory, operator: int, count: int) -> None:
    """The first or last `argument` records, each as often as it is there."""
    values = memory[memory[operator + OP_LEFT] + TRACE_VALUE_WORDS]
    left = memory[operator + OP_ARGUMENT]
    while left > 0:
        total = _next_record(memory, operator, count)
        if memory[RECORD] == 0:
            break
        if total <= 0:
            continue
        target = append(memory, WANTED, values + 1)
        copy_words(memory, memory[RECORD], target, values)
        memory[target + values] = min(total, left)
        left -= total
    if memory[operator + OP_REDUCER] == LAST:
        _reverse_wanted(memory, values + 1)


@inlined_kernel
def _reverse_wanted(memory: Memory, width: int) -> None:
    """WANTED is in ascending order, always."""
    rows, count = list_rows(memory, WANTED), list_count(memory, WANTED)
    for number in range(count // 2):
        for word in range(width):
            one = rows + number * width + word
            other = rows + (count - 1 - number) * width + word
            kept = memory[one]
            memory[one] = memory[other]
            memory[other] = kept


@inner_kernel
def _add_weights(memory: Memory, operator: int, count: int, tagged: bool) -> None:
    """Add up the diffs under the cursors into SUMS, by the tag in the value word or all in one."""
    trace = memory[operator + OP_LEFT]
    body, position_at = memory[trace + TRACE_BODY_WORDS], memory[trace + TRACE_POSITION_AT]
    tag_at = memory[trace + TRACE_VALUE_AT]
    if memory[REPLAYING] != 0:
        position_at, tag_at = body - 3, 0
    forced = forced_bound(memory, operator)
    sums = list_rows(memory, SUMS)
    for cursor in range(count):
        row = memory[memory[CURSORS] + 2 * cursor]
        while row < memory[memory[CURSORS] + 2 * cursor + 1]:
            position, version = memory[row + position_at], memory[row + position_at + 1]
            if in_time(memory, operator, position, version):
                memory[sums + (memory[row + tag_at] if tagged else 0)] += memory[row + body - 1]
            else:
                schedule_later(memory, operator, position, version, forced)
            row += body


@inner_kernel
def _clear_sums(memory: Memory, parts: int) -> None:
    clear_list(memory, SUMS)
    for _ in range(parts):
        place = append(memory, SUMS, 1)
        memory[place] = 0


@inlined_kernel
def _want_sums(memory: Memory, operator: int, count: int) -> None:
    """The sums of weights by tag: tag 0 counts the records, and 0 means that there is no group."""
    _clear_sums(memory, memory[operator + OP_ARGUMENT])
    _add_weights(memory, operator, count, True)
    sums = list_rows(memory, SUMS)
    if memory[sums] == 0:
        return
    listed = memory[operator + OP_ARGUMENTS]
    outputs = memory[listed]
    target = append(memory, WANTED, outputs + 1)
    for output in range(outputs):
        memory[target + output] = memory[sums + memory[listed + 1 + output]]
    memory[target + outputs] = 1


@inlined_kernel
def _want_threshold(memory: Memory, operator: int, count: int) -> None:
    """The record once, where it is there at least `argument` times."""
    _clear_sums(memory, 1)
    _add_weights(memory, operator, count, False)
    if memory[list_rows(memory, SUMS)] >= memory[operator + OP_ARGUMENT]:
        target = append(memory, WANTED, 1)
        memory[target] = 1


@inlined_kernel
def _want_float_sum(memory: Memory, operator: int, count: int) -> None:
    """The sum of floats, always in ascending order, so that it does not depend on the past."""
    total, lost, records = 0.0, 0.0, 0
    while True:
        times = _next_record(memory, operator, count)
        if memory[RECORD] == 0:
            break
        records += times
        number = float_of(memory[memory[RECORD]]) * times
        raised = total + number
        if abs(raised) <= 1.7976931348623157e308:
            larger = abs(total) >= abs(number)
            lost += (total - raised) + number if larger else (number - raised) + total
        total = raised
    if records != 0:
        target = append(memory, WANTED, 2)
        memory[target] = word_of(total + lost)
        memory[target + 1] = 1


@inlined_kernel
def _ask(memory: Memory, operator: int, count: int) -> None:
    """Write the group, and its records with their multiplicities, for Python to read."""
    trace = memory[operator + OP_LEFT]
    keys, values = memory[trace + TRACE_KEY_WORDS], memory[trace + TRACE_VALUE_WORDS]
    group = list_count(memory, GROUPS)
    target = append(memory, GROUPS, keys + 1)
    copy_words(memory, memory[LOOK_KEY], target, keys)
    memory[target + keys] = memory[LOOK_VERSION]
    while True:
        times = _next_record(memory, operator, count)
        if memory[RECORD] == 0:
            break
        if times != 0:
            target = append(memory, ASKED, values + 2)
            memory[target] = group
            copy_words(memory, memory[RECORD], target + 1, values)
            memory[target + 1 + values] = times
