"""What a batch replaced, for the way back and for telling what changed; never more than a share.

Rolling back further than the logs reach is possible: queries then begin anew.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget
from graphtide.kernels.queries.records import COUNTS, FALLEN, LOG, LOGS, MOST, TOUCHED, Work

SHARE = 4
LEAST = 1 << 20
"""Logs take at most a fourth of what the entries take, or this many bytes."""

_LEAST_ROOM, _MOST_ROOM = 256, 1 << 16
"""What a batch begins with, and what is kept from one batch to the next."""


NO_END = 1 << 62
"""More edges than anybody looks at."""

VOID = -1
"""The item of a note that tells of nothing any more."""


class Log(NamedTuple):
    """Entries as they were, one note after the other: the first of an entry is from before."""

    items: NDArray[np.int64]
    values: NDArray[np.float64]
    signs: NDArray[np.uint16]

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return len(self.items) * _NOTE

    def void(self, owner: NDArray[np.int32]) -> None:
        """Let the notes of keys that have no owner tell of nothing, in place."""
        told = self.items >= 0
        told[told] = owner[self.items[told] & 0xFFFFFFFF] < 0
        self.items[told] = VOID


_NOTE = 8 + 8 + 2
"""The bytes of one note."""

NOTHING = Log(np.empty(0, np.int64), np.empty(0), np.empty(0, np.uint16))
"""The log of every batch that changed no entry."""


class WorkRoom:
    """The arrays of `Work`; they double where they lack room."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.counts = budget.array(COUNTS, np.int64, 0)
        kinds = (np.int64, np.float64, np.int64, np.int64, np.float64, np.uint16)
        self._arrays: list[Any] = [budget.array(_LEAST_ROOM, kind) for kind in kinds]

    @property
    def view(self) -> Work:
        """The arrays as they are now."""
        return Work(*[*self._arrays, self.counts])

    @property
    def nbytes(self) -> int:
        """All memory that they take."""
        return sum(int(array.nbytes) for array in (*self._arrays, self.counts))

    @property
    def touched(self) -> int:
        """How many edges the last call looked at."""
        return int(self.counts[TOUCHED])

    @property
    def fallen(self) -> int:
        """How many entries have fallen in the last call."""
        return int(self.counts[FALLEN])

    def begin(self, *, logs: bool, most: int = NO_END) -> None:
        """Ready for a call, with a log or without, that may look at so many edges."""
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

    def noted(self) -> Log:
        """What was noted, where it stands."""
        count = int(self.counts[LOG])
        return Log(*(array[:count] for array in self._arrays[3:]))

    def log(self) -> Log:
        """What was noted; a copy, which is granted."""
        if self.counts[LOG] == 0:
            return NOTHING
        noted = self.noted()
        self._budget.take(noted.nbytes)
        copies: list[Any] = [part.copy() for part in noted]
        return Log(*copies)

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


class Logs:
    """The logs of the last batches, the oldest first; `last` is kept for telling what changed."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._kept: deque[Log] = deque()
        self.nbytes = 0
        """All that they take: added up as they come and go, since there may be thousands."""
        self.last: Log | None = None
        """The log of the last batch, be it for undoing or not; None if the last act was another."""

    def __len__(self) -> int:
        return len(self._kept)

    def _all(self) -> list[Log]:
        kept = list(self._kept)
        return kept if self.last is None or (kept and kept[-1] is self.last) else [*kept, self.last]

    def add(self, log: Log, entries: int) -> None:
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

    def pop(self) -> Log:
        """The last one, to be undone and then given back with `done`."""
        if self.last is self._kept[-1]:
            self.last = None
        else:
            self.tell_nothing()
        log = self._kept.pop()
        self.nbytes -= log.nbytes
        return log

    def done(self, log: Log) -> None:
        """A log that was undone goes."""
        self._budget.give(log.nbytes)

    def tell_nothing(self) -> None:
        """The last act was no batch."""
        if self.last is not None and not (self._kept and self._kept[-1] is self.last):
            self._give(self.last)
        self.last = None

    def clear(self, *, all_but_last: int = 0) -> None:
        """Keep the last so many alone for undoing; what the last one changed can still be told."""
        while len(self._kept) > all_but_last:
            log = self._kept.popleft()
            if log is not self.last:
                self._give(log)

    def _give(self, log: Log) -> None:
        self.nbytes -= log.nbytes
        self._budget.give(log.nbytes)

    def forget_keys(self, owner: NDArray[np.int32]) -> None:
        """Void the notes of keys that belong to nobody."""
        for log in self._all():
            log.void(owner)
