"""Columns as words of the machine and back: from lists, NumPy arrays and Arrow; texts by code.

`plan.dataflow_expressions` says which word each type of value has. Ints, days and decimals of up to
18 digits of Arrow are read as they lie, texts once for each that differs; all else goes through
NumPy.
A column that cannot hold one of its values is an InputError that names the column and the value.
Whether an Arrow column fits can mostly be told by its type: it is then *certain*, and need not be
made into words at all where nothing reads it.

Codes of texts are given in the order in which texts come, and never change, since records hold
them. Texts are ordered by labels: numbers with gaps between them. A new text gets one between those
of its neighbours; where there is no number left between them, all get labels anew. Only what looks
at labels while it runs depends on them, never what is kept.
"""

from __future__ import annotations

import datetime
import decimal
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import NULL_WORD, ColumnType

Int64 = NDArray[np.int64]
_ROOM = 1 << 60
"""Labels are below this, at either side of 0, when all are given anew: the rest is for the ends."""
_MOST = 1 << 62
_PART = 8
"""So large a part of all texts comes one by one; more of them are sorted in together."""


class Texts:
    """The dictionary of all texts of a machine: a code for each, never forgotten."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._texts: list[str] = []
        self._sorted: list[str] = []
        self._labels: Int64 = np.empty(0, np.int64)
        self._stride = _MOST

    def __len__(self) -> int:
        return len(self._texts)

    def code(self, text: str) -> int:
        """The code of a text, a new one where it is new."""
        code = self._codes.setdefault(text, len(self._texts))
        if code == len(self._texts):
            self._texts.append(str(text))  # NumPy's own kind of text would show in records
        return code

    def text(self, code: int) -> str:
        return self._texts[code]

    def labels(self) -> Int64:
        """A number for each code: they order the way the texts do. Good until a text comes."""
        known = len(self._sorted)
        fresh = self._texts[known:]
        if not fresh:
            return self._labels[:known]
        self._grow()
        if len(fresh) * _PART > known or not all(self._place(text) for text in fresh):
            self._label_all()
        return self._labels[: len(self._texts)]

    def _grow(self) -> None:
        if len(self._labels) < len(self._texts):
            grown = np.zeros(2 * len(self._texts), np.int64)
            grown[: len(self._labels)] = self._labels
            self._labels = grown

    def _place(self, text: str) -> bool:
        """Give one text a label between its neighbours; False where there is none."""
        place = bisect_left(self._sorted, text)
        low = self._label(place - 1) if place > 0 else None
        high = self._label(place) if place < len(self._sorted) else None
        if low is None or high is None:
            label = (high - self._stride) if low is None and high is not None else (low or 0)
            label += self._stride if high is None else 0
            if abs(label) >= _MOST:
                return False
        else:
            label = (low + high) // 2
            if label == low:
                return False
        self._sorted.insert(place, text)
        self._labels[self._codes[text]] = label
        return True

    def _label(self, place: int) -> int:
        return int(self._labels[self._codes[self._sorted[place]]])

    def _label_all(self) -> None:
        """Sort all texts and give them labels with equal gaps."""
        self._sorted = sorted(self._texts)
        self._stride = max(2 * _ROOM // (len(self._sorted) + 1), 1)
        codes = [self._codes[text] for text in self._sorted]
        self._labels[codes] = np.arange(len(codes), dtype=np.int64) * self._stride - _ROOM


EXACT = decimal.Context(prec=60)
_WORD_DIGITS = 18
_MANY = 64
"""A dictionary of this many texts is not gone through where twice as many rows do not ask."""
_ZONES_AS_THEY_ARE = None, "UTC", "+00:00"
"""Zones whose moments are taken as they lie: what has another one could mean that or this one."""
_BELOW_SIGN = np.int64((1 << 63) - 1)
_KINDS = {"int": "iu", "float": "iuf", "bool": "b", "str": "UO", "date": "MO", "timestamp": "MO"}
_UNITS = {"date": "D", "timestamp": "us"}


def is_certain(column_type: ColumnType, values: Any) -> bool:
    """True for a column of Arrow whose type and count of nulls say that every value has a word."""
    return (
        isinstance(values, pa.Array | pa.ChunkedArray)
        and values.null_count == 0
        and _fits(column_type, values.type)
        and not _hides_nulls(values)
    )


def _hides_nulls(values: Any) -> bool:
    """True where the dictionary of a column of Arrow has a null, which its own count leaves out."""
    if isinstance(values, pa.ChunkedArray):
        return any(map(_hides_nulls, values.chunks))
    return isinstance(values, pa.DictionaryArray) and values.dictionary.null_count > 0


@lru_cache(maxsize=256)
def _fits(column_type: ColumnType, arrow_type: Any) -> bool:
    """True where all values of a type of Arrow have a word."""
    kind = column_type.kind
    if column_type.nullable and kind in ("int", "decimal"):
        return False  # One of them could be the word that stands for no value.
    if kind == "int":
        return pa.types.is_integer(arrow_type) and not pa.types.is_uint64(arrow_type)
    if kind == "decimal":
        return _is_word_decimal(column_type, arrow_type)
    if kind == "str":
        return _is_text(arrow_type)
    tests = {
        "float": pa.types.is_floating,
        "bool": pa.types.is_boolean,
        "date": pa.types.is_date32,
    }
    return kind in tests and tests[kind](arrow_type)


def _in_one_piece(values: Any) -> Any:
    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    try:
        whole = values.combine_chunks()
    except pa.ArrowInvalid:
        # The dictionaries of the chunks have, together, more values than their indices can name.
        whole = values.cast(values.type.value_type).combine_chunks()
    # No chunk at all stays none.
    return pa.array([], whole.type) if isinstance(whole, pa.ChunkedArray) else whole


def as_it_is_now(values: Any) -> Any:
    """A column of Arrow that nobody changes any more.

    Numbers and indices of dictionaries that Arrow was given as an array of NumPy still lie there,
    where the owner of the array may write. All else Arrow has made itself.
    """
    if isinstance(values.type, pa.DictionaryType):
        whole = _in_one_piece(values)
        if not isinstance(whole.type, pa.DictionaryType):
            return whole
        return pa.DictionaryArray.from_arrays(_copied(whole.indices), whole.dictionary)
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return _copied(_in_one_piece(values))
    return values


def _copied(numbers: Any) -> Any:
    return pa.array(numbers.to_numpy().copy())


def encode_column(name: str, column_type: ColumnType, values: Any, texts: Texts) -> NDArray[Any]:
    """Values as words, ints of any width; an InputError where the column cannot hold one of them.

    Where Arrow holds the words already, they are a view of its memory.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _encode_arrow(name, column_type, values, texts)
    array = _array(column_type, values)
    if not column_type.nullable:
        return _encode_values(name, column_type, array, texts)
    if array.dtype.kind == "M":
        missing = np.isnat(array)
    elif array.dtype.kind == "O":
        missing = np.array([item is None for item in array.tolist()], np.bool_)
    else:
        missing = np.zeros(len(array), np.bool_)
    words = np.full(len(array), NULL_WORD, np.int64)
    present = array[~missing]
    if len(present):
        if array.dtype.kind == "O":
            present = _array(column_type, present.tolist())
        words[~missing] = _encode_values(name, column_type, present, texts)
    return _not_reserved(name, words, int(missing.sum()))


