"""A graph whose versions can be drawn in part: its edges in the order of their classes.

A version is then a truth value for each class, spread over its edges, and edges are found by their
ends. What vertices and edges are called, and what they carry, is looked up where they are drawn.

The part that is drawn is what lies around some vertices, or a sample from all over the graph. It
costs what is near it and not the whole graph. It grows hop by hop until it has as many edges or
vertices as there is room for; of the last hop it takes the vertices that rank highest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import NotFoundError
from graphtide.model.schema import name_hint
from graphtide.plan.collection import EMPTY_VERSION, CollectionPlan
from graphtide.run.collection.steps import ALL_VERTICES, ViewVertices
from graphtide.run.collection.stored_vertices import vertex_number, vertex_texts
from graphtide.run.live.results import VertexRows
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_table, vertices_at

Int = NDArray[np.int64]
Int32 = NDArray[np.int32]
Truth = NDArray[np.bool_]

_UNLIMITED = 1 << 62
_SEEDS = 12
_GROWN = 0.8
"""The share of a sample that grows from its seeds; the rest are edges between what they reach."""


class EdgeIndex(NamedTuple):
    """The edges at each vertex: `edges[offsets[v] : offsets[v + 1]]`, with their other ends.

    A loop is there once.
    """

    offsets: Int
    edges: Int32
    others: Int32

    @property
    def vertices(self) -> int:
        return len(self.offsets) - 1

    def at(self, vertices: Int) -> tuple[Int32, Int32]:
        """The edges at some vertices, one vertex after the other, and their other ends."""
        starts = self.offsets[vertices]
        counts = self.offsets[vertices + 1] - starts
        places = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        places += np.arange(len(places))
        return self.edges[places], self.others[places]


def edge_index(vertices: int, src: Int32, dst: Int32) -> EdgeIndex:
    """The index of some edges by their ends. O(edges): a radix sort of 16 bits at a time."""
    proper = np.flatnonzero(src != dst).astype(np.int32)
    ends = np.concatenate([src, dst[proper]])
    order = np.argsort((ends & 0xFFFF).astype(np.uint16), kind="stable")
    if vertices > 0x10000:
        high = (ends[order] >> 16).astype(np.uint16)
        order = order[np.argsort(high, kind="stable")]
    edges = np.concatenate([np.arange(len(src), dtype=np.int32), proper])[order]
    others = np.concatenate([dst, src[proper]])[order]
    counts = np.bincount(ends, minlength=vertices)
    return EdgeIndex(np.concatenate([[0], np.cumsum(counts)]), edges, others)


class Neighbourhood:
    """A part of a graph that grows: which vertices are found, and which edges are taken.

    `alive` says which edges there are, `rank` which vertices come first where room is short.
    """

    def __init__(
        self,
        index: EdgeIndex,
        alive: Truth,
        rank: Int,
        *,
        most_edges: int = _UNLIMITED,
        most_vertices: int = _UNLIMITED,
    ) -> None:
        self.found = np.zeros(index.vertices, np.bool_)
        self.cut = False
        """Whether there was no room for something that belongs to it."""
        self._index, self._rank = index, rank
        self._left = alive.copy()
        self._room, self._vertex_room = most_edges, most_vertices
        self._taken: list[Int32] = []

    @property
    def edges(self) -> Int:
        """The edges that are taken, in the order in which they were."""
        return np.concatenate([np.empty(0, np.int64), *self._taken])

    @property
    def full(self) -> bool:
        return self._room <= 0 or self._vertex_room <= 0

    def grow(self, starts: Int, hops: int | None = None, most: int = _UNLIMITED) -> None:
        """Take what lies within so many hops, or all that is connected: at most so many edges.

        Edges between vertices of the last hop belong to it as well, and come last.
        """
        behind, self._room = max(0, self._room - most), min(self._room, most)
        front, passed = self._find(starts), 0
        while len(front) and passed != hops and not self.full:
            front = self._hop(front)
            passed += 1
        if len(front) and passed == hops:
            self._take(*self._between(front))
        elif len(front) and not self.cut:
            self.cut = bool(self._left[self._index.at(front)[0]].any())
        self._room += behind

    def fill(self) -> None:
        """Take edges between vertices that are found, as far as there is room."""
        self._take(*self._between(np.flatnonzero(self.found)))

    def _hop(self, front: Int) -> Int:
        """Take the edges at some vertices; the vertices that they lead to, best first."""
        edges, others = self._edges_at(front)
        known = self.found[others]
        order = np.lexsort((edges, others, -self._rank[others], ~known))
        edges, others = edges[order], others[order].astype(np.int64)
        new, first = np.unique(others[~known[order]], return_index=True)
        new = new[np.argsort(first)]
        if len(new) > self._vertex_room:
            self.cut = True
            new = new[: self._vertex_room]
            keep = self.found.copy()
            keep[new] = True
            edges, others = edges[keep[others]], others[keep[others]]
        taken = self._take(edges, others)
        reached = np.zeros_like(self.found)
        reached[others[:taken]] = True
        return self._find(new[reached[new]])

    def _edges_at(self, front: Int) -> tuple[Int32, Int32]:
        """The edges at some vertices that are not taken, each once, with an end beyond if any."""
        edges, others = self._index.at(front)
        left = self._left[edges]
        edges, first = np.unique(edges[left], return_index=True)
        return edges, others[left][first]

    def _between(self, front: Int) -> tuple[Int32, Int32]:
        """The edges at some vertices whose other end is found, too."""
        edges, others = self._edges_at(front)
        inner = self.found[others]
        return edges[inner], others[inner]

    def _take(self, edges: Int32, others: NDArray[np.integer]) -> int:
        """Take edges as far as there is room; how many."""
        if len(edges) > self._room:
            self.cut = True
            edges = edges[: self._room]
        self._left[edges] = False
        self._taken.append(edges)
        self._room -= len(edges)
        return len(edges)

    def _find(self, vertices: NDArray[np.integer]) -> Int:
        new: Int = vertices[~self.found[vertices]][: self._vertex_room].astype(np.int64)
        self.found[new] = True
        self._vertex_room -= len(new)
        return new


def sample(index: EdgeIndex, alive: Truth, ends: Int32, most: int) -> Neighbourhood:
    """Some regions from all over a graph, and what joins them: the same for the same edges.

    Where a region begins hangs on the numbers of edges alone, so that versions that share edges
    share most of their samples. `ends` has one end of each edge.
    """
    part = Neighbourhood(index, alive, scattered(index.vertices), most_edges=most)
    living = np.flatnonzero(alive)
    seeds = min(_SEEDS, max(1, most // 20), len(living))
    first = living[np.argsort(-scattered(len(alive))[living], kind="stable")[:seeds]]
    each = max(1, int(_GROWN * most) // max(1, seeds))
    for start in ends[first].tolist():
        part.grow(np.array([start]), most=each)
    part.fill()
    part.cut = len(part.edges) < len(living)
    return part


def scattered(count: int) -> Int:
    """A number for each of `count`, in no order but always the same: Fibonacci hashing."""
    mixed = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    ranks: Int = (mixed >> np.uint64(2)).astype(np.int64)
    return ranks


_KEPT = 6
"""Versions whose living edges are kept: a byte an edge each."""


@dataclass(frozen=True)
class StoredProperties:
    """The properties of a stored graph, read when they are asked for."""

    graph: StoredGraph

    def names(self) -> Sequence[str]:
        return [item.name for item in self.graph.schema.vertex]

    def columns(self, names: Sequence[str]) -> pa.Table:
        return vertex_table(self.graph, list(names))

    def vertex(self, number: int) -> Mapping[str, Any]:
        names = list(self.names())
        names += ["_label"] if self.graph.schema.vertex_labels else []
        return _first_row(vertices_at(self.graph, names, np.array([number]))) if names else {}

    def edge(self, number: int) -> Mapping[str, Any]:
        row = edge_rows(self.graph, np.array([number], self.graph.number_type))
        hidden = [*self.graph.schema.ends]
        hidden += [f"{end}_label" for end in hidden]
        return {name: value for name, value in _first_row(row).items() if name not in hidden}


@dataclass(frozen=True)
class SnapshotProperties:
    """The properties of a version of a graph in memory, by its own edge numbers.

    Edges that have left since the version `before` are those of that one.
    """

    snapshot: Snapshot
    before: Snapshot | None = None

    def names(self) -> Sequence[str]:
        return [name for name in self.snapshot.columns.vertices.column_names if name != "id"]

    def columns(self, names: Sequence[str]) -> pa.Table:
        return pa.table({name: self.snapshot.vertex_column(name) for name in names})

    def vertex(self, number: int) -> Mapping[str, Any]:
        row = _first_row(self.snapshot.vertex_table(np.array([number])))
        return {name: value for name, value in row.items() if name != "id"}

    def edge(self, number: int) -> Mapping[str, Any]:
        for snapshot in filter(None, (self.snapshot, self.before)):
            row = int(np.searchsorted(snapshot.numbers, number))
            if row < len(snapshot.numbers) and snapshot.numbers[row] == number:
                return _edge_row(snapshot, row)
        return {}


@dataclass(frozen=True)
class RunProperties:
    """The properties that a run in memory has; `told` gives rows of edges by their places."""

    vertices: pa.Table
    count: int
    told: Callable[[NDArray[np.int64]], pa.Table] | None

    def names(self) -> Sequence[str]:
        return [name for name in self.vertices.column_names if name != "id"]

    def columns(self, names: Sequence[str]) -> pa.Table:
        return self.vertices.select(list(names)).slice(0, self.count)

    def vertex(self, number: int) -> Mapping[str, Any]:
        if number >= len(self.vertices):
            return {}
        return _first_row(self.vertices.select(list(self.names())).slice(number, 1))

    def edge(self, number: int) -> Mapping[str, Any]:
        if self.told is None:
            return {}
        return dict(list(_first_row(self.told(np.array([number]))).items())[3:])


class DrawableVersion(NamedTuple):
    """The live edges of a version, the degrees, and the vertices removed from it."""

    alive: Truth
    degree: Int32
    removed: tuple[int, ...]
    window: bool

    def vertices(self) -> int:
        if self.window:
            return int(np.count_nonzero(self.degree))
        return len(self.degree) - len(self.removed)


@dataclass(eq=False)
class DrawableGraph:
    """The views of a graph: edges by place, in the order of their classes."""

    names: tuple[str, ...]
    plan: CollectionPlan
    offsets: Int
    """Where each class begins."""
    src: Int32
    dst: Int32
    numbers: NDArray[np.integer]
    """What users, or what they hold, call each edge."""
    vertices: VertexRows
    directed: bool
    properties: StoredProperties | SnapshotProperties | RunProperties
    known: ViewVertices = ALL_VERTICES
    lock: Lock = field(default_factory=Lock)
    _versions: OrderedDict[int, DrawableVersion] = field(default_factory=OrderedDict)

    @cached_property
    def index(self) -> EdgeIndex:
        return edge_index(len(self.vertices), self.src, self.dst)

    @cached_property
    def busiest(self) -> int:
        """The vertex with most edges of all views; -1 where there is none."""
        counts = np.diff(self.index.offsets)
        return int(np.argmax(counts)) if len(counts) else -1

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def position(self, view: str) -> int:
        at = self._places.get(view)
        if at is None:
            hint = name_hint(view, self.names, "choose one of its views", "'")
            raise NotFoundError(f"there is no view '{view}'", hint=hint)
        return at

    def parent(self, view: int) -> int | None:
        """The view that the plan reaches this one from; None where it begins with this one."""
        steps = self.plan.steps
        step = steps[self.plan.view_steps[view]].parent
        while step != EMPTY_VERSION and steps[step].view is None:
            step = steps[step].parent
        return None if step == EMPTY_VERSION else steps[step].view

    def version(self, view: int) -> DrawableVersion:
        """A view's edges. O(edges of the graph), at a byte each; the last few are kept."""
        with self.lock:
            found = self._versions.get(view)
            if found is not None:
                self._versions.move_to_end(view)
                return found
        made = self._version(view)
        with self.lock:
            self._versions[view] = made
            while len(self._versions) > _KEPT:
                self._versions.popitem(last=False)
        return made

    def _version(self, view: int) -> DrawableVersion:
        held = self.plan.membership(self.plan.view_steps[view])
        alive = np.repeat(held, np.diff(self.offsets))
        src, dst = self.src[alive], self.dst[alive]
        degree = np.bincount(src, minlength=len(self.vertices))
        degree += np.bincount(dst[src != dst], minlength=len(self.vertices))
        removed = self.known.removed.get(view, ())
        return DrawableVersion(alive, degree.astype(np.int32), removed, view in self.known.windows)

    def place(self, number: int) -> int:
        order, numbers = self._by_number
        at = int(np.searchsorted(numbers, number))
        if at == len(numbers) or int(numbers[at]) != number:
            raise NotFoundError(f"there is no edge {number}", hint="choose one that is drawn")
        return int(order[at])

    @cached_property
    def _by_number(self) -> tuple[Int, NDArray[np.integer]]:
        order = np.argsort(self.numbers, kind="stable")
        return order, self.numbers[order]

    def texts(self, numbers: Int) -> list[str]:
        """What vertices are called: their ids as texts, with labels where ids need them."""
        return vertex_texts(self.vertices, numbers) if len(numbers) else []

    def vertex(self, text: str) -> int:
        return vertex_number(self.vertices, text)

    @cached_property
    def places(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Where vertices are, if their properties say so: x to the right, y upwards."""
        pair = coordinate_names(self.properties.names())
        if pair is None:
            return None
        table = self.properties.columns(pair[:2])
        columns = [table.column(name) for name in pair[:2]]
        if not all(_is_number(column.type) for column in columns):
            return None
        x, y = (_floats(column, len(self.vertices)) for column in columns)
        return (x, mercator(y)) if pair[2] else (x, y)


_ON_MAPS = (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"))
_ON_PLANES = (
    *(("x", "y"), ("pos_x", "pos_y"), ("x_coordinate", "y_coordinate")),
    *(("x_coord", "y_coord"), ("easting", "northing"), ("px", "py")),
)


def coordinate_names(names: Sequence[str]) -> tuple[str, str, bool] | None:
    """The properties that say where a vertex is, and whether these are degrees on a map."""
    known = {name.lower(): name for name in names}
    for pairs, degrees in ((_ON_MAPS, True), (_ON_PLANES, False)):
        for x, y in pairs:
            if x in known and y in known:
                return known[x], known[y], degrees
    return None


def mercator(latitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far up a degree of latitude is on Mercator's map, in degrees of longitude.

    Shapes are true everywhere on it, so that it suits a town as well as the world. Poles, which it
    has not, stand at 85 degrees.
    """
    bounded = np.radians(np.clip(latitude, -85.0, 85.0))
    up: NDArray[np.float64] = np.degrees(np.log(np.tan(np.pi / 4 + bounded / 2)))
    return up


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _floats(column: pa.ChunkedArray, count: int) -> NDArray[np.float64]:
    """Numbers of all vertices; no number where there is none."""
    values = np.full(count, np.nan)
    known = column.cast(pa.float64()).to_numpy()[:count]
    values[: len(known)] = known
    values[~np.isfinite(values)] = np.nan
    return values


def _first_row(table: pa.Table) -> dict[str, Any]:
    rows: list[dict[str, Any]] = table.slice(0, 1).to_pylist()
    return rows[0] if rows else {}


def _edge_row(snapshot: Snapshot, row: int) -> dict[str, Any]:
    """The properties of an edge: all that stands behind its number and its ends."""
    return dict(list(_first_row(snapshot.edge_table(np.array([row]))).items())[3:])
