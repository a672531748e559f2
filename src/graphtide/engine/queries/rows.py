"""The rows of all queries in memory: a pool of entries that grows and shrinks, and its room.

A pool that lacks room is written anew, each row with a share free. Where the budget does not allow
for two pools, it gets a fourth more, or what is still allowed for; and what rows leave behind is
closed up in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, GrantedArray, LacksRoomError
from graphtide.kernels.queries.layout import (
    choose_kinds,
    close_up,
    copy_rows,
    empty_rows,
    list_rows,
    plan_rows,
    take_starts,
    widen_costs,
)
from graphtide.kernels.queries.records import Rows
from graphtide.model.errors import LimitError

_MOST = 2**31 - 1
_LEAST_POOL = 256
_AT_ONCE = 1 << 12
_LEAST_PART = 32
GROWTH = 4
"""A pool that is full gets this share more: a copy of all entries for every fourth of them."""
SPARE = 8
"""Rows that are laid out anew have this share of their entries free."""
COLUMNS: dict[str, Any] = {
    "key": np.int32,
    "small": np.uint16,
    "wide": np.float64,
    "sign": np.uint16,
}
NARROW, WIDE = 8, 14
"""The bytes of an entry: where all costs are small whole numbers, and where one is not."""


def chunk_sizes(parts: int) -> NDArray[np.int64]:
    """How many entries chunks hold: none, one to eight, and then so many sizes for each doubling.

    Rows leave less free in chunks of more sizes, and fewer chunks that others can use again.
    """
    sizes = list(range(9))
    while sizes[-1] < _MOST:
        sizes += [sizes[-1] // parts * part for part in range(parts + 1, 2 * parts + 1)]
    return np.array(sizes, np.int64)


SIZES = chunk_sizes(4)


class RowPool:
    """The arrays of `Rows`; `view` is what kernels take, anew after every growth."""

    def __init__(self, budget: Budget, vertices: int) -> None:
        self._budget = budget
        self._places = GrantedArray(budget, vertices, np.int64)
        self._lengths = GrantedArray(budget, vertices, np.int32)
        self._kinds = GrantedArray(budget, vertices, np.int8)
        self._pool = {name: budget.array(0, kind) for name, kind in COLUMNS.items()}
        for name in ("key", "small", "sign"):
            self._pool[name] = budget.array(_LEAST_POOL, COLUMNS[name])
        self._free = budget.array(len(SIZES), np.int64, -1)
        self._top = budget.array(1, np.int64, 0)

    @property
    def view(self) -> Rows:
        """The arrays as they are now."""
        by_vertex = [item.room for item in (self._lengths, self._kinds)]
        return Rows(*[self._starts, *by_vertex, *self._pool.values(), self._free, SIZES, self._top])

    @property
    def nbytes(self) -> int:
        """All memory that the rows take, used or not."""
        rows = sum(array.nbytes for array in self.view[1:] if array is not SIZES)
        return rows + self._places.room.nbytes

    @property
    def vertices(self) -> int:
        """How many vertices have a row."""
        return self._places.length

    @property
    def _starts(self) -> NDArray[np.int32]:
        """Where each row begins: the front half of `_places`.

        The other half is room to plan in, and both are to sort in, when none is to be granted.
        """
        return self._places.room.view(np.int32)[: len(self._places.room)]

    @property
    def room(self) -> int:
        """How many entries the pool can take in all."""
        return len(self._pool["key"])

    @property
    def spare(self) -> int:
        """How many entries the pool can take before it grows, at most."""
        return self.room - int(self._top[0])

    @property
    def _columns(self) -> list[str]:
        """Those that hold something; the keys come last, since kernels take their length for that
        of all.
        """
        return [*("wide" if len(self._pool["wide"]) else "small", "sign"), "key"]

    @property
    def entry(self) -> int:
        """The bytes of an entry."""
        return WIDE if len(self._pool["wide"]) else NARROW

    @property
    def pool_bytes(self) -> int:
        """All memory of the pool, used or not."""
        return self.entry * self.room

    def widen(self) -> None:
        """Hold costs of any size, and with fractions, from now on."""
        wide = self._budget.array(self.room, np.float64)
        widen_costs(self._pool["small"], wide)
        self._budget.give(self._pool["small"].nbytes)
        self._pool["small"], self._pool["wide"] = np.empty(0, np.uint16), wide

    def peak_for(self, entries: int) -> int:
        """How many bytes more are granted, at most, while so many entries come in; about.

        A pool that grows is there twice for a while, one array after the other.
        """
        room, lacking = self.room, entries + entries // GROWTH - self.spare
        if lacking <= 0:
            return 0
        sizes = [self._pool[name].itemsize for name in self._columns]
        return max(sizes) * room + sum(sizes) * max(lacking, room // _LEAST_PART)

    def resize(self, vertices: int) -> None:
        """Rows for so many vertices: more, without entries."""
        arrays, before = (self._places, self._lengths, self._kinds), self.vertices
        for array in arrays:
            array.reserve(vertices)
        for array in arrays:
            array.resize(vertices)
        self._starts[before:vertices] = 0

    def cut(self, words: NDArray[np.int64], vertices: int) -> None:
        """Rows for so many vertices: fewer."""
        empty_rows(words, vertices, self.vertices)
        self.resize(vertices)

    @property
    def is_wasteful(self) -> bool:
        """Whether chunks that rows have left take more than a fourth of the pool.

        Rows that grow together leave chunks behind that are too small for any of them.
        """
        kinds, top = self._kinds.view, int(self._top[0])
        parts = (kinds[at : at + _AT_ONCE] for at in range(0, len(kinds), _AT_ONCE))
        held = sum(int(SIZES[part].sum()) for part in parts)
        return (top - held) * GROWTH > top

    def grow(self) -> None:
        """More room in the pool: for any row that may have to move, and a share of all.

        Where the budget does not allow for that, for less, but never by so little that copies of
        the pool follow one another.
        """
        room, top, largest = self.room, int(self._top[0]), self._largest
        wanted = max(top + 2 * largest + _LEAST_POOL - room, room // GROWTH)
        while True:
            try:
                return self._set_room(room + wanted)
            except LacksRoomError:
                if wanted // 2 < max(largest, room // _LEAST_PART):
                    raise
                wanted //= 2

    @property
    def _largest(self) -> int:
        """What any row takes at most when it moves."""
        return int(SIZES[int(self._kinds.view.max(initial=0)) + 1])

    def lay_out(self, entries: int) -> None:
        """Write all rows anew into a larger pool, each with a share free, and have room for so many
        entries of other vertices; LacksRoomError, and nothing has changed, where that is too much.

        Rows that grow together then move together, in the order of vertices, and none of them for a
        while: a row that moves by itself leaves a chunk behind that is too small for all others.
        """
        starts, lengths = self._starts[: self.vertices], self._lengths.view
        there = self._places.room.view(np.int32)[len(self._starts) :][: self.vertices]
        top = plan_rows(lengths, SIZES, there, SPARE)
        room = top + max(entries, 0 if entries else top // SPARE) + 2 * self._largest + _LEAST_POOL
        self._check(room)
        nbytes = self.entry * room
        with self._budget.lent(nbytes):
            fresh = {name: np.empty(room, COLUMNS[name]) for name in self._columns}
            for name, array in fresh.items():
                copy_rows(self._pool[name], array, starts, lengths, there)
                self._budget.give(self._pool[name].nbytes)
                self._pool[name] = array
        self._budget.take(nbytes)
        starts[:] = there
        choose_kinds(lengths, SIZES, self._kinds.view, SPARE)
        self._free[:], self._top[0] = -1, top

    def _check(self, room: int) -> None:
        if room > _MOST:
            raise LimitError(
                f"{room:,} entries are more than the queries on one graph can have",
                hint="drop queries, or give them bounds",
            )

    def _set_room(self, room: int) -> None:
        """Have a pool of so many entries at least."""
        self._check(room)
        used = int(self._top[0])
        for name in self._columns:
            array = self._pool[name]
            if len(array) < room:
                larger = self._budget.array(room, array.dtype)
                larger[:used] = array[:used]
                self._budget.give(array.nbytes)
                self._pool[name] = larger

    def close_up(self, words: NDArray[np.int64]) -> None:
        """Move all rows together, without what belongs to nobody, in place."""
        starts, order = self._starts, self._places.view
        list_rows(starts, order)
        order.sort()  # In place: when room is lacking, there is none to be granted.
        close_up(words, order)
        order.sort()
        take_starts(order, starts)

    def shrink(self) -> None:
        """Give back what the pool has beyond its rows and a little more.

        Nobody may know the arrays by their address any more.
        """
        top = int(self._top[0])
        room = max(top + top // (2 * GROWTH), _LEAST_POOL)
        for array in self._pool.values():
            before = array.nbytes
            if len(array) > room:
                array.resize(room, refcheck=False)
                self._budget.give(before - array.nbytes)
