"""Everything that searches by histories have in memory, and calls that lack room and are repeated.

Pools, filters, searches and room to work in are handed to kernels as two blocks, which are made
anew whenever one of them has grown. A search that begins finds all its differences in dense arrays,
iteration by iteration, before they are written to rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.histories.arrays import FilterTable, HistoryPool, HistoryRoom
from graphtide.engine.histories.settings import Histories, How
from graphtide.engine.queries.budget import Budget
from graphtide.engine.queries.fixpoint import LabelColumn
from graphtide.engine.queries.searches import Search, SearchTable
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.blocks import ADJACENCY, Block, places
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.histories import rows as records
from graphtide.kernels.histories.rows import DONE, MOST_ITERATIONS
from graphtide.kernels.histories.searches import Dense, expand
from graphtide.kernels.queries.records import COLUMNS, SEARCHES, Searches
from graphtide.model.errors import LimitError

MOST_DENSE = 1 << 26
"""A search begins in arrays of at most this many (vertex, state): 24 bytes each."""


class Differences(NamedTuple):
    """Of one search, by entry and iteration; an entry is a vertex and a key in one number."""

    items: NDArray[np.int64]
    iterations: NDArray[np.int32]
    costs: NDArray[np.float64]


def find_differences(
    words: NDArray[np.int64], search: Search, number: int, base: int, vertices: int
) -> Differences:
    """Run a search from its start; what each iteration changed."""
    states = search.automaton.states
    size = vertices * states
    _check_size(size)
    dense = Dense(np.full(size, np.inf), np.full(size, np.inf))
    room = np.empty(size, np.int32)
    frontier = np.array([search.start * states], np.int32)
    dense.cost[frontier] = 0.0
    items, costs = [frontier], [np.zeros(1)]
    while len(frontier):
        count = expand(words, dense, number, frontier, room)
        frontier = room[:count].copy()
        dense.cost[frontier] = dense.offered[frontier]
        dense.offered[frontier] = np.inf
        items.append(frontier)
        costs.append(dense.cost[frontier])
        check_iterations(len(items))
    iterations = np.repeat(np.arange(len(items), dtype=np.int32), list(map(len, items)))
    places = np.concatenate(items).astype(np.int64)
    order = np.lexsort((iterations, places))
    packed = (places // states) << 32 | (places % states + base)
    return Differences(packed[order], iterations[order], np.concatenate(costs)[order])


def check_iterations(count: int) -> None:
    """Refuse a search that takes more iterations than a history can tell apart."""
    if count > MOST_ITERATIONS:
        raise LimitError(
            f"a query takes more than {MOST_ITERATIONS:,} iterations, which no history holds",
            hint="give it a bound, or leave out queries=gt.queries.Histories(...)",
        )


def _check_size(size: int) -> None:
    if size > MOST_DENSE:
        raise LimitError(
            f"{size:,} vertices times states are more than a query by histories can begin with",
            hint="ask a path with fewer states, or leave out queries=gt.queries.Histories(...)",
        )


Int64 = NDArray[np.int64]

PERCENTILE = 80
"""Vertices with more edges than this share of all lose none of their differences (001, 5.2)."""


class HistoryState:
    """The arrays of all searches on one graph."""

    def __init__(
        self, graph: ResidentGraph, labels: LabelColumn, budget: Budget, settings: Histories
    ) -> None:
        self.graph, self.settings = graph, settings
        self._labels = labels
        vertices, by_record = graph.vertices, self.drops_by("deterministic")
        self.kept = HistoryPool(vertices, "key", "small")
        self.dropped = HistoryPool(*((vertices, "key") if by_record else (0,)))
        joined = () if settings.join_on_demand else ("key", "small", "copies")
        self.joined = HistoryPool(vertices if joined else 0, *joined)
        self.filters = FilterTable()
        self.searches = SearchTable(budget)
        self.work = HistoryRoom(_settings(graph, settings))
        self._columns: dict[tuple[str, bool], int] = {}
        self._handed: Adjacency | None = None
        self._blocks: tuple[Block, Block] | None = None

    def drops_by(self, how: How) -> bool:
        """Whether differences are dropped, and remembered that way."""
        return self.settings.drop is not None and self.settings.how == how

    @property
    def pools(self) -> tuple[HistoryPool, ...]:
        return self.kept, self.dropped, self.joined

    @property
    def nbytes(self) -> int:
        """All memory that they take, used or not."""
        pools = sum(pool.nbytes for pool in self.pools)
        return pools + self.filters.nbytes + self.searches.nbytes + self.work.nbytes

    def replaced(self) -> None:
        """Arrays are others now: kernels must be handed them again."""
        self._blocks = None

    def resize(self) -> None:
        for pool in self.pools:
            if pool.resize(max(self.graph.vertices, pool.vertices)):
                self.replaced()

    def column(self, name: str | None, of_labels: bool) -> int:
        """The place of a column behind the block; -1 where there is none."""
        if name is None:
            return -1
        return self._columns.setdefault((name, of_labels), len(self._columns))

    def words(self) -> tuple[Int64, Int64]:
        """Where everything is: the graph and the searches, and the histories."""
        adjacency = self.graph.adjacency
        if self._blocks is None or self._handed is not adjacency:
            columns = [
                self._labels(name) if of_labels else self.graph.column(name, np.float64)
                for name, of_labels in self._columns
            ]
            none: list[Any] = [np.empty(0, np.int64)]
            rows = none * (SEARCHES - ADJACENCY)
            work = none * (COLUMNS - SEARCHES - places(Searches))
            pools = [pool.view for pool in self.pools]
            self._blocks = (
                Block(adjacency, *rows, self.searches.view, *work, *columns),
                Block(*pools, self.filters.view, self.work.view),
            )
            self._handed = adjacency
        return self._blocks[0].words, self._blocks[1].words

    def write(self, call: Callable[[Int64, Int64], int]) -> None:
        """Call until it is done, each time with more room; it goes on where it was."""
        self.work.begin()
        while (lacking := call(*self.words())) != DONE:
            self.work.counts[records.LACKING] = 0
            self.make_room(lacking)

    def at_rest(self) -> None:
        """Whatever may have lacked room is done: an advance with all that it puts back."""
        for pool in self.pools:
            pool.at_rest()

    def tidy(self) -> None:
        """Write rows anew where those of a search that has begun left too much behind."""
        for pool in self.pools:
            if pool.is_wasteful:
                pool.sweep(self.searches.owner)
                self.replaced()

    def check_keys(self, states: int) -> None:
        """Refuse a search for which there may be no keys that histories can tell apart."""
        if len(self.searches.owner) + states > records.MOST_KEYS:
            raise LimitError(
                f"queries by histories have no more than {records.MOST_KEYS:,} states in all",
                hint="ask paths with fewer states, or leave out queries=gt.queries.Histories(...)",
            )

    def read(self, call: Callable[[Int64, Int64], int]) -> None:
        """Call until it is done, each time from the beginning with more room."""
        self.work.begin()
        with self.searches.looking_elsewhere():
            while (lacking := call(*self.words())) != DONE:
                self.make_room(lacking)
                self.work.begin()

    def make_room(self, lacking: int) -> None:
        self.replaced()
        owner = self.searches.owner
        match lacking:
            case records.LACKS_KEPT:
                self.kept.grow(owner)
            case records.LACKS_DROPPED:
                self.dropped.grow(owner)
            case records.LACKS_JOINED:
                self.joined.grow(owner)
            case records.LACKS_WIDTH:
                self.kept.widen()
                self.joined.widen()
            case records.LACKS_LATE:
                for pool in self.pools:
                    pool.hold_late()
            case records.ENDLESS:
                check_iterations(records.MOST_ITERATIONS + 1)
            case _:
                self.work.grow(lacking)

    def sweep(self, numbers: list[int]) -> None:
        """Free the memory of searches that are gone, and let their keys be used again."""
        for pool in self.pools:
            pool.sweep(self.searches.owner)
        self.filters.sweep(numbers)
        self.replaced()
        self.searches.swept()


def _settings(graph: ResidentGraph, settings: Histories) -> Int64:
    how = records.KEEP
    if settings.drop is not None:
        by_record = settings.how == "deterministic"
        how = records.DETERMINISTIC if by_record else records.PROBABILISTIC
    least, most = settings.degrees
    if most is None:
        adjacency = graph.adjacency
        degrees = adjacency.out.live + adjacency.into.live
        degrees = degrees[degrees > 0]
        most = int(np.percentile(degrees, PERCENTILE)) if len(degrees) else least
    policy = records.DEGREE if settings.policy == "degree" else records.RANDOM
    share = round((settings.drop or 0) * 2**32)
    given = [settings.join_on_demand, how, policy, share, least, max(most, least), settings.seed]
    return np.array(given, np.int64)
