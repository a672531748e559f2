"""The cheapest tree where an insertion does not cost what a deletion costs.

The stones are those of the search by plain distances; from there the directed tree
(`arborescence`) and the places of the stones (`parsimony`, with both prices) are found in turn,
as long as it pays. The tree without any stones is tried as well, and so is the one with the
stones for everybody alone, since a large parent is worth more where deletions are cheap.

Kept true: never dearer, by these costs, than the best chain or the best tree without stones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtide.optimize.arborescence import directed_prices, minimum_arborescence, prices_of_ways
from graphtide.optimize.cloud import Cloud
from graphtide.optimize.costs import Costs
from graphtide.optimize.parsimony import place_stones
from graphtide.optimize.stones import common_stones
from graphtide.optimize.tree import Numbers, Tree, bypass_idle_stones, topological_order

ROUNDS = 8
"""Turns of tree and places at most; each is O(points**2), and few change anything."""


class _Directed(NamedTuple):
    cloud: Cloud
    tree: Tree
    value: float


def direct_tree(views: Cloud, planted: Cloud, costs: Costs) -> tuple[Cloud, Tree]:
    """The cheapest directed tree found over the views, with stones of `planted` or common ones."""
    starts = [planted, views.with_stones(common_stones(views)), views]
    found = [_settle(_arborescence(cloud, costs), costs) for cloud in starts]
    best = min(found, key=lambda directed: directed.value)
    return best.cloud, best.tree


def _settle(directed: _Directed, costs: Costs) -> _Directed:
    """Places, tree, places, ... until nothing is gained."""
    for _ in range(ROUNDS):
        cloud, tree, value = _without_unworthy(directed, costs)
        placed = place_stones(cloud.points, tree, cloud.terminals, costs)
        after = _arborescence(cloud.with_moved_stones(placed), costs)
        if after.value >= directed.value:
            return min(directed, _Directed(cloud, tree, value), key=lambda each: each.value)
        directed = after
    return directed


def _arborescence(cloud: Cloud, costs: Costs) -> _Directed:
    cheapest = minimum_arborescence(directed_prices(cloud, costs))
    tree, kept = bypass_idle_stones(cheapest, cloud.terminals)
    return _valued(cloud.keeping(kept), tree, costs)


def _valued(cloud: Cloud, tree: Tree, costs: Costs) -> _Directed:
    steps = prices_of_ways(cloud, costs, tree.parents[1:], np.arange(1, len(tree.parents)))
    return _Directed(cloud, tree, costs.advance * float(steps.sum()) + costs.stone * cloud.stones)


def _without_unworthy(directed: _Directed, costs: Costs) -> _Directed:
    """Hand a stone's children to its parent where the stone saves no more than its price."""
    cloud, tree, _ = directed
    parents = tree.parents.copy()
    for stone in range(cloud.terminals, len(parents)):
        if _saved_by(cloud, costs, parents, stone) * costs.advance <= costs.stone:
            parents[parents == stone] = parents[stone]
    order = topological_order(parents)
    tree, kept = bypass_idle_stones(Tree(parents, order), cloud.terminals)
    return _valued(cloud.keeping(kept), tree, costs)


def _saved_by(cloud: Cloud, costs: Costs, parents: Numbers, stone: int) -> float:
    """What is saved by going to the stone's children by way of it."""
    below = np.flatnonzero(parents == stone)
    here, above = np.full_like(below, stone), np.full_like(below, parents[stone])
    straight = prices_of_ways(cloud, costs, above, below).sum()
    onward = prices_of_ways(cloud, costs, here, below).sum()
    return float(straight - onward - prices_of_ways(cloud, costs, above[:1], here[:1]).sum())
