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

from graphtide.engine.histories.reading import HistoryReader
from graphtide.engine.histories.settings import Histories
from graphtide.engine.histories.starting import find_differences
from graphtide.engine.histories.state import HistoryState
from graphtide.engine.histories.work import HistoryLog
from graphtide.engine.queries.budget import Budget
from graphtide.engine.queries.fixpoint import LabelColumn
from graphtide.engine.queries.logs import LEAST, SHARE
from graphtide.engine.queries.searches import Search
from graphtide.engine.queries.times import BatchTimes
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.histories import records
from graphtide.kernels.histories.batch import follow_batch, put_back, put_back_messages
from graphtide.kernels.histories.records import DONE
from graphtide.kernels.histories.starting import count_dropped, write_differences, write_messages

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


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
        """All memory of queries."""
        last = 0 if self.reader.last is None or self._logs else self.reader.last.nbytes
        return self.state.nbytes + self._logged + last

    @property
    def touched(self) -> int:
        """How many edges the last advance looked at."""
        return self.state.work.touched

    @property
    def undoable(self) -> int:
        """How many advances can be undone."""
        return len(self._logs)

    def entries(self, number: int) -> int:
        """How many differences of a search are kept."""
        return self.state.filters.fact(number, records.KEPT_COUNT)

    def dropped(self, number: int) -> int:
        """How many differences of a search are dropped; in a filter, also those that went since."""
        if self.state.drops_by("probabilistic"):
            return self.state.filters.fact(number, records.USED)
        return self.state.filters.fact(number, records.DROPPED_COUNT)

    def messages(self, number: int) -> int:
        """How many messages of the join a search has."""
        return self.state.filters.fact(number, records.JOINED_COUNT)

    def recomputed(self, number: int) -> int:
        """How many dropped differences of a search have been recomputed since it began."""
        return self.state.filters.fact(number, records.RECOMPUTED)

    def seconds_of(self, number: int) -> float:
        """What a batch takes that is a search's own, in the mean since it came."""
        return self.times.of(number, self.state.searches.share_of_looks(number))

    def bytes_of(self, number: int) -> int:
        """The memory of what one search keeps, without the room that all of them share."""
        kept, dropped, joined = (pool.entry for pool in self.state.pools)
        nbytes = self.entries(number) * kept + self.messages(number) * joined
        nbytes += self.state.filters.fact(number, records.DROPPED_COUNT) * dropped
        return nbytes + self.state.filters.fact(number, records.SIZE) // 8

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
        mine = self.entries(number) + self.state.filters.fact(number, records.DROPPED_COUNT)
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

    def begin_again(self, number: int) -> int:
        """Start a search anew that came behind what was undone; its number."""
        search = self._by_number[number]
        self.remove(number)
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
        """The memory of what could be undone."""
        return self._logged

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, but for the last so many advances."""
        while len(self._logs) > keep:
            self._logged -= self._logs.popleft().nbytes

    def _find(self, number: int) -> None:
        """All differences of a search that begins."""
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
        """Free the memory of searches that are gone."""
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
