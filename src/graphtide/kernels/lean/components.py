"""Connected components by union-find, by several threads at once.

`above[v]` is another vertex of v's component, never a worse one than v, or v itself. Whoever finds
an edge between two trees hangs the worse root below the better vertex, if it is still a root then;
else he looks again. So chains only ever lead to better vertices, nobody needs a lock, and the best
vertex of a component ends as its root, whoever came first: that is the label that label-spreading
programs define.

Most graphs have one component that holds nearly all. Once the first two edges of every vertex are
joined, it is there already, and its vertices need not look at their other edges: an edge that leads
out of it is seen from its other end (Sutton, Ben-Nun and Barak, Afforest, 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.compressed import CompressedRows
from graphtide.kernels.jit import joined_kernel, kernel
from graphtide.kernels.lean.atomics import swap_if
from graphtide.kernels.lean.records import Span

Int32 = NDArray[np.int32]

FIRST_EDGES = 2
"""This many edges of every vertex are joined before the largest component is looked for."""


@joined_kernel
def join_ends(above: Int32, one: Any, other: Any, sign: int) -> None:
    """Put the components of two vertices together; `sign` is 1 for least, -1 for greatest."""
    left, right = np.int64(above[one]), np.int64(above[other])
    while left != right:
        worse, better = (left, right) if sign * left > sign * right else (right, left)
        up = np.int64(above[worse])
        if up == better:
            return
        if up == worse and swap_if(above, worse, np.int32(worse), np.int32(better)):
            return
        left, right = np.int64(above[np.int64(above[worse])]), np.int64(above[better])


@kernel
def begin_alone(above: Int32, span: Span) -> None:
    """Every vertex is a component of its own."""
    for vertex in range(span.first, span.stop):
        above[vertex] = vertex


@kernel
def join_first(rows: CompressedRows, above: Int32, span: Span, sign: int) -> None:
    """Join the first few edges of each vertex of a part."""
    for vertex in range(span.first, span.stop):
        begin, end = np.int64(rows.offsets[vertex]), np.int64(rows.offsets[vertex + 1])
        for position in range(begin, min(end, begin + FIRST_EDGES)):
            join_ends(above, vertex, rows.neighbour[position], sign)


@kernel
def join_rest(
    out: CompressedRows, into: CompressedRows, above: Int32, span: Span, told: tuple[int, int]
) -> None:
    """Join all other edges of those vertices of a part that are not in the largest component.

    `told` is the sign, and the root of the largest component, or -1 to pass over nobody.
    """
    sign, largest = told
    for vertex in range(span.first, span.stop):
        if above[vertex] == largest:
            continue
        begin, end = np.int64(out.offsets[vertex]), np.int64(out.offsets[vertex + 1])
        for position in range(min(end, begin + FIRST_EDGES), end):
            join_ends(above, vertex, out.neighbour[position], sign)
        if largest >= 0:
            for position in range(
                np.int64(into.offsets[vertex]), np.int64(into.offsets[vertex + 1])
            ):
                join_ends(above, vertex, into.neighbour[position], sign)


@kernel
def shorten_chains(above: Int32, span: Span) -> None:
    """Let every vertex of a part lead to its root directly; nobody joins meanwhile."""
    for vertex in range(span.first, span.stop):
        while above[vertex] != above[np.int64(above[vertex])]:
            above[vertex] = above[np.int64(above[vertex])]
