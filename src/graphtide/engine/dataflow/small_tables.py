"""A few rows of an Arrow table or record batch as words, in a handful of calls.

A fresh table makes an object for each column that somebody asks for, a microsecond each. So it is
asked as a whole: its schema is compared with the last one, and Arrow lends all columns at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.dataflow.arrow_columns import fits, reader_of
from graphtide.engine.dataflow.few import FEW
from graphtide.engine.dataflow.lent import Given, Lent, Read
from graphtide.plan.dataflow import Schema

Int64 = NDArray[np.int64]


class SmallTables:
    """How the small tables of one input are read: found out once for tables of one schema."""

    def __init__(self, schema: Schema) -> None:
        self._kinds = dict(schema)
        self._chosen: Schema | None = None
        self._given: Any = None
        self._lent: Lent | None = None

    def words(self, table: Any, chosen: Schema, fed: Given) -> Int64 | None:
        """Rows of words of the columns that are chosen, version and diff.

        None for anything out of the ordinary: the general way, in `records`, then finds the words,
        or the error.
        """
        batch = _one_batch(table)
        if batch is None:
            return None
        if chosen is not self._chosen or not batch.schema.equals(self._given):
            self._learn(batch.schema, chosen)
        return None if self._lent is None else self._lent.read_batch(batch, fed)

    def _learn(self, given: Any, chosen: Schema) -> None:
        """Find out how tables of a schema are read; as none where not all columns are certain."""
        self._chosen, self._given, self._lent = chosen, given, None
        types = dict(zip(given.names, given.types, strict=True))
        if len(given.names) != len(self._kinds) or types.keys() != self._kinds.keys():
            return
        if not all(fits(kind, types[name]) for name, kind in self._kinds.items()):
            return
        places = {name: number for number, name in enumerate(given.names)}
        reads = []
        for place, (name, kind) in enumerate(chosen):
            read = reader_of(kind, types[name])
            if read is None:
                return
            reads.append(Read(places[name], place, read))
        self._lent = Lent(given.types, reads) if reads else None


def _one_batch(table: Any) -> Any:
    """A few rows as one record batch; None for all else, and for tables of several pieces."""
    if isinstance(table, pa.RecordBatch):
        return table if 0 < table.num_rows <= FEW else None
    if type(table) is not pa.Table or not 0 < table.num_rows <= FEW:
        return None
    pieces = table.to_batches()
    return pieces[0] if len(pieces) == 1 else None
