"""The code of every row for a feature of a signature, by NumPy and Arrow.

The twin of `graphtide.spark.columns`, with the same answers: 0 where a property is missing or the
answer unknown; for a bucketing 1 + the number of cuts that the value reaches, for a flag 1 where
its atom is false and 2 where it is true. Texts are compared once for each distinct text. NaN is
the largest float and equal to itself, and ints are compared with floats exactly.
"""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.schema import PropertyType
from graphtide.plan import predicates as plan
from graphtide.plan.cuts import micros_of
from graphtide.plan.signatures import Bucketing, Feature, Word

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Columns = Callable[[plan.PropertyRef], pa.Array]
"""The values of a property, one a row, in the Arrow type of its type."""

_EPOCH = dt.date(1970, 1, 1)


def word_codes(word: Word, columns: Columns) -> Codes:
    """The codes of a word's features, packed into one number a row."""
    packed: Codes | None = None
    for feature in reversed(word.features):
        codes = feature_codes(feature, columns)
        packed = codes if packed is None else packed * feature.size + codes
    assert packed is not None
    return packed


def feature_codes(feature: Feature, columns: Columns) -> Codes:
    """The code of every row for one feature."""
    if isinstance(feature, Bucketing):
        column = columns(feature.item)
        return np.where(_missing(column), 0, 1 + _reached(column, feature))
    true, known = _answers(feature.atom, columns)
    return np.where(known, 1 + true.astype(np.int64), 0)


def _reached(column: pa.Array, feature: Bucketing) -> Codes:
    """How many cuts each value reaches; anything where it is missing."""
    if not feature.cuts:
        return np.zeros(len(column), np.int64)
    if feature.item.type is PropertyType.STRING:
        cuts = [str(cut) for cut in feature.cuts]
        return _by_text(column, lambda text: bisect_right(cuts, text))
    values = _comparable(column, feature.item.type)
    plain = np.array([_plain(cut) for cut in feature.cuts], values.dtype)
    return np.searchsorted(plain, values, side="right")


def _answers(atom: plan.Atom, columns: Columns) -> tuple[Mask, Mask]:
    """Where an atom that no cut decides is true, and where its answer is known."""
    match atom:
        case plan.Like(item, pattern):
            column, matches = columns(item), _pattern(pattern).fullmatch
            true = _by_text(column, lambda text: int(matches(text) is not None))
            return true.astype(np.bool_), ~_missing(column)
        case plan.Comparison(operator, left, plan.PropertyRef() as right):
            one, other = columns(left), columns(right)
            known = ~(_missing(one) | _missing(other))
            return _compared(operator, *_orders((left, one), (right, other))), known
    raise AssertionError(atom)


def _by_text(column: pa.Array, answer: Callable[[str], int]) -> Codes:
    """A number for each row by its text, worked out once a distinct text."""
    encoded = column.dictionary_encode()
    answers = np.array([answer(text) for text in encoded.dictionary.to_pylist()] or [0], np.int64)
    indices: NDArray[np.int32] = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    return answers[indices]


def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of `like` as a regular expression."""
    parts, letters = [], iter(pattern)
    for letter in letters:
        literal = next(letters) if letter == "\\" else None
        wild = {"%": ".*", "_": "."}.get(letter) if literal is None else None
        parts.append(wild or re.escape(literal or letter))
    return re.compile("".join(parts), re.DOTALL)


def _compared(operator: plan.Operator, less: Mask, equal: Mask) -> Mask:
    match operator:
        case plan.Operator.EQ:
            return equal
        case plan.Operator.NE:
            return ~equal
        case plan.Operator.LT:
            return less
        case plan.Operator.LE:
            return less | equal
        case plan.Operator.GT:
            return ~(less | equal)
        case plan.Operator.GE:
            return ~less


def _orders(
    left: tuple[plan.PropertyRef, pa.Array], right: tuple[plan.PropertyRef, pa.Array]
) -> tuple[Mask, Mask]:
    """Where the left value is less, and where both are equal."""
    (item, one), (against, other) = left, right
    if item.type is PropertyType.STRING:
        return _mask(pc.less(one, other)), _mask(pc.equal(one, other))
    ours, theirs = _comparable(one, item.type), _comparable(other, against.type)
    if item.type is against.type:
        return (
            _float_orders(ours, theirs) if ours.dtype.kind == "f" else _plain_orders(ours, theirs)
        )
    if item.type is PropertyType.INT:
        return _int_with_float(ours, theirs)
    less, equal = _int_with_float(theirs, ours)
    return ~(less | equal), equal


def _plain_orders(one: NDArray[Any], other: NDArray[Any]) -> tuple[Mask, Mask]:
    return one < other, one == other


def _float_orders(one: NDArray[Any], other: NDArray[Any]) -> tuple[Mask, Mask]:
    nan, other_nan = np.isnan(one), np.isnan(other)
    return (one < other) | (other_nan & ~nan), (one == other) | (nan & other_nan)


def _int_with_float(ints: NDArray[Any], floats: NDArray[Any]) -> tuple[Mask, Mask]:
    """Exact: doubles first; on a tie the float is whole, and the ints decide.

    A float of 2^63 ties with ints that round up to it, and is larger than all of them.
    """
    rounded = ints.astype(np.float64)
    tie, fits = rounded == floats, floats < 2.0**63
    whole = np.where(tie & fits, floats, 0.0).astype(np.int64)
    less = (rounded < floats) | np.isnan(floats) | (tie & (~fits | (ints < whole)))
    return less, tie & fits & (ints == whole)


def _missing(column: pa.Array) -> Mask:
    return _mask(column.is_null())


def _mask(answers: pa.Array) -> Mask:
    mask: Mask = pc.fill_null(answers, False).to_numpy(zero_copy_only=False)
    return mask


def _comparable(column: pa.Array, type_: PropertyType) -> NDArray[Any]:
    """Values that NumPy compares: dates as days and timestamps as microseconds since 1970."""
    match type_:
        case PropertyType.DATE:
            column = column.cast(pa.int32()).cast(pa.int64())
        case PropertyType.TIMESTAMP:
            column = column.cast(pa.int64())
        case PropertyType.BOOL:
            column = column.cast(pa.int64())
    values: NDArray[Any] = pc.fill_null(column, 0).to_numpy(zero_copy_only=False)
    return values


def _plain(value: plan.Value) -> int | float | str:
    """A cut in the form of `_comparable`."""
    match value:
        case dt.datetime():
            return micros_of(value)
        case dt.date():
            return (value - _EPOCH).days
        case bool():
            return int(value)
        case _:
            return value
