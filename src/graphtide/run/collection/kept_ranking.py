"""Who leads in the views of a run on shards, from what tasks have told, and from bounded pages.

Leaders are told. Where one of them stood in another view takes counting: how many vertices come
before it. That is counted page by page, and nothing is kept. Every step differs from the empty
version, so that counts add up over its files in any order: all vertices there, without those that
changed, and these with their new values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.kept_figures import LEADERS, kept_of_views, parts_of_views
from graphtide.run.collection.part_pages import base_pages, field_pages, values_at
from graphtide.run.collection.ranking import LED, Int64, Led, Questions, WholeRanking, rank_keys

Truths = NDArray[np.bool_]


class KeptRanking(WholeRanking):
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
        """The place of each vertex in its view."""
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


def kept_ranking(contents: RunContents, field: str, count: int) -> KeptRanking | None:
    """Rankings from what tasks have told; None where they have not, or of fewer leaders."""
    if count > LED or kept_of_views(contents, LEADERS, field) is None:
        return None
    return KeptRanking(contents, field)
