"""Room of a batch on histories, and what is kept of it: notes for the way back and for changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.histories import records
from graphtide.kernels.histories.records import (
    COUNTS,
    DELETED,
    INSERTED,
    LACKING,
    LOG,
    MEMO,
    MESSAGES,
    NOTED,
    STAMP,
    TOLD,
    TOUCHED,
    Work,
)

_LEAST, _MOST = 256, 1 << 11
"""The room of each part at first, and what is kept of it from one batch to the next."""

_KINDS: dict[str, Any] = {
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
        """The memory that it takes."""
        return sum(part.nbytes for part in self)


class HistoryRoom:
    """The arrays of `Work`; they grow where a call lacked room, and shrink after a large batch."""

    def __init__(self, settings: NDArray[np.int64]) -> None:
        self.counts = np.zeros(COUNTS, np.int64)
        self._settings = settings
        self._make()

    def _make(self) -> None:
        self._arrays = {name: self._new(name, _LEAST) for name in _KINDS}

    def _new(self, name: str, room: int) -> NDArray[Any]:
        return np.zeros(2 * room if name == "table" else room, _KINDS[name])

    @property
    def view(self) -> Work:
        """The arrays as they are now."""
        return Work(*[*self._arrays.values(), self.counts, self._settings])

    @property
    def nbytes(self) -> int:
        """All memory that they take."""
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def touched(self) -> int:
        """How many edges the last call looked at."""
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
        if max(map(len, self._arrays.values())) <= _MOST:
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
