"""The ordered rows of a walk program: made for a version, and kept as edges come and go.

8 bytes an edge and direction, of which up to half as many again are spare, and 20 bytes a vertex
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
    FREE,
    INTO_ROW,
    MOST,
    MOVED,
    OUT_ROW,
    POOL_WORDS,
    TOP,
    lay_rows,
    move_rows,
    room_for,
)
from graphtide.kernels.walks.records import Ordered
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
        self._start = GrowingArray(np.zeros(0, np.int64))
        self._gap, self._size, self._room = (GrowingArray(np.zeros(0, np.int32)) for _ in range(3))
        self._entries = np.zeros(0, np.int64)
        self._pool = np.zeros(POOL_WORDS, np.int64)
        self._widest = np.zeros(len(facts.ordered), np.float64)
        self.replaced = False
        """Whether arrays were replaced since the caller last set it to False."""

    @property
    def record(self) -> Ordered:
        """What kernels take."""
        rows = self._start.room, self._gap.room, self._size.room, self._room.room
        return Ordered(*rows, self._entries, self._pool, self._widest)

    def resize(self, vertices: int) -> None:
        """Have rows for so many vertices; those of vertices that go are empty by then."""
        before, rows = self._start.length, vertices * self._width
        for array in (self._start, self._gap, self._size, self._room):
            array.resize(rows)
            array.view[before:] = 0

    def build(self) -> None:
        """Make the rows of the version that the graph is at. O(edges), once these are sorted."""
        live = self._graph.live_edges()
        ends = self._graph.ends(live)
        self._entries = np.empty((len(live) + len(live) // 8) * self._width + _SPARE, np.int64)
        self.replaced = True
        self._pool[TOP], self._pool[MOST], self._pool[FREE:] = 0, _NO_END, 0
        for number, (name, type_) in enumerate(self._properties):
            lay_rows(self._words(), self._width, number)
            keys = edge_array(self._graph, name, type_)
            order = np.lexsort((live, keys[live]))
            given = live[order], ends[0][order], ends[1][order]
            for side in (OUT_ROW, INTO_ROW):
                self._kernels.enter_ordered(self._words(), number, side, *_seen_from(side, given))

    def enter(self, edges: Int32, sources: Int32, targets: Int32) -> None:
        """Take edges into their rows.

        O(1) an edge at the end of its rows, and the entries behind it elsewhere; where that is
        much, the rows of the edges, each once.
        """
        self._change(self._kernels.enter_ordered, (edges, sources, targets))

    def leave(self, edges: Int32, sources: Int32, targets: Int32) -> None:
        """Take edges out of their rows, at the same cost at either end."""
        self._change(self._kernels.leave_ordered, (edges, sources, targets))

    def _change(self, kernel: Any, given: tuple[Int32, Int32, Int32]) -> None:
        for number in range(len(self._properties) if len(given[0]) else 0):
            for side in (OUT_ROW, INTO_ROW):
                self._change_side(kernel, (number, side), _seen_from(side, given))

    def _change_side(
        self, kernel: Any, which: tuple[int, int], given: tuple[Int32, Int32, Int32]
    ) -> None:
        edges, near, far = given
        self._pool[MOVED], self._pool[MOST] = 0, PATIENCE * (len(edges) + PATIENCE)
        while (taken := kernel(self._words(), *which, edges, near, far)) < len(edges):
            edges, near, far = edges[taken:], near[taken:], far[taken:]
            keys = edge_array(self._graph, *self._properties[which[0]])
            order = np.lexsort((edges, keys[edges], near))
            edges, near, far = edges[order], near[order], far[order]
            self._pool[MOST] = _NO_END
            row = int(near[0]) * self._width + 2 * which[0] + which[1]
            self._reserve(room_for(int(self._size.view[row]) + len(edges)))

    def _reserve(self, more: int) -> None:
        """Have so many words free at the end of the pool.

        A pool that is mostly free rooms is taken over without them. Any other is doubled: what is
        not written to costs no memory.
        """
        used = int(self._pool[TOP])
        if used + more <= len(self._entries):
            return
        total = int(self._size.view.sum())
        if used > _WASTE * total + _SPARE:
            larger = np.empty(2 * (total + more) + _SPARE, np.int64)
            move_rows(self._words(), larger, self._start.length)
        else:
            larger = np.empty(2 * (used + more) + _SPARE, np.int64)
            larger[:used] = self._entries[:used]
        self._entries, self.replaced = larger, True


def _seen_from(side: int, given: tuple[Int32, Int32, Int32]) -> tuple[Int32, Int32, Int32]:
    """Edges with their near ends and their far ends."""
    edges, sources, targets = given
    return (edges, sources, targets) if side == OUT_ROW else (edges, targets, sources)
