"""Selecting programs over a lean graph by several threads: whoever got better offers what he has.

A round goes through the vertices that got better in the one before. Each offers its value along its
edges (push), and who takes an offer is marked. Where all of these have the same value and edges
carry the same for it, everybody with a worse value may look for one of them instead, and stop at
the first (pull): most edges are then never looked at. In what order offers come makes no difference
to where it ends: messages are monotone and never overtake their source, which the caller has
proved.

Few vertices are left to one thread: with a queue where edges carry the same, with a heap where not,
so that the best come first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
from graphtide.kernels.graph.adjacency import CompressedRows
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.lean.threads import Offers, OffersContext, swap_if
from graphtide.kernels.queues import Keyed, keyed_pop, keyed_push
from graphtide.kernels.synchronous.rounds import VertexRange

NO_EDGE = -1


@bare_kernel
def begin_values(context: OffersContext, offers: Offers, span: VertexRange) -> None:
    """Start values of a part; marks the vertices that have something to say."""
    for vertex in range(span.first, span.stop):
        value = initial(vertex, context.read)
        offers.value[vertex] = value
        offers.marked[vertex] = 1 if value != identity() else 0


@joined_kernel
def take_offer(offers: Offers, vertex: Any, offered: Any) -> bool:
    """Let a vertex have an offer if that is better; True if it is, and was the one to take it."""
    seen = offers.value[vertex]
    while better(offered, seen):
        if swap_if(offers.value, vertex, seen, offered):
            return True
        seen = offers.value[vertex]
    return False


@joined_kernel
def edge_number(rows: CompressedRows, position: Any) -> Any:
    """The number of the edge at a position; by source it is the position."""
    if len(rows.edge) == 0:
        return np.int64(position)
    return np.int64(rows.edge[position])


@inner_kernel
def offer_along(context: OffersContext, rows: CompressedRows, offers: Offers, vertex: Any) -> None:
    """Offer a vertex's value along one direction, and mark who takes it."""
    value = offers.value[vertex]
    offered = message(value, vertex, NO_EDGE, context.read) if uniform() else value
    for position in range(np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + 1])):
        other = np.uint32(rows.neighbour[position])
        if not better(offered, offers.value[other]):
            continue
        if not uniform():
            edge = edge_number(rows, position)
            if take_offer(offers, other, message(value, vertex, edge, context.read)):
                offers.marked[other] = 1
        elif take_offer(offers, other, offered):
            offers.marked[other] = 1


@bare_kernel
def push_range(context: OffersContext, offers: Offers, span: VertexRange) -> None:
    """The offers of a part of those listed."""
    for number in range(span.first, span.stop):
        vertex = np.int64(offers.listed[number])
        if forward():
            offer_along(context, context.out, offers, vertex)
        if backward():
            offer_along(context, context.into, offers, vertex)


@inner_kernel
def finds(rows: CompressedRows, offers: Offers, vertex: Any, level: Any) -> bool:
    for position in range(np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + 1])):
        if offers.value[np.uint32(rows.neighbour[position])] == level:
            return True
    return False


@bare_kernel
def pull_range(context: OffersContext, offers: Offers, span: VertexRange) -> None:
    """Let the vertices of a part look for one of those listed, who all have the same value."""
    level = offers.value[offers.listed[0]]
    offered = message(level, 0, NO_EDGE, context.read)
    for vertex in range(span.first, span.stop):
        if not better(offered, offers.value[vertex]):
            continue
        found = False
        if forward():
            found = finds(context.into, offers, vertex, level)
        if backward() and not found:
            found = finds(context.out, offers, vertex, level)
        if found:
            offers.value[vertex] = offered
            offers.marked[vertex] = 1


@inner_kernel
def row_lengths(context: OffersContext, vertex: Any) -> Any:
    found = np.int64(0)
    if forward():
        found += np.int64(context.out.offsets[vertex + 1] - context.out.offsets[vertex])
    if backward():
        found += np.int64(context.into.offsets[vertex + 1] - context.into.offsets[vertex])
    return found


