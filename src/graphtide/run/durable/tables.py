"""A graph as two tables, a row a vertex and a row an edge, and back.

Rows stand at their numbers. That is how checkpoints are stored and what records add to, so a start
puts rows together and makes one graph of them, instead of repeating every advance: what costs a
look-up a row the first time costs a copy then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.schema import PropertyType
from graphtide.run.durable.shape import Shape
from graphtide.run.live.edge_rows import ROW_NUMBER, ColumnNames
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.saved_graph import SavedGraph, restored_graph
from graphtide.run.live.vertex_ids import VertexIds, id_column
from graphtide.run.views.inserted_columns import with_numbers
from graphtide.run.views.snapshot import Snapshot
from graphtide.run.views.typed_columns import ARROW_TYPES, for_programs
from graphtide.store.files import within

Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class GraphTables:
    """All vertices, all edges, and which of these are gone; sorted, each once."""

    vertices: pa.Table
    edges: pa.Table
    gone: Numbers

    def compacted(self, leaving: Numbers) -> GraphTables:
        """Without the edges that are gone, and without leaving vertices that have no edge.

        What stays keeps its order, so that whoever does this to the same tables gets the same.
        """
        there = np.ones(self.edges.num_rows, np.bool_)
        there[self.gone] = False
        edges = self.edges.filter(pa.array(there))
        ends = [edges.column(name).to_numpy() for name in ("_src", "_dst")]
        stays = np.ones(self.vertices.num_rows, np.bool_)
        stays[leaving] = False
        for end in ends:
            stays[end] = True
        places = (np.cumsum(stays) - 1).astype(np.int32)
        for at, end in enumerate(ends):
            edges = edges.set_column(at, edges.schema.field(at), pa.array(places[end]))
        return GraphTables(self.vertices.filter(pa.array(stays)), edges, self.gone[:0])


def with_changed(vertices: pa.Table, changed: Sequence[pa.Table]) -> pa.Table:
    """Vertices with the values that rows give them by number; the last one counts. O(vertices)."""
    if not changed:
        return vertices
    rows = pa.concat_tables(changed)
    places = np.arange(vertices.num_rows)
    places[rows.column("_vertex").to_numpy()] = len(places) + np.arange(rows.num_rows)
    taken = pa.array(places)
    columns = [vertices.column("_id")]
    for name in vertices.column_names[1:]:
        both = [*vertices.column(name).chunks, *rows.column(name).chunks]
        columns.append(pa.chunked_array(both, vertices.schema.field(name).type).take(taken))
    return pa.Table.from_arrays(columns, schema=vertices.schema)


def tables_of(snapshot: Snapshot, shape: Shape) -> GraphTables:
    """A version of a graph in memory, its edges numbered by their order."""
    count, rows = len(snapshot.ids), len(snapshot)
    ids = snapshot.ids.taken(np.arange(count)).cast(shape.vertices.field("_id").type)
    known = {name: snapshot.vertex_column(name) for name, _ in shape.vertex}
    columns = {name: snapshot.edge_column(name) for name in shape.edge_types}
    ends = {"_src": pa.array(snapshot.src), "_dst": pa.array(snapshot.dst)}
    return GraphTables(
        _table({"_id": ids, **known}, shape.vertices),
        _table({**ends, **columns}, shape.edges) if rows else shape.edges.empty_table(),
        np.empty(0, np.int32),
    )


def _table(columns: dict[str, Any], schema: pa.Schema) -> pa.Table:
    cast = [columns[item.name].cast(item.type) for item in schema]
    return pa.Table.from_arrays(cast, schema=schema)


def memory_of(tables: GraphTables, shape: Shape) -> KnownEdges:
    """A graph in memory with what only views read of its edges; shares nothing with the tables."""
    edges, rows = tables.edges, tables.edges.num_rows
    _check_numbers(tables)
    columns = pa.table({name: _column(edges, name, kind) for name, kind in shape.kept})
    properties = {
        name: _numbers(edges, columns, name, np.dtype(dtype)) for name, dtype in shape.numbers
    }
    properties = with_numbers(properties, rows)
    saved = SavedGraph(
        ids=_ids(tables.vertices.column("_id")),
        names=ColumnNames(shape.src, shape.dst, (*shape.names.properties, ROW_NUMBER)),
        simple=shape.simple,
        src=_array(edges, "_src", np.dtype(np.int32)),
        dst=_array(edges, "_dst", np.dtype(np.int32)),
        properties=properties,
        gone=tables.gone,
        directed=shape.directed,
    )
    described = {name: _column(tables.vertices, name, kind) for name, kind in shape.vertex}
    return restored_graph(saved, pa.table(described), columns)


def _check_numbers(tables: GraphTables) -> None:
    """ValueError for vertices and edges that are not there: kernels take numbers as given."""
    for name in ("_src", "_dst"):
        ends = tables.edges.column(name)
        if ends.null_count:
            raise ValueError(f"an edge without {name[1:]}")
        if not within(ends.to_numpy(), tables.vertices.num_rows):
            raise ValueError("an edge of a vertex that is not there")
    if not within(tables.gone, tables.edges.num_rows):
        raise ValueError("a deleted edge that is not there")
    if len(np.unique(tables.gone)) < len(tables.gone):
        raise ValueError("an edge that is deleted twice")


def _ids(column: pa.ChunkedArray) -> VertexIds:
    if pa.types.is_integer(column.type):
        return VertexIds(np.array(column.to_numpy(), np.int64))
    ids = id_column(column, "the ids")
    return VertexIds(ids if ids.dtype == object else ids.astype(object))


def _column(table: pa.Table, name: str, kind: str) -> pa.ChunkedArray:
    """A column in the type that views have it in."""
    return table.column(name).cast(ARROW_TYPES[PropertyType(kind)])


def _numbers(edges: pa.Table, kept: pa.Table, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A property for programs."""
    if name in kept.column_names:
        numbers = for_programs(kept.column(name))
        assert numbers is not None
        return np.array(numbers)
    return _array(edges, name, dtype)


def _array(table: pa.Table, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A copy of a column; what is missing is NaN."""
    return np.array(table.column(name).to_numpy(), dtype)
