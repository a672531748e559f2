"""How the next version of a run is reached: from scratch, or differentially from its parent.

Linear models are learned while the run goes on: the time from scratch by the size of a version
(with or without a state that later versions can grow from), and the time of following a delta by
the size of the delta. They forget, so that they recover when the views change their character.

The first step is run from scratch and the next one with something to share is followed; from then
on the cheapest way by the models is taken. What a state is worth to the steps below is part of the
price: sizes and deltas of all steps are known beforehand. What has not been tried lately is tried
again, as long as all trials cost no more than a small share of the time that the whole run is
expected to take.

Nothing here runs anything: the runner asks, and tells what it measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.linear_model import LinearModel
from graphtide.optimize.prices import Prices, expected_gains

PROBE_SHARE = 0.04
"""The share of its time that a run may spend on trying what it does not expect to be better."""

PROBE_EVERY = 8
"""So many steps at least lie between what was seen of a strategy and its trial."""

LONGEST_STRETCH = 0.05
"""The most seconds for which steps are followed without asking."""

LOOKAHEAD = 16
"""How many steps ahead the worth of a state is looked for."""

LOOKAHEAD_FAR = 4096
"""The same, where states are dear."""

_CERTAIN = 2.0
_FIRST_STRETCH, _STRETCH_SHARE, _LEARNED = 1e-3, 0.1, 16
_UNSEEN_SCRATCH = 0.5
_HOPELESS = 10.0
_MOST_ASKED = 1024
_LARGE, _LARGER = 0.25, 0.5
_LATER = 0.75


class Move(IntEnum):
    """The ways to reach a step.

    FOLLOW the delta from a state at the parent; RESTART: make that state first, then follow;
    SPLIT: from scratch, with a state to go on from; PASS: from scratch, leaving no state.
    """

    FOLLOW = 0
    RESTART = 1
    SPLIT = 2
    PASS = 3

    @property
    def strategy(self) -> str:
        """`differential` or `scratch`."""
        return "differential" if self <= Move.RESTART else "scratch"

    @property
    def state(self) -> str:
        """What became of the state: `kept`, `rebuilt`, `fresh` or `none`."""
        return ("kept", "rebuilt", "fresh", "none")[self]


@dataclass(frozen=True)
class StepSizes:
    """What is known of all steps of a plan before anything runs.

    `version` is the size of each version (vertices and edges), `delta` that of its delta, `end`
    the first step behind its subtree; `start` is the size of the empty version. `free` marks
    the stepping stones that a run from scratch passes without computing anything. `prices` are
    given where a state costs many times what a run from scratch does.
    """

    version: NDArray[np.int64]
    delta: NDArray[np.int64]
    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    start: int
    free: NDArray[np.bool_] | None = None
    prices: Prices | None = None


class Observation(NamedTuple):
    """What a step took: in all, and starting a state or running from scratch, and following."""

    move: Move
    started: float
    followed: float


class Chooser(Protocol):
    """Decides how steps are reached, one after the other."""

    def choose(self, step: int, ready: bool) -> Move:
        """The way to take; `ready` tells that there is a state at the parent."""

    def ahead(self) -> bool:
        """True where it can be asked for a step before it was told of the one before."""

    def predict(self, step: int) -> tuple[float, float]:
        """Seconds differentially and from scratch as expected now; NaN where nothing is known."""

    def observe(self, step: int, seen: Observation) -> None:
        """Told after every step."""

    def certain(self, step: int, behind: int) -> int:
        """How many steps, from this one on and before `behind`, are followed without asking.

        There is a state at the parent of the first one.
        """

    def patience(self) -> float:
        """For how many seconds steps may be followed without asking."""

    def observe_stretch(self, step: int, seconds: NDArray[np.float64]) -> None:
        """Told what each of the steps took that were followed without asking."""

    def probes(self, step: int) -> bool:
        """True where the step, having been followed, is to be timed from scratch as well."""

    def observe_probe(self, step: int, seconds: float) -> None:
        """Told what such a trial took."""


class AlwaysScratch:
    """Every step from scratch, and no state anywhere."""

    def choose(self, step: int, ready: bool) -> Move:
        """PASS."""
        return Move.PASS

    def ahead(self) -> bool:
        """Always."""
        return True

    def predict(self, step: int) -> tuple[float, float]:
        """Nothing is learned."""
        return np.nan, np.nan

    def observe(self, step: int, seen: Observation) -> None:
        """Nothing is learned."""

    def certain(self, step: int, behind: int) -> int:
        """None: it wants to be asked."""
        return 0

    def patience(self) -> float:
        """Until somebody may want to be told how far it is."""
        return LONGEST_STRETCH

    def observe_stretch(self, step: int, seconds: NDArray[np.float64]) -> None:
        """Nothing is learned."""

    def probes(self, step: int) -> bool:
        """Never."""
        return False

    def observe_probe(self, step: int, seconds: float) -> None:
        """Nothing is learned."""


class AlwaysDifferential(AlwaysScratch):
    """The first step from scratch, every other one from its parent."""

    def choose(self, step: int, ready: bool) -> Move:
        """FOLLOW where there is a state."""
        if ready:
            return Move.FOLLOW
        return Move.SPLIT if step == 0 else Move.RESTART


class AlwaysTogether(AlwaysDifferential):
    """The same, and asked only where there is no state."""

    def certain(self, step: int, behind: int) -> int:
        """All of them."""
        return behind - step


class Adaptive:
    """The cheapest way by what was measured so far."""

    def __init__(self, sizes: StepSizes) -> None:
        self._sizes = sizes
        self._version: list[int] = sizes.version.tolist()
        self._deltas: list[int] = sizes.delta.tolist()
        self._end: list[int] = sizes.end.tolist()
        self._parent: list[int] = sizes.parent.tolist()
        self._empty = sizes.start
        free = np.zeros(len(sizes.end), np.bool_) if sizes.free is None else sizes.free
        self._free: list[bool] = free.tolist()
        self._bare = LinearModel()
        self._fresh = LinearModel()
        self._delta = LinearModel()
        self._rest = [np.cumsum(item[::-1])[::-1] for item in (sizes.version, sizes.delta)]
        self._spent = 0.0
        self._tried = 0.0
        self._seen_scratch = self._seen_delta = 0
        self._owed = False
        self._predicted, self._prediction = -1, (np.nan, np.nan)
        self._gains = expected_gains(sizes, PROBE_SHARE)
        self._unseen = 1.0 / sizes.prices.state if sizes.prices else _UNSEEN_SCRATCH

    def choose(self, step: int, ready: bool) -> Move:
        """The way of the least predicted time, the worth of its state taken off."""
        if not self._delta.observations and self._gains is not None and self._gains[step] <= 0:
            return Move.PASS
        if step == 0:
            return Move.SPLIT if self._end[0] > 1 else Move.PASS
        if not self._delta.observations:
            return self._first_delta(step, ready)
        if ready and self._owed:
            self._owed = False
            return Move.FOLLOW
        follow, scratch = self.predict(step)
        if ready and follow <= scratch:
            return Move.FOLLOW
        return self._cheapest(step, ready)

    def ahead(self) -> bool:
        """True once a run from scratch and the following of a delta have been seen."""
        return self._bare.observations > 0 and self._delta.observations > 0

    def predict(self, step: int) -> tuple[float, float]:
        """Seconds of following the delta, and of a run from scratch that leaves no state."""
        if step != self._predicted:
            follow = self._delta.predict(self._deltas[step])
            scratch = 0.0 if self._free[step] else self._scratch(self._version[step])
            self._prediction = follow, scratch
            self._predicted = step
        return self._prediction

    def observe(self, step: int, seen: Observation) -> None:
        """Teach the models that the move concerns."""
        move, size = seen.move, self._version[step]
        self._predicted = -1
        self._spent += seen.started + seen.followed
        if move <= Move.RESTART:
            self._seen_delta = step
            self._delta.observe(self._deltas[step], seen.followed)
        if move == Move.RESTART:
            self._fresh.observe(self._parent_size(step), seen.started)
        elif move == Move.SPLIT:
            self._fresh.observe(size, seen.started)
        elif move == Move.PASS and not self._free[step]:
            self._seen_scratch = step
            self._bare.observe(size, seen.started)

    def certain(self, step: int, behind: int) -> int:
        """Steps for which following is expected to take less than half the time, or fewer."""
        if not self._delta.observations or self._owed:
            return 0
        behind = min(behind, step + _MOST_ASKED)
        follow = self._delta.predict_each(self._sizes.delta[step:behind])
        scratch = self._fresh.predict_each(self._sizes.version[step:behind])
        if self._bare.observations:
            bare = self._bare.predict_each(self._sizes.version[step:behind])
            scratch = np.fmin(bare, scratch)
        else:
            scratch = self._unseen * scratch
        doubtful = np.flatnonzero(~(_CERTAIN * follow <= scratch))
        return int(doubtful[0]) if len(doubtful) else behind - step

    def patience(self) -> float:
        """A small share of the time so far: what is wrong is noticed before it matters."""
        return min(LONGEST_STRETCH, max(_FIRST_STRETCH, _STRETCH_SHARE * self._spent))

    def observe_stretch(self, step: int, seconds: NDArray[np.float64]) -> None:
        """Teach the model of deltas by the last steps; older ones are forgotten anyway."""
        self._predicted = -1
        self._seen_delta = step + len(seconds) - 1
        self._spent += float(seconds.sum())
        first = max(0, len(seconds) - _LEARNED)
        for at, took in enumerate(seconds[first:].tolist(), step + first):
            self._delta.observe(self._deltas[at], took)

    def probes(self, step: int) -> bool:
        """True where the time from scratch has not been seen lately, and matters."""
        lately = self._bare.observations and step - self._seen_scratch < PROBE_EVERY
        if lately or self._free[step]:
            return False
        follow, scratch = self.predict(step)
        return follow * _HOPELESS > scratch and scratch <= self._budget(step)

    def observe_probe(self, step: int, seconds: float) -> None:
        """Teach the model of runs from scratch."""
        self._bare.observe(self._version[step], seconds)
        self._predicted = -1
        self._seen_scratch = step
        self._spent += seconds
        self._tried += seconds

    def _budget(self, step: int) -> float:
        """Seconds that a trial may cost now: some from the start, the rest little by little.

        What is left of the run is charged at the cheaper of the two strategies.
        """
        left = len(self._end) - step
        versions, deltas = (float(rest[step]) for rest in self._rest)
        model = self._bare if self._bare.observations else self._fresh
        cheaper = min(model.predict_all(left, versions), self._delta.predict_all(left, deltas))
        accrued = 1.0 - _LATER * left / len(self._end)
        return PROBE_SHARE * accrued * (self._spent + cheaper) - self._tried

    def _scratch(self, size: int) -> float:
        """Without a state: never more than with one."""
        fresh = self._fresh.predict(size)
        if not self._bare.observations:
            return self._unseen * fresh
        bare = self._bare.predict(size)
        return min(bare, fresh) if self._fresh.observations else bare

    def _start(self, size: int) -> float:
        """With a state: never less than without one."""
        bare = self._bare.predict(size)
        if not self._fresh.observations:
            return bare / self._unseen
        fresh = self._fresh.predict(size)
        return max(bare, fresh) if self._bare.observations else fresh

    def _first_delta(self, step: int, ready: bool) -> Move:
        """Follow the first delta that is not too large a share of its version."""
        if self._share(step) < (_LARGER if ready else _LARGE):
            return Move.FOLLOW if ready else Move.RESTART
        following = step + 1
        shared = following < self._end[step] and self._share(following) < _LARGER
        return Move.SPLIT if shared else Move.PASS

    def _share(self, step: int) -> float:
        return self._deltas[step] / self._version[step]

    def _parent_size(self, step: int) -> int:
        parent = self._parent[step]
        return self._empty if parent < 0 else self._version[parent]

    def _cheapest(self, step: int, ready: bool) -> Move:
        follow, scratch = self.predict(step)
        below = self._worth(step + 1, self._end[step])
        costs = {
            Move.SPLIT: self._start(self._version[step]) - below,
            Move.PASS: scratch,
        }
        if ready:
            costs[Move.FOLLOW] = follow - below
        else:
            parent = self._parent[step]
            behind = len(self._end) if parent < 0 else self._end[parent]
            beside = self._worth(self._end[step], behind)
            costs[Move.RESTART] = self._start(self._parent_size(step)) + follow - below - beside
        found = min(costs, key=lambda move: (costs[move], move))
        return self._tried_again(step, ready) if found == Move.PASS else found

    def _tried_again(self, step: int, ready: bool) -> Move:
        """Now and then a state where none pays, to see whether following has become cheaper.

        The step itself is followed where there is a state, or where steps beside it can use one;
        otherwise a state is left to the step below.
        """
        if step - self._seen_delta < PROBE_EVERY:
            return Move.PASS
        parent, size = self._parent[step], self._version[step]
        behind = len(self._end) if parent < 0 else self._end[parent]
        below = step + 1 < self._end[step]
        if ready or (not below and step + 1 < behind):
            follow, scratch = self.predict(step)
            loss = follow - scratch + (0.0 if ready else self._start(self._parent_size(step)))
            move = Move.FOLLOW if ready else Move.RESTART
        elif below:
            follow, scratch = self.predict(step + 1)
            loss, move = self._start(size) - self._scratch(size) + follow - scratch, Move.SPLIT
        else:
            return Move.PASS
        if loss > self._budget(step):
            return Move.PASS
        self._tried += max(0.0, loss)
        self._owed = move == Move.SPLIT
        return move

    def _worth(self, first: int, behind: int) -> float:
        """What following instead of starting anew may save over the next steps, in their order."""
        if self._gains is not None:
            return self._worth_far(first, behind)
        best = total = 0.0
        for step in range(first, min(behind, first + LOOKAHEAD)):
            follow, scratch = self.predict(step)
            total += scratch - follow
            best = max(best, total)
        return best

    def _worth_far(self, first: int, behind: int) -> float:
        """The same over many more steps: a state that is dear has to last."""
        ahead = slice(first, min(behind, first + LOOKAHEAD_FAR))
        model, share = (self._bare, 1.0) if self._bare.observations else (self._fresh, self._unseen)
        scratch = share * model.predict_each(self._sizes.version[ahead])
        if self._sizes.free is not None:
            scratch = np.where(self._sizes.free[ahead], 0.0, scratch)
        saved = np.cumsum(scratch - self._delta.predict_each(self._sizes.delta[ahead]))
        return max(0.0, float(np.max(saved, initial=0.0)))
