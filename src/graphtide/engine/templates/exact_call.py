"""Exact maintenance, the way in from Python: flip and repair in one call.

The graph, the histories and the desk come as a block (`kernels.blocks`), so that a call takes no
longer for the many arrays there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.exact import repair
from graphtide.engine.templates.selecting import VALUE, parameters_at, properties_at
from graphtide.kernels.blocks import ADJACENCY, adjacency_at, array_at, strided_at
from graphtide.kernels.exact_records import (
    ENTRIES,
    GOING,
    ITERATIONS,
    MOST,
    MOST_WORK,
    NOW,
    VERTICES,
    Agenda,
    Changed,
    Context,
    Desk,
    Histories,
    Log,
    Visits,
)
from graphtide.kernels.flips import Delta, flip_delta
from graphtide.kernels.histories import roll_back
from graphtide.kernels.jit import joined_kernel, lean_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

HISTORIES = ADJACENCY
DESK = HISTORIES + 6
VISITS, LOG, CHANGES, REST = DESK, DESK + 4, DESK + 9, DESK + 12
LAST, FIRST, ORDERS = REST + 3, REST + 4, REST + 5
READ = ORDERS + 1
"""Places of the block: graph, histories, desk, last values, agenda, orders, what programs read."""


@joined_kernel
def histories_at(words: Int64) -> Histories:
    """The histories, in the order of their fields."""
    return Histories(
        head=array_at(words, HISTORIES, np.int32),
        stamp=array_at(words, HISTORIES + 1, np.int32),
        time=strided_at(words, HISTORIES + 2, np.int32),
        value=strided_at(words, HISTORIES + 3, VALUE),
        following=strided_at(words, HISTORIES + 4, np.int32),
        free=array_at(words, HISTORIES + 5, np.int32),
    )


@joined_kernel
def desk_at(words: Int64) -> Desk:
    """The desk, in the order of its fields."""
    visits = Visits(
        array_at(words, VISITS, np.int32),
        array_at(words, VISITS + 1, np.int32),
        array_at(words, VISITS + 2, np.int32),
        array_at(words, VISITS + 3, np.int32),
    )
    log = Log(
        vertex=array_at(words, LOG, np.int32),
        begin=array_at(words, LOG + 1, np.int32),
        last=array_at(words, LOG + 2, VALUE),
        time=array_at(words, LOG + 3, np.int32),
        value=array_at(words, LOG + 4, VALUE),
    )
    changed = Changed(
        array_at(words, CHANGES, np.int32),
        array_at(words, CHANGES + 1, np.bool_),
        array_at(words, CHANGES + 2, VALUE),
    )
    times, mark = array_at(words, REST, np.int32), array_at(words, REST + 1, np.int32)
    return Desk(visits, log, changed, times, mark, array_at(words, REST + 2, np.int64))


@joined_kernel
def context_at(words: Int64) -> Context:
    """What kernels read: the graph, properties and parameters, and the last iteration."""
    graph, orders = adjacency_at(words, 0), array_at(words, ORDERS, np.int64)
    properties, parameters = properties_at(words, READ), parameters_at(words, READ)
    return Context(graph, properties, parameters, orders[ITERATIONS])


@joined_kernel
def count_changed(desk: Desk, value: Any) -> int:
    """How many of the logged vertices have another last value than before."""
    changed = 0
    for number in range(desk.counts[VERTICES]):
        if value[desk.log.vertex[number]] != desk.log.last[number]:
            changed += 1
    return changed


@lean_kernel
def advance(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32, flips: bool
) -> tuple[int, int, int, int, int]:
    """Follow the graph to its next version; if it is still to be flipped, flip it first.

    Returns the misfit of the delta or -1, why it was broken off or GOING, how many vertices and
    entries were logged, and how many last values changed. What was broken off is undone, but for
    the flips.
    """
    context, histories, desk = context_at(words), histories_at(words), desk_at(words)
    value, agenda = array_at(words, LAST, VALUE), Agenda(array_at(words, FIRST, np.int32))
    orders = array_at(words, ORDERS, np.int64)
    delta = Delta(inserted, deleted, sources, targets)
    if flips:
        misfit = flip_delta(context.graph, delta)
        if misfit >= 0:
            return misfit, GOING, 0, 0, 0
    desk.counts[:] = 0
    desk.counts[MOST] = orders[MOST_WORK]
    stopped = repair(context, histories, agenda, desk, (delta, value, orders[NOW]))
    vertices = desk.counts[VERTICES]
    if stopped != GOING:
        roll_back(histories, desk.log, vertices)
        return -1, stopped, 0, 0, 0
    return -1, stopped, vertices, desk.counts[ENTRIES], count_changed(desk, value)
