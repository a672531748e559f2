"""The rows of all queries in memory, the room that batches work in, and the log of each batch.

A pool that lacks room is written anew, each row with a share free. Where the budget does not allow
for two pools, it gets a fourth more, or what is still allowed for; and what rows leave behind is
closed up in place.

A log has the entries that a batch replaced, for the way back and to tell what changed. All logs
together are never more than a share of the entries; whoever goes back further begins anew.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, GrantedArray, LacksRoomError
from graphtide.kernels.queries.records import (
    COUNTS,
    FALLEN,
    LOG,
    LOGS,
    MOST,
    TOUCHED,
    EntryRows,
    QueryWork,
)
from graphtide.kernels.queries.rows import (
    choose_kinds,
    close_up,
    copy_rows,
    empty_rows,
    list_rows,
    plan_rows,
    take_starts,
    widen_costs,
)
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
    def view(self) -> EntryRows:
        by_vertex = [item.room for item in (self._lengths, self._kinds)]
        return EntryRows(
            *[self._starts, *by_vertex, *self._pool.values(), self._free, SIZES, self._top]
        )

    @property
    def nbytes(self) -> int:
        rows = sum(array.nbytes for array in self.view[1:] if array is not SIZES)
        return rows + self._places.room.nbytes

    @property
    def vertices(self) -> int:
        return self._places.length

    @property
    def _starts(self) -> NDArray[np.int32]:
        """Where each row begins: the front half of `_places`.

        The other half is room to plan in, and both are to sort in, when none is to be granted.
        """
        return self._places.room.view(np.int32)[: len(self._places.room)]

    @property
    def room(self) -> int:
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
        return WIDE if len(self._pool["wide"]) else NARROW

    @property
    def pool_bytes(self) -> int:
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
        """Make rows without entries for vertices that came."""
        arrays, before = (self._places, self._lengths, self._kinds), self.vertices
        for array in arrays:
            array.reserve(vertices)
        for array in arrays:
            array.resize(vertices)
        self._starts[before:vertices] = 0

    def cut(self, words: NDArray[np.int64], vertices: int) -> None:
        """Drop the rows of vertices that go."""
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


SHARE = 4
LEAST = 1 << 20
"""Logs take at most a fourth of what the entries take, or this many bytes."""

_LEAST_ROOM, _MOST_ROOM = 256, 1 << 16
"""What a batch begins with, and what is kept from one batch to the next."""


NO_END = 1 << 62
"""More edges than anybody looks at."""

VOID = -1
"""The item of a note that tells of nothing any more."""


class QueryLog(NamedTuple):
    """Entries as they were, one note after the other: the first of an entry is from before."""

    items: NDArray[np.int64]
    values: NDArray[np.float64]
    signs: NDArray[np.uint16]

    @property
    def nbytes(self) -> int:
        return len(self.items) * _NOTE

    def void(self, owner: NDArray[np.int32]) -> None:
        """Void the notes of keys that have no owner, in place."""
        told = self.items >= 0
        told[told] = owner[self.items[told] & 0xFFFFFFFF] < 0
        self.items[told] = VOID


_NOTE = 8 + 8 + 2
"""The bytes of one note."""

NOTHING = QueryLog(np.empty(0, np.int64), np.empty(0), np.empty(0, np.uint16))
"""The log of every batch that changed no entry."""


class WorkRoom:
    """The arrays of `Work`; they double where they lack room."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.counts = budget.array(COUNTS, np.int64, 0)
        kinds = (np.int64, np.float64, np.int64, np.int64, np.float64, np.uint16)
        self._arrays: list[Any] = [budget.array(_LEAST_ROOM, kind) for kind in kinds]

    @property
    def view(self) -> QueryWork:
        return QueryWork(*[*self._arrays, self.counts])

    @property
    def nbytes(self) -> int:
        return sum(int(array.nbytes) for array in (*self._arrays, self.counts))

    @property
    def touched(self) -> int:
        return int(self.counts[TOUCHED])

    @property
    def fallen(self) -> int:
        return int(self.counts[FALLEN])

    def begin(self, *, logs: bool, most: int = NO_END) -> None:
        """Prepare for a call, with a log or without, that may look at so many edges."""
        self.counts[:] = 0
        self.counts[LOGS], self.counts[MOST] = logs, most

    def grow(self, first: int, last: int) -> None:
        """Double the arrays from one to another, or give them as much as the budget allows for.

        The first comes last: kernels take its length for that of all.
        """
        length = len(self._arrays[first])
        wanted = 2 * length
        left = self._budget.left
        if left is not None:
            most = max(array.itemsize for array in self._arrays[first:last])
            wanted = min(wanted, max(left // most, length + 1))
        for at in reversed(range(first, last)):
            array = self._arrays[at]
            if len(array) < wanted:
                larger = self._budget.array(wanted, array.dtype)
                larger[: len(array)] = array
                self._budget.give(array.nbytes)
                self._arrays[at] = larger

    def noted(self) -> QueryLog:
        count = int(self.counts[LOG])
        return QueryLog(*(array[:count] for array in self._arrays[3:]))

    def log(self) -> QueryLog:
        """What was noted; a copy, which is granted."""
        if self.counts[LOG] == 0:
            return NOTHING
        noted = self.noted()
        self._budget.take(noted.nbytes)
        copies: list[Any] = [part.copy() for part in noted]
        return QueryLog(*copies)

    def shrink(self, most: int = _MOST_ROOM) -> bool:
        """Give the room of a large batch back; whether there was any."""
        if max(map(len, self._arrays)) <= most:
            return False
        for array in self._arrays:
            before = array.nbytes
            if len(array) > _LEAST_ROOM:
                array.resize(_LEAST_ROOM, refcheck=False)
                self._budget.give(before - array.nbytes)
        return True


class QueryLogs:
    """The logs of the last batches, the oldest first; `last` is kept for telling what changed."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._kept: deque[QueryLog] = deque()
        self.nbytes = 0
        """All that they take: added up as they come and go, since there may be thousands."""
        self.last: QueryLog | None = None
        """The log of the last batch, be it for undoing or not; None if the last act was another."""

    def __len__(self) -> int:
        return len(self._kept)

    def _all(self) -> list[QueryLog]:
        kept = list(self._kept)
        return kept if self.last is None or (kept and kept[-1] is self.last) else [*kept, self.last]

    def add(self, log: QueryLog, entries: int) -> None:
        """Keep another, and as many of the oldest less as there is no room for beside entries of
        so many bytes.
        """
        self.tell_nothing()
        self._kept.append(log)
        self.nbytes += log.nbytes
        self.last = log
        most = max(LEAST, entries // SHARE)
        if self._budget.most is not None:
            most = min(most, self._budget.most // (4 * SHARE))
        while len(self._kept) > 1 and self.nbytes > most:
            self._give(self._kept.popleft())

    def pop(self) -> QueryLog:
        """Take the last log, to be undone and then given back with `done`."""
        if self.last is self._kept[-1]:
            self.last = None
        else:
            self.tell_nothing()
        log = self._kept.pop()
        self.nbytes -= log.nbytes
        return log

    def done(self, log: QueryLog) -> None:
        """Give back a log that was undone."""
        self._budget.give(log.nbytes)

    def tell_nothing(self) -> None:
        """Drop the log that is there for telling alone: the last act was no batch."""
        if self.last is not None and not (self._kept and self._kept[-1] is self.last):
            self._give(self.last)
        self.last = None

    def clear(self, *, all_but_last: int = 0) -> None:
        """Keep the last so many alone for undoing; what the last one changed can still be told."""
        while len(self._kept) > all_but_last:
            log = self._kept.popleft()
            if log is not self.last:
                self._give(log)

    def _give(self, log: QueryLog) -> None:
        self.nbytes -= log.nbytes
        self._budget.give(log.nbytes)

    def forget_keys(self, owner: NDArray[np.int32]) -> None:
        """Void the notes of keys that belong to nobody."""
        for log in self._all():
            log.void(owner)
