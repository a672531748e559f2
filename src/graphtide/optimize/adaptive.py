"""The strategy that learns: every step by the way that is expected to be the fastest.

Two lines tell what a step takes, from scratch and differentially (`outlook`), and all sizes are
known beforehand, so that the best ways through the next steps follow: a state is made where the
steps below are worth it. What was never followed is tried now and then, as long as all trials
together take no more than a small share of the run.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.outlook import Outlook
from graphtide.optimize.strategy import Chooser, Move, Observation, StepSizes

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
        """Learn what the steps of a stretch took, on average."""
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
