"""The arrays of queries kept by histories: pools of rows, Bloom filters, and room for a batch.

A pool of differences or messages grows, widens, and is written anew. Filters of all searches lie
one after the other, with facts of each search. The room of a batch grows where a call lacked it and
shrinks after a large batch; what is kept of a batch are its notes, for the way back and for
changes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.engine.queries.pool import chunk_sizes
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.histories import rows as records
from graphtide.kernels.histories.rows import (
    COUNTS,
    DELETED,
    FILTER_FACTS,
    FIRST,
    INSERTED,
    LACKING,
    LOG,
    MEMO,
    MESSAGES,
    NOTED,
    RECOMPUTED,
    SIZE,
    STAMP,
    TOLD,
    TOUCHED,
    USED,
    BatchWork,
    Filters,
    Pool,
)
from graphtide.kernels.histories.searches import copy_owned, count_owned, empty_rows, remove_keys
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
        return sum(np.dtype(KINDS[name]).itemsize for name in self._columns)

    @property
    def vertices(self) -> int:
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


BITS = 10
"""The bits of a filter for each difference that it was made for."""

SPARE = 2
"""A filter is made for what is dropped now and one part in so many more."""

_LEAST_FILTER = 64


class FilterTable:
    """The arrays of `Filters`; `view` is what kernels take, anew after every change."""

    def __init__(self) -> None:
        self._bits = GrowingArray(np.zeros(0, np.uint64))
        self._facts = GrowingArray(np.zeros(0, np.int64))

    @property
    def view(self) -> Filters:
        return Filters(self._bits.room, self._facts.room)

    @property
    def nbytes(self) -> int:
        """All memory that they take, used or not."""
        return self._bits.room.nbytes + self._facts.room.nbytes

    def begin(self, number: int) -> None:
        self._facts.resize(max(self._facts.length, (number + 1) * FILTER_FACTS))
        self._of(number)[:] = 0

    def renew(self, number: int) -> None:
        """The same for one that begins anew: only what it has recomputed is still counted."""
        recomputed = self.fact(number, RECOMPUTED)
        self.begin(number)
        self._of(number)[RECOMPUTED] = recomputed

    def fact(self, number: int, which: int) -> int:
        return int(self._of(number)[which])

    def make(self, number: int, dropped: int) -> None:
        """A filter for a search that drops so many differences now."""
        size = BITS * (dropped + dropped // SPARE + _LEAST_FILTER)
        words = -(-size // 64)
        facts = self._of(number)
        facts[FIRST], facts[SIZE], facts[USED] = self._bits.length, 64 * words, 0
        room = np.zeros(self._bits.length + words, np.uint64)
        room[: self._bits.length] = self._bits.view
        self._bits = GrowingArray(room)

    def is_full(self, number: int) -> bool:
        """Whether more went into a filter than it was made for."""
        return self.fact(number, USED) * BITS > self.fact(number, SIZE)

    def sweep(self, numbers: list[int]) -> None:
        parts, first = [], 0
        for number in numbers:
            facts = self._of(number)
            words = int(facts[SIZE]) // 64
            parts.append(self._bits.view[facts[FIRST] : facts[FIRST] + words])
            facts[FIRST] = first
            first += words
        self._bits = GrowingArray(np.concatenate([*parts, np.zeros(0, np.uint64)]))

    def _of(self, number: int) -> NDArray[Any]:
        return self._facts.view[number * FILTER_FACTS : (number + 1) * FILTER_FACTS]


_LEAST_ROOM, _MOST_ROOM = 256, 1 << 11
"""The room of each part at first, and what is kept of it from one batch to the next."""

_ROOM_KINDS: dict[str, Any] = {
    "heap_item": np.int64,
    "heap_rank": np.float64,
    "table": np.int64,
    "noted_item": np.int64,
    "noted_first": np.int64,
    "noted_done": np.int32,
    "noted_old": np.float64,
    "noted_new": np.float64,
    "log_iteration": np.int32,
    "log_value": np.float64,
    "message_item": np.int64,
    "message_iteration": np.int32,
    "message_value": np.float64,
    "message_change": np.int32,
    "memo_item": np.int64,
    "memo_tag": np.int64,
    "memo_value": np.float64,
    "stack_item": np.int64,
    "stack_iteration": np.int32,
    "edges": np.int32,
    "sources": np.int32,
    "targets": np.int32,
    "inserted": np.int32,
    "by_source": np.int32,
    "by_target": np.int32,
}
_GROWS = {
    records.LACKS_HEAP: ("heap_",),
    records.LACKS_NOTED: ("noted_", "table"),
    records.LACKS_LOG: ("log_",),
    records.LACKS_MESSAGES: ("message_",),
    records.LACKS_MEMO: ("memo_",),
    records.LACKS_STACK: ("stack_",),
}
_HASHED = "table", "memo_"
_BATCH = ("edges", "sources", "targets", "inserted", "by_source", "by_target")


class HistoryLog(NamedTuple):
    """The histories of entries before a batch, their costs before and after it, and messages."""

    items: NDArray[np.int64]
    firsts: NDArray[np.int64]
    iterations: NDArray[np.int32]
    costs: NDArray[np.float64]
    old: NDArray[np.float64]
    new: NDArray[np.float64]
    message_items: NDArray[np.int64]
    message_iterations: NDArray[np.int32]
    message_costs: NDArray[np.float64]
    message_changes: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self)


class HistoryRoom:
    """The arrays of `Work`; they grow where a call lacked room, and shrink after a large batch."""

    def __init__(self, settings: NDArray[np.int64]) -> None:
        self.counts = np.zeros(COUNTS, np.int64)
        self._settings = settings
        self._make()

    def _make(self) -> None:
        self._arrays = {name: self._new(name, _LEAST_ROOM) for name in _ROOM_KINDS}

    def _new(self, name: str, room: int) -> NDArray[Any]:
        return np.zeros(2 * room if name == "table" else room, _ROOM_KINDS[name])

    @property
    def view(self) -> BatchWork:
        return BatchWork(*[*self._arrays.values(), self.counts, self._settings])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def touched(self) -> int:
        return int(self.counts[TOUCHED])

    def begin(self) -> None:
        """Ready for a call; what the calls before left is known by its stamp."""
        stamp = self.counts[STAMP] + 1
        self.counts[:] = 0
        self.counts[STAMP] = stamp

    def take(self, delta: Delta) -> bool:
        """Ready for a batch; whether its arrays had to grow."""
        self.begin()
        inserted, deleted = len(delta.inserted), len(delta.deleted)
        grown = inserted + deleted > len(self._arrays["edges"])
        if grown:
            for name in _BATCH:
                self._arrays[name] = self._new(name, 2 * (inserted + deleted))
        arrays, both = self._arrays, inserted + deleted
        arrays["edges"][:inserted] = delta.inserted
        arrays["edges"][inserted:both] = delta.deleted
        arrays["sources"][:both], arrays["targets"][:both] = delta.sources, delta.targets
        arrays["inserted"][:inserted] = np.sort(delta.inserted)
        arrays["by_source"][:deleted] = np.argsort(delta.sources[inserted:], kind="stable")
        arrays["by_target"][:deleted] = np.argsort(delta.targets[inserted:], kind="stable")
        self.counts[INSERTED], self.counts[DELETED] = inserted, deleted
        return grown

    def grow(self, lacking: int) -> None:
        """Four times the room of what a call lacked, with what is in it, so that it can go on.

        But for what is found by hashes: the call enters its notes anew, and recomputes what it
        needs once more.
        """
        for name, array in self._arrays.items():
            if name.startswith(_GROWS[lacking]):
                self._arrays[name] = np.zeros(4 * len(array), array.dtype)
                if not name.startswith(_HASHED):
                    self._arrays[name][: len(array)] = array
        if lacking == records.LACKS_MEMO:
            self.counts[MEMO] = 0
        self.counts[LACKING] = 0

    def can_go_on(self, lacking: int) -> bool:
        """Whether a batch that lacked room is at a point from which it can go on with more."""
        return bool(self.counts[TOLD]) and lacking in _GROWS

    def shrink(self) -> bool:
        """Give the room of a large batch back; whether there was any."""
        if max(map(len, self._arrays.values())) <= _MOST_ROOM:
            return False
        self._make()
        return True

    def log(self) -> HistoryLog:
        """What was noted; a copy."""
        arrays, noted, sent = self._arrays, int(self.counts[NOTED]), int(self.counts[MESSAGES])
        logged = int(self.counts[LOG])
        sizes = {"noted_item": noted, "noted_first": noted + 1, "log_iteration": logged}
        sizes |= {"log_value": logged, "noted_old": noted, "noted_new": noted}
        sizes |= dict.fromkeys((name for name in arrays if name.startswith("message_")), sent)
        return HistoryLog(*(arrays[name][:size].copy() for name, size in sizes.items()))
