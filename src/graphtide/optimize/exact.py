"""Planning over all distances between the views: for collections of up to some thousand views."""

from __future__ import annotations

import math
import time
from functools import cached_property

import numpy as np

from graphtide.optimize.arrangement import Arrangement
from graphtide.optimize.bounds import chain_bound, tree_bound
from graphtide.optimize.chain import find_chain
from graphtide.optimize.cloud import Cloud, cloud_of_views
from graphtide.optimize.distances import view_distances
from graphtide.optimize.steps import cloud_steps
from graphtide.optimize.stones import plant_stones
from graphtide.optimize.tree import Tree, edge_lengths, minimum_spanning_tree, path_tree
from graphtide.plan.collection import PlanKind, ViewMatrix

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

    def given(self) -> Arrangement:
        """The views in their given order."""
        return _arranged("manual", self._views, path_tree(np.arange(1, self._views.terminals)))

    def best_chain(self) -> Arrangement:
        """The cheapest chain that the effort finds."""
        order = find_chain(self._views.distance, self._spanning, self._seconds)
        return _arranged("chain", self._views, path_tree(order))

    def best_tree(self) -> Arrangement:
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


def _arranged(kind: PlanKind, cloud: Cloud, tree: Tree) -> Arrangement:
    lengths = edge_lengths(cloud.distance, tree)
    steps = lambda: cloud_steps(cloud, tree)  # noqa: E731
    return Arrangement(kind, tree, lengths, cloud.stones, steps)
