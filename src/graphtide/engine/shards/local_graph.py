"""The graph as one task has it: its own vertices, mirrors of others, and the edges between.

The shard of a vertex is the remainder of its number by the number of shards: vertices of many edges
often have numbers near each other, and are spread so. The number of shards is fixed when they are
made; tasks take consecutive ones, as many as there are tasks at the time.

An edge lives with the vertex that gathers along it: in the shard of its destination, and once more
in that of its source for programs that go the other way. Own vertices have the first numbers, shard
by shard; behind them stand the mirrors, those of one owner together, in the order of their numbers.
A vertex has one mirror in a task, however many edges lead to it.

There is room for every edge of the shards, so that a view changes slabs in place, and those alone
that have an edge of a class that came or left. Which these are takes a look at the class of each
edge, a tenth of what it takes to pick the edges anew.

Kept true: live edges of a slab are in the order of the shard's file, whatever the number of tasks.
Sums are added in that order, so that results do not depend on it either. The number of an edge is
its place among all edges of the task, the same in every view.

An owner sends a changed state once to each task that has a mirror of it: where few changed, their
places among that task's mirrors and their states; where many did, the states of all mirrors there.
Each superstep is one message from each task to each other, however small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import (
    Adjacency,
    Partition,
    Rows,
    Slabs,
    mark_rows,
    slab_rows,
    take_rows,
    turn_round,
)
from graphtide.model.errors import LimitError

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Placement:
    """So many vertices in so many shards, which so many tasks hold."""

    vertices: int
    shards: int
    tasks: int

    @cached_property
    def task_of(self) -> Int32:
        return (np.arange(self.shards, dtype=np.int64) * self.tasks // self.shards).astype(np.int32)

    @cached_property
    def sizes(self) -> Int64:
        shard = np.arange(self.shards, dtype=np.int64)
        return np.maximum(0, (self.vertices - shard + self.shards - 1) // self.shards)

    @cached_property
    def first(self) -> Int64:
        """The number that the first vertex of each shard has in its task."""
        behind = np.cumsum(self.sizes)
        begins = behind - self.sizes
        tasks = self.task_of
        first_of_task = np.searchsorted(tasks, np.arange(self.tasks))
        offset = begins[np.minimum(first_of_task, self.shards - 1)]
        return np.asarray(begins - offset[tasks], np.int64)

    def shards_of(self, task: int) -> NDArray[np.intp]:
        """The shards of a task, none where there are more tasks than shards."""
        return np.flatnonzero(self.task_of == task)

    def owners(self, vertices: NDArray[Any]) -> Int32:
        owners: Int32 = self.task_of[vertices % self.shards]
        return owners

    def local(self, vertices: NDArray[Any]) -> Int64:
        """The numbers of some vertices in the tasks that own them."""
        numbers: Int64 = self.first[vertices % self.shards] + vertices // self.shards
        return numbers

    def owned(self, task: int) -> Int64:
        """The vertices of a task in the order of its own numbers."""
        shards = self.shards_of(task).tolist()
        made = [s + self.shards * np.arange(self.sizes[s], dtype=np.int64) for s in shards]
        return np.concatenate([np.empty(0, np.int64), *made])


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
        self._whole_reach: Rows | None = None

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
        return int(self.slabs.live.sum(dtype=np.int64))

    def reach(self, vertices: int, live: Classes) -> Rows:
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


def _turned(slabs: Slabs, vertices: int, live: int) -> Rows:
    turned = empty_slabs(vertices, live)._replace(edge=np.empty(0, np.int32))
    turn_round(slabs, turned)
    return slab_rows(turned)


Way = Literal["into", "out"]
"""Edges by destination, as messages along edges are gathered; or by source, for the other way."""


WAYS: tuple[Way, Way] = ("into", "out")


MOST_EDGES = 2**31 - 1
"""Edges are numbered by 32 bits within a task."""


class ShardVersion(NamedTuple):
    """What is live in a view: along which edges own vertices gather, and whom a vertex reaches.

    `live` are its classes. `reach` may have edges of other views as well. Degrees are those of own
    vertices. `lost` and `gained` are the own vertices that gather along an edge less or more than
    in the version that was made `before`, whose classes those are.
    """

    graph: Adjacency
    reach: Partition
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
        return self.placement.owned(self.task)

    @property
    def owned(self) -> int:
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
        return self.owned + len(self.mirrors)

    @property
    def known(self) -> Int64:
        return np.concatenate([self.own, self.mirrors])

    def version(self, live: Classes) -> ShardVersion:
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
        return ShardVersion(
            Adjacency(out=out.slabs, into=into.slabs),
            # A change of u reaches those that gather from it along edges into them: the way out.
            Partition(self.owned, out=reach["into"], into=reach["out"]),
            into.live + out.live,
            degrees,
            live,
            before,
            np.flatnonzero(marks & LOST).astype(np.int32),
            np.flatnonzero(marks & GAINED).astype(np.int32),
        )

    @cached_property
    def _last(self) -> dict[str, Classes]:
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
        wide = table.astype(np.int64)
        owners, numbers = self.placement.owners(wide), self.placement.local(wide)
        foreign = owners != self.task
        keys = self._mirror_keys
        wanted = owners[foreign].astype(np.int64) * self.placement.vertices + wide[foreign]
        numbers[foreign] = self.owned + np.searchsorted(keys, wanted)
        return numbers.astype(np.int32)

    @cached_property
    def _mirror_keys(self) -> Int64:
        owners = self.placement.owners(self.mirrors).astype(np.int64)
        return owners * self.placement.vertices + self.mirrors


def _degrees(shards: Sequence[ShardEdges], live: NDArray[np.bool_]) -> Int64:
    degrees = [np.empty(0, np.int64)]
    for item in shards:
        before = np.concatenate([[0], np.cumsum(live[item.classes], dtype=np.int64)])
        degrees.append(np.diff(before[item.start]))
    return np.concatenate(degrees)


Buffer = NDArray[Any]

MANY = 2
"""A task sends all mirrors where more than one in this many of its vertices changed."""

_HEAD = 8
_ROWS, _SPARSE, _TOLD = 0, 1, 2


class Mesh(Protocol):
    """All tasks of a run, as one of them reaches them."""

    @property
    def rank(self) -> int:
        """The number of this task."""

    @property
    def size(self) -> int:
        """How many tasks there are."""

    def exchange(self, sent: Mapping[int, Sequence[Buffer]]) -> dict[int, NDArray[np.uint8]]:
        """Send arrays to each other task, and take in what each of them sends."""


class Told(NamedTuple):
    """What the tasks said together: numbers added up, and the numbers of each."""

    total: Int64
    each: dict[int, Int64]


class MirrorExchange:
    """Who has mirrors of whom; asks all tasks when it is made."""

    def __init__(self, graph: LocalGraph, mesh: Mesh) -> None:
        self.mesh = mesh
        self._others = [task for task in range(mesh.size) if task != mesh.rank]
        self._first = graph.owned + graph.mirrors_of
        wanted = {
            task: [graph.mirrors[graph.mirrors_of[task] : graph.mirrors_of[task + 1]]]
            for task in self._others
        }
        requests = mesh.exchange(wanted)
        self._mirrored = {
            task: graph.placement.local(requests[task].view(np.int64)) for task in self._others
        }
        self._list_by_vertex(graph.owned)
        self.owned = graph.owned
        self.sent = 0
        """How many bytes of states were sent."""

    def _list_by_vertex(self, owned: int) -> None:
        """For each own vertex the tasks that have a mirror of it, and its place there."""
        none = np.empty(0, np.int64)
        vertices = np.concatenate([none, *self._mirrored.values()])
        tasks = [np.full(len(items), task) for task, items in self._mirrored.items()]
        places = [np.arange(len(items)) for items in self._mirrored.values()]
        order = np.argsort(vertices, kind="stable")
        self._tasks = np.concatenate([none, *tasks])[order]
        self._places = np.concatenate([none, *places])[order].astype(np.int32)
        self._start = np.searchsorted(vertices[order], np.arange(owned + 1))

    def everything(self, rows: Int64, told: Sequence[int] = ()) -> Told:
        """Send the rows of all own vertices that others know, and take in those of mirrors."""
        sent = {
            task: self._message(rows.take(self._mirrored[task], axis=0), None, told)
            for task in self._others
        }
        return self._take_in(rows, self.mesh.exchange(sent), told)[0]

    def changed(
        self, rows: Int64, changed: Int32, told: Sequence[int], *, exact: bool = False
    ) -> tuple[Told, Int32]:
        """Send the rows of own vertices that changed; returns mirrors, among them all that did.

        Where it is to be `exact`, no others.
        """
        if MANY * len(changed) > self.owned:
            sent = {
                task: self._message(rows.take(self._mirrored[task], axis=0), None, told)
                for task in self._others
            }
        else:
            sent = self._few(rows, changed, told)
        return self._take_in(rows, self.mesh.exchange(sent), told, exact=exact)

    def _few(self, rows: Int64, changed: Int32, told: Sequence[int]) -> dict[int, list[Buffer]]:
        counts = self._start[changed + 1] - self._start[changed]
        vertices = np.repeat(changed, counts)
        shifts = self._start[changed] - (np.cumsum(counts) - counts)
        entries = np.repeat(shifts, counts) + np.arange(len(vertices))
        tasks = self._tasks[entries]
        sent = {}
        for task in self._others:
            chosen = tasks == task
            places = self._places[entries[chosen]]
            sent[task] = self._message(rows.take(vertices[chosen], axis=0), places, told)
        return sent

    def _message(self, rows: Int64, places: Int32 | None, told: Sequence[int]) -> list[Buffer]:
        head = np.zeros(_HEAD, np.int64)
        head[_ROWS], head[_SPARSE] = len(rows), places is not None
        head[_TOLD : _TOLD + len(told)] = told
        self.sent += rows.nbytes + (0 if places is None else places.nbytes)
        message: list[Buffer] = [head, np.ascontiguousarray(rows).reshape(-1)]
        return message if places is None else [*message, places]

    def _take_in(
        self,
        rows: Int64,
        received: Mapping[int, NDArray[np.uint8]],
        told: Sequence[int],
        *,
        exact: bool = False,
    ) -> tuple[Told, Int32]:
        each = {self.mesh.rank: np.array(told, np.int64)}
        changed = [np.empty(0, np.int64)]
        width = rows.shape[1]
        for task in self._others:
            words = received[task]
            head = words[: 8 * _HEAD].view(np.int64)
            behind = 8 * (_HEAD + int(head[_ROWS]) * width)
            given = words[8 * _HEAD : behind].view(np.int64).reshape(-1, width)
            first = int(self._first[task])
            if head[_SPARSE]:
                places = first + words[behind:].view(np.int32).astype(np.int64)
                rows[places] = given
            else:
                # About half of them did: to find out which takes longer than it saves.
                places = np.arange(first, first + len(given))
                if exact:
                    places = places[(rows[places] != given).any(axis=1)]
                rows[first : first + len(given)] = given
            changed.append(places)
            each[task] = head[_TOLD : _TOLD + len(told)]
        total = np.array(list(each.values()), np.int64).sum(axis=0)
        return Told(total, each), np.concatenate(changed).astype(np.int32)
