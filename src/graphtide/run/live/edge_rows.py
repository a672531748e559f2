"""Edges as users give them: arrays, frames, rows or dicts, read into columns.

Everything ends as `EdgeRows`: two columns of ids and a column a property. Programs read numbers
and truth values, so these are what a property can hold: int64, float64 (NaN where a value is
missing) or bool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.mixed_values import mixed_columns_error
from graphtide.model.schema import name_hint
from graphtide.run.live.given_ids import Ids
from graphtide.run.live.id_looks import plain_id
from graphtide.run.live.vertex_ids import id_column, named_rows

Column = NDArray[Any]
_NUMBERS = {int, float, type(None)}
_FEW = 1000

ROW_NUMBER = "number of the edge"
"""A property of every edge of a graph with columns for views. No program can name it."""


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
        given = (column for name, column in self.properties.items() if name != ROW_NUMBER)
        row = [self.src[at], self.dst[at], *(column[at] for column in given)]
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


def edge_columns(what: str, src: Any, dst: Any, properties: Mapping[str, Any]) -> EdgeRows:
    """Columns given one by one, checked to be equally long."""
    rows = EdgeRows(
        what,
        id_column(src, f"`src` of {what}"),
        id_column(dst, f"`dst` of {what}"),
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
