"""A few rows of Arrow as words, read where they lie.

Arrow describes a column in ten words that every language reads (its C data interface): how many
values it has, how many are null, where the first one is, and the addresses of its buffers. To let
Arrow write those takes half a microsecond a column; to ask for the same as objects of Python's
takes five times as long. What the words do not say is the type: the caller has compared it, and
says as a code how values lie.

A reader is one array: what Arrow has written, then a table of short texts and their codes. Whatever
is out of the ordinary, such as a null, another length or a text that is not in the table, is left
to the general way: the kernel says so, and has given back what it was lent either way.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.intrinsics import call_with, number_at
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

# What Arrow writes of a column, in words
LENGTH, NULLS, OFFSET, BUFFERS, CHILDREN, DICTIONARY, RELEASE = 0, 1, 2, 5, 6, 7, 8
COLUMN_WORDS = 10
_WORD = 8

# How values lie: codes of fixed sizes, and texts in a dictionary
UNREAD = 0
INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32 = 1, 2, 3, 4, 5, 6, 7
DECIMAL = 8
"""Ints of 128 bits, of which the lower half is all."""
TEXT, LONG_TEXT = 16, 32
"""Texts with ends of 32 or of 64 bits."""
LISTED = 64
"""Added for a column with a dictionary, which may hide nulls: to how its indices lie, if read."""

MOST_DIFF = 1 << 31
"""Sums are added up by halves of 32 bits: a diff beyond this could carry one over the edge."""

# The table of texts: pairs of a text as a word and its code
TEXTS = 512
TABLE_WORDS = 2 * TEXTS
MOST_BYTES = 7
NO_TEXT = -1
_SPREAD = -7046029254386353131


@bare_kernel
def read_columns(
    reader: Memory, kinds: Memory, diffs: Memory, target: Memory, version: int, batch: bool
) -> bool:
    """Write the words of columns, one column behind the other; False where anything is unusual.

    Of each column, `kinds` says how its values lie and where its words go; version and diff are the
    last two. There are as many rows as diffs. `batch` tells that all columns are parts of one
    record batch, the only thing that was lent.
    """
    lent = 1 if batch else len(kinds) // 2
    rows = len(diffs)
    fine = _write_diffs(diffs, target, version)
    for number in range(len(kinds) // 2):
        column = _column_at(reader, number, batch)
        fine = fine and column != 0 and _is_usual(column, rows, kinds[2 * number])
        if fine and kinds[2 * number] & ~LISTED != UNREAD:
            first = kinds[2 * number + 1] * rows
            fine = _read_column(reader, column, kinds[2 * number], target, first, rows)
    _give_back(reader, lent)
    return fine


@joined_kernel
def _write_diffs(diffs: Memory, target: Memory, version: int) -> bool:
    """Write versions and diffs; False where one is too large to be added up."""
    rows = len(diffs)
    first = len(target) - 2 * rows
    fine = True
    for row in range(rows):
        target[first + row] = version
        target[first + rows + row] = diffs[row]
        fine = fine and -MOST_DIFF < diffs[row] < MOST_DIFF
    return fine


@bare_kernel
def give_back(reader: Memory, count: int) -> None:
    """Give back whatever of so many columns was lent."""
    _give_back(reader, count)


@inner_kernel
def _give_back(reader: Memory, count: int) -> None:
    for number in range(count):
        place = TABLE_WORDS + 1 + number * COLUMN_WORDS
        if reader[place + RELEASE] != 0:
            call_with(reader[place + RELEASE], reader[0] + place * _WORD)
            reader[place + RELEASE] = 0


@joined_kernel
def _word(address: int, place: int) -> int:
    """A word behind an address."""
    return number_at(address + place * _WORD, np.int64)


@joined_kernel
def _column_at(reader: Memory, number: int, batch: bool) -> int:
    """Where Arrow has described a column; 0 where it is not part of the batch as it stands."""
    first = reader[0] + (TABLE_WORDS + 1) * _WORD
    if not batch:
        return first + number * COLUMN_WORDS * _WORD  # type: ignore[no-any-return]
    if _word(first, OFFSET) != 0 or _has_nulls(first):
        return 0
    return _word(_word(first, CHILDREN), number)


@inner_kernel
def _is_usual(column: int, rows: int, kind: int) -> bool:
    """True for a column of so many values none of which is null."""
    if _word(column, LENGTH) != rows or _has_nulls(column):
        return False
    listed = _word(column, DICTIONARY)
    return kind & LISTED == 0 or (listed != 0 and not _has_nulls(listed))


@inner_kernel
def _has_nulls(column: int) -> bool:
    """True where a value is null, by what Arrow has counted or, where it has not, bit by bit."""
    bits = _word(_word(column, BUFFERS), 0)
    if bits == 0 or _word(column, NULLS) == 0:
        return False
    first = _word(column, OFFSET)
    for place in range(first, first + _word(column, LENGTH)):
        if (number_at(bits + (place >> 3), np.uint8) >> (place & 7)) & 1 == 0:
            return True
    return False


@inner_kernel
def _read_column(
    reader: Memory, column: int, kind: int, target: Memory, first: int, rows: int
) -> bool:
    """Write the words of a column from a place on; False for a text that is not in the table."""
    values, offset = _word(_word(column, BUFFERS), 1), _word(column, OFFSET)
    texts = column if kind & LISTED == 0 else _word(column, DICTIONARY)
    for row in range(rows):
        word = row
        if kind & (TEXT - 1) != 0:
            word = _value(values, kind & (TEXT - 1), offset + row)
        if kind & (TEXT | LONG_TEXT) != 0:
            word = _code(reader, texts, kind & LONG_TEXT != 0, word)
            if word == NO_TEXT:
                return False
        target[first + row] = word
    return True


@joined_kernel
def _value(values: int, lies: int, place: int) -> int:
    """One of the values of a buffer."""
    if lies == DECIMAL:
        return number_at(values + 16 * place, np.int64)
    if lies == INT64:
        return number_at(values + 8 * place, np.int64)
    if lies == INT32:
        return number_at(values + 4 * place, np.int32)
    if lies == INT16:
        return number_at(values + 2 * place, np.int16)
    if lies == INT8:
        return number_at(values + place, np.int8)
    if lies == UINT32:
        return number_at(values + 4 * place, np.uint32)
    if lies == UINT16:
        return number_at(values + 2 * place, np.uint16)
    return number_at(values + place, np.uint8)


@inner_kernel
def _code(reader: Memory, texts: int, long: bool, index: int) -> int:
    """The code of a text of a dictionary; NO_TEXT where the table does not tell."""
    if index < 0 or index >= _word(texts, LENGTH):
        return NO_TEXT
    ends, place = _word(_word(texts, BUFFERS), 1), _word(texts, OFFSET) + index
    lies = INT64 if long else INT32
    first, end = _value(ends, lies, place), _value(ends, lies, place + 1)
    if end - first > MOST_BYTES or end < first:
        return NO_TEXT
    word = end - first
    for byte in range(first, end):
        letter = number_at(_word(_word(texts, BUFFERS), 2) + byte, np.uint8)
        word = (word << 8) | letter
    place = place_of_text(reader, word)
    return reader[place + 1] if reader[place] == word + 1 else NO_TEXT


@bare_kernel
def place_of_text(reader: Memory, word: int) -> int:
    """Where a text stands in the table, or may be put: a word less by one, and its code."""
    spread = word * _SPREAD
    place = (spread ^ (spread >> 29)) & (TEXTS - 1)
    while reader[1 + 2 * place] != 0 and reader[1 + 2 * place] != word + 1:
        place = (place + 1) & (TEXTS - 1)
    return 1 + 2 * place
