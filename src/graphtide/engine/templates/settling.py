"""Selecting programs from scratch: every vertex settled once, best values first.

No message overtakes its source, so whoever has the best value of all that are not settled has its
final one. Where all edges carry the same for the same value, offers come in the order in which
their sources are settled: a queue is enough, merged with the vertices that start with something to
say, and the first offer to a vertex is its best. Otherwise a heap brings them in order. A vertex
may stand in it several times; all but the best are passed over.

Parents and levels are filled in where there is room for them, for maintenance to go on from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.selecting import (
    BACKWARD,
    FORWARD,
    IDENTITY,
    SIGN,
    UNIFORM,
    better,
    initial,
    message,
)
from graphtide.kernels.adjacency import Slabs
from graphtide.kernels.fixpoint_records import Context, Reached
from graphtide.kernels.heap import Keyed, keyed_pop, keyed_push
from graphtide.kernels.jit import kernel, lean_kernel

NO_EDGE = -1
Int32 = NDArray[np.int32]


@kernel
def begin(context: Context, reached: Reached, first: int, starts: Int32) -> tuple[int, bool]:
    """Start values from vertex `first` on.

    Lists the vertices that have something to say; returns how many, and whether best come first.
    """
    count, in_order = 0, True
    for vertex in range(first, len(reached.value)):
        value = initial(vertex, context.parameters)
        reached.value[vertex] = value
        if len(reached.parent) > 0:
            reached.parent[vertex] = NO_EDGE
            reached.level[vertex] = 0
        if value != IDENTITY:
            if count > 0 and better(value, reached.value[starts[count - 1]]):
                in_order = False
            starts[count] = vertex
            count += 1
    return count, in_order


@kernel
def settle(context: Context, reached: Reached, starts: Int32, queue: Int32) -> None:
    """Values from the starts, which come best first; `queue` has room for all vertices."""
    if UNIFORM:
        settle_in_line(context, reached, starts, queue)
    else:
        room = len(starts) + 2 * len(context.graph.out.slot)
        heap = Keyed(np.empty(room, np.int32), np.empty(room, reached.value.dtype))
        settle_by_heap(context, reached, starts, heap)


@lean_kernel
def settle_in_line(context: Context, reached: Reached, starts: Int32, queue: Int32) -> None:
    """By a queue. O(edges). A start that has got better is in the queue already."""
    done, size, at = 0, 0, 0
    while done < size or at < len(starts):
        from_queue = done < size
        if from_queue and at < len(starts):
            from_queue = not better(reached.value[starts[at]], reached.value[queue[done]])
        if from_queue:
            vertex = queue[done]
            done += 1
        else:
            vertex = starts[at]
            at += 1
            if reached.value[vertex] != initial(vertex, context.parameters):
                continue
        if FORWARD:
            size = line_up(context, reached, context.graph.out, (vertex, queue, size))
        if BACKWARD:
            size = line_up(context, reached, context.graph.into, (vertex, queue, size))


@lean_kernel
def line_up(context: Context, reached: Reached, slabs: Slabs, work: Any) -> int:
    """Settle those along one direction that nobody has reached before."""
    vertex, queue, size = work
    value = reached.value[vertex]
    offered = message(value, vertex, NO_EDGE, context.properties, context.parameters)
    kept = len(reached.parent) > 0
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if better(offered, reached.value[other]):
            reached.value[other] = offered
            if kept:
                reached.parent[other] = slabs.edge[at]
                reached.level[other] = reached.level[vertex] + 1
            queue[size] = other
            size += 1
    return int(size)


@lean_kernel
def settle_by_heap(context: Context, reached: Reached, starts: Int32, heap: Keyed) -> None:
    """By a heap, with room for an offer an edge and way. O(edges log edges) at worst."""
    size = 0
    for vertex in starts:
        size = keyed_push(heap, size, vertex, reached.value[vertex], SIGN)
    while size > 0:
        vertex, value = heap.vertex[0], heap.key[0]
        size = keyed_pop(heap, size, SIGN)
        if value != reached.value[vertex]:
            continue
        if FORWARD:
            size = offer_all(context, reached, context.graph.out, (vertex, heap, size))
        if BACKWARD:
            size = offer_all(context, reached, context.graph.into, (vertex, heap, size))


@lean_kernel
def offer_all(context: Context, reached: Reached, slabs: Slabs, work: Any) -> int:
    """Offer a vertex's value along one direction; who takes it gets into the heap.

    An edge to a vertex that has no worse value is not even looked up: no message overtakes.
    """
    vertex, heap, size = work
    value = reached.value[vertex]
    kept = len(reached.parent) > 0
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if not better(value, reached.value[other]):
            continue
        edge = slabs.edge[at]
        offered = message(value, vertex, edge, context.properties, context.parameters)
        if better(offered, reached.value[other]):
            reached.value[other] = offered
            if kept:
                reached.parent[other] = edge
                reached.level[other] = reached.level[vertex] + 1
            size = keyed_push(heap, size, other, offered, SIGN)
    return int(size)
