"""Fixpoint maintenance of programs whose accumulator selects.

A vertex has a value, the edge that it got the value by (its parent edge, or NO_EDGE where it has
its initial value), and a level. Kept true between advances: every value is attained by live
edges; no live edge offers a better one; and the level of a vertex is above that of the vertex its
parent edge comes from. Levels need not be exact: they only have to make supports acyclic.

An advance first trims. Then the fallen, who have pulled, and inserted edges offer, and what
improves is passed on, best values first. Work is in proportion to the edges of vertices that were
asked or changed. Where that is more than the caller allows, or than the log has room for, it is
broken off: running again is cheaper then.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.selecting import backward, better, forward, message, sign
from graphtide.engine.templates.trimming import ask_for_edges, ask_for_vertex, leave, record, trim
from graphtide.kernels.fixpoint.records import ChangeLog, Context, FixpointState
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.intrinsics import FAR, prefetch
from graphtide.kernels.jit import joined_kernel
from graphtide.kernels.queues import heap_pop, heap_push

ASKED = 5
"""So many of those who are next in the heap are asked for ahead."""


@joined_kernel
def pass_on(context: Context, state: FixpointState, slabs: Slabs, work: Any) -> tuple[int, int]:
    """Offer a vertex's value along one direction; lift the levels of its children.

    `work` is (vertex, now, log entries, heap size); returns the last two. Ends where the log is
    full.
    """
    vertex, now, count, size = work
    value, level = state.value[vertex], state.level[vertex] + 1
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        if better(value, state.value[other]):
            offered = message(value, vertex, edge, context.read)
            if better(offered, state.value[other]):
                if count == len(state.log.vertex):
                    break
                count = record(state, now, count, other)
                state.value[other] = offered
                state.parent[other] = edge
                state.level[other] = level
                size = heap_push(state.heap, state.place, size, other, state.value, sign())
                continue
        if state.parent[other] == edge and state.level[other] < level:
            if count == len(state.log.vertex):
                break
            count = record(state, now, count, other)
            state.level[other] = level
            size = heap_push(state.heap, state.place, size, other, state.value, sign())
    return count, size


@joined_kernel
def offer_edge(context: Context, state: FixpointState, arc: Any) -> tuple[int, int]:
    """Offer a value over one edge; `arc` is (from, to, edge, now, log entries, heap size)."""
    source, target, edge, now, count, size = arc
    value = state.value[source]
    if not better(value, state.value[target]):
        return count, size
    offered = message(value, source, edge, context.read)
    if better(offered, state.value[target]) and count < len(state.log.vertex):
        count = record(state, now, count, target)
        state.value[target] = offered
        state.parent[target] = edge
        state.level[target] = state.level[source] + 1
        size = heap_push(state.heap, state.place, size, target, state.value, sign())
    return count, size


@joined_kernel
def offer_inserted(
    context: Context, state: FixpointState, delta: Delta, work: Any
) -> tuple[int, int]:
    """Offer over every inserted edge, until the log is full."""
    now, count, size = work
    for at in range(min(FAR, len(delta.inserted))):
        prefetch(state.value, delta.sources[at])
        prefetch(state.value, delta.targets[at])
    for at in range(len(delta.inserted)):
        if at + FAR < len(delta.inserted):
            prefetch(state.value, delta.sources[at + FAR])
            prefetch(state.value, delta.targets[at + FAR])
        source, target, edge = delta.sources[at], delta.targets[at], delta.inserted[at]
        if forward():
            arc = (source, target, edge, now, count, size)
            count, size = offer_edge(context, state, arc)
        if backward():
            arc = (target, source, edge, now, count, size)
            count, size = offer_edge(context, state, arc)
    return count, size


@joined_kernel
def repair(
    context: Context, state: FixpointState, delta: Delta, now: int, most: int
) -> tuple[int, int]:
    """Bring the state to the version that the graph is at, and log what changes in `state.log`.

    The graph has already been flipped by the delta. Returns the number of entries logged, and the
    number of edges touched: if that is above `most`, the work was broken off and the caller rolls
    back.
    """
    count, fallen, touched = trim(context, state, delta, (now, most))
    size = count - count  # 0, but no constant, for which what follows would be compiled twice.
    if touched <= most:
        for at in range(fallen):
            vertex = state.fallen[at]
            size = heap_push(state.heap, state.place, size, vertex, state.value, sign())
        count, size = offer_inserted(context, state, delta, (now, count, size))
        touched += len(delta.inserted)
    return pass_all_on(context, state, (now, most, count, size, touched))


@joined_kernel
def pass_all_on(context: Context, state: FixpointState, work: Any) -> tuple[int, int]:
    """Let those in the heap pass on what they have, the best first, until nothing improves.

    `work` is (now, the most edges to look at, log entries, heap size, edges touched). Returns log
    entries and edges touched, above the most if it was broken off there or by a log that is full.
    """
    now, most, count, size, touched = work
    graph = context.graph
    while size > 0 and touched <= most and count < len(state.log.vertex):
        vertex = state.heap[0]
        size = heap_pop(state.heap, state.place, size, state.value, sign())
        if size > ASKED:
            ask_for_edges(graph, state.heap[0])
            for at in range(1, ASKED):
                ask_for_vertex(graph, state.heap[at])
        if forward():
            count, size = pass_on(context, state, graph.out, (vertex, now, count, size))
            touched += graph.out.live[vertex]
        if backward():
            count, size = pass_on(context, state, graph.into, (vertex, now, count, size))
            touched += graph.into.live[vertex]
    leave(state, size)
    if count == len(state.log.vertex):
        touched = max(touched, most + 1)
    return count, touched


@joined_kernel
def roll_back(state: FixpointState, log: ChangeLog, count: int) -> None:
    """Put back what an advance changed. O(count)."""
    for at in range(count):
        vertex = log.vertex[at]
        state.value[vertex] = log.value[at]
        state.parent[vertex] = log.parent[at]
        state.level[vertex] = log.level[at]
