"""Arrays that grow at the end, slabs made of them, and the table of pairs of a graph.

Growing at least doubles the room, so that appending one at a time costs O(1) each on average. What
lies behind the part in use keeps what it held, so that a slab given up by undoing is used again.
Kernels see arrays by vertex as long as there are vertices, and arrays by edge or entry with all
their room: these stay the same arrays, and so need not be handed over again, until room runs out.

A graph gets a table of pairs (`kernels.graph.hash_tables`) once looks through slabs have gone
through many entries. Making it takes as long as some starts of a program, so each advance makes a
piece of it; rows are matched by slabs until it is whole. A table that has become too small is given
up, and a larger one is made the same way. Kept true: `table` is empty, or has every edge of the
graph, entered in the order of their numbers.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Slabs, fill_slabs, put_apart
from graphtide.kernels.graph.flips import wanted_room
from graphtide.kernels.graph.hash_tables import NONE, edges_within, enter_edges, places_for
from graphtide.model.delta import MOST_NARROW, is_wide
from graphtide.model.errors import LimitError

Int32 = NDArray[np.int32]


def with_spare(count: int) -> int:
    """How much room to make for so many rows; memory that is not written to costs nothing."""
    return min(count + count // 8 + 64, max(count, MOST_NARROW - 1))


class GrowingArray:
    """An array of which the first `length` rows are in use."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.room = values
        """All rows, those that are not in use included; another array once it has grown."""
        self.length = len(values)

    @classmethod
    def of(cls, values: NDArray[Any], room: int) -> GrowingArray:
        """A copy of the values, with room for so many."""
        made = cls(np.empty((room, *values.shape[1:]), values.dtype))
        made.length = len(values)
        made.view[:] = values
        return made

    @property
    def view(self) -> NDArray[Any]:
        """The rows in use; not a copy, and to be taken anew after every growth."""
        return self.room[: self.length]

    def reserve(self, room: int) -> None:
        if room > len(self.room):
            larger = np.zeros((max(room, 2 * len(self.room)), *self.room.shape[1:]), self.dtype)
            larger[: self.length] = self.view
            self.room = larger

    def resize(self, length: int) -> None:
        """More rows (0, or what they held before) or fewer."""
        self.reserve(length)
        self.length = length

    def extend(self, values: NDArray[Any]) -> None:
        before = self.length
        self.resize(before + len(values))
        self.room[before : self.length] = values

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.room.dtype


class GrowingSlabs:
    """One direction of an adjacency; `view` is what kernels take.

    Without `loops`, these stand apart, in no slab.
    """

    def __init__(
        self, vertices: int, ends: Int32, others: Int32, *, spare: bool, loops: bool = True
    ) -> None:
        apart = np.empty(0, np.int32) if loops else np.flatnonzero(ends == others).astype(np.int32)
        room = np.bincount(np.delete(ends, apart) if len(apart) else ends, minlength=vertices)
        if spare:
            # Moving the slab of a hub when its first edge comes would cost its whole degree.
            room += room // 8
        slabs = int(room.sum())
        self.top = slabs + len(apart)
        check_entries(self.top)
        start = np.zeros(vertices, np.int64)
        np.cumsum(room[:-1], out=start[1:])
        self._start = GrowingArray(start)
        self._live = GrowingArray(np.zeros(vertices, np.int32))
        self._used = GrowingArray(np.zeros(vertices, np.int32))
        self._room = GrowingArray(room.astype(np.int32))
        sizes = with_spare(self.top), with_spare(self.top), with_spare(len(ends))
        self._neighbour, self._edge, self._slot = (
            GrowingArray(np.empty(size, np.int32)) for size in sizes
        )
        fill_slabs(self.view, ends, others, 0, len(apart) == 0)
        put_apart(self.view, apart, ends[apart], slabs)

    @property
    def view(self) -> Slabs:
        """The slabs as they are now; of no use after the next growth."""
        return Slabs(
            start=self._start.view,
            live=self._live.view,
            used=self._used.view,
            room=self._room.view,
            neighbour=self._neighbour.room,
            edge=self._edge.room,
            slot=self._slot.room,
        )

    def twin(self) -> GrowingSlabs:
        """The same slabs with a live prefix of their own, for as long as neither grows."""
        made = copy.copy(self)
        made._live = GrowingArray(self._live.view.copy())
        made._neighbour, made._edge, made._slot = (
            GrowingArray(_copied(array.room, self.top))
            for array in (self._neighbour, self._edge, self._slot)
        )
        return made

    def resize(self, vertices: int) -> None:
        """More or fewer vertices; those that go must have no entries left."""
        for array in (self._start, self._live, self._used, self._room):
            array.resize(vertices)

    def reserve_edges(self, count: int) -> None:
        """Have room for edges numbered below `count`."""
        check_entries(count)
        self._slot.resize(len(self._slot.room))
        self._slot.reserve(count)

    def reserve_entries(self, top: int, end: int) -> None:
        """Have room in the pool, of which `top` entries are in use, for the slab of a vertex."""
        wanted = top + wanted_room(int(self._room.view[end]))
        check_entries(wanted)
        for pool in (self._neighbour, self._edge):
            pool.resize(len(pool.room))
            pool.reserve(wanted)


