"""Planning many views: candidates from structure, exact distances for those alone.

All distances between a hundred thousand views would be forty gigabytes. But near views mostly
stand next to each other in some order that costs a sort (`run_points`). Neighbours in these orders
are the candidates, and so is every view with the empty version. The tree is the cheapest one over
the candidates, with stones where they pay; the chain is the best of the orders and of a walk round
the tree.

Stones are searched for as in `exact`, over candidates instead of all pairs. A round looks at what
is joined in the tree: where it runs a - b - c, the majority m of the three saves
(d(a,b) + d(b,c) - d(a,c)) / 2. Of all the neighbours of a point only those next to each other in
their lexical order are looked at, so a round is linear. Many triples have the same majority: all
views that lack one line and one other have the grid without the first. Such a majority becomes one
stone with everybody who asked for it as its neighbour, and that is how the two levels of N-2 are
found. Where the majority is a known point, the edges to it are candidates from now on.

Kept true: chain and tree are never dearer than the given order, because its steps are among the
candidates; the tree, with the price of its stones, never costs more than the one it started from;
time and memory are those of sorting bounds a few times.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.bounds import many_views_chain_bound, many_views_tree_bound
from graphtide.optimize.run_points import (
    SORTED_BOUNDS,
    CandidateEdges,
    RunPoints,
    cheapest_forest,
    joined_pairs,
    order_by_bounds,
    points_of_views,
    rooted_tree,
    view_orders,
)
from graphtide.optimize.tree import (
    STONE_PRICE,
    Numbers,
    Tree,
    ViewArrangement,
    bypass_idle_stones,
    path_tree,
    plan_steps,
    visiting_order,
)
from graphtide.plan.collection import Classes, PlanKind, PlanStep
from graphtide.plan.view_runs import Int64, ViewRuns, bounds_of

MOST_ROUNDS = 6
"""Rounds of stones at most; windows and outages are done after two."""

SORTS_A_ROUND = 8
"""How often a round sorts the bounds of all points, or about."""

MOST_TRIPLES = 200_000
"""Triples that a round looks at, those with the largest savings first."""


class WideTree(NamedTuple):
    """A tree over points, the candidate edges it was chosen from, and its value.

    `lengths` are the distances of every point but the root to its parent; the value is their sum
    and the price of the stones.
    """

    points: RunPoints
    edges: CandidateEdges
    tree: Tree
    lengths: Int64
    value: int


def spanning_tree(points: RunPoints, edges: CandidateEdges) -> WideTree:
    """The cheapest tree over the candidates, without the stones that are idle in it."""
    chosen = cheapest_forest(edges, len(points))
    tree, used = bypass_idle_stones(rooted_tree(edges.pairs[chosen], len(points)), points.terminals)
    edges = edges.keeping(used, len(points))
    points = points.keeping(used)
    below = np.arange(1, len(points))
    lengths = points.distances(tree.parents[1:], below)
    joins = CandidateEdges(np.stack([tree.parents[1:], below], axis=1), lengths)
    value = int(lengths.sum()) + STONE_PRICE * points.stones
    return WideTree(points, edges.joined(joins), tree, lengths, value)


def plant_stones(best: WideTree) -> WideTree:
    affordable = SORTED_BOUNDS // (SORTS_A_ROUND * len(best.points.bounds.values) + 1)
    for _ in range(min(MOST_ROUNDS, affordable)):
        grown = _one_round(best)
        if grown is None or grown.value >= best.value:
            break
        best = grown
    return best


def _one_round(planted: WideTree) -> WideTree | None:
    """Plant the majorities that pay; None where there is none."""
    triples, savings = _triples(planted)
    if not len(triples):
        return None
    majorities = planted.points.majorities(triples)
    points, stone = planted.points.with_stones(majorities)
    accepted = _accepted(planted, triples, savings, stone)
    if not accepted.any():
        return None
    spokes = np.concatenate([np.stack([stone, end], axis=1) for end in triples.T])
    spokes = spokes[np.tile(accepted, 3)]
    new = np.unique(stone[accepted & (stone >= len(planted.points))])
    chosen = np.concatenate([np.arange(len(planted.points)), new])
    edges = planted.edges.joined(_edges(points, spokes)).keeping(chosen, len(points))
    return spanning_tree(points.keeping(chosen), edges)


def _edges(points: RunPoints, pairs: NDArray[np.intp]) -> CandidateEdges:
    """Pairs of points, each once and none with itself, with their distances."""
    pairs = np.sort(pairs, axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return CandidateEdges(pairs, points.distances(pairs[:, 0], pairs[:, 1]))


def _spokes(planted: WideTree) -> tuple[Numbers, Numbers, Int64]:
    """Every tree edge from both its ends, by the one and then by the lexical order of the other."""
    rank = np.argsort(order_by_bounds(planted.points))
    below, above = np.arange(1, len(planted.points)), planted.tree.parents[1:]
    middle, end = np.concatenate([above, below]), np.concatenate([below, above])
    order = np.lexsort((rank[end], middle))
    return middle[order], end[order], np.tile(planted.lengths, 2)[order]


def _triples(planted: WideTree) -> tuple[NDArray[np.intp], Int64]:
    """Rows a, b, c of points joined a - b - c in the tree, and what their majority saves."""
    middle, end, length = _spokes(planted)
    at = np.flatnonzero(middle[1:] == middle[:-1])
    triples = np.stack([end[at], middle[at], end[at + 1]], axis=1)
    apart = planted.points.distances(triples[:, 0], triples[:, 2])
    savings = (length[at] + length[at + 1] - apart) // 2
    best = np.argsort(-savings, kind="stable")[:MOST_TRIPLES]
    best = best[savings[best] > 0]
    return triples[best], savings[best]


def _accepted(
    planted: WideTree,
    triples: NDArray[np.intp],
    savings: Int64,
    stone: Numbers,
) -> NDArray[np.bool_]:
    """The triples whose majority is taken: those that save most first, each tree edge once."""
    known = len(planted.points)
    joins = _tree_edges(planted.tree, triples)
    total = np.bincount(stone, weights=savings)
    order = np.lexsort((stone, -total[stone]))
    cuts = np.flatnonzero(np.diff(stone[order])) + 1
    used = np.zeros(known, np.bool_)
    accepted = np.zeros(len(triples), np.bool_)
    for group in np.split(order, cuts):
        free = group[~used[joins[group]].any(axis=1)]
        gain = savings[free].sum()
        if len(free) and (stone[group[0]] < known or gain > STONE_PRICE):
            accepted[free] = True
            used[joins[free].ravel()] = True
    return accepted


def _tree_edges(tree: Tree, triples: NDArray[np.intp]) -> NDArray[np.intp]:
    middle = triples[:, 1]
    ends = triples[:, [0, 2]]
    above = tree.parents[middle][:, None] == ends
    below: NDArray[np.intp] = np.where(above, middle[:, None], ends)
    return below


class WidePlanning:
    """Views as runs, orders of them, and the cheapest tree over their neighbours."""

    def __init__(self, views: ViewRuns) -> None:
        self._views = views
        self._points = points_of_views(views)
        self._orders = view_orders(self._points)

    def given(self) -> ViewArrangement:
        return self._chain("manual", self._orders[0])

    def best_chain(self) -> ViewArrangement:
        """The cheapest of the orders and of a walk round the tree, each from its smaller end."""
        spanning = self._spanning
        walk = np.array(visiting_order(spanning.lengths, spanning.tree), np.intp)
        turned = [self._from_smaller_end(order) for order in (*self._orders, walk)]
        return self._chain("chain", min(turned, key=lambda found: found[0])[1])

    def best_tree(self) -> ViewArrangement:
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
        edges = CandidateEdges(pairs, points.distances(*pairs.T))
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

    def _chain(self, kind: PlanKind, order: Numbers) -> ViewArrangement:
        tree, points = path_tree(order), self._points
        lengths = points.distances(tree.parents[1:], np.arange(1, len(points)))
        return self._arranged(kind, points, tree, lengths)

    def _arranged(
        self, kind: PlanKind, points: RunPoints, tree: Tree, lengths: Int64
    ) -> ViewArrangement:
        def steps() -> tuple[PlanStep, ...]:
            names = stone_names(points, self._views)
            deltas = _deltas(points, tree)
            return plan_steps(tree, lengths, points.terminals, names, lambda at: deltas[at - 1])

        return ViewArrangement(kind, tree, lengths, points.stones, steps)


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


def _star(points: RunPoints, middle: int, others: Numbers) -> CandidateEdges:
    here = np.full(len(others), middle)
    return CandidateEdges(np.stack([here, others], axis=1), points.distances(here, others))


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
