"""The shapes of an adjacency: slabs that change, compressed rows that do not, slabs of shards.

For each direction a vertex has a slab, a run of entries (neighbour, edge). The first `live` of
them are the edges of the current version; the rest are known but not there now. `slot[edge]` is
where an edge stands, so that taking it out or in (`flips`) is one swap across the border of the
prefix. A scan touches live edges only. The source of an edge is the neighbour that its entry in
`into` names, its destination the one in `out`: no other endpoint arrays are kept. Slabs lie in a
pool with room at its end, where one that is full moves to: the arrays of entries, and those by
edge, are longer than what is in use.

In an undirected graph a loop is in no slab of `into`: its vertex meets it once, in `out`, and
counts it once. Its entry there stands outside of all slabs, so that it has a source as every edge
has. Nothing else tells such a graph from a directed one, where a loop is in both.

A lean graph has both directions as compressed rows. Edges are numbered by source, then by the order
in which they were given: the number of an edge is its place in the rows by source. Rows by
destination name the source and the number of each edge, in the order of numbers, but for loops of
an undirected graph, which are met once. That is 12 bytes an edge and an offset a vertex and
direction, and all that a run from scratch needs; the arrays may be files that are mapped into
memory (`store.lean`). Offsets, and the signed numbers of edges, have 32 bits where all edges can be
counted in them, and 64 beyond. Neighbours always have 32.

A shard names the other ends of its edges by their places in a table of its own, so that bringing
them into the numbers of a task is one look-up an edge. Edges that are not in a view are left out of
the slabs, and no superstep asks for them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import joined_kernel, kernel
from graphtide.model.delta import is_wide, number_type

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Slabs(NamedTuple):
    """One direction: vertex v's slab is entries start[v] to start[v] + room[v]."""

    start: Int64
    live: Int32
    used: Int32
    room: Int32
    neighbour: Int32
    edge: Int32
    slot: Int32


class Adjacency(NamedTuple):
    """Both directions of one graph."""

    out: Slabs
    into: Slabs


class Rows(NamedTuple):
    """The edges of each vertex in one direction, as a round reads them: places start[v] to stop[v].

    `edge` leads to properties, which are a block; it is empty where a place is the number of its
    edge. `lanes` is the set of versions that have each edge, empty where there is one version.
    Places are unsigned: Numba looks out for negative ones otherwise, in every step of a loop.
    """

    start: NDArray[Any]
    stop: NDArray[Any]
    neighbour: Int32
    edge: NDArray[Any]
    lanes: NDArray[np.uint8]
    properties: Int64


class Partition(NamedTuple):
    """The vertices that one worker updates, the first `own`, and whom each that it knows tells."""

    own: int
    out: Rows
    into: Rows


def rows_between(
    start: NDArray[Any],
    stop: NDArray[Any],
    neighbour: Int32,
    edge: NDArray[Any] | None = None,
    properties: Int64 | None = None,
) -> Rows:
    """Rows of one version; without edges and properties unless they are given."""
    none = np.empty(0, np.int64)
    return Rows(
        start,
        stop,
        neighbour,
        np.empty(0, np.int32) if edge is None else edge,
        np.empty(0, np.uint8),
        none if properties is None else properties,
    )


def slab_rows(slabs: Slabs, properties: Int64 | None = None, *, known: bool = False) -> Rows:
    """The live edges of slabs as rows, or all that are known. O(vertices)."""
    stop = slabs.start + (slabs.used if known else slabs.live)
    start = slabs.start.view(np.uint64)
    return rows_between(start, stop.view(np.uint64), slabs.neighbour, slabs.edge, properties)


def no_rows(vertices: int = 0) -> Rows:
    places = np.zeros(vertices, np.uint64)
    return rows_between(places, places, np.empty(0, np.int32))


def told_by_slabs(graph: Adjacency, *, known: bool = False) -> Partition:
    """A graph that one worker has alone: its live edges lead to those who are told."""
    out, into = (slab_rows(slabs, known=known) for slabs in graph)
    return Partition(len(graph.out.live), out, into)


@joined_kernel
def is_apart(into: Slabs, edge: int, end: int) -> bool:
    """Whether the entry of an edge stands outside of the slab of its destination: a loop that is
    met once. To be asked of loops alone.
    """
    place = into.slot[edge] - into.start[end]
    return bool(place < 0 or place >= into.used[end])


@joined_kernel
def goes_back(graph: Adjacency, edge: int, source: int, target: int) -> bool:
    """Whether an edge that is gone along both ways is met a second time, from its destination."""
    return source != target or not is_apart(graph.into, edge, target)


@kernel
def put_apart(into: Slabs, loops: Int32, ends: Int32, first: int) -> None:
    """Give loops entries outside of all slabs, from a place of the pool on."""
    for at in range(len(loops)):
        into.neighbour[first + at] = ends[at]
        into.edge[first + at] = loops[at]
        into.slot[loops[at]] = first + at


