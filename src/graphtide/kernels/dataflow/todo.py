"""What reduce still has to look at: versions at the current position, keys at later ones.

A bound goes with each: the new record nearest to the result that made the time worth a look. A
forced bound lies before every record, so it never lets the look be skipped. A record that is taken
away counts as the one before it; such a bound is marked as *taken*, since the look may still be
skipped where the record is there more often.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import (
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


@inner_kernel
def add_time(memory: Memory, operator: int, version: int, bound: int, taken: int) -> None:
    """Put a version into TIMES, which is ascending, or make its bound stricter."""
    count = list_count(memory, TIMES)
    place = count
    rows = list_rows(memory, TIMES)
    while place > 0 and memory[rows + TIME_WORDS * (place - 1)] >= version:
        place -= 1
    time = rows + TIME_WORDS * place
    if place < count and memory[time] == version:
        nearer = nearer_bound(memory, operator, memory[time + 1], bound)
        if memory[time + 1] != bound:
            taken = taken if nearer == bound else memory[time + 2]
        else:
            taken = min(taken, memory[time + 2])
        memory[time + 1] = nearer
        memory[time + 2] = taken
        return
    append(memory, TIMES, TIME_WORDS)
    time = list_rows(memory, TIMES) + TIME_WORDS * place
    for word in range(TIME_WORDS * (count - place) - 1, -1, -1):
        memory[time + word + TIME_WORDS] = memory[time + word]
    memory[time] = version
    memory[time + 1] = bound
    memory[time + 2] = taken


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
