"""Fixpoint maintenance of programs whose accumulator selects.

A vertex has a value, the edge that it got the value by (its parent edge, or NO_EDGE where it has
its initial value), and a level. Kept true between advances: every value is attained by live
edges; no live edge offers a better one; and the level of a vertex is above that of the vertex its
parent edge comes from. Levels need not be exact: they only have to make supports acyclic.

An advance first trims. A vertex whose parent edge is gone asks its live in-edges for another one
that yields the same value from a lower level. Vertices are asked in ascending order of level, so
whoever could support one is settled before it. One that finds none falls back to its initial
value, and those it supported are asked in turn. Then the fallen pull, inserted edges offer, and
what improves is passed on, best values first.

Every vertex is logged before it is first changed, for the changes to report and to roll back.
Work is in proportion to the edges of vertices that were asked or changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.adjacency import (
    Slabs,
    destination_of,
    source_of,
)
from graphtide.kernels.fixpoint_records import (
    ChangeLog,
    Context,
    FixpointState,
)
from graphtide.kernels.heap import heap_pop, heap_push
from graphtide.kernels.jit import kernel

# program section: begin
SIGN = 1
IDENTITY = np.inf
FORWARD, BACKWARD = True, False
COPIES, UNIFORM = False, True


@kernel
def initial(vertex: int, parameters: Any) -> float:
    """The value of iteration 0."""
    return 0.0 if vertex == parameters[0] else np.inf


@kernel
def message(value: float, source: int, edge: int, properties: Any, parameters: Any) -> float:
    """What an edge carries from a source of that value."""
    return value + 1.0


# program section: end

NO_EDGE = -1
Int32 = NDArray[np.int32]


@kernel
def better(one: Any, other: Any) -> bool:
    """True if a value wins over another."""
    return bool(SIGN * one < SIGN * other)


@kernel
def offer(context: Context, state: FixpointState, source: int, edge: int) -> Any:
    """What an edge carries now."""
    return message(state.value[source], source, edge, context.properties, context.parameters)


@kernel
def run_from_scratch(context: Context, state: FixpointState) -> None:
    """Values, parents and levels of the current version.

    Copied values flood the graph, best first, and every vertex is reached once. Where no edge
    differs from another, rounds are enough. Otherwise a heap brings vertices in the order of
    their values: O(edges log vertices).
    """
    for vertex in range(len(state.value)):
        state.value[vertex] = initial(vertex, context.parameters)
        state.parent[vertex] = NO_EDGE
        state.level[vertex] = 0
        state.place[vertex] = -1
    if COPIES:
        flood_all(context, state)
    elif UNIFORM:
        spread_in_rounds(context, state)
    else:
        size = 0
        for vertex in range(len(state.value)):
            if state.value[vertex] != IDENTITY:
                size = heap_push(state.heap, state.place, size, vertex, state.value, SIGN)
        spread_all(context, state, size)


@kernel
def flood_all(context: Context, state: FixpointState) -> None:
    """Let each start flood what no better one has reached, in the order of their values."""
    in_order = True
    for vertex in range(1, len(state.value)):
        if better(state.value[vertex], state.value[vertex - 1]):
            in_order = False
            break
    order = np.arange(len(state.value)) if in_order else np.argsort(SIGN * state.value)
    queue = state.heap
    for root in order:
        if state.value[root] == IDENTITY or state.parent[root] != NO_EDGE:
            continue
        queue[0] = root
        done, size = 0, 1
        while done < size:
            vertex = queue[done]
            done += 1
            if FORWARD:
                size = flood(state, context.graph.out, vertex, size)
            if BACKWARD:
                size = flood(state, context.graph.into, vertex, size)


@kernel
def flood(state: FixpointState, slabs: Slabs, vertex: int, size: int) -> int:
    """Hand a vertex's value to those along one direction that have a worse one."""
    value, level = state.value[vertex], state.level[vertex] + 1
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if better(value, state.value[other]):
            state.value[other] = value
            state.parent[other] = slabs.edge[at]
            state.level[other] = level
            state.heap[size] = other
            size += 1
    return size


@kernel
def spread_in_rounds(context: Context, state: FixpointState) -> None:
    """Pass values on round by round; a vertex is in the next round once at most."""
    current, following = state.heap, np.empty(len(state.heap), np.int32)
    count = 0
    for vertex in range(len(state.value)):
        if state.value[vertex] != IDENTITY:
            current[count] = vertex
            count += 1
    while count > 0:
        size = 0
        for number in range(count):
            vertex = current[number]
            if FORWARD:
                size = hand_on(context, state, context.graph.out, (vertex, following, size))
            if BACKWARD:
                size = hand_on(context, state, context.graph.into, (vertex, following, size))
        for number in range(size):
            state.place[following[number]] = -1
        current, following = following, current
        count = size


