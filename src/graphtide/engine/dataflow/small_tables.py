"""A few rows of an Arrow table or record batch as words, in a handful of calls.

A fresh table makes an object for each column that somebody asks for, a microsecond each, so the
columns that nothing reads are never asked for. The table answers for all of them at once: its
schema is compared with the last one, and Arrow looks for nulls in all columns in one call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.dataflow.arrow_columns import fits, reader_of
from graphtide.engine.dataflow.few import FEW
from graphtide.engine.dataflow.texts import Texts
from graphtide.plan.dataflow import Schema

Int64 = NDArray[np.int64]


class SmallTables:
    """How the small tables of one input are read: found out once for tables of one schema."""

    def __init__(self, schema: Schema) -> None:
        self._kinds = dict(schema)
        self._chosen: Schema | None = None
        self._given: Any = None
        self._reads: list[Any] = []
        self._listed: list[int] = []

    def words(self, table: Any, chosen: Schema, texts: Texts) -> Int64 | None:
        """Rows of words of the columns that are chosen, with room for version and diff.

        None for anything out of the ordinary: the general way, in `records`, then finds the words,
        or the error.
        """
        batch = _one_batch(table)
        if batch is None:
            return None
        if chosen is not self._chosen or not batch.schema.equals(self._given):
            self._learn(batch.schema, chosen)
        # Arrow hands the batch back as it is where nothing is null: 2 us for 16 columns.
        if not self._reads or batch.drop_null().num_rows != batch.num_rows:
            return None
        for number in self._listed:  # What Arrow counts leaves out nulls of dictionaries.
            if batch.column(number).dictionary.null_count:
                return None
        words = np.empty((len(chosen) + 2, batch.num_rows), np.int64)
        for place, (number, read) in enumerate(self._reads):
            words[place] = read(batch.column(number), texts)
        return words.T

    def _learn(self, given: Any, chosen: Schema) -> None:
        """Find out how tables of a schema are read; as none where not all columns are certain."""
        self._chosen, self._given, self._reads = chosen, given, []
        types = dict(zip(given.names, given.types, strict=True))
        if len(given.names) != len(self._kinds) or types.keys() != self._kinds.keys():
            return
        if not all(fits(kind, types[name]) for name, kind in self._kinds.items()):
            return
        places = {name: number for number, name in enumerate(given.names)}
        self._listed = [n for n, kind in enumerate(given.types) if pa.types.is_dictionary(kind)]
        reads = [(places[name], reader_of(kind, types[name])) for name, kind in chosen]
        if all(read is not None for _, read in reads):
            self._reads = reads


def _one_batch(table: Any) -> Any:
    """A few rows as one record batch; None for all else, and for tables of several pieces."""
    if isinstance(table, pa.RecordBatch):
        return table if 0 < table.num_rows <= FEW else None
    if not isinstance(table, pa.Table) or not 0 < table.num_rows <= FEW:
        return None
    pieces = table.to_batches()
    return pieces[0] if len(pieces) == 1 else None
