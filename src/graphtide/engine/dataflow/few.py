"""A few values and rows at a time, as Python has them.

An array takes a microsecond to be made, whatever it holds, and a batch of ten rows would want a
dozen for each column. What is here does without, for those types whose values Python turns into
words and back by itself. It answers None for anything out of the ordinary: the general way, in
`columns`, then finds the words, or the error. So both give the same wherever both answer.
"""

from __future__ import annotations

import datetime
import decimal
import math
import struct
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.texts import Texts
from graphtide.kernels.dataflow.changes import BEYOND, add_up_changes
from graphtide.plan.dataflow_types import NULL_WORD, ColumnType

Int64 = NDArray[np.int64]
FEW = 64
"""Up to this many values or rows, Python is faster than NumPy."""
EXACT = decimal.Context(prec=60)
_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
_DAYS = range(1 - _FIRST_DAY, datetime.date.max.toordinal() - _FIRST_DAY)
_TYPES: dict[str, set[type]] = {
    "int": {int},
    "float": {float},
    "bool": {bool},
    "str": {str},
    "date": {datetime.date},
    "decimal": {int, decimal.Decimal},
}
_NO_TYPES: set[type] = set()
_NONE = type(None)
_BELOW_SIGN = (1 << 63) - 1


def few_words(column_type: ColumnType, values: Sequence[Any], texts: Texts) -> Int64 | None:
    """The words of a few values; None where they are not all of the plainest type."""
    types = set(map(type, values))
    missing = _NONE in types
    if missing and column_type.nullable:
        types.remove(_NONE)
    if not types <= _TYPES.get(column_type.kind, _NO_TYPES):
        return None
    there = [value for value in values if value is not None] if missing else values
    try:
        words = _plain_words(column_type, there, texts)
        if column_type.nullable and NULL_WORD in words:
            return None
        return np.array(_spread(words, values) if missing else words, np.int64)
    except (ArithmeticError, ValueError):  # It does not fit, or is a decimal that is no number.
        return None


def _plain_words(column_type: ColumnType, values: Sequence[Any], texts: Texts) -> Sequence[int]:
    match column_type.kind:
        case "str":
            return [texts.code(value) for value in values]
        case "date":
            return [value.toordinal() - _FIRST_DAY for value in values]
        case "decimal":
            return [_digits(value, column_type.scale) for value in values]
        case "float":
            return _ordered(values)
    return values


def _digits(value: int | decimal.Decimal, scale: int) -> int:
    scaled = EXACT.scaleb(decimal.Decimal(value), scale)
    digits = int(scaled)
    if digits != scaled or digits == NULL_WORD:
        raise ValueError
    return digits


def _ordered(values: Sequence[float]) -> list[int]:
    """Floats as words that order the way they do; one zero, one NaN."""
    plain = [value + 0.0 if value == value else math.nan for value in values]
    bits = struct.unpack(f"={len(plain)}q", struct.pack(f"={len(plain)}d", *plain))
    return [word ^ _BELOW_SIGN if word < 0 else word for word in bits]


def _spread(words: Sequence[int], values: Sequence[Any]) -> list[int]:
    """Words of those values that are there, in their places among those that are not."""
    found = iter(words)
    return [NULL_WORD if value is None else next(found) for value in values]


def few_values(column_type: ColumnType, words: Sequence[int], texts: Texts) -> list[Any] | None:
    """The values of a few words; None for types that have no short way back."""
    if column_type.nullable and NULL_WORD in words:
        return None
    match column_type.kind:
        case "int":
            return list(words)
        case "str":
            return list(map(texts.text, words))
        case "bool":
            return [word != 0 for word in words]
        case "decimal":
            return _decimals(words, column_type.scale)
        case "float":
            return _floats(words)
        case "date" if min(words) in _DAYS and max(words) in _DAYS:
            return [datetime.date.fromordinal(word + _FIRST_DAY) for word in words]
    return None


def _decimals(words: Iterable[int], scale: int) -> list[Any]:
    unit, times = _unit(scale), EXACT.multiply
    return [times(word, unit) for word in words]


@cache
def _unit(scale: int) -> decimal.Decimal:
    return decimal.Decimal((0, (1,), -scale))


def _floats(words: Sequence[int]) -> list[Any]:
    bits = [word ^ _BELOW_SIGN if word < 0 else word for word in words]
    return list(struct.unpack(f"={len(bits)}d", struct.pack(f"={len(bits)}q", *bits)))


def add_up_few(parts: Sequence[Int64]) -> Int64 | None:
    """Rows of words, version and diff, added up; ascending by version, then by words.

    None where a sum is beyond what a diff may be.
    """
    rows = np.concatenate(parts)
    kept = add_up_changes(rows.reshape(-1), rows.shape[1])
    return None if kept == BEYOND else rows[:kept]
