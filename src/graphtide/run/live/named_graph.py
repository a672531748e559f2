"""A graph in memory together with its users' words: ids, names of columns, and properties.

`NamedGraph` holds the graph of numbers (`engine.resident`), the ids of its vertices, and Arrow
tables of what vertices have and of what edges have besides numbers: a row for each vertex by its
number, and for each edge by the number that users know it by. Vertices and edges behind the last
row have no values. Rows are matched with it, and programs are checked on it.

A program declares what it reads, and gets an array of it: numbers as they are, moments as numbers,
texts as codes. The array of a vertex property is made when it is first asked for, and grows with
the graph from then on. Kept true: all texts of a graph share one dictionary, so that a code means
the same text everywhere, in vertices and in edges.

`SavedGraph` is a graph as plain arrays: what is pickled, copied and sent to another process. Edges
that have left the graph are saved too, so that vertices and edges keep their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.graph_data import CODED, NO_MOMENT, NO_TEXT, VALUE_TYPES
from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.model.column_types import property_type
from graphtide.model.columns import BatchLayout, ColumnBatch
from graphtide.model.delta import no_edges
from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from graphtide.plan.expressions import Constant, ValueType, VertexProperty
from graphtide.plan.program_values import date_value, moment_number, timestamp_value
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.vertex_ids import Int32, VertexIds
from graphtide.run.views.typed_columns import as_type, for_programs

NO_TABLE = pa.table({})
_MOST_CHUNKS = 256
"""A table of more pieces than this becomes one piece: reading one costs time for each piece."""

_TAKEN = {
    ValueType.INT: (PropertyType.INT, PropertyType.BOOL),
    ValueType.FLOAT: (PropertyType.FLOAT, PropertyType.INT, PropertyType.BOOL),
    ValueType.BOOL: (PropertyType.BOOL,),
    ValueType.TEXT: (PropertyType.STRING,),
    ValueType.DATE: (PropertyType.DATE,),
    ValueType.TIMESTAMP: (PropertyType.TIMESTAMP,),
}


class TextCodes:
    """A number for every text, from 0, in the order in which texts are met."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def code(self, text: str) -> int:
        return self._codes.setdefault(text, len(self._codes))

    def codes(self, column: pa.Array) -> NDArray[np.int64]:
        """The code of each text of a column, `NO_TEXT` where one is missing."""
        encoded = column.dictionary_encode()
        known = [self.code(text) for text in encoded.dictionary.to_pylist()]
        places = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        codes: NDArray[np.int64] = np.array([*known, NO_TEXT], np.int64)[places]
        return codes


def property_arrays(
    table: pa.Table, declared: Iterable[VertexProperty], codes: TextCodes, vertices: int
) -> dict[str, NDArray[Any]]:
    """What programs read of so many vertices, by name: an array a declared property.

    The table has a row a vertex, in columns of `typed_column`; vertices behind its last row have no
    values. What stands for a missing value is said in `property_array`.
    """
    return {
        item.name: property_array(column_between(table, item.name, 0, vertices), item, codes)
        for item in declared
    }


def property_array(column: pa.Array, wanted: VertexProperty, codes: TextCodes) -> NDArray[Any]:
    """A column in the type that kernels take; a copy.

    Missing values are what the program says, and else 0, False or `NO_TEXT`. So are values of a
    type that the program does not read: its conditions refuse them when all vertices are there.
    """
    type_ = VALUE_TYPES[wanted.type]
    if column.null_count == len(column) or not takes(wanted, column):
        return np.full(len(column), _stand_in(wanted, codes), type_)
    if wanted.type is ValueType.TEXT:
        array = codes.codes(column)
        return np.where(array == NO_TEXT, _stand_in(wanted, codes), array)
    numbers = moment_numbers(column)
    values = numbers.fill_null(False if pa.types.is_boolean(numbers.type) else 0)
    array = np.array(values.to_numpy(zero_copy_only=False), type_)
    array[column.is_null().to_numpy(zero_copy_only=False)] = _stand_in(wanted, codes)
    return array


