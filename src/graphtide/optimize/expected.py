"""What each way to reach a step is expected to take, by what the run has seen so far.

Every way flips the edges of the delta, at one price an edge. The time from scratch is a line over
the size of the version, one line with a state to go on from (`start`) and one without (`scratch`).
The time to follow is a line over the size of the delta, up to a border. Beyond the border a repair
looks at too much of the graph: the maintainer breaks it off and runs the version anew, which takes
the time of a start and that of the repair in vain. The border is a share of the version. `Expected`
learns it from repairs that were broken off, and widens it when a repair beyond it goes well.

Before the first step is followed, `Expected` assumes that following an edge takes the time to flip
it, which the first step shows, or takes the prices that it was given. For a program that adds up it
assumes a border near nothing: within a few rounds any change reaches nearly everything.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.runs.ways_records import WayLines
from graphtide.optimize.linear_model import LinearModel
from graphtide.optimize.strategy import StepSizes

_STATE = 1.5
"""How much longer a run from scratch takes that leaves a state, until it has been seen."""

_SUMS = 20.0
"""The same where a program adds up: from scratch, eight views may be run as one, with no state."""

_IN_VAIN = 1.25
"""A repair that is broken off and run anew, as a multiple of a start."""

_BROKEN_OFF = 0.8
"""A repair that took this share of that, or more, counts as broken off."""

_BEYOND, _WIDER, _NARROWER = 2.0, 1.05, 1.2
"""How far the border is moved: beyond a step that went well, after one near it, and back."""

_DEAR = 3.0
"""A repair in vain is dear if it takes as long as this many runs from scratch."""

_LOOKS = 4.0
"""Following an edge takes its flip, and as long as a run from scratch takes for this many edges."""

_COLD = 2.0
"""The first step that is followed finds cold memory: it may take this many times the others."""

_CALL, _FLIP, _FEWEST_FLIPS, _FEWEST_EDGES = 2e-5, 3e-8, 1000, 256
_SPREADING = 1e-3


class Expected:
    """Seconds by step, as expected now."""

    def __init__(self, sizes: StepSizes) -> None:
        self._version: list[int] = sizes.version.tolist()
        self._delta: list[int] = sizes.delta.tolist()
        free = np.zeros(len(sizes.end), np.bool_) if sizes.free is None else sizes.free
        self._free: list[bool] = free.tolist()
        self._bare, self._fresh = LinearModel(), LinearModel()
        self._followed, self._in_vain = LinearModel(), LinearModel()
        self._prices = sizes.prices
        self._state = sizes.prices.state if sizes.prices else _SUMS if sizes.spreads else _STATE
        self._border = _SPREADING if sizes.spreads else np.inf
        self._largest = 0.0
        self._doubted = -1
        self._flips, self._flipping, self._flip = 0, 0.0, _FLIP
        self._rest = [np.cumsum(item[::-1])[::-1] for item in (sizes.version, sizes.delta)]

    @property
    def known(self) -> bool:
        """True once anything was run from scratch."""
        return self._bare.observations + self._fresh.observations > 0

    @property
    def scratch_seen(self) -> bool:
        """True once a run from scratch without a state was seen."""
        return self._bare.observations > 0

    @property
    def follow_seen(self) -> bool:
        """True once a step was followed to its end."""
        return self._followed.observations > 0

    def share(self, step: int) -> float:
        """The delta as a share of the version."""
        return self._delta[step] / self._version[step]

    def beyond(self, step: int) -> bool:
        """True where following is expected to be broken off."""
        return self.share(step) >= self._border

    def start(self, size: int) -> float:
        """Making a state at a version of this size: never less than a run without one."""
        bare = self._bare.predict(size)
        if not self._fresh.observations:
            return bare * self._state
        fresh = self._fresh.predict(size)
        return max(bare, fresh) if self._bare.observations else fresh

    def lines(self) -> WayLines:
        """What every way takes, by sizes."""
        bare, fresh, followed, vain = self._bare, self._fresh, self._followed, self._in_vain
        call, edge = followed.line if followed.observations else self._unseen()
        from_scratch = bare.line if bare.observations else _times(1 / self._state, fresh.line)
        with_state = fresh.line if fresh.observations else _times(self._state, bare.line)
        in_vain = vain.line if vain.observations else (0.0, 0.0)
        anew = 1.0 if vain.observations else _IN_VAIN
        return WayLines(
            *from_scratch, *with_state, call, edge, *in_vain, anew, self._flip, self._border
        )

    def cheaper_rest(self, step: int) -> float:
        """All steps from this one on, by the cheaper of the two strategies."""
        left = len(self._version) - step
        versions, deltas = (float(rest[step]) for rest in self._rest)
        scratch = (self._bare if self._bare.observations else self._fresh).predict_all(
            left, versions
        )
        if not self._followed.observations or self.beyond(step):
            return scratch
        return min(scratch, self._followed.predict_all(left, deltas))

    def is_free(self, step: int) -> bool:
        """True where a run from scratch computes nothing: there is nothing to learn of it."""
        return self._free[step]

    def saw_flips(self, step: int, seconds: float) -> None:
        """The edges of a step were flipped; 0 seconds mean that nobody measured it."""
        if seconds > 0.0:
            self._flips += self._delta[step]
            self._flipping += seconds
        if self._flips >= _FEWEST_FLIPS:
            self._flip = self._flipping / self._flips

    def saw_start(self, size: int, seconds: float) -> None:
        """A state was made at a version of this size; flips apart."""
        self._fresh.observe(size, seconds)

    def saw_scratch(self, step: int, seconds: float) -> None:
        """A step was run from scratch, without a state; its flips apart."""
        if not self._free[step]:
            self._bare.observe(self._version[step], seconds)

    def saw_following(self, step: int, seconds: float) -> None:
        """A step was followed: learn the line, or where it ends."""
        size = self._version[step]
        working = seconds - self._flip * self._delta[step]
        cold = _COLD if not self._followed.observations + self._in_vain.observations else 1.0
        if working >= cold * _BROKEN_OFF * _IN_VAIN * self.start(size):
            self._in_vain.observe(size, working)
            self.saw_border(step, working > _DEAR * self._scratch(size))
            return
        self._learn(step, seconds)
        self._went_well(self.share(step))

    def saw_border(self, step: int, dear: bool = False) -> None:
        """Following a step looked, or would look, at too much.

        Where larger deltas did not, it is believed when it happens to another step as well.
        """
        share = self.share(step)
        if share > self._largest or self._doubted not in (-1, step):
            self._narrow(share, dear)
        else:
            self._doubted = step

    def saw_stretch(self, seconds: dict[int, float]) -> None:
        """Steps were followed together: none of them was broken off."""
        for step, took in seconds.items():
            self._learn(step, took)
        self._went_well(max(map(self.share, seconds)))

    def _went_well(self, share: float) -> None:
        """A step of this share was followed to its end."""
        self._largest, self._doubted = max(self._largest, share), -1
        if share >= self._border:
            self._border = _BEYOND * share
        elif share * _BEYOND >= self._border:
            self._border *= _WIDER

    def _narrow(self, share: float, dear: bool) -> None:
        """A step of this share was broken off.

        The border comes to lie where every other step is, or where hardly one is if that is dear.
        """
        if dear:
            found = share / _NARROWER
        else:
            found = share if np.isinf(self._border) else max(share, self._border / _NARROWER)
        self._border, self._largest = min(self._border, found), min(self._largest, share)

    def _learn(self, step: int, seconds: float) -> None:
        """Learn from a step that was followed.

        One step alone says nothing of the slope, so the first one is joined by what was expected.
        Its memory is cold: the fit believes at most `_COLD` times what was expected.
        """
        delta, model = self._delta[step], self._followed
        if not model.observations:
            call, edge = self._unseen()
            believed = min(seconds, _COLD * (call + edge * delta))
            call, edge = _fitted((call, edge), delta, believed)
            for other in (0, max(4 * delta, _FEWEST_EDGES)):
                model.observe(other, call + edge * other)
        model.observe(delta, seconds)

    def _scratch(self, size: int) -> float:
        if self._bare.observations:
            return self._bare.predict(size)
        return self._fresh.predict(size) / self._state

    def _unseen(self) -> tuple[float, float]:
        """What following takes a step and an edge, before anything was followed."""
        each = self._scratch(self._version[0]) / self._version[0]
        if self._prices is not None:
            return each * self._prices.step, each * self._prices.edge
        return _CALL, self._flip + _LOOKS * each


def _times(factor: float, line: tuple[float, float]) -> tuple[float, float]:
    return factor * line[0], factor * line[1]


def _fitted(line: tuple[float, float], size: int, seconds: float) -> tuple[float, float]:
    """The line moved to where it tells the truth of one size, the larger part of it the more."""
    call, edges = line[0], line[1] * size
    wrong, weight = seconds - call - edges, call * call + edges * edges
    call += wrong * call * call / weight
    return max(0.0, call), max(0.0, seconds - call) / size if size else line[1]
