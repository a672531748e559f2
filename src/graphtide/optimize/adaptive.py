"""The strategy that learns: every step by the way that is expected to be the fastest.

Two lines are learned, one observation at a time, old ones fading: the seconds of a run from scratch
over the size of the version, and those of following over the size of the delta. A run that leaves a
state takes a multiple of one that does not. All sizes are known beforehand, so that the best ways
through the next steps follow (`Outlook`): a state is made where the steps below are worth it. What
was never followed is tried now and then, as long as all trials together take no more than a small
share of the run.

Following ends at a border, a share of the version: a repair of more looks at too much, and the
maintainer breaks it off and starts anew. The border comes down to the first step that was broken
off, and goes up when a step beyond it goes well. Before a step was followed, following an edge is
assumed to cost what a run from scratch takes for a few edges. For a program that adds up the border
is near zero then: within a few rounds any change reaches nearly everything.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.best_ways import FLIP, PlanSizes, WayLines, Ways, best_ways
from graphtide.optimize.strategy import Chooser, Move, Observation, StepSizes

FADE = 0.9
"""What an observation is worth after the next one: the last ten make the line."""

_ALIKE = 1e-9


class LinearModel:
    """`predict` is NaN until something was observed; never negative, never falling with size.

    `of_no_size` is what a run of no size takes, where what was seen does not tell.
    """

    def __init__(self, of_no_size: float = 0.0) -> None:
        self.observations = 0
        self.base = self.slope = math.nan
        self._of_no_size = of_no_size
        self._weight = self._size = self._time = 0.0
        self._squares = self._products = 0.0

    def observe(self, size: float, seconds: float) -> None:
        self.observations += 1
        self._weight = FADE * self._weight + 1.0
        self._size = FADE * self._size + size
        self._time = FADE * self._time + seconds
        self._squares = FADE * self._squares + size * size
        self._products = FADE * self._products + size * seconds
        self._fit()

    def predict(self, size: float) -> float:
        """Seconds that a run of this size is expected to take."""
        return self.base + self.slope * size

    def _fit(self) -> None:
        size, time = self._size / self._weight, self._time / self._weight
        spread = self._squares / self._weight - size * size
        if spread > _ALIKE * size * size:
            slope = (self._products / self._weight - size * time) / spread
            self.slope = max(0.0, slope)
            self.base = time - self.slope * size
            if self.base >= 0.0:
                return
        self.base = min(self._of_no_size, time) if size else time
        self.slope = (time - self.base) / size if size else 0.0


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


TRIAL_SHARE = 0.03
"""The share of its time that a run may spend on trying to follow where that should not pay. Without
trials, components of separate days took 3 times as long, and BFS 5 times."""

TRIAL_EVERY = 8
"""The least number of steps to the next trial; each one in vain doubles it."""

LOOKAHEAD, LOOKAHEAD_DEAR = 64, 1 << 12
"""Steps ahead for which the worth of a state is worked out, and where states are dear. One step
ahead took 5% longer on average and up to 43%; 1,024 gained nothing over 64."""

MOST_ASKED = 1 << 13
"""Steps that are promised to be followed at once."""


class Adaptive(Chooser):
    """The cheapest way by what was measured so far."""

    def __init__(self, sizes: StepSizes) -> None:
        self._version: list[int] = sizes.version.tolist()
        self._end: list[int] = sizes.end.tolist()
        self._parent: list[int] = sizes.parent.tolist()
        self._empty = sizes.start
        self._outlook = Outlook(sizes)
        dear = sizes.prices is not None
        self._begins_with_a_state = not (dear or sizes.spreads)
        self._ahead = LOOKAHEAD_DEAR if dear else LOOKAHEAD
        self._spent = self._tried = 0.0
        self._next_trial = self._wait = TRIAL_EVERY
        self._trial = -1

    def choose(self, step: int, ready: bool) -> Move:
        """The way of the least expected time, the worth of its state taken off."""
        if not self._outlook.known:
            last = self._end[step] == step + 1
            return Move.SPLIT if self._begins_with_a_state and not last else Move.PASS
        if ready and step == self._trial:
            return Move.FOLLOW
        self._outlook.look(step, step + self._ahead)
        move = self._outlook.move(step, ready)
        return self._tried_again(step, ready) if move == Move.PASS else move

    def predict(self, step: int) -> tuple[float, float]:
        """Seconds of following the delta, and of a run from scratch that leaves no state."""
        if not self._outlook.known:
            return math.nan, math.nan
        self._outlook.look(step, step + self._ahead)
        return self._outlook.seconds(step)

    def observe(self, step: int, seen: Observation) -> None:
        """Learn from what a step took, each part by the line that it belongs to."""
        self._spent += seen.started + seen.followed
        if seen.move == Move.RESTART:
            parent = self._parent[step]
            size = self._empty if parent < 0 else self._version[parent]
            self._outlook.saw_start(size, seen.started)
        elif seen.move == Move.SPLIT:
            self._outlook.saw_split(step, seen.started)
        elif seen.move == Move.PASS:
            self._outlook.saw_scratch(step, seen.started)
        if seen.move <= Move.RESTART:
            self._followed(step, seen.followed)

    def certain(self, step: int, behind: int) -> int:
        """Steps for which following is expected to be the faster way, or fewer."""
        if step == self._trial or not self._outlook.known:
            return 0
        self._outlook.look(step, max(min(behind, step + MOST_ASKED), step + self._ahead))
        return self._outlook.followed(step, behind)

    def observe_stretch(self, step: int, seconds: NDArray[np.float64]) -> None:
        behind, took = step + len(seconds), float(seconds.sum())
        self._spent += took
        self._outlook.saw_stretch(step, behind, took)
        self._next_trial = behind + TRIAL_EVERY

    def observe_stuck(self, step: int) -> None:
        """Learn that following this step costs as much as a start."""
        self._outlook.saw_border(step)

    def _followed(self, step: int, seconds: float) -> None:
        scratch = self.predict(step)[1]
        self._outlook.saw_following(step, seconds)
        if step == self._trial:
            self._tried += max(0.0, seconds - scratch)
            self._wait = TRIAL_EVERY if seconds <= scratch else 2 * self._wait
        self._next_trial = step + self._wait

    def _tried_again(self, step: int, ready: bool) -> Move:
        """Now and then a state where none pays, to see whether following has become cheaper.

        The step itself is followed where there is a state, or where steps beside it can use one;
        otherwise a state is left to the step below.
        """
        outlook, move, tried, states = self._outlook, Move.FOLLOW, step, 0.0
        if step < self._next_trial:
            return Move.PASS
        if not ready and step + 1 < self._end[step]:
            move, tried, states = Move.SPLIT, step + 1, outlook.state_here(step)
        elif not ready:
            move, states = Move.RESTART, outlook.state_above(step)
        if not outlook.covers(tried) or (move == Move.RESTART and self._is_last(step)):
            return Move.PASS
        follow, scratch = outlook.seconds(tried)
        if states + follow - scratch > TRIAL_SHARE * self._spent - self._tried:
            return Move.PASS
        self._tried += max(0.0, states)
        self._trial = tried
        return move

    def _is_last(self, step: int) -> bool:
        """True where no step beside this one comes behind it."""
        parent = self._parent[step]
        return step + 1 == (len(self._end) if parent < 0 else self._end[parent])
