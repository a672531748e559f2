"""How few differences any plan can do with: what the totals are measured against.

**Chains.** A chain is a spanning tree of the empty version and the views, so it costs at least the
minimum spanning tree M; `ascent` raises that.

**Trees with any stepping stones.** Let T be the cheapest. Four bounds hold:

1. Every edge of the graph that is in some view enters at least once: T >= |union of the views|.
2. Walking round T and back to the empty version passes every edge of T twice and every view at
   least once; leaving out the stones and what was seen before only shortens it (triangle
   inequality). So a closed tour C of the empty version and the views has length at most 2 T. Cut
   its longest step: what is left is a spanning tree, at least M. And that step is at least L, the
   longest edge of the minimum spanning tree, since no spanning tree has a shorter longest edge.
   So 2 T >= M + L. (As L is at least M / (t - 1) for t points, this is never weaker than the
   Steiner ratio M t / (2 (t - 1)).)
3. What is in every view, W edges, enters at least once, and the other classes still need a tree
   of their own, to which 2 applies: T >= W + (M' + L') / 2, where M' and L' are those of the
   distances with W taken off every distance to the empty version. This is never weaker than 2,
   and gains where the first view is mostly what all views share.
4. In 2, all that was used of C is a lower bound of closed tours; `ascent` has better ones.

All distances are integers, hence the rounding up.

**Many views**, of which distances are not known. In a chain, the edges of the union that are not in
the last view leave again, and the last view is no larger than the largest. In a tree, take a view
with no other on the way to it from the empty version: that way costs at least its size. Every other
view that differs from all those counted is reached by a step of its own, which moves at least the
lightest class. This is nearly met by outages: one difference a view.
"""

from __future__ import annotations

import numpy as np

from graphtide.optimize.ascent import raise_bound
from graphtide.optimize.distances import Distances
from graphtide.optimize.run_points import no_points
from graphtide.optimize.tree import Tree, edge_lengths, minimum_spanning_tree
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.view_runs import ViewRuns


def union_size(views: ViewMatrix | ViewRuns) -> int:
    """The edges that are in any view: a lower bound for every plan, without any distances."""
    return int(views.weights[views.cover() > 0].sum())


def chain_bound(distance: Distances, tree: Tree, found: int, seconds: float) -> int:
    """No chain needs fewer differences.

    `tree` is a minimum spanning tree of the views, `found` the differences of some chain; where
    they meet there is nothing to raise.
    """
    spanning = int(edge_lengths(distance, tree).sum())
    if spanning >= found:
        return spanning
    return max(spanning, raise_bound(distance, "chain", found, seconds))


def tree_bound(matrix: ViewMatrix, distance: Distances, found: int, seconds: float) -> int:
    """No tree needs fewer differences, whatever its stones; `found` are those of some tree."""
    shared = int(matrix.weights[matrix.membership.all(axis=1)].sum()) if matrix.views else 0
    tree = minimum_spanning_tree(distance, discount=shared)
    lengths = edge_lengths(distance, tree) - np.where(tree.parents[1:] == 0, shared, 0)
    twice = int(lengths.sum()) + int(np.max(lengths, initial=0))
    lowest = max(union_size(matrix), shared + (twice + 1) // 2)
    if lowest >= found:
        return lowest
    rest = _without_shared(distance, shared)
    twice = raise_bound(rest, "tour", 2 * (found - shared), seconds)
    return max(lowest, shared + (twice + 1) // 2)


def _without_shared(distance: Distances, shared: int) -> Distances:
    """The distances over the classes that are not in every view."""
    rest = distance.copy()
    rest[0, 1:] -= shared
    rest[1:, 0] -= shared
    return rest


def many_views_chain_bound(views: ViewRuns) -> int:
    """No chain needs fewer differences."""
    largest = int(views.sizes().max(initial=0))
    return max(2 * union_size(views) - largest, many_views_tree_bound(views))


def many_views_tree_bound(views: ViewRuns) -> int:
    """No tree needs fewer differences, whatever its stones."""
    different, _ = no_points(views).with_stones(views.bounds)
    sizes = different.sizes()[1:]
    if not len(sizes):
        return 0
    steps = int(sizes.min()) + (len(sizes) - 1) * int(views.weights.min())
    return max(union_size(views), steps)
