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

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.graph.id_tables import FREE, enter_distinct, enter_ids, find_ids, remove_ids
from graphtide.model.errors import InputError
from graphtide.run.live.id_looks import Looks, check_looks, looks_of, plain_id
from graphtide.run.live.vertex_hints import vertex_hint

Int32 = NDArray[np.int32]
Ids = NDArray[Any]
"""A column of ids: int64 where all are whole numbers below 2**63, objects otherwise."""

_NO_TABLE = np.empty(0, np.int64)
_MOST_NAMED = 5
_EXACT = 2.0**53


class VertexIds:
    """All ids of a graph by vertex number; grows at the end and forgets from there.

    Whole numbers are kept as such, with a table of hashes unless they are their own numbers.
    Anything else is a list, with a dict beside it.
    """

    def __init__(self, ids: Ids) -> None:
        self._whole: GrowingArray | None = None
        self._listed: list[Any] = []
        self._plain = False
        self._table: NDArray[np.int64] | None = None
        self._found: dict[Hashable, int] | None = None
        self._looks: Looks | None = None
        self.are_stored = False
        """Whether they are kept on disk, which takes whole numbers below 2**63, or else texts."""
        if ids.dtype == object:
            self._listed = ids.tolist()
            self._looks = looks_of(self._listed)
            check_looks(self._looks, lambda: list(self._listed))
        else:
            self._whole = GrowingArray(ids)
            self._plain = bool((ids == np.arange(len(ids))).all())

    def copy(self) -> VertexIds:
        """The ids of this moment, which stay so. O(ids)."""
        made = VertexIds(np.empty(0, np.int64))
        if self._whole is None:
            made._whole, made._listed = None, list(self._listed)
        else:
            made._whole, made._plain = GrowingArray(self._whole.view.copy()), self._plain
        return made

    def __len__(self) -> int:
        return len(self._listed) if self._whole is None else self._whole.length

    def __getitem__(self, number: int) -> Any:
        if self._whole is None:
            return plain_id(self._listed[number])
        return int(self._whole.view[number])

    def numbers(self, ids: Ids) -> Int32:
        """The number of each id, -1 where there is none. O(ids) once a table has been made."""
        found = np.empty(len(ids), np.int32)
        if self._whole is None:
            get = self._places().get
            found[:] = [get(item, -1) for item in ids.tolist()]
        elif ids.dtype == object:
            found.fill(-1)
            at = [place for place, item in enumerate(ids) if _is_whole(item)]
            found[at] = self.numbers(np.array([ids[place] for place in at], np.int64))
        else:
            find_ids(self._hashes(), len(self), np.ascontiguousarray(ids), found)
        return found

    @property
    def are_whole(self) -> bool:
        """Whether all are whole numbers below 2**63."""
        return self._whole is not None

    @property
    def table(self) -> NDArray[np.int64] | None:
        """What leads kernels from whole numbers to vertices, empty where these are the same; None
        where ids are not whole numbers.
        """
        return None if self._whole is None else self._hashes()

    def taken(self, numbers: NDArray[Any]) -> pa.Array:
        """The ids of some vertices as an Arrow array; texts where they have no type in common."""
        if self._whole is not None:
            return pa.array(self._whole.view[numbers])
        return arrow_ids([self[number] for number in numbers.tolist()])

    def hint(self, given: Any) -> str:
        """What to do about an id that is not there. O(ids)."""
        return vertex_hint(self.taken(np.arange(len(self))), given)

    def check_new(self, ids: Sequence[Any]) -> None:
        """Refuse ids that cannot be told apart from those that are there, or from one another.

        O(new ids) but for a graph that has texts and other ids, which is looked through.
        """
        if self.are_stored:
            self._check_stored(ids)
        known = self._listed if self._whole is None else self._whole.view
        if self._looks is None:
            self._looks = looks_of(known)
        self._looks |= looks_of(ids)
        check_looks(self._looks, lambda: [*known, *ids])

    def _check_stored(self, ids: Sequence[Any]) -> None:
        whole = all(map(_is_whole, ids))
        texts = not whole and all(isinstance(item, str) for item in ids)
        if (whole or texts) and (not len(self) or whole == self.are_whole):
            return
        have = "whole numbers" if len(self) and self.are_whole else "texts"
        have = have if len(self) else "whole numbers below 2**63, or texts"
        raise InputError(
            f"the ids of this graph are {have}",
            where=f"new ids such as {plain_id(ids[0])!r}",
            hint="a live graph has ids of one kind, which it keeps on disk: give all as texts",
        )

    def append(self, ids: Sequence[Any]) -> None:
        """More vertices, whose ids are not there yet. O(new ids) on average."""
        first = len(self)
        if not first:
            self._whole, self._found = GrowingArray(np.empty(0, np.int64)), None
            self._plain, self._table = True, None
        if self._whole is not None and all(map(_is_whole, ids)):
            self._whole.extend(np.array(ids, np.int64))
            self._plain = self._plain and list(ids) == list(range(first, first + len(ids)))
            if self._table is not None and 4 * len(self) <= len(self._table):
                enter_ids(self._table, self._whole.view, first)
            else:
                self._table = None
            return
        if self._whole is not None:
            self._listed, self._whole = self._whole.view.tolist(), None
        self._listed.extend(ids)
        if self._found is not None:
            self._found.update(zip(ids, range(first, first + len(ids)), strict=True))

    def truncate(self, count: int) -> None:
        """Forget the vertices behind the first `count`."""
        if count == len(self):
            return
        if self._whole is not None:
            if self._table is not None:
                remove_ids(self._table, self._whole.view, count)
            self._whole.resize(count)
            return
        if self._found is not None:
            for item in self._listed[count:]:
                del self._found[item]
        del self._listed[count:]

    def _places(self) -> dict[Hashable, int]:
        if self._found is None:
            self._found = dict(zip(self._listed, range(len(self._listed)), strict=True))
        return self._found

    def _hashes(self) -> NDArray[np.int64]:
        """The table of ids that are not their own numbers; nothing where all are."""
        if self._plain:
            return _NO_TABLE
        if self._table is None:
            assert self._whole is not None
            size = 4 << max(4, len(self).bit_length())
            self._table = np.full(size, FREE, np.int64)
            enter_ids(self._table, self._whole.view, 0)
        return self._table


