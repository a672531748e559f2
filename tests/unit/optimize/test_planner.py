"""The planner on collections whose best plan is known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from graphtide.model.errors import InputError
from graphtide.optimize import plan_collection
from graphtide.optimize.exact import default_effort
from graphtide.plan.collection import EMPTY_VERSION, ViewMatrix
from tests.property.view_matrices import check_fits


def collection(rows, weights=None):
    table = np.array(rows, dtype=bool)
    return ViewMatrix(table, np.array(weights if weights is not None else [1] * len(table)))


@pytest.fixture
def worked_example():
    """Figure 4.3 of the Graphsurge thesis: IDs < 100, 50 to 199, 10 to 99, 60 to 199."""
    rows = [[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]]
    return collection(rows, [10, 40, 10, 40, 100])


def outages(branches, out):
    """One class a branch; view i misses the branches of out[i]."""
    table = np.ones((branches, len(out)), dtype=bool)
    for view, missing in enumerate(out):
        table[list(missing), view] = False
    return ViewMatrix(table, np.ones(branches, dtype=np.int64))


def windows(count):
    """Expanding windows: view i holds the classes up to i."""
    table = np.arange(count + 1)[:, None] <= np.arange(count)[None, :]
    return ViewMatrix(table, np.arange(1, count + 2))


def test_worked_example_needs_540_then_260_then_210(worked_example):
    plan = plan_collection(worked_example)
    assert plan.totals.given == 540
    assert plan.totals.chain == 260
    assert plan.totals.tree == 210
    assert 250 <= plan.totals.chain_bound <= 260
    assert plan.totals.tree_bound == 200
    assert plan.kind == "tree"


def test_worked_example_as_a_chain(worked_example):
    plan = plan_collection(worked_example, order="chain")
    assert [step.view for step in plan.steps] == [2, 0, 1, 3]
    assert plan.differences(worked_example.weights) == 260


def test_single_outages_cost_one_difference_a_view():
    matrix = outages(301, [[i] for i in range(300)])
    plan = plan_collection(matrix)
    check_fits(plan, matrix)
    assert plan.kind == "tree"
    assert [step.stone for step in plan.steps if step.view is None] == ["whole graph"]
    assert plan.totals.chain == 300 + 2 * 299
    assert plan.totals.tree <= 301 + 300
    assert plan.totals.tree_bound >= 301 + 300 - 2


def test_double_outages_hang_on_single_ones():
    matrix = outages(13, list(combinations(range(12), 2)))
    plan = plan_collection(matrix)
    check_fits(plan, matrix)
    assert plan.totals.tree <= 13 + 12 + matrix.views


def test_expanding_windows_are_a_plain_chain_without_any_search(monkeypatch):
    monkeypatch.setattr("graphtide.optimize.exact.fast_tsp", None)
    matrix = windows(200)
    plan = plan_collection(matrix)
    assert plan.kind == "chain"
    assert [step.parent for step in plan.steps] == list(range(-1, 199))
    assert plan.totals.chain == plan.totals.tree == plan.totals.tree_bound


def test_shuffled_windows_are_put_in_order():
    ordered = windows(60)
    shuffled = np.random.default_rng(5).permutation(60)
    matrix = ViewMatrix(ordered.membership[:, shuffled], ordered.weights)
    plan = plan_collection(matrix)
    assert [shuffled[step.view] for step in plan.steps] == list(range(60))


def test_ties_between_parents_make_a_chain_of_the_tree():
    plan = plan_collection(windows(50), order="tree")
    assert plan.kind == "tree"
    assert [step.parent for step in plan.steps] == list(range(-1, 49))


@pytest.mark.parametrize("order", ["auto", "chain", "tree", "manual"])
def test_no_views_no_steps(order):
    plan = plan_collection(collection(np.zeros((3, 0))), order=order)
    assert plan.steps == ()
    assert (plan.totals.given, plan.totals.chain, plan.totals.tree) == (0, 0, 0)


@pytest.mark.parametrize("order", ["auto", "chain", "tree", "manual"])
def test_one_view_is_loaded_from_nothing(order):
    plan = plan_collection(collection([[1], [0], [1]], [5, 7, 11]), order=order)
    assert len(plan.steps) == 1
    assert plan.steps[0].parent == EMPTY_VERSION
    assert plan.steps[0].inserted.tolist() == [0, 2]
    assert plan.totals.tree_bound == plan.totals.given == 16


@pytest.mark.parametrize("order", ["auto", "chain", "tree", "manual"])
def test_equal_and_empty_views_cost_nothing_more(order):
    matrix = collection([[1, 0, 1, 1], [1, 0, 1, 1]], [3, 4])
    plan = plan_collection(matrix, order=order)
    check_fits(plan, matrix)
    assert plan.differences(matrix.weights) == (21 if order == "manual" else 7)


def test_views_without_a_common_edge_start_from_nothing_each():
    matrix = collection(np.eye(5), [10] * 5)
    plan = plan_collection(matrix)
    assert plan.totals.tree == 50
    assert plan.totals.chain == 90


def test_manual_order_is_kept(worked_example):
    plan = plan_collection(worked_example, order="manual")
    assert [step.view for step in plan.steps] == [0, 1, 2, 3]
    assert (plan.totals.given, plan.totals.chain, plan.totals.tree) == (540, 260, 210)


def test_the_dearest_way_down_is_visited_last(worked_example):
    plan = plan_collection(worked_example, order="tree")
    each = plan.step_differences(worked_example.weights)
    ways = [each[plan.path(at)].sum() for at in range(len(plan.steps))]
    assert ways[-1] == max(ways)


def test_search_improves_on_a_walk_round_the_tree():
    random = np.random.default_rng(2)
    matrix = ViewMatrix(random.random((80, 60)) < 0.5, random.integers(1, 10**6, 80))
    plain = plan_collection(matrix, order="chain", effort=0).totals.chain
    assert plan_collection(matrix, order="chain", effort=0.1).totals.chain < plain


def test_the_tree_does_not_depend_on_the_clock():
    random = np.random.default_rng(6)
    matrix = ViewMatrix(random.random((80, 40)) < 0.5, random.integers(1, 1000, 80))
    plans = [plan_collection(matrix, order="tree") for _ in range(2)]
    assert plans[0].steps == plans[1].steps


def test_chain_bounds_are_raised_close_to_the_chain():
    random = np.random.default_rng(7)
    matrix = ViewMatrix(random.random((80, 40)) < 0.5, random.integers(1, 1000, 80))
    totals = plan_collection(matrix, order="chain").totals
    assert 0.98 * totals.chain <= totals.chain_bound <= totals.chain


def test_short_steps_keep_their_precision_beside_a_huge_first_one():
    """A first view a million times larger than any step must not round the steps away."""
    ordered = windows(60)
    shuffled = np.random.default_rng(3).permutation(60)
    table = np.vstack([ordered.membership[:, shuffled], np.ones((1, 60), dtype=bool)])
    matrix = ViewMatrix(table, np.append(ordered.weights, 2_000_000_000))
    plan = plan_collection(matrix, order="chain")
    assert plan.totals.chain == plan.totals.chain_bound


def test_default_effort_grows_slowly():
    efforts = [default_effort(views) for views in (0, 252, 300, 1000, 4582, 100_000)]
    assert efforts == sorted(efforts)
    assert efforts[1] == pytest.approx(0.1)
    assert efforts[-1] == 3.0


def test_unknown_orders_and_impossible_efforts_are_refused(worked_example):
    with pytest.raises(InputError, match="unknown order 'best'"):
        plan_collection(worked_example, order="best")
    with pytest.raises(InputError, match="effort cannot be -1"):
        plan_collection(worked_example, effort=-1)
    with pytest.raises(InputError, match="effort cannot be nan"):
        plan_collection(worked_example, effort=float("nan"))
