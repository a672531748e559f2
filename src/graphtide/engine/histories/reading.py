"""What searches that are kept by histories answer: read as `engine.queries.reading` is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.histories.state import HistoryState
from graphtide.engine.histories.work import HistoryLog
from graphtide.engine.queries.reading import Path, traced
from graphtide.engine.queries.searches import Search
from graphtide.engine.queries.supports import Entry
from graphtide.engine.queries.told import Change
from graphtide.kernels.histories import records
from graphtide.kernels.histories.collecting import all_costs, came_from, costs_of, first_with

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


class HistoryReader:
    """Reads the histories of searches, and the log of the last advance, if there is one."""

    def __init__(self, state: HistoryState, searches: dict[int, Search]) -> None:
        self._state = state
        self._searches = searches
        self.last: HistoryLog | None = None

    def changed(self) -> set[int]:
        """The searches with an entry that the last advance changed."""
        if self.last is None:
            return set()
        moved = self.last.items[self.last.old != self.last.new]
        owners = self._state.searches.owner[np.unique(moved & 0xFFFFFFFF)]
        return {number for number in owners.tolist() if number >= 0}

    def before(self, number: int) -> Change:
        """The entries of a search that the last advance changed, as they were before it."""
        if self.last is None:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        base, keys = self._state.searches.base(number), self.last.items & 0xFFFFFFFF
        end = base + self._searches[number].automaton.states
        mine = np.flatnonzero((keys >= base) & (keys < end) & (self.last.old != self.last.new))
        mine = mine[np.argsort(self.last.items[mine])]
        vertices = (self.last.items[mine] >> 32).astype(np.int32)
        return vertices, (keys[mine] - base).astype(np.int32), self.last.old[mine]

    def collect(self, number: int) -> Change:
        """All entries of a search: vertices, states and values, by vertex and state."""
        states = self._searches[number].automaton.states
        found = np.empty(self._state.graph.vertices * states)
        self._state.read(lambda words, state: all_costs(words, state, number, found))
        reached = np.flatnonzero(found < np.inf)
        return (
            (reached // states).astype(np.int32),
            (reached % states).astype(np.int32),
            found[reached],
        )

    def value(self, number: int, vertex: int, state: int) -> float:
        """What one entry costs; infinity without one."""
        return float(self._costs(number, np.array([vertex], np.int32), state)[0])

    def answers(self, number: int, vertices: Int32) -> Float64:
        """The least cost of a walk that may end at each of some vertices; infinity without one."""
        costs = np.full(len(vertices), np.inf)
        for state in sorted(self._searches[number].automaton.accepting):
            np.minimum(costs, self._costs(number, vertices, state), out=costs)
        return costs

    def path(self, number: int, target: int) -> Path:
        """A best walk to a target; None without one."""
        accepting = self._searches[number].automaton.accepting
        graph = self._state.graph
        return traced(graph, accepting, target, lambda v, s: self._entry(number, v, s))

    def _entry(self, number: int, vertex: int, state: int) -> Entry | None:
        """One entry, or None; the edge is found among those that lead to it."""
        given, came = np.array([vertex, state, 0], np.int64), np.full(3, -1, np.int64)
        given[2] = self._first_with(number, given)
        if given[2] < 0:
            return None
        if given[2] > 0:
            self._state.read(lambda words, state: came_from(words, state, number, given, came))
        edge, before, back = came.tolist()
        return Entry(self.value(number, vertex, state), edge, before, bool(back > 0))

    def _first_with(self, number: int, given: Int64) -> int:
        found = np.empty(1, np.int64)

        def read(words: Int64, state: Int64) -> int:
            found[0] = first_with(words, state, number, given)
            return int(self._state.work.counts[records.LACKING])

        self._state.read(read)
        return int(found[0])

    def _costs(self, number: int, vertices: Int32, state: int) -> Float64:
        key = self._state.searches.base(number) + state
        items, costs = vertices.astype(np.int64) << 32 | key, np.empty(len(vertices))
        self._state.read(lambda words, state: costs_of(words, state, number, items, costs))
        return costs
