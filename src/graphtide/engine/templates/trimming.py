"""Fixpoint maintenance, first half: what deleted edges take away.

A vertex whose parent edge is gone asks its live in-edges for another one that yields the same
value from a lower level. Vertices are asked in ascending order of level, so whoever could support
one is settled before it. One that finds none falls back to its initial value, and those it
supported are asked in turn. The fallen then pull from what is valid.

Every vertex is logged before it is first changed, for the changes to report and to roll back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.selecting import BACKWARD, FORWARD, better, initial, message
from graphtide.engine.templates.settling import NO_EDGE
from graphtide.kernels.adjacency import Slabs
from graphtide.kernels.fixpoint_records import Context, FixpointState
from graphtide.kernels.flips import Delta
from graphtide.kernels.heap import heap_pop, heap_push
from graphtide.kernels.jit import joined_kernel
from graphtide.kernels.prefetch import FAR, prefetch

Int32 = NDArray[np.int32]


@joined_kernel
def is_orphan(state: FixpointState, vertex: int, edge: int) -> bool:
    """True if the vertex got its value by that edge and has not been lined up."""
    return bool(state.parent[vertex] == edge and state.place[vertex] < 0)


@joined_kernel
def line_up_orphans(state: FixpointState, delta: Delta) -> int:
    """Put those who lost their parent edge into the heap, by level; returns how many."""
    size, first = 0, len(delta.inserted)
    for at in range(min(FAR, len(delta.deleted))):
        if FORWARD:
            prefetch(state.parent, delta.targets[first + at])
        if BACKWARD:
            prefetch(state.parent, delta.sources[first + at])
    for at in range(len(delta.deleted)):
        if at + FAR < len(delta.deleted):
            if FORWARD:
                prefetch(state.parent, delta.targets[first + at + FAR])
            if BACKWARD:
                prefetch(state.parent, delta.sources[first + at + FAR])
        edge = delta.deleted[at]
        source, target = delta.sources[first + at], delta.targets[first + at]
        if FORWARD and is_orphan(state, target, edge):
            size = heap_push(state.heap, state.place, size, target, state.level, 1)
        if BACKWARD and is_orphan(state, source, edge):
            size = heap_push(state.heap, state.place, size, source, state.level, 1)
    return size


@joined_kernel
def find_support(
    context: Context, state: FixpointState, slabs: Slabs, vertex: int
) -> tuple[int, int]:
    """A live edge that yields the vertex's value from a lower level; and the edges looked at.

    No message overtakes its source, so that what has a worse value need not be asked.
    """
    value, level = state.value[vertex], state.level[vertex]
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if state.level[other] < level and not better(value, state.value[other]):
            edge, held = slabs.edge[at], state.value[other]
            if message(held, other, edge, context.properties, context.parameters) == value:
                return edge, at - start + 1
    return NO_EDGE, int(slabs.live[vertex])


@joined_kernel
def line_up_children(state: FixpointState, slabs: Slabs, vertex: int, size: int) -> int:
    """Line up those whose parent edge comes from the vertex."""
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if is_orphan(state, other, slabs.edge[at]):
            size = heap_push(state.heap, state.place, size, other, state.level, 1)
    return size


@joined_kernel
def pull(context: Context, state: FixpointState, slabs: Slabs, vertex: int) -> None:
    """Take the best offer of the live edges of one direction, if it beats what there is."""
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        held = state.value[other]
        if not better(held, state.value[vertex]):
            continue
        edge = slabs.edge[at]
        offered = message(held, other, edge, context.properties, context.parameters)
        if better(offered, state.value[vertex]):
            state.value[vertex] = offered
            state.parent[vertex] = edge
            state.level[vertex] = state.level[other] + 1


@joined_kernel
def keeps_value(context: Context, state: FixpointState, vertex: int) -> tuple[bool, int]:
    """Give an orphan another parent edge, or none if it has its start; and the edges looked at."""
    support, looked, more = NO_EDGE, 0, 0
    if FORWARD:
        support, looked = find_support(context, state, context.graph.into, vertex)
    if BACKWARD and support == NO_EDGE:
        support, more = find_support(context, state, context.graph.out, vertex)
    if support == NO_EDGE and initial(vertex, context.parameters) != state.value[vertex]:
        return False, looked + more
    state.parent[vertex] = support
    return True, looked + more


@joined_kernel
def fall(context: Context, state: FixpointState, vertex: int, size: int) -> tuple[int, int]:
    """Go back to the start, and line up those who had their value from here; edges looked at."""
    looked = 0
    if FORWARD:
        size = line_up_children(state, context.graph.out, vertex, size)
        looked += context.graph.out.live[vertex]
    if BACKWARD:
        size = line_up_children(state, context.graph.into, vertex, size)
        looked += context.graph.into.live[vertex]
    state.value[vertex] = initial(vertex, context.parameters)
    state.parent[vertex] = NO_EDGE
    state.level[vertex] = 0
    return size, looked


@joined_kernel
def pull_both(context: Context, state: FixpointState, vertex: int) -> int:
    """Take the best offer that the fallen vertex gets; the edges looked at."""
    looked = 0
    if FORWARD:
        pull(context, state, context.graph.into, vertex)
        looked += context.graph.into.live[vertex]
    if BACKWARD:
        pull(context, state, context.graph.out, vertex)
        looked += context.graph.out.live[vertex]
    return looked


@joined_kernel
def record(state: FixpointState, now: int, count: int, vertex: int) -> int:
    """Log a vertex if this advance has not yet; there must be room."""
    if state.stamp[vertex] == now:
        return count
    state.stamp[vertex] = now
    state.log.vertex[count] = vertex
    state.log.value[count] = state.value[vertex]
    state.log.parent[count] = state.parent[vertex]
    state.log.level[count] = state.level[vertex]
    return count + 1


@joined_kernel
def trim(context: Context, state: FixpointState, delta: Delta, order: Any) -> Any:
    """Let fall what no live edge supports any more, and let the fallen pull.

    `order` is (now, the most edges to look at); beyond that, or when the log is full, it is broken
    off. Returns how many are logged, how many fell, who have yet to pass on what they have now,
    and the edges looked at.
    """
    now, most = order
    count, fallen, touched = 0, 0, 0
    size = line_up_orphans(state, delta)
    while size > 0 and touched <= most and count < len(state.log.vertex):
        vertex = state.heap[0]
        size = heap_pop(state.heap, state.place, size, state.level, 1)
        count = record(state, now, count, vertex)
        kept, looked = keeps_value(context, state, vertex)
        touched += looked
        if kept:
            continue
        size, looked = fall(context, state, vertex, size)
        touched += looked
        state.fallen[fallen] = vertex
        fallen += 1
    leave(state, size)
    for at in range(fallen):
        if touched <= most:
            touched += pull_both(context, state, state.fallen[at])
    return count, fallen, touched


@joined_kernel
def leave(state: FixpointState, size: int) -> None:
    """Empty the heap."""
    for at in range(size):
        state.place[state.heap[at]] = -1
