"""The ordered rows of a walk program: made for a version, and kept as edges come and go.

8 bytes an edge and direction, of which up to half as many again are spare, and 32 bytes a vertex
and direction; for each property that walks bound, and nothing for programs that bound none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import edge_array
from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.walks.ordered import (
    BEGIN,
    BOUNDS,
    END,
    FREE,
    INTO_ROW,
    LACKING,
    MOST,
    MOVED,
    OUT_ROW,
    POOL_WORDS,
    TOP,
    lay_rows,
    move_rows,
)
from graphtide.kernels.walks.records import Ordered
from graphtide.kernels.walks.rising import NOBODY
from graphtide.plan.walk_facts import WalkFacts

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Words = Callable[[], Int64]
"""Where all that kernels work with is; asked for anew where an array was replaced."""

PATIENCE = 64
"""Edges may move so many entries each before they are sorted. 25,000 that come to a row of 100,000
in no order would move a billion; sorted, they move each entry once."""
_SPARE = 1024
_WASTE = 3
"""So many times as large as all entries a pool may be before its free rooms are given up."""
_NO_END = np.iinfo(np.int64).max


class OrderedRows:
    """All rows of one maintainer; `some` says whether the program has any."""

    def __init__(self, graph: ResidentGraph, facts: WalkFacts, kernels: Any, words: Words) -> None:
        self.some = bool(facts.ordered)
        self._graph, self._kernels, self._words = graph, kernels, words
        types = dict(facts.properties)
        self._properties = [(name, types[name]) for name in facts.ordered]
        self._width = 2 * len(facts.ordered)
        self._bounds = GrowingArray(np.zeros(0, np.int64))
        self._entries = np.zeros(0, np.int64)
        self._pool = np.zeros(POOL_WORDS, np.int64)
        self._widest = np.zeros(len(facts.ordered), np.float64)
        self.highest, self._before = np.full((2, len(facts.ordered)), NOBODY, np.int64)
        """Of each property, the edge with the last place of all; whoever undoes puts it back: its
        number may then be that of another edge."""
        self.replaced = False
        """Whether arrays were replaced since the caller last set it to False."""

    @property
    def record(self) -> Ordered:
        """What kernels take."""
        extents = self._widest, self.highest, self._before
        return Ordered(self._bounds.room, self._entries, self._pool, *extents)

    def resize(self, vertices: int) -> None:
        """Have rows for so many vertices; those of vertices that go are empty by then."""
        before = self._bounds.length
        self._bounds.resize(BOUNDS * vertices * self._width)
        self._bounds.view[before:] = 0

    def build(self) -> None:
        """Make the rows of the version that the graph is at. O(edges), once these are sorted."""
        live = self._graph.live_edges()
        ends = self._graph.ends(live)
        self._entries = np.empty((len(live) + len(live) // 8) * self._width + _SPARE, np.int64)
        self.replaced = True
        self._pool[TOP], self._pool[MOST], self._pool[FREE:] = 0, _NO_END, 0
        self.highest[:] = NOBODY
        for number, (name, type_) in enumerate(self._properties):
            lay_rows(self._words(), self._width, number)
            keys = edge_array(self._graph, name, type_)
            order = np.lexsort((live, keys[live]))
            given = live[order], ends[0][order], ends[1][order]
            for side in (OUT_ROW, INTO_ROW):
                self._kernels.enter_ordered(self._words(), number, side, *self._rows(side, given))

    def begin_batch(self) -> Int64:
        """Let kernels know the highest edges of the version before; a copy, to put them back."""
        self._before[:] = self.highest
        return self._before.copy()

    def enter(self, edges: Int32, sources: Int32, targets: Int32) -> None:
        """Take edges into their rows.

        O(1) an edge at the end of its rows, and the entries behind it elsewhere; where that is
        much, the rows of the edges, each once.
        """
        for number in range(len(self._properties) if len(edges) else 0):
            loops = not self._graph.directed and (sources == targets).any()
            taken = 0 if loops else self._append(number, (edges, sources, targets))
            if taken < len(edges):
                rest = edges[taken:], sources[taken:], targets[taken:]
                self._change(self._kernels.enter_ordered, number, rest)

    def _append(self, number: int, given: tuple[Int32, Int32, Int32]) -> int:
        """Put edges behind both their rows, up to the first that belongs elsewhere; how many."""
        self._pool[MOVED] = 0
        taken = self._kernels.append_ordered(self._words(), number, *given)
        while self._pool[LACKING]:
            self._reserve()
            rest = (items[taken:] for items in given)
            taken += self._kernels.append_ordered(self._words(), number, *rest)
        return int(taken)

    def leave(self, edges: Int32, sources: Int32, targets: Int32) -> None:
        """Take edges out of their rows, at the same cost at either end."""
        for number in range(len(self._properties) if len(edges) else 0):
            self._change(self._kernels.leave_ordered, number, (edges, sources, targets))

    def _change(self, kernel: Any, number: int, given: tuple[Int32, Int32, Int32]) -> None:
        for side in (OUT_ROW, INTO_ROW):
            self._change_side(kernel, (number, side), self._rows(side, given))

    def _change_side(
        self, kernel: Any, which: tuple[int, int], given: tuple[Int32, Int32, Int32]
    ) -> None:
        (edges, near, far), pool = given, self._pool
        pool[MOVED], pool[MOST] = 0, PATIENCE * (len(edges) + PATIENCE)
        while (taken := kernel(self._words(), *which, edges, near, far)) < len(edges):
            edges, near, far = edges[taken:], near[taken:], far[taken:]
            if pool[LACKING]:
                self._reserve()
                continue
            keys = edge_array(self._graph, *self._properties[which[0]])
            order = np.lexsort((edges, keys[edges], near))
            edges, near, far = edges[order], near[order], far[order]
            pool[MOST] = _NO_END

    def _reserve(self) -> None:
        """Have as many words free at the end of the pool as a kernel looked for in vain.

        A pool that is mostly free rooms is taken over without them. Any other is doubled: what is
        not written to costs no memory.
        """
        used, more = int(self._pool[TOP]), int(self._pool[LACKING])
        self._pool[LACKING] = 0
        bounds = self._bounds.view.reshape(-1, BOUNDS)
        total = int((bounds[:, END] - bounds[:, BEGIN]).sum())
        if used > _WASTE * total + _SPARE:
            larger = np.empty(2 * (total + more) + _SPARE, np.int64)
            move_rows(self._words(), larger, len(bounds))
        else:
            larger = np.empty(2 * (used + more) + _SPARE, np.int64)
            larger[:used] = self._entries[:used]
        self._entries, self.replaced = larger, True

    def _rows(self, side: int, given: tuple[Int32, Int32, Int32]) -> tuple[Int32, Int32, Int32]:
        """Edges with their near ends and their far ends; a loop of an undirected graph is in the
        row of out-edges alone.
        """
        edges, sources, targets = given
        if side == OUT_ROW:
            return edges, sources, targets
        if not self._graph.directed and (loops := sources == targets).any():
            edges, sources, targets = edges[~loops], sources[~loops], targets[~loops]
        return edges, targets, sources
