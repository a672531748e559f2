"""A graph in memory: live-prefix adjacency and edge properties, growing as edges arrive.

All edges known keep their number; a version is which of them are live. Edges given at the start
are numbered by source inside, so that a scan of out-edges reads their properties in sequence;
`numbers` leads from the caller's edge numbers to these. Edges appended later have the same number
inside and outside. What was appended last can be forgotten again.

The arrays that it hands out are those of this moment: growing replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphtide.engine.growing import GrowingArray, GrowingSlabs
from graphtide.kernels.adjacency import (
    Adjacency,
    edges_between,
    forget_edges,
    live_edges,
    revive_all,
)
from graphtide.kernels.flips import Delta, find_ends, flip_delta
from graphtide.model.errors import InputError

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

_NOTHING = Delta(*(np.empty(0, np.int32) for _ in range(4)))


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
    ) -> None:
        order = _by_source(src, vertices)
        self.vertices = vertices
        self.numbers = _inverse(order)
        self._columns = {
            name: GrowingArray(np.ascontiguousarray(values[order]))
            for name, values in (properties or {}).items()
        }
        self._converted: dict[tuple[str, np.dtype[Any]], GrowingArray] = {}
        sorted_src, sorted_dst = src[order], dst[order]
        self._out = GrowingSlabs(vertices, sorted_src, sorted_dst)
        self._into = GrowingSlabs(vertices, sorted_dst, sorted_src)
        self.adjacency = Adjacency(self._out.view, self._into.view)
        self._flipped: tuple[Int32 | None, Int32 | None, Delta] = None, None, _NOTHING
        self.generation = 0
        """Another number whenever vertices or edges were appended or forgotten."""
        self.live = 0
        """How many edges the current version has."""
        if live:
            revive_all(self.adjacency.out)
            revive_all(self.adjacency.into)
            self.live = len(src)

    @property
    def edges(self) -> int:
        """How many edges are known, live or not."""
        return len(self.adjacency.out.slot)

    @property
    def properties(self) -> dict[str, NDArray[Any]]:
        """The edge properties by inside number, as they were given."""
        return {name: column.view for name, column in self._columns.items()}

    def column(self, name: str, dtype: DTypeLike) -> NDArray[Any]:
        """An edge property as one type; converted once, and from then on kept beside the original.

        KeyError if there is no such property.
        """
        column, wanted = self._columns[name], np.dtype(dtype)
        if column.dtype == wanted:
            return column.view
        if (name, wanted) not in self._converted:
            self._converted[name, wanted] = GrowingArray(column.view.astype(wanted))
        return self._converted[name, wanted].view

    def flip(self, inserted: Int32, deleted: Int32) -> None:
        """Bring edges (inside numbers) in and out. O(1) an edge; refuses what is already so."""
        delta = self.new_delta(inserted, deleted)
        misfit = flip_delta(self.adjacency, delta)
        if misfit >= 0:
            raise misplaced(delta, misfit)
        self.live += len(inserted) - len(deleted)
        self._flipped = inserted, deleted, delta

    def clear(self) -> None:
        """Make no edge live, whatever was. O(vertices)."""
        for slabs in self.adjacency:
            slabs.live.fill(0)
        self.live = 0

    def new_delta(self, inserted: Int32, deleted: Int32) -> Delta:
        """A delta whose ends are yet to be found."""
        count = len(inserted) + len(deleted)
        return Delta(
            np.ascontiguousarray(inserted, np.int32),
            np.ascontiguousarray(deleted, np.int32),
            np.empty(count, np.int32),
            np.empty(count, np.int32),
        )

    def delta(self, inserted: Int32, deleted: Int32) -> Delta:
        """A delta with the ends of its edges; free for the very arrays that were flipped last."""
        was_inserted, was_deleted, delta = self._flipped
        if was_inserted is not inserted or was_deleted is not deleted:
            delta = self.new_delta(inserted, deleted)
            find_ends(self.adjacency, delta)
        return delta

    def append_vertices(self, count: int) -> None:
        """More vertices, without edges. O(count) on average."""
        self.generation += 1
        self.vertices += count
        self._resize(self.edges)

    def append_edges(self, src: Int32, dst: Int32, properties: Mapping[str, NDArray[Any]]) -> Int32:
        """More edges between vertices that are there, not live yet; returns their numbers.

        `properties` has a column for each property. O(edges, and the slabs that had to move).
        """
        self.generation += 1
        first = self.edges
        self._out.append(src, dst)
        self._into.append(dst, src)
        for name, column in self._columns.items():
            column.extend(properties[name])
        for (name, _), column in self._converted.items():
            column.extend(properties[name])
        self.adjacency = Adjacency(self._out.view, self._into.view)
        return np.arange(first, self.edges, dtype=np.int32)

    def forget(self, vertices: int, edges: int) -> None:
        """Have only so many vertices and edges again; what goes is not live. O(what goes)."""
        self.generation += 1
        forget_edges(self.adjacency, edges)
        self.vertices = vertices
        for column in (*self._columns.values(), *self._converted.values()):
            column.resize(edges)
        self._resize(edges)

    def between(self, src: Int32, dst: Int32, alive: bool) -> tuple[Int64, Int32]:
        """The live edges (or the known others) of each pair, as bounds and a list of edges.

        A pair costs the shorter of the two slabs that could hold its edges.
        """
        bounds, found = np.empty(len(src) + 1, np.int64), np.empty(len(src), np.int32)
        count = edges_between(self.adjacency, src, dst, alive, bounds, found)
        if count > len(found):
            found = np.empty(count, np.int32)
            edges_between(self.adjacency, src, dst, alive, bounds, found)
        return bounds, found[:count]

    def live_edges(self) -> Int32:
        """The edges of the current version, by source."""
        found = np.empty(self.edges, np.int32)
        return found[: live_edges(self.adjacency, found)]

    def ends(self, edges: Int32) -> tuple[Int32, Int32]:
        """The sources and the destinations of edges."""
        out, into = self.adjacency
        return into.neighbour[into.slot[edges]], out.neighbour[out.slot[edges]]

    def are_live(self, edges: Int32) -> NDArray[np.bool_]:
        """Which of the edges are in the current version."""
        out, (sources, _) = self.adjacency.out, self.ends(edges)
        found: NDArray[np.bool_] = out.slot[edges] < out.start[sources] + out.live[sources]
        return found

    def _resize(self, edges: int) -> None:
        for slabs in (self._out, self._into):
            slabs.resize(self.vertices, edges)
        self.adjacency = Adjacency(self._out.view, self._into.view)


def _by_source(src: Int32, vertices: int) -> NDArray[np.int64]:
    """The order of edges by source, stable; NumPy sorts by radix 16 bits at a time only."""
    order = np.argsort(src.astype(np.uint16), kind="stable")
    if vertices <= 1 << 16:
        return order
    return order[np.argsort((src[order] >> 16).astype(np.uint16), kind="stable")]


def _inverse(order: NDArray[np.int64]) -> Int32:
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers


def misplaced(delta: Delta, place: int) -> InputError:
    """What is wrong with the edge at a place of a delta: the deleted come first."""
    alive = place >= len(delta.deleted)
    edge = delta.inserted[place - len(delta.deleted)] if alive else delta.deleted[place]
    verb, state = ("inserted", "already there") if alive else ("deleted", "not there")
    return InputError(
        f"edge {int(edge)} cannot be {verb}: it is {state}",
        hint="an edge may stand once in a delta, among the insertions or among the deletions",
    )
