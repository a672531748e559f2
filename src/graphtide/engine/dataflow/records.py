"""Records as words and back: rows of words from tuples, mappings, tables and arrays.

A row of words has a word per column, then room for the version and the diff. Which columns are
there, and whether they have one length, is checked here; what each value becomes is in `columns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.dataflow.columns import (
    FEW,
    as_it_is_now,
    decode_column,
    encode_column,
    few_values,
    fits,
    hides_nulls,
    in_one_piece,
    is_arrow,
    is_certain,
    reader_of,
)
from graphtide.engine.dataflow.lent import Given, Lent, Read
from graphtide.engine.dataflow.texts import Texts as Texts
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Schema


class ColumnReaders:
    """How the columns of one input are read: found out once for tables of the same types."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.names = [name for name, _ in schema]
        self.all_names = frozenset(self.names)
        self._chosen: Schema | None = None
        self._types: list[Any] = []
        self._reads: list[Read] | None = None
        self._listed: list[int] = []
        self._lent: Lent | None = None

    def as_they_lie(self, given: list[Any], chosen: Schema) -> list[Read] | None:
        """How to read the columns that are chosen; None where not all are certain, or any is not
        to be read as it lies."""
        if given and not is_arrow(given[0]):
            return None
        try:
            types = [values.type for values in given]
        except AttributeError:  # Not all of them are Arrow's.
            return None
        if chosen is not self._chosen or types != self._types:
            self._reads = self._found(types, chosen)
            self._chosen, self._types, self._lent = chosen, types, None
            self._listed = [n for n, kind in enumerate(types) if pa.types.is_dictionary(kind)]
        reads = self._reads
        if reads is not None:
            for values in given:
                if values.null_count:
                    return None
            for number in self._listed:
                if hides_nulls(given[number]):
                    return None
        return reads

    def _found(self, types: list[Any], chosen: Schema) -> list[Read] | None:
        places = {name: place for place, (name, _) in enumerate(chosen)}
        found = []
        for number, (name, kind) in enumerate(self.schema):
            if not fits(kind, types[number]):
                return None
            if name in places:
                read = reader_of(kind, types[number])
                if read is None:
                    return None
                found.append(Read(number, places[name], read))
        return found

    def few_words(self, rows: Any, chosen: Schema, fed: Given) -> Int64 | None:
        """Rows of words of the columns that are chosen, version and diff.

        For a few rows of the same types as the last that were read; None for all else, and where
        anything is out of the ordinary. It looks at what `Columns` looks at, in as few steps of
        Python's as that takes: ten rows are read in less time than it takes to call all of that.
        """
        reads, names = self._reads, self.names
        if not reads or chosen is not self._chosen or len(rows) != len(names):
            return None
        try:
            given = [rows[name] for name in names]
            if [values.type for values in given] != self._types:
                return None
            if self._lent is None:
                self._lent = Lent(self._types, reads)
            return self._lent.read_columns(given, fed)
        except (KeyError, AttributeError):  # Other columns, not all of Arrow, or not in one piece.
            return None


Int64 = NDArray[np.int64]
_ROW = (tuple, list)


def encode(rows: Any, schema: Schema, texts: Texts) -> Int64:
    """Rows of words, with two columns behind for version and diff, from tuples or from columns.

    Columns come as a mapping of names to arrays, or as a table with `column_names` or `columns`.
    """
    return InputColumns(rows, ColumnReaders(schema)).words(schema, texts)


