"""An advance of a graph that keeps columns for views: rows apart for the graph and for the table.

Every inserted row becomes a new edge there, so that the number of an edge is the row of its
values for good. The graph is told so by one more property, `ROW_NUMBER`, in which no two edges
agree: a row never takes an edge that is known and has left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.run.live.edge_rows import ROW_NUMBER, ColumnNames, frame_columns
from graphtide.run.live.vertex_ids import named_rows
from graphtide.run.views.typed_columns import for_programs, property_type, typed_column


def with_numbers(properties: Mapping[str, Any], edges: int) -> dict[str, Any]:
    """The properties of the first edges of such a graph, with their numbers."""
    return {**properties, ROW_NUMBER: np.arange(edges)}


def without_numbers(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that users gave."""
    return {name: column for name, column in properties.items() if name != ROW_NUMBER}


def user_names(names: ColumnNames) -> ColumnNames:
    """The columns that users gave."""
    return replace(names, properties=tuple(n for n in names.properties if n != ROW_NUMBER))


class KeptRows:
    """Reads the rows of one advance. `kept` has the values of the edges that are known."""

    def __init__(self, names: ColumnNames, kept: pa.Table) -> None:
        numbers = user_names(names).properties
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
        for_graph[ROW_NUMBER] = np.arange(first, first + rows)
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
