"""The plan of a collection: chain, tree or the user's own order, and what each would cost.

The chain and the tree are found apart, each as cheap as the effort allows; `auto` takes the
cheaper one, each stepping stone counted as one more difference, and the chain where they cost the
same, because it has nothing to undo.

Up to `EXACT_VIEWS` views are planned over all distances between them (`exact`), more by candidates
(`wide`). Either way first estimates the memory that it takes, and refuses if there is less.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from graphtide.model.errors import InputError
from graphtide.optimize.arrangement import Arrangement, Planning
from graphtide.optimize.bounds import union_size
from graphtide.optimize.exact import ExactPlanning
from graphtide.optimize.wide import WidePlanning
from graphtide.plan.collection import CollectionPlan, PlanStep, PlanTotals, ViewMatrix
from graphtide.plan.thresholds import EXACT_VIEWS, check_memory, matrix_bytes, runs_bytes
from graphtide.plan.view_runs import ViewRuns, runs_of_matrix

Order = Literal["auto", "chain", "tree", "manual"]
ORDERS: tuple[Order, ...] = ("auto", "chain", "tree", "manual")
Views = ViewMatrix | ViewRuns


def plan_collection(
    views: Views,
    *,
    order: Order = "auto",
    effort: float | None = None,
    compare: bool = True,
) -> CollectionPlan:
    """Arrange the views of a collection so that reaching them all is cheap.

    `effort` is the seconds to search for a better chain; by default they grow with the views, from
    a tenth of a second. Stepping stones are planted until no stone pays any more, or for three
    times as long. Views that are planned by candidates take no effort.
    `compare=False` works out only what `order` asks for and leaves out the other totals; a manual
    order then takes no planning at all.
    """
    if order not in ORDERS:
        raise InputError(f"unknown order '{order}'", hint=f"use one of {', '.join(ORDERS)}")
    if effort is not None and not effort >= 0:
        raise InputError(f"effort cannot be {effort} seconds", hint="give 0 or more, or nothing")
    if order == "manual" and not compare:
        return _unplanned(views)
    planning = _begin(views, effort)
    given = planning.given()
    chain = planning.best_chain() if compare or order != "tree" else None
    tree = planning.best_tree() if compare or order != "chain" else None
    totals = _totals(planning, given, chain, tree)
    chosen = given if order == "manual" else _chosen(order, chain, tree)
    return CollectionPlan(chosen.kind, chosen.steps(), totals, views.classes)


def plans_exactly(views: Views) -> bool:
    """True where a collection is small enough for all distances between its views."""
    return isinstance(views, ViewMatrix) and views.views <= EXACT_VIEWS


def _begin(views: Views, effort: float | None) -> Planning:
    """The way of planning that suits the views, unless it would not fit into memory."""
    if isinstance(views, ViewMatrix):
        if plans_exactly(views):
            check_memory(matrix_bytes(views.views, views.classes), views.views, views.classes)
            return ExactPlanning(views, effort)
        views = runs_of_matrix(views.membership, views.weights)
    needed = runs_bytes(views.views, views.classes, len(views.bounds.values))
    check_memory(needed, views.views, views.classes)
    return WidePlanning(views)


def _totals(
    planning: Planning, given: Arrangement, chain: Arrangement | None, tree: Arrangement | None
) -> PlanTotals:
    best_chain = chain.differences if chain else given.differences
    lowest = planning.lowest(best_chain, tree.differences if tree else best_chain)
    return PlanTotals(
        given=given.differences,
        chain=chain.differences if chain else None,
        tree=tree.differences if tree else None,
        chain_bound=lowest[0],
        tree_bound=lowest[1],
    )


def _chosen(order: Order, chain: Arrangement | None, tree: Arrangement | None) -> Arrangement:
    """The arrangement that an order asks for; for `auto` the cheaper, and the chain on a tie."""
    found = [each for each in (chain, tree) if each and order in ("auto", each.kind)]
    return min(found, key=lambda each: each.price)


def _unplanned(views: Views) -> CollectionPlan:
    """The given order as it is; its bounds are the union alone, which needs no distances."""
    steps: list[PlanStep] = []
    before = np.zeros(views.classes, dtype=np.bool_)
    for view in range(views.views):
        after = views.held(view)
        inserted = np.flatnonzero(after & ~before).astype(np.int32)
        deleted = np.flatnonzero(before & ~after).astype(np.int32)
        steps.append(PlanStep(view, None, view - 1, inserted, deleted))
        before = after
    lowest = union_size(views)
    plan = CollectionPlan("manual", tuple(steps), PlanTotals(0, None, None, 0, 0), views.classes)
    given = plan.differences(views.weights)
    return replace(plan, totals=PlanTotals(given, None, None, lowest, lowest))
