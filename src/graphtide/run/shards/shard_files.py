"""The shards of a collection as files: made by tasks of Spark, opened by those that run on them.

Each task that makes shards writes files of its own. The driver plans, and lists the files that it
is told of in one manifest; it reads no edges. Rows are sorted by the vertex of the shard, then by
the other end, then by the number of the edge. That is the order in which sums are added up, for
good.

A task of a run maps the files of its shards, and reads what the program wants to know of edges and
vertices. Bounds are checked when a file is opened: kernels look at none.
"""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.graph_data import NO_MOMENT, NO_TEXT
from graphtide.engine.shards.local_graph import WAYS, LocalGraph, Placement, ShardEdges, Way
from graphtide.engine.shards.supersteps import ways_needed
from graphtide.model.machine import cache_root
from graphtide.plan.expressions import ValueType
from graphtide.plan.programs import VertexProgram
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.stored_graph import program_vertex_table
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.edge_rows import property_column
from graphtide.run.live.named_graph import CODED_TYPES, VertexColumns, moment_numbers
from graphtide.store.arrays import map_arrays, write_arrays
from graphtide.store.collection import StoredCollection, graph_behind
from graphtide.store.files import READ_EDGES, FileFacts, are_offsets, well_formed, within
from graphtide.store.graph import StoredGraph
from graphtide.store.shards import SUFFIX, StoredShards, last_count, open_shards, write_shards


def pack_shard(
    size: int,
    places: NDArray[Any],
    ends: NDArray[Any],
    classes: NDArray[Any],
    properties: Mapping[str, NDArray[Any]],
) -> ShardEdges:
    """A shard of so many vertices; `places` are those of the own ends among them."""
    table, compact = np.unique(ends, return_inverse=True)
    return ShardEdges(
        start=np.searchsorted(places, np.arange(size + 1)).astype(np.int64),
        ends=compact.astype(np.int32),
        table=table.astype(np.int32),
        classes=np.asarray(classes, np.int32),
        properties=dict(properties),
    )


ENTRY = "graphtide.run.shards.shard_files:write_files"
MOST_SHARDS, LEAST_SHARDS = 1024, 8
EDGES_A_SHARD = 16_384
"""Fewer edges than this are not worth a file of their own."""

PARTS_A_SLOT = 4
_FIXED = ("_shard", "_place", "_end", "_edge", "_class")


@dataclass(frozen=True)
class _Order:
    folder: Path
    way: str
    vertices: int
    shards: int


def shards_of(space: Workspace, stored: StoredCollection, count: int | None = None) -> StoredShards:
    """The shards of a collection as it is now, made if need be; `count` is for those."""
    identity = collection_identity(stored)
    graph = graph_behind(space.catalog, stored)
    there = open_shards(space.catalog, stored.name, identity)
    if there is not None and there.vertices == graph.vertices:
        return there
    slots = space.gateway.slots()
    shards = _shards(space, stored, graph.vertices) if count is None else count
    parts = min(shards, PARTS_A_SLOT * slots)

    def fill(folder: Path) -> dict[str, FileFacts]:
        files: dict[str, FileFacts] = {}
        for way in WAYS:
            order = pickle.dumps(_Order(folder, way, graph.vertices, shards))
            given = graph, stored, way, (shards, parts), ENTRY, order, str(cache_root())
            files |= dict(map(pickle.loads, space.gateway.write_shards(*given)))
        return files

    sizes = shards, graph.vertices
    return write_shards(space.catalog, stored.name, identity, sizes, fill)


def _shards(space: Workspace, stored: StoredCollection, vertices: int) -> int:
    """As many as before, if that is about right: what tasks have kept is kept by shard."""
    wanted = chosen_shards(vertices, int(stored.weights.sum()))
    before = last_count(space.catalog, stored.name)
    if before is not None and before <= max(1, vertices) and wanted <= 2 * before <= 4 * wanted:
        return before
    return wanted


def collection_identity(stored: StoredCollection) -> str:
    """A collection as of now, as text."""
    return f"{stored.created.isoformat()}|{stored.facts.graph_identity}"


