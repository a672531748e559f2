"""One version of a graph in memory, as views see it: edges, vertices, and all their columns.

A snapshot shares nothing with the graph that changes, so that views stay what they are while the
graph advances. Edges stand in the order of their numbers.

An advance of a graph that keeps columns for views has its rows taken apart, for the graph and for
the table. Every inserted row becomes a new edge there, so that the number of an edge is the row of
its values for good: a row never takes an edge that is known and has left
(`ResidentGraph.rows_are_new`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.model.column_types import MEMORY_TYPES, property_type
from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, Property, name_hint
from graphtide.plan.predicates import PropertyRef
from graphtide.plan.signatures import EDGE_NUMBER, VERTEX_NUMBER
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.edge_rows import ColumnNames, frame_columns
from graphtide.run.live.named_graph import NamedGraph, coded_types
from graphtide.run.live.vertex_ids import VertexIds, id_column, named_rows
from graphtide.run.views.typed_columns import for_programs, typed_column


class InsertedRowReader:
    """Reads the rows of one advance. `kept` has the values of the edges that are known."""

    def __init__(self, names: ColumnNames, kept: pa.Table) -> None:
        numbers = names.properties
        only = tuple(name for name in kept.column_names if name not in numbers)
        self._names = ColumnNames(names.src, names.dst, (*numbers, *only))
        self._only = only
        self._kept = kept

    def inserted(self, given: Any, first: int) -> tuple[Any, pa.Table]:
        """What the graph is to insert, whose next edge is `first`, and the table from then on.

        The table is right whether or not the graph then takes the rows.
        """
        columns = self.columns("insert", given)
        if columns is None:
            return given, self._kept
        self.check_numbers(columns)
        rows = len(columns[self._names.src])
        values = {name: self._values(name, columns.get(name), rows) for name in self._types}
        for_graph = {name: given for name, given in columns.items() if name not in self._only}
        for_graph |= {name: for_programs(values[name]) for name in for_graph if name in values}
        added = pa.table(values, self._kept.schema)
        return for_graph, _appended(self._kept.slice(0, first), added)

    def check_numbers(self, columns: Mapping[str, Any]) -> None:
        """Refuse rows without a value for a property that programs read."""
        for name in self._names.properties:
            if name not in columns and name not in self._only:
                raise InputError(
                    f"insert has no value for the property '{name}'",
                    hint=f"a row is ({', '.join(self._names.all)})",
                )

    @property
    def _types(self) -> dict[str, pa.DataType]:
        return {name: self._kept.schema.field(name).type for name in self._kept.column_names}

    def _values(self, name: str, given: Any, rows: int) -> pa.Array:
        """The values of new edges in the type of the column; missing where none are given."""
        wanted = self._types[name]
        column = pa.nulls(rows, wanted) if given is None else typed_column(given)
        if column is not None and column.null_count == len(column):
            column = pa.nulls(len(column), wanted)
        if column is None or column.type != wanted:
            kind = property_type(self._kept.column(name))
            raise InputError(
                f"insert: the property '{name}' holds values of type {kind}, and the rows give "
                "others",
                hint=f"give values of the same type; a row is ({', '.join(self._names.all)})",
            )
        if len(column) != rows:
            raise InputError(f"the columns of insert differ in length: {name} {len(column):,}")
        return column

    def columns(self, what: str, given: Any) -> dict[str, Any] | None:
        """The columns of rows; None where no rows were given, but numbers, nothing or a mistake."""
        if isinstance(given, Mapping):
            columns = dict(given)
        elif hasattr(given, "__arrow_c_stream__") and not isinstance(given, pa.ChunkedArray):
            columns = frame_columns(what, given)
        elif isinstance(given, list) and given and isinstance(given[0], tuple | list | Mapping):
            columns = self._listed(what, given)
        else:
            return None
        for name in columns:
            if name not in self._names.all:
                known = ", ".join(self._names.all)
                hint = name_hint(name, self._names.all, f"the columns are {known}")
                raise InputError(
                    f"{what} has a column '{name}', which edges do not have", hint=hint
                )
        return columns if self._names.src in columns else None

    def _listed(self, what: str, rows: Sequence[Any]) -> dict[str, Any]:
        """Rows as columns; all must be alike."""
        first = rows[0]
        if isinstance(first, Mapping):
            names: Sequence[Any] = list(first)
            bad = [at for at, row in enumerate(rows) if not _has_keys(row, names)]
        else:
            names = self._names.all[: len(first)]
            bad = [at for at, row in enumerate(rows) if not _is_row(row, len(first))]
            bad = bad if 2 <= len(first) <= len(self._names.all) else [0]
        if bad:
            raise InputError(
                f"{what} has rows that are no edges, or differ in what they give",
                where=named_rows(bad, lambda at: repr(rows[at])),
                hint=f"a row is ({', '.join(self._names.all)})",
            )
        by = names if isinstance(first, Mapping) else range(len(names))
        return {name: [row[key] for row in rows] for name, key in zip(names, by, strict=True)}


def _appended(table: pa.Table, added: pa.Table) -> pa.Table:
    """A table with more rows, in few parts, none of which is copied often.

    A part is joined with the one before it unless that is longer: O(log rows) copies a row.
    """
    parts = table.to_batches()
    while parts and parts[-1].num_rows <= added.num_rows:
        last = pa.Table.from_batches([parts.pop()])
        added = pa.concat_tables([last, added]).combine_chunks()
    return pa.Table.from_batches([*parts, *added.to_batches()], table.schema)


def _has_keys(row: Any, names: Sequence[Any]) -> bool:
    return isinstance(row, Mapping) and set(row) == set(names)


def _is_row(row: Any, width: int) -> bool:
    return isinstance(row, tuple | list) and len(row) == width


Int32 = NDArray[np.int32]
NO_COLUMNS = pa.table({})


class ViewColumns(NamedTuple):
    """What stands beside the numbers of edges: a row an edge, and a row a vertex, by their numbers.

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
