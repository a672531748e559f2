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

from graphtide.optimize.adaptive import Adaptive, LinearModel
from graphtide.optimize.strategy import (
    AlwaysDifferential,
    AlwaysScratch,
    Chooser,
    Move,
    Observation,
    Prices,
    StepSizes,
)
from tests.examples import examples

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
    assert sum(moves[at] < Move.SPLIT for at in range(0, 100, 10)) <= 1


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


def capped(made: World, *, anew: float) -> World:
    """The world with an engine that gives up: no repair takes longer than so many starts."""
    unbounded = made.follow

    def follow(step: int) -> float:
        return min(unbounded(step), anew * made.fresh(step))

    made.follow = follow
    return made


@pytest.mark.parametrize("views", [200, 1000, 4000])
def test_what_never_pays_is_tried_a_few_times(views: int) -> None:
    """Each trial in vain doubles the number of views until the next one."""
    sizes = chain([10_000] * views, [10_000] + [400] * (views - 1))
    made = capped(world(sizes, edge=5e-6, scratch=5e-8), anew=2.0)
    _, moves = made.run(Adaptive(sizes))
    assert sum(move <= Move.RESTART for move in moves) <= 4 + math.log2(views)
    assert ratio(made) < 1.1


@pytest.mark.parametrize("period", [7, 50, 300])
def test_character_that_changes_again_and_again_costs_no_more_than_scratch(period: int) -> None:
    """Steps of one size, whose following is cheap and hopeless by turns."""
    sizes = chain([10_000] * 1200, [10_000] + [100] * 1199)
    made = world(sizes, edge=1e-8, scratch=5e-8)
    made.follow = lambda step: 2e-5 if step // period % 2 else 2.0 * made.fresh(step)
    adaptive, _ = made.run(Adaptive(sizes))
    scratch, _ = made.run(AlwaysScratch())
    assert adaptive < 1.15 * scratch


def test_programs_that_add_up_are_not_followed_over_large_deltas() -> None:
    sizes = replace(chain([10_000] * 20, [10_000] + [300] * 19), spreads=True)
    _, moves = capped(world(sizes, edge=1e-4, scratch=5e-7), anew=2.0).run(Adaptive(sizes))
    assert set(moves) == {Move.PASS}


def test_programs_that_add_up_are_followed_over_single_edges() -> None:
    sizes = replace(star(5_000, 200, 1), spreads=True)
    made = world(sizes, edge=1e-4, scratch=5e-7)
    _, moves = made.run(Adaptive(sizes))
    assert moves.count(Move.FOLLOW) > 190


def test_few_large_windows_are_run_from_scratch_without_a_trial() -> None:
    sizes = chain([10_000 * at for at in range(1, 8)], [10_000] + [30_000] * 6)
    made = capped(world(sizes, edge=1e-7, scratch=5e-9), anew=1.5)
    _, moves = made.run(Adaptive(sizes))
    assert moves.count(Move.PASS) >= 6
    assert ratio(made) < 1.1


def test_a_first_step_whose_memory_is_cold_does_not_end_the_following() -> None:
    sizes = chain([10_000] * 60, [10_000] + [20] * 59)
    made = world(sizes, edge=1e-7, scratch=5e-8)
    warm = made.follow
    made.follow = lambda step: 0.6 * made.bare(step) if step == 1 else warm(step)
    _, moves = made.run(Adaptive(sizes))
    assert moves.count(Move.FOLLOW) > 50


@pytest.mark.parametrize("edge", [2e-7, 3e-7])
def test_one_step_tells_that_following_does_not_pay(edge: float) -> None:
    """Dearer by half, or by more than twice, than what is expected before any was seen."""
    sizes = chain([5_000] * 80, [5_000] * 80)
    made = world(sizes, edge=edge, scratch=5e-8, state=1.1)
    _, moves = made.run(Adaptive(sizes))
    assert sum(move <= Move.RESTART for move in moves) <= 6


def test_steps_can_be_asked_for_before_anything_is_known() -> None:
    """The first views of a program that adds up make a group like any others."""
    sizes = replace(chain([10_000] * 20, [10_000] + [300] * 19), spreads=True)
    chooser = Adaptive(sizes)
    assert [chooser.choose(step, False) for step in range(8)] == [Move.PASS] * 8
    assert all(math.isnan(seconds) for seconds in chooser.predict(3))
    for step in range(8):
        chooser.observe(step, Observation(Move.PASS, 1e-3, 0.0))
    assert chooser.predict(8)[1] == pytest.approx(1e-3, rel=0.5)


def test_a_state_is_made_for_views_far_ahead() -> None:
    """What one step saves is little, and a state is dear: it pays after dozens of steps."""
    sizes = chain([10_000] * 400, [10_000] + [400] * 399)
    made = world(sizes, edge=1e-6, scratch=5e-8, state=20.0)
    _, moves = made.run(Adaptive(sizes))
    assert moves.count(Move.FOLLOW) > 380


def test_a_step_that_ended_a_stretch_is_not_followed_but_its_like_are() -> None:
    sizes = chain([10_000] * 100, [10_000] + [100] * 49 + [2_000] + [100] * 49)
    chooser = Adaptive(sizes)
    chooser.observe(0, Observation(chooser.choose(0, False), 1e-3, 0.0))
    assert chooser.certain(1, 100) == 99
    chooser.observe_stretch(1, np.full(49, 2e-5))
    chooser.observe_stuck(50)
    assert chooser.choose(50, True) == Move.SPLIT
    chooser.observe(50, Observation(Move.SPLIT, 1e-3, 0.0))
    assert chooser.certain(51, 100) == 49


def test_one_outage_that_ended_a_stretch_says_nothing_of_the_others() -> None:
    chooser = Adaptive(star(5_000, 100, 1))
    chooser.observe(0, Observation(chooser.choose(0, False), 1e-3, 0.0))
    chooser.observe_stretch(1, np.full(40, 2e-6))
    chooser.observe_stuck(41)
    assert chooser.choose(41, True) == Move.FOLLOW
    chooser.observe(41, Observation(Move.FOLLOW, 0.0, 2e-3))
    assert chooser.certain(42, 101) == 59
    chooser.observe_stuck(42)
    assert chooser.certain(43, 101) == 0


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


@settings(deadline=None, max_examples=examples(50))
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
