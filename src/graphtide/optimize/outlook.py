"""What the ways through the steps to come are expected to take, and which are the best.

Two lines are learned: the seconds of a run from scratch over the size of the version, and those of
following over the size of the delta. A run that leaves a state takes a multiple of one that does
not. Following ends at a border, a share of the version: a repair of more looks at too much, and the
maintainer breaks it off and starts anew. The border comes down to the first step that was broken
off, and goes up when a step beyond it goes well.

Before a step was followed, following an edge is taken to cost what a run from scratch takes for a
few edges. For a program that adds up the border is near nothing then: within a few rounds any
change reaches nearly everything.
"""

from __future__ import annotations

import math

import numpy as np

from graphtide.kernels.runs.best_ways import FLIP, PlanSizes, WayLines, Ways, best_ways
from graphtide.optimize.linear_model import LinearModel
from graphtide.optimize.strategy import Move, StepSizes

STATE, STATE_OF_SUMS = 1.5, 20.0
"""A run from scratch that leaves a state, as a multiple of one that does not. Where a program adds
up, eight views are run as one if none leaves a state, so that one which does costs far more."""

BORDER_OF_SUMS = 1e-3
"""The border of programs that add up until one was followed beyond it. Without this few large
windows took 2.3 times as long for PageRank."""

CALL, LOOKS = 2e-5, 4.0
"""Following takes a call, and for an edge its flip and a run from scratch over so many edges, until
a step was followed."""

WIDER = 2.0
"""After a step beyond the border went well, the border is this many times its share."""

AS_EXPECTED = 0.15
"""A step that took what was expected, but for such a share, is no reason to look ahead anew."""

_MOVES = tuple(Move)


