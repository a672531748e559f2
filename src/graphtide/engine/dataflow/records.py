"""Records as words and back: ints as they are, floats in order, truth as 0 and 1, text by code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Schema
from graphtide.plan.dataflow_expressions import BOOL, FLOAT, INT, TEXT, ColumnType

Int64 = NDArray[np.int64]
_BELOW_SIGN = np.int64((1 << 63) - 1)
_KINDS = {INT: "iu", FLOAT: "iuf", BOOL: "b", TEXT: "UO"}


class Texts:
    """The dictionary of all texts of a machine: a code for each, never forgotten."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._texts: list[str] = []

    def code(self, text: str) -> int:
        """The code of a text, a new one where it is new."""
        found = self._codes.setdefault(text, len(self._texts))
        if found == len(self._texts):
            self._texts.append(text)
        return found

    def text(self, code: int) -> str:
        """The text of a code."""
        return self._texts[code]


def encode(rows: Any, schema: Schema, texts: Texts) -> Int64:
    """Rows of words, with two columns behind for version and diff, from tuples or from columns.

    Columns come as a mapping of names to arrays, or as a table with `column_names` or `columns`.
    """
    columns = _columns(rows, schema)
    count = len(columns[0]) if columns else _length(rows)
    words = np.empty((count, len(schema) + 2), np.int64)
    for number, ((name, column_type), values) in enumerate(zip(schema, columns, strict=True)):
        if len(values) != count:
            raise InputError(
                f"Column {name!r} has {len(values)} values, the first one {count}",
                hint="give columns of equal length",
            )
        words[:, number] = _encode_column(name, column_type, values, texts)
    return words


def decode(words: Int64, schema: Schema, texts: Texts) -> list[NDArray[Any]]:
    """The columns of rows of words."""
    return [
        _decode_column(words[:, number], column_type, texts)
        for number, (_, column_type) in enumerate(schema)
    ]


def records(words: Int64, schema: Schema, texts: Texts) -> list[tuple[Any, ...]]:
    """The rows of words as tuples of Python values."""
    columns = [column.tolist() for column in decode(words, schema, texts)]
    return list(zip(*columns, strict=True)) if columns else [()] * len(words)


def _length(rows: Any) -> int:
    return len(rows) if hasattr(rows, "__len__") else len(list(rows))


def _columns(rows: Any, schema: Schema) -> list[Any]:
    """The columns in the order of the schema."""
    names = [name for name, _ in schema]
    if isinstance(rows, Mapping) or hasattr(rows, "column_names") or hasattr(rows, "columns"):
        given = list(getattr(rows, "column_names", getattr(rows, "columns", rows)))
        if set(given) != set(names):
            raise InputError(
                f"The columns are {', '.join(map(str, given))}",
                hint=f"give {', '.join(names)}",
            )
        return [rows[name] for name in names]
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == len(names):
        return [rows[:, number] for number in range(len(names))]
    return _columns_of_tuples(rows, names)


def _columns_of_tuples(rows: Iterable[Sequence[Any]], names: list[str]) -> list[Any]:
    listed = list(rows)
    for row in listed:
        if not isinstance(row, tuple | list) or len(row) != len(names):
            raise InputError(
                f"{row!r} is not a record of {len(names)} columns",
                hint=f"give a list of tuples ({', '.join(names)})",
            )
    return [[row[number] for row in listed] for number in range(len(names))]


def _encode_column(name: str, column_type: ColumnType, values: Any, texts: Texts) -> Int64:
    array = np.asarray(values)
    if len(array) == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in _KINDS[column_type]:
        raise InputError(
            f"Column {name!r} is of type {column_type} and cannot hold {array.dtype} values, "
            f"such as {array.flat[0]!r}",
            hint="convert them first",
        )
    if column_type is TEXT:
        return np.array([texts.code(_text(name, value)) for value in array.tolist()], np.int64)
    if column_type is FLOAT:
        return _ordered(array.astype(np.float64))
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise InputError(f"Column {name!r} holds a number beyond int64: {array.max()}")
    return array.astype(np.int64)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"Column {name!r} is of type str and cannot hold {value!r}")
    return value


def _ordered(numbers: NDArray[np.float64]) -> Int64:
    """Floats as words that order the way they do; one zero, one NaN."""
    bits = np.where(np.isnan(numbers), np.int64(0x7FF8 << 48), (numbers + 0.0).view(np.int64))
    return np.where(bits < 0, bits ^ _BELOW_SIGN, bits)


def _decode_column(words: Int64, column_type: ColumnType, texts: Texts) -> NDArray[Any]:
    if column_type is FLOAT:
        return np.where(words < 0, words ^ _BELOW_SIGN, words).view(np.float64)
    if column_type is BOOL:
        return words != 0  # type: ignore[no-any-return]
    if column_type is TEXT:
        return np.array([texts.text(code) for code in words.tolist()], object)
    return words.copy()
