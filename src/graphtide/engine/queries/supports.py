"""The way back along a best walk: the edge by which an entry came.

Entries have the sign of such an edge, which edges share; so it is looked for among those that lead
to the entry, when somebody asks for a path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtide.engine.queries.fixpoint import Fixpoints
from graphtide.engine.queries.searches import Search
from graphtide.kernels.queries.reading import find_support, list_equals

Item = tuple[int, int]
"""A vertex and a state."""

_AT_ONCE = 64
"""Supports that are listed in one go: no more room is needed to read an answer, however small the
budget is."""


class Entry(NamedTuple):
    """The cost of a walk, the edge by which the best one came (-1 at the start), and how."""

    value: float
    edge: int
    state: int
    back: bool


def entry_of(fixpoints: Fixpoints, number: int, search: Search, item: Item) -> Entry | None:
    """One entry of a search, or None; with the edge by which a best walk comes."""
    value = fixpoints.value(number, *item)
    if value == np.inf:
        return None
    if item == (search.start, 0):
        return Entry(value, -1, 0, False)
    return _came_by(fixpoints, number, search, item, value)


def _came_by(fixpoints: Fixpoints, number: int, search: Search, at: Item, value: float) -> Entry:
    """The last step of a best walk: from something that costs less, if there is such a step.

    Otherwise the first one of the shortest way against edges that add nothing to something
    that has such a step, or to the start: who goes on from there comes nearer, in no circle.
    """
    first: dict[Item, Entry] = {}
    waiting = [at]
    for item in waiting:
        for edge, vertex, before, back in _supports(fixpoints, number, *item):
            there, step = (vertex, before), Entry(value, edge, before, bool(back))
            ends = fixpoints.value(number, *there) < value or there == (search.start, 0)
            if ends and item == at:
                return step
            if ends:
                return first[item]
            if there not in first and there != at:
                first[there] = first.get(item, step)
                waiting.append(there)
    raise AssertionError("an entry rests on nothing")


def _supports(fixpoints: Fixpoints, number: int, vertex: int, state: int) -> list[list[int]]:
    """What an entry may have come by: edge, vertex, state and way. One that costs less, where
    there is one, or else all that cost the same.
    """
    words, key = fixpoints.words(), fixpoints.searches.base(number) + state
    came = np.empty((_AT_ONCE, 4), np.int32)
    if find_support(words, vertex, key, came[0]):
        return [came[0].tolist()]
    supports: list[list[int]] = []
    count = 1
    while len(supports) < count:
        count = list_equals(words, vertex, key, len(supports), came.reshape(-1))
        supports += came[: count - len(supports)].tolist()
    return supports
