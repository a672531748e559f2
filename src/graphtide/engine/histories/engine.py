"""All searches on one graph, kept by histories: the same to its owner as `engine.queries`.

The graph is brought to its next version by its owner; `follow` is one compiled call. Where that
lacks room to work in, it gets more and goes on; where rows lack room, everything is put back and
the call is repeated: histories are whole again whatever happens. A filter that is full is made
anew with its search, which then begins anew.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.histories.arrays import HistoryLog
from graphtide.engine.histories.settings import Histories
from graphtide.engine.histories.state import HistoryState, find_differences
from graphtide.engine.queries.budget import Budget
from graphtide.engine.queries.fixpoint import Entry, LabelColumn
from graphtide.engine.queries.pool import LEAST, SHARE
from graphtide.engine.queries.searches import BatchTimes, Search
from graphtide.engine.queries.states import BestWalkOrNone, traced
from graphtide.engine.queries.values import EntryChanges
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.histories import rows
from graphtide.kernels.histories.advance import follow_batch, put_back, put_back_messages
from graphtide.kernels.histories.rows import DONE
from graphtide.kernels.histories.searches import (
    all_costs,
    came_from,
    costs_of,
    count_dropped,
    first_with,
    write_differences,
    write_messages,
)

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
        if self.last is None:
            return set()
        moved = self.last.items[self.last.old != self.last.new]
        owners = self._state.searches.owner[np.unique(moved & 0xFFFFFFFF)]
        return {number for number in owners.tolist() if number >= 0}

    def before(self, number: int) -> EntryChanges:
        """The entries of a search that the last advance changed, as they were before it."""
        if self.last is None:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        base, keys = self._state.searches.base(number), self.last.items & 0xFFFFFFFF
        end = base + self._searches[number].automaton.states
        mine = np.flatnonzero((keys >= base) & (keys < end) & (self.last.old != self.last.new))
        mine = mine[np.argsort(self.last.items[mine])]
        vertices = (self.last.items[mine] >> 32).astype(np.int32)
        return vertices, (keys[mine] - base).astype(np.int32), self.last.old[mine]

    def collect(self, number: int) -> EntryChanges:
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

    def path(self, number: int, target: int) -> BestWalkOrNone:
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
            return int(self._state.work.counts[rows.LACKING])

        self._state.read(read)
        return int(found[0])

    def _costs(self, number: int, vertices: Int32, state: int) -> Float64:
        key = self._state.searches.base(number) + state
        items, costs = vertices.astype(np.int64) << 32 | key, np.empty(len(vertices))
        self._state.read(lambda words, state: costs_of(words, state, number, items, costs))
        return costs


class HistoryEngine:
    """The searches of all queries on a graph, each with its histories."""

    def __init__(
        self, graph: ResidentGraph, labels: LabelColumn, budget: Budget, settings: Histories
    ) -> None:
        self.settings, self.budget = settings, budget
        self.state = HistoryState(graph, labels, budget, settings)
        self._by_number: dict[int, Search] = {}
        self.reader = HistoryReader(self.state, self._by_number)
        self.lost: frozenset[int] = frozenset()
        """Histories go back whole: nothing is ever without its state."""
        self.loses = False
        self.times = BatchTimes()
        self._logs: deque[HistoryLog] = deque()
        self._logged = 0

    @property
    def nbytes(self) -> int:
        last = 0 if self.reader.last is None or self._logs else self.reader.last.nbytes
        return self.state.nbytes + self._logged + last

    @property
    def touched(self) -> int:
        return self.state.work.touched

    @property
    def undoable(self) -> int:
        return len(self._logs)

    def entries(self, number: int) -> int:
        return self.state.filters.fact(number, rows.KEPT_COUNT)

    def dropped(self, number: int) -> int:
        """How many differences of a search are dropped; in a filter, also those that went since."""
        if self.state.drops_by("probabilistic"):
            return self.state.filters.fact(number, rows.USED)
        return self.state.filters.fact(number, rows.DROPPED_COUNT)

    def messages(self, number: int) -> int:
        return self.state.filters.fact(number, rows.JOINED_COUNT)

    def recomputed(self, number: int) -> int:
        """How many dropped differences of a search have been recomputed since it began."""
        return self.state.filters.fact(number, rows.RECOMPUTED)

    def seconds_of(self, number: int) -> float:
        """What a batch takes that is a search's own, in the mean since it came."""
        return self.times.of(number, self.state.searches.share_of_looks(number))

    def bytes_of(self, number: int) -> int:
        """The memory of what one search keeps, without the room that all of them share."""
        kept, dropped, joined = (pool.entry for pool in self.state.pools)
        nbytes = self.entries(number) * kept + self.messages(number) * joined
        nbytes += self.state.filters.fact(number, rows.DROPPED_COUNT) * dropped
        return nbytes + self.state.filters.fact(number, rows.SIZE) // 8

    def add(self, search: Search) -> int:
        """Start a search on the version that the graph is at; its number."""
        self.state.resize()
        columns = [self.state.column(search.label, True), self.state.column(search.weight, False)]
        self.state.check_keys(search.automaton.states)
        number = self.state.searches.add(search, *columns)
        self._by_number[number] = search
        self.times.begin(number)
        self.state.filters.begin(number)
        self.state.replaced()
        try:
            self._find(number)
        except BaseException:
            self.remove(number)
            raise
        return number

    def remove(self, number: int) -> None:
        """Give a search up; its memory comes back with the next sweep."""
        mine = self.entries(number) + self.state.filters.fact(number, rows.DROPPED_COUNT)
        self.state.searches.remove(number)
        self.times.end(number)
        del self._by_number[number]
        self.state.searches.dead += mine
        total = sum(map(self.entries, self._by_number)) + sum(map(self.dropped, self._by_number))
        if self.state.searches.is_sweep_due(total):
            self._sweep()

    def add_lost(self, search: Search) -> int:
        """Start a search, as `add` does: there is no later."""
        return self.add(search)

    def settle(self) -> None:
        """Nothing is lost."""

    def follow(self, delta: Delta, ready: Callable[[], None] = lambda: None) -> None:
        """Follow a graph that has been flipped, and may have got vertices; all or nothing.

        `ready` reads what has come with the edges, before anybody asks for it.
        """
        begun = time.perf_counter()
        ready()
        self.state.resize()
        self._follow(delta)
        self.state.at_rest()
        looked = self.touched
        self.reader.last = self.state.work.log()
        self._keep_log(self.reader.last)
        if self.state.work.shrink():
            self.state.replaced()
        self._renew_filters()
        seconds = time.perf_counter() - begun
        self.times.add(seconds)
        self.times.shared += seconds if looked else 0.0

    def _follow(self, delta: Delta) -> None:
        """Call until it is done: it goes on with more room, or begins again where it cannot."""
        self._take(delta)
        while (lacking := follow_batch(*self.state.words())) != DONE:
            goes_on = self.state.work.can_go_on(lacking)
            if not goes_on:
                self._put_back(self.state.work.log())
            self.state.make_room(lacking)
            if not goes_on:
                self._take(delta)

    def _take(self, delta: Delta) -> None:
        if self.state.work.take(delta):
            self.state.replaced()

    def undo(self, vertices: int) -> None:
        """Go back by one advance, to so many vertices."""
        log = self._logs.pop()
        self._logged -= log.nbytes
        self._put_back(log)
        for pool in self.state.pools:
            pool.cut(vertices)
        self.state.at_rest()
        self.state.replaced()

    @property
    def undo_bytes(self) -> int:
        return self._logged

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, but for the last so many advances."""
        while len(self._logs) > keep:
            self._logged -= self._logs.popleft().nbytes

    def _find(self, number: int) -> None:
        search, base = self._by_number[number], self.state.searches.base(number)
        vertices = self.state.graph.vertices
        differences = find_differences(self.state.words()[0], search, number, base, vertices)
        if self.state.drops_by("probabilistic"):
            dropped = count_dropped(*self.state.words(), *differences[:2])
            self.state.filters.make(number, dropped)
            self.state.replaced()
        self.state.write(lambda words, state: write_differences(words, state, *differences))
        if not self.settings.join_on_demand:
            self.state.write(lambda words, state: write_messages(words, state, *differences))
        self.state.at_rest()
        self.state.tidy()

    def _renew_filters(self) -> None:
        """Begin searches anew whose filters hold more than they were made for."""
        if not self.state.drops_by("probabilistic"):
            return
        for number in [number for number in self._by_number if self.state.filters.is_full(number)]:
            base = self.state.searches.base(number)
            self.state.kept.remove(base, base + self._by_number[number].automaton.states)
            self.state.filters.renew(number)
            self.state.filters.sweep(list(self._by_number))
            self.state.replaced()
            self._find(number)
            self.forget()

    def _keep_log(self, log: HistoryLog) -> None:
        """Keep a log, and as many of the oldest less as there is no room for beside the state."""
        self._logs.append(log)
        self._logged += log.nbytes
        most = max(LEAST, sum(pool.nbytes for pool in self.state.pools) // SHARE)
        while self._logged > most and len(self._logs) > 1:
            self.forget(len(self._logs) - 1)

    def _put_back(self, log: HistoryLog) -> None:
        histories, messages = log[:4], log[6:]
        self.state.write(lambda words, state: put_back(words, state, *histories))
        self.state.write(lambda words, state: put_back_messages(words, state, *messages))
        self.reader.last = None

    def _sweep(self) -> None:
        self.forget()
        owner = self.state.searches.owner
        self.reader.last = None if self.reader.last is None else _without(self.reader.last, owner)
        self.state.sweep(list(self._by_number))


def _without(log: HistoryLog, owner: Int32) -> HistoryLog:
    """What of a log tells changes of searches that are still there."""
    owned = owner[log.items & 0xFFFFFFFF] >= 0
    none = [np.empty(0, part.dtype) for part in log]
    parts: list[Any] = [log.items[owned], *none[1:4], log.old[owned], log.new[owned], *none[6:]]
    return HistoryLog(*parts)