def _encode_arrow(name: str, column_type: ColumnType, values: Any, texts: Texts) -> NDArray[Any]:
    column = _in_one_piece(values)
    if _hides_nulls(column):
        column = column.dictionary_decode()
    if column.null_count == 0:
        words = _encode_arrow_values(name, column_type, column, texts)
    elif not column_type.nullable:
        raise InputError(
            f"Column {name!r} is of type {column_type} and has nulls",
            hint=f"declare it as {column_type} | None, or fill them first",
        )
    else:
        words = np.full(len(column), NULL_WORD, np.int64)
        present = column.drop_null()
        if len(present):
            missing = np.asarray(column.is_null())
            words[~missing] = _encode_arrow_values(name, column_type, present, texts)
    if column_type.nullable and column_type.kind != "str":
        return _not_reserved(name, words, column.null_count)
    return words


def _encode_arrow_values(
    name: str, column_type: ColumnType, values: Any, texts: Texts
) -> NDArray[Any]:
    """Words of values of Arrow none of which is null."""
    read = _reader_of(column_type, values.type)
    if read is not None:
        return read(values, texts)
    if column_type.kind == "decimal" and pa.types.is_decimal(values.type):
        return _cast_decimals(name, column_type, values)
    if pa.types.is_timestamp(values.type) and values.type.tz not in _ZONES_AS_THEY_ARE:
        raise InputError(
            f"Column {name!r} is of type {column_type} and cannot hold {values.type} values",
            hint="give timestamps without a time zone: pyarrow.compute.local_timestamp",
        )
    return _encode_values(name, column_type, values.to_numpy(zero_copy_only=False), texts)


