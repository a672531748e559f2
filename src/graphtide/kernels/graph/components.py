"""Connected components over live edges, by one thread: union-find, and one depth-first search.

In union-find a vertex points to another of its component, or to itself if it is the root. Roots are
linked so that the least vertex (or the greatest) of a component ends as its root: that is the label
that label-spreading programs define. Chains are halved whenever they are walked.

Strongly connected components come from Tarjan's search. Vertices are numbered as the search meets
them. `low` is the least number that a vertex is known to reach within what is still open; a vertex
that reaches none before itself closes a component: all that was met since and is still open. The
search keeps its own stack, so that a path of a million vertices is no deeper a recursion than one
edge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import joined_kernel, kernel

Int32 = NDArray[np.int32]


@joined_kernel
def find_root(above: Int32, vertex: Any) -> int:
    """The root of a vertex; halves the chain on the way.

    Indices have no sign: Numba would ask each whether it counts from the end.
    """
    at = np.uint32(vertex)
    up = np.uint32(above[at])
    while up != at:
        beyond = np.uint32(above[up])
        above[at] = beyond
        at = beyond
        up = np.uint32(above[at])
    return int(at)


@joined_kernel
def join_components(above: Int32, one: int, other: int, sign: int) -> int:
    """Put two roots' components together; returns the root. `sign` is 1 for least, -1 for greatest.

    Linking by number is all it takes: with halved chains it stays within O(log vertices) a step.
    """
    if sign * one < sign * other:
        above[other] = one
        return one
    above[one] = other
    return other


@kernel
def label_components(graph: Adjacency, above: Int32, label: Any, sign: int) -> None:
    """Label every vertex with the least (greatest) of its component. O(edges), near enough.

    `above` is work space for all vertices. An edge is looked at once, from its source, whose root
    is held on to meanwhile.
    """
    count = len(above)
    for vertex in range(count):
        above[vertex] = vertex
    for vertex in range(count):
        root = find_root(above, vertex)
        first = np.uint64(graph.out.start[vertex])
        for at in range(first, first + np.uint64(graph.out.live[vertex])):
            other = np.uint32(graph.out.neighbour[at])
            if above[other] != root:
                found = find_root(above, other)
                if found != root:
                    root = join_components(above, root, found, sign)
    for step in range(count):
        place = np.uint32(step if sign > 0 else count - 1 - step)
        top = above[np.uint32(above[place])]
        above[place] = top
        label[place] = top


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
