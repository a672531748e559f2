"""How few differences any plan needs: what the totals are compared with.

**Chains.** A chain is a spanning tree of the empty version and the views, so it costs at least the
minimum spanning tree M; `raise_bound` improves on that.

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
4. In 2, all that was used of C is a lower bound of closed tours; `raise_bound` has better ones.

All distances are integers, hence the rounding up.

**Raising a bound** step by step (Held and Karp). Give every point v a price p(v) and add
p(u) + p(v) to the distance of u and v. A closed tour meets every point twice, so its length grows
by exactly 2 sum p; hence for any prices

    tour >= M + L - 2 sum p

with M the minimum spanning tree and L its longest edge under the new distances. A chain from the
empty version 0 meets that one once, its last view once and all others twice; hence

    chain >= M - p(0) - 2 sum p(v) + min p(v)        (v over the views)

Any prices give a true bound, and all of it is integers, so nothing depends on rounding. Good prices
are found by asking more of points where the tree branches and less of its leaves. Twenty rounds
take the bound of 252 community removals from 14.87M to 15.50M differences, the chain found being
15.57M, in 0.02 s.

**Many views**, of which distances are not known. In a chain, the edges of the union that are not in
the last view leave again, and the last view is no larger than the largest. In a tree, take a view
with no other on the way to it from the empty version: that way costs at least its size. Every other
view that differs from all those counted is reached by a step of its own, which moves at least the
lightest class. This is nearly met by outages: one difference a view.
"""

from __future__ import annotations

import time
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.run_points import no_points
from graphtide.optimize.tree import Distances, Tree, edge_lengths, minimum_spanning_tree
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.view_runs import ViewRuns

ROUNDS = 20
USUAL_GAP = 1.05
"""How far above the spanning tree a good tour usually lies; sets the pace."""

LARGEST = 2500
"""Points beyond which a round costs more memory and time than the bound is worth."""

Shape = Literal["tour", "chain"]
Integers = NDArray[np.int64]


class _Round(NamedTuple):
    bound: int
    excess: NDArray[np.floating[Any]]


def raise_bound(distance: Distances, shape: Shape, found: int, seconds: float) -> int:
    """The best bound for all tours, or chains, after some rounds; 0 where it was not tried.

    `found` is the length of some tour or chain, or anything above the least: the search ends
    where it is met. Distances must be a metric, with the empty version as point 0.
    """
    points = len(distance)
    if points < 2 or points > LARGEST:
        return 0
    deadline = time.monotonic() + seconds
    prices = np.zeros(points, dtype=np.int64)
    moving = np.zeros(points)
    best, pace = 0, 1.0
    for _ in range(ROUNDS):
        bound, excess = _one_round(distance, prices, shape)
        pace = pace if bound > best else 0.85 * pace
        best = max(best, bound)
        branching = float(excess @ excess)
        if best >= found or not branching or time.monotonic() > deadline:
            break
        moving = 0.7 * excess + 0.3 * moving
        gap = min(float(found), USUAL_GAP * best + 1) - bound
        prices += np.rint(pace * gap / branching * moving).astype(np.int64)
    return best


def _one_round(distance: Distances, prices: Integers, shape: Shape) -> _Round:
    """The bound for these prices, and by how much each point is met too often."""
    raised = distance + prices[:, None] + prices[None, :]
    tree = minimum_spanning_tree(raised)
    lengths = edge_lengths(raised, tree)
    met = np.bincount(tree.parents[1:], minlength=len(prices)) + 1.0
    met[0] -= 1
    total = int(lengths.sum()) - 2 * int(prices.sum())
    if shape == "tour":
        longest = int(lengths.argmax())
        met[[longest + 1, tree.parents[longest + 1]]] += 1
        return _Round(total + int(lengths[longest]), met - 2)
    last = 1 + int(prices[1:].argmin())
    met[[0, last]] += 1
    return _Round(total + int(prices[0]) + int(prices[last]), met - 2)


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
