"""The cheapest directed tree, where an insertion does not cost what a deletion costs.

Going from u to v costs a |v - u| + b |u - v|, and that is not what the way back costs, so a
minimum spanning tree will not do. The minimum arborescence will, and Edmonds' algorithm finds it:
every point takes its cheapest way in; where the ways in close a cycle, the cycle becomes one
group, whose ways in are charged only what they cost more than the way they replace.

Here it is done along a path, as Tarjan does: from a group, follow its cheapest way in to the group
that it comes from, and so on; when that group is already on the path, what lies between becomes
one group. The root may be entered as well, at a price beyond all others, so that in the end there
is one group of everything; then it is unfolded from the root. Only the points that ways lead *to*
are ever merged, so a merge is the minimum of a few rows, and all merges together are O(points**2)
however the prices tie. Used only where insertions and deletions are weighed apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.cloud import Cloud
from graphtide.optimize.costs import Costs
from graphtide.optimize.tree import NO_PARENT, Numbers, Tree, topological_order

Prices = NDArray[np.float64]


def directed_prices(cloud: Cloud, costs: Costs) -> Prices:
    """The price of going from each point (row) to each other (column).

    |v - u| = (d + |v| - |u|) / 2, so distances and sizes are enough.
    """
    prices = cloud.distance.astype(np.float64) * ((costs.insert + costs.delete) / 2)
    growing = cloud.sizes() * ((costs.insert - costs.delete) / 2)
    prices += growing[None, :]
    prices -= growing[:, None]
    return prices


def prices_of_ways(cloud: Cloud, costs: Costs, sources: Numbers, targets: Numbers) -> Prices:
    """The prices of going from these points to those, pair by pair."""
    sizes = cloud.sizes()
    growth = sizes[targets] - sizes[sources]
    far = cloud.distance[sources, targets].astype(np.int64)
    return costs.insert * (far + growth) / 2 + costs.delete * (far - growth) / 2


def minimum_arborescence(prices: Prices) -> Tree:
    """The directed tree from point 0 to all others of least total price, exact up to rounding."""
    groups = _Groups(prices)
    path = [0]
    while groups.members[path[-1]] < len(prices):
        group = path[-1]
        came_from = groups.enter(group)
        if came_from not in groups.on_path:
            path.append(came_from)
            groups.on_path.add(came_from)
            continue
        first = path.index(came_from)
        path[first:] = [groups.merge(path[first:])]
    parents = groups.unfold()
    return Tree(parents, topological_order(parents))


class _Groups:
    """Points and the groups they were merged into; a group is numbered after all older ones.

    `row[g]` is where the ways into group g are kept: their price by the point they come from, and
    the point they lead to. `way[g]` is the way in that the group has taken.
    """

    def __init__(self, prices: Prices) -> None:
        points = len(prices)
        self.price = prices.T.copy()
        self.price[0] = 2 * prices.sum() + 1
        np.fill_diagonal(self.price, np.inf)
        self.target = np.repeat(np.arange(points, dtype=np.int32)[:, None], points, axis=1)
        self.group_of = np.arange(points)
        self.members = [1] * points
        self.row = list(range(points))
        self.parts: list[list[int]] = [[] for _ in range(points)]
        self.above = [NO_PARENT] * points
        self.way: dict[int, tuple[int, int]] = {}
        self.paid: dict[int, float] = {}
        self.on_path = {0}

    def enter(self, group: int) -> int:
        """Take the cheapest way into a group and return the group it comes from."""
        row = self.row[group]
        source = int(self.price[row].argmin())
        self.way[group] = source, int(self.target[row, source])
        self.paid[group] = float(self.price[row, source])
        return int(self.group_of[source])

    def merge(self, parts: list[int]) -> int:
        """One group of several: ways from outside cost what they cost more than the way taken."""
        rows = [self.row[part] for part in parts]
        more = self.price[rows] - np.array([self.paid[part] for part in parts])[:, None]
        best = more.argmin(axis=0)
        everywhere = np.arange(len(best))
        inside = np.isin(self.group_of, parts)
        self.target[rows[0]] = self.target[rows][best, everywhere]
        self.price[rows[0]] = np.where(inside, np.inf, more[best, everywhere])
        return self._new_group(parts, rows[0], inside)

    def _new_group(self, parts: list[int], row: int, inside: NDArray[np.bool_]) -> int:
        group = len(self.row)
        self.row.append(row)
        self.members.append(sum(self.members[part] for part in parts))
        self.parts.append(parts)
        self.above.append(NO_PARENT)
        for part in parts:
            self.above[part] = group
        self.group_of[inside] = group
        self.on_path.difference_update(parts)
        self.on_path.add(group)
        return group

    def unfold(self) -> Numbers:
        """The parent of every point: where a group is entered, its way in replaces the point's.

        Taking a group apart along the point where it is entered leaves the other parts, each
        entered by the way that it took itself.
        """
        parents = np.full(len(self.group_of), NO_PARENT, dtype=np.intp)
        entered = [0]
        while entered:
            point = entered.pop()
            while (group := self.above[point]) != NO_PARENT:
                for part in self.parts[group]:
                    self.above[part] = NO_PARENT
                    if part != point:
                        source, target = self.way[part]
                        parents[target] = source
                        entered.append(target)
                point = group
        return parents
