"""Strongly connected components over live edges, by one depth-first search (Tarjan's).

Vertices are numbered as the search meets them. `low` is the least number that a vertex is known to
reach within what is still open; a vertex that reaches none before itself closes a component: all
that was met since and is still open. The search keeps its own stack, so that a path of a million
vertices is no deeper a recursion than one edge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import kernel

Int32 = NDArray[np.int32]
CLOSED = 2**31 - 1
"""The number of a vertex whose component is known: larger than all others."""


class StrongSearch(NamedTuple):
    """Work space: a word a vertex in each array."""

    number: Int32
    low: Int32
    at: Int32
    walk: Int32
    open: Int32


def new_search(vertices: int) -> StrongSearch:
    """Work space for so many vertices."""
    return StrongSearch(*(np.empty(vertices, np.int32) for _ in range(5)))


@kernel
def label_strong_components(graph: Adjacency, search: StrongSearch, label: Any) -> None:
    """Label every vertex with the least of its strongly connected component. O(vertices + edges).

    Every edge is looked at once, from its source.
    """
    number, low, at, walk = search.number, search.low, search.at, search.walk
    start, live, neighbour = graph.out.start, graph.out.live, graph.out.neighbour
    number[:] = 0
    met = opened = 0
    for root in range(len(number)):
        if number[root] != 0:
            continue
        walk[0], depth = root, 1
        while depth > 0:
            vertex = walk[depth - 1]
            if number[vertex] == 0:
                met += 1
                number[vertex] = low[vertex] = met
                at[vertex] = 0
                search.open[opened] = vertex
                opened += 1
            least, place, deeper = low[vertex], at[vertex], False
            first, count = start[vertex], live[vertex]
            while place < count:
                other = neighbour[first + place]
                if number[other] == 0:
                    walk[depth], deeper = other, True
                    break
                # A vertex that was met from here has its own low by now; one that is open but
                # older has its number, which is as good: both are open, so both are reached.
                least = min(least, low[other] if number[other] != CLOSED else least)
                place += 1
            low[vertex], at[vertex] = least, place
            if deeper:
                depth += 1
                continue
            depth -= 1
            if least == number[vertex]:
                opened = close_component(search, label, vertex, opened)


@kernel
def close_component(search: StrongSearch, label: Any, vertex: int, opened: int) -> int:
    """Label what was met since `vertex` and is open; how many stay open."""
    first, least = opened, vertex
    while True:
        first -= 1
        least = min(least, search.open[first])
        if search.open[first] == vertex:
            break
    for place in range(first, opened):
        label[search.open[place]] = least
        search.number[search.open[place]] = CLOSED
    return first
