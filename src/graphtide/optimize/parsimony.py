"""The best place for every stepping stone of a tree, given who is joined to whom.

A class is in a stone or not, whatever the other classes do, so each class is a small problem of
its own: colour the stones of the tree with "in" and "out", the views being coloured already, so
that the insertions and deletions along the edges are fewest. Going up from the leaves, all that a
point needs to tell its parent is how much dearer it is to have the class than not to have it. A
parent pays at most one difference more for being on the other side, so the message is that
number, clipped to [-1, 1]. Going down, every stone takes the side that its
messages and its parent's colour make cheaper, and its parent's colour where they balance.

This is Sankoff's parsimony for two states, exact for all stones at once, and all classes are done
together: O(points) vector operations over the classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.distances import Points
from graphtide.optimize.tree import Tree


def place_stones(points: Points, tree: Tree, terminals: int) -> Points:
    """The stones' new rows, in order; the tree with them is never dearer than before.

    Moves stones only: what lies below `terminals` stays where it is.
    """
    surplus = _surplus_of_having(points, tree, terminals)
    placed = points.copy()
    for point in tree.order.tolist():
        if point >= terminals:
            above = placed[tree.parents[point]]
            dearer = surplus[point - terminals]
            placed[point] = np.where(above, dearer <= 1, dearer < -1)
    return placed[terminals:]


def _surplus_of_having(points: Points, tree: Tree, terminals: int) -> NDArray[np.int32]:
    """For each stone and class: the differences below it with the class minus those without."""
    surplus = np.zeros((len(points) - terminals, points.shape[1]), dtype=np.int32)
    for point in tree.order[:0:-1].tolist():
        above = tree.parents[point] - terminals
        if above < 0:
            continue
        if point < terminals:
            surplus[above] += np.where(points[point], -1, 1)
        else:
            surplus[above] += np.clip(surplus[point - terminals], -1, 1)
    return surplus
