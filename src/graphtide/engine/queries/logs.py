"""What a batch replaced, for the way back and for telling what changed; never more than a share.

Rolling back further than the logs reach is possible: queries then begin anew.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.queries.records import COUNTS, LOG, TOUCHED, Work

SHARE = 4
LEAST = 1 << 20
"""Logs take at most a fourth of what the rows take, or this many bytes."""

_LEAST_ROOM, _MOST_ROOM = 256, 1 << 16
"""What a batch begins with, and what is kept from one batch to the next."""


class Log(NamedTuple):
    """Entries as they were, one note after the other: the first of an entry is from before."""

    items: NDArray[np.int64]
    values: NDArray[np.float64]
    edges: NDArray[np.int32]
    vias: NDArray[np.int16]

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return sum(part.nbytes for part in self)

    def without(self, owner: NDArray[np.int32]) -> Log:
        """The notes of keys that have an owner."""
        kept = owner[self.items & 0xFFFFFFFF] >= 0
        return Log(*(part[kept] for part in self))


class WorkRoom:
    """The arrays of `Work`; they double where they lack room."""

    def __init__(self) -> None:
        self.counts = np.zeros(COUNTS, np.int64)
        kinds = (np.int64, np.float64, np.int64, np.int64, np.float64, np.int32, np.int16)
        self._arrays: list[Any] = [np.empty(_LEAST_ROOM, kind) for kind in kinds]

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

    def begin(self, *, logs: bool) -> None:
        """Ready for a call, with a log or without."""
        self.counts[:] = 0
        self.counts[-1] = logs

    def grow(self, first: int, last: int) -> None:
        """Double the arrays from one to another."""
        for at in range(first, last):
            array = self._arrays[at]
            larger = np.empty(2 * len(array), array.dtype)
            larger[: len(array)] = array
            self._arrays[at] = larger

    def log(self) -> Log:
        """What was noted; a copy."""
        count = int(self.counts[LOG])
        return Log(*(array[:count].copy() for array in self._arrays[3:]))

    def shrink(self) -> bool:
        """Give the room of a large batch back; whether there was any."""
        if max(map(len, self._arrays)) <= _MOST_ROOM:
            return False
        self._arrays = [np.empty(_LEAST_ROOM, array.dtype) for array in self._arrays]
        return True


class Logs:
    """The logs of the last batches, the oldest first."""

    def __init__(self) -> None:
        self._kept: deque[Log] = deque()
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def last(self) -> Log | None:
        """The log of the last batch, if it is kept."""
        return self._kept[-1] if self._kept else None

    def add(self, log: Log, state: int) -> None:
        """Keep another, and as many of the oldest less as there is no room for beside the state."""
        self._kept.append(log)
        self.nbytes += log.nbytes
        most = max(LEAST, state // SHARE)
        while self.nbytes > most and len(self._kept) > 1:
            self.nbytes -= self._kept.popleft().nbytes

    def pop(self) -> Log:
        """The last one, which is kept no more."""
        log = self._kept.pop()
        self.nbytes -= log.nbytes
        return log

    def clear(self) -> None:
        """Keep none."""
        self._kept.clear()
        self.nbytes = 0

    def forget_keys(self, owner: NDArray[np.int32]) -> None:
        """Drop the notes of keys that belong to nobody."""
        self._kept = deque(log.without(owner) for log in self._kept)
        self.nbytes = sum(log.nbytes for log in self._kept)