@kernel
def hand_on(context: Context, state: FixpointState, slabs: Slabs, work: Any) -> int:
    """Offer a vertex's value along one direction; list those that take it for the next round.

    Those whose support has risen to their level or above it rise too, and pass that on.
    """
    vertex, following, size = work
    value, level = state.value[vertex], state.level[vertex] + 1
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        offered = message(value, vertex, edge, context.properties, context.parameters)
        supported = state.parent[other] == edge and state.level[other] < level
        if not better(offered, state.value[other]) and not supported:
            continue
        if better(offered, state.value[other]):
            state.value[other] = offered
            state.parent[other] = edge
        state.level[other] = level
        if state.place[other] < 0:
            state.place[other] = 0
            following[size] = other
            size += 1
    return int(size)


@kernel
def begin_vertices(context: Context, state: FixpointState, first: int) -> None:
    """Give vertices that came later their start; their edges are offered by the repair."""
    for vertex in range(first, len(state.value)):
        state.value[vertex] = initial(vertex, context.parameters)
        state.parent[vertex] = NO_EDGE
        state.level[vertex] = 0
        state.stamp[vertex] = -1
        state.place[vertex] = -1


@kernel
def spread_all(context: Context, state: FixpointState, size: int) -> None:
    """Pass values on without logging, best first, until nothing improves."""
    while size > 0:
        vertex = state.heap[0]
        size = heap_pop(state.heap, state.place, size, state.value, SIGN)
        if FORWARD:
            size = spread(context, state, context.graph.out, vertex, size)
        if BACKWARD:
            size = spread(context, state, context.graph.into, vertex, size)


@kernel
def spread(context: Context, state: FixpointState, slabs: Slabs, vertex: int, size: int) -> int:
    """Offer a vertex's value along one direction."""
    value, level = state.value[vertex], state.level[vertex] + 1
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        offered = message(value, vertex, edge, context.properties, context.parameters)
        if better(offered, state.value[other]):
            state.value[other] = offered
            state.parent[other] = edge
            state.level[other] = level
            size = heap_push(state.heap, state.place, size, other, state.value, SIGN)
    return size


@kernel
def grown(log: ChangeLog) -> ChangeLog:
    """A log of twice the room with the same entries."""
    room = 2 * len(log.vertex)
    larger = ChangeLog(
        np.empty(room, log.vertex.dtype),
        np.empty(room, log.value.dtype),
        np.empty(room, log.parent.dtype),
        np.empty(room, log.level.dtype),
    )
    count = len(log.vertex)
    larger.vertex[:count] = log.vertex
    larger.value[:count] = log.value
    larger.parent[:count] = log.parent
    larger.level[:count] = log.level
    return larger


@kernel
def record(
    state: FixpointState, log: ChangeLog, count: int, vertex: int, now: int
) -> tuple[ChangeLog, int]:
    """Log a vertex if this advance has not yet."""
    if state.stamp[vertex] == now:
        return log, count
    state.stamp[vertex] = now
    if count == len(log.vertex):
        log = grown(log)
    log.vertex[count] = vertex
    log.value[count] = state.value[vertex]
    log.parent[count] = state.parent[vertex]
    log.level[count] = state.level[vertex]
    return log, count + 1


@kernel
def find_support(
    context: Context, state: FixpointState, slabs: Slabs, vertex: int
) -> tuple[int, int]:
    """A live edge that yields the vertex's value from a lower level; and the edges looked at."""
    value, level = state.value[vertex], state.level[vertex]
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        if state.level[other] < level:
            offered = offer(context, state, other, edge)
            if offered == value:
                return edge, at - start + 1
    return NO_EDGE, int(slabs.live[vertex])


@kernel
def push_children(state: FixpointState, slabs: Slabs, vertex: int, size: int) -> int:
    """Line up those whose parent edge comes from the vertex."""
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if state.parent[other] == slabs.edge[at] and state.place[other] < 0:
            size = heap_push(state.heap, state.place, size, other, state.level, 1)
    return size


@kernel
def pull(context: Context, state: FixpointState, slabs: Slabs, vertex: int) -> None:
    """Take the best offer of the live edges of one direction, if it beats what there is."""
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        offered = offer(context, state, other, edge)
        if better(offered, state.value[vertex]):
            state.value[vertex] = offered
            state.parent[vertex] = edge
            state.level[vertex] = state.level[other] + 1


@kernel
def pass_on(
    context: Context,
    state: FixpointState,
    slabs: Slabs,
    journal: tuple[ChangeLog, int, int],
    work: tuple[int, int],
) -> tuple[ChangeLog, int, int]:
    """Offer a vertex's value along one direction, logging; lift the levels of its children."""
    log, count, now = journal
    vertex, size = work
    value, level = state.value[vertex], state.level[vertex] + 1
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        offered = message(value, vertex, edge, context.properties, context.parameters)
        if better(offered, state.value[other]):
            log, count = record(state, log, count, other, now)
            state.value[other] = offered
            state.parent[other] = edge
            state.level[other] = level
            size = heap_push(state.heap, state.place, size, other, state.value, SIGN)
        elif state.parent[other] == edge and state.level[other] < level:
            log, count = record(state, log, count, other, now)
            state.level[other] = level
            size = heap_push(state.heap, state.place, size, other, state.value, SIGN)
    return log, count, size


