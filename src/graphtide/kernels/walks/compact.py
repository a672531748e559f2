"""Distinct neighbours side by side, for a run from scratch and then given up.

A run that looks at the whole graph pays for a copy in which the neighbours of a vertex stand
together, each once, and nothing else: half of the time that it takes to find them through slabs,
marks and the table of pairs. The copy may number vertices by degree and have only the neighbours of
a greater number: then no vertex has many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.intrinsics import FAR, NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, kernel
from graphtide.kernels.walks.records import SUMS_WIDTH, Int64, Walking, WordRows, walking_at

Int32 = NDArray[np.int32]


class Neighbours(NamedTuple):
    """The neighbours of vertex v: entries start[v] to end[v], in no order unless sorted."""

    start: Int64
    end: Int64
    neighbour: Int32


class Compact(NamedTuple):
    """Neighbours each way, those that are wanted, by number; `vertex` leads from numbers to
    vertices. `stamps` has a line of all numbers for each position whose neighbours are stamped.
    `sent` are rows of accumulators by number, where walks send to those and not to vertices'.
    """

    out: Neighbours
    into: Neighbours
    both: Neighbours
    vertex: Int32
    stamps: Int32
    sent: WordRows


@bare_kernel
def number_by_degree(words: Int64, number: Int32, vertex: Int32, counts: Int64) -> None:
    """Number vertices by degree, the least first; `counts` has room for all degrees, and is 0."""
    graph = walking_at(words, 0).graph
    for one in range(len(number)):
        degree = graph.out.live[one] + graph.into.live[one]
        counts[min(degree, len(counts) - 2) + 1] += 1
    for degree in range(len(counts) - 1):
        counts[degree + 1] += counts[degree]
    for one in range(len(number)):
        degree = min(graph.out.live[one] + graph.into.live[one], len(counts) - 2)
        place = counts[degree]
        counts[degree] = place + 1
        number[one] = place
        vertex[place] = one


@bare_kernel
def list_neighbours(words: Int64, ways: int, number: Int32, found: Neighbours) -> None:
    """List neighbours: `ways` 1 where edges lead to, 2 where they come from, 3 for both.

    `number` is empty where vertices keep their numbers. `start` and `end` are 0, and `neighbour`
    has room for all entries. Each may be listed often.
    """
    graph = walking_at(words, 0).graph
    for vertex in range(len(graph.out.live)):
        begin = graph.out.start[vertex]
        for place in range(begin, begin + graph.out.live[vertex]):
            count_ends(found, number, (vertex, graph.out.neighbour[place]), ways)
    total = 0
    for vertex in range(len(found.start)):
        count = found.end[vertex]
        found.start[vertex], found.end[vertex] = total, total
        total += count
    fill_ends(graph, number, found, ways)


@bare_kernel
def list_upward(words: Int64, number: Int32, vertex: Int32, found: Neighbours) -> None:
    """List the neighbours of a greater number, whatever the direction, in one pass by number.

    `neighbour` has room for one more than there are: others are written too, and then overwritten.
    Half of all entries are others, in no order, so that the processor would guess wrong often.
    """
    walking, size = walking_at(words, 0), 0
    for at in range(len(vertex)):
        if at + FAR < len(vertex):
            ask_for_slabs(walking, vertex[at + FAR])
        if at + NEAR < len(vertex):
            ask_for_neighbours(walking, vertex[at + NEAR])
        found.start[at] = size
        for slabs in (walking.graph.out, walking.graph.into):
            begin = slabs.start[vertex[at]]
            for place in range(begin, begin + slabs.live[vertex[at]]):
                other = number[slabs.neighbour[place]]
                found.neighbour[size] = other
                size += 1 if other > at else 0
        found.end[at] = size


@joined_kernel
def ask_for_slabs(walking: Walking, vertex: int) -> None:
    """Prefetch the bounds of a vertex's slabs."""
    for slabs in (walking.graph.out, walking.graph.into):
        prefetch(slabs.start, vertex)
        prefetch(slabs.live, vertex)


@joined_kernel
def ask_for_neighbours(walking: Walking, vertex: int) -> None:
    """Prefetch the first neighbours of a vertex; its bounds were prefetched before."""
    for slabs in (walking.graph.out, walking.graph.into):
        prefetch(slabs.neighbour, slabs.start[vertex])


@bare_kernel
def hand_over(words: Int64, vertex: Int32, sent: Int64) -> None:
    """Add what was sent to numbers to the accumulators of their vertices, which add up ints."""
    walking = walking_at(words, 0)
    width = walking.counts[SUMS_WIDTH]
    for number in range(len(vertex)):
        first = vertex[number] * width
        for word in range(width):
            walking.sums.whole[first + word] += sent[number * width + word]


@joined_kernel
def numbered(number: Int32, vertex: int) -> int:
    return int(number[vertex]) if len(number) else vertex


@joined_kernel
def count_ends(found: Neighbours, number: Int32, ends: tuple[int, int], ways: int) -> None:
    """Count an edge in the lists of its ends."""
    source, target = numbered(number, ends[0]), numbered(number, ends[1])
    if ways & 1:
        found.end[source] += 1
    if ways & 2 and not (ways == 3 and source == target):
        found.end[target] += 1


@inner_kernel
def fill_ends(graph: Adjacency, number: Int32, found: Neighbours, ways: int) -> None:
    """Write every edge into the lists of its ends."""
    for vertex in range(len(graph.out.live)):
        source, begin = numbered(number, vertex), graph.out.start[vertex]
        for place in range(begin, begin + graph.out.live[vertex]):
            target = numbered(number, graph.out.neighbour[place])
            if ways & 1:
                found.neighbour[found.end[source]] = target
                found.end[source] += 1
            if ways & 2 and not (ways == 3 and source == target):
                found.neighbour[found.end[target]] = source
                found.end[target] += 1


@bare_kernel
def leave_each_once(found: Neighbours, stamp: Int32) -> None:
    """Keep every neighbour once; `stamp` is -1 everywhere, and is so again."""
    for vertex in range(len(found.start)):
        begin, top = found.start[vertex], found.start[vertex]
        for place in range(begin, found.end[vertex]):
            neighbour = found.neighbour[place]
            if stamp[neighbour] != vertex:
                stamp[neighbour] = vertex
                found.neighbour[top] = neighbour
                top += 1
        found.end[vertex] = top
    for at in range(len(stamp)):
        stamp[at] = -1


@kernel
def sort_neighbours(found: Neighbours) -> None:
    for vertex in range(len(found.start)):
        found.neighbour[found.start[vertex] : found.end[vertex]].sort()


@joined_kernel
def stamp_neighbours(found: Neighbours, stamps: Int32, line: int, vertex: int) -> None:
    """Let all neighbours of a vertex bear its stamp, on a line of its own."""
    first = line * len(found.start)
    for place in range(found.start[vertex], found.end[vertex]):
        stamps[first + found.neighbour[place]] = vertex


@inner_kernel
def is_listed(found: Neighbours, vertex: int, neighbour: int) -> bool:
    """True if a vertex has a neighbour, in a list that is in order."""
    low, high = found.start[vertex], found.end[vertex]
    while low < high:
        middle = (low + high) >> 1
        if found.neighbour[middle] < neighbour:
            low = middle + 1
        else:
            high = middle
    return bool(low < found.end[vertex] and found.neighbour[low] == neighbour)
