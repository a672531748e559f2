"""Plans of random collections: right, never worse than promised, and measured by true bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.optimize import plan_collection
from graphtide.optimize.tree import STONE_PRICE
from graphtide.plan.collection import ViewMatrix
from tests.examples import examples
from tests.oracle import planning as slow
from tests.property.view_matrices import as_plain, check_fits, matrices

ORDERS = ("auto", "chain", "tree", "manual")


def check(plan, matrix):
    """The plan's steps make every view, by plain sets, and its totals are plain sums."""
    check_fits(plan, matrix)
    steps = [(s.parent, s.inserted.tolist(), s.deleted.tolist()) for s in plan.steps]
    made = slow.reassemble(steps)
    views = {s.view: made[at] for at, s in enumerate(plan.steps) if s.view is not None}
    columns = matrix.membership.T
    assert views == {v: set(np.flatnonzero(c).tolist()) for v, c in enumerate(columns)}
    paid = sum(int(matrix.weights[c].sum()) for s in plan.steps for c in (s.inserted, s.deleted))
    assert plan.differences(matrix.weights) == paid
    for at in range(len(steps)):
        assert set(np.flatnonzero(plan.membership(at)).tolist()) == made[at]


def check_totals(plan, matrix, order):
    """The plan costs what its totals say, the given order what it costs, and no less is told."""
    check(plan, matrix)
    totals = plan.totals
    versions, weights = as_plain(matrix)
    assert totals.given == slow.chain_price(versions, weights)
    kind = plan.kind if order != "manual" else "given"
    assert plan.differences(matrix.weights) == getattr(totals, kind)
    assert totals.tree_bound <= totals.chain_bound
    assert totals.chain_bound <= totals.chain
    assert totals.tree_bound <= totals.tree
    if order in ("chain", "manual"):
        assert plan.stones == 0


@settings(deadline=None, max_examples=examples(60))
@given(matrices(), st.sampled_from(ORDERS))
def test_every_plan_makes_every_view(matrix, order):
    plan = plan_collection(matrix, order=order, effort=0.01)
    check_totals(plan, matrix, order)


@settings(deadline=None, max_examples=examples(60))
@given(matrices())
def test_tree_is_no_worse_than_chain_and_chain_than_the_given_order(matrix):
    totals = plan_collection(matrix, effort=0.01).totals
    assert totals.tree <= totals.chain <= totals.given


@settings(deadline=None, max_examples=examples(60))
@given(matrices(most_views=6))
def test_chain_lies_between_the_best_and_twice_that(matrix):
    versions, weights = as_plain(matrix)
    best = slow.best_chain(versions, weights)
    plain = plan_collection(matrix, order="chain", effort=0).totals
    assert plain.chain_bound <= best <= plain.chain <= 2 * best
    assert plan_collection(matrix, order="chain", effort=0.01).totals.chain <= plain.chain


@settings(deadline=None, max_examples=examples(40))
@given(matrices(most_classes=5, most_views=4))
def test_no_tree_with_any_stones_is_below_the_bound(matrix):
    versions, weights = as_plain(matrix)
    best = slow.best_tree_with_stones(versions, weights)
    totals = plan_collection(matrix, order="tree").totals
    assert totals.tree_bound <= best <= totals.tree
    assert totals.tree <= min(2 * best, slow.best_tree(versions, weights))


@settings(deadline=None, max_examples=30)
@given(matrices(fewest_views=2))
def test_a_stone_earns_more_than_its_price(matrix):
    plan = plan_collection(matrix, order="tree", effort=0.01)
    _, weights = as_plain(matrix)
    made = [
        sum(1 << int(c) for c in np.flatnonzero(plan.membership(at)))
        for at in range(len(plan.steps))
    ]
    for at, step in enumerate(plan.steps):
        if step.view is None:
            above = made[step.parent] if step.parent >= 0 else 0
            below = [made[x] for x, other in enumerate(plan.steps) if other.parent == at]
            spokes = slow.price(above, made[at], weights)
            spokes += sum(slow.price(made[at], child, weights) for child in below)
            moved = [version ^ above for version in below]
            assert len(moved) > 4 or slow.best_tree(moved, weights) - spokes > STONE_PRICE


@pytest.mark.parametrize("seed", range(4))
def test_larger_random_collections_keep_every_promise(seed):
    random = np.random.default_rng(seed)
    membership = random.random((150, 60)) < random.choice([0.05, 0.5, 0.95], size=(150, 1))
    matrix = ViewMatrix(membership, random.integers(1, 1000, 150))
    for order in ("auto", "tree", "chain"):
        plan = plan_collection(matrix, order=order, effort=0.02)
        check(plan, matrix)
        totals = plan.totals
        assert totals.tree_bound <= totals.tree < totals.chain_bound <= totals.chain
        assert totals.chain < totals.given