def _copied(room: NDArray[Any], used: int) -> NDArray[Any]:
    """A copy with the same room; it copies the entries in use and leaves the rest unwritten."""
    copy = np.empty_like(room)
    copy[:used] = room[:used]
    return copy


def check_entries(count: int) -> None:
    """Refuse more edges than their numbers can tell apart."""
    if is_wide(count):
        raise LimitError(
            f"{count:,} edges are more than one graph in memory can hold, which numbers them by 32 "
            f"bits: fewer than {MOST_NARROW:,}",
            hint="load them into a catalog: session.load(...); graph.run(program) and runs "
            "on='shards' take more",
        )


Int64 = NDArray[np.int64]

LOOKED_SHARE = 16
"""A table is made once looks through slabs have gone through one entry for so many edges.

On RMAT 18 that is after some 2,000 deleted rows; making it takes 0.13 s and 18 bytes an edge, once,
and saves 0.6 microseconds a row from then on. A road network, where a look goes through two
entries, hardly ever gets one.
"""
PIECES = 16
"""An advance enters one edge in so many, or clears half as many places as there are edges: some
10 ms on RMAT 18, where breadth-first search starts in 15."""
EDGES_A_ROW = 64
"""A batch with a row for so many edges takes longer than the whole table."""
_AT_ONCE = 256

_NO_TABLE = np.empty(0, np.int64)


class GrowingPairs:
    """Edges by both their ends, as soon as that pays."""

    def __init__(self) -> None:
        self.table: Int64 = _NO_TABLE
        self.looked = 0
        """How many entries of slabs have been looked through."""
        self._pays = False
        self._coming: Int64 = _NO_TABLE
        self._cleared = self._entered = 0

    def make_ready(self, words: Int64, known: int, come: int, go: int) -> bool:
        """Go on with the table before an advance by so many rows; True where `table` is another.

        `words` is the block of a graph with `known` edges. A table has room for those that come.
        """
        if known + come <= edges_within(len(self.table)):
            return False
        before, self.table = self.table, _NO_TABLE
        self._pays = self._pays or self.looked * LOOKED_SHARE > known
        if self._pays:
            if known + come > edges_within(len(self._coming)):
                self._begin(places_for(known + come))
            at_once = (come + go) * EDGES_A_ROW > known
            while self._go_on(words, known) and at_once:
                pass
        return self.table is not before

    def forget(self, edges: int) -> None:
        """The graph has only so many edges again: a table in the making that has more goes."""
        if self._entered > edges:
            self._begin(0)

    def _begin(self, places: int) -> None:
        self._coming = np.empty(places, np.int64)
        self._cleared = self._entered = 0

    def _go_on(self, words: Int64, known: int) -> bool:
        """Another piece; False where that was the last."""
        coming, piece = self._coming, known // PIECES + 1
        if self._cleared < len(coming):
            until = self._cleared + PIECES * piece // 2
            coming[self._cleared : until] = NONE
            self._cleared = until
            return True
        until = min(known, self._entered + piece)
        enter_edges(words, coming, self._entered, until, np.empty(_AT_ONCE, np.int64))
        self._entered = until
        if until == known:
            self.table = coming
            self._begin(0)
        return until < known
