"""The table of pairs of a graph (`kernels.graph.pair_tables`): whether there is one, and making it.

A graph gets one once looks through slabs have gone through many entries. Making it takes as long as
some starts of a program, so each advance makes a piece of it; rows are matched by slabs until it is
whole. A table that has become too small is given up, and a larger one is made the same way.

Kept true: `table` is empty, or has every edge of the graph, entered in the order of their numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.pair_tables import NONE, edges_within, enter_edges, places_for

Int64 = NDArray[np.int64]

LOOKED_SHARE = 16
"""A table is made once looks through slabs have gone through one entry for so many edges.

On RMAT 18 that is after some 2,000 deleted rows; making it takes 0.13 s and 18 bytes an edge, once,
and saves 0.6 microseconds a row from then on. A road network, where a look goes through two
entries, hardly ever gets one.
"""
PIECES = 16
"""An advance enters one edge in so many, or clears half as many places as there are edges: some
10 ms on RMAT 18, where breadth-first search starts in 15."""
EDGES_A_ROW = 64
"""A batch with a row for so many edges takes longer than the whole table."""
_AT_ONCE = 256

_NO_TABLE = np.empty(0, np.int64)


class GrowingPairs:
    """Edges by both their ends, as soon as that pays."""

    def __init__(self) -> None:
        self.table: Int64 = _NO_TABLE
        self.looked = 0
        """How many entries of slabs have been looked through."""
        self._pays = False
        self._coming: Int64 = _NO_TABLE
        self._cleared = self._entered = 0

    def make_ready(self, words: Int64, known: int, come: int, go: int) -> bool:
        """Go on with the table before an advance by so many rows; True where `table` is another.

        `words` is the block of a graph with `known` edges. A table has room for those that come.
        """
        if known + come <= edges_within(len(self.table)):
            return False
        before, self.table = self.table, _NO_TABLE
        self._pays = self._pays or self.looked * LOOKED_SHARE > known
        if self._pays:
            if known + come > edges_within(len(self._coming)):
                self._begin(places_for(known + come))
            at_once = (come + go) * EDGES_A_ROW > known
            while self._go_on(words, known) and at_once:
                pass
        return self.table is not before

    def forget(self, edges: int) -> None:
        """The graph has only so many edges again: a table in the making that has more goes."""
        if self._entered > edges:
            self._begin(0)

    def _begin(self, places: int) -> None:
        self._coming = np.empty(places, np.int64)
        self._cleared = self._entered = 0

    def _go_on(self, words: Int64, known: int) -> bool:
        """Another piece; False where that was the last."""
        coming, piece = self._coming, known // PIECES + 1
        if self._cleared < len(coming):
            until = self._cleared + PIECES * piece // 2
            coming[self._cleared : until] = NONE
            self._cleared = until
            return True
        until = min(known, self._entered + piece)
        enter_edges(words, coming, self._entered, until, np.empty(_AT_ONCE, np.int64))
        self._entered = until
        if until == known:
            self.table = coming
            self._begin(0)
        return until < known
