"""The choice of strategies on runs whose every cost is made up, so that the best is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.optimize.linear_model import LinearModel
from graphtide.optimize.prices import Prices
from graphtide.optimize.strategy import (
    Adaptive,
    AlwaysDifferential,
    AlwaysScratch,
    Chooser,
    Move,
    Observation,
    StepSizes,
)

VERTICES = 1000


@dataclass
class World:
    """A plan and what each way really takes at each step, noise aside."""

    sizes: StepSizes
    follow: Callable[[int], float]
    bare: Callable[[int], float]
    fresh: Callable[[int], float]
    noise: random.Random

    def run(self, chooser: Chooser) -> tuple[float, list[Move]]:
        """The time that a run takes, and its moves; states as the runner keeps them."""
        total, moves, states = 0.0, [], {-1: False}
        for step in range(len(self.sizes.version)):
            parent = int(self.sizes.parent[step])
            move = chooser.choose(step, states.get(parent, False))
            assert move != Move.FOLLOW or states[parent]
            started, followed = self._took(step, move)
            chooser.observe(step, Observation(move, started, followed))
            total += started + followed
            if move <= Move.RESTART and chooser.probes(step):
                seconds = self._noisy(self.bare(step))
                chooser.observe_probe(step, seconds)
                total += seconds
            if move == Move.RESTART:
                states[parent] = True
            states[step] = move != Move.PASS
            moves.append(move)
        return total, moves

    def _took(self, step: int, move: Move) -> tuple[float, float]:
        if move == Move.FOLLOW:
            return 0.0, self._noisy(self.follow(step))
        if move == Move.RESTART:
            start = self.fresh(step) * self.sizes.start / self.sizes.version[step]
            return self._noisy(start), self._noisy(self.follow(step))
        if move == Move.SPLIT:
            return self._noisy(self.fresh(step)), 0.0
        return self._noisy(self.bare(step)), 0.0

    def _noisy(self, seconds: float) -> float:
        return seconds * self.noise.uniform(0.9, 1.2)


def chain(edges: list[int], deltas: list[int]) -> StepSizes:
    count = len(edges)
    return StepSizes(
        version=np.array(edges, np.int64) + VERTICES,
        delta=np.array(deltas, np.int64),
        parent=np.arange(-1, count - 1, dtype=np.int32),
        end=np.full(count, count, np.int32),
        start=VERTICES,
    )


def star(edges: int, leaves: int, delta: int) -> StepSizes:
    count = leaves + 1
    return StepSizes(
        version=np.full(count, edges + VERTICES, np.int64),
        delta=np.array([edges] + [delta] * leaves, np.int64),
        parent=np.array([-1] + [0] * leaves, np.int32),
        end=np.array([count, *range(2, count + 1)], np.int32),
        start=VERTICES,
    )


def world(sizes: StepSizes, *, edge: float, scratch: float, state: float = 1.5) -> World:
    """Costs by an edge of the delta and by a vertex or edge of the version."""

    def follow(step: int) -> float:
        return 2e-5 + edge * float(sizes.delta[step])

    def bare(step: int) -> float:
        return scratch * float(sizes.version[step])

    return World(sizes, follow, bare, lambda step: state * bare(step), random.Random(3))


def ratio(made: World) -> float:
    """How much longer the adaptive run takes than the better of the two others."""
    adaptive, _ = made.run(Adaptive(made.sizes))
    others = [made.run(chooser)[0] for chooser in (AlwaysScratch(), AlwaysDifferential())]
    return adaptive / min(others)


@pytest.mark.parametrize("views", [40, 300])
@pytest.mark.parametrize("edge", [1e-8, 1e-6])
def test_similar_views_are_followed(views: int, edge: float) -> None:
    sizes = chain([10_000 + 20 * at for at in range(views)], [10_000] + [20] * (views - 1))
    made = world(sizes, edge=edge, scratch=5e-8)
    assert ratio(made) < 1.1
    _, moves = made.run(Adaptive(sizes))
    assert moves.count(Move.FOLLOW) > 0.9 * views


@pytest.mark.parametrize("views", [10, 40, 300])
def test_views_that_share_nothing_are_run_from_scratch(views: int) -> None:
    sizes = chain([10_000] * views, [10_000] + [20_000] * (views - 1))
    assert ratio(world(sizes, edge=1e-7, scratch=5e-8)) < 1.1


def test_an_unstable_program_is_run_from_scratch_though_views_are_similar() -> None:
    views = 200
    sizes = chain([10_000] * views, [10_000] + [400] * (views - 1))
    assert ratio(world(sizes, edge=5e-6, scratch=5e-8)) < 1.1


def test_outages_are_followed_from_the_whole() -> None:
    made = world(star(5_000, 2_000, 1), edge=1e-6, scratch=5e-8)
    assert ratio(made) < 1.1
    _, moves = made.run(Adaptive(made.sizes))
    assert set(moves) <= {Move.SPLIT, Move.FOLLOW}


def test_outages_that_nobody_survives_leave_no_state() -> None:
    made = world(star(5_000, 500, 1), edge=5e-4, scratch=5e-8)
    assert ratio(made) < 1.1


def test_products_of_windows_beat_both() -> None:
    """Windows that grow by a little ten times, and then have nothing in common with the last."""
    edges, deltas = [], []
    for _ in range(10):
        for at in range(10):
            edges.append(10_000 + 500 * at)
            deltas.append(500 if at else 25_000)
    made = world(chain(edges, deltas), edge=2e-7, scratch=5e-8)
    adaptive, moves = made.run(Adaptive(made.sizes))
    others = [made.run(chooser)[0] for chooser in (AlwaysScratch(), AlwaysDifferential())]
    assert adaptive < min(others) / 1.3
    assert all(moves[at] >= Move.SPLIT for at in range(0, 100, 10))


def test_it_recovers_when_views_change_their_character() -> None:
    sizes = chain([10_000] * 1000, [10_000] + [400] * 999)
    made = world(sizes, edge=1e-8, scratch=5e-8)

    def follow(step: int) -> float:
        return 2e-5 if not 200 <= step < 400 else 5e-3

    made.follow = follow
    _, moves = made.run(Adaptive(sizes))
    assert moves[:200].count(Move.FOLLOW) > 190
    assert moves[220:400].count(Move.FOLLOW) < 20
    assert moves[700:].count(Move.FOLLOW) > 290


DEAR = Prices(state=400.0, step=2_000.0, edge=100.0)


def dear_world(edges: list[int], deltas: list[int], *, edge: float) -> World:
    """A world in which a state costs 400 times what a run from scratch does."""
    sizes = replace(chain(edges, deltas), prices=DEAR)
    return world(sizes, edge=edge, scratch=5e-9, state=400.0)


@pytest.mark.parametrize("views", [2, 20, 300])
def test_a_dear_state_is_not_begun_for_a_few_views(views: int) -> None:
    made = dear_world([100_000] * views, [100_000] + [3] * (views - 1), edge=1e-6)
    _, moves = made.run(Adaptive(made.sizes))
    assert set(moves) == {Move.PASS}


def test_a_dear_state_is_begun_where_it_will_pay_and_kept_over_a_jump() -> None:
    deltas = [3] * 4000
    deltas[0], deltas[2000] = 100_000, 40_000
    made = dear_world([100_000] * 4000, deltas, edge=1e-6)
    assert ratio(made) < 1.1
    _, moves = made.run(Adaptive(made.sizes))
    assert moves.count(Move.FOLLOW) > 3900
    assert moves.count(Move.SPLIT) == 1


def test_large_deltas_are_not_worth_a_dear_state() -> None:
    made = dear_world([100_000] * 2000, [100_000] + [5_000] * 1999, edge=1e-6)
    assert ratio(made) < 1.01
    worse = dear_world([100_000] * 4000, [100_000] + [3] * 3999, edge=1e-3)
    adaptive, moves = worse.run(Adaptive(worse.sizes))
    scratch, _ = worse.run(AlwaysScratch())
    assert adaptive < 1.3 * scratch
    assert moves.count(Move.FOLLOW) < 40


def test_a_single_step_and_no_step_to_share() -> None:
    assert Adaptive(chain([5], [5])).choose(0, False) == Move.PASS
    assert Adaptive(chain([5, 6], [5, 1])).choose(0, False) == Move.SPLIT


def test_moves_say_what_they_are() -> None:
    assert [move.strategy for move in Move] == ["differential"] * 2 + ["scratch"] * 2
    assert [move.state for move in Move] == ["kept", "rebuilt", "fresh", "none"]


def test_a_model_finds_a_line_and_forgets_it() -> None:
    model = LinearModel()
    assert math.isnan(model.predict(1))
    for at in range(50):
        model.observe(1000 + 100 * (at % 7), 1e-3 + 1e-6 * (1000 + 100 * (at % 7)))
    assert model.predict(1300) == pytest.approx(2.3e-3, rel=0.02)
    for at in range(60):
        model.observe(1000 + 100 * (at % 7), 1e-2)
    assert model.predict(1300) == pytest.approx(1e-2, rel=0.1)
    for at in range(5):
        model.observe(1000 + 100 * (at % 7), 1e-4)
    assert model.predict(1300) < 3e-4


def test_one_slow_run_is_not_taken_at_its_word() -> None:
    model = LinearModel()
    for _ in range(20):
        model.observe(1000, 1e-3)
    model.observe(1000, 1.0)
    assert model.predict(1000) < 1.5e-3


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**9), st.floats(1e-7, 1e3, allow_nan=False)),
        min_size=1,
        max_size=60,
    ),
    st.integers(0, 10**9),
)
def test_predictions_are_finite_and_never_fall_with_size(
    seen: list[tuple[int, float]], size: int
) -> None:
    model = LinearModel()
    for item in seen:
        model.observe(*item)
    small, large = model.predict(size), model.predict(2 * size + 1)
    assert 0 <= small <= large < math.inf
