"""Edges as users give them: arrays, frames, rows or dicts, read into columns.

Everything ends as `EdgeRows`: two columns of ids and one column per property. Programs read numbers
and truth values, so a property holds int64, float64 (NaN where a value is missing) or bool.

`read_rows` reads every form and says what it cannot take. `PlainRows` is a short cut in front of it
for rows that already are what reading would make of them, which streams give again and again:
columns of NumPy, tables of Arrow and frames whose ids are int64 and whose properties have the
graph's own types, and lists of tuples of ints and floats. It returns None for anything else, and
for anything that is wrong, so both mean the same. One row takes 3 microseconds that way (columns, a
tuple), 8 to 10 (Arrow) and 16 to 81 (pandas); by `read_rows`, a batch of Arrow takes 36 and a frame
of pandas 200 to 300.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.mixed_values import mixed_columns_error
from graphtide.model.schema import name_hint
from graphtide.run.live.ids import Ids, plain_id
from graphtide.run.live.vertex_ids import id_column, named_rows

Column = NDArray[Any]
_NUMBERS = {int, float, type(None)}
_FEW = 1000


@dataclass(slots=True)
class EdgeRows:
    """Edges by the users' ids; `what` is where they came from, for errors.

    `lines` are all columns as the words that a kernel takes, where they were made together.
    """

    what: str
    src: Ids
    dst: Ids
    properties: dict[str, Column]
    lines: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.src)

    def row(self, at: int) -> str:
        """One row as a user would write it."""
        row = [self.src[at], self.dst[at], *(column[at] for column in self.properties.values())]
        return f"({', '.join(repr(plain_id(item)) for item in row)})"


@dataclass(frozen=True)
class ColumnNames:
    """How the columns of a graph's edges are called."""

    src: str
    dst: str
    properties: tuple[str, ...] = ()

    @cached_property
    def all(self) -> tuple[str, ...]:
        """In the order in which rows hold them."""
        return (self.src, self.dst, *self.properties)


def edge_columns(
    what: str,
    src: Any,
    dst: Any,
    properties: Mapping[str, Any],
    names: tuple[str, str] = ("src", "dst"),
) -> EdgeRows:
    """Columns given one by one, checked to be equally long; `names` are those of the ends."""
    rows = EdgeRows(
        what,
        id_column(src, f"`{names[0]}` of {what}"),
        id_column(dst, f"`{names[1]}` of {what}"),
        {name: property_column(values, name, what) for name, values in properties.items()},
    )
    columns = [rows.dst, *rows.properties.values()]
    if any(len(column) != len(rows) for column in columns):
        lengths = {"src": len(rows.src), "dst": len(rows.dst)}
        lengths |= {name: len(column) for name, column in rows.properties.items()}
        listed = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"the columns of {what} differ in length: {listed}")
    return rows


def read_rows(what: str, given: Any, names: ColumnNames) -> EdgeRows:
    """Edges in any form but numbers: a frame, a dict of columns, tuples, dicts.

    Rows hold src, dst and any number of the properties, in the order of `names`.
    """
    if isinstance(given, list) and given and set(map(type, given)) == {tuple}:
        return _from_tuples(what, given, names)
    if isinstance(given, Mapping):
        return _from_columns(what, given, names)
    if hasattr(given, "__arrow_c_stream__") and not isinstance(given, pa.ChunkedArray):
        return _from_columns(what, frame_columns(what, given), names)
    rows = _listed(what, given)
    if rows and isinstance(rows[0], Mapping):
        return _from_columns(what, _dicts_as_columns(what, rows), names)
    return _from_columns(what, _tuples_as_columns(what, rows, names), names)


def _from_tuples(what: str, rows: list[tuple[Any, ...]], names: ColumnNames) -> EdgeRows:
    """Rows of src, dst and any number of the properties."""
    width = len(rows[0])
    if not 2 <= width <= len(names.all) or len(set(map(len, rows))) > 1:
        return _from_columns(what, _tuples_as_columns(what, rows, names), names)
    src, dst, *others = zip(*rows, strict=True) if len(rows) < _FEW else _columns(rows, width)
    properties = {
        name: property_column(column, name, what)
        for name, column in zip(names.properties, others, strict=False)
    }
    ends = id_column(src, f"`src` of {what}"), id_column(dst, f"`dst` of {what}")
    return EdgeRows(what, *ends, properties)


def _columns(rows: list[tuple[Any, ...]], width: int) -> list[list[Any]]:
    """Rows turned into columns one by one: an iterator a row costs more where there are many."""
    return [[row[at] for row in rows] for at in range(width)]


def frame_columns(what: str, frame: Any, *, mixed: bool = False) -> dict[str, Any]:
    """The columns of anything that hands out Arrow; an index of pandas is none.

    InputError where two have one name: a dict would keep the last and lose the others. So is a
    column with values of several types, unless `mixed` takes it as it is.
    """
    try:
        table = frame if type(frame) is pa.Table else pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
        if mixed and hasattr(frame, "columns") and len(set(frame.columns)) == len(frame.columns):
            return {str(name): list(frame[name]) for name in frame.columns}
        raise mixed_columns_error(what, frame, error) from None
    check_names(what, table.column_names)
    return {
        name: table.column(at)
        for at, name in enumerate(table.column_names)
        if not name.startswith("__index_level_")
    }


