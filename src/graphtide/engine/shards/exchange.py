"""What tasks tell each other: the states of own vertices that others have mirrors of.

An owner sends a changed state once to each task that has a mirror of it: where few changed, their
places among that task's mirrors and their states; where many did, the states of all mirrors there.
Each superstep is one message from each task to each other, however small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.shards.local_graph import LocalGraph

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
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
