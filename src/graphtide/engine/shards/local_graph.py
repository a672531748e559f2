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
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.shards.placement import Placement
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.shards.local_edges import take_live, turn_round
from graphtide.model.errors import LimitError

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Way = Literal["into", "out"]
"""Edges by destination, as messages along edges are gathered; or by source, for the other way."""


WAYS: tuple[Way, Way] = ("into", "out")


MOST_EDGES = 2**31 - 1
"""Edges are numbered by 32 bits within a task."""


SHARED_REACH = 2
"""Views share the way from vertices to those that gather from them where they have at least one of
so many edges. To find it takes half of what a view begins with; with edges that a view does not
have, a change has more vertices to look at."""


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


class Version(NamedTuple):
    """What is live in a view: along which edges own vertices gather, and whom a vertex reaches.

    `reach` may have edges of other views as well.

    `places` says for each way, shard by shard, which edges of the shard are live. Edges are
    numbered in that order, those of both ways one after the other. Degrees are those of own
    vertices.
    """

    graph: Adjacency
    reach: Adjacency
    places: Mapping[Way, Sequence[Int64]]
    degrees: Mapping[Way, Int64]

    @property
    def edges(self) -> int:
        """How many edges own vertices gather along."""
        return sum(len(slabs.neighbour) for slabs in self.graph)


@dataclass(frozen=True)
class LocalGraph:
    """The shards of a task, by way: those that messages go, and those that only degrees need."""

    placement: Placement
    task: int
    gathered: Mapping[Way, Sequence[ShardEdges]]
    counted: Mapping[Way, Sequence[ShardEdges]]
    _whole_reach: dict[Way, Slabs] = field(default_factory=dict, repr=False, compare=False)

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
        found = np.unique(np.concatenate([np.empty(0, np.int32), *tables])).astype(np.int64)
        owners = self.placement.owners(found)
        found, owners = found[owners != self.task], owners[owners != self.task]
        by_owner: Int64 = found[np.argsort(owners, kind="stable")]
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

    def version(self, live: NDArray[np.bool_]) -> Version:
        """The edges of some classes. O(edges)."""
        graph: dict[str, Slabs] = {}
        reach: dict[str, Slabs] = {}
        places: dict[Way, Sequence[Int64]] = {}
        degrees: dict[Way, Int64] = {}
        for way in WAYS:
            first = len(graph["into"].neighbour) if graph else 0
            slabs, places[way] = self._slabs(way, live, first)
            graph[way], degrees[way] = slabs, slabs.live.astype(np.int64)
            reach[way] = self._reach(way, slabs)
            if way in self.counted:
                degrees[way] = _degrees(self.counted[way], live)
        # A change of u reaches those that gather from it along edges into them: the way out.
        return Version(
            Adjacency(out=graph["out"], into=graph["into"]),
            Adjacency(out=reach["into"], into=reach["out"]),
            places,
            degrees,
        )

    def _reach(self, way: Way, slabs: Slabs) -> Slabs:
        """Whom a vertex reaches along live edges, or along all that there are in any view.

        Whoever is told of a change without an edge from there gathers what it gathered before,
        which changes nothing. So all views share one list, as long as they have most of the edges.
        """
        total = sum(len(item.ends) for item in self.gathered.get(way, ()))
        if SHARED_REACH * len(slabs.neighbour) < total:
            return self._turned(slabs)
        if way not in self._whole_reach:
            whole = slabs
            if len(slabs.neighbour) < total:
                most = max(int(item.classes.max(initial=0)) for item in self.gathered[way])
                whole, _ = self._slabs(way, np.ones(most + 1, np.bool_), 0)
            self._whole_reach[way] = self._turned(whole)
        return self._whole_reach[way]

    def _turned(self, slabs: Slabs) -> Slabs:
        turned = empty_slabs(self.vertices, len(slabs.neighbour))
        turn_round(slabs, turned)
        return turned

    def _slabs(
        self, way: Way, live: NDArray[np.bool_], first_edge: int
    ) -> tuple[Slabs, list[Int64]]:
        shards, numbers = self.gathered.get(way, ()), self._ends[way]
        count = sum(int(np.count_nonzero(live[item.classes])) for item in shards)
        if first_edge + count > MOST_EDGES:
            raise LimitError(
                f"a task would have {first_edge + count:,} edges, and may have {MOST_EDGES:,}",
                hint="run on more tasks",
            )
        slabs, places = empty_slabs(self.owned, count, first_edge), np.empty(count, np.int64)
        found: list[Int64] = []
        first, at = 0, 0
        for item in shards:
            begin, rows = at, (item.start, item.ends, item.classes)
            at = take_live(rows, numbers[len(found)], live, slabs, places, first, at)
            first += len(item.start) - 1
            found.append(places[begin:at])
        return slabs, found

    @cached_property
    def _ends(self) -> dict[Way, list[Int32]]:
        """The numbers of the other ends in this task, for the table of each shard.

        Once for all views: to find them takes as long as everything else that a view begins with.
        """
        return {
            way: [self._numbers(item.table) for item in self.gathered.get(way, ())] for way in WAYS
        }

    def _numbers(self, table: Int32) -> Int32:
        """The numbers of some vertices in this task."""
        wide = table.astype(np.int64)
        owners, found = self.placement.owners(wide), self.placement.local(wide)
        foreign = owners != self.task
        keys = self._mirror_keys
        wanted = owners[foreign].astype(np.int64) * self.placement.vertices + wide[foreign]
        found[foreign] = self.owned + np.searchsorted(keys, wanted)
        return found.astype(np.int32)

    @cached_property
    def _mirror_keys(self) -> Int64:
        """The mirrors as numbers that are in their order."""
        owners = self.placement.owners(self.mirrors).astype(np.int64)
        return owners * self.placement.vertices + self.mirrors


def empty_slabs(vertices: int, entries: int, first_edge: int = 0) -> Slabs:
    """Slabs of so many vertices that are to be filled; edges are numbered in their order."""
    none = np.empty(0, np.int32)
    return Slabs(
        start=np.zeros(vertices, np.int64),
        live=np.zeros(vertices, np.int32),
        used=none,
        room=none,
        neighbour=np.empty(entries, np.int32),
        edge=np.arange(first_edge, first_edge + entries, dtype=np.int32),
        slot=none,
    )


def _degrees(shards: Sequence[ShardEdges], live: NDArray[np.bool_]) -> Int64:
    """How many live edges the vertices of some shards have."""
    found = [np.empty(0, np.int64)]
    for item in shards:
        before = np.concatenate([[0], np.cumsum(live[item.classes], dtype=np.int64)])
        found.append(np.diff(before[item.start]))
    return np.concatenate(found)
