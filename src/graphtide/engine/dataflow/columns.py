"""One column as words and back: see `dataflow_types` for the word of each type."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.arrow_columns import encode_arrow, is_arrow
from graphtide.engine.dataflow.few import EXACT, FEW, few_words
from graphtide.engine.dataflow.texts import Texts
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_types import NULL_WORD, ColumnType

Int64 = NDArray[np.int64]
_BELOW_SIGN = np.int64((1 << 63) - 1)
_KINDS = {"int": "iu", "float": "iuf", "bool": "b", "str": "UO", "date": "MO", "timestamp": "MO"}
_UNITS = {"date": "D", "timestamp": "us"}


def encode_column(name: str, column_type: ColumnType, values: Any, texts: Texts) -> Int64:
    """Values as words; an InputError where the column cannot hold one of them."""
    if is_arrow(values):

        def others(found: NDArray[Any]) -> Int64:
            return _encode_there(name, column_type, found, texts)

        words = encode_arrow(name, column_type, values, texts, others)
        if column_type.nullable and column_type.kind != "str":
            return _not_reserved(name, words, values.null_count)
        return words
    if isinstance(values, list) and len(values) <= FEW:
        few = few_words(column_type, values, texts)
        if few is not None:
            return few
    listed = _array(column_type, values)
    if not column_type.nullable:
        return _encode_there(name, column_type, listed, texts)
    if listed.dtype.kind == "M":
        missing = np.isnat(listed)
    elif listed.dtype.kind == "O":
        missing = np.array([item is None for item in listed.tolist()], np.bool_)
    else:
        missing = np.zeros(len(listed), np.bool_)
    words = np.full(len(listed), NULL_WORD, np.int64)
    there = listed[~missing]
    if len(there):
        there = _array(column_type, there.tolist()) if listed.dtype.kind == "O" else there
        words[~missing] = _not_reserved(name, _encode_there(name, column_type, there, texts))
    return words


def _array(column_type: ColumnType, values: Any) -> NDArray[Any]:
    """Values as an array; texts as objects, since arrays of texts lose a zero at the end."""
    if column_type.kind != "str" or isinstance(values, np.ndarray) or hasattr(values, "__array__"):
        return np.asarray(values)
    return _objects_of(list(values))


def _encode_there(name: str, column_type: ColumnType, array: NDArray[Any], texts: Texts) -> Int64:
    """Words of values none of which is null."""
    if len(array) == 0:
        return np.empty(0, np.int64)
    if column_type.kind == "decimal":
        return _encode_decimals(name, column_type, array)
    if array.dtype.kind not in _KINDS[column_type.kind]:
        hint = f"convert them first; where values may be missing, declare {column_type} | None"
        raise _cannot_hold(name, column_type, array, hint)
    if column_type.kind == "str":
        return np.array([texts.code(_text(name, value)) for value in array.tolist()], np.int64)
    if column_type.kind == "float":
        return _ordered(array.astype(np.float64))
    if column_type.kind in _UNITS:
        return _encode_moments(name, column_type, array)
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise InputError(f"Column {name!r} holds a number beyond int64: {array.max()}")
    return array.astype(np.int64)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        missing = "leave such records out; where values may be missing, declare str | None"
        raise InputError(
            f"Column {name!r} is of type str and cannot hold {value!r}",
            hint=missing if value is None else "convert it: str(...)",
        )
    return value


def _encode_moments(name: str, column_type: ColumnType, array: NDArray[Any]) -> Int64:
    """Days or microseconds since 1970."""
    wanted = datetime.datetime if column_type.kind == "timestamp" else datetime.date
    if array.dtype.kind == "O":
        for item in array.tolist():
            is_moment = isinstance(item, datetime.datetime)
            right = isinstance(item, wanted) and is_moment == (wanted is datetime.datetime)
            if not right or (is_moment and item.tzinfo is not None):
                raise InputError(
                    f"Column {name!r} is of type {column_type} and cannot hold {item!r}",
                    hint=f"give {wanted.__name__} values without a time zone",
                )
    moments = array.astype(f"datetime64[{_UNITS[column_type.kind]}]")
    if array.dtype.kind == "M" and (moments != array).any():
        raise InputError(
            f"Column {name!r} is of type {column_type} and cannot hold {array.dtype} values, such "
            f"as {array[moments != array][0]}",
            hint="round them first, or declare the column as datetime.datetime",
        )
    return moments.astype(np.int64)


def _encode_decimals(name: str, column_type: ColumnType, array: NDArray[Any]) -> Int64:
    """Ints and decimals, times a power of ten."""
    if array.dtype.kind not in "iuO":
        hint = "give decimal.Decimal, int, or a decimal column of Arrow: floats are not exact"
        raise _cannot_hold(name, column_type, array, hint)
    return np.array([decimal_word(name, column_type, item) for item in array.tolist()], np.int64)


def _cannot_hold(name: str, column_type: ColumnType, array: NDArray[Any], hint: str) -> InputError:
    (first,) = array[:1].tolist()
    return InputError(
        f"Column {name!r} is of type {column_type} and cannot hold {type(first).__name__} values, "
        f"such as {first!r}",
        hint=hint,
    )


def decimal_word(name: str, column_type: ColumnType, value: Any) -> int:
    """A decimal or an int times the power of ten of its column."""
    if isinstance(value, int | decimal.Decimal) and not isinstance(value, bool):
        scaled = EXACT.scaleb(decimal.Decimal(value), column_type.scale)
        if scaled.is_finite() and scaled == int(scaled) and abs(scaled) < 1 << 63:
            return int(scaled)
    raise InputError(
        f"Column {name!r} is of type {column_type} and cannot hold {value!r}",
        hint="give numbers of 64 bits with no more digits behind the point: round them first",
    )


def _not_reserved(name: str, words: Int64, nulls: int = 0) -> Int64:
    """Words of a column that may be null: none but so many are the one that stands for no value."""
    if (words == NULL_WORD).sum() > nulls:
        raise InputError(f"Column {name!r} may be null, and cannot hold the least int")
    return words


def _ordered(numbers: NDArray[np.float64]) -> Int64:
    """Floats as words that order the way they do; one zero, one NaN."""
    bits = (numbers + 0.0).view(np.int64)
    strange = numbers != numbers
    if strange.any():
        bits[strange] = np.int64(0x7FF8 << 48)
    return bits ^ (bits >> 63 & _BELOW_SIGN)


def decode_column(words: Int64, column_type: ColumnType, texts: Texts) -> NDArray[Any]:
    """The values of words: arrays of numbers, truths and moments, or of objects.

    Where a column may be null, it is an array of objects, None for nulls.
    """
    if not column_type.nullable:
        return _decode_there(words, column_type, texts)
    missing = words == NULL_WORD
    values = np.full(len(words), None, object)
    values[~missing] = _objects(_decode_there(words[~missing], column_type, texts))
    return values


def _objects(values: NDArray[Any]) -> NDArray[Any]:
    """Values of NumPy as Python knows them."""
    objects = np.empty(len(values), object)
    objects[:] = values.tolist()
    return objects


def _decode_there(words: Int64, column_type: ColumnType, texts: Texts) -> NDArray[Any]:
    match column_type.kind:
        case "float":
            return np.where(words < 0, words ^ _BELOW_SIGN, words).view(np.float64)
        case "bool":
            return words != 0  # type: ignore[no-any-return]
        case "str":
            return np.array([texts.text(code) for code in words.tolist()], object)
        case "date" | "timestamp":
            return words.astype(f"datetime64[{_UNITS[column_type.kind]}]")
        case "decimal":
            return _objects_of([decimal_of(word, column_type.scale) for word in words.tolist()])
    return words.copy()


def _objects_of(listed: list[Any]) -> NDArray[Any]:
    objects = np.empty(len(listed), object)
    objects[:] = listed
    return objects


def decimal_of(word: int, scale: int) -> decimal.Decimal:
    """The decimal that a word stands for."""
    return EXACT.scaleb(decimal.Decimal(word), -scale)
