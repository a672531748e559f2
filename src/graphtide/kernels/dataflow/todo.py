"""What reduce still has to look at: versions at the current position, keys at later ones.

A bound goes with each: the new record nearest to the result that made the time worth a look. A
forced bound lies before every record, so it never lets the look be skipped. A record that is taken
away counts as the one before it; such a bound is marked as *taken*, since the look may still be
skipped where the record is there more often.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import (
    BUCKET_COUNT,
    LAST,
    LATER_POSITION,
    LATER_VERSION,
    LOOK_KEY,
    LOOK_POSITION,
    LOOK_VERSION,
    OP_LEFT,
    OP_PORT,
    OP_REDUCER,
    OP_SHAPE,
    TIMES,
    TRACE_KEY_WORDS,
    VERSION_SHAPE,
    Memory,
)
from graphtide.kernels.dataflow.lists import append, list_count, list_rows
from graphtide.kernels.dataflow.memory import copy_words
from graphtide.kernels.dataflow.ports import new_row
from graphtide.kernels.dataflow.rows import sort_rows
from graphtide.kernels.dataflow.times import not_after, upper_bound
from graphtide.kernels.jit import inner_kernel, joined_kernel

LEAST_WORD = -(1 << 63)
MOST_WORD = (1 << 63) - 1
TIME_WORDS = 3
"""Version, bound, and 1 where only records that are taken away have the bound."""


@joined_kernel
def forced_bound(memory: Memory, operator: int) -> int:
    """The bound that forbids skipping."""
    return MOST_WORD if memory[operator + OP_REDUCER] == LAST else LEAST_WORD


@joined_kernel
def nearer_bound(memory: Memory, operator: int, one: int, other: int) -> int:
    """The stricter of two bounds."""
    if memory[operator + OP_REDUCER] == LAST:
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
    count = list_count(memory, TIMES)
    rows = list_rows(memory, TIMES)
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
    append(memory, TIMES, TIME_WORDS)
    time = list_rows(memory, TIMES) + TIME_WORDS * place
    for word in range(TIME_WORDS * (count - place) - 1, -1, -1):
        memory[time + word + TIME_WORDS] = memory[time + word]
    memory[time] = version
    memory[time + 1] = bound
    memory[time + 2] = taken


@inner_kernel
def note_time(memory: Memory, operator: int, version: int, bound: int, taken: int) -> None:
    """Put a version at the end of TIMES, which is out of order until `order_times` is called."""
    count = list_count(memory, TIMES)
    last = list_rows(memory, TIMES) + TIME_WORDS * (count - 1)
    if count > 0 and memory[last] == version:
        _make_stricter(memory, operator, last, bound, taken)
        return
    time = append(memory, TIMES, TIME_WORDS)
    memory[time] = version
    memory[time + 1] = bound
    memory[time + 2] = taken


@inner_kernel
def order_times(memory: Memory, operator: int) -> None:
    """Bring what was noted into order: each version once, with the strictest of its bounds.

    Takes n log n for all of them, where inserting each would take the square.
    """
    rows, count = list_rows(memory, TIMES), list_count(memory, TIMES)
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
    memory[memory[TIMES] + BUCKET_COUNT] = kept


@joined_kernel
def in_time(memory: Memory, operator: int, position: int, version: int) -> bool:
    """True where a row of these times is part of the time that is looked at."""
    return not_after(position, memory[LOOK_POSITION], memory[operator + OP_SHAPE]) and not_after(
        version, memory[LOOK_VERSION], memory[VERSION_SHAPE]
    )


@inner_kernel
def schedule_later(
    memory: Memory, operator: int, position: int, version: int, bound: int, taken: int
) -> None:
    """Look at the key again where a row that is not part of the time looked at joins it."""
    here = memory[LOOK_POSITION]
    joined = upper_bound(here, position, memory[operator + OP_SHAPE])
    when = upper_bound(memory[LOOK_VERSION], version, memory[VERSION_SHAPE])
    if joined == here:
        add_time(memory, operator, when, bound, taken)
        return
    if memory[LATER_POSITION] == joined and memory[LATER_VERSION] == when:
        return
    if bound == forced_bound(memory, operator):
        memory[LATER_POSITION] = joined
        memory[LATER_VERSION] = when
    words = memory[memory[operator + OP_LEFT] + TRACE_KEY_WORDS]
    target = new_row(memory, memory[operator + OP_PORT], joined)
    copy_words(memory, memory[LOOK_KEY], target, words)
    # A forced bound is a word far from all others; as a flag it sorts in fewer bits.
    forced = bound == forced_bound(memory, operator)
    memory[target + words] = 0 if forced else 1 + taken
    memory[target + words + 1] = 0 if forced else bound
    memory[target + words + 2] = when
    memory[target + words + 3] = 1
