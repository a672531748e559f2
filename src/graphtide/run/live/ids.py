"""Ids of vertices as values: what can be one, how a column of them is read, which kinds there are.

A column of whole numbers below 2**63 becomes an int64 array, any other column an array of objects.
A float that is a whole number is read as that number; a missing value and a truth value are no ids.

Kept true: no two vertices of a graph look the same in a table. An Arrow column has one type, and
ids of several types are shown as texts, in which 1 and '1' are the same; and no type of 64 bits
holds both numbers below 0 and numbers of 2**63 and more. `check_looks` refuses such graphs. Nearly
always one source has given its ids in another type than the other source.

The numbers that stand for ids inside a graph are in `vertex_ids`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError

_NUMBERS = (int, float)
_TEXTS, _WHOLE = frozenset({str}), frozenset({int})
_PLAIN = {str, int, float, tuple}
"""Types of nearly all ids, so that most are looked at once."""


@dataclass(frozen=True)
class IdKinds:
    """The kinds of ids that a graph has had: their types, those of what tuples hold, and whether
    there are numbers below 0, of 2**63 and more, and ints that no float is.
    """

    types: frozenset[type] = frozenset()
    within: frozenset[type] = frozenset()
    negative: bool = False
    large: bool = False
    wide: bool = False

    def __or__(self, other: IdKinds) -> IdKinds:
        return IdKinds(
            self.types | other.types,
            self.within | other.within,
            self.negative or other.negative,
            self.large or other.large,
            self.wide or other.wide,
        )

    @property
    def are_plain(self) -> bool:
        """True if all ids are texts or all are small ints, which stays true when some leave."""
        whole = self.types <= _WHOLE and not (self.negative or self.wide)
        return whole or self.types == _TEXTS

    @property
    def are_mixed(self) -> bool:
        """True if ids are of several kinds, so that two could look the same as texts."""
        return len(_kinds(self.types)) > 1

    @property
    def are_told_as_texts(self) -> bool:
        """Whether tables show them as texts: they are texts, or no type of Arrow holds all."""
        if self.types == _TEXTS or (self.wide and float in self.types):
            return True
        kinds = _kinds(self.types)
        return str in kinds or len(kinds) > 1 or len(_kinds(self.within)) > 1


def _kinds(types: Iterable[type]) -> set[type]:
    """The kinds of types that one column cannot mix; all numbers are one kind."""
    kinds = ((str, str), (bool, bool), (_NUMBERS, float))
    return {
        next((kind for base, kind in kinds if issubclass(item, base)), item)
        for item in types
        if item is not type(None)
    }


def text_of(item: Any) -> str:
    return item if isinstance(item, str) else str(item)


def plain_id(item: Any) -> Any:
    """The Python value of a scalar of NumPy, Arrow or tensors; anything else as it is.

    Who goes through a column of Arrow or a tensor in a loop holds such scalars. They equal no value
    of Python, some not even each other, so that each would be a vertex of its own.
    """
    if type(item) in _PLAIN:
        return item
    if isinstance(item, pa.Scalar):
        return item.as_py()
    is_scalar = hasattr(item, "item") and getattr(item, "shape", None) == ()
    return item.item() if is_scalar else item


def looks_of(ids: Iterable[Any]) -> IdKinds:
    if isinstance(ids, np.ndarray) and ids.dtype != object:
        if not len(ids):
            return IdKinds()
        least, most = int(ids.min()), int(ids.max())
        return IdKinds(frozenset({int}), negative=least < 0, wide=max(-least, most) > 2**53)
    listed = list(ids)
    types = frozenset(map(type, listed))
    if types <= {str}:
        return IdKinds(types)
    if not types <= {int, str}:
        types = frozenset(type(plain_id(item)) for item in listed)
    whole = [item for item in listed if isinstance(item, int)]
    least, most = (min(whole), max(whole)) if whole else (0, 0)
    within = (type(part) for item in listed if isinstance(item, tuple) for part in item)
    return IdKinds(
        types,
        frozenset(within),
        negative=least < 0,
        large=most >= 2**63,
        wide=max(-least, most) > 2**53,
    )


def check_looks(seen: IdKinds, ids: Callable[[], list[Any]]) -> None:
    """Refuse ids that look the same; they are asked for only where kinds that can are together."""
    if seen.negative and seen.large:
        _check_range([item for item in map(plain_id, ids()) if isinstance(item, int)])
    if seen.are_mixed:
        _check_texts([plain_id(item) for item in ids()])


def _check_range(whole: list[int]) -> None:
    if whole and min(whole) < 0 and max(whole) >= 2**63:
        raise InputError(
            "ids below 0 and ids of 2**63 and more cannot be in one graph: "
            f"{min(whole)} and {max(whole)}",
            hint="no type of 64 bits holds both: give all ids as texts",
        )


def _check_texts(ids: list[Any]) -> None:
    seen: dict[str, Any] = {}
    for item in ids:
        twin = seen.setdefault(text_of(item), item)
        if twin is not item and twin != item:
            one, other = (twin, item) if isinstance(item, str) else (item, twin)
            raise InputError(
                f"{one!r} and {other!r} are ids of two vertices that look the same",
                hint="give all ids the same type: whole numbers, or texts",
            )


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
    """A float below 2**53 that is a whole number becomes that number; others stay."""
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
