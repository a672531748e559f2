"""The plan of a collection: chain, tree or the user's own order, and what each would cost.

The chain and the tree are found apart, each as cheap as the effort allows; `auto` takes the
cheaper one, each stepping stone counted as one more difference, and the chain where they cost the
same, because it has nothing to undo.

Up to `EXACT_VIEWS` views are planned over all distances between them (`exact`), more by candidates
(`wide`). Either way first estimates the memory that it takes, and refuses if there is less.
"""

from __future__ import annotations

from typing import Literal

from graphtide.model.errors import InputError
from graphtide.optimize.arrangement import Arrangement, Planning
from graphtide.optimize.exact import ExactPlanning
from graphtide.optimize.wide import WidePlanning
from graphtide.plan.collection import CollectionPlan, PlanTotals, ViewMatrix
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
) -> CollectionPlan:
    """Arrange the views of a collection so that reaching them all is cheap.

    `effort` is the seconds to search for a better chain; by default they grow with the views, from
    a tenth of a second. Stepping stones are planted until no stone pays any more, or for three
    times as long. Views that are planned by candidates take no effort. Chain and tree are both
    found, whatever `order` says, so that the plan can tell what the other ones would cost.
    """
    if order not in ORDERS:
        raise InputError(f"unknown order '{order}'", hint=f"use one of {', '.join(ORDERS)}")
    if effort is not None and not effort >= 0:
        raise InputError(f"effort cannot be {effort} seconds", hint="give 0 or more, or nothing")
    planning = _begin(views, effort)
    given, chain, tree = planning.given(), planning.best_chain(), planning.best_tree()
    lowest = planning.lowest(chain.differences, tree.differences)
    totals = PlanTotals(given.differences, chain.differences, tree.differences, *lowest)
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


def _chosen(order: Order, chain: Arrangement, tree: Arrangement) -> Arrangement:
    """The arrangement that an order asks for; for `auto` the cheaper, and the chain on a tie."""
    return min(
        (each for each in (chain, tree) if order in ("auto", each.kind)),
        key=lambda each: each.price,
    )