def distinct_ids(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids that some columns have, each once, in no order."""
    table, found = np.full(1 << 12, FREE, np.int64), np.empty(1 << 10, np.int64)
    count = 0
    for column in columns:
        done = 0
        while True:
            done, count = enter_distinct(table, column, done, found, count)
            if done == len(column):
                break
            found = np.resize(found, 4 * len(found))
            table = np.full(4 * len(table), FREE, np.int64)
            enter_ids(table, found[:count], 0)
    return found[:count]


def _is_whole(item: Any) -> bool:
    return type(item) is int and -(2**63) <= item < 2**63


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
    if found.dtype != object or _are_texts(found):
        return found
    bad = [at for at, item in enumerate(found) if not _is_id(item)]
    if bad:
        raise InputError(
            f"{what} has values that cannot be ids",
            where=named_rows(bad, lambda at: repr(found[at])),
            hint=_id_hint([found[at] for at in bad]),
        )
    return found


def _are_texts(ids: Ids) -> bool:
    """True where all are texts that can be stored; a quick look."""
    return set(map(type, ids)) == {str} and _has_bytes("".join(ids))


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


def named_rows(rows: Iterable[int], text: Callable[[int], str]) -> str:
    """The first few of the rows that an error is about, by their position from 0."""
    listed = list(rows)
    named = [f"row {at}: {text(at)}" for at in listed[:_MOST_NAMED]]
    if len(listed) > _MOST_NAMED:
        named.append(f"and {len(listed) - _MOST_NAMED:,} more")
    return ", ".join(named)


def _read_column(values: Any, what: str) -> Ids:
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
