"""Fixpoint maintenance of components where a large one gets a better label.

An edge from a vertex with a better label to the largest component renames all of that component.
Passed on from vertex to vertex, this would look at each of its edges. So while the repair is made,
that component counts as better than every other: whatever it is joined to is taken in by the
component, and not the other way round. Then its best vertex is found and becomes the root, by
turning round the way from there to the old root, and all members are renamed in one sweep.

Levels only have to rise along the way from a root: they are lowered on the way that is turned
round, so that nobody beside it is touched. Renamed members are not logged: they are those that have
the new label, less those in the log, whose stamp tells it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.fixpoint import (
    ORDERS,
    changed_first,
    kept_at,
    record,
    repair_at,
    roll_back,
)
from graphtide.engine.templates.selecting import better, sign
from graphtide.engine.templates.settling import NO_EDGE
from graphtide.kernels.blocks import adjacency_at, array_at
from graphtide.kernels.fixpoint.records import (
    ATTEMPTS,
    LABEL,
    MOST,
    NEW_LABEL,
    NOW,
    ChangeLog,
    FixpointState,
)
from graphtide.kernels.graph.adjacency import Adjacency, other_end
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.intrinsics import FAR, prefetch
from graphtide.kernels.jit import joined_kernel, lean_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

NO_LABEL = -1
LARGE_SHARE = 64
"""A delta is large if it has an edge for so many vertices: it can afford to look at all of them."""
SAMPLE = 64
"""The label that most have is looked for among at most so many."""
LOWEST = -(1 << 30)
"""No level is lowered beyond this."""


@joined_kernel
def common_label(value: Int64) -> int:
    """A label that most of some vertices have, which are taken at even distances; or NO_LABEL."""
    label, lead, step = NO_LABEL, 0, len(value) // SAMPLE + 1
    for vertex in range(0, len(value), step):
        if lead == 0:
            label = value[vertex]
        lead += 1 if value[vertex] == label else -1
    return int(label) if lead > 0 else NO_LABEL


@joined_kernel
def is_overtaken(state: FixpointState, delta: Delta, orders: Int64) -> bool:
    """True if most may get another label: an inserted edge has an end with a better one.

    The label is noted in the orders.
    """
    value, count, label = state.value, len(delta.inserted), common_label(state.value)
    if label == NO_LABEL:
        return False
    orders[LABEL] = orders[NEW_LABEL] = label
    for at in range(count):
        if at + FAR < count:
            prefetch(value, delta.sources[at + FAR])
            prefetch(value, delta.targets[at + FAR])
        if better(value[delta.sources[at]], label) or better(value[delta.targets[at]], label):
            return True
    return False


@joined_kernel
def rename(value: Int64, label: int, other: int) -> None:
    """Give all that have a label another one. O(vertices), but many at a time."""
    for vertex in range(len(value)):
        value[vertex] = other if value[vertex] == label else value[vertex]


@joined_kernel
def best_member(value: Int64, label: int) -> int:
    """The first vertex with a label, or the last one where greater is better."""
    count = len(value)
    for step in range(count):
        vertex = step if sign() > 0 else count - 1 - step
        if value[vertex] == label:
            return vertex
    return -1


@joined_kernel
def way_up(graph: Adjacency, state: FixpointState, vertex: int) -> tuple[int, int]:
    """The root above a vertex, and how many edges lead there."""
    steps = 0
    while state.parent[vertex] != NO_EDGE:
        vertex = other_end(graph, state.parent[vertex], vertex)
        steps += 1
    return vertex, steps


@joined_kernel
def make_root(graph: Adjacency, state: FixpointState, vertex: int, now: int, count: int) -> int:
    """Turn round the way from a vertex to its root; the entries then logged, -1 if none fit."""
    root, steps = way_up(graph, state, vertex)
    level = state.level[root] - steps
    if count + steps + 1 > len(state.log.vertex) or level < LOWEST:
        return -1
    below = NO_EDGE
    for _ in range(steps + 1):
        count = record(state, now, count, vertex)
        above = state.parent[vertex]
        state.parent[vertex] = below
        state.level[vertex] = level
        if above != NO_EDGE:
            vertex = other_end(graph, above, vertex)
        below, level = above, level + 1
    return count


@joined_kernel
def correct_log(log: ChangeLog, count: int, label: int, other: int) -> None:
    """Have the log tell the label that members had before."""
    for at in range(count):
        if log.value[at] == label:
            log.value[at] = other


@joined_kernel
def repair_around(
    words: Int64, state: FixpointState, delta: Delta, orders: Int64
) -> tuple[int, int]:
    """A repair during which the component of a label counts as the best; then it is renamed.

    Returns what `repair` does, everything being undone where it was broken off.
    """
    label, now, most = orders[LABEL], orders[NOW], orders[MOST]
    best = -1 if sign() > 0 else len(state.value)
    rename(state.value, label, best)
    count, touched = repair_at(words, delta, now, most)
    after = best_member(state.value, best)
    if touched <= most and after != label:
        logged = make_root(adjacency_at(words, 0), state, after, now, count)
        count, touched = max(count, logged), touched if logged >= 0 else most + 1
    if touched > most:
        roll_back(state, state.log, count)
        after = label
    rename(state.value, best, after)
    correct_log(state.log, count, best, label)
    orders[NEW_LABEL] = after
    return count, touched


@lean_kernel
def follow_labels(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> tuple[int, int, int]:
    """`follow`, in which a component that most vertices are in may be renamed.

    That is told in the orders; members that were only renamed are then neither logged nor among the
    changed. A small delta is first tried without.
    """
    state, delta = kept_at(words), Delta(inserted, deleted, sources, targets)
    orders = array_at(words, ORDERS, np.int64)
    orders[LABEL] = orders[NEW_LABEL] = NO_LABEL
    most, count, touched = orders[MOST], 0, orders[MOST] + 1
    for attempt in range(ATTEMPTS):
        renames = False
        orders[NOW] += attempt
        if attempt > 0 or len(sources) * LARGE_SHARE > len(state.value):
            renames = is_overtaken(state, delta, orders)
        if renames:
            count, touched = repair_around(words, state, delta, orders)
        elif attempt == 0:
            count, touched = repair_at(words, delta, orders[NOW], most)
            if touched > most:
                roll_back(state, state.log, count)
        if touched <= most or renames:
            break
    if touched > most:
        return 0, 0, touched
    return count, changed_first(state, count), touched
