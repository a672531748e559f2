"""The users' ids of vertices and the numbers that stand for them inside.

Ids are whatever can be a key: whole numbers of 64 bits, signed or not, texts, tuples. Whole numbers
from a column stand in ascending order, so that vertices 0 to n - 1 have themselves as numbers and
no table is needed to find them; all other ids stand in the order in which they first appear.
Vertices that come later stand behind.

Kept true: two vertices never look the same in a table. A float that is a whole number is that
number, 1 and '1' are not both ids of one graph, and truth values, which Python takes for 0 and 1,
are no ids at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import closest
from graphtide.run.live.id_looks import Looks, check_looks, looks_of, plain_id

Int32 = NDArray[np.int32]
Ids = NDArray[Any]
"""A column of ids: int64 where all are whole numbers below 2**63, objects otherwise."""

_MOST_NAMED = 5
_FEW = 10_000
_EXACT = 2.0**53


class VertexIds:
    """All ids of a graph by vertex number; grows at the end and forgets from there."""

    def __init__(self, ids: Ids) -> None:
        self._ids: list[Any] | Ids = ids
        self._plain = ids.dtype != object and bool((ids == np.arange(len(ids))).all())
        self._found: dict[Hashable, int] | None = None
        self._looks: Looks | None = None
        if ids.dtype == object:
            self._looks = looks_of(ids)
            check_looks(self._looks, lambda: list(ids))

    def copy(self) -> VertexIds:
        """The ids of this moment, which stay so. O(ids) where vertices came later."""
        made = VertexIds(np.empty(0, np.int64))
        made._ids = self._ids if isinstance(self._ids, np.ndarray) else list(self._ids)
        made._plain = self._plain
        return made

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, number: int) -> Any:
        return plain_id(self._ids[number])

    def numbers(self, ids: Ids) -> Int32:
        """The number of each id, -1 where there is none. O(ids) once a table has been made."""
        if self._plain and ids.dtype != object:
            known = (ids >= 0) & (ids < len(self))
            return np.where(known, ids, -1).astype(np.int32)
        table = self._table()
        return np.fromiter((table.get(item, -1) for item in ids.tolist()), np.int32, len(ids))

    def taken(self, numbers: NDArray[Any]) -> pa.Array:
        """The ids of some vertices as an Arrow array; texts where they have no type in common."""
        if isinstance(self._ids, np.ndarray) and self._ids.dtype != object:
            return pa.array(self._ids[numbers])
        return arrow_ids([self[number] for number in numbers.tolist()])

    def check_new(self, ids: Sequence[Any]) -> None:
        """Refuse ids that cannot be told apart from those that are there, or from one another.

        O(new ids) but for a graph that has texts and other ids, which is looked through.
        """
        if self._looks is None:
            self._looks = looks_of(self._ids)
        self._looks |= looks_of(ids)
        check_looks(self._looks, lambda: [*self._ids, *ids])

    def append(self, ids: Sequence[Any]) -> None:
        """More vertices, whose ids are not there yet."""
        if not ids:
            return
        known: list[Any] = self._ids.tolist() if isinstance(self._ids, np.ndarray) else self._ids
        first = len(known)
        self._plain = self._plain and list(ids) == list(range(first, first + len(ids)))
        if self._found is not None or not self._plain:
            self._table().update(zip(ids, range(first, first + len(ids)), strict=True))
        known.extend(ids)
        self._ids = known

    def truncate(self, count: int) -> None:
        """Forget the vertices behind the first `count`."""
        if count == len(self):
            return
        assert isinstance(self._ids, list), "only what was appended can go"
        for item in self._ids[count:]:
            if self._found is not None:
                del self._found[item]
        del self._ids[count:]

    def _table(self) -> dict[Hashable, int]:
        if self._found is None:
            known = self._ids.tolist() if isinstance(self._ids, np.ndarray) else self._ids
            self._found = dict(zip(known, range(len(known)), strict=True))
        return self._found


def arrow_ids(ids: list[Any]) -> pa.Array:
    """Ids as an Arrow array; as texts where Arrow has no type for all of them."""
    kinds = set(map(type, ids))
    if kinds == {int} and max(ids) >= 2**63:
        return pa.array(ids, pa.uint64())
    try:
        if kinds >= {str, bytes}:  # Arrow takes one for the other.
            return pa.array([str(item) for item in ids])
        return pa.array(ids)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([str(item) for item in ids])


def id_column(values: Any, what: str) -> Ids:
    """A column of ids from an array, a list, or a column of a frame; refuses missing ones."""
    found = _read_column(values, what)
    if found.dtype != object:
        return found
    bad = [at for at, item in enumerate(found) if not _is_id(item)]
    if bad:
        raise InputError(
            f"{what} has values that cannot be ids",
            where=named_rows(bad, lambda at: repr(found[at])),
            hint=_id_hint([found[at] for at in bad]),
        )
    return found


def _id_hint(bad: list[Any]) -> str:
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


def vertex_hint(ids: pa.Array | pa.ChunkedArray, given: Any, usual: str) -> str:
    """What to do about an id that is not there: one like it, the type of ids, or the usual."""
    texts, is_text = pa.types.is_string(ids.type), isinstance(given, str)
    if texts and is_text and len(ids) <= _FEW:
        near = closest(given, ids.to_pylist())
        return f"did you mean '{near}'?" if near else usual
    if texts and isinstance(given, int):
        return f"ids are texts here, as in '{ids[0].as_py()}'; {usual}" if len(ids) else usual
    if is_text and pa.types.is_integer(ids.type):
        return f"ids are whole numbers here; {usual}"
    return usual


def named_rows(rows: Iterable[int], text: Callable[[int], str]) -> str:
    """The first few of the rows that an error is about, by their position from 0."""
    listed = list(rows)
    named = [f"row {at}: {text(at)}" for at in listed[:_MOST_NAMED]]
    if len(listed) > _MOST_NAMED:
        named.append(f"and {len(listed) - _MOST_NAMED:,} more")
    return ", ".join(named)


def _read_column(values: Any, what: str) -> Ids:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _from_arrow(values)
    if isinstance(values, np.ndarray):
        return _from_numpy(values, what)
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
    if values.ndim != 1:
        raise InputError(f"{what} has {values.ndim} dimensions", hint="give one id a row")
    kind = values.dtype.kind
    whole = kind == "i" or (kind == "u" and (not len(values) or values.max() < 2**63))
    if kind == "f":
        whole = bool((np.abs(values) < _EXACT).all() and (values == np.floor(values)).all())
    return values.astype(np.int64) if whole else _from_list(values.tolist())


def _from_list(values: list[Any]) -> Ids:
    plain = [_whole(plain_id(item)) for item in values]
    if all(type(item) is int and -(2**63) <= item < 2**63 for item in plain):
        return np.array(plain, np.int64)
    return np.fromiter(plain, object, len(plain))


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


def _is_id(item: Any) -> bool:
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
