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
    backward,
    better,
    forward,
    identity,
    initial,
    message,
    sign,
    uniform,
)
from graphtide.kernels.fixpoint.records import Context, Line, Reached
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import joined_kernel, kernel
from graphtide.kernels.queues import Keyed, keyed_pop, keyed_push

NO_EDGE = -1
SLAB_LINES = 4
"""What is asked for of a slab ahead: 64 neighbours, in lines of 16."""

Int32 = NDArray[np.int32]


@kernel
def begin(context: Context, reached: Reached, first: int, starts: Int32) -> tuple[int, bool]:
    """Start values from vertex `first` on.

    Lists the vertices that have something to say; returns how many, and whether best come first.
    """
    count, in_order = 0, True
    for vertex in range(first, len(reached.value)):
        value = initial(vertex, context.read)
        reached.value[vertex] = value
        if len(reached.parent) > 0:
            reached.parent[vertex] = NO_EDGE
            reached.level[vertex] = 0
        if value != identity():
            if count > 0 and better(value, reached.value[starts[count - 1]]):
                in_order = False
            starts[count] = vertex
            count += 1
    return count, in_order


@kernel
def settle(context: Context, reached: Reached, starts: Int32, queue: Int32) -> None:
    """Values from the starts, which come best first; `queue` has room for all vertices."""
    if uniform():
        line = Line(queue, np.zeros(len(reached.value), np.uint8))
        settle_in_line(context, reached, starts, line)
    else:
        room = len(starts) + 2 * len(context.graph.out.slot)
        heap = Keyed(np.empty(room, np.int32), np.empty(room, reached.value.dtype))
        settle_by_heap(context, reached, starts, heap)


@joined_kernel
def settle_in_line(context: Context, reached: Reached, starts: Int32, line: Line) -> None:
    """By a queue. O(edges). A start that has got better is in the queue already."""
    queue = line.queue
    done, size, at = 0, 0, 0
    while done < size or at < len(starts):
        from_queue = done < size
        if from_queue and at < len(starts):
            from_queue = not better(reached.value[starts[at]], reached.value[queue[done]])
        if from_queue:
            vertex = queue[done]
            done += 1
            ask_for_later(context.graph, queue, done, size)
        else:
            vertex = starts[at]
            at += 1
            if reached.value[vertex] != initial(vertex, context.read):
                continue
        if forward():
            size = line_up(context, reached, context.graph.out, (vertex, line, size))
        if backward():
            size = line_up(context, reached, context.graph.into, (vertex, line, size))


@joined_kernel
def ask_for_later(graph: Adjacency, queue: Int32, done: int, size: int) -> None:
    """Ask for the slabs of those who come a few places later, and earlier for where they begin."""
    if forward():
        ask_for_slab(graph.out, queue, done, size)
    if backward():
        ask_for_slab(graph.into, queue, done, size)


@joined_kernel
def ask_for_slab(slabs: Slabs, queue: Int32, done: int, size: int) -> None:
    """Ask for the first lines of slabs in one direction; the rest is read in sequence."""
    if done + NEAR < size:
        prefetch(slabs.start, queue[done + NEAR])
        prefetch(slabs.live, queue[done + NEAR])
    if done + NEAR // 2 < size:
        start = slabs.start[queue[done + NEAR // 2]]
        for step in range(SLAB_LINES):
            prefetch(slabs.neighbour, start + 16 * step)


@joined_kernel
def line_up(context: Context, reached: Reached, slabs: Slabs, work: Any) -> int:
    """Settle those along one direction that nobody has made an offer to before.

    Offers come best first, so that later ones change nothing: that there was one is a byte a
    vertex, which fits the cache where values do not.
    """
    vertex, line, size = work
    value = reached.value[vertex]
    offered = message(value, vertex, NO_EDGE, context.read)
    kept = len(reached.parent) > 0
    first, last = live_places(slabs, vertex)
    for at in range(first, last):
        other = np.uint32(slabs.neighbour[at])
        if line.offered[other]:
            continue
        line.offered[other] = 1
        if better(offered, reached.value[other]):
            reached.value[other] = offered
            if kept:
                reached.parent[other] = slabs.edge[at]
                reached.level[other] = reached.level[vertex] + 1
            line.queue[size] = other
            size += 1
    return int(size)


@joined_kernel
def live_places(slabs: Slabs, vertex: int) -> tuple[Any, Any]:
    """Where the live part of a slab begins and ends.

    As numbers without a sign, like the neighbours in it: Numba asks every index with one whether
    it counts from the end, which took a quarter of the time of a loop over edges.
    """
    first = np.uint64(slabs.start[vertex])
    return first, first + np.uint64(slabs.live[vertex])


@joined_kernel
def settle_by_heap(context: Context, reached: Reached, starts: Int32, heap: Keyed) -> None:
    """By a heap, with room for an offer an edge and way. O(edges log edges) at worst."""
    size = 0
    for vertex in starts:
        size = keyed_push(heap, size, vertex, reached.value[vertex], sign())
    while size > 0:
        vertex, value = heap.vertex[0], heap.key[0]
        size = keyed_pop(heap, size, sign())
        if value != reached.value[vertex]:
            continue
        ask_for_next(context.graph, heap, size)
        if forward():
            size = offer_all(context, reached, context.graph.out, (vertex, heap, size))
        if backward():
            size = offer_all(context, reached, context.graph.into, (vertex, heap, size))


@joined_kernel
def ask_for_next(graph: Adjacency, heap: Keyed, size: int) -> None:
    """Ask for the slab of whoever is likely to come next, and for where those after it begin."""
    if forward():
        ask_for_best(graph.out, heap, size)
    if backward():
        ask_for_best(graph.into, heap, size)


@joined_kernel
def ask_for_best(slabs: Slabs, heap: Keyed, size: int) -> None:
    """Ask for the slab of the best of a heap, and for where those after it begin."""
    if size == 0:
        return
    for place in range(min(size, 5)):
        prefetch(slabs.start, heap.vertex[place])
        prefetch(slabs.live, heap.vertex[place])
    start = slabs.start[heap.vertex[0]]
    for step in range(2):
        prefetch(slabs.neighbour, start + 16 * step)
        prefetch(slabs.edge, start + 16 * step)


@joined_kernel
def offer_all(context: Context, reached: Reached, slabs: Slabs, work: Any) -> int:
    """Offer a vertex's value along one direction; who takes it gets into the heap.

    An edge to a vertex that has no worse value is not even looked up: no message overtakes.
    """
    vertex, heap, size = work
    value = reached.value[vertex]
    kept = len(reached.parent) > 0
    first, last = live_places(slabs, vertex)
    for at in range(first, last):
        other = np.uint32(slabs.neighbour[at])
        if not better(value, reached.value[other]):
            continue
        edge = slabs.edge[at]
        offered = message(value, vertex, edge, context.read)
        if better(offered, reached.value[other]):
            reached.value[other] = offered
            if kept:
                reached.parent[other] = edge
                reached.level[other] = reached.level[vertex] + 1
            size = keyed_push(heap, size, other, offered, sign())
    return int(size)
