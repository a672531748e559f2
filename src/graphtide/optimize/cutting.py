"""Where a plan is cut into sub-plans, and how many workers they pay for.

What a step takes is predicted from sizes alone, in units of what a run from scratch takes a vertex
and edge: following a delta takes a few units an edge, and never more than starting anew. A cut
costs the version that its sub-plan begins with, and the versions above that it needs once more.
Sub-plans are cut where that is little, and of about the same size; there are several for each
worker, so that one whose steps take longer than predicted does not keep all others waiting.

A prediction that is wrong costs time and never changes an answer.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.adaptive import STATE
from graphtide.optimize.strategy import StepSizes

Float64 = NDArray[np.float64]

SUB_PLANS_A_WORKER = (4, 2, 1)
"""How many sub-plans a worker gets, tried in this order: one that is done takes the next."""

MORE = 1.05
"""More sub-plans are taken, for what predictions do not know, as long as that costs no more."""

SLACK = 0.4
"""A cut may be moved by this share of a sub-plan to where it costs less."""

FOLLOW = 16.0
"""Following an edge of a delta: 20 for components of com-dblp's 252 views, where most deltas
delete, and less where they insert."""

STEP = 2500.0
"""What a step costs beside its edges, whatever the program: 50 microseconds, in units of 20
nanoseconds."""

UNIT = 2e-8
"""Seconds a vertex and edge: what components of com-dblp and sx-mathoverflow take from scratch."""

LEAST_GAIN, LEAST_SECONDS = 1.25, 0.5
"""Workers pay where they are this many times as fast, and one would take this many seconds."""


@dataclass(frozen=True)
class StepCosts:
    """Predicted units of each step, and of a sub-plan that would begin with it beyond those.

    `dearer` is what the program takes in place of a simple one, `locked` are the units of all steps
    that Python takes: threads take turns at those.
    """

    steps: Float64
    begin: Float64
    dearer: float = 1.0
    locked: float = 0.0

    def seconds(self, units: float) -> float:
        return units * UNIT * self.dearer


@dataclass(frozen=True)
class Cutting:
    """Workers, the steps before which the plan is cut, and predicted seconds with one and all."""

    workers: int
    cuts: tuple[int, ...]
    alone: float
    together: float

    @property
    def gain(self) -> float:
        """How many times as fast as one worker."""
        return self.alone / self.together if self.together else 1.0


def step_costs(
    sizes: StepSizes, *, scratch: bool, dearer: float = 1.0, one_by_one: bool = False
) -> StepCosts:
    """What the steps of a plan are predicted to take; `scratch` where nothing is followed.

    Where Python makes steps `one_by_one`, threads gain nothing from what a step costs beside its
    edges: over 18,123 outages of a community two waited 2,000 times for the interpreter's lock, and
    took a tenth to a fifth more time of the processor than one.
    """
    version, delta = sizes.version.astype(np.float64), sizes.delta.astype(np.float64)
    free = np.zeros(len(version), np.bool_) if sizes.free is None else sizes.free
    if scratch or sizes.spreads:
        # Whatever changes changes nearly everything where a program adds up.
        anew = version
        steps = np.where(free, delta, version + delta)
    else:
        anew = STATE * version
        steps = np.minimum(FOLLOW * delta, anew) + np.where(sizes.parent < 0, anew, 0)
    beside = STEP / dearer
    steps = steps + beside
    begin = np.where(sizes.parent < 0, 0.0, anew) + _copied(sizes, steps)
    return StepCosts(steps, begin, dearer, beside * len(steps) if one_by_one else 0.0)


def choose_cutting(
    costs: StepCosts,
    workers: int,
    *,
    each: Sequence[int] = SUB_PLANS_A_WORKER,
    more: float = MORE,
    forced: bool = False,
) -> Cutting:
    """The cuts for which so many workers are predicted to be done first.

    None where one worker is, unless it is `forced`. `each` lists how many sub-plans a worker may
    have, of which the first is taken that costs no more than `more` times the cheapest.
    """
    alone = float(costs.steps.sum())
    ways: list[tuple[float, tuple[int, ...]]] = []
    for count in each if workers > 1 and len(costs.steps) else ():
        cuts = cuts_into(costs, workers * count)
        ways.append((max(_busiest(costs, cuts, workers), costs.locked), cuts))
    if not (forced and ways):
        ways.append((alone, ()))
    least = min(ways)[0]
    together, cuts = next(way for way in ways if way[0] <= more * least)
    return Cutting(min(workers, len(cuts) + 1), cuts, costs.seconds(alone), costs.seconds(together))


def paying(cutting: Cutting) -> bool:
    """True where the workers are worth starting."""
    return cutting.gain >= LEAST_GAIN and cutting.alone >= LEAST_SECONDS


def cuts_into(costs: StepCosts, count: int) -> tuple[int, ...]:
    """About so many sub-plans of about the same cost, cut where that costs little. O(steps)."""
    running = np.cumsum(costs.steps)
    size = running[-1] / count
    cuts: list[int] = []
    for number in range(1, count):
        wanted = number * size
        first, behind = np.searchsorted(running, [wanted - SLACK * size, wanted + SLACK * size]) + 1
        places = np.arange(max(first, cuts[-1] + 1 if cuts else 1), min(behind + 1, len(running)))
        if not len(places):
            continue
        # What one sub-plan has too much of, another one waits for.
        prices = costs.begin[places] + np.abs(running[places - 1] - wanted)
        best = int(places[np.argmin(prices)])
        if costs.begin[best] <= size:
            cuts.append(best)
    return tuple(cuts)


def sub_plan_costs(costs: StepCosts, cuts: Sequence[int]) -> Float64:
    """The predicted units of each sub-plan, what it begins with included."""
    starts = np.array([0, *cuts])
    sums: Float64 = np.add.reduceat(costs.steps, starts)
    sums[1:] += costs.begin[starts[1:]]
    return sums


def _busiest(costs: StepCosts, cuts: Sequence[int], workers: int) -> float:
    """When the last worker is done, each of them taking the next sub-plan when it is free."""
    free = [0.0] * workers
    for cost in sub_plan_costs(costs, cuts).tolist():
        heapq.heapreplace(free, free[0] + cost)
    return max(free)


def _copied(sizes: StepSizes, steps: Float64) -> Float64:
    """What it takes to go once more down to each step from the ancestor furthest up that it needs.

    That is the first on the way that more steps hang on, behind the step.
    """
    parents: list[int] = sizes.parent.tolist()
    last_child = {parent: at for at, parent in enumerate(parents)}
    costs, top = steps.tolist(), [False] * len(parents)
    copied = [0.0] * len(parents)
    for at, parent in enumerate(parents):
        if parent < 0:
            continue
        top[at] = top[parent] or last_child[parent] != at
        copied[at] = copied[parent] + costs[parent] if top[parent] else 0.0
    return np.array(copied)
