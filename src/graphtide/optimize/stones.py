"""Stepping stones: versions that nobody asked for, put into the tree where they pay.

Finding the best ones is the Steiner tree problem in Hamming space, which is NP-hard, so this is a
search that starts from the minimum spanning tree and only ever improves on it:

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

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.cloud import Cloud
from graphtide.optimize.distances import Distances, Points
from graphtide.optimize.tree import (
    NO_PARENT,
    STONE_PRICE,
    Numbers,
    Tree,
    bypass_idle_stones,
    edge_lengths,
    minimum_spanning_tree,
)

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
