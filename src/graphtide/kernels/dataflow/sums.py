"""Sums outside of loops: what a key came to before a batch is told by the input alone.

Versions are plain numbers here, and there are no rounds. So all rows of a key but the news are part
of every version of the batch: they add up to what the sums were. The news, in the order of their
versions, make them what they are after each. The operator sends the difference of both, and never
looks up what it sent before. Sums in loops are left to `reduce`: there a key has a result for each
round.

Where nobody looks its results up, the operator keeps none (`OP_OUTPUT` is 0): they go along its
edges as they are found.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import diff_of, seek_key, sort_rows, time_of, value_of
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import append, clear_list, copy_words, list_count, list_rows
from graphtide.kernels.dataflow.numbers import FLOAT_TAGS, held
from graphtide.kernels.dataflow.ports import new_row
from graphtide.kernels.dataflow.reduce import batch_of_news, close_output
from graphtide.kernels.dataflow.reducers import made_of
from graphtide.kernels.dataflow.sending import flush
from graphtide.kernels.dataflow.traces import batch_at, count_batches, settle_fresh
from graphtide.kernels.jit import inner_kernel, joined_kernel

NEWS_WORDS = 3
"""Of a new row: its version, its tag, its diff."""


@inner_kernel
def add_up_keys(memory: Memory, operator: int, position: int) -> None:
    """Send by how much the sums of each key with news have changed."""
    output = memory[operator + at.OP_OUTPUT]
    if output != 0:
        settle_fresh(memory, output)
    news = batch_of_news(memory, operator, position)
    outputs = memory[memory[operator + at.OP_ARGUMENTS]]
    keys = memory[memory[operator + at.OP_LEFT] + at.TRACE_KEY_WORDS]
    # The sums by tag, whether a group stood, what it came to then and comes to now, and scratch.
    clear_list(memory, at.SUMS)
    sums = append(memory, at.SUMS, memory[operator + at.OP_ARGUMENT] + 1 + 2 * outputs + FLOAT_TAGS)
    for number in range(memory[news + at.BATCH_KEYS] if news != 0 else 0):
        _add_up_key(memory, operator, news, number, sums)
    if output != 0:
        close_output(memory, operator, position)
    else:
        flush(memory, operator, keys + outputs)


@inner_kernel
def _add_up_key(memory: Memory, operator: int, news: int, number: int, sums: int) -> None:
    """Go through the versions at which one key has news."""
    trace = memory[operator + at.OP_LEFT]
    key = memory[news + at.BATCH_KEYS_AT] + number * memory[trace + at.TRACE_KEY_WORDS]
    _add_before(memory, operator, news, key, sums)
    if memory[news + at.BATCH_TIMES] == 1:
        _add_rows(memory, news, number, sums)
        version = memory[memory[news + at.BATCH_TIMES_AT] + 1]
        _send_change(memory, operator, key, max(version, memory[operator + at.OP_FLOOR]), sums)
        return
    _gather_news(memory, operator, news, number)
    row = list_rows(memory, at.GATHERED)
    end = row + NEWS_WORDS * list_count(memory, at.GATHERED)
    while row < end:
        version = memory[row]
        while row < end and memory[row] == version:
            place = sums + memory[row + 1]
            memory[place] = held(memory[place] + memory[row + 2])
            row += NEWS_WORDS
        _send_change(memory, operator, key, version, sums)


@inner_kernel
def _add_before(memory: Memory, operator: int, news: int, key: int, sums: int) -> None:
    """Add up all rows of a key but the news, and note what they come to."""
    trace, tags = memory[operator + at.OP_LEFT], memory[operator + at.OP_ARGUMENT]
    words = memory[trace + at.TRACE_KEY_WORDS]
    for tag in range(tags):
        memory[sums + tag] = 0
    for place in range(count_batches(memory, trace)):
        batch = batch_at(memory, trace, place)
        if batch != 0 and batch != news:
            found = seek_key(memory, batch, key, words)
            if found >= 0:
                _add_rows(memory, batch, found, sums)
    memory[sums + tags] = memory[sums]
    if memory[sums] != 0:
        _make_record(memory, operator, sums, sums + tags + 1)


@inner_kernel
def _add_rows(memory: Memory, batch: int, number: int, sums: int) -> None:
    """Add the diffs of all rows of a key of a batch to the sums, by their tags."""
    starts = memory[batch + at.BATCH_STARTS_AT] + number
    width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
    rows = memory[batch + at.BATCH_ROWS_AT]
    for row in range(rows + memory[starts] * width, rows + memory[starts + 1] * width, width):
        place = sums + value_of(memory, batch, row, 0)
        memory[place] = held(memory[place] + diff_of(memory, batch, row))


@joined_kernel
def _gather_news(memory: Memory, operator: int, news: int, number: int) -> None:
    """The rows of a key of a batch of several versions, in the order of these."""
    starts = memory[news + at.BATCH_STARTS_AT] + number
    width = memory[news + at.BATCH_FRAME + at.FRAME_WIDTH]
    rows, floor = memory[news + at.BATCH_ROWS_AT], memory[operator + at.OP_FLOOR]
    clear_list(memory, at.GATHERED)
    for row in range(rows + memory[starts] * width, rows + memory[starts + 1] * width, width):
        target = append(memory, at.GATHERED, NEWS_WORDS)
        memory[target] = max(memory[time_of(memory, news, row) + 1], floor)
        memory[target + 1] = value_of(memory, news, row, 0)
        memory[target + 2] = diff_of(memory, news, row)
    count = list_count(memory, at.GATHERED)
    sort_rows(memory, list_rows(memory, at.GATHERED), count, NEWS_WORDS, 0)
    memory[at.ROWS_TOLD_APART] += count


@inner_kernel
def _make_record(memory: Memory, operator: int, sums: int, target: int) -> None:
    """Write what a group of these sums comes to; the sums stay as they are."""
    listed = memory[operator + at.OP_ARGUMENTS]
    outputs = memory[listed]
    scratch = sums + memory[operator + at.OP_ARGUMENT] + 1 + 2 * outputs
    for output in range(outputs):
        kind, tag = memory[listed + 1 + 2 * output], memory[listed + 2 + 2 * output]
        source = sums + tag
        if kind == at.FLOAT_SUM:  # Limbs are overwritten as they are read.
            copy_words(memory, source, scratch, FLOAT_TAGS)
            source = scratch
        memory[target + output] = made_of(memory, kind, source)


@inner_kernel
def _send_change(memory: Memory, operator: int, key: int, version: int, sums: int) -> None:
    """Send what a key comes to now less what it came to, and remember it."""
    outputs = memory[memory[operator + at.OP_ARGUMENTS]]
    stood = sums + memory[operator + at.OP_ARGUMENT]
    before, now = stood + 1, stood + 1 + outputs
    memory[operator + at.OP_RECOMPUTED] += 1
    there = memory[sums] != 0
    differs = there != (memory[stood] != 0)
    if there:
        _make_record(memory, operator, sums, now)
        for output in range(outputs):
            differs = differs or memory[now + output] != memory[before + output]
    if not differs:
        memory[operator + at.OP_EMPTY] += 1
        return
    if memory[stood] != 0:
        _put(memory, operator, key, before, version, -1)
    if there:
        _put(memory, operator, key, now, version, 1)
        copy_words(memory, now, before, outputs)
    memory[stood] = memory[sums]


@inner_kernel
def _put(memory: Memory, operator: int, key: int, record: int, version: int, diff: int) -> None:
    """Put a record among the results where they are kept, or stage it to be sent."""
    words = memory[memory[operator + at.OP_LEFT] + at.TRACE_KEY_WORDS]
    outputs = memory[memory[operator + at.OP_ARGUMENTS]]
    columns = words + outputs
    if memory[operator + at.OP_OUTPUT] != 0:
        target, step = new_row(memory, memory[operator + at.OP_RESULTS], 0), 1
    else:
        target, step = memory[at.STAGE] + memory[at.STAGED], at.CHUNK
    for word in range(words):
        memory[target + word * step] = memory[key + word]
    for word in range(outputs):
        memory[target + (words + word) * step] = memory[record + word]
    memory[target + columns * step] = version
    if step == 1:
        memory[target + columns + 1] = diff
        return
    memory[target + (columns + 1) * step] = 0
    memory[target + (columns + 2) * step] = diff
    memory[at.STAGED] += 1
    if memory[at.STAGED] == at.CHUNK:
        flush(memory, operator, columns)
