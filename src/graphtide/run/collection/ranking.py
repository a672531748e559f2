"""Who leads in each view, and which place a vertex has.

Greater values come first, the same ones in the order of their vertices, and last what is not
reached: nobody asks for the farthest vertex to see one without a way.

Whole results of each view are sorted. Of a run on shards, tasks tell the leaders, and the place of
a vertex in another view takes counting: how many vertices come before it. That is counted page by
page, and nothing is kept. Every step differs from the empty version, so that counts add up over its
files in any order: all vertices there, without those that changed, and these with their new values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.collection.contents import (
    BY_VIEW,
    RunContents,
    base_pages,
    field_pages,
    values_at,
)
from graphtide.run.collection.figures import (
    LEADERS,
    Partial,
    kept_of_views,
    newcomers,
    parts_of_views,
    unreached,
)

Int64 = NDArray[np.int64]
Led = tuple[Int64, NDArray[Any]]
"""The first vertices of each view, one row per view, and their values."""

Questions = tuple[Int64, Int64]
"""Views and vertices, in the order of the views: which place the one has in the other."""

LED = 100
"""A run on shards keeps this many leaders of each view."""


def ranked(contents: RunContents, field: str, values: NDArray[Any]) -> NDArray[Any]:
    """Values in the form that is ranked: what stands for `not reached` comes last."""
    return _reached_first(values) if far(contents, field) else values


def far(contents: RunContents, field: str) -> bool:
    """True where the greatest value of the type stands for what is not reached."""
    base = contents.base[field]
    return (unreached(base) or 0) > 0


def rank_keys(values: NDArray[Any], *, far: bool) -> NDArray[Any]:
    """What vertices are ranked by: the least is first, and NaN last; `far` as above."""
    return descending(_reached_first(values) if far else values)


def _reached_first(values: NDArray[Any]) -> NDArray[Any]:
    """Infinity as NaN, which comes last; ints one on, so that the greatest becomes the least."""
    if values.dtype.kind in "iu":
        return values + 1
    return np.where(values == np.inf, np.nan, values)


def descending(values: NDArray[Any]) -> NDArray[Any]:
    """Keys that fall as values rise; of whole numbers without rounding or overflow."""
    return ~values if values.dtype.kind in "iu" else -values.astype(np.float64)


class WholeRanking:
    """Leaders and places from the whole results of each view, which are sorted."""

    def __init__(self, contents: RunContents, field: str) -> None:
        self.contents = contents
        self.field = field

    def leaders(self, count: int) -> Led:
        """The first so many vertices of each view."""
        views, base = len(self.contents.finished_views()), self.contents.base[self.field]
        best, led = np.empty((views, count), np.int64), np.empty((views, count), base.dtype)
        for view, values, order in self._orders():
            best[view] = order[:count]
            led[view] = values[order[:count]]
        return best, led

    def places(self, questions: Questions) -> Int64:
        """The place of each vertex in its view."""
        places = np.empty(len(questions[0]), np.int64)
        for view, _, order in self._orders():
            rows = slice(*np.searchsorted(questions[0], [view, view + 1]))
            places[rows] = np.argsort(order)[questions[1][rows]] + 1
        return places

    def newcomers(self, best: Int64, values: NDArray[Any]) -> NDArray[np.bool_]:
        """True for leaders that have their own value only since this view; one row per view."""
        return newcomers(self.contents, self.field, best, values)

    def _orders(self) -> Iterator[tuple[int, NDArray[Any], Int64]]:
        """Views in the order of the plan, with their values and all vertices in order."""
        contents = self.contents
        views = contents.finished_views()
        for at in np.argsort(contents.step_of[views], kind="stable").tolist():
            values = contents.values(views[at])[self.field]
            order = descending(ranked(contents, self.field, values))
            yield at, values, np.argsort(order, kind="stable")


class CountingRanking(WholeRanking):
    """The same of the vertices that count in each view, such as those that a window touches.

    Leaders are -1 behind the last that counts; the place of a vertex that does not count is 0.
    """

    def leaders(self, count: int) -> Led:
        """The first so many vertices of each view."""
        views, base = len(self.contents.finished_views()), self.contents.base[self.field]
        best, led = np.full((views, count), -1), np.full((views, count), base[:1], base.dtype)
        for view, values, order in self._orders():
            first = order[:count]
            best[view, : len(first)], led[view, : len(first)] = first, values[first]
        return best, led

    def places(self, questions: Questions) -> Int64:
        places = np.empty(len(questions[0]), np.int64)
        all_places = np.zeros(self.contents.count(self.field), np.int64)
        for view, _, order in self._orders():
            rows = slice(*np.searchsorted(questions[0], [view, view + 1]))
            all_places[order] = np.arange(1, len(order) + 1)
            places[rows] = all_places[np.maximum(questions[1][rows], 0)]
            all_places[order] = 0
        return places

    def newcomers(self, best: Int64, values: NDArray[Any]) -> NDArray[np.bool_]:
        """True for leaders that have their own value only since this view; one row per view."""
        return super().newcomers(np.maximum(best, 0), values)

    def _orders(self) -> Iterator[tuple[int, NDArray[Any], Int64]]:
        """Views in the order of the plan, with their values and the vertices that count, in order.

        O(vertices) a view, and sorting those that count.
        """
        contents = self.contents
        views = contents.finished_views()
        for at in np.argsort(contents.step_of[views], kind="stable").tolist():
            values, mask = contents.values(views[at])[self.field], BY_VIEW.mask(contents, views[at])
            counting = np.arange(len(values)) if mask is None else np.flatnonzero(mask)
            keys = descending(ranked(contents, self.field, values[counting]))
            yield at, values, counting[np.argsort(keys, kind="stable")]


def first_ranked(keys: NDArray[Any], vertices: Int64, count: int) -> NDArray[np.intp]:
    """The places of the least keys, NaN last and the same ones by vertex. O(keys)."""
    chosen = np.arange(len(keys))
    if len(keys) > count:
        bound = np.partition(keys, count - 1)[count - 1]
        last = bool(bound != bound)
        sure = np.flatnonzero(keys == keys if last else keys < bound)
        tied = np.flatnonzero(keys != keys if last else keys == bound)
        tied = tied[np.argsort(vertices[tied], kind="stable")[: count - len(sure)]]
        chosen = np.concatenate([sure, tied])
    return chosen[np.lexsort((vertices[chosen], keys[chosen]))]


def partial_leaders(values: NDArray[Any], vertices: Int64, *, far: bool) -> Partial:
    """The leaders among some vertices, with their values; `far` as in `rank_keys`."""
    first = first_ranked(rank_keys(values, far=far), vertices, LED)
    leaders = {"vertices": vertices[first].tolist(), "values": values[first].tolist()}
    return {**leaders, "kind": values.dtype.str, "far": far}


def joined_leaders(partials: Sequence[Partial]) -> Partial:
    """The leaders among all vertices, from those of disjoint sets of them."""
    kind, far = (partials[0][name] for name in ("kind", "far"))
    values = np.concatenate([np.array(item["values"], kind) for item in partials])
    vertices = np.concatenate([np.array(item["vertices"], np.int64) for item in partials])
    return partial_leaders(values, vertices, far=far)


Truths = NDArray[np.bool_]


class ShardRanking(WholeRanking):
    """Leaders and places without whole results."""

    def __init__(self, contents: RunContents, field: str) -> None:
        super().__init__(contents, field)
        told = kept_of_views(contents, LEADERS, field)
        self._far = bool(told and told[0]["far"])
        self._parts = parts_of_views(contents)

    def leaders(self, count: int) -> Led:
        """The first so many vertices of each view."""
        partials, empty = kept_of_views(self.contents, LEADERS, self.field), self.contents.empty
        assert partials is not None
        kind = empty(self.field)
        best = np.array([item["vertices"][:count] for item in partials], np.int64)
        led = np.array([item["values"][:count] for item in partials], kind.dtype)
        return best.reshape(len(partials), count), led.reshape(len(partials), count)

    def places(self, questions: Questions) -> Int64:
        places = np.empty(len(questions[0]), np.int64)
        for view in np.unique(questions[0]).tolist():
            rows = slice(*np.searchsorted(questions[0], [view, view + 1]))
            places[rows] = self._places(self._parts[view], questions[1][rows])
        return places

    def newcomers(self, best: Int64, values: NDArray[Any]) -> Truths:
        """True for each leader that has a value of its own only since this view."""
        new = np.zeros(best.shape, np.bool_)
        for view in range(1, len(best)):
            before, now = (self._changed(self._parts[at], best[view]) for at in (view - 1, view))
            new[view] = now & ~before
        return new

    def _changed(self, part: int, vertices: Int64) -> Truths:
        """Which vertices have a value of their own there: one that is listed as changed."""
        pages = field_pages(self.contents, part, self.field, ["vertex"])
        changed = np.zeros(len(vertices), np.bool_)
        for page in pages:
            changed |= np.isin(vertices, page["vertex"])
        return changed

    def _places(self, part: int, vertices: Int64) -> Int64:
        values = values_at(self.contents, part, self.field, vertices)
        keys = rank_keys(values, far=self._far)
        places = np.ones(len(vertices), np.int64)
        for page in field_pages(self.contents, part, self.field):
            places += self._before(page["vertex"], page["new"], vertices, keys)
            places -= self._before(page["vertex"], page["old"], vertices, keys)
        for page in base_pages(self.contents, self.field):
            places += self._before(page["vertex"], page["value"], vertices, keys)
        return places

    def _before(
        self, vertices: Int64, values: NDArray[Any], asked: Int64, keys: NDArray[Any]
    ) -> Int64:
        """How many of some vertices come before each of those that are asked for."""
        there = rank_keys(values, far=self._far)
        counts = []
        for vertex, key in zip(asked.tolist(), keys, strict=True):
            same, less = (there == key), (there < key)
            if key != key:
                same, less = (there != there), (there == there)
            counts.append(np.count_nonzero(less | (same & (vertices < vertex))))
        return np.array(counts, np.int64)


def kept_ranking(contents: RunContents, field: str, count: int) -> ShardRanking | None:
    """Rankings from what tasks have told; None where they have not, or of fewer leaders."""
    if count > LED or kept_of_views(contents, LEADERS, field) is None:
        return None
    return ShardRanking(contents, field)
