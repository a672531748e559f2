"""The best ways through small plans at random prices, beside all ways there are."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest

from graphtide.kernels.best_ways import ANEW, FLIP, PlanSizes, WayLines, Ways, best_ways
from graphtide.optimize.strategy import Move

EMPTY = 10


@dataclass(frozen=True)
class Plan:
    """Steps of a plan, and what every way costs, written down plainly."""

    parents: list[int]
    versions: list[int]
    deltas: list[int]
    free: list[bool]
    lines: WayLines

    def best(self) -> Ways:
        """What the kernel finds for all steps."""
        count = len(self.parents)
        end = [max(self._subtree(step)) + 1 for step in range(count)]
        sizes = PlanSizes(
            version=np.array(self.versions, np.int64),
            delta=np.array(self.deltas, np.int64),
            parent=np.array(self.parents, np.int32),
            end=np.array(end, np.int32),
            free=np.array(self.free, np.bool_),
            empty=EMPTY,
        )
        ways = Ways(*np.full((5, count), np.nan), *np.zeros((2, count), np.int8))
        best_ways(0, count, sizes, self.lines, ways)
        return ways

    def cost(self, moves: tuple[Move, ...]) -> float | None:
        """What these moves take, states kept as a run keeps them; None if they cannot be made."""
        total, states = 0.0, {-1: False}
        for step, move in enumerate(moves):
            parent = self.parents[step]
            if move == Move.FOLLOW and not states[parent]:
                return None
            if move == Move.RESTART:
                above = EMPTY if parent < 0 else self.versions[parent]
                total += self._start(above)
                states[parent] = True
            total += self._reached(step, move)
            states[step] = move != Move.PASS
        return total

    def _subtree(self, step: int) -> list[int]:
        below = [at for at, parent in enumerate(self.parents) if parent == step]
        return [step, *itertools.chain.from_iterable(map(self._subtree, below))]

    def _start(self, size: int) -> float:
        return self.lines.state * (self.lines.scratch + self.lines.scratch_slope * size)

    def _reached(self, step: int, move: Move) -> float:
        lines, size, delta = self.lines, self.versions[step], self.deltas[step]
        flips = FLIP * delta
        if move == Move.SPLIT:
            return flips + self._start(size)
        if move == Move.PASS:
            return flips + (0.0 if self.free[step] else lines.scratch + lines.scratch_slope * size)
        in_vain = flips + ANEW * self._start(size)
        if delta >= lines.border * size:
            return in_vain
        return min(in_vain, lines.follow + lines.follow_slope * delta)


def make_plan(pick: random.Random) -> Plan:
    """Up to six steps in the order of visits: a parent is on the way to the step before."""
    parents: list[int] = []
    for step in range(pick.randrange(1, 7)):
        way = [-1]
        while step and way[-1] != step - 1:
            below = [at for at in range(way[-1] + 1, step) if parents[at] == way[-1]]
            way.append(below[-1])
        parents.append(pick.choice(way))
    numbers = [pick.choice((0.0, pick.uniform(0, 5), pick.uniform(0, 50))) for _ in range(5)]
    lines = WayLines(*numbers, border=pick.choice((0.1, 1.0, np.inf)))
    versions = [EMPTY + pick.randrange(40) for _ in parents]
    deltas = [pick.randrange(60) for _ in parents]
    return Plan(parents, versions, deltas, [pick.random() < 0.2 for _ in parents], lines)


@pytest.mark.parametrize("seed", range(120))
def test_no_way_through_a_plan_is_better(seed: int) -> None:
    plan = make_plan(random.Random(seed))
    ways = plan.best()
    moves: list[Move] = []
    states = {-1: False}
    for step, parent in enumerate(plan.parents):
        column = ways.with_state if states[parent] else ways.without
        moves.append(Move(int(column[step])))
        states[parent] |= moves[-1] == Move.RESTART
        states[step] = moves[-1] != Move.PASS
    every = map(plan.cost, itertools.product(Move, repeat=len(plan.parents)))
    best = min(cost for cost in every if cost is not None)
    assert plan.cost(tuple(moves)) == pytest.approx(best)


def test_a_state_is_worth_what_all_its_children_save() -> None:
    """A star: one child alone is not worth a state of twenty, six of them are."""
    lines = WayLines(10.0, 0.0, 2.0, 0.0, 1.0, np.inf)
    for leaves, first in ((1, Move.PASS), (6, Move.SPLIT)):
        count = leaves + 1
        parents, deltas = [-1] + [0] * leaves, [50] + [1] * leaves
        plan = Plan(parents, [60] * count, deltas, [False] * count, lines)
        assert plan.best().without[0] == first
