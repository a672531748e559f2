"""What the last advance changed of searches that keep their answers alone; granted as all else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget
from graphtide.engine.queries.packed import Packed, packed_list

Change = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Vertices, states and values as they were before, infinity where there was none, by vertex."""


class ToldChanges:
    """Changes by search: items in order, with what they cost before."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._told: dict[int, Packed] = {}

    @property
    def nbytes(self) -> int:
        """All memory that they take."""
        return sum(change.nbytes for change in self._told.values())

    def numbers(self) -> set[int]:
        """The searches that changed."""
        return set(self._told)

    def get(self, number: int, states: int) -> Change | None:
        """What changed of a search, whose automaton has so many states."""
        if number not in self._told:
            return None
        items, costs = self._told[number].entries()
        return items // states, items % states, costs

    def tell(self, number: int, change: Packed) -> None:
        """Tell what changed of a search, if anything did, in place of what was told before."""
        if len(change.items):
            self._budget.take(change.nbytes)
            self.forget(number)
            self._told[number] = change

    def add(self, number: int, target: int, before: float) -> None:
        """Tell of one more target of a search, which has one state, what it cost before."""
        vertices, _, values = self.get(number, 1) or (np.empty(0, np.int32),) * 2 + (np.empty(0),)
        at = int(np.searchsorted(vertices, target))
        vertices, values = np.insert(vertices, at, target), np.insert(values, at, before)
        self.tell(number, packed_list(vertices, values))

    def forget(self, number: int) -> None:
        """Tell nothing of a search."""
        change = self._told.pop(number, None)
        self._budget.give(0 if change is None else change.nbytes)

    def clear(self) -> None:
        """Tell nothing."""
        for number in list(self._told):
            self.forget(number)
