"""The memory of all queries on a graph, granted before it is taken.

Every array that queries keep or work in comes from here: `used` is the sum of all grants that have
not been given back. It exceeds the budget only by what must not be refused (`lifted`): answers to
be read, and what puts them back. An array that grows is granted the larger one while it still has
the smaller one, so that a copy counts twice as long as there are two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphtide.engine.growing import GrowingArray


class LacksRoomError(Exception):
    """The budget does not allow for so many bytes more: whoever asks gives something up."""

    def __init__(self, wanted: int) -> None:
        super().__init__(f"{wanted:,} bytes more than the budget allows for")
        self.wanted = wanted


class Budget:
    """Grants bytes up to `most`, or without end where that is None."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.used = 0
        self.highest = 0
        """The most that was ever in use at once."""
        self.scratch = 0
        """What is granted beforehand to whoever borrows, one at a time."""
        self._is_lifted = False

    @property
    def left(self) -> int | None:
        return None if self.most is None or self._is_lifted else max(0, self.most - self.used)

    def take(self, nbytes: int) -> None:
        """LacksRoomError, and nothing has changed, where that is too many."""
        if nbytes and self.most is not None and not self._is_lifted:
            beyond = self.used + nbytes - self.most
            if beyond > 0:
                raise LacksRoomError(beyond)
        self.used += nbytes
        self.highest = max(self.highest, self.used)

    def give(self, nbytes: int) -> None:
        self.used -= nbytes
        assert self.used >= 0, "more bytes were given back than were granted"

    def array(self, length: int, dtype: DTypeLike, fill: Any = None) -> NDArray[Any]:
        """An array, of which all is `fill` if there is one."""
        self.take(length * np.dtype(dtype).itemsize)
        if fill is None:
            return np.empty(length, dtype)
        return np.zeros(length, dtype) if fill == 0 else np.full(length, fill, dtype)

    def hold(self, nbytes: int) -> None:
        """Set so many bytes aside as scratch; none without an end, where nobody lacks room."""
        wanted = 0 if self.most is None else nbytes
        self.take(max(0, wanted - self.scratch))
        self.give(max(0, self.scratch - wanted))
        self.scratch = wanted

    @contextmanager
    def borrowed(self, nbytes: int) -> Iterator[None]:
        """Lend so many bytes of the scratch, and grant what it lacks."""
        with self.lent(max(0, nbytes - self.scratch)):
            yield

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Grant whatever is asked for: what cannot be refused is granted beyond the budget."""
        before, self._is_lifted = self._is_lifted, True
        try:
            yield
        finally:
            self._is_lifted = before

    @contextmanager
    def lent(self, nbytes: int) -> Iterator[None]:
        self.take(nbytes)
        try:
            yield
        finally:
            self.give(nbytes)


class GrantedArray(GrowingArray):
    """An array that grows by what it is granted."""

    def __init__(self, budget: Budget, length: int, dtype: DTypeLike) -> None:
        super().__init__(budget.array(length, dtype, 0))
        self._budget = budget

    def reserve(self, room: int) -> None:
        """Have room for so many rows at least: twice as many as before where that is granted."""
        if room <= len(self.room):
            return
        size = self.dtype.itemsize
        left = self._budget.left
        wanted = max(room, 2 * len(self.room))
        if left is not None and wanted * size > left:
            wanted = room
        larger = self._budget.array(wanted, self.dtype, 0)
        larger[: self.length] = self.view
        self._budget.give(self.room.nbytes)
        self.room = larger

    def cut(self, length: int) -> None:
        """Have so many rows, fewer than now, and give back what is beyond them."""
        before = self.room.nbytes
        self.room.resize(length, refcheck=False)
        self._budget.give(before - self.room.nbytes)
        self.length = length


def one_more(columns: Sequence[GrantedArray]) -> int:
    """Give columns of one length a place more, all or none of them; the number of the place."""
    place = columns[0].length
    for column in columns:
        column.reserve(place + 1)
    for column in columns:
        column.resize(place + 1)
    return place
