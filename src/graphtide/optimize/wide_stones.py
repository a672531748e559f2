"""Stepping stones for many views: the search of `stones`, over candidates instead of all pairs.

A round looks at what is joined in the tree: where it runs a - b - c, the majority m of the three
saves (d(a,b) + d(b,c) - d(a,c)) / 2. Of all the neighbours of a point only those next to each other
in their lexical order are looked at, so a round is linear. Many triples have the same majority:
all views that lack one line and one other have the grid without the first. Such a majority becomes
one stone with everybody who asked for it as its neighbour, and that is how the two levels of N-2
are found. Where the majority is a known point, the edges to it are candidates from now on.

Kept true: the tree, with the price of its stones, never costs more than the one it started from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.candidates import SORTED_BOUNDS, order_by_bounds
from graphtide.optimize.run_points import RunPoints
from graphtide.optimize.sparse_tree import Edges, cheapest_forest, rooted_tree
from graphtide.optimize.tree import STONE_PRICE, Numbers, Tree, bypass_idle_stones
from graphtide.plan.view_runs import Int64

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
    edges: Edges
    tree: Tree
    lengths: Int64
    value: int


def spanning_tree(points: RunPoints, edges: Edges) -> WideTree:
    """The cheapest tree over the candidates, without the stones that are idle in it."""
    chosen = cheapest_forest(edges, len(points))
    tree, used = bypass_idle_stones(rooted_tree(edges.pairs[chosen], len(points)), points.terminals)
    edges = edges.keeping(used, len(points))
    points = points.keeping(used)
    below = np.arange(1, len(points))
    lengths = points.distances(tree.parents[1:], below)
    joins = Edges(np.stack([tree.parents[1:], below], axis=1), lengths)
    value = int(lengths.sum()) + STONE_PRICE * points.stones
    return WideTree(points, edges.joined(joins), tree, lengths, value)


def plant_stones(best: WideTree) -> WideTree:
    """The tree with the stones that pay."""
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


def _edges(points: RunPoints, pairs: NDArray[np.intp]) -> Edges:
    """Pairs of points, each once and none with itself, with their distances."""
    pairs = np.sort(pairs, axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return Edges(pairs, points.distances(pairs[:, 0], pairs[:, 1]))


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
    """The two edges of each triple, by the points below them."""
    middle = triples[:, 1]
    ends = triples[:, [0, 2]]
    above = tree.parents[middle][:, None] == ends
    below: NDArray[np.intp] = np.where(above, middle[:, None], ends)
    return below
