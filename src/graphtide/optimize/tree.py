"""The cheapest tree over given versions, rooted at the empty one.

The cheapest tree in which every version is reached from another is a minimum spanning tree of the
distances, found exactly by Prim in O(points**2), one vector operation a point. A chain is a
spanning tree too, so the tree is never dearer than the best chain.

Points are numbered 0 for the empty version, then the views, then stepping stones. A tree is the
parent of each point and an order in which every parent stands before its children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.distances import Distances

NO_PARENT = -1

STONE_PRICE = 1
"""Differences that a stepping stone must save, and more, since it is one more advance."""

Numbers = NDArray[np.intp]


class Tree(NamedTuple):
    """A rooted tree over points; point 0 is the root and its parent is NO_PARENT."""

    parents: Numbers
    order: Numbers


def minimum_spanning_tree(distance: Distances, discount: int = 0) -> Tree:
    """The spanning tree of least total distance, exact.

    `discount` is taken off every distance to the root, which all of them must exceed or equal.
    Of equally near parents the one joined last is taken, which turns ties into paths: nested
    windows come out as a plain chain, and a chain built on the tree has fewer odd vertices.
    """
    points = len(distance)
    parents = np.full(points, NO_PARENT, dtype=np.intp)
    order = np.zeros(points, dtype=np.intp)
    waiting = np.ones(points, dtype=np.bool_)
    far = np.iinfo(distance.dtype).max
    nearest = np.full(points, far, dtype=distance.dtype)
    row = distance[0] - distance.dtype.type(discount)
    point = 0
    for at in range(points):
        order[at] = point
        waiting[point] = False
        nearest[point] = far
        row = distance[point] if at else row
        nearer = row <= nearest
        nearer &= waiting
        np.copyto(nearest, row, where=nearer)
        parents[nearer] = point
        point = int(nearest.argmin())
    return Tree(parents, order)


def edge_lengths(distance: Distances, tree: Tree) -> NDArray[np.int64]:
    """The distance of every point but the root to its parent."""
    below = np.arange(1, len(tree.parents))
    return distance[below, tree.parents[1:]].astype(np.int64)


def path_tree(sequence: Numbers) -> Tree:
    """The tree without branches that visits the points in this order, from the root on."""
    order = np.concatenate([np.zeros(1, dtype=np.intp), sequence])
    parents = np.full(len(order), NO_PARENT, dtype=np.intp)
    parents[order[1:]] = order[:-1]
    return Tree(parents, order)


def bypass_idle_stones(tree: Tree, terminals: int) -> tuple[Tree, Numbers]:
    """The tree without stones that join nothing, renumbered, and the points it keeps.

    A stone without children leads nowhere; a stone with one child only makes the way longer, by
    the triangle inequality. One pass from the leaves up finds them all. Points below `terminals`
    always stay.
    """
    parents = tree.parents.copy()
    children = np.bincount(parents[1:], minlength=len(parents))
    only_child = np.full(len(parents), NO_PARENT, dtype=np.intp)
    used = np.ones(len(parents), dtype=np.bool_)
    for point in tree.order[:0:-1].tolist():
        above = parents[point]
        if point >= terminals and children[point] <= 1:
            used[point] = False
            children[above] -= 1
            if not children[point]:
                continue
            point = only_child[point]
            parents[point] = above
            children[above] += 1
        only_child[above] = point
    return _renumbered(Tree(parents, tree.order), used)


def _renumbered(tree: Tree, kept: NDArray[np.bool_]) -> tuple[Tree, Numbers]:
    number = np.cumsum(kept) - 1
    points = np.flatnonzero(kept)
    parents = np.append(number, NO_PARENT)[tree.parents[points]]
    return Tree(parents, number[tree.order[kept[tree.order]]]), points
