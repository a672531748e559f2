"""Stepping stones for many views: the search of `stones`, over candidates instead of all pairs.

A round looks at what is joined in the tree: where it runs a - b - c, the majority m of the three
saves (d(a,b) + d(b,c) - d(a,c)) / 2. Of all the neighbours of a point only those next to each other
in their lexical order are looked at, so a round is linear. Many triples have the same majority:
all views that lack one line and one other have the grid without the first. Such a majority becomes
one stone with everybody who asked for it as its neighbour, and that is how the two levels of N-2
are found. Where the majority is a known point, the edges to it are candidates from now on.

Kept true: the tree never costs more than the one it started from, and every stone that is kept
saves more than its price over the cheapest tree among its neighbours if they are three, and over a
path through them if they are more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.candidates import SORTED_BOUNDS, joined_pairs, order_by_bounds
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

DISMISSALS = 8
"""Rounds of sending away stones that do not pay; windows and outages need one."""


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
    tree, kept = bypass_idle_stones(rooted_tree(edges.pairs[chosen], len(points)), points.terminals)
    edges = edges.keeping(kept, len(points))
    points = points.keeping(kept)
    below = np.arange(1, len(points))
    lengths = points.distances(tree.parents[1:], below)
    joins = Edges(np.stack([tree.parents[1:], below], axis=1), lengths)
    value = int(lengths.sum()) + STONE_PRICE * points.stones
    return WideTree(points, edges.joined(joins), tree, lengths, value)


def plant_stones(start: WideTree, common: WideTree) -> WideTree:
    """The tree with the stones that pay; `common` is the one with the stones for everybody."""
    best = min((start, _worthy(common)), key=lambda found: found.value)
    affordable = SORTED_BOUNDS // (SORTS_A_ROUND * len(start.points.bounds.values) + 1)
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
    pairs = [spokes, *_among_stones(planted.points, points, new)]
    kept = np.concatenate([np.arange(len(planted.points)), new])
    found = _edges(points, np.concatenate(pairs))
    edges = planted.edges.joined(found).keeping(kept, len(points))
    return _worthy(spanning_tree(points.keeping(kept), edges))


def _among_stones(before: RunPoints, points: RunPoints, new: Numbers) -> list[NDArray[np.intp]]:
    """New stones with each other, in lexical order, and with the oldest stones."""
    order = order_by_bounds(points)
    stones = order[np.isin(order, new)]
    old = range(before.terminals, min(len(before), before.terminals + 4))
    return [
        joined_pairs(stones),
        *(np.stack([new, np.full_like(new, stone)], axis=1) for stone in old),
    ]


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
    found: NDArray[np.intp] = np.where(above, middle[:, None], ends)
    return found


def _worthy(planted: WideTree) -> WideTree:
    """The tree without the stones that save no more than their price."""
    for _ in range(DISMISSALS):
        unworthy, joins = _unworthy(planted)
        if not len(unworthy):
            break
        points = planted.points
        kept = np.delete(np.arange(len(points)), unworthy)
        edges = planted.edges.joined(_edges(points, joins)).keeping(kept, len(points))
        planted = spanning_tree(points.keeping(kept), edges)
    return planted


def _unworthy(planted: WideTree) -> tuple[Numbers, NDArray[np.intp]]:
    """Stones that do not pay, no two of them joined, and what joins their neighbours instead."""
    points = planted.points
    middle, end, length = _spokes(planted)
    pairs, owner = _joined_otherwise(points, middle, end)
    apart = points.distances(*pairs.T)
    earned, longest = np.zeros((2, len(points)), np.int64)
    np.add.at(earned, owner, apart)
    np.maximum.at(longest, owner, apart)
    np.subtract.at(earned, middle, length)
    # The cheapest tree over three points leaves out the longest of three distances.
    earned -= np.where(np.bincount(middle, minlength=len(points)) == 3, longest, 0)
    idle = np.flatnonzero(earned <= STONE_PRICE)
    gone = _apart(planted.tree, idle[idle >= points.terminals])
    return np.flatnonzero(gone), pairs[gone[owner]]


def _joined_otherwise(
    points: RunPoints, middle: Numbers, end: Numbers
) -> tuple[NDArray[np.intp], Numbers]:
    """The path through each stone's neighbours, closed where there are three; and the stones."""
    stone = middle >= points.terminals
    middle, end = middle[stone], end[stone]
    at = np.flatnonzero(middle[1:] == middle[:-1])
    starts = np.flatnonzero(np.diff(middle, prepend=-1))
    three = starts[np.diff(starts, append=len(middle)) == 3]
    first, last = np.concatenate([at, three]), np.concatenate([at + 1, three + 2])
    return np.stack([end[first], end[last]], axis=1), middle[first]


def _apart(tree: Tree, stones: Numbers) -> NDArray[np.bool_]:
    """As many of the stones as have none of them for a parent, the last first."""
    gone = np.zeros(len(tree.parents), np.bool_)
    gone[stones] = True
    for stone in stones[::-1].tolist():
        gone[stone] &= not gone[tree.parents[stone]]
    return gone