@lru_cache(maxsize=256)
def _reader_of(column_type: ColumnType, arrow_type: Any) -> Callable[[Any, Texts], Int64] | None:
    """The function that reads columns of an Arrow type where their words lie; None for others."""
    match column_type.kind:
        case "decimal" if _is_word_decimal(column_type, arrow_type):
            return _lower_halves
        case "str" if _is_text(arrow_type):
            return _arrow_texts
        case "date" if pa.types.is_date32(arrow_type):
            return _days
        case "int" if pa.types.is_integer(arrow_type) and not pa.types.is_uint64(arrow_type):
            return _ints
    return None


def _ints(values: Any, _: Texts) -> Int64:
    return values.to_numpy()  # type: ignore[no-any-return]


def _days(values: Any, _: Texts) -> Int64:
    days: NDArray[Any] = np.frombuffer(values.buffers()[1], np.int32)
    return days[values.offset : values.offset + len(values)]


def _arrow_texts(values: Any, texts: Texts) -> Int64:
    """Codes of texts, each of which is looked up once, however many values it is."""
    listed = values
    if not isinstance(values, pa.DictionaryArray):
        if len(values) <= _MANY:  # To make a dictionary takes 15 us.
            return np.array([texts.code(text) for text in values.to_pylist()], np.int64)
        listed = values.dictionary_encode()
    dictionary, indices = listed.dictionary, listed.indices.to_numpy()
    if len(dictionary) > max(2 * len(indices), _MANY):
        # Most of it is not asked for: those that are, are looked up one by one.
        return np.array([texts.code(dictionary[at].as_py()) for at in indices.tolist()], np.int64)
    codes = np.array([texts.code(text) for text in dictionary.to_pylist()], np.int64)
    return codes[indices]  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _is_text(given: Any) -> bool:
    if pa.types.is_dictionary(given):
        return _is_text(given.value_type)
    return bool(pa.types.is_string(given) or pa.types.is_large_string(given))


@lru_cache(maxsize=64)
def _is_word_decimal(column_type: ColumnType, arrow_type: Any) -> bool:
    """True for decimals of Arrow with the digits of the column, whose lower half is all."""
    if not pa.types.is_decimal128(arrow_type):
        return False
    return bool(arrow_type.scale == column_type.scale and arrow_type.precision <= _WORD_DIGITS)


def _lower_halves(values: Any, _: Texts) -> Int64:
    """Decimals of Arrow are ints of 128 bits: the lower half is the word, if it is all."""
    halves = np.frombuffer(values.buffers()[1], np.int64)
    first = 2 * values.offset
    return halves[first : first + 2 * len(values) : 2]


def _cast_decimals(name: str, column_type: ColumnType, values: Any) -> Int64:
    """The words of decimals with other digits, or more of them than a word may have."""
    try:
        exact = values.cast(pa.decimal128(38, column_type.scale))
    except pa.ArrowInvalid as error:
        raise InputError(f"Column {name!r} cannot hold {values.type} values: {error}") from None
    halves = np.frombuffer(exact.buffers()[1], np.int64)[2 * exact.offset :]
    low, high = halves[0 : 2 * len(exact) : 2], halves[1 : 2 * len(exact) : 2]
    if (high != low >> 63).any():
        raise InputError(f"Column {name!r} holds a decimal beyond 64 bits")
    return low


def _array(column_type: ColumnType, values: Any) -> NDArray[Any]:
    """Values as an array; texts as objects, since arrays of texts lose a zero at the end."""
    if column_type.kind != "str" or isinstance(values, np.ndarray) or hasattr(values, "__array__"):
        return np.asarray(values)
    return _objects_of(list(values))


def _encode_values(name: str, column_type: ColumnType, array: NDArray[Any], texts: Texts) -> Int64:
    """Words of an array none of whose values is null."""
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
    """NumPy values as an array of Python objects."""
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
    return EXACT.scaleb(decimal.Decimal(word), -scale)
