"""The best ways through small plans at random prices, beside all ways there are."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest

from graphtide.kernels.runs.ways_records import WayLines
from graphtide.optimize.outlook import Outlook
from graphtide.optimize.strategy import Move, StepSizes

EMPTY = 10


@dataclass(frozen=True)
class Plan:
    """Steps of a plan, and what every way costs, written down plainly."""

    parents: list[int]
    versions: list[int]
    deltas: list[int]
    free: list[bool]
    lines: WayLines

    def sizes(self) -> StepSizes:
        count = len(self.parents)
        end = [max(self._subtree(step)) + 1 for step in range(count)]
        return StepSizes(
            version=np.array(self.versions, np.int64),
            delta=np.array(self.deltas, np.int64),
            parent=np.array(self.parents, np.int32),
            end=np.array(end, np.int32),
            start=EMPTY,
            free=np.array(self.free, np.bool_),
        )

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
        lines = self.lines
        plain = lines.bare + lines.bare_slope * size
        return max(plain, lines.fresh + lines.fresh_slope * size)

    def _reached(self, step: int, move: Move) -> float:
        lines, size, delta = self.lines, self.versions[step], self.deltas[step]
        flips = lines.flip * delta
        if move == Move.SPLIT:
            return flips + self._start(size)
        if move == Move.PASS:
            return flips + (0.0 if self.free[step] else lines.bare + lines.bare_slope * size)
        vain = flips + max(lines.anew * self._start(size), lines.vain + lines.vain_slope * size)
        if delta >= lines.border * size:
            return vain
        return min(vain, lines.follow + lines.follow_slope * delta)


def make_plan(pick: random.Random) -> Plan:
    """Up to six steps in the order of visits: a parent is on the way to the step before."""
    parents: list[int] = []
    for step in range(pick.randrange(1, 7)):
        way = [-1]
        while step and way[-1] != step - 1:
            below = [at for at in range(way[-1] + 1, step) if parents[at] == way[-1]]
            way.append(below[-1])
        parents.append(pick.choice(way))
    numbers = [pick.choice((0.0, pick.uniform(0, 5), pick.uniform(0, 50))) for _ in range(10)]
    lines = WayLines(*numbers, border=pick.choice((0.1, 1.0, np.inf)))
    versions = [EMPTY + pick.randrange(40) for _ in parents]
    deltas = [pick.randrange(60) for _ in parents]
    return Plan(parents, versions, deltas, [pick.random() < 0.2 for _ in parents], lines)


@pytest.mark.parametrize("seed", range(120))
def test_no_way_through_a_plan_is_better(seed: int) -> None:
    plan = make_plan(random.Random(seed))
    count = len(plan.parents)
    outlook = Outlook(plan.sizes())
    outlook.look(0, count + 5, plan.lines)
    moves: list[Move] = []
    states = {-1: False}
    for step, parent in enumerate(plan.parents):
        moves.append(outlook.move(step, states[parent]))
        states[parent] |= moves[-1] == Move.RESTART
        states[step] = moves[-1] != Move.PASS
    every = map(plan.cost, itertools.product(Move, repeat=count))
    best = min(cost for cost in every if cost is not None)
    assert plan.cost(tuple(moves)) == pytest.approx(best)


def test_steps_that_are_best_followed_are_counted_up_to_the_first_that_is_not() -> None:
    deltas = [50, 1, 1, 1, 45, 1, 1]
    plan = Plan(list(range(-1, 6)), [60] * 7, deltas, [False] * 7, flat(follow_slope=1.0))
    outlook = Outlook(plan.sizes())
    outlook.look(0, 7, plan.lines)
    assert not outlook.covers(7)
    assert outlook.followed(1, 7) == 3
    assert outlook.followed(1, 3) == 2
    assert outlook.followed(4, 7) == 0
    assert outlook.seconds(4) == (45.0, 10.0)
    assert outlook.sums(1, 3) == (3.0, 30.0)
    outlook.look(5, 7, plan.lines)
    assert not outlook.covers(4)


def test_a_state_is_worth_what_all_its_children_save() -> None:
    """A star: one child alone is not worth a state of twenty, six of them are."""
    for leaves, first in ((1, Move.PASS), (6, Move.SPLIT)):
        count = leaves + 1
        parents, deltas = [-1] + [0] * leaves, [50] + [1] * leaves
        lines = flat(follow_slope=1.0, fresh=20.0)
        plan = Plan(parents, [60] * count, deltas, [False] * count, lines)
        outlook = Outlook(plan.sizes())
        outlook.look(0, count, plan.lines)
        assert outlook.move(0, ready=False) == first


def flat(**lines: float) -> WayLines:
    """Ten seconds from scratch, twelve with a state, whatever the size."""
    given = {"bare": 10.0, "fresh": 12.0, "anew": 50.0, "border": np.inf, **lines}
    return WayLines(**{name: given.get(name, 0.0) for name in WayLines._fields})