def check_names(what: str, names: Sequence[str], where: str | None = None) -> None:
    """InputError where a name stands for several columns."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"{what}: the column '{twice}' is there more than once",
            where=where or f"columns found: {', '.join(names)}",
            hint="give each a name of its own, or leave all but one out",
        )


def property_column(values: Any, name: str, what: str) -> Column:
    """A property as int64, float64 or bool; InputError if it holds anything else.

    Decimals become floats.
    """
    column = _property_array(values)
    if column is None:
        raise InputError(
            f"the property '{name}' of {what} does not hold numbers of 64 bits or truth values",
            where=_first_other(values),
            hint="give numbers, truth values, texts, dates or timestamps, all of one type, "
            "or leave it out where the graph is made",
        )
    return column


def _first_other(values: Any) -> str | None:
    """The first value that is no number, or none of 64 bits, with its row."""
    if not isinstance(values, Iterable):
        return None
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    others = (
        at
        for at, item in enumerate(plain)
        if not isinstance(item, int | float | None)
        or (isinstance(item, int) and not -(2**63) <= item < 2**63)
    )
    return next((f"row {at}: {plain[at]!r}" for at in others), None)


def holds_numbers(values: Any) -> bool:
    """Whether a column of a frame can be a property."""
    return _property_array(values) is not None


def _property_array(values: Any) -> Column | None:
    if isinstance(values, list | tuple):
        return _list_numbers(values)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        values = _arrow_numbers(values)
    elif not isinstance(values, np.ndarray) and hasattr(values, "__array__"):
        values = np.asarray(values)
    elif not isinstance(values, np.ndarray):
        values = _list_numbers(values)
    if values is None or values.ndim != 1:
        return None
    match values.dtype.kind:
        case "b":
            return np.array(values, np.bool_)
        case "i" | "u":
            fits = values.dtype != np.uint64 or not len(values) or values.max() < 2**63
            return np.array(values, np.int64) if fits else None
        case "f":
            return np.array(values, np.float64)
        case "O":
            return _list_numbers(values.tolist())
        case _:
            return None


def _arrow_numbers(values: pa.Array | pa.ChunkedArray) -> Column | None:
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        if values.null_count:
            # As a list of such numbers is read: those beyond 2**53 are rounded.
            values = values.cast(pa.float64(), safe=False)
        chunked = isinstance(values, pa.ChunkedArray)
        column: Column = np.array(values.to_numpy() if chunked else values.to_numpy(False))
        return column
    return None


def _list_numbers(values: Any) -> Column | None:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        return None
    plain = values if isinstance(values, list | tuple) else list(values)
    kinds = set(map(type, plain))
    if not kinds <= _NUMBERS:
        plain = [_plain_number(item) for item in plain]
        kinds = set(map(type, plain))
    if kinds == {bool}:
        return np.array(plain, np.bool_)
    if kinds == {int}:
        try:
            return np.array(plain, np.int64)
        except OverflowError:
            return None  # As a float it would be another number.
    if not kinds <= _NUMBERS:
        return None
    if type(None) in kinds:
        plain = [np.nan if item is None else item for item in plain]
    return np.array(plain, np.float64)


def _plain_number(item: Any) -> Any:
    """A number of NumPy or Arrow, or a decimal, as one of Python; anything else as it is."""
    item = plain_id(item)
    return float(item) if isinstance(item, Decimal) else item


def _from_columns(what: str, columns: Mapping[str, Any], names: ColumnNames) -> EdgeRows:
    for name in columns:
        if name not in names.all:
            known = ", ".join(names.all)
            hint = name_hint(name, names.all, f"the columns are {known}")
            raise InputError(f"{what} has a column '{name}', which edges do not have", hint=hint)
    for name in (names.src, names.dst):
        if name not in columns:
            listed = ", ".join(map(str, columns)) or "none"
            raise InputError(f"{what} has no column '{name}'", hint=f"it has: {listed}")
    properties = {name: columns[name] for name in names.properties if name in columns}
    return edge_columns(what, columns[names.src], columns[names.dst], properties)


def _listed(what: str, given: Any) -> list[Any]:
    if isinstance(given, np.ndarray):
        return list(given.tolist())
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(
            f"{what} cannot be {given!r}",
            hint="give a list of (src, dst) rows, a frame, or a list of edge numbers",
        )
    return list(given)


def _dicts_as_columns(what: str, rows: Sequence[Any]) -> dict[str, list[Any]]:
    names = list(rows[0])
    bad = [
        at for at, row in enumerate(rows) if not isinstance(row, Mapping) or set(row) != set(names)
    ]
    if bad:
        raise InputError(
            f"the rows of {what} differ in their keys",
            where=named_rows(bad, lambda at: repr(rows[at])),
            hint=f"the first has {', '.join(map(str, names))}",
        )
    return {name: [row[name] for row in rows] for name in names}


def _tuples_as_columns(what: str, rows: Sequence[Any], names: ColumnNames) -> dict[str, list[Any]]:
    first = rows[0] if rows else names.all
    width = len(first) if isinstance(first, Sequence) and not isinstance(first, str) else 0
    bad = [
        at
        for at, row in enumerate(rows)
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != width
    ]
    if bad or not 2 <= width <= len(names.all):
        raise InputError(
            f"{what} has rows that are no edges",
            where=named_rows(bad or [0], lambda at: repr(rows[at])),
            hint=f"a row is ({', '.join(names.all)})",
        )
    return {name: [row[at] for row in rows] for at, name in enumerate(names.all[:width])}


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
