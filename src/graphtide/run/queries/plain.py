"""What a query means, by its definition: no automaton, no state, no kernel.

A walk is at a vertex with what is left to be read of the path; every edge takes a step of that. The
rest of a path is a tuple of parts, and a letter leaves several rests of it. All walks are followed
from the start, those that cost least first. Much slower than the engine, and used to verify it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

from graphtide.plan import regular_paths as paths

Rest = tuple[paths.RegularPath, ...]


class PlainEdge(NamedTuple):
    """An edge as a walk meets it: where it leads, by which way, with its label and cost."""

    end: int
    back: bool
    label: paths.Label | None
    cost: float


Edges = dict[int, list[PlainEdge]]
"""The edges at each vertex, both ways."""


def plain_answers(
    path: paths.RegularPath, edges: Edges, start: int, bound: float
) -> dict[int, float]:
    """The vertices that walks of a path lead to, and the least cost of one."""
    follow = _Rests()
    best: dict[tuple[int, Rest], float] = {}
    todo: list[tuple[float, int, int, Rest]] = [(0.0, 0, start, (path,))]
    costs: dict[int, float] = {}
    pushed = 0
    while todo:
        cost, _, vertex, rest = heapq.heappop(todo)
        if best.get((vertex, rest), float("inf")) <= cost:
            continue
        best[vertex, rest] = cost
        if all(map(takes_nothing, rest)):
            costs.setdefault(vertex, cost)
        for edge in edges.get(vertex, ()):
            total = cost + edge.cost
            if total <= bound:
                for left in follow.after(rest, edge.label, edge.back):
                    pushed += 1
                    heapq.heappush(todo, (total, pushed, edge.end, left))
    return costs


def takes_nothing(path: paths.RegularPath) -> bool:
    """Whether a walk without edges is of the path."""
    match path:
        case paths.Step() | paths.Except():
            return False
        case paths.Inverse(inner):
            return takes_nothing(inner)
        case paths.Sequence(parts):
            return all(map(takes_nothing, parts))
        case paths.Alternative(parts):
            return any(map(takes_nothing, parts))
        case paths.Repeat(inner, least, most):
            return least == 0 or most == 0 or takes_nothing(inner)


class _Rests:
    """Remembers what letters leave of rests."""

    def __init__(self) -> None:
        self._known: dict[tuple[Rest, paths.Label | None, bool], tuple[Rest, ...]] = {}

    def after(self, rest: Rest, label: paths.Label | None, back: bool) -> tuple[Rest, ...]:
        key = rest, label, back
        if key not in self._known:
            self._known[key] = tuple(dict.fromkeys(_after(rest, label, back)))
        return self._known[key]


def _after(rest: Rest, label: paths.Label | None, back: bool) -> Iterator[Rest]:
    for at, part in enumerate(rest):
        for left in _left_of(part, label, back):
            yield (*left, *rest[at + 1 :])
        if not takes_nothing(part):
            return


def _left_of(path: paths.RegularPath, label: paths.Label | None, back: bool) -> Iterator[Rest]:
    """What is left of one part once a letter has been read in it."""
    match path:
        case paths.Step(name):
            if label == name and not back:
                yield ()
        case paths.Except(names, against):
            named = against if back else names
            if named is not None and (not named or (label is not None and label not in named)):
                yield ()
        case paths.Sequence(parts):
            yield from _after(parts, label, back)
        case paths.Alternative(parts):
            for part in parts:
                yield from _left_of(part, label, back)
        case paths.Repeat(inner, least, most):
            if most != 0:
                again = paths.Repeat(inner, max(least - 1, 0), None if most is None else most - 1)
                for left in _left_of(inner, label, back):
                    yield (*left, again)
        case paths.Inverse(inner):
            yield from _left_of_inverse(inner, label, back)


def _left_of_inverse(
    path: paths.RegularPath, label: paths.Label | None, back: bool
) -> Iterator[Rest]:
    """The same of a path that is walked from its end: inverses move down to the steps."""
    match path:
        case paths.Step() | paths.Except():
            yield from _left_of(path, label, not back)
        case paths.Inverse(inner):
            yield from _left_of(inner, label, back)
        case paths.Sequence(parts):
            yield from _after(tuple(paths.Inverse(part) for part in reversed(parts)), label, back)
        case paths.Alternative(parts):
            for part in parts:
                yield from _left_of(paths.Inverse(part), label, back)
        case paths.Repeat(inner, least, most):
            yield from _left_of(paths.Repeat(paths.Inverse(inner), least, most), label, back)
