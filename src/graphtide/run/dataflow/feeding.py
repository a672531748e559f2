"""What users hand to an input, until the host has it: as words of the columns that are read.

Which columns those are is known once the dataflow is installed. Columns of Arrow wait for that as
they are; all others become words at once, since whoever gave them may change them, and lose what
is not read later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtide.engine.dataflow.records import Columns, Int64, Texts
from graphtide.plan.dataflow import Schema


@dataclass(frozen=True)
class Fed:
    """Records with their diffs, one for all or one each, and their versions, likewise."""

    records: Columns | Int64
    diff: Any
    version: int | Int64

    @property
    def waits(self) -> bool:
        """True where the records need not be words yet."""
        return isinstance(self.records, Columns) and self.records.certain

    @property
    def one_version(self) -> int | None:
        """The version of all records; None where each has its own."""
        return self.version if isinstance(self.version, int) else None

    def as_words(self, schema: Schema, texts: Texts) -> Fed:
        """The same as words of all columns."""
        if not isinstance(self.records, Columns):
            return self
        return Fed(self.records.words(schema, texts), self.diff, self.version)

    def rows(self, declared: Schema, read: Schema, texts: Texts) -> Int64:
        """Rows of words of the columns that are read, version and diff."""
        if isinstance(self.records, Columns):
            words = self.records.words(read, texts)
        elif read == declared:
            words = self.records
        else:
            places = [number for number, item in enumerate(declared) if item in read]
            words = self.records.T[[*places, -2, -1]].T
        words[:, -2] = self.version
        words[:, -1] = self.diff
        return words
