"""Fixpoint maintenance, the way in from Python: flip, repair and sort the log in one call.

The graph and the state come as a block (`kernels.blocks`), so that a call takes no longer for the
many arrays there are. What changed its value comes first in the log: reporting it needs no search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.fixpoint import repair, roll_back
from graphtide.engine.templates.selecting import VALUE, parameters_at, properties_at
from graphtide.kernels.blocks import ADJACENCY, adjacency_at, array_at
from graphtide.kernels.fixpoint_records import MOST, NOW, ChangeLog, Context, FixpointState
from graphtide.kernels.flips import Delta, flip_delta
from graphtide.kernels.jit import inner_kernel, joined_kernel, lean_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

STATE, ORDERS = ADJACENCY, ADJACENCY + 11
READ = ORDERS + 1
"""Places of the block: graph, state, orders, and then what programs read."""


@joined_kernel
def state_at(words: Int64) -> FixpointState:
    """The state, in the order of its fields."""
    log = ChangeLog(
        array_at(words, STATE + 6, np.int32),
        array_at(words, STATE + 7, VALUE),
        array_at(words, STATE + 8, np.int32),
        array_at(words, STATE + 9, np.int32),
    )
    return FixpointState(
        value=array_at(words, STATE, VALUE),
        parent=array_at(words, STATE + 1, np.int32),
        level=array_at(words, STATE + 2, np.int32),
        stamp=array_at(words, STATE + 3, np.int32),
        heap=array_at(words, STATE + 4, np.int32),
        place=array_at(words, STATE + 5, np.int32),
        log=log,
        fallen=array_at(words, STATE + 10, np.int32),
    )


@joined_kernel
def context_at(words: Int64) -> Context:
    """What kernels read: the graph, properties and parameters."""
    graph = adjacency_at(words, 0)
    return Context(graph, properties_at(words, READ), parameters_at(words, READ))


@inner_kernel
def repair_at(words: Int64, delta: Delta, now: int, most: int) -> tuple[int, int]:
    """`repair` of what a block names: a call that hands over one array in place of thirty."""
    return repair(context_at(words), state_at(words), delta, now, most)


@joined_kernel
def changed_first(state: FixpointState, count: int) -> int:
    """Sort the log so that those come first whose value is not what it was; how many they are."""
    log, changed = state.log, 0
    for at in range(count):
        if state.value[log.vertex[at]] != log.value[at]:
            swap_entries_of(log, changed, at)
            changed += 1
    return changed


@joined_kernel
def swap_entries_of(log: ChangeLog, one: int, other: int) -> None:
    """Exchange two entries of a log."""
    log.vertex[one], log.vertex[other] = log.vertex[other], log.vertex[one]
    log.value[one], log.value[other] = log.value[other], log.value[one]
    log.parent[one], log.parent[other] = log.parent[other], log.parent[one]
    log.level[one], log.level[other] = log.level[other], log.level[one]


@lean_kernel
def advance(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32, flips: bool
) -> tuple[int, int, int, int]:
    """Follow the graph to its next version; if it is still to be flipped, flip it first.

    Returns the misfit of the delta or -1, entries logged, values changed, and edges touched: above
    what the orders allow if the work was broken off and undone, but for the flips.
    """
    context, state = context_at(words), state_at(words)
    delta = Delta(inserted, deleted, sources, targets)
    orders = array_at(words, ORDERS, np.int64)
    if flips:
        misfit = flip_delta(context.graph, delta)
        if misfit >= 0:
            return misfit, 0, 0, 0
    count, touched = repair_at(words, delta, orders[NOW], orders[MOST])
    if touched > orders[MOST]:
        roll_back(state, state.log, count)
        return -1, 0, 0, touched
    return -1, count, changed_first(state, count), touched
