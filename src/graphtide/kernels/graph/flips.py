"""Move edges into and out of the live prefixes: what leads from one version to the next.

A flip swaps two entries of a slab in each direction and moves the border of its live prefix: O(1)
an edge, but at a dozen scattered places of memory. So edges are flipped in batches: the ends of all
are found, then one direction is flipped, then the other, each asking ahead for the places that its
next edges need, unless the graph is small. A batch is small enough that what was read for the ends
is still near when it is flipped. Whoever follows the graph to its new version wants the ends too,
and finds them in `Delta`.

An edge that stands at the border stays where it is: those of a window that grows come in the order
in which their sources have them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import (
    Adjacency,
    Slabs,
    destination_of,
    goes_back,
    is_apart,
    source_of,
    swap_entries,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.prefetch import FAR, MIDDLE, NEAR, prefetch

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

BATCH = 256
"""So many ends are found before their edges are flipped."""

NEAR_EDGES = 1 << 19
"""Slabs of no more edges stay in the last cache, where waiting takes less than asking ahead.

Measured in nanoseconds an edge, asked for and not. Of half a million: those of a window that grows
28 and 15, random ones 65 and 60 to 87. Of a million: 37 and 24, 81 and 117.
"""

FEW = 4
"""So few edges are flipped sooner than asked for."""


class Delta(NamedTuple):
    """Edges in and out, and the ends of all of them: first of the inserted, then the deleted."""

    inserted: Int32
    deleted: Int32
    sources: Int32
    targets: Int32


@inner_kernel
def find_ends_of(graph: Adjacency, edges: Int32, sources: Int32, targets: Int32) -> None:
    """Sources and targets of edges; all slots first, so that no step waits for the one before."""
    for at in range(len(edges)):
        sources[at] = graph.into.slot[edges[at]]
        targets[at] = graph.out.slot[edges[at]]
    for at in range(len(edges)):
        sources[at] = graph.into.neighbour[sources[at]]
        targets[at] = graph.out.neighbour[targets[at]]


@bare_kernel
def flip_delta(words: Int64, delta: Delta) -> int:
    """Flip a delta, all or nothing, and find its ends; -1, or where the first misfit is listed.

    `words` is a block that begins with the graph.

    Places count the deleted first, then the inserted. An edge that is listed twice is found at
    its second place.
    """
    graph, count = adjacency_at(words, 0), len(delta.inserted)
    alive = count >= 0  # True, but no constant: for each of those, all would be compiled anew.
    sources, targets = delta.sources[count:], delta.targets[count:]
    misfit = flip_both(graph, delta.deleted, sources, targets, not alive)
    if misfit >= 0:
        return misfit
    misfit = flip_both(graph, delta.inserted, delta.sources[:count], delta.targets[:count], alive)
    if misfit < 0:
        return -1
    flip_both(graph, delta.deleted, sources, targets, alive)
    return len(delta.deleted) + misfit


@bare_kernel
def flip_arrays(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> int:
    """The same, called from Python: an edge takes 0.7 microseconds, and 2 to 4 by a tuple."""
    return flip_delta(words, Delta(inserted, deleted, sources, targets))


@joined_kernel
def flip_few(graph: Adjacency, edges: Int32, sources: Int32, targets: Int32, alive: bool) -> int:
    """The same as `flip_both` for so few edges that asking for their places takes longer."""
    for at in range(len(edges)):
        edge = edges[at]
        source, target = source_of(graph, edge), destination_of(graph, edge)
        sources[at], targets[at] = source, target
        if (graph.out.slot[edge] < graph.out.start[source] + graph.out.live[source]) == alive:
            for before in range(at - 1, -1, -1):
                flip_edge(graph.out, edges[before], sources[before], not alive)
                if goes_back(graph, edges[before], sources[before], targets[before]):
                    flip_edge(graph.into, edges[before], targets[before], not alive)
            return at
        flip_edge(graph.out, edge, source, alive)
        if goes_back(graph, edge, source, target):
            flip_edge(graph.into, edge, target, alive)
    return -1


@joined_kernel
def flip_edge(slabs: Slabs, edge: int, end: int, alive: bool) -> None:
    """Flip an edge in the slabs of one direction."""
    move_border(slabs, slabs.slot[edge], end, alive)


@joined_kernel
def move_border(slabs: Slabs, slot: int, end: int, alive: bool) -> None:
    """Move the border of a slab across an entry, which changes places with the one there."""
    border = border_of(slabs, end, alive)
    if slot != border:
        swap_entries(slabs, slot, border)
    slabs.live[end] += 1 if alive else -1


@inner_kernel
def flip_both(graph: Adjacency, edges: Int32, sources: Int32, targets: Int32, alive: bool) -> int:
    """Flip edges in both directions, all or none: the place of the first misfit, or -1.

    The ends of a batch are found while the one before it is flipped.
    """
    count = len(edges)
    if count <= FEW:
        return flip_few(graph, edges, sources, targets, alive)
    find_ends_of(graph, edges[:BATCH], sources[:BATCH], targets[:BATCH])
    far = len(graph.out.slot) > NEAR_EDGES
    for first in range(0, count, BATCH):
        last, ahead = min(first + BATCH, count), min(first + 2 * BATCH, count)
        find_ends_of(graph, edges[last:ahead], sources[last:ahead], targets[last:ahead])
        asked = ahead if far else first
        misfit = flip_side(graph.out, edges, (sources, targets), (first, last, asked), alive)
        if misfit >= 0:
            start = first - first
            flip_side(graph.out, edges, (sources, targets), (start, misfit, misfit), not alive)
            flip_side(graph.into, edges, (targets, sources), (start, first, first), not alive)
            return misfit
        flip_side(graph.into, edges, (targets, sources), (first, last, asked), alive)
    return -1


@inner_kernel
def flip_side(slabs: Slabs, edges: Int32, both: Any, part: Any, alive: bool) -> int:
    """Flip a part of the edges in the slabs of one direction, up to the first that already is so.

    Returns its place, or -1. `both` are the ends in this direction and the others, `part` is the
    first, the end, and the end of those that are asked for ahead. What stands at the border when an
    edge is flipped is known only then: the places asked for are those of now, which are the same or
    next to them.
    """
    (ends, others), (first, last, known) = both, part
    if first == 0 and known > FEW:
        ask_for_first(slabs, edges[:known], ends, alive)
    for at in range(first, last):
        if at + FAR < known:
            ask_for_border(slabs, edges[at + FAR], ends[at + FAR])
        if at + MIDDLE < known:
            ask_for_entries(slabs, edges[at + MIDDLE], border_of(slabs, ends[at + MIDDLE], alive))
        if at + NEAR < known:
            ask_for_other(slabs, edges[at + NEAR], border_of(slabs, ends[at + NEAR], alive))
        end, slot = ends[at], slabs.slot[edges[at]]
        if others[at] == end and is_apart(slabs, edges[at], end):
            continue
        if (slot < slabs.start[end] + slabs.live[end]) == alive:
            return at
        move_border(slabs, slot, end, alive)
    return -1


@joined_kernel
def ask_for_first(slabs: Slabs, edges: Int32, ends: Int32, alive: bool) -> None:
    """Ask for what the first flips need: a small delta has no others."""
    count = len(edges)
    for at in range(min(FAR, count)):
        ask_for_border(slabs, edges[at], ends[at])
    for at in range(min(MIDDLE, count)):
        ask_for_entries(slabs, edges[at], border_of(slabs, ends[at], alive))
    for at in range(min(NEAR, count)):
        ask_for_other(slabs, edges[at], border_of(slabs, ends[at], alive))


@joined_kernel
def border_of(slabs: Slabs, end: int, alive: bool) -> int:
    """The entry that an edge of the vertex changes places with: the first dead or the last live.

    Stays within the pool where there is none, which only happens ahead of time.
    """
    border = slabs.start[end] + slabs.live[end]
    if alive:
        return int(min(border, len(slabs.edge) - 1))
    return int(max(border - 1, 0))


@joined_kernel
def ask_for_border(slabs: Slabs, edge: int, end: int) -> None:
    """Ask for what leads to the entries of a flip."""
    prefetch(slabs.start, end)
    prefetch(slabs.live, end)
    prefetch(slabs.slot, edge)


@joined_kernel
def ask_for_entries(slabs: Slabs, edge: int, border: int) -> None:
    """Ask for the two entries that change places, if they are two."""
    slot = slabs.slot[edge]
    if slot == border:
        return
    prefetch(slabs.edge, border)
    prefetch(slabs.neighbour, border)
    prefetch(slabs.edge, slot)
    prefetch(slabs.neighbour, slot)


@joined_kernel
def ask_for_other(slabs: Slabs, edge: int, border: int) -> None:
    """Ask for where it is told of the edge at the border that it moves."""
    if slabs.slot[edge] != border:
        prefetch(slabs.slot, slabs.edge[border])
