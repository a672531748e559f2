"""Planning over all distances between the views: for collections of up to some thousand views.

**The chain**: one view after the other, nothing undone. It pays the size of its first view and then
the distance of each view to the next; its end is free. Ordering the views best is NP-hard (it is
consecutive block minimisation, and a travelling salesman). So: the given order; a walk round the
spanning tree, in both directions; and a search, each kept only if it is cheaper. The walk passes
every edge of the tree at most twice, and no chain is shorter than the tree, so the chain is at most
twice the best one, and never worse than the given order. The search is skipped where a chain
already meets the spanning tree, as nested windows do. The search is fast_tsp's, which wants a
closed tour and distances below 65,536. An extra point, next to the empty version and equally far
from all views, closes the tour; what all starts have in common is taken off, very long steps are
cut to a common length, and the rest is scaled. Only the true cost decides what is kept.

**The tree** uses stepping stones: versions that nobody asked for, where they pay. Finding the best
ones is the Steiner tree problem in Hamming space, which is NP-hard, so this is a search that starts
from the minimum spanning tree and only ever improves on it:

- Stones for everybody are tried first: the whole graph, the union, the intersection and the
  majority of all views. Single outages are solved by the first alone: one difference a view.
- Where the tree runs a - b - c, the bitwise majority m of the three lies on a shortest way between
  any two of them, so joining all three to m saves exactly (d(a,b) + d(b,c) - d(a,c)) / 2. That
  needs distances alone. In a round the largest savings are taken first, each tree edge once, and
  the savings of one round simply add up.
- A new spanning tree over views and stones then finds the best shape for them. Stones that no
  longer join three ways are bypassed.

Rounds go on while they pay: a stone is one more advance, and counts as one difference. Kept true:
the tree never costs more than the spanning tree it started from. On 252 community removals of
com-dblp the tree falls from 14.87M to 11.42M differences.
"""

from __future__ import annotations

import math
import time
from functools import cached_property, partial
from typing import NamedTuple

import fast_tsp
import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.bounds import chain_bound, tree_bound
from graphtide.optimize.tree import (
    NO_PARENT,
    STONE_PRICE,
    STRIP,
    Cloud,
    Distances,
    Numbers,
    Points,
    Tree,
    ViewArrangement,
    bypass_idle_stones,
    cloud_of_views,
    cloud_steps,
    edge_lengths,
    minimum_spanning_tree,
    path_tree,
    view_distances,
    visiting_order,
)
from graphtide.plan.collection import PlanKind, ViewMatrix

LONGEST = 2**16 - 1


def chain_length(distance: Distances, order: Numbers) -> int:
    """The differences along a chain of points, from the empty version (0) on."""
    path = np.concatenate([[0], order])
    return int(distance[path[:-1], path[1:]].sum(dtype=np.int64))


def find_chain(distance: Distances, tree: Tree, seconds: float) -> Numbers:
    """The views, as points 1, 2, ..., in the cheapest order found.

    `tree` is a minimum spanning tree of the distances; `seconds` is for the search, which uses
    all of them unless the lower bound is met. Results of a search differ from run to run where
    it ends by the clock.
    """
    length = partial(chain_length, distance)
    lengths = edge_lengths(distance, tree)
    lowest = int(lengths.sum())
    given = np.arange(1, len(distance))
    if length(given) <= lowest:
        return given
    walk = np.array(visiting_order(lengths, tree), np.intp)
    best = min((given, walk, walk[::-1]), key=length)
    if length(best) <= lowest or seconds <= 0 or len(given) <= 2:
        return best
    rounded = _rounded(distance, _longest_wanted(distance, tree))
    tour = fast_tsp.find_tour(rounded, duration_seconds=seconds)
    return min((best, *_as_chains(tour, len(distance))), key=length)


def _rounded(distance: Distances, cut: float) -> NDArray[np.uint16]:
    """Integers below 65,536 for a closed tour through the end and the empty version."""
    points = len(distance)
    scale = LONGEST / max(cut, LONGEST)
    rounded = np.zeros((points + 1, points + 1), dtype=np.uint16)
    for first in range(1, points, STRIP):
        strip = distance[first : first + STRIP, 1:]
        rounded[first : first + len(strip), 1:-1] = np.rint(np.minimum(strip, cut) * scale)
    start = distance[0, 1:] - distance[0, 1:].min()
    rounded[0, 1:-1] = rounded[1:-1, 0] = np.rint(np.minimum(start, cut) * scale)
    rounded[-1, 1:-1] = rounded[1:-1, -1] = np.rint(cut * scale)
    return rounded


