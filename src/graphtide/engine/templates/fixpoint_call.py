"""Fixpoint maintenance, the way in from Python: repair and sort the log in one call.

The graph and the state come as a block (`kernels.blocks`), so that a call takes no longer for the
many arrays there are. What changed its value comes first in the log: reporting it needs no search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.fixpoint import repair, roll_back
from graphtide.engine.templates.selecting import VALUE
from graphtide.kernels.blocks import ADJACENCY, adjacency_at, array_at, places, words_from
from graphtide.kernels.fixpoint.records import (
    MOST,
    NOW,
    ChangeLog,
    Context,
    FixpointState,
    state_at,
)
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.jit import inner_kernel, joined_kernel, lean_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

STATE = ADJACENCY
ORDERS = STATE + places(FixpointState)
READ = ORDERS + 1
"""Places of the block: graph, state, orders, and then what programs read."""


@joined_kernel
def kept_at(words: Int64) -> FixpointState:
    """The state."""
    state: FixpointState = state_at(words, STATE, VALUE)
    return state


@joined_kernel
def context_at(words: Int64) -> Context:
    """What kernels read: the graph, and what the program reads."""
    return Context(adjacency_at(words, 0), words_from(words, READ))


@inner_kernel
def repair_at(words: Int64, delta: Delta, now: int, most: int) -> tuple[int, int]:
    """`repair` of what a block names: a call that hands over one array in place of thirty."""
    return repair(context_at(words), kept_at(words), delta, now, most)


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
def follow(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> tuple[int, int, int]:
    """Follow the graph to the version that it has been brought to.

    Returns entries logged, values changed, and edges touched: above what the orders allow if the
    work was broken off and undone.
    """
    state, delta = kept_at(words), Delta(inserted, deleted, sources, targets)
    orders = array_at(words, ORDERS, np.int64)
    count, touched = repair_at(words, delta, orders[NOW], orders[MOST])
    if touched > orders[MOST]:
        roll_back(state, state.log, count)
        return 0, 0, touched
    return count, changed_first(state, count), touched