def takes(wanted: VertexProperty, column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a program can read a column as the type it declares; one without values it can."""
    no_values: bool = column.null_count == len(column)
    return no_values or property_type(column) in _TAKEN[wanted.type]


def moment_numbers(column: pa.Array) -> pa.Array:
    """Moments as their numbers, everything else as it is."""
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32())
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def _stand_in(wanted: VertexProperty, codes: TextCodes) -> Any:
    if wanted.missing is None:
        return NO_TEXT if wanted.type is ValueType.TEXT else 0
    if wanted.type is ValueType.TEXT:
        return codes.code(str(wanted.missing))
    return _number(wanted.type, wanted.missing)


def _number(type_: ValueType, value: Constant) -> Constant:
    """A constant as a number; dates and timestamps are given in ISO form."""
    if not type_.is_moment:
        return value
    moment = date_value(value) if type_ is ValueType.DATE else timestamp_value(value)
    assert moment is not None
    return moment_number(moment)


def column_between(table: pa.Table, name: str, first: int, stop: int) -> pa.Array:
    column = table.column(name)
    there = column.slice(first, stop - first)
    lacking = pa.nulls(stop - first - len(there), column.type)
    return pa.concat_arrays([*there.chunks, lacking])


class VertexColumns:
    """The table of a graph's vertices, and the arrays that programs have asked for."""

    def __init__(self, table: pa.Table, vertices: int) -> None:
        self.table = table
        """What is known; vertices may lie behind its last row."""
        self._vertices = vertices
        self.codes = TextCodes()
        """The dictionary of all texts of the graph, those of edges included."""
        self._arrays: dict[VertexProperty, GrowingArray] = {}

    def array(self, wanted: VertexProperty) -> NDArray[Any]:
        array = self._arrays.get(wanted)
        if array is None:
            made = property_arrays(self.table, (wanted,), self.codes, self._vertices)
            array = self._arrays[wanted] = GrowingArray(made[wanted.name])
        return array.view

    def code(self, text: str) -> int:
        return self.codes.code(text)

    def plain(self, wanted: VertexProperty) -> NDArray[Any]:
        column = column_between(self.table, wanted.name, 0, self._vertices)
        if wanted.type is ValueType.TEXT:
            texts = [wanted.missing if item is None else item for item in column.to_pylist()]
            return np.array([*texts, None], np.object_)[:-1]
        empty = 0 if wanted.missing is None else _number(wanted.type, wanted.missing)
        values = [empty if item is None else item for item in moment_numbers(column).to_pylist()]
        return np.array(values, VALUE_TYPES[wanted.type])

    def missing(self, name: str, first: int = 0) -> NDArray[np.int64]:
        """The numbers of the vertices, from one on, that have no value of a property."""
        column = column_between(self.table, name, first, self._vertices)
        absent: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
        return first + np.flatnonzero(absent)

    def append(self, count: int, rows: pa.Table | None = None) -> None:
        """More vertices, with the values that rows give them; the rows have the table's columns."""
        before = self._vertices
        self._vertices += count
        if rows is not None:
            self.table = _behind(self.table, rows, before)
        for wanted, array in self._arrays.items():
            column = column_between(self.table, wanted.name, before, self._vertices)
            array.extend(property_array(column, wanted, self.codes))

    def change(self, numbers: NDArray[np.int64], rows: pa.Table) -> pa.Table:
        """Give some vertices the values of rows, in their columns; the table of before.

        O(vertices) for each of these columns.
        """
        before = self.table
        self.table = _with_values(before, numbers, rows)
        self._read_again(numbers, rows.column_names)
        return before

    def restore(self, before: pa.Table, numbers: NDArray[np.int64]) -> None:
        """Undo `change`: put the earlier table back, and its values into the arrays."""
        self.table = before
        self._read_again(numbers, before.column_names)

    def _read_again(self, numbers: NDArray[np.int64], names: Iterable[str]) -> None:
        for wanted, array in self._arrays.items():
            if wanted.name in names:
                column = column_between(self.table, wanted.name, 0, self._vertices)
                values = column.take(pa.array(numbers))
                array.view[numbers] = property_array(values, wanted, self.codes)

    def truncate(self, vertices: int) -> None:
        self._vertices = vertices
        if self.table.num_rows > vertices:
            self.table = self.table.slice(0, vertices)
        for array in self._arrays.values():
            array.resize(vertices)


def _with_values(table: pa.Table, numbers: NDArray[np.int64], rows: pa.Table) -> pa.Table:
    """Write rows over a table at the given numbers; the last row of a number counts."""
    size = max(table.num_rows, int(numbers.max(initial=-1)) + 1)
    places = np.arange(size)
    places[numbers] = size + np.arange(len(numbers))
    taken = pa.array(places)
    columns = {}
    for name in table.column_names:
        column = column_between(table, name, 0, size)
        if name in rows.column_names:
            new = rows.column(name).combine_chunks()
            if column.type != new.type:  # It has had no values.
                column = pa.nulls(size, new.type)
            column = pa.concat_arrays([column, new]).take(taken)
        columns[name] = column
    return pa.table(columns)


def _behind(table: pa.Table, rows: pa.Table, first: int) -> pa.Table:
    """A table with rows behind it that begin with the number `first`.

    Types are those of the rows: they differ only where a column has had no values.
    """
    lacking = first - table.num_rows
    gap = pa.table({item.name: pa.nulls(lacking, item.type) for item in rows.schema})
    columns = {
        item.name: table.column(item.name)
        if table.schema.field(item.name).type == item.type
        else pa.nulls(table.num_rows, item.type)
        for item in rows.schema
    }
    whole = pa.concat_tables([pa.table(columns), gap, rows])
    pieces = max((column.num_chunks for column in whole.columns), default=0)
    return whole.combine_chunks() if pieces > _MOST_CHUNKS else whole


CODED_TYPES = {
    ValueType.TEXT: PropertyType.STRING,
    ValueType.DATE: PropertyType.DATE,
    ValueType.TIMESTAMP: PropertyType.TIMESTAMP,
}


class EdgeColumns:
    """A table of edges; `rows` are its rows in the order of edges where that is another."""

    def __init__(self, table: pa.Table, codes: TextCodes, rows: NDArray[Any] | None = None) -> None:
        self.table = table
        self._codes = codes
        self._rows = rows

    @property
    def types(self) -> dict[str, PropertyType]:
        return coded_types(self.table)

    def values(self, name: str, type_: ValueType, first: int, stop: int) -> NDArray[np.int64]:
        """Codes of texts, or numbers of moments."""
        column = self._column(name, first, stop)
        if type_ is ValueType.TEXT:
            return self._codes.codes(column)
        numbers = moment_numbers(column).cast(pa.int64()).fill_null(NO_MOMENT)
        codes: NDArray[np.int64] = numbers.to_numpy(zero_copy_only=False)
        return codes

    def plain(self, name: str, type_: ValueType, first: int, stop: int) -> NDArray[Any]:
        column = self._column(name, first, stop)
        if type_ is ValueType.TEXT:
            return np.array([*column.to_pylist(), None], np.object_)[:-1]
        numbers = moment_numbers(column).to_pylist()
        return np.array([NO_MOMENT if item is None else item for item in numbers], np.int64)

    def for_programs(self, rows: ColumnBatch) -> ColumnBatch:
        """Inserted rows without what views alone read; numbers with gaps as programs have them."""
        if not self.table.num_columns:
            return rows
        values = {}
        for name, given in rows.values.items():
            column = given
            if name in self.table.column_names:
                column = for_programs(self._typed(name, given, len(rows)))
            if column is not None:
                values[name] = column
        return ColumnBatch(rows.what, values)

    def put(self, rows: ColumnBatch, first: int) -> None:
        """Put rows at the numbers from `first` on, behind which there is nothing then.

        The table is right whether or not the graph then takes the rows.
        """
        if self.table.num_columns:
            values = {
                name: self._typed(name, rows.values.get(name), len(rows))
                for name in self.table.column_names
            }
            ColumnBatch(rows.what, {**rows.values, **values}).check_lengths()
            added = pa.table(values, self.table.schema)
            self.table = _appended(self.table.slice(0, first), added)

    def _typed(self, name: str, given: Any, rows: int) -> pa.Array:
        """Values of new edges in the type of a column; missing where none are given."""
        held = self.table.column(name)
        if given is None:
            return pa.nulls(rows, held.type)
        return as_type(given, property_type(held), name, "insert")

    def _column(self, name: str, first: int, stop: int) -> pa.Array:
        column = self.table.column(name)
        if self._rows is not None:
            whole = pa.chunked_array([*column.chunks, pa.nulls(1, column.type)])
            column = whole.take(pa.array(np.minimum(self._rows[first:stop], len(column))))
            first, stop = 0, stop - first
        there = column.slice(first, stop - first)
        return pa.concat_arrays([*there.chunks, pa.nulls(stop - first - len(there), column.type)])


def _appended(table: pa.Table, added: pa.Table) -> pa.Table:
    """A table with more rows, in few parts, none of which is copied often.

    A part is joined with the one before it unless that is longer: O(log rows) copies a row.
    """
    parts = table.to_batches()
    while parts and parts[-1].num_rows <= added.num_rows:
        last = pa.Table.from_batches([parts.pop()])
        added = pa.concat_tables([last, added]).combine_chunks()
    return pa.Table.from_batches([*parts, *added.to_batches()], table.schema)


def coded_types(table: pa.Table) -> dict[str, PropertyType]:
    types = {name: property_type(table.column(name)) for name in table.column_names}
    return {name: kind for name, kind in types.items() if kind in CODED_TYPES.values()}


class RowConditions(Protocol):
    """What a program needs of edges: the properties that it reads, and values that it can take."""

    @property
    def properties(self) -> Mapping[str, ValueType]: ...
    def check_rows(
        self, columns: Mapping[str, NDArray[Any]], text: Callable[[int], str]
    ) -> None: ...


class NamedGraph:
    """What rows are matched with: a graph, the ids of its vertices, the names of its columns.

    `timezone` is the zone in which predicates and windows read times, as in the catalog.
    """

    def __init__(
        self,
        resident: ResidentGraph,
        ids: VertexIds,
        names: ColumnNames,
        simple: bool,
        vertices: pa.Table = NO_TABLE,
        edges: pa.Table = NO_TABLE,
        edge_rows: NDArray[Any] | None = None,
    ) -> None:
        self.resident = resident
        self.vertex_columns = VertexColumns(vertices, resident.vertices)
        resident.vertex_data = self.vertex_columns
        self.edge_columns = EdgeColumns(edges, self.vertex_columns.codes, edge_rows)
        resident.edge_data = self.edge_columns
        resident.rows_are_new = bool(edges.num_columns)  # The number of an edge is its row there.
        self.ids = ids
        self.names = names
        self.simple = simple
        self.timezone = "UTC"
        self.dtypes = tuple(resident.dtypes.items())
        only = (name for name in edges.column_names if name not in names.properties)
        self.layout = BatchLayout((*names.all, *only))
        self._places = {name: at for at, name in enumerate(resident.dtypes)}
        self._given: dict[tuple[str, ...], NDArray[np.int64]] = {}

    @property
    def vertices(self) -> int:
        return self.resident.vertices

    @property
    def whose(self) -> str:
        """Empty: errors need not say whose edges these are, since all are here."""
        return ""

    def name(self, number: int) -> Any:
        return self.ids[number]

    def columns_of(self, rows: ColumnBatch) -> NDArray[np.int64]:
        """Which properties of the graph some rows give."""
        names = tuple(rows.values)[2:]
        if names not in self._given:
            self._given[names] = np.array([self._places[name] for name in names], np.int64)
        return self._given[names]

    def columns(self, wanted: Mapping[str, ValueType], edges: Int32) -> dict[str, NDArray[Any]]:
        resident = self.resident
        return {
            name: (resident.coded(name, type_) if type_ in CODED else resident.properties[name])[
                edges
            ]
            for name, type_ in wanted.items()
        }

    def entering(
        self, wanted: Mapping[str, ValueType], rows: ColumnBatch
    ) -> dict[str, NDArray[Any]]:
        if not self.edge_columns.table.num_columns:
            return rows.values
        first = self.resident.edges
        coded = {
            name: self.edge_columns.values(name, type_, first, first + len(rows))
            for name, type_ in wanted.items()
            if type_ in CODED
        }
        return {**rows.values, **coded}

    def check_edges(self, needed: RowConditions, edges: Int32) -> None:
        """Refuse edges (inside numbers) that a program cannot take, by their rows in `edges()`.

        Edges are brought into that order only where there is something to tell.
        """
        with suppress(InputError):
            self._check_rows(needed, edges)
            return
        numbers = self.resident.numbers
        listed = np.argsort(np.concatenate([numbers, np.arange(len(numbers), edges.max() + 1)]))
        self._check_rows(needed, edges[np.argsort(listed[edges])])

    def _check_rows(self, needed: RowConditions, edges: Int32) -> None:
        columns = self.columns(needed.properties, edges)
        needed.check_rows(columns, lambda at: self.text(int(edges[at])))

    def text(self, edge: int) -> str:
        edges = np.array([edge], np.int32)
        ends = [self.ids[int(end[0])] for end in self.resident.ends(edges)]
        values = [column[edge].item() for column in self.resident.properties.values()]
        return f"({', '.join(map(repr, [*ends, *values]))})"


class SavedGraph(NamedTuple):
    """Edges by the numbers that users know; `gone` are those that are not there now."""

    ids: VertexIds
    names: ColumnNames
    simple: bool
    src: Int32
    dst: Int32
    properties: dict[str, NDArray[Any]]
    gone: Int32
    timezone: str = "UTC"
    directed: bool = True


def saved_graph(known: NamedGraph) -> SavedGraph:
    """The current version of a graph. O(graph); shares nothing with it."""
    resident = known.resident
    later = np.arange(len(resident.numbers), resident.edges, dtype=np.int32)
    inside = np.concatenate([resident.numbers, later])
    columns = {name: column[inside] for name, column in resident.properties.items()}
    gone = np.flatnonzero(~resident.are_live(inside)).astype(np.int32)
    return SavedGraph(
        *(known.ids.copy(), known.names, known.simple, *resident.ends(inside), columns, gone),
        known.timezone,
        resident.directed,
    )


def restored_graph(saved: SavedGraph, vertices: pa.Table, edges: pa.Table) -> NamedGraph:
    """The same graph again, with the tables of its vertices and edges."""
    ends = saved.src, saved.dst
    resident = ResidentGraph(
        len(saved.ids), *ends, saved.properties, grows=True, directed=saved.directed
    )
    if len(saved.gone):
        resident.flip(no_edges(), resident.numbers[saved.gone])
    known = NamedGraph(resident, saved.ids.copy(), saved.names, saved.simple, vertices, edges)
    known.timezone = saved.timezone
    return known