def _longest_wanted(distance: Distances, tree: Tree) -> float:
    """Four times the longest step of the spanning tree, the first step from nothing set aside.

    Longer steps are not wanted in a chain, and would cost the short ones their precision.
    """
    steps = edge_lengths(distance, tree)
    steps[tree.order[1] - 1] = 0
    return 4.0 * float(steps.max()) + 1.0


def _as_chains(tour: list[int], end: int) -> list[Numbers]:
    """The chains a closed tour stands for: cut at the empty version, and at the end, both ways."""
    chains: list[Numbers] = []
    for cut in (0, end):
        at = tour.index(cut)
        turned = np.array(tour[at:] + tour[:at], dtype=np.intp)
        chain = turned[(turned != 0) & (turned != end)]
        chains += [chain, chain[::-1]]
    return chains


HUB = 32
"""A point with more neighbours than this is a hub."""


PRODUCTS_A_SECOND = 2e10
"""A cautious guess at the multiplications that two cores do in a matrix product."""


class PlantedTree(NamedTuple):
    """A tree, the cloud it spans, and its value: differences and the price of its stones."""

    cloud: Cloud
    tree: Tree
    value: int


def plant_stones(views: Cloud, deadline: float) -> PlantedTree:
    """The tree over the views with the stepping stones that pay.

    The search ends by itself, or at the first chance after `deadline` (of time.monotonic) with
    the best tree so far.
    """
    return grow(_with_common_stones(views), deadline)


def _with_common_stones(views: Cloud) -> PlantedTree:
    """The spanning tree with those of the common stones, tried one after the other, that pay."""
    everything = views.with_stones(common_stones(views))
    chosen = np.arange(views.terminals)
    best = spanning_tree(views)
    for stone in range(views.terminals, len(everything.points)):
        tried = np.append(chosen, stone)
        tree = spanning_tree(everything.keeping(tried))
        if tree.value < best.value:
            best, chosen = tree, tried
    return best


def grow(planted: PlantedTree, deadline: float) -> PlantedTree:
    """Rounds of planting while they pay."""
    while time.monotonic() < deadline:
        grown = _one_round(planted, _affordable_stones(planted.cloud, deadline))
        if grown.value >= planted.value:
            break
        planted = grown
    return planted


def spanning_tree(cloud: Cloud) -> PlantedTree:
    """The minimum spanning tree of a cloud, without the stones that are idle in it."""
    tree, used = bypass_idle_stones(minimum_spanning_tree(cloud.distance), cloud.terminals)
    cloud = cloud.keeping(used)
    value = int(edge_lengths(cloud.distance, tree).sum()) + STONE_PRICE * cloud.stones
    return PlantedTree(cloud, tree, value)


def common_stones(views: Cloud) -> Points:
    """The whole graph, and the majority, union and intersection of all views."""
    members = views.points[1 : views.terminals]
    if not len(members):
        return members
    counts = np.count_nonzero(members, axis=0)
    whole = np.ones(members.shape[1], dtype=np.bool_)
    return np.stack([whole, 2 * counts > len(members), counts > 0, counts == len(members)])


def _affordable_stones(cloud: Cloud, deadline: float) -> int:
    """How many stones' distances, worked out twice, fit into the time that is left."""
    left = max(0.0, deadline - time.monotonic())
    return 1 + int(left * PRODUCTS_A_SECOND / (2 * cloud.points.size + 1))


def _one_round(planted: PlantedTree, most: int) -> PlantedTree:
    cloud, tree, _ = planted
    cloud = cloud.with_stones(majority_stones(cloud, tree)[:most])
    return spanning_tree(cloud)


