"""The strategy that learns: every step by the way that is expected to be the fastest.

The price of a way includes what its state is worth to the steps below, since the sizes and deltas
of all steps are known beforehand. So the strategy hardly has to try anything: the first step shows
what a run from scratch takes, and the steps that it follows because that should pay show the rest.
It tries a way that is not expected to pay, and could, as long as all trials together take no more
than a small share of the run; each trial in vain doubles the time until the next.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.expected import Expected
from graphtide.optimize.outlook import Outlook
from graphtide.optimize.prices import expected_gains
from graphtide.optimize.strategy import LONGEST_STRETCH, Move, Observation, StepSizes

TRIAL_SHARE = 0.03
"""The share of its time that a run may spend on trying what it does not expect to be better."""

TRIAL_EVERY = 8
"""The least number of steps from the last time that a strategy was seen to its next trial."""

LOOKAHEAD, LOOKAHEAD_FAR = 1 << 10, 1 << 12
"""How many steps ahead the worth of a state is looked for, and where states are dear."""

_CERTAIN, _FAR = 2.0, 4.0
_FIRST_STRETCH, _STRETCH_SHARE, _LEARNED, _SAMPLED = 4e-3, 0.25, 16, 4
_MOST_ASKED = 1 << 13
_LARGE = 0.25
_AS_EXPECTED, _UNLOOKED = 0.15, 8
_LATER = 0.75


class Adaptive:
    """The cheapest way by what was measured so far."""

    def __init__(self, sizes: StepSizes) -> None:
        self._version: list[int] = sizes.version.tolist()
        self._end: list[int] = sizes.end.tolist()
        self._parent: list[int] = sizes.parent.tolist()
        self._empty = sizes.start
        self._expected = Expected(sizes)
        self._gains = expected_gains(sizes, TRIAL_SHARE)
        self._outlook, self._learned = Outlook(sizes), True
        self._ahead = LOOKAHEAD if self._gains is None else LOOKAHEAD_FAR
        self._spent = self._tried = 0.0
        self._scratch_trial = self._follow_trial = TRIAL_EVERY
        self._scratch_wait = self._follow_wait = TRIAL_EVERY
        self._trial = -1
        self._far = False
        self._unlooked = 0

    def choose(self, step: int, ready: bool) -> Move:
        """The way of the least expected time, the worth of its state taken off."""
        if self._too_dear(step):
            return Move.PASS
        if not self._expected.known:
            return self._first(step)
        if ready and step == self._trial:
            return Move.FOLLOW
        self._look(step, step + self._ahead)
        move = self._outlook.move(step, ready)
        return self._tried_again(step, ready) if move == Move.PASS else move

    def predict(self, step: int) -> tuple[float, float]:
        """Seconds of following the delta, and of a run from scratch that leaves no state."""
        if not self._expected.known:
            return math.nan, math.nan
        if not self._outlook.covers(step):
            self._look(step, step + self._ahead)
        return self._outlook.seconds(step)

    def observe(self, step: int, seen: Observation) -> None:
        """Teach what the move concerns; a step that was followed as expected teaches nothing."""
        move, expected = seen.move, self._expected
        took = seen.started + seen.followed
        self._spent += took
        self._unlooked += 1
        if self._surprising(step, move, took):
            self._learned |= not self._far_from_scratch(step, move, took)
        elif move == Move.FOLLOW and step != self._trial:
            self._follow_trial = step + self._follow_wait
            return
        expected.saw_flips(step, seen.flipped)
        if move == Move.RESTART:
            expected.saw_start(self._parent_size(step), seen.started)
        elif move == Move.SPLIT:
            expected.saw_start(self._version[step], seen.started - seen.flipped)
        elif move == Move.PASS:
            self._scratch_trial = max(self._scratch_trial, step + TRIAL_EVERY)
            expected.saw_scratch(step, seen.started - seen.flipped)
        if move <= Move.RESTART:
            self._followed(step, seen.followed)

    def certain(self, step: int, behind: int) -> int:
        """Steps for which following is expected to be the faster way, or fewer."""
        if step == self._trial or not self._expected.known:
            return 0
        self._look(step, max(min(behind, step + _MOST_ASKED), step + self._ahead))
        count = self._outlook.followed(step, behind)
        follow, scratch = self._outlook.sums(step, count)
        self._far = _FAR * follow <= scratch
        return count

    def patience(self) -> float:
        """A share of the time so far: what is wrong is noticed before it matters.

        Where steps have been followed, and scratch is far from it, as long as may be: a step that
        turned out to be dear would end the stretch.
        """
        if self._far and self._expected.follow_seen:
            return LONGEST_STRETCH
        return min(LONGEST_STRETCH, max(_FIRST_STRETCH, _STRETCH_SHARE * self._spent))

    def observe_stretch(self, step: int, seconds: NDArray[np.float64]) -> None:
        """Teach what some of the last steps took; older ones are forgotten anyway."""
        self._spent += float(seconds.sum())
        self._learned = True
        told = range(max(0, len(seconds) - _LEARNED), len(seconds), _SAMPLED)
        self._expected.saw_stretch({step + at: float(seconds[at]) for at in told})
        self._follow_trial = step + len(seconds) + TRIAL_EVERY

    def observe_stuck(self, step: int) -> None:
        """From here on following takes what a start takes."""
        self._learned = True
        self._expected.saw_border(step)

    def probes(self, step: int) -> bool:
        """True where a run from scratch could be the faster way, and has not been seen lately."""
        if step < self._scratch_trial and self._expected.scratch_seen:
            return False
        if self._expected.is_free(step):
            return False
        follow, scratch = self.predict(step)
        return follow * _CERTAIN > scratch > 0.0 and scratch <= self._budget(step)

    def observe_probe(self, step: int, seconds: float) -> None:
        """Teach what a run from scratch takes, but for its flips."""
        self._learned = True
        self._expected.saw_scratch(step, seconds)
        self._spent += seconds
        self._tried += seconds
        self._scratch_wait *= 2
        self._scratch_trial = step + self._scratch_wait

    def _look(self, step: int, behind: int) -> None:
        """Bring the outlook up to date."""
        if self._learned or not self._outlook.covers(step):
            self._outlook.look(step, behind, self._expected.lines())
            self._learned, self._unlooked = False, 0

    def _surprising(self, step: int, move: Move, seconds: float) -> bool:
        """True where a step took other than expected, or where the outlook is many steps old."""
        known = move in (Move.FOLLOW, Move.PASS) and self._outlook.covers(step)
        if not known or self._unlooked >= _UNLOOKED:
            return True
        expected = self._outlook.seconds(step)[move == Move.PASS]
        return not abs(seconds - expected) <= _AS_EXPECTED * seconds

    def _far_from_scratch(self, step: int, move: Move, seconds: float) -> bool:
        """True where a step was followed so fast, as was expected, that nothing else is chosen."""
        if move != Move.FOLLOW or not self._outlook.covers(step) or self._unlooked >= _UNLOOKED:
            return False
        follow, scratch = self._outlook.seconds(step)
        return _FAR * max(follow, seconds) <= scratch

    def _first(self, step: int) -> Move:
        """With a state where the next step is expected to make use of it."""
        below, expected = step + 1, self._expected
        if self._end[step] == below or expected.share(below) >= _LARGE or expected.beyond(below):
            return Move.PASS
        return Move.SPLIT

    def _too_dear(self, step: int) -> bool:
        """True where no state was ever used, and none is known to pay from here on."""
        if self._gains is None or self._expected.follow_seen:
            return False
        return self._gains[step] <= 0.0

    def _followed(self, step: int, seconds: float) -> None:
        scratch = self._outlook.seconds(step)[1]
        self._expected.saw_following(step, seconds)
        if step == self._trial:
            self._tried += max(0.0, seconds - scratch)
            self._follow_wait = TRIAL_EVERY if seconds <= scratch else 2 * self._follow_wait
        self._follow_trial = step + self._follow_wait

    def _budget(self, step: int) -> float:
        """Seconds that a trial may take now: some from the start, the rest little by little."""
        left = len(self._end) - step
        accrued = 1.0 - _LATER * left / len(self._end)
        whole = self._spent + self._expected.cheaper_rest(step)
        return TRIAL_SHARE * accrued * whole - self._tried

    def _parent_size(self, step: int) -> int:
        parent = self._parent[step]
        return self._empty if parent < 0 else self._version[parent]

    def _behind_siblings(self, step: int) -> int:
        parent = self._parent[step]
        return len(self._end) if parent < 0 else self._end[parent]

    def _tried_again(self, step: int, ready: bool) -> Move:
        """Now and then a state where none pays, to see whether following has become cheaper.

        The step itself is followed where there is a state, or where steps beside it can use one;
        otherwise a state is left to the step below.
        """
        if step < self._follow_trial:
            return Move.PASS
        below = step + 1 < self._end[step]
        outlook, expected = self._outlook, self._expected
        if ready:
            move, tried, states = Move.FOLLOW, step, 0.0
        elif below:
            move, tried = Move.SPLIT, step + 1
            states = outlook.split(step) - outlook.seconds(step)[1]
        elif step + 1 < self._behind_siblings(step):
            move, tried, states = Move.RESTART, step, expected.start(self._parent_size(step))
        else:
            return Move.PASS
        follow, scratch = outlook.seconds(tried)
        if states + follow - scratch > self._budget(step):
            self._follow_trial = step + TRIAL_EVERY // 2
            return Move.PASS
        self._tried += max(0.0, states)
        self._trial = tried
        return move
