"""Rings of four with increasing time, as a careful engineer would enumerate the new ones by hand.

A ring is a -> b -> c -> d -> a over four different vertices, each edge later than the one before;
parallel edges make rings of their own. Edges arrive in the order of their times, so that a ring is
new with its last edge, d -> a: from there the walk goes two edges back in time, and looks for edges
a -> b that are earlier still. Of each vertex the latest edge is looked at first, and the walk ends
where edges are too old for a ring.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Edges(NamedTuple):
    """All edges that will arrive, in the order of their times."""

    src: Int32
    dst: Int32
    time: Int64


class Arrived(NamedTuple):
    """Edges that have arrived: of each vertex its last in-edge and out-edge, and so on back.

    `before_in[e]` and `before_out[e]` are the edges before e at the same vertex, or -1. `marked[b]`
    is the last edge of which a ring through b was looked for. `found` counts each vertex's rings.
    """

    last_in: Int64
    last_out: Int64
    before_in: Int64
    before_out: Int64
    marked: Int64
    found: Int64


def begin(vertices: int, edges: int) -> Arrived:
    """Nothing has arrived, of so many edges."""
    at_in, at_out, marked = (np.full(vertices, -1, np.int64) for _ in range(3))
    in_edges, out_edges = (np.full(edges, -1, np.int64) for _ in range(2))
    return Arrived(at_in, at_out, in_edges, out_edges, marked, np.zeros(vertices, np.int64))


@kernel
def arrive(kept: Arrived, edges: Edges, first: int, stop: int, within: int) -> int:
    """The edges from `first` until `stop` arrive; returns how many rings they close.

    No two edges of a ring lie further apart than `within`.
    """
    total = 0
    for last in range(first, stop):
        d, a = edges.src[last], edges.dst[last]
        if d != a:
            total += close_rings(kept, edges, last, edges.time[last] - within)
        kept.before_in[last], kept.last_in[a] = kept.last_in[a], last
        kept.before_out[last], kept.last_out[d] = kept.last_out[d], last
    return total


@kernel
def close_rings(kept: Arrived, edges: Edges, last: int, since: int) -> int:
    """Rings whose last edge this is, all of whose edges are no older than `since`."""
    d, a = edges.src[last], edges.dst[last]
    total = 0
    if not mark_seconds(kept, edges, last, since):
        return total
    third = kept.last_in[d]
    while third >= 0 and edges.time[third] >= since:
        c = edges.src[third]
        if c != a and c != d and edges.time[third] < edges.time[last]:
            second = kept.last_in[c]
            while second >= 0 and edges.time[second] >= since:
                b = edges.src[second]
                if kept.marked[b] == last and b != c and edges.time[second] < edges.time[third]:
                    rings = count_earlier(kept, edges, a, b, since, edges.time[second])
                    total += rings
                    for vertex in (a, b, c, d):
                        kept.found[vertex] += rings
                second = kept.before_in[second]
        third = kept.before_in[third]
    return total


@kernel
def mark_seconds(kept: Arrived, edges: Edges, last: int, since: int) -> bool:
    """Mark all that may be second in a ring with this last edge; whether there are any."""
    d, a = edges.src[last], edges.dst[last]
    some = False
    edge = kept.last_out[a]
    while edge >= 0 and edges.time[edge] >= since:
        b = edges.dst[edge]
        if b != a and b != d:
            kept.marked[b] = last
            some = True
        edge = kept.before_out[edge]
    return some


@kernel
def count_earlier(kept: Arrived, edges: Edges, a: int, b: int, since: int, until: int) -> int:
    """How many edges lead from a to b, not before `since` and before `until`."""
    count = 0
    edge = kept.last_out[a]
    while edge >= 0 and edges.time[edge] >= since:
        if edges.dst[edge] == b and edges.time[edge] < until:
            count += 1
        edge = kept.before_out[edge]
    return count
