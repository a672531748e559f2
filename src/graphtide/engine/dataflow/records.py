"""Records as words and back: rows of words from tuples, mappings, tables and arrays.

A row of words has a word per column, then room for the version and the diff. Which columns are
there, and whether they have one length, is checked here; what each value becomes is in `columns`.

What users give to an input waits for its version to be closed. Which columns are read is known once
the dataflow is installed: columns of Arrow wait for that as columns, and then until their version
is closed, when they go part by part into the machine; those that may lie in somebody's array are
copied first. All else becomes words at once, since whoever gave it may change it.

What waits has one version, or a version per row; then some of its rows may be due while others go
on waiting. What is due is handed out in few parts per port, so that a batch of very many versions
is fed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.columns import (
    Texts,
    as_it_is_now,
    decode_column,
    encode_column,
    is_certain,
)
from graphtide.kernels.dataflow.numbers import not_after
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Schema

Int64 = NDArray[np.int64]
_LARGE = 4096
"""From this many records on, a batch waits in the form in which the user gave it."""


def encode(rows: Any, schema: Schema, texts: Texts) -> Int64:
    """Rows of words, with two columns behind for version and diff, from tuples or from columns.

    Columns come as a mapping of names to arrays, or as a table with `column_names` or `columns`.
    """
    return InputColumns(rows, schema, texts).words()


def decode(words: Int64, schema: Schema, texts: Texts) -> list[NDArray[Any]]:
    return [
        decode_column(words[:, number], column_type, texts)
        for number, (_, column_type) in enumerate(schema)
    ]


def records(words: Int64, schema: Schema, texts: Texts) -> list[tuple[Any, ...]]:
    columns = [column.tolist() for column in decode(words, schema, texts)]
    return list(zip(*columns, strict=True)) if columns else [()] * len(words)


class InputColumns:
    """Columns that a user gave, all of one length, which are not words yet.

    `read` are those of which words are made; the others are only checked.
    """

    def __init__(self, rows: Any, schema: Schema, texts: Texts) -> None:
        self._schema = self.read = schema
        self._texts = texts
        names = [name for name, _ in schema]
        self._values = _columns(rows, names)
        lengths = list(map(len, self._values))
        if not lengths:
            lengths = [len(rows) if hasattr(rows, "__len__") else len(list(rows))]
        self.count = lengths[0]
        for name, length in zip(names, lengths, strict=False):
            if length != self.count:
                raise InputError(
                    f"Column {name!r} has {length} values, the first one {self.count}",
                    hint="give columns of equal length",
                )

    def keep(self) -> None:
        """Copy those columns of Arrow that are read and may lie in memory of the user."""
        names = {name for name, _ in self.read}
        self._values = [
            as_it_is_now(values) if name in names else values
            for (name, _), values in zip(self._schema, self._values, strict=True)
        ]

    @property
    def certain(self) -> bool:
        """True where all are columns of Arrow and fit by their types."""
        return all(
            is_certain(kind, values)
            for (_, kind), values in zip(self._schema, self._values, strict=True)
        )

    def words(self) -> Int64:
        """Rows of words of the columns that are read, with room for version and diff.

        They stand column by column in memory, which is how programs take them.
        """
        words = np.empty((len(self.read) + 2, self.count), np.int64)
        for place, column in enumerate(self.arrays()):
            words[place] = column
        return words.T

    def arrays(self) -> list[NDArray[Any]]:
        """The words of each column that is read, in memory of Arrow's own where they lie there.

        An InputError where any column cannot hold one of its values, read or not.
        """
        places = {name: place for place, (name, _) in enumerate(self.read)}
        columns = [np.empty(0, np.int64)] * len(places)
        for (name, kind), values in zip(self._schema, self._values, strict=True):
            if name in places or not is_certain(kind, values):
                words = encode_column(name, kind, values, self._texts)
                if name in places:
                    columns[places[name]] = words
        return columns


def _columns(rows: Any, names: list[str]) -> list[Any]:
    if isinstance(rows, dict) and len(rows) == len(names):
        with suppress(KeyError):
            return [rows[name] for name in names]
    if isinstance(rows, Mapping) or hasattr(rows, "column_names") or hasattr(rows, "columns"):
        columns = list(getattr(rows, "column_names", getattr(rows, "columns", rows)))
        if set(columns) != set(names):
            raise InputError(
                f"The columns are {', '.join(map(str, columns))} and not {', '.join(names)}",
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
    listed = rows if isinstance(rows, list) else list(rows)
    for row in listed:
        if not isinstance(row, tuple | list) or len(row) != len(names):
            raise InputError(
                f"{row!r} is not a record of {len(names)} columns",
                hint=f"give a list of tuples ({', '.join(names)})",
            )
    return [[row[number] for row in listed] for number in range(len(names))]


@dataclass(slots=True)
class InputBatch:
    """Records for an input: columns, or rows of words with the version and the diff behind.

    Diffs and versions are one for all or one each. Records that are `lasting` wait again where the
    batch that they are part of fails; all others are gone then.
    """

    records: InputColumns | Int64
    diff: Any
    version: int | Int64
    lasting: bool = False

    def __len__(self) -> int:
        return self.records.count if isinstance(self.records, InputColumns) else len(self.records)

    def keep(self) -> None:
        """Let the records wait for a dataflow to be installed: nobody changes them any more."""
        if isinstance(self.records, InputColumns):
            if self.records.certain:
                self.records.keep()
            else:
                self.records = self.records.words()

    def read_as(self, declared: Schema, read: Schema) -> InputBatch:
        """The columns that the dataflow reads: as words, or as columns where they are many."""
        records = self.records
        if isinstance(records, InputColumns):
            records.read = read
            if len(self) >= _LARGE and isinstance(self.version, int) and records.certain:
                records.keep()
                return self
            words = records.words()
        elif read != declared:
            places = [number for number, item in enumerate(declared) if item in read]
            words = records.T[[*places, -2, -1]].T
        else:
            words = records
        words[:, -2] = self.version
        words[:, -1] = self.diff
        return InputBatch(words, self.diff, self.version, self.lasting)

    def rows(self) -> Int64:
        if isinstance(self.records, InputColumns):
            self.records = self.records.words()
            self.records[:, -2] = self.version
            self.records[:, -1] = self.diff
        return self.records

    def parts(self, rows: int) -> Iterator[Int64 | list[NDArray[Any]]]:
        """Columns of so many rows at a time: their words, the versions and the diffs.

        Rows of words come in one part.
        """
        if not isinstance(self.records, InputColumns):
            yield self.records.T
            return
        columns = self.records.arrays()
        columns += [np.broadcast_to(item, len(self)) for item in (self.version, self.diff)]
        for first in range(0, len(self), rows):
            yield [column[first : first + rows] for column in columns]


Waiting = tuple[int, InputBatch]
"""A port, and a batch that waits for it."""


class WaitingInputs:
    """The batches that wait, for one host whose versions have this shape."""

    def __init__(self, shape: int) -> None:
        self._shape = shape
        self._waiting: list[Waiting] = []

    def put(self, port: int, batch: InputBatch) -> None:
        if len(batch):
            self._waiting.append((port, batch))

    def forget(self, ports: Iterable[int]) -> None:
        dropped = set(ports)
        self._waiting = [item for item in self._waiting if item[0] not in dropped]

    def clear(self) -> None:
        self._waiting.clear()

    def take(self, frontier: Sequence[int]) -> tuple[list[Waiting], set[int]]:
        """The batches of versions that a new frontier closes, by port, and these versions."""
        due: dict[int, list[InputBatch]] = {}
        versions: set[int] = set()
        staying: list[Waiting] = []
        for port, batch in self._waiting:
            if not isinstance(batch.version, int):
                closed, still_open = self._divide(batch, frontier)
                versions.update(closed[:, -2].tolist())
                if len(closed):
                    due.setdefault(port, []).append(InputBatch(closed, 0, closed[:, -2]))
                if len(still_open):
                    staying.append((port, InputBatch(still_open, 0, still_open[:, -2])))
            elif self._stays_open(batch.version, frontier):
                staying.append((port, batch))
            else:
                due.setdefault(port, []).append(batch)
                versions.add(batch.version)
        self._waiting = staying
        listed = [(port, batch) for port, batches in due.items() for batch in _joined(batches)]
        return listed, versions

    def _divide(self, batch: InputBatch, frontier: Sequence[int]) -> tuple[Int64, Int64]:
        """Rows that are due, and those that are not."""
        rows = batch.rows()
        distinct, which = np.unique(rows[:, -2], return_inverse=True)
        is_open = np.array([self._stays_open(int(word), frontier) for word in distinct], np.bool_)
        waits = is_open[which]
        return rows[~waits], rows[waits]

    def _stays_open(self, version: int, frontier: Sequence[int]) -> bool:
        if self._shape == 0:
            return version >= frontier[0]
        return any(not_after(bound, version, self._shape) for bound in frontier)


def _joined(batches: list[InputBatch]) -> list[InputBatch]:
    """Batches that are large as they are, all others as one, which costs a copy."""
    small = [batch for batch in batches if len(batch) < _LARGE]
    if len(small) < 2:
        return batches
    rows = np.concatenate([batch.rows() for batch in small])
    large = [batch for batch in batches if len(batch) >= _LARGE]
    return [*large, InputBatch(rows, 0, rows[:, -2])]
