"""Reduce: keep one result per key, by looking again only where it may have changed.

For a key and a time, the output so far adds up to what *stands*; the input adds up to a group of
records, and the reducer says what is *wanted*; the difference goes out. Which times to look at?
Every time with new input; and, whenever a time t is looked at, the least upper bounds of t with
the times of rows that are not yet part of t and that could matter: all rows of the output for the
key, and of the input those that come, in the reducer's order, no later than the last record it
used. For min that is every value up to the minimum: what lies beyond cannot change the result
until one of those does. The bounds that lie at a later position wait in the operator's port.

Skipping (FEDiV, for any number of loops): let the output for the key stand at one record m at t,
and let all new input at t, of which no look has read the group yet, be beyond m, or
m itself added once more, or taken away while it is there more often. Then nothing can change at t,
and the group need not be read. How that is found out is in `looks`; the proof of both rules
is in docs/concepts/dataflow.md.

Versions: where a physical batch has one version, all history lies before it and only positions
are compared. Where it has several, the rows of a key are replayed in the order of versions: those
that have come are kept in order of value and added up as they become equal, so the next version
starts from what is left, not from the whole history.

What stands in the output of reduce for one key, and what has to change in it.

HELD is a copy of the key's output rows, values first, and grows by what reduce sends for the key
while it looks at several versions. STANDING is what they add up to at one time. A key is looked
at as a whole, so all of this is scratch in proportion to the history of one key.

What reductions begin and end with: the news of their input, and the batch of their results.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import (
    compare_keys,
    diff_of,
    load_row,
    sort_rows,
    time_of,
    value_of,
)
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.looks import (
    TIME_WORDS,
    advance_replay,
    can_skip,
    find_floor,
    forced_bound,
    gather_rows,
    in_time,
    note_time,
    order_times,
    raise_versions,
    schedule_output,
)
from graphtide.kernels.dataflow.memory import (
    append,
    clear_list,
    copy_words,
    free,
    list_count,
    list_rows,
)
from graphtide.kernels.dataflow.numbers import held, upper_bound
from graphtide.kernels.dataflow.ports import new_row, take_bucket
from graphtide.kernels.dataflow.reducers import order_by_value, want
from graphtide.kernels.dataflow.sending import send_batch
from graphtide.kernels.dataflow.sorting import batch_of_bucket
from graphtide.kernels.dataflow.traces import announce, finish_merges, open_cursors, settle_fresh
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def hold_output(memory: Memory, operator: int) -> None:
    """Copy the output rows of the key into HELD, values first."""
    trace = memory[operator + at.OP_OUTPUT]
    body = memory[trace + at.TRACE_BODY_WORDS]
    clear_list(memory, at.HELD)
    for number in range(open_cursors(memory, trace, memory[at.LOOK_KEY])):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        batch = memory[cursor + at.CURSOR_BATCH]
        width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
        for row in range(memory[cursor + at.CURSOR_ROW], memory[cursor + at.CURSOR_END], width):
            target = append(memory, at.HELD, body)
            load_row(memory, batch, row, body - 3, target)


@inner_kernel
def stand(memory: Memory, operator: int) -> None:
    """Add up HELD at the time looked at: records with multiplicities in STANDING, in order."""
    values = memory[memory[operator + at.OP_OUTPUT] + at.TRACE_VALUE_WORDS]
    body = values + 3
    count = list_count(memory, at.HELD)
    rows = list_rows(memory, at.HELD)
    sort_rows(memory, rows, count, body, 0)
    clear_list(memory, at.STANDING)
    row = 0
    while row < count:
        first = rows + row * body
        total = 0
        while row < count and compare_keys(memory, first, rows + row * body, values) == 0:
            place = rows + row * body + values
            if in_time(memory, operator, memory[place], memory[place + 1]):
                total = held(total + memory[place + 2])
            row += 1
        if total != 0:
            target = append(memory, at.STANDING, values + 1)
            for word in range(values):
                memory[target + word] = memory[first + word]
            memory[target + values] = total


@inner_kernel
def emit(memory: Memory, operator: int) -> None:
    """Write what is wanted less what stands, both in order of value, to the results and HELD."""
    values = memory[memory[operator + at.OP_OUTPUT] + at.TRACE_VALUE_WORDS]
    width = values + 1
    standing, wanted = list_rows(memory, at.STANDING), list_rows(memory, at.WANTED)
    one, ones = 0, list_count(memory, at.STANDING)
    other, others = 0, list_count(memory, at.WANTED)
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
        memory[operator + at.OP_EMPTY] += 1


@joined_kernel
def _hold_new(memory: Memory, record: int, values: int, diff: int) -> None:
    target = append(memory, at.HELD, values + 3)
    copy_words(memory, record, target, values)
    memory[target + values] = memory[at.LOOK_POSITION]
    memory[target + values + 1] = memory[at.LOOK_VERSION]
    memory[target + values + 2] = diff


@joined_kernel
def _write_results(memory: Memory, operator: int, count: int) -> None:
    """Write the last rows of HELD, all at the current time, to the results of the operator."""
    words = memory[memory[operator + at.OP_LEFT] + at.TRACE_KEY_WORDS]
    values = memory[memory[operator + at.OP_OUTPUT] + at.TRACE_VALUE_WORDS]
    held = list_count(memory, at.HELD)
    for number in range(held - count, held):
        source = list_rows(memory, at.HELD) + number * (values + 3)
        target = new_row(memory, memory[operator + at.OP_RESULTS], memory[source + values])
        copy_words(memory, memory[at.LOOK_KEY], target, words)
        copy_words(memory, source, target + words, values)
        memory[target + words + values] = memory[source + values + 1]
        memory[target + words + values + 1] = memory[source + values + 2]


@inner_kernel
def batch_of_news(memory: Memory, operator: int, position: int) -> int:
    """The input rows that are new at this position, as one batch, or 0."""
    trace = memory[operator + at.OP_LEFT]
    if memory[operator + at.OP_LEFT_NEWS] == 0 or memory[operator + at.OP_LEFT_AT] != position:
        return 0
    everything = memory[operator + at.OP_LEFT_NEWS] == 2
    memory[operator + at.OP_LEFT_NEWS] = 0
    batch = memory[trace + at.TRACE_FRESH]
    if everything:
        finish_merges(memory, trace)
        found = memory[trace + at.TRACE_SLOT_COUNT] > 0
        batch = memory[memory[trace + at.TRACE_SLOTS]] if found else 0
    if batch != 0:
        memory[operator + at.OP_IN] += memory[batch + at.BATCH_ROWS]
    return batch  # type: ignore[no-any-return]


@inner_kernel
def close_output(memory: Memory, operator: int, position: int) -> None:
    """Make the results a batch of the output, tell its readers, and send it on."""
    output = memory[operator + at.OP_OUTPUT]
    bucket = take_bucket(memory, memory[operator + at.OP_RESULTS], position)
    if bucket == 0:
        return
    batch = batch_of_bucket(memory, output, bucket, position)
    if batch != 0:
        memory[output + at.TRACE_FRESH] = batch
        announce(memory, output, position)
        send_batch(memory, operator, output, batch)


@inner_kernel
def reduce(memory: Memory, operator: int, position: int) -> bool:
    """Look at all keys that are due at this position; True where Python has to be asked first."""
    if memory[operator + at.OP_PHASE] == 0:
        settle_fresh(memory, memory[operator + at.OP_OUTPUT])
        clear_list(memory, at.GROUPS)
        clear_list(memory, at.ASKED)
        _look_at_keys(memory, operator, position)
        if memory[operator + at.OP_REDUCER] == at.ASK and list_count(memory, at.GROUPS) > 0:
            memory[operator + at.OP_PHASE] = 1
            return True
    else:
        memory[operator + at.OP_PHASE] = 0
        _take_answers(memory, operator, position)
    close_output(memory, operator, position)
    return False


@inner_kernel
def _take_answers(memory: Memory, operator: int, position: int) -> None:
    """Compare what Python wants each group to be with what stands, group by group, in order.

    Answers are rows of group, values and multiplicity, ascending.
    """
    keys = memory[memory[operator + at.OP_LEFT] + at.TRACE_KEY_WORDS]
    values = memory[memory[operator + at.OP_OUTPUT] + at.TRACE_VALUE_WORDS]
    answer = memory[operator + at.OP_ANSWER]
    end = answer + memory[operator + at.OP_ANSWERS] * (values + 2)
    memory[at.LOOK_POSITION] = position
    for group in range(list_count(memory, at.GROUPS)):
        place = list_rows(memory, at.GROUPS) + group * (keys + 1)
        before = place - keys - 1
        memory[at.LOOK_KEY] = place
        memory[at.LOOK_VERSION] = memory[place + keys]
        if group == 0 or compare_keys(memory, before, place, keys) != 0:
            hold_output(memory, operator)
        clear_list(memory, at.WANTED)
        while answer < end and memory[answer] == group:
            target = append(memory, at.WANTED, values + 1)
            copy_words(memory, answer + 1, target, values + 1)
            answer += values + 2
        stand(memory, operator)
        emit(memory, operator)
    free(memory, memory[operator + at.OP_ANSWER])
    memory[operator + at.OP_ANSWER] = 0


@inner_kernel
def _look_at_keys(memory: Memory, operator: int, position: int) -> None:
    """Go through the keys with news and the keys that were put off to now, in order."""
    words = memory[memory[operator + at.OP_LEFT] + at.TRACE_KEY_WORDS]
    news = batch_of_news(memory, operator, position)
    todo = _batch_of_todo(memory, operator, position)
    one, ones = 0, memory[news + at.BATCH_KEYS] if news != 0 else 0
    other, others = 0, memory[todo + at.BATCH_KEYS] if todo != 0 else 0
    while one < ones or other < others:
        which = -1 if other >= others else 1
        if one < ones and other < others:
            which = compare_keys(
                memory,
                memory[news + at.BATCH_KEYS_AT] + one * words,
                memory[todo + at.BATCH_KEYS_AT] + other * words,
                words,
            )
        clear_list(memory, at.TIMES)
        key = 0
        if which >= 0:
            key = memory[todo + at.BATCH_KEYS_AT] + other * words
            _times_of_todo(memory, operator, todo, other)
            other += 1
        if which <= 0:
            key = memory[news + at.BATCH_KEYS_AT] + one * words
            _times_of_news(memory, operator, news, one)
            one += 1
        order_times(memory, operator)
        _look_at_key(memory, operator, position, key)
    free(memory, todo)


@joined_kernel
def _batch_of_todo(memory: Memory, operator: int, position: int) -> int:
    """What was put off to this position, sorted by key and version, or 0."""
    bucket = take_bucket(memory, memory[operator + at.OP_PORT], position)
    if bucket == 0:
        return 0
    return batch_of_bucket(memory, memory[operator + at.OP_TODO], bucket, position)


@inner_kernel
def _times_of_todo(memory: Memory, operator: int, todo: int, number: int) -> None:
    starts = memory[todo + at.BATCH_STARTS_AT] + number
    width = memory[todo + at.BATCH_FRAME + at.FRAME_WIDTH]
    row = memory[todo + at.BATCH_ROWS_AT] + memory[starts] * width
    for _ in range(memory[starts + 1] - memory[starts]):
        # Values: 0 for no bound, 1 for a bound, 2 for one that is taken away; the bound.
        bound, taken = forced_bound(memory, operator), 0
        if value_of(memory, todo, row, 0) != 0:
            bound = value_of(memory, todo, row, 1)
            taken = value_of(memory, todo, row, 0) - 1
        note_time(memory, operator, memory[time_of(memory, todo, row) + 1], bound, taken)
        row += width


@inner_kernel
def _times_of_news(memory: Memory, operator: int, news: int, number: int) -> None:
    """The versions of the new rows of a key, each with the bound that they set.

    A record that is added is its own bound: one more of what stands changes nothing. One that is
    taken away, or that may differ behind its first word, counts as the one before it.
    """
    values = memory[memory[operator + at.OP_LEFT] + at.TRACE_VALUE_WORDS]
    forced = forced_bound(memory, operator)
    before = 1 if memory[operator + at.OP_REDUCER] == at.LAST else -1
    starts = memory[news + at.BATCH_STARTS_AT] + number
    width = memory[news + at.BATCH_FRAME + at.FRAME_WIDTH]
    row = memory[news + at.BATCH_ROWS_AT] + memory[starts] * width
    for _ in range(memory[starts + 1] - memory[starts]):
        version = upper_bound(
            memory[time_of(memory, news, row) + 1],
            memory[operator + at.OP_FLOOR],
            memory[at.VERSION_SHAPE],
        )
        bound, taken = forced, 0
        if values > 0 and value_of(memory, news, row, 0) != forced:
            added = diff_of(memory, news, row) > 0
            alone = added and values == 1
            bound = value_of(memory, news, row, 0) + (0 if alone else before)
            taken = 1 if values == 1 and not added else 0
        note_time(memory, operator, version, bound, taken)
        row += width


@inner_kernel
def _look_at_key(memory: Memory, operator: int, position: int, key: int) -> None:
    """Look at every version in TIMES, which may grow on the way, in ascending order."""
    memory[at.LOOK_KEY] = key
    memory[at.LOOK_POSITION] = position
    memory[at.LATER_POSITION] = -1
    memory[at.REPLAYING] = 0
    hold_output(memory, operator)
    output_body = memory[memory[operator + at.OP_OUTPUT] + at.TRACE_BODY_WORDS]
    number = 0
    while number < list_count(memory, at.TIMES):
        time = list_rows(memory, at.TIMES) + TIME_WORDS * number
        memory[at.LOOK_VERSION] = memory[time]
        bound, taken = memory[time + 1], memory[time + 2]
        if memory[at.ONE_VERSION] < 0:
            find_floor(memory, number)
            raise_versions(memory, at.HELD, output_body)
        number += 1
        stand(memory, operator)
        if can_skip(memory, operator, bound, taken):
            memory[operator + at.OP_SKIPPED] += 1
            schedule_output(memory, operator, bound, taken)
        else:
            memory[operator + at.OP_RECOMPUTED] += 1
            schedule_output(memory, operator, forced_bound(memory, operator), 0)
            want(memory, operator, _open_input(memory, operator))
            if memory[operator + at.OP_REDUCER] != at.ASK:
                emit(memory, operator)


@inner_kernel
def _open_input(memory: Memory, operator: int) -> int:
    """Open cursors over the input rows of the key, by value where the reducer needs it."""
    trace = memory[operator + at.OP_LEFT]
    if memory[at.ONE_VERSION] < 0:
        if memory[at.REPLAYING] == 0:
            gather_rows(memory, operator)
            memory[at.REPLAYING] = 1
        return advance_replay(memory, operator)
    count = open_cursors(memory, trace, memory[at.LOOK_KEY])
    reducer = memory[operator + at.OP_REDUCER]
    by_time = memory[trace + at.TRACE_BY_TIME] != 0 and memory[trace + at.TRACE_VALUE_WORDS] > 0
    if by_time and reducer != at.LINEAR and reducer != at.THRESHOLD:
        return order_by_value(memory, operator, count)
    return count
