"""The plan of a collection: chain, tree or the user's own order, and what each would cost.

The chain and the tree are found apart, each as cheap as the effort allows; `auto` takes the
cheaper one, each stepping stone counted as one more difference, and the chain where they cost the
same, because it has nothing to undo. Up to `EXACT_VIEWS` views are planned over all distances
between them (`exact`), more by candidates (`wide`). Either way first estimates the memory that it
takes, and refuses if there is less.

`extend_plan` keeps the tree of a plan and puts a few more classes into its deltas. Which views hold
a new class is given. A stepping stone holds it where that makes the fewest differences on the edges
of the tree: the classical way of counting changes on a tree whose leaves are known, from the leaves
to the root and back. So each new class is as cheap as this tree allows; another tree may be
cheaper, which is what planning anew is for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.optimize.exact import ExactPlanning
from graphtide.optimize.tree import ViewArrangement
from graphtide.optimize.wide import WidePlanning
from graphtide.plan.collection import (
    EMPTY_VERSION,
    EXACT_VIEWS,
    CollectionPlan,
    PlanTotals,
    ViewMatrix,
    check_memory,
    matrix_bytes,
    runs_bytes,
)
from graphtide.plan.view_runs import ViewRuns, runs_of_matrix

Held = NDArray[np.bool_]
_NEVER = 1 << 30


def extend_plan(
    plan: CollectionPlan, matrix: ViewMatrix, kept: NDArray[np.int32]
) -> CollectionPlan:
    """The plan for the classes of a matrix, of which the first ones are classes of the plan.

    `kept` has for each class of the plan its number among them, -1 if it holds no edge any more.
    The totals of ways that were not taken are not worked out.
    """
    first = int(np.count_nonzero(kept >= 0))
    new = matrix.membership[first:]
    held = _held_by_steps(plan, new)
    nothing = np.zeros(len(new), np.bool_)
    steps = []
    for at, step in enumerate(plan.steps):
        before = nothing if step.parent == EMPTY_VERSION else held[step.parent]
        steps.append(
            replace(
                step,
                inserted=_joined(kept, step.inserted, held[at] & ~before, first),
                deleted=_joined(kept, step.deleted, before & ~held[at], first),
            )
        )
    return _with_totals(
        CollectionPlan(plan.kind, tuple(steps), plan.totals, matrix.classes), matrix
    )


def _joined(
    kept: NDArray[np.int32], old: NDArray[np.int32], new: Held, first: int
) -> NDArray[np.int32]:
    renumbered = kept[old]
    added = first + np.flatnonzero(new)
    return np.concatenate([renumbered[renumbered >= 0], added]).astype(np.int32)


def _held_by_steps(plan: CollectionPlan, new: Held) -> Held:
    """Which step holds which new class: steps x classes."""
    costs = np.zeros((2, len(plan.steps), len(new)), np.int64)
    for at in range(len(plan.steps) - 1, -1, -1):
        step = plan.steps[at]
        if step.view is not None:
            costs[1, at][~new[:, step.view]] = _NEVER
            costs[0, at][new[:, step.view]] = _NEVER
        if step.parent != EMPTY_VERSION:
            for value in (0, 1):
                costs[value, step.parent] += np.minimum(costs[value, at], costs[1 - value, at] + 1)
    held = np.zeros((len(plan.steps), len(new)), np.bool_)
    for at, step in enumerate(plan.steps):
        before = held[step.parent] if step.parent != EMPTY_VERSION else np.zeros(len(new), np.bool_)
        held[at] = costs[1, at] + ~before < costs[0, at] + before
    return held


def _with_totals(plan: CollectionPlan, matrix: ViewMatrix) -> CollectionPlan:
    """What is known without planning: this way, the given order, and that every edge comes once."""
    own = plan.differences(matrix.weights)
    edges = int(matrix.weights.sum())
    given = int(matrix.weights @ _changes_in_order(matrix.membership))
    chain, tree = (own if plan.kind == kind else None for kind in ("chain", "tree"))
    return replace(plan, totals=PlanTotals(given, chain, tree, edges, edges))


def _changes_in_order(membership: Held) -> NDArray[np.int64]:
    """How often each class enters or leaves when the views come in the given order."""
    before = np.zeros(len(membership), np.bool_)
    changes = np.zeros(len(membership), np.int64)
    for view in range(membership.shape[1]):
        changes += before != membership[:, view]
        before = membership[:, view]
    return changes


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


def _begin(views: Views, effort: float | None) -> ExactPlanning | WidePlanning:
    """The way of planning that suits the views, unless it would not fit into memory."""
    if isinstance(views, ViewMatrix):
        if plans_exactly(views):
            check_memory(matrix_bytes(views.views, views.classes), views.views, views.classes)
            return ExactPlanning(views, effort)
        views = runs_of_matrix(views.membership, views.weights)
    needed = runs_bytes(views.views, views.classes, len(views.bounds.values))
    check_memory(needed, views.views, views.classes)
    return WidePlanning(views)


def _chosen(order: Order, chain: ViewArrangement, tree: ViewArrangement) -> ViewArrangement:
    """The arrangement that an order asks for; for `auto` the cheaper, and the chain on a tie."""
    return min(
        (each for each in (chain, tree) if order in ("auto", each.kind)),
        key=lambda each: each.price,
    )
