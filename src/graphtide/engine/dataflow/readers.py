"""How the tables of one input are read: found out once for all that have the same types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from graphtide.engine.dataflow.arrow_columns import (
    Int64,
    fits,
    hides_nulls,
    is_arrow,
    reader_of,
)
from graphtide.engine.dataflow.lent import Given, Lent, Read
from graphtide.plan.dataflow import Schema


class Readers:
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
