"""The cheapest tree over the edges that are given, and no others.

Borůvka's way: every part of the forest takes its cheapest edge to another part, all at once, until
there is one part; each round at least halves the parts, and is a few vector operations over the
edges that still join two of them. Edges of equal length are told apart by their place, so that
those given first are taken first, and the tree is the same every time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.tree import NO_PARENT, Numbers, Tree
from graphtide.plan.view_runs import Int64


class Edges(NamedTuple):
    """Pairs of points, a row each, and their distances."""

    pairs: NDArray[np.intp]
    lengths: Int64

    def joined(self, *others: Edges) -> Edges:
        """These edges, and those of others behind them."""
        parts = (self, *others)
        pairs = np.concatenate([part.pairs for part in parts])
        return Edges(pairs, np.concatenate([part.lengths for part in parts]))

    def keeping(self, points: Numbers, count: int) -> Edges:
        """The edges among some of `count` points, which are numbered anew by their places."""
        number = np.full(count, NO_PARENT, np.intp)
        number[points] = np.arange(len(points))
        pairs = number[self.pairs]
        inside = (pairs != NO_PARENT).all(axis=1)
        return Edges(pairs[inside], self.lengths[inside])


def cheapest_forest(edges: Edges, points: int) -> NDArray[np.intp]:
    """The places of the edges of a minimum spanning forest."""
    order = np.argsort(edges.lengths, kind="stable")
    left, right = edges.pairs[order].T
    part = np.arange(points)
    chosen: list[NDArray[np.intp]] = []
    while True:
        ends = part[left], part[right]
        across = ends[0] != ends[1]
        order, left, right = order[across], left[across], right[across]
        if not len(order):
            return np.concatenate([np.empty(0, np.intp), *chosen])
        best = _cheapest_of_parts(ends[0][across], ends[1][across], points)
        chosen.append(order[np.unique(best[best < len(order)])])
        part = _merged(part, best, (part[left], part[right]))


def _cheapest_of_parts(one: Numbers, other: Numbers, points: int) -> NDArray[np.intp]:
    """The first of the edges, which are sorted, at each part; one past the last where none is."""
    places = np.arange(len(one))[::-1]
    best = np.full((2, points), len(one))
    # Of several values for one place NumPy keeps the last: here the cheapest edge.
    best[0, one[::-1]] = places
    best[1, other[::-1]] = places
    cheapest: NDArray[np.intp] = best.min(axis=0)
    return cheapest


def _merged(part: Numbers, best: NDArray[np.intp], ends: tuple[Numbers, Numbers]) -> Numbers:
    """The part of each point after every part has joined the one at its best edge."""
    leads = np.arange(len(part))
    going = np.flatnonzero(best < len(ends[0]))
    one, other = ends[0][best[going]], ends[1][best[going]]
    leads[going] = one + other - going
    mutual = leads[leads[going]] == going
    roots = going[mutual & (going < leads[going])]
    leads[roots] = roots
    while True:
        further = leads[leads]
        if np.array_equal(further, leads):
            parts: Numbers = leads[part]
            return parts
        leads = further


def rooted_tree(pairs: NDArray[np.intp], points: int) -> Tree:
    """The tree that these edges are, seen from point 0. All points must be joined by them."""
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    others = np.concatenate([pairs[:, 1], pairs[:, 0]])
    by_end = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[by_end], np.arange(points + 1)).tolist()
    around = others[by_end].tolist()
    parents = [NO_PARENT] * points
    order = [0]
    for point in order:
        above = parents[point]
        for other in around[starts[point] : starts[point + 1]]:
            if other != above:
                parents[other] = point
                order.append(other)
    return Tree(np.array(parents, np.intp), np.array(order, np.intp))