@bare_kernel
def list_marked(context: OffersContext, offers: Offers, span: VertexRange) -> tuple[int, int, bool]:
    """List the marked of a part, from its first on, and unmark them.

    A part is one of words of eight marks. Returns how many there are, along how many edges they
    make offers, and whether all have one value.
    """
    first = 8 * span.first
    size, edges, alike = first, 0, True
    for word in range(span.first, span.stop):
        if offers.words[word] == 0:
            continue
        for vertex in range(8 * word, 8 * word + 8):
            if offers.marked[vertex] == 0:
                continue
            offers.marked[vertex] = 0
            offers.listed[size] = vertex
            alike = alike and offers.value[vertex] == offers.value[offers.listed[first]]
            size += 1
            edges += row_lengths(context, vertex)
    return size - first, edges, alike


@inner_kernel
def queue_along(
    context: OffersContext, rows: CompressedRows, offers: Offers, vertex: Any, line: tuple[int, int]
) -> int:
    """Offer along one direction by one thread; who takes it gets into the queue, once.

    `line` is where the queue begins and how long it is; returns how long it is then. All edges
    carry the same.
    """
    done, size = line
    offered = message(offers.value[vertex], vertex, NO_EDGE, context.read)
    room = len(offers.listed)
    for position in range(np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + 1])):
        other = np.uint32(rows.neighbour[position])
        if better(offered, offers.value[other]):
            offers.value[other] = offered
            if offers.marked[other] == 0:
                offers.marked[other] = 1
                place = done + size
                offers.listed[place - room if place >= room else place] = other
                size += 1
    return size


@bare_kernel
def run_queue(context: OffersContext, offers: Offers, size: int, most: int, limit: int) -> int:
    """Offers of those listed, by one thread, until nobody is left, or more than `most` wait.

    Stops after `limit` vertices too, so that a run can be interrupted. The queue is `listed`, a
    ring; returns how many are in it, who are marked. For edges that all carry the same.
    """
    done, room = 0, len(offers.listed)
    for number in range(size):
        offers.marked[offers.listed[number]] = 1
    while 0 < size <= most and limit > 0:
        limit -= 1
        vertex = np.int64(offers.listed[done])
        offers.marked[vertex] = 0
        done = 0 if done + 1 == room else done + 1
        size -= 1
        if forward():
            size = queue_along(context, context.out, offers, vertex, (done, size))
        if backward():
            size = queue_along(context, context.into, offers, vertex, (done, size))
    return size


@inner_kernel
def heap_along(
    context: OffersContext,
    rows: CompressedRows,
    offers: Offers,
    vertex: Any,
    line: tuple[Keyed, int],
) -> int:
    """Offer along one direction by one thread; who takes it gets into the heap."""
    heap, size = line
    value = offers.value[vertex]
    for position in range(np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + 1])):
        other = np.uint32(rows.neighbour[position])
        if not better(value, offers.value[other]):
            continue
        offered = message(value, vertex, edge_number(rows, position), context.read)
        if better(offered, offers.value[other]):
            offers.value[other] = offered
            size = keyed_push(heap, size, other, offered, sign())
    return size


@bare_kernel
def run_heap(
    context: OffersContext, offers: Offers, heap: Keyed, size: int, limit: int
) -> tuple[int, int]:
    """Offers of those listed, best first, by one thread, while the heap has room.

    Stops after `limit` vertices too. A vertex may stand in the heap several times; all but its
    last entry are passed over. Returns how many entries are left, and how many vertices made
    their offers; who is still to make them is marked.
    """
    entries, done = 0, 0
    for number in range(size):
        vertex = offers.listed[number]
        entries = keyed_push(heap, entries, vertex, offers.value[vertex], sign())
    while entries > 0 and done < limit:
        waiting, value = np.int64(heap.vertex[0]), heap.key[0]
        if value == offers.value[waiting]:
            if entries + row_lengths(context, waiting) > len(heap.vertex):
                break
            done += 1
        entries = keyed_pop(heap, entries, sign())
        if value != offers.value[waiting]:
            continue
        if forward():
            entries = heap_along(context, context.out, offers, waiting, (heap, entries))
        if backward():
            entries = heap_along(context, context.into, offers, waiting, (heap, entries))
    for number in range(entries):
        if heap.key[number] == offers.value[heap.vertex[number]]:
            offers.marked[heap.vertex[number]] = 1
    return entries, done
