"""What users hand to an input, until the machine has it.

Rows wait for their version to be closed. Which columns are read is known once the dataflow is
installed: columns of Arrow wait for that as columns, and then until their version is closed, when
they go part by part into the machine; those that may lie in somebody's array are copied first. All
else becomes words at once, since whoever gave it may change it.

What waits has one version, or a version per row; then some of its rows may be due while others go
on waiting. What is due is handed out in few parts per port, so that a batch of very many versions
is fed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.records import InputColumns, Texts
from graphtide.kernels.dataflow.numbers import not_after
from graphtide.plan.dataflow import Schema

_LARGE = 4096
"""From this many records on, a batch waits in the form in which the user gave it."""


class InputBatch(NamedTuple):
    """Records with their diffs, one for all or one each, and their versions, likewise."""

    records: InputColumns | Int64
    diff: Any
    version: int | Int64
    lasting: bool = False
    """Whether they stay where a batch that they are part of fails."""

    @property
    def one_version(self) -> int | None:
        """The version of all records; None where each has its own."""
        return self.version if isinstance(self.version, int) else None

    def settled(self, schema: Schema, texts: Texts) -> InputBatch:
        """The same for whom it waits: as columns that nobody changes, or words of all columns."""
        if not isinstance(self.records, InputColumns):
            return self
        if not self.records.certain:
            return self._replace(records=self.records.words(schema, texts))
        self.records.settle(schema)
        return self

    def rows(self, declared: Schema, read: Schema, texts: Texts) -> Int64 | PendingColumns:
        """Rows of words of the columns that are read, version and diff; or what will be those."""
        if isinstance(self.records, InputColumns):
            large = self.records.count >= _LARGE and isinstance(self.version, int)
            if not large or not self.records.certain:
                return written(self.records, self.diff, self.version, read, texts)
            self.records.settle(read)
            return PendingColumns(self.records, self.diff, self.version, read, texts)
        words = self.records
        if read != declared:
            places = [number for number, item in enumerate(declared) if item in read]
            words = words.T[[*places, -2, -1]].T
        words[:, -2] = self.version
        words[:, -1] = self.diff
        return words


@dataclass(slots=True)
class PendingColumns:
    """Columns of Arrow on their way to a port, with their diffs and versions."""

    columns: InputColumns
    diff: Any
    version: int | Int64
    read: Schema
    texts: Texts

    def __len__(self) -> int:
        return self.columns.count

    def rows(self) -> Int64:
        """Rows of words, column by column in memory."""
        return written(self.columns, self.diff, self.version, self.read, self.texts)

    def parts(self, rows: int) -> Iterator[list[NDArray[Any]]]:
        """Columns of so many rows at a time: their words, the versions and the diffs."""
        count = len(self)
        columns = self.columns.arrays(self.read, self.texts)
        columns += [np.broadcast_to(item, count) for item in (self.version, self.diff)]
        for first in range(0, count, rows):
            yield [column[first : first + rows] for column in columns]


def written(
    columns: InputColumns, diff: Any, version: int | Int64, read: Schema, texts: Texts
) -> Int64:
    """Rows of words, version and diff, column by column in memory."""
    words = np.empty((len(read) + 2, columns.count), np.int64)
    columns.write(words, read, texts)
    words[-2] = version
    words[-1] = diff
    return words.T


def as_rows(given: Int64 | PendingColumns) -> Int64:
    """Rows of words, whatever they are now."""
    return given.rows() if isinstance(given, PendingColumns) else given


Int64 = NDArray[np.int64]


class WaitingRows(NamedTuple):
    """Rows for a port: of one version, or each of its own, which stands in the last word but one.

    `version` is None where rows have versions of their own.
    """

    port: int
    version: int | None
    rows: Int64 | PendingColumns


class WaitingInputs:
    """The rows that wait, for one host whose versions have this shape."""

    def __init__(self, shape: int) -> None:
        self._shape = shape
        self._parts: list[WaitingRows] = []

    def put(self, part: WaitingRows) -> None:
        """Let rows wait until their version is closed."""
        if len(part.rows) > 0:
            self._parts.append(part)

    def forget(self, ports: Iterable[int]) -> None:
        """Drop what waits for some ports."""
        gone = set(ports)
        self._parts = [part for part in self._parts if part.port not in gone]

    def clear(self) -> None:
        """Drop all that waits."""
        self._parts.clear()

    def take(
        self, frontier: Sequence[int]
    ) -> tuple[list[tuple[int, Int64 | PendingColumns]], set[int]]:
        """The rows of versions that a new frontier closes, by port, and these versions."""
        if self._shape == 0:
            plain = self._take_plain(frontier[0])
            if plain is not None:
                return plain
        due: dict[int, list[Int64 | PendingColumns]] = {}
        versions: set[int] = set()
        staying: list[WaitingRows] = []
        for part in self._parts:
            port, version, rows = part
            if version is None:
                self._divide(part, frontier, due, versions, staying)
            elif self._stays_open(version, frontier):
                staying.append(part)
            else:
                due.setdefault(port, []).append(rows)
                versions.add(version)
        self._parts = staying
        listed = [(port, rows) for port, parts in due.items() for rows in _joined(parts)]
        return listed, versions

    def _take_plain(
        self, first: int
    ) -> tuple[list[tuple[int, Int64 | PendingColumns]], set[int]] | None:
        """The same where all that waits is due, in one part of one version a port; or None."""
        due: dict[int, Int64 | PendingColumns] = {}
        versions: set[int] = set()
        for port, version, rows in self._parts:
            if version is None or version >= first or port in due:
                return None
            due[port] = rows
            versions.add(version)
        self._parts = []
        return list(due.items()), versions

    def _divide(
        self,
        part: WaitingRows,
        frontier: Sequence[int],
        due: dict[int, list[Int64 | PendingColumns]],
        versions: set[int],
        staying: list[WaitingRows],
    ) -> None:
        """Part rows that are due from those that are not."""
        rows = as_rows(part.rows)
        distinct, which = np.unique(rows[:, -2], return_inverse=True)
        is_open = np.array([self._stays_open(int(word), frontier) for word in distinct], np.bool_)
        versions.update(distinct[~is_open].tolist())
        waits = is_open[which]
        if waits.any():
            staying.append(WaitingRows(part.port, None, rows[waits]))
        if not waits.all():
            due.setdefault(part.port, []).append(rows[~waits])

    def _stays_open(self, version: int, frontier: Sequence[int]) -> bool:
        if self._shape == 0:
            return version >= frontier[0]
        return any(not_after(bound, version, self._shape) for bound in frontier)


def _joined(parts: list[Int64 | PendingColumns]) -> list[Int64 | PendingColumns]:
    """Parts that are large as they are, all others as one, which costs a copy."""
    if len(parts) == 1:
        return parts
    large = [rows for rows in parts if len(rows) >= _LARGE]
    small = [as_rows(rows) for rows in parts if len(rows) < _LARGE]
    return large if not small else [*large, small[0] if len(small) == 1 else np.concatenate(small)]
