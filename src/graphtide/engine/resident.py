"""A graph in memory: live-prefix adjacency and edge properties, growing as edges arrive.

All edges known keep their number; a version is which of them are live. Edges given at the start
are numbered by source inside, so that a scan of out-edges reads their properties in sequence;
`numbers` leads from the caller's edge numbers to these. Edges appended later have the same number
inside and outside. What was appended last can be forgotten again.

The arrays that it hands out are those of this moment: growing replaces them, and `adjacency` by
another object. Arrays by edge are longer than there are edges.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphtide.engine.graph_data import EdgeData, NoData, NoEdgeData, VertexData
from graphtide.engine.growing import (
    GrowingArray,
    GrowingPairs,
    GrowingSlabs,
    check_entries,
    with_spare,
)
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Adjacency, live_edges, revive_all
from graphtide.kernels.graph.batches import (
    APPENDED,
    DONE,
    FIRST,
    LACKING,
    LOOKED,
    ROW,
    Batch,
    bring_in,
    find_parallel,
)
from graphtide.kernels.graph.flips import (
    ALWAYS_NEW,
    INTO,
    OUT,
    REAL,
    TRUTH,
    WHOLE,
    Delta,
    KnownGraph,
    flip_arrays,
    forget_edges,
)
from graphtide.model.errors import InputError, SetupError
from graphtide.plan.expressions import ValueType

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

_TYPES = {"i": WHOLE, "f": REAL, "b": TRUTH}


class ResidentGraph:
    """Vertices 0 to `vertices` - 1 and edges by number, with both directions at hand."""

    def __init__(
        self,
        vertices: int,
        src: Int32,
        dst: Int32,
        properties: Mapping[str, NDArray[Any]] | None = None,
        *,
        live: bool = True,
        grows: bool = False,
        directed: bool = True,
    ) -> None:
        check_entries(len(src))
        self.directed = directed
        """Whether edges lead from src to dst; else they join the two, and a loop is met once."""
        order = _by_source(src, vertices)
        self.vertices = vertices
        self.numbers = _inverse(order)
        self.edges = len(src)
        """How many edges are known, live or not."""
        self._columns = {
            name: GrowingArray.of(values[order], with_spare(len(src)))
            for name, values in (properties or {}).items()
        }
        self._converted: dict[tuple[str, np.dtype[Any]], GrowingArray] = {}
        self._coded: dict[tuple[str, ValueType], GrowingArray] = {}
        sorted_src, sorted_dst = src[order], dst[order]
        self._out = GrowingSlabs(vertices, sorted_src, sorted_dst, spare=grows)
        self._into = GrowingSlabs(vertices, sorted_dst, sorted_src, spare=grows, loops=directed)
        self._tops = np.array([self._out.top, self._into.top, directed, False], np.int64)
        self._taken = np.zeros(0, np.uint8)
        self._pairs = GrowingPairs()
        self._block: Block | None = None
        self._progress = np.zeros(FIRST + 1, np.int64)
        self._room = with_spare(len(src))
        self.adjacency = Adjacency(self._out.view, self._into.view)
        self.vertex_data: VertexData = NoData()
        """What programs read of vertices; whoever appends and forgets vertices keeps it current."""
        self.edge_data: EdgeData = NoEdgeData()
        """What programs read of edges besides numbers; current before edges are appended."""
        self.generation = 0
        """Another number whenever vertices or edges were appended or forgotten."""
        self.live = 0
        """How many edges the current version has."""
        if live:
            revive_all(self.adjacency.out)
            revive_all(self.adjacency.into)
            self.live = len(src)

    @property
    def rows_are_new(self) -> bool:
        """Whether inserted rows are always new edges; else they may be ones that have left."""
        return bool(self._tops[ALWAYS_NEW])

    @rows_are_new.setter
    def rows_are_new(self, always: bool) -> None:
        self._tops[ALWAYS_NEW] = always

    @cached_property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        return {name: column.dtype for name, column in self._columns.items()}

    @cached_property
    def _types(self) -> Int64:
        """The types of the edge properties as kernels call them; rows are only ever matched with
        edges whose properties have one of these.
        """
        return np.array([_TYPES.get(item.kind, WHOLE) for item in self.dtypes.values()], np.int64)

    @property
    def properties(self) -> dict[str, NDArray[Any]]:
        """The edge properties by inside number, as they were given."""
        return {name: column.view for name, column in self._columns.items()}

    def column(self, name: str, dtype: DTypeLike) -> NDArray[Any]:
        """An edge property as one type; converted once, and from then on kept beside the original.

        With all its room, behind that of the last edge too. KeyError if there is no such property.
        """
        column, wanted = self._columns[name], np.dtype(dtype)
        if column.dtype == wanted:
            return column.room
        if (name, wanted) not in self._converted:
            converted = GrowingArray.of(column.view.astype(wanted), len(column.room))
            self._converted[name, wanted] = converted
        return self._converted[name, wanted].room

    def coded(self, name: str, type_: ValueType) -> NDArray[np.int64]:
        """A text or a moment of each edge as its number, made once and kept from then on.

        By inside number, and with all its room.
        """
        if (name, type_) not in self._coded:
            values = self.by_inside(self.edge_data.values(name, type_, 0, self.edges))
            self._coded[name, type_] = GrowingArray.of(values, self._room)
        return self._coded[name, type_].room

    def outside(self, inside: Int32) -> Int32:
        """The numbers by which the caller knows edges. O(edges given)."""
        numbers, given = inside.copy(), inside < len(self.numbers)
        numbers[given] = self._given_order[inside[given]]
        return numbers

    def inside(self, numbers: NDArray[Any]) -> Int32:
        """The inside numbers of edges by the caller's numbers."""
        inside = numbers.astype(np.int32)
        given = inside < len(self.numbers)
        inside[given] = self.numbers[inside[given]]
        return inside

    @cached_property
    def _given_order(self) -> Int32:
        return _inverse(self.numbers)

    def by_inside(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all edges by the numbers that users know, by inside numbers; a copy."""
        moved = values.copy()
        moved[self.numbers] = values[: len(self.numbers)]
        return moved

    def flip(self, inserted: Int32, deleted: Int32) -> Delta:
        """Bring edges (inside numbers) in and out, and say between which vertices they are.

        O(1) an edge; refuses what is already so.
        """
        ends = np.empty((2, len(inserted) + len(deleted)), np.int32)
        delta = Delta(
            np.ascontiguousarray(inserted, np.int32),
            np.ascontiguousarray(deleted, np.int32),
            ends[0],
            ends[1],
        )
        misfit = flip_arrays(self.words, *delta)
        if misfit >= 0:
            raise misplaced(delta, misfit)
        self.live += len(inserted) - len(deleted)
        return delta

    def replace(self, inserted: Int32, deleted: Int32) -> Delta:
        """Go to a version that shares no edge with the current one; `deleted` is all of that."""
        sources, targets = self.ends(deleted)
        self.clear()
        come = self.flip(inserted, deleted[:0])
        ends = (
            np.concatenate(parts) for parts in ((come.sources, sources), (come.targets, targets))
        )
        return Delta(come.inserted, np.ascontiguousarray(deleted, np.int32), *ends)

    def clear(self) -> None:
        """Make no edge live, whatever was. O(vertices)."""
        for slabs in self.adjacency:
            slabs.live.fill(0)
        self.live = 0

    def twin(self) -> ResidentGraph:
        """The same vertices and edges with a version of its own, to be changed by another thread.

        Properties are shared, so that neither may grow from now on. 24 bytes an edge.
        """
        made = copy.copy(self)
        made._out, made._into = self._out.twin(), self._into.twin()
        made._taken = np.zeros(0, np.uint8)
        made._progress = self._progress.copy()
        made._renew()
        return made

    @property
    def words(self) -> Int64:
        """The block that kernels read the graph from: a `KnownGraph` and its property columns."""
        if self._block is None:
            if len(self._taken) * 8 < len(self.adjacency.out.slot):
                self._taken = np.zeros(len(self.adjacency.out.slot) // 8 + 1, np.uint8)
            pairs = self._pairs.table
            known = KnownGraph(self.adjacency, self._taken, self._tops, pairs, self._types)
            self._block = Block(known, *(column.room for column in self._columns.values()))
        return self._block.words

    def append_vertices(self, count: int) -> None:
        """More vertices, without edges. O(count) on average."""
        self.generation += 1
        self._resize(self.vertices + count)

    def forget(self, vertices: int, edges: int) -> None:
        """Drop vertices and edges behind these counts, none of them live. O(what is dropped)."""
        if (vertices, edges) == (self.vertices, self.edges):
            return
        self.generation += 1
        forget_edges(self.words, edges, self.edges)
        for column in self._by_edge():
            column.resize(edges)
        self.edges = edges
        self._pairs.forget(edges)
        if vertices != self.vertices:
            self._resize(vertices)

    def bring_in(self, table: Int64, batch: Batch, delta: Delta) -> int:
        """Bring rows in and out; how that ended (`kernels.batches`), and the delta filled in.

        `table` leads from ids to vertex numbers. What cannot be done as a whole is not done.
        """
        first, progress = self.edges, self._progress
        self._make_ready(len(delta.inserted), len(delta.deleted))
        progress[LOOKED], progress[ROW], progress[APPENDED], progress[FIRST] = 0, -1, 0, first
        while (ended := bring_in(self.words, table, *batch, *delta, progress)) == LACKING:
            row = int(progress[ROW])
            try:
                with self._growing():
                    self._out.reserve_entries(int(self._tops[OUT]), int(delta.sources[row]))
                    self._into.reserve_entries(int(self._tops[INTO]), int(delta.targets[row]))
            except BaseException:
                forget_edges(self.words, first, first + int(progress[APPENDED]))
                raise
        looked, _, appended, _ = progress.tolist()
        self._pairs.looked += looked
        if ended == DONE:
            self._take_up(appended, len(delta.inserted) - len(delta.deleted))
        return ended

    def _make_ready(self, inserted: int, deleted: int) -> None:
        """Make room for more edges, and begin a table of pairs where it pays."""
        if self.edges + inserted > self._room:
            self._reserve(self.edges + inserted)
        if self._pairs.make_ready(self.words, self.edges, inserted, deleted):
            self._block = None

    def _take_up(self, appended: int, more: int) -> None:
        """Count the edges that a batch brought, and extend what was made of their properties."""
        self.live += more
        if appended:
            before = self.edges
            self.edges += appended
            self.generation += 1
            for column in self._columns.values():
                column.length = self.edges
            for (name, _), column in self._converted.items():
                column.room[before : self.edges] = self._columns[name].room[before : self.edges]
                column.length = self.edges
            for (name, type_), column in self._coded.items():
                values = self.edge_data.values(name, type_, before, self.edges)
                column.room[before : self.edges] = values
                column.length = self.edges

    def parallel(self, delta: Delta) -> NDArray[np.bool_]:
        """Which inserted edges have another live edge beside them, between the same ends."""
        parallel = np.zeros(len(delta.inserted), np.bool_)
        find_parallel(self.words, delta, parallel)
        return parallel

    def live_edges(self) -> Int32:
        edges = np.empty(self.edges, np.int32)
        return edges[: live_edges(self.adjacency, edges)]

    def ends(self, edges: Int32) -> tuple[Int32, Int32]:
        out, into = self.adjacency
        return into.neighbour.take(into.slot.take(edges)), out.neighbour.take(out.slot.take(edges))

    def are_live(self, edges: Int32) -> NDArray[np.bool_]:
        out, (sources, _) = self.adjacency.out, self.ends(edges)
        behind = out.start.take(sources) + out.live.take(sources)
        live: NDArray[np.bool_] = out.slot.take(edges) < behind
        return live

    def _reserve(self, edges: int) -> None:
        """Make room for `edges` in all arrays by edge, which have the same length."""
        if edges <= self._room:
            return
        with self._growing():
            for slabs in (self._out, self._into):
                slabs.reserve_edges(edges)
            slots = min(len(slabs.view.slot) for slabs in (self._out, self._into))
            for column in self._by_edge():
                column.reserve(slots)
            self._room = slots

    def _by_edge(self) -> tuple[GrowingArray, ...]:
        return (*self._columns.values(), *self._converted.values(), *self._coded.values())

    def _resize(self, vertices: int) -> None:
        with self._growing():
            self.vertices = vertices
            for slabs in (self._out, self._into):
                slabs.resize(vertices)

    @contextmanager
    def _growing(self) -> Iterator[None]:
        """Replace arrays by larger ones that hold the same. Where memory ends on the way, some are
        larger, kernels are handed those, and SetupError says that nothing else has happened.
        """
        try:
            yield
        except MemoryError as error:
            raise SetupError(
                "there is no memory for so many vertices and edges",
                where=f"a graph of {self.vertices:,} vertices and {self.edges:,} edges",
                hint="the graph is as it was: free memory, or advance by fewer rows",
            ) from error
        finally:
            self._renew()

    def _renew(self) -> None:
        """Hand out the arrays that have replaced others."""
        self.adjacency = Adjacency(self._out.view, self._into.view)
        self._block = None


def _by_source(src: Int32, vertices: int) -> NDArray[np.int64]:
    """The order of edges by source, stable; NumPy sorts by radix 16 bits at a time only."""
    order = np.argsort(src.astype(np.uint16), kind="stable")
    if vertices <= 1 << 16:
        return order
    return order[np.argsort((src[order] >> 16).astype(np.uint16), kind="stable")]


def _inverse(order: NDArray[Any]) -> Int32:
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers


def misplaced(delta: Delta, place: int) -> InputError:
    """The error for an edge of a delta that is already so; places count deleted edges first."""
    alive = place >= len(delta.deleted)
    edge = delta.inserted[place - len(delta.deleted)] if alive else delta.deleted[place]
    verb, state = ("inserted", "already there") if alive else ("deleted", "not there")
    return InputError(
        f"edge {int(edge)} cannot be {verb}: it is {state}",
        hint="an edge may stand once in a delta, among the insertions or among the deletions",
    )