def chosen_shards(vertices: int, edges: int) -> int:
    wanted = max(LEAST_SHARDS, edges // EDGES_A_SHARD)
    return max(1, min(MOST_SHARDS, wanted, vertices))


def write_files(order: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """Write a file for each shard among sorted rows, and tell of it; the entry of a task."""
    given: _Order = pickle.loads(order)
    held: list[pa.RecordBatch] = []
    for piece in _one_shard_each(batches):
        if held and _shard(held[0]) != _shard(piece):
            yield _write(given, held)
            held = []
        held.append(piece)
    if held:
        yield _write(given, held)


def _one_shard_each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        numbers = batch.column("_shard").to_numpy()
        cuts = np.flatnonzero(np.diff(numbers)) + 1
        for first, behind in pairwise([0, *cuts.tolist(), len(numbers)]):
            if behind > first:
                yield batch.slice(first, behind - first)


def _shard(rows: pa.RecordBatch) -> int:
    return int(rows.column("_shard")[0].as_py())


def _write(given: _Order, held: list[pa.RecordBatch]) -> bytes:
    table, shard = pa.Table.from_batches(held), _shard(held[0])
    places, ends, classes = (table.column(name).to_numpy() for name in ("_place", "_end", "_class"))
    size = int(Placement(given.vertices, given.shards, 1).sizes[shard])
    packed = pack_shard(size, places, ends, classes, {})
    arrays: dict[str, NDArray[Any]] = {
        "start": packed.start,
        "ends": packed.ends,
        "table": packed.table,
        "classes": packed.classes,
    }
    for name in table.column_names:
        if name not in _FIXED:
            arrays |= _property_arrays(name, table.column(name))
    name = f"{given.way}-{shard:05d}-{uuid.uuid4().hex}{SUFFIX}"
    return pickle.dumps((name, write_arrays(given.folder / name, arrays)))


def _property_arrays(name: str, column: pa.ChunkedArray) -> dict[str, NDArray[Any]]:
    """A property as arrays: numbers as they are, moments as numbers, texts as codes and texts."""
    whole, kind = column.combine_chunks(), column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        encoded = whole.dictionary_encode()
        codes = encoded.indices.fill_null(NO_TEXT).to_numpy(zero_copy_only=False)
        texts = json.dumps(encoded.dictionary.to_pylist()).encode()
        return {
            f"property {name}": codes.astype(np.int32),
            f"texts {name}": np.frombuffer(texts, np.uint8),
        }
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        numbers = moment_numbers(whole).cast(pa.int64()).fill_null(NO_MOMENT)
        return {f"property {name}": numbers.to_numpy(zero_copy_only=False)}
    return {f"property {name}": property_column(column, name, "the graph")}


class OpenedShards:
    """The shards of one task, and what a program reads of them."""

    def __init__(
        self,
        stored: StoredShards,
        graph: StoredGraph,
        needed: Conditions,
        tasks: int,
        task: int,
        classes: int,
    ) -> None:
        self.placement = Placement(stored.vertices, stored.shards, tasks)
        self.task = task
        self._stored = stored
        self._source = graph
        self._needed = needed
        self._classes = classes
        self._maps: dict[tuple[Way, int], dict[str, NDArray[Any]]] = {}

    def local(self, program: VertexProgram) -> tuple[LocalGraph, VertexColumns]:
        """The graph of the task for a program, and what the data say of its vertices."""
        ways, counted = ways_needed(program)
        gathered = {way: [self._shard(way, at) for at in self._own] for way in ways}
        for_degrees = {way: [self._shard(way, at) for at in self._own] for way in counted}
        graph = LocalGraph(self.placement, self.task, gathered, for_degrees)
        data = self._vertex_data(graph)
        for way in ways:
            gathered[way] = [
                edges._replace(properties=self._properties(edges, way, at, data))
                for edges, at in zip(gathered[way], self._own, strict=True)
            ]
        return graph, data

    @property
    def _own(self) -> list[int]:
        return list(map(int, self.placement.shards_of(self.task)))

    def _shard(self, way: Way, shard: int) -> ShardEdges:
        size = int(self.placement.sizes[shard])
        arrays = self._arrays(way, shard)
        if not arrays:
            none = np.empty(0, np.int32)
            return ShardEdges(np.zeros(size + 1, np.int64), none, none, none, {})
        READ_EDGES.add(len(arrays["ends"]))
        start, ends, table, classes = (
            arrays[name] for name in ("start", "ends", "table", "classes")
        )
        return ShardEdges(start, ends, table, classes, {})

    def _arrays(self, way: Way, shard: int) -> dict[str, NDArray[Any]]:
        if (way, shard) not in self._maps:
            path = self._stored.file(way, shard)
            arrays = {} if path is None else map_arrays(path)
            if arrays:
                with well_formed("a shard", path):
                    self._check_bounds(arrays, int(self.placement.sizes[shard]))
            self._maps[way, shard] = arrays
        return self._maps[way, shard]

    def _check_bounds(self, arrays: dict[str, NDArray[Any]], size: int) -> None:
        """ValueError where something points at what is not there: kernels look at no bounds."""
        edges = len(arrays["ends"])
        counts = {
            "ends": len(arrays["table"]),
            "table": self._stored.vertices,
            "classes": self._classes,
        }
        wrong = [
            name
            for name, count in counts.items()
            if arrays[name].dtype != np.int32 or not within(arrays[name], count)
        ]
        start = arrays["start"]
        if start.dtype != np.int64 or len(start) != size + 1 or not are_offsets(start, edges):
            wrong.append("start")
        columns = ("classes", *(name for name in arrays if name.startswith("property ")))
        wrong += [name for name in columns if len(arrays[name]) != edges]
        if wrong:
            raise ValueError(f"its '{wrong[0]}' does not fit the rest")

    def _vertex_data(self, graph: LocalGraph) -> VertexColumns:
        """What the program reads of the vertices that the task knows; others are read past.

        Owners refuse what the program cannot take.
        """
        table = program_vertex_table(self._source, self._needed, graph.known)
        self._needed.check_vertices(_OwnVertices(self._source, table, graph))
        return VertexColumns(table, graph.vertices)

    def _properties(
        self, edges: ShardEdges, way: Way, shard: int, data: VertexColumns
    ) -> dict[str, NDArray[Any]]:
        """What the program reads of the edges of a shard, refused where it cannot take it."""
        arrays, columns = self._arrays(way, shard), {}
        for name, type_ in self._needed.properties.items():
            with well_formed("a shard", self._stored.file(way, shard)):
                column = arrays[f"property {name}"] if arrays else np.empty(0, np.int64)
                if type_ is ValueType.TEXT and arrays:
                    texts = json.loads(arrays[f"texts {name}"].tobytes())
                    codes = [*(data.code(text) for text in texts), NO_TEXT]
                    column = np.array(codes, np.int64)[column]
                if type_ in CODED_TYPES and column.dtype != np.int64:
                    raise TypeError(f"'{name}' is of type {column.dtype}")
            columns[name] = column
        if arrays:
            self._check(edges, way, shard, columns)
        return columns

    def _check(
        self, edges: ShardEdges, way: Way, shard: int, columns: dict[str, NDArray[Any]]
    ) -> None:
        wanted = self._needed.properties
        coded = {name: CODED_TYPES[type_] for name, type_ in wanted.items() if type_ in CODED_TYPES}
        self._needed.check_columns(
            {name: column for name, column in columns.items() if name not in coded}, coded
        )

        def text(place: int) -> str:
            own = shard + self._stored.shards * (
                int(np.searchsorted(edges.start, place, side="right")) - 1
            )
            other = int(edges.table[edges.ends[place]])
            src, dst = (other, own) if way == "into" else (own, other)
            values = [columns[name][place].item() for name in columns]
            return f"the vertices of the numbers {src} and {dst}, {values}"

        self._needed.check_rows(columns, text)


class _OwnVertices:
    """The own vertices of a task, to be checked."""

    whose = " of a task"

    def __init__(self, source: StoredGraph, table: pa.Table, graph: LocalGraph) -> None:
        self.vertices = graph.owned
        self.vertex_columns = VertexColumns(table.slice(0, graph.owned), graph.owned)
        self._source, self._own = source, graph.own

    def name(self, number: int) -> Any:
        return StoredVertices(self._source, paged=True)[int(self._own[number])]
