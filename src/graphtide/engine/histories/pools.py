"""Rows of differences or messages in memory: a pool that grows, widens, and is written anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.engine.queries.rows import chunk_sizes
from graphtide.kernels.histories.collecting import copy_owned, count_owned, empty_rows, remove_keys
from graphtide.kernels.histories.records import Pool
from graphtide.model.errors import LimitError

_LEAST, _MOST = 64, 2**31 - 1
SIZES = chunk_sizes(8)

GROWTH = 16
"""A pool that is full gets this share more."""

WASTEFUL = 10
"""A pool is written anew instead once this share of it lies in chunks that rows have left.

Rows of queries that come one after the other grow together, and leave chunks that fit none.
"""

KINDS: dict[str, Any] = {
    "key": np.int32,
    "late": np.uint8,
    "small": np.uint16,
    "wide": np.float64,
    "copies": np.int32,
}


class HistoryPool:
    """The arrays of `Pool`, with the columns that it is made for; `view` is what kernels take."""

    def __init__(self, vertices: int, *columns: str) -> None:
        self._headers = [
            GrowingArray(np.zeros(vertices, kind)) for kind in (np.int32, np.int32, np.uint8)
        ]
        self._columns = columns
        self._swept = False
        self._make(_LEAST)

    def _make(self, room: int) -> None:
        self._pool: dict[str, NDArray[Any]] = {
            name: np.empty(room if name in self._columns else 0, kind)
            for name, kind in KINDS.items()
        }
        self._free = np.full(len(SIZES), -1, np.int64)
        self._top = np.zeros(1, np.int64)

    @property
    def view(self) -> Pool:
        """The arrays as they are now."""
        headers = [array.room for array in self._headers]
        return Pool(*[*headers, *self._pool.values(), self._free, SIZES, self._top])

    @property
    def nbytes(self) -> int:
        """All memory that the rows take, used or not; none where nothing is ever kept."""
        if not self._columns:
            return 0
        return sum(array.nbytes for array in self.view if array is not SIZES)

    @property
    def entry(self) -> int:
        """The bytes of one entry."""
        return sum(np.dtype(KINDS[name]).itemsize for name in self._columns)

    @property
    def vertices(self) -> int:
        """How many vertices have a row."""
        return self._headers[0].length

    def resize(self, vertices: int) -> bool:
        """Rows for so many vertices, without entries where they are more; whether that is new."""
        if not self._columns or vertices == self.vertices:
            return False
        for array in self._headers:
            array.resize(vertices)
        return True

    def cut(self, vertices: int) -> None:
        """Rows for so many vertices: fewer."""
        if vertices < self.vertices:
            empty_rows(self.view, vertices, self.vertices)
            self.resize(vertices)

    def grow(self, owner: NDArray[np.int32]) -> None:
        """More room: what rows have left if that is much, else for any row that has to move.

        A call that still lacks room then has left as much again: it gets more, until it is done.
        """
        if not self._swept and self.is_wasteful:
            self.sweep(owner)
            self._swept = True
            return
        top, lengths, room = int(self._top[0]), self._headers[1].view, len(self._pool["key"])
        self._set_room(max(top + 2 * int(lengths.max(initial=0)) + _LEAST, room + room // GROWTH))

    @property
    def is_wasteful(self) -> bool:
        """Whether much of the pool lies in chunks that rows have left."""
        top, held = int(self._top[0]), int(SIZES[self._headers[2].view].sum())
        return (top - held) * WASTEFUL > top

    def at_rest(self) -> None:
        """The call that lacked room is done."""
        self._swept = False

    def widen(self) -> None:
        """Hold costs of 64 bits from now on."""
        if "small" in self._columns:
            self._pool["wide"] = self._pool["small"].astype(np.float64)
            self._pool["small"] = np.empty(0, np.uint16)
            self._columns = tuple({"small": "wide"}.get(name, name) for name in self._columns)

    def hold_late(self) -> None:
        """Hold iterations of more than eight bits from now on."""
        if self._columns and "late" not in self._columns:
            self._pool["late"] = np.zeros(len(self._pool["key"]), np.uint8)
            self._columns = *self._columns, "late"

    def remove(self, first: int, last: int) -> None:
        """Take a range of keys out of all rows."""
        if self._columns:
            remove_keys(self.view, first, last, self.vertices)

    def sweep(self, owner: NDArray[np.int32]) -> None:
        """Write all rows anew, without keys that belong to nobody."""
        if not self._columns:
            return
        counts = np.zeros(self.vertices, np.int32)
        count_owned(self.view, owner, counts)
        kinds = np.searchsorted(SIZES, counts)
        rooms = SIZES[kinds]
        top = int(rooms.sum())
        fresh = HistoryPool(self.vertices, *self._columns)
        fresh._make(top + top // GROWTH + _LEAST)
        fresh._top[0] = top
        fresh._headers[0].view[:] = np.cumsum(rooms) - rooms
        fresh._headers[2].view[:] = kinds
        copy_owned(self.view, owner, fresh.view, self.vertices)
        for name in ("_headers", "_pool", "_free", "_top"):
            setattr(self, name, getattr(fresh, name))

    def _set_room(self, room: int) -> None:
        if room > _MOST:
            raise LimitError(
                f"{room:,} differences are more than the queries on one graph can have",
                hint="drop queries, or give them bounds",
            )
        used = int(self._top[0])
        for name in self._columns:
            larger = np.empty(room, KINDS[name])
            larger[:used] = self._pool[name][:used]
            self._pool[name] = larger
