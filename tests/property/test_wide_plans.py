"""Small collections planned the way of large ones: right, and never dearer than promised."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.optimize import plan_collection
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.view_runs import ViewRuns, runs_of_matrix
from tests.examples import examples
from tests.oracle import planning as slow
from tests.property.test_optimize_plans import ORDERS, check, check_totals
from tests.property.view_matrices import as_plain, check_fits, matrices


def as_runs(matrix: ViewMatrix) -> ViewRuns:
    return runs_of_matrix(matrix.membership, matrix.weights)


@settings(deadline=None, max_examples=examples(100))
@given(matrices(most_views=9), st.sampled_from(ORDERS))
def test_every_wide_plan_makes_every_view(matrix, order):
    plan = plan_collection(as_runs(matrix), order=order)
    check_fits(plan, as_runs(matrix))
    check_totals(plan, matrix, order)


@settings(deadline=None, max_examples=examples(60))
@given(matrices(most_views=9))
def test_a_wide_tree_is_no_dearer_than_the_chain_nor_that_than_the_given_order(matrix):
    totals = plan_collection(as_runs(matrix)).totals
    assert totals.tree <= totals.chain <= totals.given


@settings(deadline=None, max_examples=examples(40))
@given(matrices(most_classes=5, most_views=4))
def test_wide_bounds_hold_for_every_tree_and_chain(matrix):
    versions, weights = as_plain(matrix)
    totals = plan_collection(as_runs(matrix)).totals
    best = slow.best_tree_with_stones(versions, weights)
    assert totals.tree_bound <= best <= totals.tree
    assert totals.chain_bound <= slow.best_chain(versions, weights)


@pytest.mark.parametrize("seed", range(4))
def test_wide_plans_of_random_views_come_near_the_exact_ones(seed):
    random = np.random.default_rng(seed)
    membership = random.random((150, 60)) < random.choice([0.05, 0.5, 0.95], size=(150, 1))
    matrix = ViewMatrix(membership, random.integers(1, 1000, 150))
    wide, exact = plan_collection(as_runs(matrix)), plan_collection(matrix, effort=0.05)
    check(wide, matrix)
    assert wide.totals.tree_bound <= exact.totals.tree
    assert wide.totals.chain_bound <= exact.totals.chain
    assert wide.totals.tree < 1.25 * exact.totals.tree
    assert wide.totals.tree < wide.totals.chain < wide.totals.given


def without(lines: int, count: int) -> np.ndarray:
    """Lines x views: each choice of so many lines out of service."""
    chosen = list(itertools.combinations(range(lines), count))
    return np.array([[line not in out for out in chosen] for line in range(lines)])


@pytest.mark.parametrize("shuffled", [False, True])
def test_outages_are_one_difference_each_whatever_their_order(shuffled):
    random = np.random.default_rng(0)
    for lines, count, levels in ((200, 1, 0), (40, 2, 40)):
        table = without(lines, count)
        if shuffled:
            table = table[:, random.permutation(table.shape[1])]
        matrix = ViewMatrix(table, np.ones(lines, np.int64))
        plan = plan_collection(as_runs(matrix))
        check(plan, matrix)
        assert plan.kind == "tree"
        assert plan.totals.tree <= lines + 1.02 * matrix.views + levels
        assert plan.totals.tree_bound >= lines - count + matrix.views - 1


@pytest.mark.parametrize("shuffled", [False, True])
def test_nested_windows_come_out_as_the_chain(shuffled):
    random = np.random.default_rng(1)
    order = random.permutation(300) if shuffled else np.arange(300)
    matrix = ViewMatrix(np.tri(300, dtype=bool).T[:, order], random.integers(1, 9, 300))
    plan = plan_collection(as_runs(matrix))
    assert plan.kind == "chain"
    assert plan.differences(matrix.weights) == matrix.weights.sum() == plan.totals.tree_bound


def test_sliding_windows_take_no_more_than_their_own_order():
    table = np.array([[0 <= row - view < 20 for view in range(300)] for row in range(319)])
    plan = plan_collection(as_runs(ViewMatrix(table, np.ones(319, np.int64))))
    assert plan.totals.chain == plan.totals.given == plan.totals.chain_bound == 20 + 299 * 2
