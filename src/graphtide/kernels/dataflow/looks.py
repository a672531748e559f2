"""Looks of reduce: at which times a key has to be read again, which looks are skipped, and replay.

What reduce still has to look at: versions at the current position, keys at later ones.

A bound goes with each: the new record nearest to the result that made the time worth a look. A
forced bound lies before every record, so it never lets the look be skipped. A record that is taken
away counts as the one before it; such a bound is marked as *taken*, since the look may still be
skipped where the record is there more often.

Replay: the input rows of one key, brought forward version by version.

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

Skipping: when a look of min or max need not read its group, and what then has to be looked at.

What stands at the time is one record m, and what is new is no nearer than the bound. Where the
bound is m or beyond, nothing can change. Where the bound is m taken away, nothing changes as long
as m is there more often, and that is told by the rows of m alone, which stand together: a count of
supports that the arrangement keeps anyway.

What was skipped carries its bound to the later times of the output, where m may be another; and
where m was taken away, to the times at which it is taken away again. The proof is in
docs/concepts/dataflow.md.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import (
    add_equal_bodies,
    diff_of,
    sort_rows,
    time_of,
    value_of,
)
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import append, clear_list, copy_words, list_count, list_rows
from graphtide.kernels.dataflow.numbers import held, lower_bound, not_after, upper_bound
from graphtide.kernels.dataflow.ports import new_row
from graphtide.kernels.dataflow.traces import open_cursors, plain_cursor
from graphtide.kernels.jit import inner_kernel, joined_kernel

LEAST_WORD = -(1 << 63)
MOST_WORD = (1 << 63) - 1
TIME_WORDS = 3
"""Version, bound, and 1 where only records that are taken away have the bound."""


@joined_kernel
def forced_bound(memory: Memory, operator: int) -> int:
    """The bound that forbids skipping."""
    return MOST_WORD if memory[operator + at.OP_REDUCER] == at.LAST else LEAST_WORD


@joined_kernel
def nearer_bound(memory: Memory, operator: int, one: int, other: int) -> int:
    """The stricter of two bounds."""
    if memory[operator + at.OP_REDUCER] == at.LAST:
        return max(one, other)
    return min(one, other)


@joined_kernel
def _make_stricter(memory: Memory, operator: int, time: int, bound: int, taken: int) -> None:
    """Make the bound at a time of TIMES stricter where another one is."""
    if memory[time + 1] == bound:
        memory[time + 2] = min(taken, memory[time + 2])
    elif nearer_bound(memory, operator, memory[time + 1], bound) == bound:
        memory[time + 1] = bound
        memory[time + 2] = taken


@inner_kernel
def add_time(memory: Memory, operator: int, version: int, bound: int, taken: int) -> None:
    """Put a version into TIMES, which is ascending, or make its bound stricter."""
    count = list_count(memory, at.TIMES)
    rows = list_rows(memory, at.TIMES)
    place, end = 0, count
    while place < end:
        middle = (place + end) >> 1
        if memory[rows + TIME_WORDS * middle] < version:
            place = middle + 1
        else:
            end = middle
    time = rows + TIME_WORDS * place
    if place < count and memory[time] == version:
        _make_stricter(memory, operator, time, bound, taken)
        return
    append(memory, at.TIMES, TIME_WORDS)
    time = list_rows(memory, at.TIMES) + TIME_WORDS * place
    for word in range(TIME_WORDS * (count - place) - 1, -1, -1):
        memory[time + word + TIME_WORDS] = memory[time + word]
    memory[time] = version
    memory[time + 1] = bound
    memory[time + 2] = taken


@inner_kernel
def note_time(memory: Memory, operator: int, version: int, bound: int, taken: int) -> None:
    """Put a version at the end of TIMES, which is out of order until `order_times` is called."""
    count = list_count(memory, at.TIMES)
    last = list_rows(memory, at.TIMES) + TIME_WORDS * (count - 1)
    if count > 0 and memory[last] == version:
        _make_stricter(memory, operator, last, bound, taken)
        return
    time = append(memory, at.TIMES, TIME_WORDS)
    memory[time] = version
    memory[time + 1] = bound
    memory[time + 2] = taken


@inner_kernel
def order_times(memory: Memory, operator: int) -> None:
    """Bring what was noted into order: each version once, with the strictest of its bounds.

    Takes n log n for all of them, where inserting each would take the square.
    """
    rows, count = list_rows(memory, at.TIMES), list_count(memory, at.TIMES)
    sort_rows(memory, rows, count, TIME_WORDS, 0)
    kept = 0
    for number in range(count):
        source = rows + TIME_WORDS * number
        last = rows + TIME_WORDS * (kept - 1)
        if kept > 0 and memory[last] == memory[source]:
            _make_stricter(memory, operator, last, memory[source + 1], memory[source + 2])
            continue
        copy_words(memory, source, last + TIME_WORDS, TIME_WORDS)
        kept += 1
    memory[memory[at.TIMES] + at.BUCKET_COUNT] = kept


@joined_kernel
def in_time(memory: Memory, operator: int, position: int, version: int) -> bool:
    """True where a row of these times is part of the time that is looked at."""
    return not_after(
        position, memory[at.LOOK_POSITION], memory[operator + at.OP_SHAPE]
    ) and not_after(version, memory[at.LOOK_VERSION], memory[at.VERSION_SHAPE])


@inner_kernel
def schedule_later(
    memory: Memory, operator: int, position: int, version: int, bound: int, taken: int
) -> None:
    """Look at the key again where a row that is not part of the time looked at joins it."""
    here = memory[at.LOOK_POSITION]
    joined = upper_bound(here, position, memory[operator + at.OP_SHAPE])
    when = upper_bound(memory[at.LOOK_VERSION], version, memory[at.VERSION_SHAPE])
    if joined == here:
        add_time(memory, operator, when, bound, taken)
        return
    if memory[at.LATER_POSITION] == joined and memory[at.LATER_VERSION] == when:
        return
    if bound == forced_bound(memory, operator):
        memory[at.LATER_POSITION] = joined
        memory[at.LATER_VERSION] = when
    words = memory[memory[operator + at.OP_LEFT] + at.TRACE_KEY_WORDS]
    target = new_row(memory, memory[operator + at.OP_PORT], joined)
    copy_words(memory, memory[at.LOOK_KEY], target, words)
    # A forced bound is a word far from all others; as a flag it sorts in fewer bits.
    forced = bound == forced_bound(memory, operator)
    memory[target + words] = 0 if forced else 1 + taken
    memory[target + words + 1] = 0 if forced else bound
    memory[target + words + 2] = when
    memory[target + words + 3] = 1


LOOKS_A_FLOOR = 8


@inner_kernel
def gather_rows(memory: Memory, operator: int) -> None:
    """Copy the input rows of a key into GATHERED: version, position, values, diff; in that order.

    Every version after the one that is looked at is one to look at too: here or, for rows of
    later positions, there.
    """
    trace = memory[operator + at.OP_LEFT]
    body = memory[trace + at.TRACE_BODY_WORDS]
    memory[at.REPLAY_AT] = 0
    clear_list(memory, at.GATHERED)
    clear_list(memory, at.REPLAYED)
    clear_list(memory, at.RUNS)
    for number in range(open_cursors(memory, trace, memory[at.LOOK_KEY])):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        batch = memory[cursor + at.CURSOR_BATCH]
        width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
        for row in range(memory[cursor + at.CURSOR_ROW], memory[cursor + at.CURSOR_END], width):
            time = time_of(memory, batch, row)
            version = upper_bound(
                memory[time + 1], memory[operator + at.OP_FLOOR], memory[at.VERSION_SHAPE]
            )
            target = append(memory, at.GATHERED, body)
            memory[target] = version
            memory[target + 1] = memory[time]
            for value in range(body - 3):
                memory[target + 2 + value] = value_of(memory, batch, row, value)
            memory[target + body - 1] = diff_of(memory, batch, row)
            if memory[at.VERSION_SHAPE] == 0 and version > memory[at.LOOK_VERSION]:
                _schedule_version(memory, operator, memory[time], version)
    order_times(memory, operator)
    sort_rows(memory, list_rows(memory, at.GATHERED), list_count(memory, at.GATHERED), body, 0)


@joined_kernel
def _schedule_version(memory: Memory, operator: int, position: int, version: int) -> None:
    """Note that a row of a later version is to be looked at: here, or at its later position."""
    forced = forced_bound(memory, operator)
    if not_after(position, memory[at.LOOK_POSITION], memory[operator + at.OP_SHAPE]):
        note_time(memory, operator, version, forced, 0)
    else:
        schedule_later(memory, operator, position, version, forced, 0)


@inner_kernel
def advance_replay(memory: Memory, operator: int) -> int:
    """Bring REPLAYED up to a version and put cursors over it; how many."""
    body = memory[memory[operator + at.OP_LEFT] + at.TRACE_BODY_WORDS]
    before = list_count(memory, at.REPLAYED)
    ordered = memory[at.VERSION_SHAPE] == 0
    _take_rows(memory, body, memory[at.LOOK_VERSION], ordered)
    if ordered:
        if list_count(memory, at.REPLAYED) > before:
            _add_run(memory, before, body)
        return _cursors_over_runs(memory, body)
    raise_versions(memory, at.REPLAYED, body)
    rows, count = list_rows(memory, at.REPLAYED), list_count(memory, at.REPLAYED)
    plain_cursor(memory, 0, rows, rows + count * body)
    return 1 if count > 0 else 0


@inner_kernel
def _add_run(memory: Memory, first: int, body: int) -> None:
    """Make the rows of REPLAYED from one on a run, and merge the last runs until sizes fall."""
    memory[append(memory, at.RUNS, 1)] = first
    _sort_last_run(memory, body)
    while list_count(memory, at.RUNS) > 1:
        last = list_rows(memory, at.RUNS) + list_count(memory, at.RUNS) - 1
        size = list_count(memory, at.REPLAYED) - memory[last]
        if memory[last] - memory[last - 1] > 2 * size:
            break
        memory[memory[at.RUNS] + at.BUCKET_COUNT] -= 1
        _sort_last_run(memory, body)


@inner_kernel
def _sort_last_run(memory: Memory, body: int) -> None:
    """Sort the last run by value and add up equal rows: one pass where it is two sorted runs."""
    first = memory[list_rows(memory, at.RUNS) + list_count(memory, at.RUNS) - 1]
    rows, count = (
        list_rows(memory, at.REPLAYED) + first * body,
        list_count(memory, at.REPLAYED) - first,
    )
    sort_rows(memory, rows, count, body, 0)
    memory[memory[at.REPLAYED] + at.BUCKET_COUNT] = first + add_equal_bodies(
        memory, rows, count, body
    )
    memory[at.ROWS_TOLD_APART] += count


@joined_kernel
def _cursors_over_runs(memory: Memory, body: int) -> int:
    """Put a cursor over each run of REPLAYED."""
    rows, end = list_rows(memory, at.REPLAYED), list_count(memory, at.REPLAYED)
    runs, found = list_rows(memory, at.RUNS), 0
    for number in range(list_count(memory, at.RUNS) - 1, -1, -1):
        first = memory[runs + number]
        if first < end:
            plain_cursor(memory, found, rows + first * body, rows + end * body)
            found += 1
        end = first
    return found


@inner_kernel
def find_floor(memory: Memory, number: int) -> None:
    """Set the floor for the looks from a number in TIMES on; versions that are looked at ascend."""
    shape = memory[at.VERSION_SHAPE]
    if shape == 0:
        memory[at.LOOK_FLOOR] = memory[at.LOOK_VERSION]
        return
    left = list_count(memory, at.TIMES) - number
    memory[at.FLOOR_AGE] += 1
    if number > 0 and LOOKS_A_FLOOR * memory[at.FLOOR_AGE] < left:
        return
    found = memory[at.LOOK_VERSION]
    for place in range(left):
        time = list_rows(memory, at.TIMES) + TIME_WORDS * (number + place)
        found = lower_bound(found, memory[time], shape)
    memory[at.LOOK_FLOOR] = found
    memory[at.FLOOR_AGE] = 0


@inner_kernel
def raise_versions(memory: Memory, which: int, body: int) -> None:
    """Raise the versions of a list of plain rows to the floor, and add up equal rows."""
    rows, count = list_rows(memory, which), list_count(memory, which)
    floor, shape = memory[at.LOOK_FLOOR], memory[at.VERSION_SHAPE]
    for place in range(rows + body - 2, rows + count * body, body):
        memory[place] = upper_bound(memory[place], floor, shape)
    sort_rows(memory, rows, count, body, 0)
    count = add_equal_bodies(memory, rows, count, body)
    memory[memory[which] + at.BUCKET_COUNT] = count
    memory[at.ROWS_TOLD_APART] += count


@joined_kernel
def _take_rows(memory: Memory, body: int, version: int, ordered: bool) -> None:
    """Move the rows up to a version from GATHERED to REPLAYED; all where there is no order.

    Where there is, the versions that have come become one, the first.
    """
    values = body - 3
    while memory[at.REPLAY_AT] < list_count(memory, at.GATHERED):
        source = list_rows(memory, at.GATHERED) + memory[at.REPLAY_AT] * body
        if ordered and memory[source] > version:
            break
        target = append(memory, at.REPLAYED, body)
        copy_words(memory, source + 2, target, values)
        memory[target + values] = memory[source + 1]
        memory[target + values + 1] = 0 if ordered else memory[source]
        memory[target + values + 2] = memory[source + body - 1]
        memory[at.REPLAY_AT] += 1


MOST_LATER_ROWS = 64
"""More rows of output than this are not looked through for a shortcut: it takes their square."""


@inner_kernel
def can_skip(memory: Memory, operator: int, bound: int, taken: int) -> bool:
    """True where the rule of the module says that nothing can change at this time."""
    reducer = memory[operator + at.OP_REDUCER]
    if memory[at.SKIPPING] == 0 or (reducer != at.FIRST and reducer != at.LAST):
        return False
    values = memory[memory[operator + at.OP_OUTPUT] + at.TRACE_VALUE_WORDS]
    if list_count(memory, at.STANDING) != 1 or memory[operator + at.OP_ARGUMENT] != 1:
        return False
    standing = list_rows(memory, at.STANDING)
    if memory[standing + values] != 1:
        return False
    if bound == forced_bound(memory, operator):
        return False
    least = memory[standing]
    beyond = bound >= least if reducer == at.FIRST else bound <= least
    before = least - 1 if reducer == at.FIRST else least + 1
    counted = taken != 0 and bound == before and memory[at.SKIPPING] > 1
    return beyond or (counted and _is_supported(memory, operator, least, bound))


@inner_kernel
def _is_supported(memory: Memory, operator: int, least: int, bound: int) -> bool:
    """True where the input has a record at the time, though it is taken away there.

    Only its own rows are read. Those that take more of it away at times to come are scheduled.
    """
    trace = memory[operator + at.OP_LEFT]
    if memory[trace + at.TRACE_BY_TIME] != 0:
        return False
    total = 0
    count = open_cursors(memory, trace, memory[at.LOOK_KEY])
    for number in range(count):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        batch = memory[cursor + at.CURSOR_BATCH]
        row = _first_row_of(memory, cursor, least)
        memory[cursor + at.CURSOR_ROW] = row
        while row < memory[cursor + at.CURSOR_END] and value_of(memory, batch, row, 0) == least:
            time = time_of(memory, batch, row)
            if in_time(memory, operator, memory[time], memory[time + 1]):
                total = held(total + diff_of(memory, batch, row))
            row += memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
    if total <= 0:
        return False
    for number in range(count):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        _schedule_losses(memory, operator, cursor, least, bound)
    return True


@inner_kernel
def _schedule_losses(memory: Memory, operator: int, cursor: int, least: int, bound: int) -> None:
    """Schedule the times at which rows under a cursor take more of a record away."""
    batch, row = memory[cursor + at.CURSOR_BATCH], memory[cursor + at.CURSOR_ROW]
    while row < memory[cursor + at.CURSOR_END] and value_of(memory, batch, row, 0) == least:
        time = time_of(memory, batch, row)
        position, version = memory[time], memory[time + 1]
        if diff_of(memory, batch, row) < 0 and not in_time(memory, operator, position, version):
            schedule_later(memory, operator, position, version, bound, 1)
        row += memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]


@joined_kernel
def _first_row_of(memory: Memory, cursor: int, value: int) -> int:
    """The first row under a cursor with at least a value; rows are sorted by it."""
    batch = memory[cursor + at.CURSOR_BATCH]
    width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
    first = memory[cursor + at.CURSOR_ROW]
    low, high = 0, (memory[cursor + at.CURSOR_END] - first) // width
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
    values = memory[memory[operator + at.OP_OUTPUT] + at.TRACE_VALUE_WORDS]
    if _stays_beyond(memory, operator, bound, values):
        return
    body = values + 3
    for row in range(list_count(memory, at.HELD)):
        place = list_rows(memory, at.HELD) + row * body + values
        if not in_time(memory, operator, memory[place], memory[place + 1]):
            schedule_later(memory, operator, memory[place], memory[place + 1], bound, taken)


@inner_kernel
def _stays_beyond(memory: Memory, operator: int, bound: int, values: int) -> bool:
    """True where a bound lies beyond the output at all later times too: nothing to schedule.

    Only in a single loop and for one version, and where each later round replaces one record by
    another, so that there is always one.
    """
    if (
        memory[operator + at.OP_SHAPE] != 0
        or memory[at.ONE_VERSION] < 0
        or bound == forced_bound(memory, operator)
    ):
        return False
    body = values + 3
    reducer = memory[operator + at.OP_REDUCER]
    rows = list_rows(memory, at.HELD)
    count = list_count(memory, at.HELD)
    if count > MOST_LATER_ROWS:
        return False
    for row in range(count):
        entry = rows + row * body
        if memory[entry + values] <= memory[at.LOOK_POSITION]:
            continue
        beyond = bound >= memory[entry] if reducer == at.FIRST else bound <= memory[entry]
        if memory[entry + values + 2] > 0 and not beyond:
            return False
        # In no round may the output be gone: there, any record would count.
        total = 0
        for other in range(count):
            place = rows + other * body + values
            if memory[place] == memory[entry + values]:
                total += memory[place + 2]
        if total != 0:
            return False
    return True
