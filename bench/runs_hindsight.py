"""The best that any choice of strategies could do, known only afterwards.

Every way to every step is timed in runs that always take that way: followed one by one and
together, split off, restarted, and passed. The least sum over the plan, states being where they are
needed, and what a run takes beside its steps, is a bound: a strategy that had known all times
beforehand would have taken so long. Times of single steps are noisy, and of those of following the
lesser is taken, so that the bound is, if anything, too low.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure
from bench.runs_trials import Trial
from graphtide.optimize.strategy import (
    AlwaysDifferential,
    AlwaysScratch,
    AlwaysTogether,
    Chooser,
    Move,
    Observation,
)
from graphtide.run.collection.steps import RunSteps

Float64 = NDArray[np.float64]
ROUNDS = 3


class _Watched:
    """A chooser and what it was told of every step: all of it, and what starting took."""

    def __init__(self, chooser: Chooser, steps: int) -> None:
        self._chooser = chooser
        self.took, self.started = np.zeros(steps), np.zeros(steps)

    def __getattr__(self, name: str) -> object:
        return getattr(self._chooser, name)

    def observe(self, step: int, seen: Observation) -> None:
        self.took[step], self.started[step] = seen.started + seen.followed, seen.started

    def observe_stretch(self, step: int, seconds: Float64) -> None:
        self.took[step : step + len(seconds)] = seconds


class _Always(AlwaysScratch):
    """Every step by one move."""

    def __init__(self, move: Move) -> None:
        self._move = move

    def choose(self, step: int, ready: bool) -> Move:
        return self._move


@dataclass(frozen=True)
class _Table:
    """Seconds of every way to every step."""

    follow: Float64
    start_above: Float64
    split: Float64
    scratch: Float64

    def best(self, steps: RunSteps) -> float:
        """The least sum, backwards: what is left with a state at the parent, and without."""
        count, end = len(steps), steps.end.tolist()
        ready, bare = [0.0] * (count + 1), [0.0] * (count + 1)
        for step in range(count - 1, -1, -1):
            parent = int(steps.parent[step])
            below = step + 1 if end[step] > step + 1 else count
            behind = count if parent < 0 else end[parent]
            beside = end[step] if end[step] < behind else count
            alone = min(self.scratch[step] + bare[below], self.split[step] + ready[below])
            follow = self.follow[step] + ready[below]
            ready[step] = min(alone, follow) + ready[beside]
            restart = self.start_above[step] + follow + ready[beside]
            bare[step] = min(alone + bare[beside], restart)
        return bare[0]


def best_in_hindsight(title: str, trial: Trial, section: str) -> Figure:
    """How much faster than both strategies a run would be that had known everything."""
    bounds = [_bound(trial, at) for at in range(len(trial.hands))]
    best, *others = (sum(column) for column in zip(*bounds, strict=True))
    name, note = f"{title}, best choice in hindsight, faster than both", f"{best:.3g} s"
    return Figure(name, min(others) / best, "at least", None, "x", note, section)


def _bound(trial: Trial, at: int) -> tuple[float, float, float]:
    """Seconds of the best choice, of following all steps together, and of all from scratch."""
    steps = trial.hands[at].steps
    ways: dict[str, Chooser] = {
        "alone": AlwaysDifferential(),
        "together": AlwaysTogether(),
        "scratch": AlwaysScratch(),
        "split": _Always(Move.SPLIT),
        "restart": _Always(Move.RESTART),
    }
    told: dict[str, list[_Watched]] = {way: [] for way in ways}
    whole: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, chooser in ways.items():
            told[way].append(_Watched(chooser, len(steps)))
            whole[way].append(trial.time(at, told[way][-1]))
    took = {way: np.median([item.took for item in items], axis=0) for way, items in told.items()}
    above = np.median([item.started for item in told["restart"]], axis=0)
    together, scratch = (statistics.median(whole[way]) for way in ("together", "scratch"))
    follow = np.minimum(took["alone"], took["together"])
    follow[0] = np.inf  # Nothing comes before the first step.
    table = _Table(follow, above, took["split"], took["scratch"])
    beside = together - float(took["together"].sum())
    return table.best(steps) + beside, together, scratch