@kernel
def fill_slabs(slabs: Slabs, ends: Int32, others: Int32, first: int, loops: bool) -> None:
    """Append edges first, first + 1, ... to the slabs of `ends`, behind what they hold, not live.

    There must be room. Without `loops`, these are left out.
    """
    for at in range(len(ends)):
        end = ends[at]
        if not loops and end == others[at]:
            continue
        place = slabs.start[end] + slabs.used[end]
        slabs.neighbour[place] = others[at]
        slabs.edge[place] = first + at
        slabs.slot[first + at] = place
        slabs.used[end] += 1


@kernel
def revive_all(slabs: Slabs) -> None:
    """Make every edge that is known live. O(vertices)."""
    for vertex in range(len(slabs.live)):
        slabs.live[vertex] = slabs.used[vertex]


@joined_kernel
def swap_entries(slabs: Slabs, one: int, other: int) -> None:
    one_edge, other_edge = slabs.edge[one], slabs.edge[other]
    one_end, other_end = slabs.neighbour[one], slabs.neighbour[other]
    slabs.edge[one], slabs.edge[other] = other_edge, one_edge
    slabs.neighbour[one], slabs.neighbour[other] = other_end, one_end
    slabs.slot[one_edge] = other
    slabs.slot[other_edge] = one


@joined_kernel
def source_of(graph: Adjacency, edge: int) -> int:
    return int(graph.into.neighbour[graph.into.slot[edge]])


@joined_kernel
def destination_of(graph: Adjacency, edge: int) -> int:
    return int(graph.out.neighbour[graph.out.slot[edge]])


@joined_kernel
def other_end(graph: Adjacency, edge: int, vertex: int) -> int:
    """Where an edge leads from one of its ends."""
    source = source_of(graph, edge)
    return destination_of(graph, edge) if source == vertex else source


@kernel
def live_edges(graph: Adjacency, found: Int32) -> int:
    """List the live edges, by source; returns how many. `found` must have room for them."""
    count = 0
    for vertex in range(len(graph.out.live)):
        start = graph.out.start[vertex]
        for place in range(start, start + graph.out.live[vertex]):
            found[count] = graph.out.edge[place]
            count += 1
    return count


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
        return len(self.out.neighbour)

    @property
    def bytes(self) -> int:
        """What it takes without properties, in memory or on disk."""
        return sum(array.nbytes for rows in (self.out, self.into) for array in rows)


def offset_type(edges: int) -> Any:
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


@kernel
def mark_rows(
    start: Int64, classes: Int32, kinds: NDArray[np.uint8], marks: NDArray[np.uint8]
) -> None:
    """Let the mark of each vertex have the bits that the classes of its edges have in `kinds`.

    Vertices are looked for only where an edge has any, which takes a third of the time.
    """
    row = 0
    for place in range(len(classes)):
        kind = kinds[classes[place]]
        if kind != 0:
            while start[row + 1] <= place:
                row += 1
            marks[row] |= kind


@kernel
def take_rows(
    shard: tuple[Int64, Int32, Int32],
    numbers: Int32,
    live: NDArray[np.bool_],
    slabs: Slabs,
    places: tuple[int, int, int],
    rows: NDArray[np.int64],
) -> None:
    """Have the live edges of some vertices of a shard in front of their slabs, in their order.

    `shard` is where the edges of each vertex begin, the other ends, and the classes; `numbers` are
    those of the other ends in the task. `places` are the number of the shard's first vertex, where
    its slab begins, and the number of the first edge of all shards.
    """
    start, ends, classes = shard
    first, begin, first_edge = places
    for row in rows:
        at = begin + start[row]
        for place in range(start[row], start[row + 1]):
            if live[classes[place]]:
                slabs.neighbour[at] = numbers[ends[place]]
                slabs.edge[at] = first_edge + begin + place
                at += 1
        slabs.live[first + row] = at - begin - start[row]


@kernel
def turn_round(slabs: Slabs, turned: Slabs) -> None:
    """Fill `turned` with the vertices that have each vertex in their slab. Its `live` is all 0.

    A vertex stands there once for each edge, in the order of the slabs.
    """
    for vertex in range(len(slabs.start)):
        for place in range(slabs.start[vertex], slabs.start[vertex] + slabs.live[vertex]):
            turned.live[slabs.neighbour[place]] += 1
    at = 0
    for vertex in range(len(turned.start)):
        turned.start[vertex] = at
        at += turned.live[vertex]
        turned.live[vertex] = 0
    for vertex in range(len(slabs.start)):
        for place in range(slabs.start[vertex], slabs.start[vertex] + slabs.live[vertex]):
            end = slabs.neighbour[place]
            turned.neighbour[turned.start[end] + turned.live[end]] = vertex
            turned.live[end] += 1
