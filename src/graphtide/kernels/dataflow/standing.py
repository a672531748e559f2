"""What stands in the output of reduce for one key, and what has to change in it.

HELD is a copy of the key's output rows, values first, and grows by what reduce sends for the key
while it looks at several versions. STANDING is what they add up to at one time. A key is looked
at as a whole, so all of this is scratch in proportion to the history of one key.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.batches import compare_keys
from graphtide.kernels.dataflow.diffs import held
from graphtide.kernels.dataflow.frames import load_row
from graphtide.kernels.dataflow.layout import (
    BATCH_FRAME,
    CURSOR_BATCH,
    CURSOR_END,
    CURSOR_ROW,
    CURSOR_WORDS,
    CURSORS,
    FRAME_WIDTH,
    HELD,
    LOOK_KEY,
    LOOK_POSITION,
    LOOK_VERSION,
    OP_EMPTY,
    OP_LEFT,
    OP_OUTPUT,
    OP_RESULTS,
    STANDING,
    TRACE_BODY_WORDS,
    TRACE_KEY_WORDS,
    TRACE_VALUE_WORDS,
    WANTED,
    Memory,
)
from graphtide.kernels.dataflow.lists import append, clear_list, list_count, list_rows
from graphtide.kernels.dataflow.memory import copy_words
from graphtide.kernels.dataflow.ports import new_row
from graphtide.kernels.dataflow.rows import sort_rows
from graphtide.kernels.dataflow.todo import in_time
from graphtide.kernels.dataflow.traces import open_cursors
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def hold_output(memory: Memory, operator: int) -> None:
    """Copy the output rows of the key into HELD, values first."""
    trace = memory[operator + OP_OUTPUT]
    body = memory[trace + TRACE_BODY_WORDS]
    clear_list(memory, HELD)
    for number in range(open_cursors(memory, trace, memory[LOOK_KEY])):
        cursor = memory[CURSORS] + number * CURSOR_WORDS
        batch = memory[cursor + CURSOR_BATCH]
        width = memory[batch + BATCH_FRAME + FRAME_WIDTH]
        for row in range(memory[cursor + CURSOR_ROW], memory[cursor + CURSOR_END], width):
            target = append(memory, HELD, body)
            load_row(memory, batch, row, body - 3, target)


@inner_kernel
def stand(memory: Memory, operator: int) -> None:
    """Add up HELD at the time looked at: records with multiplicities in STANDING, in order."""
    values = memory[memory[operator + OP_OUTPUT] + TRACE_VALUE_WORDS]
    body = values + 3
    count = list_count(memory, HELD)
    rows = list_rows(memory, HELD)
    sort_rows(memory, rows, count, body, 0)
    clear_list(memory, STANDING)
    row = 0
    while row < count:
        first = rows + row * body
        total = 0
        while row < count and compare_keys(memory, first, rows + row * body, values) == 0:
            at = rows + row * body + values
            if in_time(memory, operator, memory[at], memory[at + 1]):
                total = held(total + memory[at + 2])
            row += 1
        if total != 0:
            target = append(memory, STANDING, values + 1)
            for word in range(values):
                memory[target + word] = memory[first + word]
            memory[target + values] = total


@inner_kernel
def emit(memory: Memory, operator: int) -> None:
    """Write what is wanted less what stands, both in order of value, to the results and HELD."""
    values = memory[memory[operator + OP_OUTPUT] + TRACE_VALUE_WORDS]
    width = values + 1
    standing, wanted = list_rows(memory, STANDING), list_rows(memory, WANTED)
    one, ones = 0, list_count(memory, STANDING)
    other, others = 0, list_count(memory, WANTED)
    written = 0
    while one < ones or other < others:
        which = -1 if other >= others else 1
        if one < ones and other < others:
            which = compare_keys(memory, standing + one * width, wanted + other * width, values)
        record = standing + one * width if which <= 0 else wanted + other * width
        diff = 0
        if which <= 0:
            diff -= memory[standing + one * width + values]
            one += 1
        if which >= 0:
            diff += memory[wanted + other * width + values]
            other += 1
        if diff != 0:
            _hold_new(memory, record, values, held(diff))
            written += 1
    _write_results(memory, operator, written)
    if written == 0:
        memory[operator + OP_EMPTY] += 1


@joined_kernel
def _hold_new(memory: Memory, record: int, values: int, diff: int) -> None:
    target = append(memory, HELD, values + 3)
    copy_words(memory, record, target, values)
    memory[target + values] = memory[LOOK_POSITION]
    memory[target + values + 1] = memory[LOOK_VERSION]
    memory[target + values + 2] = diff


@joined_kernel
def _write_results(memory: Memory, operator: int, count: int) -> None:
    """Write the last rows of HELD, all at the current time, to the results of the operator."""
    words = memory[memory[operator + OP_LEFT] + TRACE_KEY_WORDS]
    values = memory[memory[operator + OP_OUTPUT] + TRACE_VALUE_WORDS]
    held = list_count(memory, HELD)
    for number in range(held - count, held):
        source = list_rows(memory, HELD) + number * (values + 3)
        target = new_row(memory, memory[operator + OP_RESULTS], memory[source + values])
        copy_words(memory, memory[LOOK_KEY], target, words)
        copy_words(memory, source, target + words, values)
        memory[target + words + values] = memory[source + values + 1]
        memory[target + words + values + 1] = memory[source + values + 2]
