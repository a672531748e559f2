"""What several threads share in a run over a lean graph: parts of the vertices, words, components.

`swap_if(array, place, seen, new)` writes `new` if `array[place]` is still `seen`, in one step that
no other thread can come between, and says whether it did. Values of any type of four or eight bytes
are compared by their bits. Where kernels are interpreted, parts are run one after the other
(`engine.lean.workers`), and nobody comes between anyway.

Components come from union-find by all threads at once. `above[v]` is another vertex of v's
component, never a worse one than v, or v itself. Whoever finds an edge between two trees hangs the
worse root below the better vertex, if it is still a root then; else he looks again. So chains only
ever lead to better vertices, nobody needs a lock, and the best vertex of a component ends as its
root, whoever came first. Most graphs have one component that holds nearly all. Once the first two
edges of every vertex are joined, it is there already, and its vertices need not look at their other
edges: an edge that leads out of it is seen from its other end (Sutton, Ben-Nun and Barak, Afforest,
2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import llvmlite.ir as ir  # type: ignore[import-untyped]
import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import CompressedRows
from graphtide.kernels.jit import INTERPRETED, joined_kernel, kernel
from graphtide.kernels.synchronous.rounds import VertexRange


class OffersContext(NamedTuple):
    """What selecting programs read: both directions, and a block of properties and parameters."""

    out: CompressedRows
    into: CompressedRows
    read: NDArray[np.int64]


class Offers(NamedTuple):
    """The value of every vertex, a list of vertices, and a mark for each.

    `words` are the marks, eight at a time, and behind those of the last vertex are some of nobody.
    """

    value: Any
    listed: NDArray[np.int32]
    marked: NDArray[np.uint8]
    words: NDArray[np.uint64]


def _twin(array: Any, place: Any, seen: Any, new: Any) -> bool:
    if array[place] != seen:
        return False
    array[place] = new
    return True


def _swap(typing_context: Any, array: Any, place: Any, seen: Any, new: Any) -> Any:
    """swap_if(array, place, seen, new); `array` has one dimension."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        word = ir.IntType(array.dtype.bitwidth)
        address = builder.bitcast(builder.gep(made.data, [arguments[1]]), word.as_pointer())
        before, after = (builder.bitcast(item, word) for item in arguments[2:])
        pair = builder.cmpxchg(address, before, after, "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(array, types.uintp, array.dtype, array.dtype), emit


swap_if = cast(Callable[[Any, Any, Any, Any], bool], _twin if INTERPRETED else intrinsic(_swap))


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
def begin_alone(above: Int32, span: VertexRange) -> None:
    for vertex in range(span.first, span.stop):
        above[vertex] = vertex


@kernel
def join_first(rows: CompressedRows, above: Int32, span: VertexRange, sign: int) -> None:
    for vertex in range(span.first, span.stop):
        begin, end = np.int64(rows.offsets[vertex]), np.int64(rows.offsets[vertex + 1])
        for position in range(begin, min(end, begin + FIRST_EDGES)):
            join_ends(above, vertex, rows.neighbour[position], sign)


@kernel
def join_rest(
    out: CompressedRows,
    into: CompressedRows,
    above: Int32,
    span: VertexRange,
    told: tuple[int, int],
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
def shorten_chains(above: Int32, span: VertexRange) -> None:
    """Let every vertex of a part lead to its root directly; nobody joins meanwhile."""
    for vertex in range(span.first, span.stop):
        while above[vertex] != above[np.int64(above[vertex])]:
            above[vertex] = above[np.int64(above[vertex])]
