"""The strategy that learns: every step by the way that is expected to be the fastest.

What a state is worth to the steps below is part of the price: sizes and deltas of all steps are
known beforehand. Because they are, hardly anything has to be tried: the first step tells what a
run from scratch takes, and what is followed because it is expected to pay tells the rest. Only
what is not expected to pay, and could, is tried, as long as all trials together take no more than
a small share of the run; each trial in vain doubles the time until the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.expected import LOOKAHEAD, Expected
from graphtide.optimize.prices import expected_gains
from graphtide.optimize.strategy import LONGEST_STRETCH, Move, Observation, StepSizes

TRIAL_SHARE = 0.03
"""The share of its time that a run may spend on trying what it does not expect to be better."""

TRIAL_EVERY = 8
"""So many steps at least lie between what was seen of a strategy and its trial."""

LOOKAHEAD_FAR = 4096
"""How many steps ahead the worth of a state is looked for where states are dear."""

_CERTAIN, _FAR = 2.0, 4.0
_FIRST_STRETCH, _STRETCH_SHARE, _LEARNED = 4e-3, 0.25, 16
_MOST_ASKED = 1 << 13
_LARGE = 0.25
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
        self._spent = self._tried = 0.0
        self._scratch_trial = self._follow_trial = TRIAL_EVERY
        self._scratch_wait = self._follow_wait = TRIAL_EVERY
        self._trial = -1
        self._far = False

    def choose(self, step: int, ready: bool) -> Move:
        """The way of the least expected time, the worth of its state taken off."""
        if self._too_dear(step):
            return Move.PASS
        if step == 0:
            return self._first()
        if ready and step == self._trial:
            return Move.FOLLOW
        follow, scratch = self.predict(step)
        if ready and follow <= scratch:
            return Move.FOLLOW
        return self._cheapest(step, ready)

    def ahead(self) -> bool:
        """True once a run from scratch has been seen."""
        return self._expected.scratch_seen

    def predict(self, step: int) -> tuple[float, float]:
        """Seconds of following the delta, and of a run from scratch that leaves no state."""
        return self._expected.follow(step), self._expected.scratch(step)

    def observe(self, step: int, seen: Observation) -> None:
        """Teach what the move concerns."""
        move, expected = seen.move, self._expected
        self._spent += seen.started + seen.followed
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
        if step == self._trial:
            return 0
        follow, scratch = self._expected.each(step, min(behind, step + _MOST_ASKED))
        doubtful = np.flatnonzero(~(follow <= scratch))
        count = int(doubtful[0]) if len(doubtful) else len(follow)
        self._far = bool(_FAR * follow[:count].sum() <= scratch[:count].sum())
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
        """Teach what the last steps took; older ones are forgotten anyway."""
        self._spent += float(seconds.sum())
        first = max(0, len(seconds) - _LEARNED)
        self._expected.saw_stretch(step + first, seconds[first:].tolist())
        self._follow_trial = step + len(seconds) + TRIAL_EVERY

    def observe_stuck(self, step: int) -> None:
        """From here on following takes what a start takes."""
        self._expected.saw_border(step)

    def probes(self, step: int) -> bool:
        """True where a run from scratch could be the faster way, and has not been seen lately."""
        if step < self._scratch_trial and self._expected.scratch_seen:
            return False
        follow, scratch = self.predict(step)
        return follow * _CERTAIN > scratch > 0.0 and scratch <= self._budget(step)

    def observe_probe(self, step: int, seconds: float) -> None:
        """Teach what a run from scratch takes, but for its flips."""
        self._expected.saw_scratch(step, seconds)
        self._spent += seconds
        self._tried += seconds
        self._scratch_wait *= 2
        self._scratch_trial = step + self._scratch_wait

    def _first(self) -> Move:
        """With a state where the next step is expected to make use of it."""
        if self._end[0] == 1 or self._expected.share(1) >= _LARGE or self._expected.beyond(1):
            return Move.PASS
        return Move.SPLIT

    def _too_dear(self, step: int) -> bool:
        """True where no state was ever used, and none is known to pay from here on."""
        if self._gains is None or self._expected.follow_seen:
            return False
        return self._gains[step] <= 0.0

    def _followed(self, step: int, seconds: float) -> None:
        scratch = self._expected.scratch(step)
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

    def _cheapest(self, step: int, ready: bool) -> Move:
        follow, scratch = self.predict(step)
        below = self._worth(step + 1, self._end[step])
        costs = {Move.PASS: scratch}
        if below > 0.0:
            costs[Move.SPLIT] = self._expected.split(step) - below
        if ready:
            costs[Move.FOLLOW] = follow - below
        else:
            beside = self._worth(self._end[step], self._behind_siblings(step))
            start = self._expected.start(self._parent_size(step))
            costs[Move.RESTART] = start + follow - below - beside
        found = min(costs, key=lambda move: (costs[move], move))
        return self._tried_again(step, ready) if found == Move.PASS else found

    def _tried_again(self, step: int, ready: bool) -> Move:
        """Now and then a state where none pays, to see whether following has become cheaper.

        The step itself is followed where there is a state, or where steps beside it can use one;
        otherwise a state is left to the step below.
        """
        if step < self._follow_trial:
            return Move.PASS
        below = step + 1 < self._end[step]
        expected = self._expected
        if ready:
            move, tried, states = Move.FOLLOW, step, 0.0
        elif below:
            move, tried = Move.SPLIT, step + 1
            states = expected.split(step) - expected.scratch(step)
        elif step + 1 < self._behind_siblings(step):
            move, tried, states = Move.RESTART, step, expected.start(self._parent_size(step))
        else:
            return Move.PASS
        follow, scratch = self.predict(tried)
        if states + follow - scratch > self._budget(step):
            return Move.PASS
        self._tried += max(0.0, states)
        self._trial = tried
        return move

    def _worth(self, first: int, behind: int) -> float:
        """What a state at the step before may save over the next steps."""
        if self._gains is None:
            return self._expected.saved(first, min(behind, first + LOOKAHEAD))
        return self._expected.saved_far(first, min(behind, first + LOOKAHEAD_FAR))