@kernel
def offer_edge(
    context: Context, state: FixpointState, journal: tuple[ChangeLog, int, int], arc: Any
) -> tuple[ChangeLog, int, int]:
    """Offer a value over one inserted edge; `arc` is (from, to, edge, size of the heap)."""
    log, count, now = journal
    source, target, edge, size = arc
    offered = offer(context, state, source, edge)
    if better(offered, state.value[target]):
        log, count = record(state, log, count, target, now)
        state.value[target] = offered
        state.parent[target] = edge
        state.level[target] = state.level[source] + 1
        size = heap_push(state.heap, state.place, size, target, state.value, SIGN)
    return log, count, size


@kernel
def repair(
    context: Context, state: FixpointState, inserted: Int32, deleted: Int32, now: int
) -> tuple[ChangeLog, int, int]:
    """Bring the state to the version that the graph is at, and log what changes.

    The graph has already been flipped: `inserted` and `deleted` say how. Returns the log, the
    number of its entries, and the number of edges touched.
    """
    graph = context.graph
    log = ChangeLog(
        np.empty(16, np.int32),
        np.empty(16, state.value.dtype),
        np.empty(16, np.int32),
        np.empty(16, np.int32),
    )
    count, size, touched = 0, 0, 0
    for edge in deleted:
        source, target = source_of(graph, edge), destination_of(graph, edge)
        if FORWARD and state.parent[target] == edge and state.place[target] < 0:
            size = heap_push(state.heap, state.place, size, target, state.level, 1)
        if BACKWARD and state.parent[source] == edge and state.place[source] < 0:
            size = heap_push(state.heap, state.place, size, source, state.level, 1)
    fallen = np.empty(16, np.int32)
    fallen_count = 0
    while size > 0:
        vertex = state.heap[0]
        size = heap_pop(state.heap, state.place, size, state.level, 1)
        log, count = record(state, log, count, vertex, now)
        support = NO_EDGE
        if FORWARD:
            support, looked = find_support(context, state, graph.into, vertex)
            touched += looked
        if BACKWARD and support == NO_EDGE:
            support, looked = find_support(context, state, graph.out, vertex)
            touched += looked
        start_value = initial(vertex, context.parameters)
        if support != NO_EDGE or start_value == state.value[vertex]:
            state.parent[vertex] = support
            continue
        if FORWARD:
            size = push_children(state, graph.out, vertex, size)
            touched += graph.out.live[vertex]
        if BACKWARD:
            size = push_children(state, graph.into, vertex, size)
            touched += graph.into.live[vertex]
        state.value[vertex] = start_value
        state.parent[vertex] = NO_EDGE
        state.level[vertex] = 0
        if fallen_count == len(fallen):
            longer = np.empty(2 * fallen_count, np.int32)
            longer[:fallen_count] = fallen
            fallen = longer
        fallen[fallen_count] = vertex
        fallen_count += 1
    for vertex in fallen[:fallen_count]:
        if FORWARD:
            pull(context, state, graph.into, vertex)
            touched += graph.into.live[vertex]
        if BACKWARD:
            pull(context, state, graph.out, vertex)
            touched += graph.out.live[vertex]
    for vertex in fallen[:fallen_count]:
        size = heap_push(state.heap, state.place, size, vertex, state.value, SIGN)
    for edge in inserted:
        source, target = source_of(graph, edge), destination_of(graph, edge)
        touched += 1
        if FORWARD:
            log, count, size = offer_edge(
                context, state, (log, count, now), (source, target, edge, size)
            )
        if BACKWARD:
            log, count, size = offer_edge(
                context, state, (log, count, now), (target, source, edge, size)
            )
    while size > 0:
        vertex = state.heap[0]
        size = heap_pop(state.heap, state.place, size, state.value, SIGN)
        if FORWARD:
            log, count, size = pass_on(context, state, graph.out, (log, count, now), (vertex, size))
            touched += graph.out.live[vertex]
        if BACKWARD:
            log, count, size = pass_on(
                context, state, graph.into, (log, count, now), (vertex, size)
            )
            touched += graph.into.live[vertex]
    return log, count, touched


@kernel
def roll_back(state: FixpointState, log: ChangeLog, count: int) -> None:
    """Put back what an advance changed. O(count)."""
    for at in range(count):
        vertex = log.vertex[at]
        state.value[vertex] = log.value[at]
        state.parent[vertex] = log.parent[at]
        state.level[vertex] = log.level[at]
