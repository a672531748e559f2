"""All searches on one graph: started, brought from version to version together, and read.

Everything that queries keep is here: rows, searches, room to work in and logs, and `nbytes` counts
all of it. The graph is brought to its next version by its owner; `follow` is one compiled call,
repeated only where it lacked room. Nothing is in proportion to the graph but a row's header for
each vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.logs import Log, Logs, WorkRoom
from graphtide.engine.queries.rows import RowPool
from graphtide.engine.queries.searches import Search, SearchTable
from graphtide.engine.queries.starting import dense_arrays
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.batch import follow_batch, put_back, start_search
from graphtide.kernels.queries.reading import answer_at, collect_entries, look_up
from graphtide.kernels.queries.records import (
    DONE,
    LACKS_FALLEN,
    LACKS_HEAP,
    LACKS_LOG,
    LACKS_POOL,
)
from graphtide.kernels.queries.starting import find_all, write_all

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

SWEPT = 4
"""Rows are swept once a fourth of their entries belong to nobody."""

ENTRY = 18
"""The bytes of an entry."""

LabelColumn = Callable[[str], Int32]
"""The codes of a property of edges, by inside number, with room for all edges."""


class Entry(NamedTuple):
    """The cost of a walk, the edge by which the best one came (-1 at the start), and how."""

    value: float
    edge: int
    state: int
    back: bool


class QueryEngine:
    """The searches of all queries on a graph."""

    def __init__(self, graph: ResidentGraph, labels: LabelColumn) -> None:
        self._graph = graph
        self._labels = labels
        self._rows = RowPool(graph.vertices)
        self._searches = SearchTable()
        self._work = WorkRoom()
        self._logs = Logs()
        self._last: Log | None = None
        self._columns: dict[tuple[str, bool], int] = {}
        self._handed: Adjacency | None = None
        self._block: Block | None = None

    @property
    def nbytes(self) -> int:
        """All memory of queries."""
        parts = (self._rows, self._searches, self._work, self._logs)
        last = 0 if self._last is None or len(self._logs) else self._last.nbytes
        return sum(part.nbytes for part in parts) + last

    @property
    def touched(self) -> int:
        """How many edges the last advance looked at."""
        return self._work.touched

    @property
    def undoable(self) -> int:
        """How many advances can be undone."""
        return len(self._logs)

    def entries(self, number: int) -> int:
        """How many entries a search has."""
        return self._searches.entries(number)

    def add(self, search: Search) -> int:
        """Start a search on the version that the graph is at; its number."""
        self._rows.resize(max(self._graph.vertices, self._rows.vertices))
        columns = [self._column(search.label, True), self._column(search.weight, False)]
        number = self._searches.add(search, *columns)
        self._block = None
        self._work.begin(logs=False)
        try:
            self._find(number, search)
        except BaseException:
            self._searches.remove(number)
            raise
        return number

    def remove(self, number: int) -> None:
        """Give a search up; its memory comes back with the next sweep."""
        self._searches.remove(number)
        if self._searches.dead * SWEPT > self._searches.total:
            self._sweep()

    def follow(self, delta: Delta) -> None:
        """Follow a graph that has been flipped, and may have got vertices; all or nothing."""
        self._rows.resize(max(self._graph.vertices, self._rows.vertices))
        self._work.begin(logs=True)
        try:
            self._repeat(lambda words: follow_batch(words, *delta))
            self._last = self._work.log()
        except BaseException:
            self._put_back(self._work.log())
            raise
        self._logs.add(self._last, self._rows.nbytes)
        if self._work.shrink():
            self._block = None

    def undo(self, vertices: int) -> None:
        """Go back by one advance, to so many vertices."""
        self._put_back(self._logs.pop())
        if vertices < self._rows.vertices:
            self._rows.cut(self._words(), vertices)
            self._block = None

    def forget(self) -> None:
        """Give up what could be undone."""
        self._logs.clear()

    def changed(self) -> set[int]:
        """The searches with an entry that the last advance changed."""
        if self._last is None or not len(self._last.items):
            return set()
        owners = self._searches.owner[np.unique(self._last.items & 0xFFFFFFFF)]
        return {number for number in owners.tolist() if number >= 0}

    def before(self, number: int, states: int) -> tuple[Int32, Int32, Float64]:
        """The entries of a search that the last advance changed, as they were before it.

        Vertices, states and values, infinity where there was none; each entry once.
        """
        empty = np.empty(0, np.int64)
        items = empty if self._last is None else self._last.items
        keys, base = items & 0xFFFFFFFF, self._searches.base(number)
        mine = np.flatnonzero((keys >= base) & (keys < base + states))
        kept, first = np.unique(items[mine], return_index=True)
        values = np.empty(0) if self._last is None else self._last.values[mine[first]]
        keys = kept & 0xFFFFFFFF
        return (kept >> 32).astype(np.int32), (keys - base).astype(np.int32), values

    def collect(self, number: int) -> tuple[Int32, Int32, Float64]:
        """All entries of a search: vertices, states and values, by vertex and state."""
        count = self._searches.entries(number)
        found = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
        collect_entries(self._words(), number, *found)
        return found

    def entry(self, number: int, vertex: int, state: int) -> Entry | None:
        """One entry of a search, or None."""
        value, came = np.empty(1), np.empty(2, np.int32)
        if not look_up(self._words(), vertex, self._searches.base(number) + state, value, came):
            return None
        edge, via = came.tolist()
        return Entry(float(value[0]), edge, via >> 1, bool(via & 1))

    def answers(self, number: int, accepting: frozenset[int], vertices: Int32) -> Float64:
        """The least cost of a walk that may end at each of some vertices; infinity without one."""
        found = np.empty(len(vertices))
        states = np.array(sorted(accepting), np.int16)
        answer_at(self._words(), number, states, vertices, found)
        return found

    def _find(self, number: int, search: Search) -> None:
        """All entries of a new search."""
        dense = dense_arrays(search, self._graph.vertices)
        if dense is None:
            self._repeat(lambda words: start_search(words, number, search.start))
            return
        count = find_all(self._words(), dense, number, search.start)
        reached = np.sort(dense.reached[:count])
        self._repeat(lambda words: write_all(words, dense, number, reached))

    def _put_back(self, log: Log) -> None:
        self._work.begin(logs=False)
        self._repeat(lambda words: put_back(words, *log))
        self._last = None

    def _column(self, name: str | None, of_labels: bool) -> int:
        """The place of a column behind the block; -1 where there is none."""
        if name is None:
            return -1
        return self._columns.setdefault((name, of_labels), len(self._columns))

    def _words(self) -> Int64:
        """Where everything is."""
        adjacency = self._graph.adjacency
        if self._block is None or self._handed is not adjacency:
            columns = [
                self._labels(name) if of_labels else self._graph.column(name, np.float64)
                for name, of_labels in self._columns
            ]
            parts = self._rows.view, self._searches.view, self._work.view
            self._block = Block(adjacency, *parts, *columns)
            self._handed = adjacency
        return self._block.words

    def _repeat(self, call: Callable[[Int64], int]) -> None:
        """Call until it is done, with more room each time."""
        while (lacking := call(self._words())) != DONE:
            self._block = None
            match lacking:
                case _ if lacking == LACKS_POOL and self._rows.is_wasteful:
                    self._sweep()
                case _ if lacking == LACKS_POOL:
                    self._rows.grow()
                case _ if lacking == LACKS_HEAP:
                    self._work.grow(0, 2)
                case _ if lacking == LACKS_FALLEN:
                    self._work.grow(2, 3)
                case _ if lacking == LACKS_LOG:
                    self._work.grow(3, 7)

    def _sweep(self) -> None:
        """Free the memory of searches that are gone, and let their keys be used again."""
        self._rows.sweep(self._words())
        self._block = None
        owner = self._searches.owner
        self._logs.forget_keys(owner)
        if self._last is not None:
            self._last = self._logs.last or self._last.without(owner)
        self._searches.swept()
