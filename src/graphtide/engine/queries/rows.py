"""The rows of all queries in memory: a pool of entries that grows and shrinks, and its room."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.blocks import Block
from graphtide.kernels.queries.reading import copy_current, count_current, empty_rows
from graphtide.kernels.queries.records import Rows
from graphtide.model.errors import LimitError

_MOST = 2**31 - 1
_LEAST_POOL = 256
GROWTH = 4
"""A pool that is full gets this share more: a copy of all entries for every fourth of them."""


def chunk_sizes() -> NDArray[np.int64]:
    """How many entries chunks hold: none, one to eight, and then four sizes for each doubling."""
    sizes = list(range(9))
    while sizes[-1] < _MOST:
        sizes += [sizes[-1] // 4 * part for part in (5, 6, 7, 8)]
    return np.array(sizes, np.int64)


SIZES = chunk_sizes()


class RowPool:
    """The arrays of `Rows`; `view` is what kernels take, anew after every growth."""

    def __init__(self, vertices: int) -> None:
        self._starts = GrowingArray(np.zeros(vertices, np.int64))
        self._lengths = GrowingArray(np.zeros(vertices, np.int32))
        self._kinds = GrowingArray(np.zeros(vertices, np.int16))
        self._make_pool(_LEAST_POOL)

    def _make_pool(self, room: int) -> None:
        self._pool: list[NDArray[Any]] = [
            np.empty(room, kind) for kind in (np.int32, np.float64, np.int32, np.int16)
        ]
        self._free = np.full(len(SIZES), -1, np.int64)
        self._top = np.zeros(1, np.int64)

    @property
    def view(self) -> Rows:
        """The arrays as they are now."""
        by_vertex = [item.room for item in (self._starts, self._lengths, self._kinds)]
        return Rows(*[*by_vertex, *self._pool, self._free, SIZES, self._top])

    @property
    def nbytes(self) -> int:
        """All memory that the rows take, used or not."""
        return sum(array.nbytes for array in self.view if array is not SIZES)

    @property
    def vertices(self) -> int:
        """How many vertices have a row."""
        return self._starts.length

    def resize(self, vertices: int) -> None:
        """Rows for so many vertices: more, without entries."""
        for array in (self._starts, self._lengths, self._kinds):
            array.resize(vertices)

    def cut(self, words: NDArray[np.int64], vertices: int) -> None:
        """Rows for so many vertices: fewer."""
        empty_rows(words, vertices, self.vertices)
        self.resize(vertices)

    @property
    def is_wasteful(self) -> bool:
        """Whether chunks that rows have left take more than a fourth of the pool.

        Rows that grow together leave chunks behind that are too small for any of them.
        """
        held = int(SIZES[self._kinds.view].sum())
        return (int(self._top[0]) - held) * GROWTH > int(self._top[0])

    def grow(self) -> None:
        """More room in the pool: for any row that may have to move, and a share of all."""
        longest = int(self._lengths.view.max(initial=0))
        room = len(self._pool[0])
        wanted = int(self._top[0]) + 2 * longest + _LEAST_POOL
        self._set_room(max(wanted, room + room // GROWTH))

    def _set_room(self, room: int) -> None:
        if room > _MOST:
            raise LimitError(
                f"{room:,} entries are more than the queries on one graph can have",
                hint="drop queries, or give them bounds",
            )
        used = int(self._top[0])
        for at, array in enumerate(self._pool):
            larger = np.empty(room, array.dtype)
            larger[:used] = array[:used]
            self._pool[at] = larger

    def sweep(self, words: NDArray[np.int64]) -> None:
        """Write all rows anew, without what belongs to nobody; the pool shrinks to what is left."""
        counts = np.zeros(self.vertices, np.int32)
        count_current(words, counts)
        kinds = np.searchsorted(SIZES, counts)
        rooms = SIZES[kinds]
        top = int(rooms.sum())
        room = max(top + top // (2 * GROWTH), _LEAST_POOL)
        fresh = RowPool(self.vertices)
        fresh._make_pool(room)
        fresh._top[0] = top
        fresh._kinds.view[:] = kinds
        fresh._starts.view[:] = np.cumsum(rooms) - rooms
        copy_current(words, Block(fresh.view).words, self.vertices)
        for name in ("_starts", "_lengths", "_kinds", "_pool", "_free", "_top"):
            setattr(self, name, getattr(fresh, name))
