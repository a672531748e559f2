"""Parts of vertices that are about the same work: as many edges each, or as many listed vertices.

Parts depend on the graph alone, and not on how many threads share them. There are several for each
thread of a large machine, so that threads end at about the same time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from graphtide.kernels.graph.compressed import LeanGraph
from graphtide.kernels.lean.records import Span

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
) -> list[Span]:
    """Ranges of vertices with as many edges that bring messages."""
    into = lean.into.offsets if forward else None
    out = lean.out.offsets if backward else None

    def work(vertex: int) -> int:
        found = vertex
        for offsets in (into, out):
            found += 0 if offsets is None else int(offsets[vertex])
        return found

    return _cut(lean.vertices, work, room, everybody=True)


def listed_parts(count: int, work: int, room: Room = NO_ROOM) -> list[Span]:
    """Parts of a list of so many vertices, which have about so much work in all."""
    each = max(1, work // max(1, count))
    return _cut(count, lambda place: place * each, room, everybody=False)


def _cut(count: int, work: Callable[[int], int], room: Room, *, everybody: bool) -> list[Span]:
    whole = work(count)
    parts = max(1, min(MOST_PARTS, whole // LEAST_WORK, count))
    inner = [
        bisect_left(range(count), whole * number // parts, key=work) for number in range(1, parts)
    ]
    cuts = sorted({0, *inner, count})
    ranges = pairwise(cuts)
    return [
        Span(first, stop, everybody, room.first + room.step * at)
        for at, (first, stop) in enumerate(ranges)
    ]
