"""What fixpoint mode keeps of a settling sum, and what an advance works with.

`record` is what kernels take; growth makes it anew. What an advance changed can be undone by its
log, or, where it swept over all vertices, by a copy of everything before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.residual.records import (
    ENTRIES,
    LIMIT,
    ResidualLog,
    ResidualState,
    Summed,
)

Float64 = NDArray[np.float64]
_COUNTS, _MEASURES = 6, 3


class Done(NamedTuple):
    """An advance that can be undone: what it replaced, of some vertices or (`Summed`) of all."""

    before: ResidualLog | Summed
    measures: Float64
    vertices: int


class SummedState:
    """Values, what is sent and residuals of all vertices, with room to work."""

    def __init__(self, limit: float) -> None:
        self._kept = [GrowingArray(np.empty(0, np.float64)) for _ in Summed._fields]
        self._mark = GrowingArray(np.empty(0, np.uint8))
        self._counts = np.zeros(_COUNTS, np.int64)
        self._measures = np.zeros(_MEASURES)
        self._measures[LIMIT] = limit
        self.vertices = 0
        self.fit(0)

    def fit(self, vertices: int) -> None:
        """Have so many vertices; those that come have nothing set but their marks."""
        before, self.vertices = self.vertices, vertices
        for array in (*self._kept, self._mark):
            array.resize(vertices)
        self._mark.view[before:] = 0
        self.record = ResidualState(
            summed=Summed(*(array.view for array in self._kept)),
            mark=self._mark.view,
            queue=np.empty(vertices, np.int32),
            log=empty_log(vertices),
            counts=self._counts,
            measures=self._measures,
        )

    def begin_advance(self) -> None:
        """Nobody waits, and nothing is logged."""
        self._counts[:] = 0

    def logged(self) -> ResidualLog:
        """A copy of what the advance has logged."""
        count = int(self._counts[ENTRIES])
        return ResidualLog(*(array[:count].copy() for array in self.record.log))

    def take_copy(self) -> Summed:
        """Everything as it was before the advance, which then logs no more of it."""
        copied = Summed(*(array.copy() for array in self.record.summed))
        log, count = self.record.log, int(self._counts[ENTRIES])
        for array, old in zip(copied, log[1:], strict=True):
            array[log.vertex[:count]] = old[:count]
        return copied

    def begin_sweeping(self) -> None:
        """Nobody waits any more, and everybody may be changed."""
        self._counts[: ENTRIES + 1] = 0
        self.record.mark[:] = 0

    def put_back(self, before: Summed) -> None:
        """Have again what was copied."""
        for array, old in zip(self.record.summed, before, strict=True):
            array[:] = old

    def measures(self) -> Float64:
        """A copy of the measures."""
        return self._measures.copy()

    def put_measures(self, before: Float64) -> None:
        """Have measures again."""
        self._measures[:] = before


def empty_log(room: int) -> ResidualLog:
    """Room for so many entries; memory that is not written to costs nothing."""
    return ResidualLog(np.empty(room, np.int32), *(np.empty(room) for _ in range(3)))
