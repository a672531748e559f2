"""Searches that keep all their entries: started, brought from version to version together, read.

The graph is brought to its next version by its owner; `follow` is one compiled call, repeated only
where it lacked room. Whatever the budget does not allow for ends in LacksRoomError, with all as it
was before the call. A new search is found in arrays where there is room for them, and in rows
otherwise.

Entries have the sign of the edge by which they came, which edges share; so the edge is looked for
among those that lead to the entry, when somebody asks for a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.pool import NO_END, QueryLog, QueryLogs, RowPool, WorkRoom
from graphtide.engine.queries.searches import Search, SearchTable
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.batch import (
    LOOKED,
    SIZES,
    DenseSearch,
    end_batch,
    find_all,
    follow_batch,
    put_back,
    start_search,
    write_all,
)
from graphtide.kernels.queries.records import (
    DONE,
    LACKS_FALLEN,
    LACKS_HEAP,
    LACKS_LOG,
    LACKS_POOL,
    LACKS_WIDTH,
    TAKES_LONG,
)
from graphtide.kernels.queries.search import (
    answer_at,
    collect_entries,
    find_support,
    list_equals,
    look_up,
)

MOST_DENSE = 1 << 24
"""A search begins in arrays of at most this many (vertex, state); larger ones in rows.

At 22 bytes each that is 370 MB at most, of which only the pages that are touched are ever there.
"""

_BYTES, _HEAP_BYTES = 18, 8
_WRITTEN = 20
"""What each takes, what a heap takes besides, and what it takes to write those reached down: an
item and two costs for what was, and a cost for what is, until it is there in place of what was."""


def fits_arrays(search: Search, vertices: int) -> bool:
    return vertices * search.automaton.states <= MOST_DENSE


def dense_bytes(search: Search, vertices: int) -> int:
    return item_bytes(search) * vertices * search.automaton.states


def item_bytes(search: Search) -> int:
    """The bytes that a search borrows for each (vertex, state) while it starts."""
    return _BYTES + _WRITTEN + (0 if search.weight is None else _HEAP_BYTES)


@contextmanager
def dense_arrays(search: Search, vertices: int, budget: Budget) -> Iterator[DenseSearch]:
    """Arrays for a search that starts, granted for as long as they are needed."""
    size = vertices * search.automaton.states
    waiting = 0 if search.weight is None else size
    with budget.borrowed(dense_bytes(search, vertices)):
        yield DenseSearch(
            came=np.zeros(size, np.int32),
            value=np.empty(size, np.float64),
            via=np.empty(size, np.int16),
            reached=np.empty(size, np.int32),
            heap=np.empty(waiting, np.int32),
            place=np.full(waiting, -1, np.int32),
            sizes=np.zeros(SIZES, np.int64),
        )


Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

LabelColumn = Callable[[str], Int32]
"""The codes of a property of edges, by inside number, with room for all edges."""


class TakesLongError(Exception):
    """Following a batch looks at more edges than it may: to begin from scratch is better."""


class Fixpoints:
    """Rows, room to work in and logs of the searches that keep their entries."""

    def __init__(self, graph: ResidentGraph, labels: LabelColumn, budget: Budget) -> None:
        self._graph = graph
        self._labels = labels
        self._budget = budget
        self.searches = SearchTable(budget)
        self.rows = RowPool(budget, graph.vertices)
        self.work = WorkRoom(budget)
        self.logs = QueryLogs(budget)
        self.touched = 0
        """How many edges the last advance looked at."""
        self._columns: dict[tuple[str, bool], int] = {}
        self._handed: Adjacency | None = None
        self._block: Block | None = None

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (self.rows, self.searches, self.work, self.logs))

    def enter(self, search: Search) -> int:
        """A number for a search, which has no entries yet."""
        self._block = None
        columns = [self._column(search.label, True), self._column(search.weight, False)]
        return self.searches.add(search, *columns)

    def leave(self, number: int) -> None:
        """A search goes; its memory comes back with the next sweep."""
        self.searches.remove(number)
        if self.searches.is_sweep_due(self.searches.total):
            self.sweep()

    def start(self, number: int, search: Search) -> int:
        """Find all entries of a search that has none; how many edges that looked at."""
        self._resize()
        self.work.begin(logs=False)
        try:
            return self._find(number, search)
        except BaseException:
            self.drop([number])
            raise

    def drop(self, numbers: Iterable[int]) -> None:
        """Give up the entries of searches, and the memory that they take."""
        given = list(numbers)
        for number in given:
            self.searches.disown(number)
        self._close_up(shrink=True)
        for number in given:
            self.searches.own(number)
        self.searches.swept()

    def follow(self, delta: Delta, most: int = NO_END) -> None:
        """Follow a graph that has been flipped, and may have got vertices; all or nothing.

        TakesLongError where it has looked at more than so many edges, `touched`.
        """
        self._resize()
        self.logs.tell_nothing()
        self.work.begin(logs=True, most=most)
        try:
            self._repeat(lambda words: follow_batch(words, *delta))
            log = self.work.log()
        except BaseException:
            self.touched = self.work.touched
            noted = self.work.noted()
            if noted.nbytes:
                with self._budget.lifted():  # Rows that were moved together need room to go back.
                    self._put_back(noted)
            raise
        if self.work.fallen:
            end_batch(self.words())
        self.logs.add(log, self.rows.pool_bytes)
        self.touched = self.work.touched
        if self.work.shrink():
            self._block = None

    def undo(self, vertices: int) -> None:
        """Go back by one advance, to so many vertices; LacksRoomError leaves them in disorder."""
        log = self.logs.pop()
        try:
            self._put_back(log)
            self.cut(vertices)
        finally:
            self.logs.done(log)

    def cut(self, vertices: int) -> None:
        """Forget the rows of vertices from a number on."""
        if vertices < self.rows.vertices:
            self.rows.cut(self.words(), vertices)
            self._block = None

    def changed(self) -> set[int]:
        last = self.logs.last
        if last is None or not len(last.items):
            return set()
        keys = np.unique(last.items[last.items >= 0] & 0xFFFFFFFF)
        return {number for number in self.searches.owner[keys].tolist() if number >= 0}

    def before(self, number: int, states: int) -> tuple[Int32, Int32, Float64]:
        """The entries of a search that the last advance changed, as they were before it.

        Vertices, states and values, infinity where there was none; each entry once.
        """
        last = self.logs.last
        items = np.empty(0, np.int64) if last is None else last.items
        keys, base = items & 0xFFFFFFFF, self.searches.base(number)
        mine = np.flatnonzero((keys >= base) & (keys < base + states))
        distinct, first = np.unique(items[mine], return_index=True)
        values = np.empty(0) if last is None else last.values[mine[first]]
        keys = distinct & 0xFFFFFFFF
        return (distinct >> 32).astype(np.int32), (keys - base).astype(np.int32), values

    def collect(self, number: int) -> tuple[Int32, Int32, Float64]:
        """All entries of a search: vertices, states and values, by vertex and state."""
        count = self.searches.entries(number)
        entries = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
        collect_entries(self.words(), number, self.rows.vertices, *entries)
        return entries

    def value(self, number: int, vertex: int, state: int) -> float:
        """What one entry of a search costs; infinity where there is none."""
        return float(look_up(self.words(), vertex, self.searches.base(number) + state))

    def answers(self, number: int, accepting: frozenset[int], vertices: Int32) -> Float64:
        """The least cost of a walk that may end at each of some vertices; infinity without one."""
        costs = np.empty(len(vertices))
        states = np.array(sorted(accepting), np.int16)
        answer_at(self.words(), number, states, vertices, costs)
        return costs

    def sweep(self, *, shrink: bool = True) -> None:
        self._close_up(shrink=shrink)
        self.searches.swept()

    def _close_up(self, *, shrink: bool) -> None:
        self.rows.close_up(self.words())
        self._block = None
        if shrink:
            self.rows.shrink()
        self.logs.forget_keys(self.searches.owner)

    def trim(self) -> bool:
        """Give back the room that rows do not need; whether there was any."""
        before, self._block = self._budget.used, None
        self.rows.shrink()
        return self._budget.used < before

    def words(self) -> Int64:
        adjacency = self._graph.adjacency
        if self._block is None or self._handed is not adjacency:
            self._block = None
            with self._budget.lifted():  # Whoever brings labels has been granted their columns.
                columns = [
                    self._labels(name) if of_labels else self._graph.column(name, np.float64)
                    for name, of_labels in self._columns
                ]
            parts = self.rows.view, self.searches.view, self.work.view
            self._block = Block(adjacency, *parts, *columns)
            self._handed = adjacency
        return self._block.words

    def _find(self, number: int, search: Search) -> int:
        """All entries of a search, in arrays where there is room for them."""
        vertices = self._graph.vertices
        if fits_arrays(search, vertices):
            try:
                with dense_arrays(search, vertices, self._budget) as dense:
                    count = find_all(self.words(), dense, number, search.start)
                    reached = np.sort(dense.reached[:count])
                    self._repeat(lambda words: write_all(words, dense, number, reached), count)
                    return int(dense.sizes[LOOKED])
            except LacksRoomError:
                self.drop([number])
                self.work.begin(logs=False)
        with self.searches.looking_elsewhere():
            self._repeat(lambda words: start_search(words, number, search.start))
        return self.work.touched

    def _resize(self) -> None:
        if self._graph.vertices > self.rows.vertices:
            self._block = None
            self.rows.resize(self._graph.vertices)

    def _put_back(self, log: QueryLog) -> None:
        self.work.begin(logs=False)
        self._repeat(lambda words: put_back(words, *log))
        self.logs.tell_nothing()

    def _column(self, name: str | None, of_labels: bool) -> int:
        """The place of a column behind the block; -1 where there is none."""
        if name is None:
            return -1
        if of_labels:
            self._labels(name)  # Refused before the column is known, if it is.
        return self._columns.setdefault((name, of_labels), len(self._columns))

    def _repeat(self, call: Callable[[Int64], int], entries: int = 0) -> None:
        """Call until it is done, with more room each time; it may bring so many entries."""
        while (lacking := call(self.words())) != DONE:
            self._block = None
            match lacking:
                case _ if lacking == LACKS_POOL:
                    self._widen_pool(entries)
                case _ if lacking == LACKS_WIDTH:
                    self.rows.widen()
                case _ if lacking == LACKS_HEAP:
                    self.work.grow(0, 2)
                case _ if lacking == LACKS_FALLEN:
                    self.work.grow(2, 3)
                case _ if lacking == LACKS_LOG:
                    self.work.grow(3, 6)
                case _ if lacking == TAKES_LONG:
                    raise TakesLongError

    def _widen_pool(self, entries: int) -> None:
        """More room in the pool: all rows anew, or, where two pools are more than is granted, what
        rows have left behind, or a larger one.
        """
        try:
            self.rows.lay_out(entries)
        except LacksRoomError:
            if self.rows.is_wasteful:
                self.sweep(shrink=False)
            else:
                self.rows.grow()


Item = tuple[int, int]
"""A vertex and a state."""

_AT_ONCE = 64
"""Supports that are listed in one go: no more room is needed to read an answer, however small the
budget is."""


class Entry(NamedTuple):
    """The cost of a walk, the edge by which the best one came (-1 at the start), and how."""

    value: float
    edge: int
    state: int
    back: bool


def entry_of(fixpoints: Fixpoints, number: int, search: Search, item: Item) -> Entry | None:
    """One entry of a search with the edge by which a best walk comes, or None."""
    value = fixpoints.value(number, *item)
    if value == np.inf:
        return None
    if item == (search.start, 0):
        return Entry(value, -1, 0, False)
    return _came_by(fixpoints, number, search, item, value)


def _came_by(fixpoints: Fixpoints, number: int, search: Search, at: Item, value: float) -> Entry:
    """The last step of a best walk: from something that costs less, if there is such a step.

    Otherwise the first one of the shortest way against edges that add nothing to something
    that has such a step, or to the start: who goes on from there comes nearer, in no circle.
    """
    first: dict[Item, Entry] = {}
    waiting = [at]
    for item in waiting:
        for edge, vertex, before, back in _supports(fixpoints, number, *item):
            there, step = (vertex, before), Entry(value, edge, before, bool(back))
            ends = fixpoints.value(number, *there) < value or there == (search.start, 0)
            if ends and item == at:
                return step
            if ends:
                return first[item]
            if there not in first and there != at:
                first[there] = first.get(item, step)
                waiting.append(there)
    raise AssertionError("an entry rests on nothing")


def _supports(fixpoints: Fixpoints, number: int, vertex: int, state: int) -> list[list[int]]:
    """What an entry may have come by: edge, vertex, state and way. One that costs less, where
    there is one, or else all that cost the same.
    """
    words, key = fixpoints.words(), fixpoints.searches.base(number) + state
    came = np.empty((_AT_ONCE, 4), np.int32)
    if find_support(words, vertex, key, came[0]):
        return [came[0].tolist()]
    supports: list[list[int]] = []
    count = 1
    while len(supports) < count:
        count = list_equals(words, vertex, key, len(supports), came.reshape(-1))
        supports += came[: count - len(supports)].tolist()
    return supports