class InputColumns:
    """Rows that have been given and are not words yet: their columns, all of one length."""

    def __init__(self, rows: Any, readers: ColumnReaders) -> None:
        self._readers = readers
        self._given = given = _columns(rows, readers)
        self.count = len(given[0]) if given else _length(rows)
        if len(set(map(len, given))) > 1:
            self._refuse_lengths()

    def _refuse_lengths(self) -> None:
        """Say which column is longer or shorter than the first one."""
        for name, values in zip(self._readers.names, self._given, strict=True):
            if len(values) != self.count:
                raise InputError(
                    f"Column {name!r} has {len(values)} values, the first one {self.count}",
                    hint="give columns of equal length",
                )

    def settle(self, chosen: Schema) -> None:
        """Keep some columns, all of Arrow, as they are now, whoever changes what they lie in."""
        names = {name for name, _ in chosen}
        self._given = [
            as_it_is_now(values) if name in names else values
            for name, values in zip(self._readers.names, self._given, strict=True)
        ]

    @property
    def certain(self) -> bool:
        """True where all are columns of Arrow and fit by their types."""
        return all(
            is_arrow(values) and is_certain(kind, values)
            for (_, kind), values in zip(self._readers.schema, self._given, strict=True)
        )

    def words(self, chosen: Schema, texts: Texts) -> Int64:
        """Rows of words of some columns, with room for version and diff; see `write`."""
        words = np.empty((len(chosen) + 2, self.count), np.int64)
        self.write(words, chosen, texts)
        return words.T

    def write(self, target: Int64, chosen: Schema, texts: Texts) -> None:
        """Write the words of some columns, each to a row of the target; see `arrays`."""
        for place, words in enumerate(self.arrays(chosen, texts)):
            target[place] = words

    def arrays(self, chosen: Schema, texts: Texts) -> list[NDArray[Any]]:
        """The words of some columns, each an array of ints: of Arrow's own memory where they lie.

        An InputError where any column cannot hold one of its values, chosen or not.
        """
        columns = [np.empty(0, np.int64)] * len(chosen)
        reads = self._readers.as_they_lie(self._given, chosen)
        if reads is None:
            return self._each(columns, chosen, texts)
        if self.count > 0:
            for number, place, read in reads:
                columns[place] = read(in_one_piece(self._given[number]), texts)
        return columns

    def _each(self, found: list[NDArray[Any]], chosen: Schema, texts: Texts) -> list[NDArray[Any]]:
        """The same, column by column and value by value, where that has to be."""
        places = {name: place for place, (name, _) in enumerate(chosen)}
        for (name, kind), values in zip(self._readers.schema, self._given, strict=True):
            if name not in places and is_arrow(values) and is_certain(kind, values):
                continue
            words = encode_column(name, kind, values, texts)
            if name in places:
                found[places[name]] = words
        return found


def decode(words: Int64, schema: Schema, texts: Texts) -> list[NDArray[Any]]:
    """The columns of rows of words."""
    return [
        decode_column(words[:, number], column_type, texts)
        for number, (_, column_type) in enumerate(schema)
    ]


def records(words: Int64, schema: Schema, texts: Texts) -> list[tuple[Any, ...]]:
    """The rows of words as tuples of Python values."""
    if 0 < len(words) <= FEW:
        return few_records(words.tolist(), schema, texts)
    columns = [column.tolist() for column in decode(words, schema, texts)]
    return list(zip(*columns, strict=True)) if columns else [()] * len(words)


def few_records(
    rows: Sequence[Sequence[int]], schema: Schema, texts: Texts
) -> list[tuple[Any, ...]]:
    """The same of a few rows, one at least, which may have more words behind."""
    columns: list[Any] = []
    for (_, column_type), words in zip(schema, zip(*rows, strict=True), strict=False):
        values = few_values(column_type, words, texts)
        if values is None:
            values = decode_column(np.array(words, np.int64), column_type, texts).tolist()
        columns.append(values)
    return list(zip(*columns, strict=True)) if columns else [()] * len(rows)


def _length(rows: Any) -> int:
    return len(rows) if hasattr(rows, "__len__") else len(list(rows))


def _columns(rows: Any, readers: ColumnReaders) -> list[Any]:
    """The columns in the order of the schema."""
    names = readers.names
    if isinstance(rows, dict) and len(rows) == len(names):
        with suppress(KeyError):
            return [rows[name] for name in names]
    if isinstance(rows, list):
        return _columns_of_tuples(rows, names)
    if isinstance(rows, Mapping) or hasattr(rows, "column_names") or hasattr(rows, "columns"):
        given = list(getattr(rows, "column_names", getattr(rows, "columns", rows)))
        if set(given) != readers.all_names:
            raise InputError(
                f"The columns are {', '.join(map(str, given))} and not {', '.join(names)}",
                hint="name those of the input, all of them and no others",
            )
        return [rows[name] for name in names]
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == len(names):
        return [rows[:, number] for number in range(len(names))]
    if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
        raise InputError(
            f"{rows!r} is no list of records",
            hint=f"give tuples ({', '.join(names)}), columns, or a table; read files first",
        )
    return _columns_of_tuples(list(rows), names)


def _columns_of_tuples(rows: list[Sequence[Any]], names: list[str]) -> list[Any]:
    for row in rows:
        if not isinstance(row, _ROW) or len(row) != len(names):
            raise InputError(
                f"{row!r} is not a record of {len(names)} columns",
                hint=f"give a list of tuples ({', '.join(names)})",
            )
    if 0 < len(rows) <= FEW:
        return list(map(list, zip(*rows, strict=True)))
    return [[row[number] for row in rows] for number in range(len(names))]
