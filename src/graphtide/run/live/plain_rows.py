"""Rows that are already what reading would make of them, taken over as they are.

Columns of NumPy, tables of Arrow, and frames of pandas and Polars whose ids are int64 and whose
properties have the graph's own types, and lists of tuples of ints and floats: what a stream gives
again and again. A quick look tells them; whatever else there is, and whatever is wrong, is for
`edge_rows`, which reads every form and says what it cannot take. So both mean the same by
construction.

Reading one row takes 3 microseconds (columns, a tuple), 8 to 10 (Arrow) and 16 to 81 (pandas, more
where a frame is read for the first time) so; by `edge_rows`, a batch of Arrow takes 36 and a frame
of pandas 200 to 300.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.run.live.edge_rows import EdgeRows

_INT, _REAL = np.dtype(np.int64), np.dtype(np.float64)
_KINDS = {_INT: int, _REAL: float}
_FRAMES = ("pandas", "polars")
_ARROW = {"int64": _INT, "double": _REAL, "bool": np.dtype(np.bool_)}


class PlainRows:
    """Takes rows over for one graph, whose columns are called so and have these types."""

    def __init__(self, src: str, dst: str, properties: Sequence[tuple[str, np.dtype[Any]]]) -> None:
        self._src, self._dst, self._properties = src, dst, tuple(properties)
        self._types = {src: _INT, dst: _INT, **dict(properties)}
        self._row = tuple(self._types.values())
        self._row_kinds = tuple(_KINDS.get(dtype) for dtype in self._row)
        self._names = tuple(name for name, _ in properties)
        self._schema: pa.Schema | None = None
        self._fits = False
        self._places: list[int] = []

    def taken_over(self, what: str, given: Any) -> EdgeRows | None:
        """The rows, or None where they must be read."""
        kind = type(given)
        if kind is list:
            return self._of_tuples(what, given) if given and type(given[0]) is tuple else None
        if kind is pa.Table or kind is pa.RecordBatch:
            return self._of_table(what, given)
        if kind is dict:
            return self._of_columns(what, given)
        return self._of_frame(what, given) if _is_frame(kind) else None

    def _of_columns(self, what: str, columns: Mapping[str, Any]) -> EdgeRows | None:
        src: Any = columns.get(self._src)
        dst: Any = columns.get(self._dst)
        if not (_is_plain(src, _INT) and _is_plain(dst, _INT)) or len(src) != len(dst):
            return None
        properties, words = {}, [src, dst]
        for name, dtype in self._properties:
            column = columns.get(name)
            if column is None:
                continue
            if not _is_plain(column, dtype) or len(column) != len(src):
                return None
            properties[name] = column
            words.append(column.view(_INT) if dtype == _REAL else column)
        if len(properties) + 2 != len(columns):
            return None
        return EdgeRows(what, src, dst, properties, np.array(words, _INT))

    def _of_frame(self, what: str, frame: Any) -> EdgeRows | None:
        """A frame of pandas whose index has no name, which is no column then, or one of Polars."""
        names = list(frame.columns)
        index = getattr(frame, "index", None)
        if index is not None and any(name is not None for name in index.names):
            return None
        if len(set(names)) < len(names) or not all(name in self._types for name in names):
            return None
        return self._of_columns(what, {name: frame[name].to_numpy() for name in names})

    def _of_table(self, what: str, table: pa.Table | pa.RecordBatch) -> EdgeRows | None:
        schema = table.schema
        if self._schema is None or not schema.equals(self._schema):
            self._schema, self._fits = schema, self._fitting(schema)
        if not self._fits:
            return None
        if self._places:
            rows = self._of_buffers(what, table)
            if rows is not None:
                return rows
        columns = {}
        for name, column in zip(self._schema_names, table.itercolumns(), strict=True):
            # Missing numbers make floats of whole numbers, and NaN of floats, as reading does.
            columns[name] = column.to_numpy(zero_copy_only=False)
        return self._of_columns(what, columns)

    def _of_buffers(self, what: str, table: pa.Table | pa.RecordBatch) -> EdgeRows | None:
        """Columns of whole words in one piece, by what Arrow keeps them in.

        A struct of all columns hands their buffers out together, in 2 microseconds; asking three
        columns for their values takes 5. No buffer is shorter than its column, so where all
        together are no longer, none has values that the table does not show.
        """
        batches = [table] if type(table) is pa.RecordBatch else table.to_batches()
        width, count = len(self._places), table.num_rows
        if len(batches) != 1 or not count:
            return None
        buffers = batches[0].to_struct_array().buffers()
        data = [buffers[place] for place in self._places]
        if any(buffers[1::2]) or sum(map(len, data)) != width * count * _INT.itemsize:
            return None  # Values may be missing, or it is a slice.
        lines = np.frombuffer(bytearray().join(data), _INT).reshape(width, count)
        return _of_lines(what, lines, self._given)

    def _fitting(self, schema: pa.Schema) -> bool:
        """Whether columns have names and types of the graph's, each once.

        Where all have whole words, their data are at `_places` among the buffers of a struct.
        """
        self._schema_names = names = schema.names
        self._given = [item for item in self._properties if item[0] in names]
        whole = {self._src, self._dst} <= set(names) and all(
            dtype in _KINDS for _, dtype in self._given
        )
        order = [self._src, self._dst, *(name for name, _ in self._given)] if whole else []
        self._places = [2 * names.index(name) + 2 for name in order]
        return len(set(names)) == len(names) and all(
            name in self._types and _ARROW.get(str(kind)) == self._types[name]
            for name, kind in zip(names, schema.types, strict=True)
        )

    def _of_tuple(self, what: str, row: tuple[Any, ...]) -> EdgeRows | None:
        """A single row, cell by cell."""
        width = len(row)
        if width < 2 or tuple(map(type, row)) != self._row_kinds[:width]:
            return None
        lines = np.empty((width, 1), _INT)
        reals = lines.view(_REAL)
        for at in range(width):
            try:
                (lines if self._row[at] == _INT else reals)[at, 0] = row[at]
            except OverflowError:
                return None
        return _of_lines(what, lines, self._properties[: width - 2])

    def _of_tuples(self, what: str, rows: list[Any]) -> EdgeRows | None:
        if len(rows) == 1:
            return self._of_tuple(what, rows[0])
        width = len(rows[0])
        if not 2 <= width <= len(self._properties) + 2 or set(map(type, rows)) != {tuple}:
            return None
        if set(map(len, rows)) != {width}:
            return None
        flat, columns = list(chain.from_iterable(rows)), []
        lines = np.empty((width, len(rows)), _INT)
        for at in range(width):
            dtype, values = self._row[at], flat[at::width]
            if set(map(type, values)) != {_KINDS.get(dtype)}:
                return None
            column = lines[at] if dtype == _INT else lines[at].view(dtype)
            try:
                column[:] = values
            except OverflowError:
                return None
            columns.append(column)
        src, dst, *others = columns
        return EdgeRows(what, src, dst, dict(zip(self._names, others, strict=False)), lines)


def _of_lines(
    what: str, lines: NDArray[np.int64], given: Sequence[tuple[str, np.dtype[Any]]]
) -> EdgeRows:
    """Rows by their words: a line for each end, and for each property that is given."""
    reals = lines.view(_REAL)
    properties = {
        name: (lines if dtype == _INT else reals)[at] for at, (name, dtype) in enumerate(given, 2)
    }
    return EdgeRows(what, lines[0], lines[1], properties, lines)


def _is_plain(column: Any, dtype: np.dtype[Any]) -> bool:
    return type(column) is np.ndarray and column.dtype == dtype and column.ndim == 1


def _is_frame(kind: type) -> bool:
    """Whether it is a frame of a library that need not be there; its name tells."""
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] in _FRAMES
