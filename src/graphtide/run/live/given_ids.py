"""Values that are given as ids of vertices, in whatever form a column may have.

Whole numbers below 2**63 become an array of them, everything else an array of objects; a float that
is a whole number is that number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.live.id_looks import plain_id

Ids = NDArray[Any]
"""A column of ids: int64 where all are whole numbers below 2**63, objects otherwise."""

_EXACT = 2.0**53


def read_ids(values: Any, what: str) -> Ids:
    """A column as it is given; not all of it need be ids."""
    if isinstance(values, list | tuple):
        return _from_list(values)
    if isinstance(values, np.ndarray):
        return _from_numpy(values, what)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _from_arrow(values)
    if hasattr(values, "__arrow_c_stream__"):
        try:
            return _from_arrow(pa.chunked_array(values))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return _from_list(list(values))
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{what} is no column of ids: {values!r}", hint="give a list or an array")
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step, dtype=np.int64)
    return _from_list(list(values))


def _from_arrow(values: pa.Array | pa.ChunkedArray) -> Ids:
    if pa.types.is_integer(values.type) and not values.null_count:
        return _from_numpy(values.to_numpy(), "")
    return _from_list(values.to_pylist())


def _from_numpy(values: NDArray[Any], what: str) -> Ids:
    if values.dtype == np.int64 and values.ndim == 1:
        return values
    if values.ndim != 1:
        raise InputError(f"{what} has {values.ndim} dimensions", hint="give one id a row")
    kind = values.dtype.kind
    whole = kind == "i" or (kind == "u" and (not len(values) or values.max() < 2**63))
    if kind == "f":
        whole = bool((np.abs(values) < _EXACT).all() and (values == np.floor(values)).all())
    return values.astype(np.int64) if whole else _from_list(values.tolist())


def _from_list(values: Sequence[Any]) -> Ids:
    kinds = set(map(type, values))
    if not kinds <= {int, str}:
        values = [_whole(plain_id(item)) for item in values]
        kinds = set(map(type, values))
    if kinds <= {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    return np.fromiter(values, object, len(values))


def _whole(item: Any) -> Any:
    """The whole number that a float is, as far as floats tell them apart; else as it is."""
    if isinstance(item, float) and abs(item) < _EXACT and item.is_integer():
        return int(item)
    return item


def _has_bytes(text: str) -> bool:
    """Whether a text can be stored: half of a character, as from a wrongly read file, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_id(item: Any) -> bool:
    """Whether a value can be an id."""
    if item is None or isinstance(item, bool):
        return False
    if isinstance(item, float):
        return abs(item) < _EXACT
    if isinstance(item, int):
        return -(2**63) <= item < 2**64
    if isinstance(item, str):
        return item.isascii() or _has_bytes(item)
    try:
        hash(item)
        return bool(item == item)  # What stands for a missing value does not equal itself.
    except TypeError:
        return False


def are_texts(ids: Ids) -> bool:
    """True where all are texts that can be stored; a quick look."""
    return set(map(type, ids)) == {str} and _has_bytes("".join(ids))


def id_hint(bad: list[Any]) -> str:
    """What to do about values that are no ids, by the first of them."""
    usual = "an id is a whole number of 64 bits, a text or a tuple of them, and is never missing"
    match bad[0]:
        case str():
            return "the text holds half of a character: read the file as UTF-8"
        case bool():
            return "Python takes True for 1: give 0 and 1, or texts"
        case int():
            return "give numbers of more than 64 bits as texts"
        case float() if math.isfinite(bad[0]):
            return "from 2**53 on floats do not tell all whole numbers apart: give ids as ints"
    return f"leave the row out, or give the vertex an id; {usual}"
