"""Leaders and places of every view, kept from what changes between views."""

from __future__ import annotations

import numpy as np

from graphtide.kernels.summaries.leaders import follow_leaders
from graphtide.kernels.summaries.records import Asked, FoundLeaders
from graphtide.kernels.summaries.value_blocks import blocks_of
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.followed import holds_floats
from graphtide.run.collection.ranking import Int64, Led, Questions, WholeRanking, far, ranked
from graphtide.run.collection.walks import Walk

_NONE = np.empty(0, np.int64)


def followed_ranking(contents: RunContents, field: str) -> WholeRanking | None:
    """The ranking of a result; None where kernels cannot hold its values."""
    return FollowedRanking(contents, field) if holds_floats(contents, field) else None


class FollowedRanking(WholeRanking):
    """The same as from whole results, at the cost of the differences."""

    def leaders(self, count: int) -> Led:
        """The first so many vertices of each view."""
        led = self._follow(count, (_NONE, _NONE))
        values = led.values
        if far(self.contents, self.field):
            values = np.where(np.isnan(values), np.inf, values)
        return led.vertices, values.astype(self.contents.base[self.field].dtype)

    def places(self, questions: Questions) -> Int64:
        """The place of each vertex in its view."""
        return self._follow(0, questions).places

    def _follow(self, count: int, questions: Questions) -> FoundLeaders:
        views = len(self.contents.finished_views())
        starts = np.searchsorted(questions[0], np.arange(views + 1))
        wanted = Asked(starts, np.ascontiguousarray(questions[1]))
        led = np.zeros((views, count), np.int64), np.zeros((views, count))
        leaders = FoundLeaders(*led, np.zeros(len(questions[1]), np.int64))
        contents, field = self.contents, self.field
        blocks = blocks_of(ranked(contents, field, contents.base[field]).astype(np.float64))
        for part in Walk(contents).parts(field, np.float64):
            old, new = (ranked(contents, field, item) for item in (part.old, part.new))
            changes = part.vertices, old, new
            follow_leaders(part.moves, changes, blocks, wanted, leaders)
        return leaders
