"""Planning many views: candidates from structure, exact distances for those alone.

All distances between a hundred thousand views would be forty gigabytes. But near views mostly
stand next to each other in some order that costs a sort (`candidates`). Neighbours in these orders
are the candidates, and so is every view with the empty version. The tree is the cheapest one over
the candidates, with stones where they pay (`wide_stones`); the chain is the best of the orders and
of a walk round the tree.

Kept true: chain and tree are never dearer than the given order, because its steps are among the
candidates; time and memory are those of sorting bounds a few times.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphtide.optimize.arrangement import Arrangement
from graphtide.optimize.bounds import many_views_chain_bound, many_views_tree_bound
from graphtide.optimize.candidates import joined_pairs, view_orders
from graphtide.optimize.run_points import RunPoints, points_of_views
from graphtide.optimize.sparse_tree import Edges
from graphtide.optimize.steps import plan_steps, visiting_order
from graphtide.optimize.tree import Numbers, Tree, path_tree
from graphtide.optimize.wide_stones import WideTree, plant_stones, spanning_tree
from graphtide.plan.collection import Classes, PlanKind, PlanStep
from graphtide.plan.view_runs import Int64, ViewRuns, bounds_of


class WidePlanning:
    """Views as runs, orders of them, and the cheapest tree over their neighbours."""

    def __init__(self, views: ViewRuns) -> None:
        self._views = views
        self._points = points_of_views(views)
        self._orders = view_orders(self._points)

    def given(self) -> Arrangement:
        """The views in their given order."""
        return self._chain("manual", self._orders[0])

    def best_chain(self) -> Arrangement:
        """The cheapest of the orders and of a walk round the tree, each from its smaller end."""
        spanning = self._spanning
        walk = np.array(visiting_order(spanning.lengths, spanning.tree), np.intp)
        turned = [self._from_smaller_end(order) for order in (*self._orders, walk)]
        return self._chain("chain", min(turned, key=lambda found: found[0])[1])

    def best_tree(self) -> Arrangement:
        """The cheapest tree over the candidates, with the stepping stones that pay."""
        planted = plant_stones(self._spanning)
        return self._arranged("tree", planted.points, planted.tree, planted.lengths)

    def lowest(self, chain: int, tree: int) -> tuple[int, int]:
        """How few differences any chain, and any tree, needs."""
        return many_views_chain_bound(self._views), many_views_tree_bound(self._views)

    @cached_property
    def _spanning(self) -> WideTree:
        """The cheapest tree over the candidates among the views."""
        points = self._points
        pairs = np.concatenate([joined_pairs(np.append(0, order)) for order in self._orders])
        edges = Edges(pairs, points.distances(*pairs.T))
        return spanning_tree(points, edges.joined(_star(points, 0, np.arange(1, len(points)))))

    def _from_smaller_end(self, order: Numbers) -> tuple[int, Numbers]:
        """An order in the cheaper of its two directions, behind the differences of its chain."""
        if not len(order):
            return 0, order
        first, last = self._sizes[order[[0, -1]]].tolist()
        between = int(self._points.distances(order[:-1], order[1:]).sum())
        return between + min(first, last), order if first <= last else order[::-1]

    @cached_property
    def _sizes(self) -> Int64:
        return self._points.sizes()

    def _chain(self, kind: PlanKind, order: Numbers) -> Arrangement:
        tree, points = path_tree(order), self._points
        lengths = points.distances(tree.parents[1:], np.arange(1, len(points)))
        return self._arranged(kind, points, tree, lengths)

    def _arranged(
        self, kind: PlanKind, points: RunPoints, tree: Tree, lengths: Int64
    ) -> Arrangement:
        def steps() -> tuple[PlanStep, ...]:
            names = stone_names(points, self._views)
            deltas = _deltas(points, tree)
            return plan_steps(tree, lengths, points.terminals, names, lambda at: deltas[at - 1])

        return Arrangement(kind, tree, lengths, points.stones, steps)


def stone_names(points: RunPoints, views: ViewRuns) -> dict[int, str]:
    """What each stone is: whole graph, union, intersection, or a majority of its own."""
    cover = views.cover()
    known = {
        bounds_of(cover == views.views).tobytes(): "intersection",
        bounds_of(cover > 0).tobytes(): "union",
        bounds_of(np.ones(views.classes, np.bool_)).tobytes(): "whole graph",
    }
    names: dict[int, str] = {}
    for stone in range(points.terminals, len(points)):
        held = points.bounds.taken(np.array([stone])).values.tobytes()
        names[stone] = known.get(held, f"majority {stone - points.terminals + 1}")
    return names


def _star(points: RunPoints, middle: int, others: Numbers) -> Edges:
    """One point with many."""
    here = np.full(len(others), middle)
    return Edges(np.stack([here, others], axis=1), points.distances(here, others))


def _deltas(points: RunPoints, tree: Tree) -> list[tuple[Classes, Classes]]:
    """The classes that enter and leave on the way to every point but the root."""
    deltas: list[tuple[Classes, Classes]] = []
    for lists in points.deltas(tree.parents[1:], np.arange(1, len(points))):
        parts = [
            np.split(item.values.astype(np.int32), item.offsets[1:-1]) if len(item) else []
            for item in lists
        ]
        deltas.extend(zip(*parts, strict=True))
    return deltas
