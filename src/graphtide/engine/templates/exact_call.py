"""Exact maintenance, the way in from Python: one call.

The graph, the histories and the desk come as a block (`kernels.blocks`), so that a call takes no
longer for the many arrays there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.exact import repair
from graphtide.engine.templates.selecting import VALUE, initial
from graphtide.kernels.blocks import ADJACENCY, adjacency_at, array_at, places, words_from
from graphtide.kernels.exact.histories import (
    ENTRIES,
    GOING,
    ITERATIONS,
    MOST,
    MOST_WORK,
    NOW,
    VERTICES,
    Agenda,
    Context,
    Desk,
    Histories,
    desk_at,
    histories_at,
    roll_back,
)
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.jit import joined_kernel, kernel, lean_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

HISTORIES = ADJACENCY
DESK = HISTORIES + places(Histories)
LAST = DESK + places(Desk)
FIRST, ORDERS, READ = LAST + 1, LAST + 2, LAST + 3
"""Places of the block: graph, histories, desk, last values, agenda, orders, what programs read."""


@joined_kernel
def context_at(words: Int64) -> Context:
    """What kernels read: the graph, what the program reads, and the last iteration."""
    orders = array_at(words, ORDERS, np.int64)
    return Context(adjacency_at(words, 0), words_from(words, READ), orders[ITERATIONS])


@joined_kernel
def count_changed(desk: Desk, value: Any) -> int:
    """How many of the logged vertices have another last value than before."""
    changed = 0
    for number in range(desk.counts[VERTICES]):
        if value[desk.log.vertex[number]] != desk.log.last[number]:
            changed += 1
    return changed


@lean_kernel
def follow(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> tuple[int, int, int, int]:
    """Follow the graph to the version that it has been brought to.

    Returns why it was broken off or GOING, how many vertices and entries were logged, and how many
    last values changed. What was broken off is undone.
    """
    context, desk = context_at(words), desk_at(words, DESK, VALUE)
    histories = histories_at(words, HISTORIES, VALUE)
    value, agenda = array_at(words, LAST, VALUE), Agenda(array_at(words, FIRST, np.int32))
    orders = array_at(words, ORDERS, np.int64)
    delta = Delta(inserted, deleted, sources, targets)
    desk.counts[:] = 0
    desk.counts[MOST] = orders[MOST_WORK]
    stopped = repair(context, histories, agenda, desk, (delta, value, orders[NOW]))
    vertices = desk.counts[VERTICES]
    if stopped != GOING:
        roll_back(histories, desk.log, vertices)
        return stopped, 0, 0, 0
    return stopped, vertices, desk.counts[ENTRIES], count_changed(desk, value)


@kernel
def initial_of(vertex: int, read: Int64) -> Any:
    """The value of iteration 0, for Python."""
    return initial(vertex, read)
