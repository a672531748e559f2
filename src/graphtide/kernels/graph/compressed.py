"""The lean graph: both directions as compressed rows, which nobody changes.

Edges are numbered by source, then by the order in which they were given: the number of an edge is
its place in the rows by source. Rows by destination name the source and the number of each edge, in
the order of numbers, but for loops of an undirected graph, which are met once. That is 12 bytes an
edge and an offset a vertex and direction, and all that a run from scratch needs; the arrays may be
files that are mapped into memory (`store.lean`).

Offsets have 32 bits where all edges can be counted in them, and 64 beyond; so have the numbers of
edges, which are signed. Neighbours always have 32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel
from graphtide.model.edge_numbers import is_wide, number_type

Int32 = NDArray[np.int32]


class CompressedRows(NamedTuple):
    """The edges by one of their ends: those of vertex v are at places offsets[v] to offsets[v + 1].

    `edge` is the number of each; it is empty by source, where a place is the number.
    """

    offsets: NDArray[Any]
    neighbour: Int32
    edge: NDArray[Any]


class LeanGraph(NamedTuple):
    """A graph that nobody changes. `columns` are edge properties by the number of the edge."""

    vertices: int
    out: CompressedRows
    into: CompressedRows
    columns: Mapping[str, NDArray[Any]]

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.out.neighbour)

    @property
    def bytes(self) -> int:
        """What it takes without properties, in memory or on disk."""
        return sum(array.nbytes for rows in (self.out, self.into) for array in rows)


def offset_type(edges: int) -> Any:
    """The type of offsets of a graph of so many edges."""
    return np.uint64 if is_wide(edges) else np.uint32


@kernel
def count_keys(keys: Int32, first: int, shift: int, counts: NDArray[np.int64]) -> None:
    """Add to `counts` how many keys each bucket has; that of a key is (key - first) >> shift."""
    for at in range(len(keys)):
        counts[(keys[at] - first) >> shift] += 1


@kernel
def order_by_key(
    keys: Int32, first: int, shift: int, places: NDArray[np.int64], order: Int32
) -> None:
    """List the places of keys bucket by bucket, those of one in their order.

    `places` is where each bucket begins, and where it ends afterwards. O(keys); quick while the
    ends of all buckets, and `order`, fit the cache or nearly so.
    """
    for at in range(len(keys)):
        bucket = (keys[at] - first) >> shift
        order[places[bucket]] = at
        places[bucket] += 1


def sorted_by_key(
    keys: Int32, first: int, count: int, shift: int = 0
) -> tuple[Int32, NDArray[np.int64]]:
    """The stable order of keys by bucket, and where the buckets begin, with the end behind them."""
    starts = np.zeros(count + 1, np.int64)
    count_keys(keys, first, shift, starts[1:])
    np.cumsum(starts, out=starts)
    order = np.empty(len(keys), np.int32)
    order_by_key(keys, first, shift, starts[:-1].copy(), order)
    return order, starts


def compress(
    vertices: int,
    src: Int32,
    dst: Int32,
    columns: Mapping[str, NDArray[Any]] | None = None,
    *,
    directed: bool = True,
) -> LeanGraph:
    """The lean graph of edges that are in memory. Takes four bytes an edge beside its result."""
    edges = len(src)
    by_source, out_starts = sorted_by_key(src, 0, vertices)
    out_neighbour = dst[by_source]
    back = np.arange(edges, dtype=np.int32)
    if not directed:
        back = np.flatnonzero(src[by_source] != out_neighbour).astype(np.int32)
    order, in_starts = sorted_by_key(out_neighbour[back], 0, vertices)
    by_destination = back[order]
    none = np.empty(0, number_type(edges))
    out = CompressedRows(out_starts.astype(offset_type(edges)), out_neighbour, none)
    sources = src[by_source][by_destination]
    numbers = by_destination.astype(number_type(edges), copy=False)
    into = CompressedRows(in_starts.astype(offset_type(edges)), sources, numbers)
    given = {name: column[by_source] for name, column in (columns or {}).items()}
    return LeanGraph(vertices, out, into, given)
