"""One version of a graph in memory, as views see it: edges, vertices, and all their columns.

A snapshot shares nothing with the graph that changes, so that views stay what they are while the
graph advances. Edges stand in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.model.column_types import MEMORY_TYPES, property_type
from graphtide.model.schema import GraphSchema, Property
from graphtide.plan.predicates import PropertyRef
from graphtide.plan.signatures import EDGE_NUMBER, VERTEX_NUMBER
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.named_graph import NamedGraph, coded_types
from graphtide.run.live.vertex_ids import VertexIds, id_column
from graphtide.run.views.typed_columns import typed_column

Int32 = NDArray[np.int32]
NO_COLUMNS = pa.table({})


class ViewColumns(NamedTuple):
    """Columns for views: one row per edge and one per vertex, by their numbers.

    Edges and vertices that came later may lie behind the last row: their values are missing.
    """

    edges: pa.Table = NO_COLUMNS
    vertices: pa.Table = NO_COLUMNS


@dataclass(frozen=True)
class Snapshot:
    """Edges by the numbers that users know, their ends by vertex number, and columns.

    `timezone` is the zone in which predicates and windows read times.
    """

    numbers: Int32
    src: Int32
    dst: Int32
    properties: dict[str, NDArray[Any]]
    ids: VertexIds
    names: ColumnNames
    simple: bool
    columns: ViewColumns
    timezone: str = "UTC"
    directed: bool = True

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def schema(self) -> GraphSchema:
        """What predicates may name, and of which types."""
        edge = [*self.properties, *self.columns.edges.column_names]
        vertex = [name for name in self.columns.vertices.column_names if name != "id"]
        return GraphSchema(
            id_type=property_type(self.vertex_column("id")),
            vertex=_declared((name, self.vertex_column(name)) for name in vertex),
            edge=_declared((name, self.edge_column(name)) for name in dict.fromkeys(edge)),
            ends=(self.names.src, self.names.dst),
            directed=self.directed,
        )

    def edge_values(self, item: PropertyRef) -> pa.Array:
        if item.owner == "edge":
            return self.edge_column(item.name)
        ends = self.src if item.owner == "src" else self.dst
        if item.name == VERTEX_NUMBER:
            return pa.array(ends.astype(np.int64))
        return self.vertex_column(item.name).take(pa.array(ends))

    def vertex_values(self, item: PropertyRef) -> pa.Array:
        """A property of each vertex, whichever end the predicate says it is."""
        if item.name == VERTEX_NUMBER:
            return pa.array(np.arange(len(self.ids)))
        return self.vertex_column(item.name)

    def edge_column(self, name: str) -> pa.Array:
        """A property of each edge; `id` is its number, unless there is a property of that name."""
        if name == EDGE_NUMBER:
            return pa.array(self.numbers.astype(np.int64))
        if name in self.columns.edges.column_names:
            return _rows(self.columns.edges.column(name), self.numbers)
        if name in self.properties:
            return pa.array(self.properties[name], from_pandas=True)
        assert name == "id", name
        return self.edge_column(EDGE_NUMBER)

    def vertex_column(self, name: str) -> pa.Array:
        if name in self.columns.vertices.column_names:
            return _rows(self.columns.vertices.column(name), np.arange(len(self.ids)))
        assert name == "id", name
        return self._ids

    def edge_table(self, rows: NDArray[Any]) -> pa.Table:
        """Some edges as users know them: number, ends by id, properties.

        The column `edge` has the numbers; a property of that name is called `edge_` here.
        """
        ends = {
            self.names.src: self.ids.taken(self.src[rows]),
            self.names.dst: self.ids.taken(self.dst[rows]),
        }
        kept = _taken(self.columns.edges, self.numbers[rows])
        properties: dict[str, Any] = {
            name: pa.array(column[rows]) for name, column in self.properties.items()
        }
        properties |= {name: kept.column(name) for name in kept.column_names}
        if "edge" in properties:
            free = free_name("edge", properties)
            properties = {free if name == "edge" else name: properties[name] for name in properties}
        return pa.table({"edge": pa.array(self.numbers[rows]), **ends, **properties})

    def vertex_table(self, numbers: NDArray[Any]) -> pa.Table:
        """Some vertices as users know them: id, properties."""
        return vertex_table(self.ids, self.columns.vertices, numbers)

    def part(self, rows: NDArray[np.int64], vertices: NDArray[np.int64]) -> NamedGraph:
        """Some edges and vertices as a graph of their own; the vertices hold all their ends."""
        places = np.full(len(self.ids), -1, np.int32)
        places[vertices] = np.arange(len(vertices), dtype=np.int32)
        ids = VertexIds(id_column([self.ids[int(at)] for at in vertices], "`vertices`"))
        kept = self.columns.edges
        properties = {name: column[rows] for name, column in self.properties.items()}
        graph = ResidentGraph(
            len(ids),
            places[self.src[rows]],
            places[self.dst[rows]],
            properties,
            grows=True,
            directed=self.directed,
        )
        names = ColumnNames(self.names.src, self.names.dst, tuple(properties))
        own = _taken(self.columns.vertices, vertices)
        edges = _taken(kept, self.numbers[rows])
        known = NamedGraph(graph, ids, names, self.simple, own, edges)
        known.timezone = self.timezone
        return known

    def resident(self, rows: NDArray[Any], needed: Conditions) -> NamedGraph:
        """Some edges as a graph of their own for a run, none of them live.

        It has the properties that the program reads; InputError where edges lack one of them.
        """
        edges, vertices = self.columns
        needed.check_columns(self.properties, coded_types(edges))
        read = {
            name: self.properties[name][rows]
            for name in needed.properties
            if name in self.properties
        }
        ends = self.src[rows], self.dst[rows]
        graph = ResidentGraph(len(self.ids), *ends, read, live=False, directed=self.directed)
        names = ColumnNames(self.names.src, self.names.dst, tuple(read))
        ids = self.ids.copy()
        return NamedGraph(graph, ids, names, self.simple, vertices, edges, self.numbers[rows])

    @cached_property
    def _ids(self) -> pa.Array:
        """All ids in a type that predicates know; as texts where there is none."""
        ids = self.ids.taken(np.arange(len(self.ids)))
        column = typed_column(ids)
        if column is not None and not column.null_count:
            return column
        return pa.array([str(item) for item in ids.to_pylist()], pa.large_string())


def vertex_table(ids: VertexIds, columns: pa.Table, numbers: NDArray[Any]) -> pa.Table:
    """Some vertices as users know them: id, and properties from the columns for views."""
    values = _taken(columns, numbers)
    known = {name: values.column(name) for name in values.column_names if name != "id"}
    return pa.table({"id": ids.taken(numbers), **known})


def free_name(name: str, known: Container[str]) -> str:
    """The name with as many underscores behind it as make it a new one."""
    while name in known:
        name += "_"
    return name


def _declared(columns: Iterable[tuple[str, pa.Array]]) -> tuple[Property, ...]:
    return tuple(Property(name, property_type(column)) for name, column in columns)


def _taken(columns: pa.Table, numbers: NDArray[Any]) -> pa.Table:
    return pa.table({name: _rows(columns.column(name), numbers) for name in columns.column_names})


def _rows(column: pa.ChunkedArray, numbers: NDArray[Any]) -> pa.Array:
    """The values at some numbers; missing behind the last."""
    type_ = MEMORY_TYPES[property_type(column)]
    whole = pa.concat_arrays([*column.chunks, pa.nulls(1, type_)])
    return whole.take(pa.array(np.minimum(numbers, len(column))))