def majority_stones(cloud: Cloud, tree: Tree) -> Points:
    """The majorities worth planting now: largest saving first, every tree edge used once.

    A stone that saves no more than its price is planted all the same, because others may join
    it: N-2 outages find their single outages only so.
    """
    triples, saving = _saving_triples(cloud.distance, tree)
    used = np.zeros(len(tree.parents), dtype=np.bool_)
    taken: list[int] = []
    for at in np.argsort(-saving, kind="stable").tolist():
        left, middle, right = triples[at].tolist()
        edges = [end if tree.parents[end] == middle else middle for end in (left, right)]
        if not used[edges].any():
            used[edges] = True
            taken.append(at)
    left, middle, right = (cloud.points[ends] for ends in triples[taken].T)
    majority: Points = (left & middle) | (right & (left | middle))
    return majority


def _saving_triples(distance: Distances, tree: Tree) -> tuple[Numbers, NDArray[np.int64]]:
    """Every end - middle - end of the tree whose majority saves something, and twice the saving.

    Round a hub only the best partner of each end is listed: the rest would be quadratic.
    """
    triples: list[Numbers] = [np.empty((0, 3), dtype=np.intp)]
    savings: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    for middle, around in enumerate(neighbours(tree)):
        if len(around) < 2:
            continue
        spokes = distance[middle, around].astype(np.int64)
        saved = spokes[:, None] + spokes[None, :] - distance[np.ix_(around, around)]
        if len(around) > HUB:
            np.fill_diagonal(saved, 0)
            partner = saved.argmax(axis=1)
            left = np.flatnonzero(saved.max(axis=1) > 0)
            right = partner[left]
        else:
            left, right = np.nonzero(np.triu(saved > 0, 1))
        middles = np.full(len(left), middle, dtype=np.intp)
        triples.append(np.stack([around[left], middles, around[right]], axis=1))
        savings.append(saved[left, right])
    return np.concatenate(triples), np.concatenate(savings)


def neighbours(tree: Tree) -> list[Numbers]:
    """The points joined to each point: its children and its parent."""
    below = np.flatnonzero(tree.parents != NO_PARENT)
    ends = np.concatenate([below, tree.parents[below]])
    others = np.concatenate([tree.parents[below], below])
    by_end = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[by_end], np.arange(1, len(tree.parents)))
    return np.split(others[by_end], starts)


PATIENCE = 3
"""Stones are planted until they stop paying, or for this many times the effort, if over 1 s."""


def default_effort(views: int) -> float:
    """Seconds of search by default: 0.1 up to 300 views, 0.6 for 1,000, at most 3."""
    return min(3.0, 0.1 * max(1.0, math.pow(views / 300, 1.5)))


class ExactPlanning:
    """The views of a matrix with all distances, their spanning tree and effort."""

    def __init__(self, matrix: ViewMatrix, effort: float | None) -> None:
        self._matrix = matrix
        self._views = cloud_of_views(matrix, view_distances(matrix))
        self._effort = effort

    def given(self) -> ViewArrangement:
        return _arranged("manual", self._views, path_tree(np.arange(1, self._views.terminals)))

    def best_chain(self) -> ViewArrangement:
        order = find_chain(self._views.distance, self._spanning, self._seconds)
        return _arranged("chain", self._views, path_tree(order))

    def best_tree(self) -> ViewArrangement:
        """The cheapest tree that the effort finds, with the stepping stones that pay."""
        patience = max(1.0, PATIENCE * self._seconds)
        planted = plant_stones(self._views, time.monotonic() + patience)
        return _arranged("tree", planted.cloud, planted.tree)

    def lowest(self, chain: int, tree: int) -> tuple[int, int]:
        """How few differences any chain, and any tree, needs; those found are given."""
        distance, seconds = self._views.distance, self._seconds / 2
        return (
            chain_bound(distance, self._spanning, chain, seconds),
            tree_bound(self._matrix, distance, tree, seconds),
        )

    @property
    def _seconds(self) -> float:
        """The effort asked for, or what the number of views deserves."""
        return default_effort(self._views.terminals) if self._effort is None else self._effort

    @cached_property
    def _spanning(self) -> Tree:
        return minimum_spanning_tree(self._views.distance)


def _arranged(kind: PlanKind, cloud: Cloud, tree: Tree) -> ViewArrangement:
    lengths = edge_lengths(cloud.distance, tree)
    steps = lambda: cloud_steps(cloud, tree)  # noqa: E731
    return ViewArrangement(kind, tree, lengths, cloud.stones, steps)
