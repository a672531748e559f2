"""Plans as values: how they print, compare, walk, and refuse what does not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphtide.model.errors import InputError
from graphtide.plan.collection import CollectionPlan, PlanStep, PlanTotals, ViewMatrix
from tests.property.view_matrices import check_fits

MATRIX = ViewMatrix(np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]], dtype=bool), np.array([5, 7, 11]))
TOTALS = PlanTotals(given=47, chain=40, tree=35, chain_bound=35, tree_bound=23)


def step(view, parent, inserted=(), deleted=(), stone=None):
    numbers = [np.array(classes, dtype=np.int32) for classes in (inserted, deleted)]
    return PlanStep(view, stone, parent, *numbers)


@pytest.fixture
def plan():
    """The whole graph loaded as view 1; views 0 and 2 hang on it."""
    steps = (step(1, -1, [0, 1, 2]), step(0, 0, [], [1]), step(2, 0, [], [0]))
    return CollectionPlan("tree", steps, TOTALS, 3)


def test_a_plan_walks_counts_and_fits_its_views(plan):
    check_fits(plan, MATRIX)
    assert plan.step_differences(MATRIX.weights).tolist() == [23, 7, 5]
    assert plan.differences(MATRIX.weights) == 35
    assert plan.path(2) == [0, 2]
    assert plan.view_steps == {1: 0, 0: 1, 2: 2}
    walked = [held.tolist() for held in map(np.copy, plan.versions())]
    assert walked == [plan.membership(at).tolist() for at in range(3)]


def test_explain_draws_the_tree(plan):
    stone = replace(plan, steps=(*plan.steps, step(None, 0, [], [2], stone="majority 1")))
    assert stone.explain(["a", "b", "c"], MATRIX.weights).splitlines() == [
        "tree of 3 views and 1 stepping stone",
        "  given order: 47 differences",
        "  chain: 40 differences (no chain needs fewer than 35)",
        "  tree: 35 differences (no tree needs fewer than 23)",
        "  b  +23 -0",
        "  ├─ a  +0 -7",
        "  ├─ c  +0 -5",
        "  └─ (majority 1)  +0 -11",
    ]


def test_explain_without_names_counts_classes_and_skips_what_is_too_large(plan):
    assert "  ├─ view 0  +0 -1 classes" in plan.explain()
    chain = [step(at, at - 1) for at in range(100)]
    long = CollectionPlan("chain", tuple(chain), replace(TOTALS, tree=None), 3)
    assert long.explain().endswith("100 steps, too many to draw")
    assert "tree: not planned" in long.explain()


def test_plans_compare_and_hash_by_what_they_hold(plan):
    same = replace(plan, steps=tuple(replace(s, inserted=s.inserted.copy()) for s in plan.steps))
    assert same == plan
    assert hash(same) == hash(plan)
    assert replace(plan, steps=plan.steps[:2]) != plan


def test_matrices_must_be_boolean_with_a_weight_a_class():
    with pytest.raises(InputError, match="boolean matrix"):
        ViewMatrix(np.zeros((2, 2)), np.ones(2, dtype=np.int64))
    with pytest.raises(InputError, match="at least one edge"):
        ViewMatrix(np.zeros((2, 2), dtype=bool), np.array([1, 0]))
    with pytest.raises(InputError, match="at least one edge"):
        ViewMatrix(np.zeros((2, 2), dtype=bool), np.ones(3, dtype=np.int64))


def test_sizes_are_edges_a_view():
    assert MATRIX.sizes().tolist() == [16, 23, 18]
