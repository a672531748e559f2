"""Records as words and back: what a row of words says, column by column, is in `columns`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.arrow_columns import (
    Readers,
    as_it_is_now,
    in_one_piece,
    is_arrow,
    is_certain,
    with_plain_nulls,
)
from graphtide.engine.dataflow.columns import decode_column, encode_column
from graphtide.engine.dataflow.texts import Texts as Texts
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Schema

Int64 = NDArray[np.int64]


def encode(rows: Any, schema: Schema, texts: Texts) -> Int64:
    """Rows of words, with two columns behind for version and diff, from tuples or from columns.

    Columns come as a mapping of names to arrays, or as a table with `column_names` or `columns`.
    """
    return Columns(rows, schema).words(schema, texts)


class Columns:
    """Rows that have been given and are not words yet: their columns, all of one length."""

    def __init__(self, rows: Any, schema: Schema, readers: Readers | None = None) -> None:
        columns = _columns(rows, schema)
        self._readers = readers or Readers()
        self.count = len(columns[0]) if columns else _length(rows)
        self.schema = schema
        self._given = {
            name: with_plain_nulls(values) if is_arrow(values) else values
            for (name, _), values in zip(schema, columns, strict=True)
        }
        for name, values in self._given.items():
            if len(values) != self.count:
                raise InputError(
                    f"Column {name!r} has {len(values)} values, the first one {self.count}",
                    hint="give columns of equal length",
                )

    def settle(self, chosen: Schema) -> None:
        """Keep some columns, all of Arrow, as they are now, whoever changes what they lie in."""
        for name, _ in chosen:
            self._given[name] = as_it_is_now(self._given[name])

    @property
    def certain(self) -> bool:
        """True where all are columns of Arrow and fit by their types."""
        return all(
            is_arrow(self._given[name]) and is_certain(kind, self._given[name])
            for name, kind in self.schema
        )

    def words(self, chosen: Schema, texts: Texts) -> Int64:
        """Rows of words of some columns, with room for version and diff; see `write`."""
        words = np.empty((len(chosen) + 2, self.count), np.int64)
        self.write(words, chosen, texts)
        return words.T

    def write(self, target: Int64, chosen: Schema, texts: Texts) -> None:
        """Write the words of some columns, each to a row of the target.

        An InputError where any column cannot hold one of its values, chosen or not.
        """
        places = {name: number for number, (name, _) in enumerate(chosen)}
        for name, kind in self.schema:
            values, place = self._given[name], places.get(name)
            read, certain = None, False
            if is_arrow(values) and values.null_count == 0:
                read, certain = self._readers.of(name, kind, values)
            if place is None and certain:
                continue
            if read is not None and certain:
                words = read(in_one_piece(values), texts)
            else:
                words = encode_column(name, kind, values, texts)
            if place is not None:
                target[place] = words


def decode(words: Int64, schema: Schema, texts: Texts) -> list[NDArray[Any]]:
    """The columns of rows of words."""
    return [
        decode_column(words[:, number], column_type, texts)
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
