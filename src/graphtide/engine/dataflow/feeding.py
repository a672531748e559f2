"""What users hand to an input, until the machine has it: as words of the columns that are read.

Which columns those are is known once the dataflow is installed. Columns of Arrow wait for that as
columns, and then until their version is closed, when they go part by part into the machine; those
that may lie in somebody's array are copied first. All others become words at once, since
whoever gave them may change them, and lose what is not read later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.records import Columns, Int64, Texts
from graphtide.plan.dataflow import Schema

_LARGE = 4096
"""From this many records on, a batch waits in the form in which the user gave it."""


class Fed(NamedTuple):
    """Records with their diffs, one for all or one each, and their versions, likewise."""

    records: Columns | Int64
    diff: Any
    version: int | Int64
    lasting: bool = False
    """Whether they stay where a batch that they are part of fails."""

    @property
    def one_version(self) -> int | None:
        """The version of all records; None where each has its own."""
        return self.version if isinstance(self.version, int) else None

    def settled(self, schema: Schema, texts: Texts) -> Fed:
        """The same for whom it waits: as columns that nobody changes, or words of all columns."""
        if not isinstance(self.records, Columns):
            return self
        if not self.records.certain:
            return self._replace(records=self.records.words(schema, texts))
        self.records.settle(schema)
        return self

    def rows(self, declared: Schema, read: Schema, texts: Texts) -> Int64 | Unread:
        """Rows of words of the columns that are read, version and diff; or what will be those."""
        if isinstance(self.records, Columns):
            large = self.records.count >= _LARGE and isinstance(self.version, int)
            if not large or not self.records.certain:
                return written(self.records, self.diff, self.version, read, texts)
            self.records.settle(read)
            return Unread(self.records, self.diff, self.version, read, texts)
        words = self.records
        if read != declared:
            places = [number for number, item in enumerate(declared) if item in read]
            words = words.T[[*places, -2, -1]].T
        words[:, -2] = self.version
        words[:, -1] = self.diff
        return words


@dataclass(slots=True)
class Unread:
    """Columns of Arrow on their way to a port, with their diffs and versions."""

    columns: Columns
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


def written(columns: Columns, diff: Any, version: int | Int64, read: Schema, texts: Texts) -> Int64:
    """Rows of words, version and diff, column by column in memory."""
    words = np.empty((len(read) + 2, columns.count), np.int64)
    columns.write(words, read, texts)
    words[-2] = version
    words[-1] = diff
    return words.T


def as_rows(given: Int64 | Unread) -> Int64:
    """Rows of words, whatever they are now."""
    return given.rows() if isinstance(given, Unread) else given
