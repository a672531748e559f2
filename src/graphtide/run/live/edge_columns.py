"""The texts, dates and timestamps of the edges of a graph in memory.

They stand in an Arrow table, a row an edge by the number that users know it by; edges behind the
last row have no values. Views read the table, and programs what `values` makes of it. Texts share
the dictionary of the vertices, so that a text of an edge compares with one of a vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.edge_data import NO_MOMENT
from graphtide.model.schema import PropertyType
from graphtide.plan.expressions import ValueType
from graphtide.run.live.vertex_columns import TextCodes, moment_numbers
from graphtide.run.views.typed_columns import property_type

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
        """The columns that programs read as codes or moments, with what they hold."""
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
        """The values one by one, as Python has them."""
        column = self._column(name, first, stop)
        if type_ is ValueType.TEXT:
            return np.array([*column.to_pylist(), None], np.object_)[:-1]
        numbers = moment_numbers(column).to_pylist()
        return np.array([NO_MOMENT if item is None else item for item in numbers], np.int64)

    def _column(self, name: str, first: int, stop: int) -> pa.Array:
        column = self.table.column(name)
        if self._rows is not None:
            whole = pa.chunked_array([*column.chunks, pa.nulls(1, column.type)])
            column = whole.take(pa.array(np.minimum(self._rows[first:stop], len(column))))
            first, stop = 0, stop - first
        there = column.slice(first, stop - first)
        return pa.concat_arrays([*there.chunks, pa.nulls(stop - first - len(there), column.type)])


def coded_types(table: pa.Table) -> dict[str, PropertyType]:
    """The columns of edges that programs read as codes or moments, with what they hold."""
    types = {name: property_type(table.column(name)) for name in table.column_names}
    return {name: kind for name, kind in types.items() if kind in CODED_TYPES.values()}
