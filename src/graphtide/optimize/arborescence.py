"""The cheapest directed tree, where an insertion does not cost what a deletion costs.

Going from u to v costs a |v - u| + b |u - v|, and that is not what the way back costs, so a
minimum spanning tree will not do. The minimum arborescence will: Chu and Liu's algorithm, as
Edmonds found it again. Every point takes its cheapest way in; where the ways in close a cycle,
the cycle becomes one point, whose ways in are charged only what they cost more than the way they
replace; repeat until no cycle is left, then unfold.

Dense and vectorised: a round is O(points**2), and rounds are few (each halves the points that
lie on cycles). Used only where insertions and deletions are weighed apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.distances import Distances
from graphtide.optimize.tree import NO_PARENT, Numbers, Tree, topological_order

Prices = NDArray[np.float64]


def directed_prices(
    distance: Distances, sizes: NDArray[np.int64], insert: float, delete: float
) -> Prices:
    """The price of going from each point (row) to each other (column).

    |v - u| = (d + |v| - |u|) / 2, so distances and sizes are enough.
    """
    growth = sizes[None, :] - sizes[:, None]
    wide = distance.astype(np.float64)
    return insert * (wide + growth) / 2 + delete * (wide - growth) / 2


class _Level(NamedTuple):
    """One contraction: who went into which point, and the way in that each had chosen."""

    group: Numbers
    source: Numbers
    target: Numbers


def minimum_arborescence(prices: Prices) -> Tree:
    """The directed tree from point 0 to all others of least total price, exact up to rounding."""
    points = len(prices)
    price = prices.copy()
    source = np.broadcast_to(np.arange(points)[:, None], price.shape).copy()
    target = np.broadcast_to(np.arange(points)[None, :], price.shape).copy()
    levels: list[_Level] = []
    while True:
        np.fill_diagonal(price, np.inf)
        chosen = price.argmin(axis=0)
        chosen[0] = NO_PARENT
        at = chosen[1:], np.arange(1, len(price))
        group, cycles = _contract_cycles(chosen)
        levels.append(_Level(group, _with_root(source[at]), _with_root(target[at])))
        if not cycles:
            break
        price[:, 1:] -= price[at]
        price, source, target = _merge(price, source, target, group)
    return _unfold(levels, points)


def _with_root(numbers: Numbers) -> Numbers:
    return np.concatenate([np.full(1, NO_PARENT, dtype=np.intp), numbers])


def _contract_cycles(chosen: Numbers) -> tuple[Numbers, bool]:
    """The new number of each point, one for all points of a cycle; the root keeps 0."""
    ways = chosen.tolist()
    seen = [0] * len(ways)
    leader = list(range(len(ways)))
    found = False
    for start in range(1, len(ways)):
        point = start
        while point > 0 and not seen[point]:
            seen[point] = start
            point = ways[point]
        if point > 0 and seen[point] == start:
            found = True
            first, point = point, ways[point]
            while point != first:
                leader[point] = first
                point = ways[point]
    group = np.unique(np.array(leader, dtype=np.intp), return_inverse=True)[1]
    return group.astype(np.intp), found


def _merge(
    price: Prices, source: Numbers, target: Numbers, group: Numbers
) -> tuple[Prices, Numbers, Numbers]:
    """The cheapest way between groups, with the points it really leads from and to."""
    for axis in (0, 1):
        members = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[members], np.arange(group.max() + 1))
        best = _first_of_least(price, members, starts, axis)
        price = np.take_along_axis(price, best, axis)
        source = np.take_along_axis(source, best, axis)
        target = np.take_along_axis(target, best, axis)
    return price, source, target


def _first_of_least(price: Prices, members: Numbers, starts: Numbers, axis: int) -> Numbers:
    """For each group along an axis, the member with the least price."""
    ends = np.append(starts[1:], len(members))
    firsts = members[starts]
    shape = (len(starts), price.shape[1]) if axis == 0 else (price.shape[0], len(starts))
    columns = firsts[:, None] if axis == 0 else firsts[None, :]
    best = np.broadcast_to(columns, shape).copy()
    for number in np.flatnonzero(ends - starts > 1):
        inside = members[starts[number] : ends[number]]
        if axis == 0:
            best[number] = inside[price[inside].argmin(axis=0)]
        else:
            best[:, number] = inside[price[:, inside].argmin(axis=1)]
    return best


def _unfold(levels: list[_Level], points: int) -> Tree:
    """From the last contraction back: the way into a cycle replaces one of its own."""
    where = [np.arange(points)]
    for level in levels[:-1]:
        where.append(level.group[where[-1]])
    source, target = levels[-1].source, levels[-1].target
    for level, position in zip(levels[-2::-1], where[-2::-1], strict=True):
        entered = position[target[1:]]
        below_source, below_target = level.source.copy(), level.target.copy()
        below_source[entered], below_target[entered] = source[1:], target[1:]
        source, target = below_source, below_target
    return Tree(source, topological_order(source))
