"""What the last advance changed of searches that keep their answers alone; granted as all else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget

Change = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Vertices, states and values as they were before, infinity where there was none, by vertex."""

NOTHING: Change = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


class ToldChanges:
    """Changes by search."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._told: dict[int, Change] = {}

    @property
    def nbytes(self) -> int:
        """All memory that they take."""
        return sum(map(_nbytes, self._told.values()))

    def numbers(self) -> set[int]:
        """The searches that changed."""
        return set(self._told)

    def get(self, number: int) -> Change | None:
        """What changed of a search."""
        return self._told.get(number)

    def tell(self, number: int, change: Change) -> None:
        """Tell what changed of a search, if anything did, in place of what was told before."""
        if len(change[0]):
            self._budget.take(_nbytes(change))
            self.forget(number)
            self._told[number] = change

    def add(self, number: int, target: int, before: float) -> None:
        """Tell of one more target of a search what it cost before."""
        vertices, states, values = self._told.get(number, NOTHING)
        at = int(np.searchsorted(vertices, target))
        vertices, states = np.insert(vertices, at, target), np.insert(states, at, 0)
        self.tell(number, (vertices, states, np.insert(values, at, before)))

    def forget(self, number: int) -> None:
        """Tell nothing of a search."""
        self._budget.give(_nbytes(self._told.pop(number, NOTHING)))

    def clear(self) -> None:
        """Tell nothing."""
        for number in list(self._told):
            self.forget(number)


def _nbytes(change: Change) -> int:
    return sum(part.nbytes for part in change)
