"""The edges of a task by one way along them, with those of a view in front of each slab.

There is room for every edge of the shards, so that a view changes slabs in place, and those alone
that have an edge of a class that came or left. Which these are takes a look at the class of each
edge, a tenth of what it takes to pick the edges anew.

Kept true: live edges of a slab are in the order of the shard's file. The number of an edge is its
place among all edges of the task, the same in every view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.shards.local_edges import mark_rows, take_rows, turn_round

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Classes = NDArray[np.bool_]

SHARED_REACH = 2
"""Views share the way from vertices to those that gather from them where they have at least one of
so many edges. To find it takes as long as to pick the edges; with edges that a view does not have,
a change has more vertices to look at."""

LOST, GAINED = 1, 2
"""What classes are to the next view, and own vertices by their edges, as bits."""


class ShardEdges(NamedTuple):
    """The edges of one shard in one way: those of its first vertex, of its second, and so on.

    `start` has one entry more than there are vertices. `ends` are the other ends, by their places
    in `table`, which lists vertices by number. `classes` are those of the collection.
    """

    start: Int64
    ends: Int32
    table: Int32
    classes: Int32
    properties: Mapping[str, NDArray[Any]]


class LiveEdges:
    """The shards of a task by one way; `numbers` are those of each table's vertices in the task.

    `slabs` are those of own vertices, and `first_edge` is the number of the first edge.
    """

    def __init__(
        self, shards: Sequence[ShardEdges], numbers: Sequence[Int32], owned: int, first_edge: int
    ) -> None:
        self.total = sum(len(item.ends) for item in shards)
        self.slabs = empty_slabs(owned, self.total)
        self._shards, self._numbers = shards, numbers
        self._first_edge = first_edge
        self._vertex, self._place = [0], [0]
        for item in shards:
            first, begin = self._vertex[-1], self._place[-1]
            self.slabs.start[first : first + len(item.start) - 1] = begin + item.start[:-1]
            self._vertex.append(first + len(item.start) - 1)
            self._place.append(begin + len(item.ends))
        self._whole_reach: Slabs | None = None

    def take(self, live: Classes, kinds: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Have the edges of some classes live; `kinds` says which classes came and left.

        Returns the same of own vertices. Slabs of the others are as they were.
        """
        marks = np.zeros(len(self.slabs.start), np.uint8)
        for at, item in enumerate(self._shards):
            own = marks[self._vertex[at] : self._vertex[at + 1]]
            mark_rows(item.start, item.classes, kinds, own)
            self._take(at, live, np.flatnonzero(own))
        return marks

    def _take(self, at: int, live: Classes, rows: NDArray[np.int64]) -> None:
        item = self._shards[at]
        places = self._vertex[at], self._place[at], self._first_edge
        shard = item.start, item.ends, item.classes
        take_rows(shard, self._numbers[at], live, self.slabs, places, rows)

    @property
    def live(self) -> int:
        """How many edges are live."""
        return int(self.slabs.live.sum(dtype=np.int64))

    def reach(self, vertices: int, live: Classes) -> Slabs:
        """Whom each vertex that the task knows reaches along live edges, or along all there are.

        Whoever is told of a change without an edge from there gathers what it gathered before,
        which changes nothing. So all views share one list, as long as they have most of the edges.
        """
        if SHARED_REACH * self.live < self.total:
            return _turned(self.slabs, vertices, self.live)
        if self._whole_reach is None:
            self._take_all(np.ones_like(live))
            self._whole_reach = _turned(self.slabs, vertices, self.total)
            self._take_all(live)
        return self._whole_reach

    def _take_all(self, live: Classes) -> None:
        for at, item in enumerate(self._shards):
            self._take(at, live, np.arange(len(item.start) - 1))

    def ends(self) -> tuple[Int32, Int32]:
        """The own and the other ends of all edges, by number."""
        own, other = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for at, item in enumerate(self._shards):
            vertices = np.arange(self._vertex[at], self._vertex[at + 1], dtype=np.int32)
            own.append(np.repeat(vertices, np.diff(item.start)))
            other.append(self._numbers[at][item.ends])
        return np.concatenate(own), np.concatenate(other)


def empty_slabs(vertices: int, entries: int) -> Slabs:
    """Slabs of so many vertices that are to be filled."""
    none = np.empty(0, np.int32)
    return Slabs(
        start=np.zeros(vertices, np.int64),
        live=np.zeros(vertices, np.int32),
        used=none,
        room=none,
        neighbour=np.empty(entries, np.int32),
        edge=np.empty(entries, np.int32),
        slot=none,
    )


def _turned(slabs: Slabs, vertices: int, live: int) -> Slabs:
    turned = empty_slabs(vertices, live)._replace(edge=np.empty(0, np.int32))
    turn_round(slabs, turned)
    return turned
