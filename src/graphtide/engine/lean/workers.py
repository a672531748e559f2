"""Threads that share the parts of a phase among them, and the parts: about the same work each.

Parts have as many edges each, or as many listed vertices. They depend on the graph alone, and not
on how many threads share them. There are several for each thread of a large machine, so that
threads end at about the same time.

Kernels run without the interpreter's lock, so that threads of Python compute at the same time. The
thread that asks works too. A part is taken by whoever is free: which thread has it makes no
difference to what is computed. Where kernels are interpreted, threads would gain nothing, and the
parts are run one after the other.
"""

from __future__ import annotations

import itertools
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from graphtide.kernels.graph.adjacency import LeanGraph
from graphtide.kernels.jit import INTERPRETED
from graphtide.kernels.synchronous.rounds import VertexRange

Part = TypeVar("Part")
Result = TypeVar("Result")


class Workers:
    """So many threads, until the block that holds them is left."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.seconds = [0.0] * count
        """What each has taken of a processor for parts so far."""
        others = 0 if INTERPRETED else count - 1
        self._pool = ThreadPoolExecutor(others) if others else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def each(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """Do something with every part; results in the order of the parts.

        When this returns, everything is done: phases do not overlap. The first error is raised.
        """
        results: list[Any] = [None] * len(parts)
        places = itertools.count()

        def share(worker: int) -> None:
            began = time.thread_time()
            while (at := next(places)) < len(parts):
                results[at] = work(parts[at])
            self.seconds[worker] += time.thread_time() - began

        others = min(self.count, len(parts)) - 1
        if self._pool is None or others < 1:
            share(0)
            return results
        waiting = [self._pool.submit(share, worker) for worker in range(1, others + 1)]
        try:
            share(0)
        finally:
            errors = [item.exception() for item in waiting]
        for error in filter(None, errors):
            raise error
        return results


MOST_PARTS = 64
LEAST_WORK = 1 << 18
"""So many edges and vertices are gathered along in 0.4 ms; to hand a part over takes 10 us."""


class Room(NamedTuple):
    """Where the room of the first part begins, and how far it is from one to the next."""

    first: int = 0
    step: int = 0


NO_ROOM = Room()


def vertex_parts(
    lean: LeanGraph, *, forward: bool, backward: bool, room: Room = NO_ROOM
) -> list[VertexRange]:
    """Ranges of vertices with as many edges that bring messages."""
    into = lean.into.offsets if forward else None
    out = lean.out.offsets if backward else None

    def work(vertex: int) -> int:
        found = vertex
        for offsets in (into, out):
            found += 0 if offsets is None else int(offsets[vertex])
        return found

    return _cut(lean.vertices, work, room, everybody=True)


def listed_parts(count: int, work: int, room: Room = NO_ROOM) -> list[VertexRange]:
    """Parts of a list of so many vertices, which have about so much work in all."""
    each = max(1, work // max(1, count))
    return _cut(count, lambda place: place * each, room, everybody=False)


def _cut(
    count: int, work: Callable[[int], int], room: Room, *, everybody: bool
) -> list[VertexRange]:
    whole = work(count)
    parts = max(1, min(MOST_PARTS, whole // LEAST_WORK, count))
    inner = [
        bisect_left(range(count), whole * number // parts, key=work) for number in range(1, parts)
    ]
    cuts = sorted({0, *inner, count})
    ranges = pairwise(cuts)
    return [
        VertexRange(first, stop, everybody, room.first + room.step * at)
        for at, (first, stop) in enumerate(ranges)
    ]
