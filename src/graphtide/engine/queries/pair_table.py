"""What pairs keep, as columns that kernels read: a slot a pair, and what is listed of each.

A pair that keeps more than before moves to the end of the list; what is left behind is closed up
once it is more than half.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, GrantedArray, one_more
from graphtide.engine.queries.searches import Search
from graphtide.kernels.queries.concerns import A_PATH, Pairs

MOST_LISTED = 256
"""A pair without a path keeps a list of at most this many vertices."""

_KINDS: tuple[Any, ...] = (
    *(np.int32, np.int32, np.int32, np.int32, np.float64, np.float64),
    *(np.int64, np.int32, np.int8, np.int8, np.int32),
)
SEARCH, SHAPE, START, TARGET, COST, LIMIT, FIRST, LENGTH, KEEPS, MARK, LEFT = range(11)
"""The columns of `Pairs` before its edges."""


class Answer(NamedTuple):
    """What a pair keeps."""

    cost: float
    keeps: int
    kept: NDArray[np.int32]


class PairTable:
    """The columns of `Pairs`, by slot; a pair is known by its search and its target."""

    def __init__(self, budget: Budget) -> None:
        self._columns = [GrantedArray(budget, 0, kind) for kind in _KINDS]
        self._kept = GrantedArray(budget, 0, np.int32)
        self._slots: dict[tuple[int, int], int] = {}
        self._free: list[int] = []
        self._wasted = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        """All memory that it takes."""
        return sum(item.room.nbytes for item in (*self._columns, self._kept))

    @property
    def view(self) -> Pairs:
        """What kernels take, anew after every change."""
        columns: list[Any] = [column.view for column in (*self._columns, self._kept)]
        return Pairs(*columns)

    def bytes_of(self, pair: tuple[int, int]) -> int:
        """What one pair takes."""
        width = sum(column.dtype.itemsize for column in self._columns)
        return width + 4 * int(self._columns[LENGTH].view[self._slots[pair]])

    def cost(self, pair: tuple[int, int]) -> float:
        """What the path of a pair costs; infinity without one."""
        return float(self._columns[COST].view[self._slots[pair]])

    def edges(self, pair: tuple[int, int]) -> NDArray[np.int32] | None:
        """The edges of the path of a pair, from the start; None without one."""
        slot = self._slots[pair]
        if self._columns[COST].view[slot] == np.inf:
            return None
        first, length = (int(self._columns[at].view[slot]) for at in (FIRST, LENGTH))
        edges: NDArray[np.int32] = self._kept.view[first : first + length]
        return edges

    def enter(self, pair: tuple[int, int], search: Search, shape: int) -> None:
        """Have a slot for a pair, which has no answer yet."""
        if not self._free:
            self._free.append(one_more(self._columns))
        self._slots[pair] = slot = self._free.pop()
        given = {SEARCH: pair[0], START: search.start, TARGET: pair[1], COST: np.inf}
        given |= {LIMIT: np.inf, FIRST: 0, LENGTH: 0, KEEPS: A_PATH, SHAPE: shape}
        for at, value in given.items():
            self._columns[at].view[slot] = value

    def leave(self, pair: tuple[int, int]) -> None:
        """Have no slot for a pair any more, if there was one; `close_up` comes next."""
        slot = self._slots.pop(pair, None)
        if slot is not None:
            self._wasted += int(self._columns[LENGTH].view[slot])
            self._columns[SEARCH].view[slot] = -1
            self._columns[LENGTH].view[slot] = 0
            self._free.append(slot)

    def write(self, pair: tuple[int, int], answer: Answer, tells_cost: bool) -> None:
        """Write down what a pair keeps; LacksRoomError leaves it as it was."""
        slot = self._slots[pair]
        first, length = (int(self._columns[at].view[slot]) for at in (FIRST, LENGTH))
        if len(answer.kept) > length:
            first = self._kept.length
            self._kept.resize(first + len(answer.kept))
            self._wasted += length
        else:
            self._wasted += length - len(answer.kept)
        self._kept.view[first : first + len(answer.kept)] = answer.kept
        limit = answer.cost if tells_cost or answer.cost == np.inf else 0.0
        written = {COST: answer.cost, LIMIT: limit, FIRST: first, KEEPS: answer.keeps}
        for at, value in {**written, LENGTH: len(answer.kept)}.items():
            self._columns[at].view[slot] = value
        self.close_up()

    def reshape(self, before: int, now: int) -> None:
        """Let the pairs of one shape stand under another search."""
        shapes = self._columns[SHAPE].view
        shapes[shapes == before] = now

    def close_up(self) -> None:
        """Move what pairs keep together where more than half of the room is of no use."""
        if 2 * self._wasted <= self._kept.length or self._kept.length < MOST_LISTED:
            return
        columns, end = self._columns, 0
        slots = sorted(self._slots.values(), key=lambda slot: int(columns[FIRST].view[slot]))
        for slot in slots:
            first, length = int(columns[FIRST].view[slot]), int(columns[LENGTH].view[slot])
            self._kept.view[end : end + length] = self._kept.view[first : first + length]
            columns[FIRST].view[slot] = end
            end += length
        self._kept.length, self._wasted = end, 0
