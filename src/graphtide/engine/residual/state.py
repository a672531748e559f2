"""What fixpoint mode keeps of a settling sum, and what an advance works with.

`record` is what kernels take; growth makes it anew. What an advance changed can be undone by its
logs, or, where it swept over all vertices, by a copy of everything before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.residual.records import (
    BALANCES,
    CORRECTIONS,
    FLOOR,
    LIMIT,
    MOVES,
    Corrections,
    Moves,
    ResidualState,
    Summed,
)

Float64 = NDArray[np.float64]
_WIDTHS = 1, 1, 1, BALANCES, 1
_COUNTS, _MEASURES = 7, 5


class Logged(NamedTuple):
    """What an advance by pushes replaced."""

    corrections: Corrections
    moves: Moves


class Done(NamedTuple):
    """An advance that can be undone: what it replaced, of some vertices or (`Summed`) of all."""

    before: Logged | Summed
    measures: Float64
    vertices: int


class SummedState:
    """What is kept of all vertices, with room to work."""

    def __init__(self, limit: float, floor: float) -> None:
        self._kept = [GrowingArray(np.empty(0)) for _ in Summed._fields]
        self._mark = GrowingArray(np.empty(0, np.uint8))
        self._counts = np.zeros(_COUNTS, np.int64)
        self._measures = np.zeros(_MEASURES)
        self._measures[LIMIT], self._measures[FLOOR] = limit, floor
        self.copied: Summed | None = None
        """Everything as it was before the advance, where it was copied."""
        self.vertices = 0
        self.fit(0)

    def fit(self, vertices: int) -> None:
        """Have so many vertices; those that come have nothing set but their marks."""
        before, self.vertices = self.vertices, vertices
        for array, width in zip((*self._kept, self._mark), _WIDTHS, strict=True):
            array.resize(width * vertices)
        self._mark.view[before:] = 0
        self.record = ResidualState(
            summed=Summed(*(array.view for array in self._kept)),
            mark=self._mark.view,
            queue=np.empty(vertices + 1, np.int32),
            corrections=_no_corrections(vertices + 1),
            moves=Moves(np.empty(vertices, np.int32), *(np.empty(vertices) for _ in range(3))),
            counts=self._counts,
            measures=self._measures,
            pledged=np.empty(vertices),
        )

    def begin_advance(self) -> None:
        """Nobody waits, and nothing is logged or copied."""
        self._counts[:] = 0
        self.copied = None

    def replaced(self) -> Logged | Summed:
        """What the advance has replaced."""
        return self.logged() if self.copied is None else self.copied

    def logged(self) -> Logged:
        """A copy of what the advance has logged."""
        corrections, moves = self.record.corrections, self.record.moves
        corrected, moved = int(self._counts[CORRECTIONS]), int(self._counts[MOVES])
        vertices = corrections.vertex[:corrected].copy()
        balances = corrections.balance[: BALANCES * corrected].copy()
        copies: list[Any] = [array[:moved].copy() for array in moves]
        return Logged(Corrections(vertices, balances), Moves(*copies))

    def keep_copy(self) -> None:
        """Copy everything as it was before the advance, unless that has been done."""
        if self.copied is None:
            copied = Summed(*(array.copy() for array in self.record.summed))
            put_back(copied, self.logged())
            self.copied = copied

    def begin_sweeping(self) -> None:
        """Nobody waits any more, and everybody may be changed."""
        self._counts[: MOVES + 1] = 0
        self.record.mark[:] = 0

    def put_back(self, before: Logged | Summed) -> None:
        """Have again what was logged or copied."""
        if isinstance(before, Logged):
            put_back(self.record.summed, before)
            return
        for array, old in zip(self.record.summed, before, strict=True):
            array[:] = old

    def measures(self) -> Float64:
        """A copy of the measures."""
        return self._measures.copy()

    def put_measures(self, before: Float64) -> None:
        """Have measures again."""
        self._measures[:] = before


def put_back(summed: Summed, logged: Logged) -> None:
    """Let vertices have again what is logged of them. O(what is logged)."""
    corrections, moves = logged
    balance = summed.balance.reshape(-1, BALANCES)
    balance[corrections.vertex] = corrections.balance.reshape(-1, BALANCES)
    for array, old in zip(summed[:3], moves[1:], strict=True):
        array[moves.vertex] = old


def _no_corrections(room: int) -> Corrections:
    return Corrections(np.empty(room, np.int32), np.empty(BALANCES * room))
