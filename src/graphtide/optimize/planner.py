"""The plan of a collection: chain, tree or the user's own order, and what each would cost.

The chain and the tree are found apart, each as cheap as the effort allows; `auto` takes the
cheaper one by the given costs, and the chain where they cost the same, because it has nothing to
undo. Totals are plain differences whatever the costs, so that they can be compared.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from graphtide.model.errors import InputError
from graphtide.optimize.bounds import chain_bound, tree_bound, union_size
from graphtide.optimize.chain import chain_problem, find_chain
from graphtide.optimize.cloud import Cloud, cloud_of_views
from graphtide.optimize.costs import Costs
from graphtide.optimize.directed import direct_tree
from graphtide.optimize.distances import view_distances
from graphtide.optimize.shaking import shake_stones
from graphtide.optimize.steps import dearest_ways_down, plan_steps
from graphtide.optimize.stones import plant_stones
from graphtide.optimize.tree import Tree, edge_lengths, minimum_spanning_tree, path_tree
from graphtide.plan.collection import CollectionPlan, PlanKind, PlanStep, PlanTotals, ViewMatrix

Order = Literal["auto", "chain", "tree", "manual"]
ORDERS: tuple[Order, ...] = ("auto", "chain", "tree", "manual")
DEFAULT_COSTS = Costs()

PATIENCE = 3
"""Stones are planted until they stop paying, or for this many times the effort, if over 1 s."""


class _Planning(NamedTuple):
    """What both arrangements start from: the views, their spanning tree, prices and effort."""

    views: Cloud
    spanning: Tree
    costs: Costs
    effort: float | None

    @property
    def seconds(self) -> float:
        """The effort asked for, or what the number of views deserves."""
        return default_effort(self.views.terminals) if self.effort is None else self.effort


class _Arrangement(NamedTuple):
    """One way to reach all views, and its differences."""

    kind: PlanKind
    cloud: Cloud
    tree: Tree

    @property
    def differences(self) -> int:
        return int(edge_lengths(self.cloud.distance, self.tree).sum())


def plan_collection(
    matrix: ViewMatrix,
    *,
    order: Order = "auto",
    effort: float | None = None,
    costs: Costs = DEFAULT_COSTS,
    compare: bool = True,
) -> CollectionPlan:
    """Arrange the views of a collection so that reaching them all is cheap.

    `effort` is the seconds to search for a better chain, and as many for better stepping stones.
    By default the first grows with the views from a tenth of a second, and the second ends by
    itself where no stone pays any more. `compare=False` works out only what `order` asks for and
    leaves out the other totals; a manual order then takes no planning at all.
    """
    if order not in ORDERS:
        raise InputError(f"unknown order '{order}'", hint=f"use one of {', '.join(ORDERS)}")
    if order == "manual" and not compare:
        return _unplanned(matrix)
    planning = _prepare(matrix, effort, costs)
    chain = _best_chain(planning) if compare or order != "tree" else None
    tree = _best_tree(planning) if compare or order != "chain" else None
    totals = _totals(matrix, planning, chain, tree)
    return _as_plan(_arrangement(order, chain, tree, planning), totals)


def default_effort(views: int) -> float:
    """Seconds of search by default: 0.1 up to 300 views, 0.6 for 1,000, at most 3."""
    return min(3.0, 0.1 * max(1.0, math.pow(views / 300, 1.5)))


def _prepare(matrix: ViewMatrix, effort: float | None, costs: Costs) -> _Planning:
    if effort is not None and not effort >= 0:
        raise InputError(f"effort cannot be {effort} seconds", hint="give 0 or more, or nothing")
    distance = view_distances(matrix)
    views = cloud_of_views(matrix, distance)
    return _Planning(views, minimum_spanning_tree(distance), costs, effort)


def _manual(planning: _Planning) -> _Arrangement:
    views = planning.views
    return _Arrangement("manual", views, path_tree(np.arange(1, views.terminals)))


def _best_chain(planning: _Planning) -> _Arrangement:
    problem = chain_problem(planning.views.distance, planning.costs)
    order = find_chain(problem, planning.spanning, planning.seconds)
    return _Arrangement("chain", planning.views, path_tree(order))


def _best_tree(planning: _Planning) -> _Arrangement:
    price, start = planning.costs.stone_in_differences, time.monotonic()
    patience = max(1.0, PATIENCE * planning.seconds)
    planted = plant_stones(planning.views, price, start + patience)
    if planning.effort is not None:
        planted = shake_stones(planted, price, start + planning.effort)
    if planning.costs.symmetric:
        return _Arrangement("tree", planted.cloud, planted.tree)
    return _Arrangement("tree", *direct_tree(planning.views, planted.cloud, planning.costs))


def _arrangement(
    order: Order, chain: _Arrangement | None, tree: _Arrangement | None, planning: _Planning
) -> _Arrangement:
    """The arrangement that an order asks for; for `auto` the cheaper, and the chain on a tie."""
    if order == "manual":
        return _manual(planning)
    found = [each for each in (chain, tree) if each and order in ("auto", each.kind)]
    return min(found, key=lambda each: _charge(each, planning.costs))


def _charge(arrangement: _Arrangement, costs: Costs) -> float:
    """What the costs make of an arrangement: advances, rollbacks and stones."""
    cloud, tree = arrangement.cloud, arrangement.tree
    sizes = cloud.sizes()
    growth = int((sizes[1:] - sizes[tree.parents[1:]]).sum())
    total = arrangement.differences
    advanced = costs.insert * (total + growth) / 2 + costs.delete * (total - growth) / 2
    undone = total - int(dearest_ways_down(cloud, tree)[0])
    return costs.advance * advanced + costs.rollback * undone + costs.stone * cloud.stones


def _totals(
    matrix: ViewMatrix,
    planning: _Planning,
    chain: _Arrangement | None,
    tree: _Arrangement | None,
) -> PlanTotals:
    distance, seconds = planning.views.distance, planning.seconds / 2
    given = _manual(planning).differences
    best_chain = chain.differences if chain else given
    best_tree = tree.differences if tree else best_chain
    return PlanTotals(
        given=given,
        chain=chain.differences if chain else None,
        tree=tree.differences if tree else None,
        chain_bound=chain_bound(distance, planning.spanning, best_chain, seconds),
        tree_bound=tree_bound(matrix, distance, best_tree, seconds),
    )


def _as_plan(arrangement: _Arrangement, totals: PlanTotals) -> CollectionPlan:
    steps = plan_steps(arrangement.cloud, arrangement.tree)
    return CollectionPlan(arrangement.kind, steps, totals, arrangement.cloud.points.shape[1])


def _unplanned(matrix: ViewMatrix) -> CollectionPlan:
    """The given order as it is; its bounds are the union alone, which needs no distances."""
    steps: list[PlanStep] = []
    before = np.zeros(matrix.classes, dtype=np.bool_)
    for view in range(matrix.views):
        after = matrix.membership[:, view]
        inserted = np.flatnonzero(after & ~before).astype(np.int32)
        deleted = np.flatnonzero(before & ~after).astype(np.int32)
        steps.append(PlanStep(view, None, view - 1, inserted, deleted))
        before = after
    lowest = union_size(matrix)
    plan = CollectionPlan("manual", tuple(steps), PlanTotals(0, None, None, 0, 0), matrix.classes)
    given = plan.differences(matrix.weights)
    return replace(plan, totals=PlanTotals(given, None, None, lowest, lowest))
