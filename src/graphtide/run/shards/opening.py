"""The shards of a task, opened: files mapped, and what a program reads of edges and vertices."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.shards.live_edges import ShardEdges
from graphtide.engine.shards.local_graph import LocalGraph, Way
from graphtide.engine.shards.placement import Placement
from graphtide.engine.shards.reading import ways_needed
from graphtide.engine.vertex_data import NO_TEXT
from graphtide.plan.expressions import ValueType
from graphtide.plan.programs import VertexProgram
from graphtide.run.collection.stored_graph import program_vertex_table
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.edge_columns import CODED_TYPES
from graphtide.run.live.vertex_columns import VertexColumns
from graphtide.store.array_files import map_arrays
from graphtide.store.files import are_offsets, within
from graphtide.store.graph import StoredGraph
from graphtide.store.read_edges import READ_EDGES
from graphtide.store.seal import well_formed
from graphtide.store.shards import StoredShards


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
        """The id of one of them."""
        return StoredVertices(self._source, paged=True)[int(self._own[number])]
