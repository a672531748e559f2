"""The graph as one task has it: its own vertices, mirrors of others, and the edges between.

An edge lives with the vertex that gathers along it: in the shard of its destination, and once more
in that of its source for programs that go the other way. Own vertices have the first numbers, shard
by shard; behind them stand the mirrors, those of one owner together, in the order of their numbers.
A vertex has one mirror in a task, however many edges lead to it.

Kept true: the entries of a slab are in the order of the shard's file, whatever the number of tasks.
Sums are added in that order, so that results do not depend on it either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.shards.live_edges import GAINED, LOST, Classes, LiveEdges, ShardEdges
from graphtide.engine.shards.placement import Placement
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.model.errors import LimitError

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Way = Literal["into", "out"]
"""Edges by destination, as messages along edges are gathered; or by source, for the other way."""


WAYS: tuple[Way, Way] = ("into", "out")


MOST_EDGES = 2**31 - 1
"""Edges are numbered by 32 bits within a task."""


class Version(NamedTuple):
    """What is live in a view: along which edges own vertices gather, and whom a vertex reaches.

    `live` are its classes. `reach` may have edges of other views as well. Degrees are those of own
    vertices. `lost` and `gained` are the own vertices that gather along an edge less or more than
    in the version that was made `before`, whose classes those are.
    """

    graph: Adjacency
    reach: Adjacency
    edges: int
    degrees: Mapping[Way, Int64]
    live: Classes
    before: Classes
    lost: Int32
    gained: Int32


@dataclass(frozen=True)
class LocalGraph:
    """The shards of a task, by way: those that messages go, and those that only degrees need."""

    placement: Placement
    task: int
    gathered: Mapping[Way, Sequence[ShardEdges]]
    counted: Mapping[Way, Sequence[ShardEdges]]

    @cached_property
    def own(self) -> Int64:
        """The own vertices by number."""
        return self.placement.owned(self.task)

    @property
    def owned(self) -> int:
        """How many own vertices there are."""
        return len(self.own)

    @cached_property
    def mirrors(self) -> Int64:
        """The mirrors by number, those of one owner together."""
        tables = [item.table for shards in self.gathered.values() for item in shards]
        ends = np.unique(np.concatenate([np.empty(0, np.int32), *tables])).astype(np.int64)
        owners = self.placement.owners(ends)
        ends, owners = ends[owners != self.task], owners[owners != self.task]
        by_owner: Int64 = ends[np.argsort(owners, kind="stable")]
        return by_owner

    @cached_property
    def mirrors_of(self) -> Int64:
        """Where the mirrors of each task begin among all mirrors, and how many there are."""
        owners = self.placement.owners(self.mirrors)
        return np.searchsorted(owners, np.arange(self.placement.tasks + 1)).astype(np.int64)

    @property
    def vertices(self) -> int:
        """How many vertices the task knows."""
        return self.owned + len(self.mirrors)

    @property
    def known(self) -> Int64:
        """All that it knows, by number."""
        return np.concatenate([self.own, self.mirrors])

    def version(self, live: Classes) -> Version:
        """The edges of some classes. Versions are made in place: the last one is gone."""
        before = self._last.get("live", np.zeros_like(live))
        self._last["live"] = live
        kinds = LOST * (before & ~live) + GAINED * (live & ~before)
        marks = np.zeros(self.owned, np.uint8)
        for way in WAYS:
            marks |= self._edges[way].take(live, kinds.astype(np.uint8))
        into, out = (self._edges[way] for way in WAYS)
        reach = {way: self._edges[way].reach(self.vertices, live) for way in WAYS}
        degrees = {way: self._degrees(way, live) for way in WAYS}
        return Version(
            Adjacency(out=out.slabs, into=into.slabs),
            # A change of u reaches those that gather from it along edges into them: the way out.
            Adjacency(out=reach["into"], into=reach["out"]),
            into.live + out.live,
            degrees,
            live,
            before,
            np.flatnonzero(marks & LOST).astype(np.int32),
            np.flatnonzero(marks & GAINED).astype(np.int32),
        )

    @cached_property
    def _last(self) -> dict[str, Classes]:
        """The classes of the last version."""
        return {}

    @cached_property
    def _edges(self) -> dict[Way, LiveEdges]:
        edges: dict[Way, LiveEdges] = {}
        first = 0
        for way in WAYS:
            shards = self.gathered.get(way, ())
            numbers = [self._numbers(item.table) for item in shards]
            count = first + sum(len(item.ends) for item in shards)
            if count > MOST_EDGES:
                raise LimitError(
                    f"a task would have {count:,} edges, and may have {MOST_EDGES:,}",
                    hint="run on more tasks",
                )
            edges[way] = LiveEdges(shards, numbers, self.owned, first)
            first = count
        return edges

    def ends(self) -> tuple[Int32, Int32]:
        """The own and the other ends of all edges, by number. O(edges)."""
        own, other = zip(*(self._edges[way].ends() for way in WAYS), strict=True)
        return np.concatenate(own), np.concatenate(other)

    def _degrees(self, way: Way, live: Classes) -> Int64:
        if way in self.counted:
            return _degrees(self.counted[way], live)
        return self._edges[way].slabs.live.astype(np.int64)

    def _numbers(self, table: Int32) -> Int32:
        """The numbers of some vertices in this task."""
        wide = table.astype(np.int64)
        owners, numbers = self.placement.owners(wide), self.placement.local(wide)
        foreign = owners != self.task
        keys = self._mirror_keys
        wanted = owners[foreign].astype(np.int64) * self.placement.vertices + wide[foreign]
        numbers[foreign] = self.owned + np.searchsorted(keys, wanted)
        return numbers.astype(np.int32)

    @cached_property
    def _mirror_keys(self) -> Int64:
        """The mirrors as numbers that are in their order."""
        owners = self.placement.owners(self.mirrors).astype(np.int64)
        return owners * self.placement.vertices + self.mirrors


def _degrees(shards: Sequence[ShardEdges], live: NDArray[np.bool_]) -> Int64:
    """How many live edges the vertices of some shards have."""
    degrees = [np.empty(0, np.int64)]
    for item in shards:
        before = np.concatenate([[0], np.cumsum(live[item.classes], dtype=np.int64)])
        degrees.append(np.diff(before[item.start]))
    return np.concatenate(degrees)
