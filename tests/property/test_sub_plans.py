"""A cut plan makes every view, and every sub-plan of it stands alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.optimize import plan_collection
from graphtide.optimize.cutting import (
    choose_cutting,
    cuts_into,
    paying,
    step_costs,
    sub_plan_costs,
)
from graphtide.optimize.strategy import StepSizes
from graphtide.plan.collection import cut_plan, needed_ancestors
from graphtide.run.collection.sub_plans import cutting_for_slots
from tests.examples import examples
from tests.oracle import planning as slow
from tests.property.view_matrices import check_fits, matrices

ORDERS = ("chain", "tree", "manual")


@settings(deadline=None, max_examples=examples(200))
@given(matrices(most_views=12, most_classes=9), st.sampled_from(ORDERS), st.data())
def test_a_cut_plan_makes_every_view(matrix, order, data):
    plan = plan_collection(matrix, order=order, effort=0.01)
    places = st.integers(1, max(1, len(plan.steps) - 1))
    cuts = sorted(data.draw(st.sets(places, max_size=5))) if len(plan.steps) > 1 else []
    names = [f"v{at}" for at in range(matrix.views)]
    cut = cut_plan(plan, cuts, names)
    check_fits(cut.plan, matrix)
    assert len(cut) == len(cuts) + 1
    assert [cut.firsts[0], cut.firsts[-1]] == [0, len(cut.plan.steps)]
    made = []
    for sub_plan in cut.sub_plans:
        steps = [(s.parent, s.inserted.tolist(), s.deleted.tolist()) for s in sub_plan.steps]
        made += zip(sub_plan.steps, slow.reassemble(steps), strict=True)
    views = {step.view: held for step, held in made if step.view is not None}
    columns = matrix.membership.T
    assert views == {v: set(np.flatnonzero(c).tolist()) for v, c in enumerate(columns)}
    assert [step.view for step, _ in made] == [step.view for step in cut.plan.steps]


@settings(deadline=None, max_examples=examples(60))
@given(matrices(most_views=9, fewest_views=2), st.data())
def test_only_what_is_hung_on_twice_stands_in_a_sub_plan_again(matrix, data):
    plan = plan_collection(matrix, order="tree", effort=0.01)
    first = data.draw(st.integers(1, len(plan.steps) - 1))
    behind = data.draw(st.integers(first + 1, len(plan.steps)))
    parents = [step.parent for step in plan.steps[first:behind]]
    above = {parent for parent in parents if 0 <= parent < first}
    lone = parents[0]
    if parents.count(lone) == 1:
        above.discard(lone)
    assert needed_ancestors(plan, first, behind) == sorted(above)
    assert above <= set(plan.path(plan.steps[first].parent))


def sizes_of(parent, delta, version):
    count = len(parent)
    end = list(range(1, count + 1))
    for at in range(count - 1, -1, -1):
        if parent[at] >= 0:
            end[parent[at]] = max(end[parent[at]], end[at])
    columns = (np.array(column, np.int64) for column in (version, delta))
    return StepSizes(*columns, np.array(parent, np.int32), np.array(end, np.int32), 10)


def test_a_chain_is_cut_into_equal_parts():
    steps = 1000
    sizes = sizes_of([at - 1 for at in range(steps)], [20_000] * steps, [100_000] * steps)
    costs = step_costs(sizes, scratch=False)
    cutting = choose_cutting(costs, 2)
    assert cutting.workers == 2
    assert cutting.gain > 1.8
    assert paying(cutting)
    each = sub_plan_costs(costs, cutting.cuts)
    assert each.max() < 2 * each.min()
    assert all(np.diff(cutting.cuts) > 0)


def test_slots_of_spark_have_at_least_four_sub_plans_each_where_that_costs_little():
    steps, size = 1000, 10_000_000
    sizes = sizes_of([at - 1 for at in range(steps)], [size, *[40_000] * 999], [size] * steps)
    costs = step_costs(sizes, scratch=False)
    assert len(choose_cutting(costs, 2).cuts) + 1 == 4
    cutting = cutting_for_slots(costs, 2)
    assert len(cutting.cuts) + 1 == 8
    assert cutting.gain > 1.6


def test_a_chain_of_small_steps_on_a_large_graph_stays_whole():
    sizes = sizes_of([at - 1 for at in range(100)], [10_000_000, *[1] * 99], [10_000_000] * 100)
    cutting = choose_cutting(step_costs(sizes, scratch=False), 8)
    assert (cutting.workers, cutting.cuts) == (1, ())
    assert not paying(cutting)


def test_small_runs_do_not_pay():
    sizes = sizes_of([at - 1 for at in range(50)], [100] * 50, [1000] * 50)
    assert not paying(choose_cutting(step_costs(sizes, scratch=False), 2))


def test_threads_do_not_pay_where_python_makes_small_steps_one_by_one():
    """A walk program without each of many edges: threads would take turns at Python's lock."""
    count = 20_000
    sizes = sizes_of([-1, *[0] * (count - 1)], [20_000, *[1] * (count - 1)], [20_000] * count)
    costs = step_costs(sizes, scratch=False, dearer=10.0, one_by_one=True)
    assert not paying(choose_cutting(costs, 2))
    assert paying(choose_cutting(replace(costs, locked=0.0), 2))
    assert cutting_for_slots(step_costs(sizes, scratch=True, one_by_one=True), 8).workers == 8


def test_threads_pay_where_large_steps_are_made_one_by_one():
    steps = 1000
    sizes = sizes_of([at - 1 for at in range(steps)], [20_000] * steps, [100_000] * steps)
    assert paying(choose_cutting(step_costs(sizes, scratch=False, one_by_one=True), 2))


def test_cuts_prefer_steps_that_are_loaded_from_nothing():
    parent = [-1 if at % 10 == 0 else at - 1 for at in range(100)]
    sizes = sizes_of(parent, [500_000 if at < 0 else 100 for at in parent], [500_000] * 100)
    costs = step_costs(sizes, scratch=False)
    assert all(parent[cut] < 0 for cut in cuts_into(costs, 4))


def test_a_plan_of_no_steps_is_not_cut():
    assert choose_cutting(step_costs(sizes_of([], [], []), scratch=False), 4).cuts == ()