class Outlook:
    """Moves and seconds by step, as expected now. Compiles when it is made."""

    def __init__(self, sizes: StepSizes) -> None:
        count = len(sizes.end)
        free = np.zeros(count, np.bool_) if sizes.free is None else sizes.free
        self._plan = PlanSizes(
            np.ascontiguousarray(sizes.version, np.int64),
            np.ascontiguousarray(sizes.delta, np.int64),
            np.ascontiguousarray(sizes.parent, np.int32),
            np.ascontiguousarray(sizes.end, np.int32),
            free,
            sizes.start,
        )
        self._ways = Ways(*np.full((5, count), np.nan), *np.zeros((2, count), np.int8))
        self._prices = sizes.prices
        self._state = STATE_OF_SUMS if sizes.spreads else STATE
        if sizes.prices is not None:
            self._state = sizes.prices.state
        self._border = BORDER_OF_SUMS if sizes.spreads else math.inf
        self._scratch, self._follow = LinearModel(), LinearModel(CALL)
        self._largest, self._doubted = 0.0, -1
        self._first = self._behind = 0
        best_ways(0, 0, self._plan, WayLines(*[0.0] * len(WayLines._fields)), self._ways)

    @property
    def known(self) -> bool:
        """True once anything was run from scratch."""
        return self._scratch.observations > 0

    def look(self, first: int, behind: int) -> None:
        """Work out the best ways through these steps.

        What was worked out last still holds if nothing was learned since, and for its first half:
        behind that, too little lies ahead to tell what a state is worth.
        """
        if self._first <= first < (self._first + self._behind + 1) // 2:
            return
        scratch, follow = self._scratch, self._follow
        line = (follow.base, follow.slope) if follow.observations else self._before_following()
        lines = WayLines(scratch.base, scratch.slope, self._state, *line, self._border)
        self._first, self._behind = first, min(behind, len(self._plan.end))
        best_ways(self._first, self._behind, self._plan, lines, self._ways)

    def covers(self, step: int) -> bool:
        """True for a step that was looked at last."""
        return self._first <= step < self._behind

    def move(self, step: int, ready: bool) -> Move:
        """The best way, with a state at the parent or without."""
        ways = self._ways
        return _MOVES[int(ways.with_state[step] if ready else ways.without[step])]

    def seconds(self, step: int) -> tuple[float, float]:
        """What following a step takes, and what a run from scratch without a state does."""
        return float(self._ways.follow[step]), float(self._ways.scratch[step])

    def state_above(self, step: int) -> float:
        """What making a state at the parent of a step takes."""
        parent, plan = int(self._plan.parent[step]), self._plan
        size = plan.empty if parent < 0 else int(plan.version[parent])
        return self._state * self._scratch.predict(size)

    def state_here(self, step: int) -> float:
        """How much longer a run from scratch takes that leaves a state."""
        return float(self._ways.split[step] - self._ways.scratch[step])

    def followed(self, step: int, behind: int) -> int:
        """How many steps, from this one on, are best followed one after the other."""
        moves = self._ways.with_state[step : min(behind, self._behind)]
        places = moves.nonzero()[0]  # FOLLOW is 0.
        return int(places[0]) if len(places) else len(moves)

    def saw_start(self, size: int, seconds: float) -> None:
        """A state was made at a version of this size."""
        self._learn(self._scratch, size, seconds / self._state)

    def saw_split(self, step: int, seconds: float) -> None:
        """A step was run from scratch and left a state."""
        self.saw_start(int(self._plan.version[step]), self._without_flips(step, seconds))

    def saw_scratch(self, step: int, seconds: float) -> None:
        """A step was run from scratch and left none; a free one computed nothing."""
        if not self._plan.free[step]:
            seconds = self._without_flips(step, seconds)
            self._learn(self._scratch, int(self._plan.version[step]), seconds)

    def saw_following(self, step: int, seconds: float) -> None:
        """A step was followed: learn the line, or where it ends."""
        size, delta = int(self._plan.version[step]), int(self._plan.delta[step])
        if seconds - FLIP * delta >= self._state * self._scratch.predict(size):
            self.saw_border(step)
        else:
            self._went_well(delta, seconds, delta / size)

    def saw_stretch(self, first: int, behind: int, seconds: float) -> None:
        """These steps were followed together, in `seconds` for all of them."""
        deltas = self._plan.delta[first:behind]
        shares = deltas / self._plan.version[first:behind]
        count = behind - first
        self._went_well(float(deltas.mean()), seconds / count, float(shares.max()))

    def saw_border(self, step: int) -> None:
        """Following a step looked, or would look, at too much.

        Where larger deltas did not, it is believed when it happens to another step as well: one
        outage in a hundred that cuts off half of the grid says nothing of the others.
        """
        share = float(self._plan.delta[step] / self._plan.version[step])
        if share > self._largest or self._doubted not in (-1, step):
            self._border, self._largest = min(self._border, share), min(self._largest, share)
            self._behind = 0
        else:
            self._doubted = step

    def _went_well(self, delta: float, seconds: float, share: float) -> None:
        self._learn(self._follow, delta, seconds)
        self._largest, self._doubted = max(self._largest, share), -1
        if share >= self._border:
            self._border = WIDER * share

    def _learn(self, model: LinearModel, size: float, seconds: float) -> None:
        """Learn what a run took; unless that was expected, the outlook is out of date now."""
        expected = abs(model.predict(size) - seconds) <= AS_EXPECTED * seconds
        model.observe(size, seconds)
        self._behind = self._behind if expected else 0

    def _without_flips(self, step: int, seconds: float) -> float:
        """What a run from scratch took beside its flips, which are rarely the larger part."""
        return max(0.5 * seconds, seconds - FLIP * int(self._plan.delta[step]))

    def _before_following(self) -> tuple[float, float]:
        """What following takes a step and an edge, before anything was followed."""
        size = int(self._plan.version[0])
        each = self._scratch.predict(size) / size
        if self._prices is not None:
            return each * self._prices.step, each * self._prices.edge
        return CALL, FLIP + LOOKS * each
