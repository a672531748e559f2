"""Connected components by union-find over live edges.

A vertex points to another of its component, or to itself if it is the root. Roots are linked so
that the least vertex (or the greatest) of a component ends as its root: that is the label that
label-spreading programs define. Chains are halved whenever they are walked.
"""

from __future__ import annotations

from typing import Any

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
