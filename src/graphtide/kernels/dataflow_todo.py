"""What reduce still has to look at: versions at the current position, keys at later ones.

A bound goes with each: the new record nearest to the result that made the time worth a look. A
forced bound lies before every record, so it never lets the look be skipped.
"""

from __future__ import annotations

from graphtide.kernels.dataflow_layout import (
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
from graphtide.kernels.dataflow_lists import append, list_count, list_rows
from graphtide.kernels.dataflow_memory import copy_words
from graphtide.kernels.dataflow_ports import new_row
from graphtide.kernels.dataflow_times import not_after, upper_bound
from graphtide.kernels.jit import inlined_kernel, inner_kernel

LEAST_WORD = -(1 << 63)
MOST_WORD = (1 << 63) - 1


@inlined_kernel
def forced_bound(memory: Memory, operator: int) -> int:
    """The bound that forbids skipping."""
    return MOST_WORD if memory[operator + OP_REDUCER] == LAST else LEAST_WORD


@inlined_kernel
def nearer_bound(memory: Memory, operator: int, one: int, other: int) -> int:
    """The stricter of two bounds."""
    if memory[operator + OP_REDUCER] == LAST:
        return max(one, other)
    return min(one, other)


@inner_kernel
def add_time(memory: Memory, operator: int, version: int, bound: int) -> None:
    """Put a version into TIMES, which is ascending, or make its bound stricter."""
    count = list_count(memory, TIMES)
    place = count
    rows = list_rows(memory, TIMES)
    while place > 0 and memory[rows + 2 * place - 2] >= version:
        place -= 1
    if place < count and memory[rows + 2 * place] == version:
        memory[rows + 2 * place + 1] = nearer_bound(
            memory, operator, memory[rows + 2 * place + 1], bound
        )
        return
    append(memory, TIMES, 2)
    rows = list_rows(memory, TIMES)
    for word in range(2 * count - 1, 2 * place - 1, -1):
        memory[rows + word + 2] = memory[rows + word]
    memory[rows + 2 * place] = version
    memory[rows + 2 * place + 1] = bound


@inlined_kernel
def in_time(memory: Memory, operator: int, position: int, version: int) -> bool:
    """True where a row of these times is part of the time that is looked at."""
    return not_after(position, memory[LOOK_POSITION], memory[operator + OP_SHAPE]) and not_after(
        version, memory[LOOK_VERSION], memory[VERSION_SHAPE]
    )


@inner_kernel
def schedule_later(memory: Memory, operator: int, position: int, version: int, bound: int) -> None:
    """Look at the key again where a row that is not part of the time looked at joins it."""
    here = memory[LOOK_POSITION]
    joined = upper_bound(here, position, memory[operator + OP_SHAPE])
    when = upper_bound(memory[LOOK_VERSION], version, memory[VERSION_SHAPE])
    if joined == here:
        add_time(memory, operator, when, bound)
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
    memory[target + words] = 0 if forced else 1
    memory[target + words + 1] = 0 if forced else bound
    memory[target + words + 2] = when
    memory[target + words + 3] = 1
