"""One deleted edge, where values are carried as they are along both directions, and nobody goes on.

All that are connected have one value then. Nothing changes as soon as one vertex below the edge has
another edge to one that is not below it: the search ends there, where a repair would have to hang
all of them up anew. If there is none, they are cut off, and the best start among them is theirs.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.selecting import better, initial
from graphtide.engine.templates.settling import NO_EDGE
from graphtide.engine.templates.trimming import note
from graphtide.kernels.adjacency import Slabs, other_end
from graphtide.kernels.fixpoint_records import Context, FixpointState
from graphtide.kernels.flips import Delta
from graphtide.kernels.jit import joined_kernel


@joined_kernel
def is_below(context: Context, state: FixpointState, vertex: int, top: int, now: int) -> bool:
    """Whether the parents of a vertex lead to `top`, or to one that is marked as below it.

    Those on the way are then marked too, so that nobody is asked twice. What has no parent may have
    any level.
    """
    level, at = state.level[top], vertex
    while state.stamp[at] != now:
        if state.level[at] <= level or state.parent[at] == NO_EDGE:
            return False
        at = other_end(context.graph, state.parent[at], at)
    while state.stamp[vertex] != now:
        state.stamp[vertex] = now
        vertex = other_end(context.graph, state.parent[vertex], vertex)
    return True


@joined_kernel
def gather_below(context: Context, state: FixpointState, slabs: Slabs, work: Any) -> int:
    """Log those whose parent edge comes from a vertex; `work` is (vertex, top, now, log entries).

    Returns the last one, or -1 where an edge leads to a vertex that is not below the top.
    """
    vertex, top, now, count = work
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if state.parent[other] == slabs.edge[at]:
            if count < len(state.log.vertex):
                count = note(state, now, count, other)
        elif not is_below(context, state, other, top, now):
            return -1
    return int(count)


@joined_kernel
def search_below(
    context: Context, state: FixpointState, top: int, now: int, most: int
) -> tuple[int, int]:
    """Log the vertices below one that lost its parent edge, unless an edge leads out of them.

    Returns how many they are, or 0 if one does; and the edges looked at.
    """
    graph, touched, at = context.graph, 0, 0
    count = note(state, now, 0, top)
    while at < count and touched <= most and count < len(state.log.vertex):
        vertex = state.log.vertex[at]
        touched += graph.out.live[vertex] + graph.into.live[vertex]
        count = gather_below(context, state, graph.out, (vertex, top, now, count))
        if count >= 0:
            count = gather_below(context, state, graph.into, (vertex, top, now, count))
        if count < 0:
            return 0, touched
        at += 1
    return count, touched


@joined_kernel
def split_off(context: Context, state: FixpointState, count: int) -> None:
    """Give all that are logged the best start among them."""
    best = initial(state.log.vertex[0], context.parameters)
    for at in range(1, count):
        begun = initial(state.log.vertex[at], context.parameters)
        if better(begun, best):
            best = begun
    for at in range(count):
        state.value[state.log.vertex[at]] = best


@joined_kernel
def peek_below(
    context: Context, state: FixpointState, delta: Delta, now: int, most: int
) -> tuple[int, int]:
    """`peek` of one deleted edge."""
    edge, top = delta.deleted[0], delta.sources[0]
    if state.parent[top] != edge:
        top = delta.targets[0]
    if state.parent[top] != edge:
        return 0, 0
    count, touched = search_below(context, state, top, now, most)
    if count == len(state.log.vertex):
        touched = max(touched, most + 1)
    if count > 0 and touched <= most:
        split_off(context, state, count)
    return count, touched
