"""A few rows of Arrow, whose columns a kernel reads where they lie.

Arrow writes down where each column lies (`kernels.dataflow.arrow`); the kernel reads the values and
releases the columns. Texts are looked up in a table that the kernel reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.dataflow.columns import FEW, Reader, fits, reader_of
from graphtide.engine.dataflow.texts import Texts
from graphtide.kernels.dataflow import arrow
from graphtide.plan.dataflow import Schema

Int64 = NDArray[np.int64]
_INTS = {
    pa.int8(): arrow.INT8,
    pa.int16(): arrow.INT16,
    pa.int32(): arrow.INT32,
    pa.int64(): arrow.INT64,
    pa.uint8(): arrow.UINT8,
    pa.uint16(): arrow.UINT16,
    pa.uint32(): arrow.UINT32,
    pa.date32(): arrow.INT32,
}
_TEXTS = {pa.string(): arrow.TEXT, pa.large_string(): arrow.LONG_TEXT}
_FIRST = 1 + arrow.TABLE_WORDS
"""The first word that Arrow writes: before it are the address of the words, and the table."""


class Read(NamedTuple):
    """The number of a column, its place among those that are chosen, and how to read it."""

    number: int
    place: int
    read: Reader


Given = tuple[Int64, int, Texts]
"""What comes with rows: the diff of each, the version of all, and the texts of the machine."""


class Lent:
    """The columns of one input that Arrow lends, all of types that are known."""

    def __init__(self, types: Sequence[Any], reads: Sequence[Read]) -> None:
        self._reads = list(reads)
        self._by_python: list[Read] = []
        self._width = len(reads) + 2
        self._kinds = np.zeros((len(types), 2), np.int64)
        for number, kind in enumerate(types):
            self._kinds[number, 0] = arrow.LISTED if pa.types.is_dictionary(kind) else 0
        for item in self._reads:
            kind = _kind_of(types[item.number])
            if kind:
                self._kinds[item.number] = kind, item.place
            else:
                self._by_python.append(item)
        self._flat = self._kinds.reshape(-1)
        self._words = np.zeros(_FIRST + arrow.COLUMN_WORDS * len(types), np.int64)
        self._words[0] = address = self._words.ctypes.data
        size = 8 * arrow.COLUMN_WORDS
        self._places = [address + 8 * _FIRST + size * number for number in range(len(types))]
        self._taught = 0

    def read_columns(self, given: Sequence[Any], fed: Given) -> Int64 | None:
        """Rows of words of columns, version and diff; None for what is unusual."""
        words = self._columns(given, fed)
        if words is None and self._learn(given.__getitem__, fed):
            words = self._columns(given, fed)
        return words

    def read_batch(self, batch: Any, fed: Given) -> Int64 | None:
        """The same for a record batch with these columns, in this order."""
        words = self._batch(batch, fed)
        if words is None and self._learn(batch.column, fed):
            words = self._batch(batch, fed)
        return words

    def _columns(self, given: Sequence[Any], fed: Given) -> Int64 | None:
        try:
            for values, place in zip(given, self._places, strict=True):
                values._export_to_c(place)
            return self._read(False, given.__getitem__, fed)
        except BaseException:
            arrow.give_back(self._words, len(self._places))
            raise

    def _batch(self, batch: Any, fed: Given) -> Int64 | None:
        try:
            batch._export_to_c(self._places[0])
            return self._read(True, batch.column, fed)
        except BaseException:
            arrow.give_back(self._words, 1)
            raise

    def _read(self, whole: bool, column: Callable[[int], Any], fed: Given) -> Int64 | None:
        diffs, version, texts = fed
        count = len(diffs)
        target = np.empty(self._width * count, np.int64)
        if not arrow.read_columns(self._words, self._flat, diffs, target, version, whole):
            return None
        words = target.reshape(self._width, count)
        for number, place, read in self._by_python:
            words[place] = read(column(number), texts)
        return words.T

    def _learn(self, column: Callable[[int], Any], fed: Given) -> bool:
        """Teach the kernel the texts of columns; False where there was nothing to learn."""
        before = self._taught + len(self._by_python)
        for item in self._reads:
            if self._kinds[item.number, 0] & (arrow.TEXT | arrow.LONG_TEXT):
                given = {text for text in column(item.number).to_pylist() if text is not None}
                if not all(self._teach(text, fed[2]) for text in given):
                    self._kinds[item.number, 0] &= arrow.LISTED
                    self._by_python.append(item)
        return self._taught + len(self._by_python) > before

    def _teach(self, text: str, texts: Texts) -> bool:
        """Put the code of a text into the table; False where it is too long, or the table full."""
        content = text.encode()
        if len(content) > arrow.MOST_BYTES:
            return False
        word = len(content) << 8 * len(content) | int.from_bytes(content, "big")
        place = arrow.place_of_text(self._words, word)
        if self._words[place] == 0:
            if self._taught == arrow.TEXTS // 2:
                return False
            self._taught += 1
            self._words[place] = word + 1
            self._words[place + 1] = texts.code(text)
        return True


def _kind_of(given: Any) -> int:
    """How the values of a type of Arrow lie; 0 where the kernel does not read it."""
    if pa.types.is_dictionary(given):
        texts, indices = _TEXTS.get(given.value_type, 0), _INTS.get(given.index_type, 0)
        return arrow.LISTED | texts | indices if texts and indices else 0
    if pa.types.is_decimal128(given):
        return arrow.DECIMAL
    return _TEXTS.get(given, 0) or _INTS.get(given, 0)


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
