"""Columns of Arrow as words: from its buffers where they hold the words already.

Ints, days and decimals of up to 18 digits are read as they lie, texts once for each that differs.
What is left goes through NumPy, in `columns`. Whether a column fits its type can be told of most by
what Arrow says of it, without a look at its values: such a column is *certain*, and one that
nothing reads need not be made into words at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.dataflow.few import FEW
from graphtide.engine.dataflow.texts import Texts
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_types import NULL_WORD, ColumnType

Int64 = NDArray[np.int64]
Others = Callable[[NDArray[Any]], Int64]
"""Words of values that NumPy holds, none of which is null."""
Reader = Callable[[Any, Texts], Int64]
"""Reads a column of Arrow, in one piece and without nulls, as it lies."""
_WORD_DIGITS = 18
_AS_THEY_ARE = None, "UTC", "+00:00"
"""Zones whose moments are taken as they lie: what has another one could mean that or this one."""
ARROW = (pa.Array, pa.ChunkedArray)


def is_arrow(values: Any) -> bool:
    """True for a column of Arrow."""
    return isinstance(values, ARROW)


def is_certain(column_type: ColumnType, values: Any) -> bool:
    """True where every value of a column of Arrow has a word, by what Arrow says of it."""
    return values.null_count == 0 and fits(column_type, values.type) and not hides_nulls(values)


def hides_nulls(values: Any) -> bool:
    """True where the dictionary of a column of Arrow has a null, which its own count leaves out."""
    if isinstance(values, pa.ChunkedArray):
        return any(map(hides_nulls, values.chunks))
    return isinstance(values, pa.DictionaryArray) and values.dictionary.null_count > 0


@lru_cache(maxsize=256)
def fits(column_type: ColumnType, given: Any) -> bool:
    """True where all values of a type of Arrow have a word."""
    kind = column_type.kind
    if column_type.nullable and kind in ("int", "decimal"):
        return False  # One of them could be the word that stands for no value.
    if kind == "int":
        return pa.types.is_integer(given) and not pa.types.is_uint64(given)
    if kind == "decimal":
        return _is_word_decimal(column_type, given)
    if kind == "str":
        return _is_text(given)
    tests = {
        "float": pa.types.is_floating,
        "bool": pa.types.is_boolean,
        "date": pa.types.is_date32,
    }
    return kind in tests and tests[kind](given)


def encode_arrow(
    name: str, column_type: ColumnType, values: Any, texts: Texts, others: Others
) -> Int64:
    """The words of a column; an InputError where it cannot hold one of the values."""
    whole = in_one_piece(values)
    if hides_nulls(whole):
        whole = whole.dictionary_decode()
    if whole.null_count == 0:
        return _encode_there(name, column_type, whole, texts, others)
    if not column_type.nullable:
        raise InputError(
            f"Column {name!r} is of type {column_type} and has nulls",
            hint=f"declare it as {column_type} | None, or fill them first",
        )
    missing = np.asarray(whole.is_null())
    words = np.full(len(whole), NULL_WORD, np.int64)
    there = whole.drop_null()
    if len(there):
        words[~missing] = _encode_there(name, column_type, there, texts, others)
    return words


def in_one_piece(values: Any) -> Any:
    """A column in one piece."""
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
        whole = in_one_piece(values)
        if not isinstance(whole.type, pa.DictionaryType):
            return whole
        return pa.DictionaryArray.from_arrays(_copied(whole.indices), whole.dictionary)
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return _copied(in_one_piece(values))
    return values


def _copied(numbers: Any) -> Any:
    return pa.array(numbers.to_numpy().copy())


def _encode_there(
    name: str, column_type: ColumnType, values: Any, texts: Texts, others: Others
) -> Int64:
    read = reader_of(column_type, values.type)
    if read is not None:
        return read(values, texts)
    if column_type.kind == "decimal" and pa.types.is_decimal(values.type):
        return _cast_decimals(name, column_type, values)
    if pa.types.is_timestamp(values.type) and values.type.tz not in _AS_THEY_ARE:
        raise InputError(
            f"Column {name!r} is of type {column_type} and cannot hold {values.type} values",
            hint="give timestamps without a time zone: pyarrow.compute.local_timestamp",
        )
    return others(values.to_numpy(zero_copy_only=False))


@lru_cache(maxsize=256)
def reader_of(column_type: ColumnType, given: Any) -> Reader | None:
    """How columns of a type of Arrow are read as they lie; None for all others."""
    match column_type.kind:
        case "decimal" if _is_word_decimal(column_type, given):
            return _lower_halves
        case "str" if _is_text(given):
            return _texts
        case "date" if pa.types.is_date32(given):
            return _days
        case "int" if pa.types.is_integer(given) and not pa.types.is_uint64(given):
            return _ints
    return None


def _ints(values: Any, _: Texts) -> Int64:
    return values.to_numpy()  # type: ignore[no-any-return]


def _days(values: Any, _: Texts) -> Int64:
    days: NDArray[Any] = np.frombuffer(values.buffers()[1], np.int32)
    return days[values.offset : values.offset + len(values)]


def _texts(values: Any, texts: Texts) -> Int64:
    """Codes of texts, each of which is looked up once, however many values it is."""
    listed = values if isinstance(values, pa.DictionaryArray) else None
    if listed is None:
        if len(values) <= FEW:
            return np.array([texts.code(text) for text in values.to_pylist()], np.int64)
        listed = values.dictionary_encode()
    dictionary, indices = listed.dictionary, listed.indices.to_numpy()
    if len(dictionary) > max(2 * len(indices), FEW):
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
def _is_word_decimal(column_type: ColumnType, given: Any) -> bool:
    """True for decimals of Arrow with the digits of the column, whose lower half is all."""
    if not pa.types.is_decimal128(given):
        return False
    return bool(given.scale == column_type.scale and given.precision <= _WORD_DIGITS)


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
