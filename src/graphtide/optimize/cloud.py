"""The versions that a tree may use, with all distances among them.

Kept true: `distance` is always exact for `points`, and the first `terminals` points (the empty
version and the views) never move. Stones come and go behind them, and only distances that changed
are worked out again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.distances import Distances, Points, distances_between
from graphtide.optimize.tree import Numbers
from graphtide.plan.collection import ViewMatrix


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points (rows over the classes), their distances, and how many of them are given."""

    points: Points
    distance: Distances
    weights: NDArray[np.int64]
    terminals: int

    @property
    def stones(self) -> int:
        """How many of the points are stepping stones."""
        return len(self.points) - self.terminals

    def with_stones(self, stones: Points) -> Cloud:
        """More stones at the end; those that stand on a known point are left out."""
        known = len(self.points)
        points = np.concatenate([self.points, stones])
        rows = distances_between(stones, points, self.weights)
        fresh = ~np.tril(rows == 0, known - 1).any(axis=1)
        rows = rows[fresh][:, np.concatenate([np.ones(known, dtype=np.bool_), fresh])]
        distance = np.empty((known + len(rows),) * 2, dtype=self.distance.dtype)
        distance[:known, :known] = self.distance
        distance[known:] = rows
        distance[:known, known:] = rows[:, :known].T
        return replace(self, points=np.concatenate([self.points, stones[fresh]]), distance=distance)

    def keeping(self, points: Numbers) -> Cloud:
        """Only these points, in this order; all terminals must be among them, first."""
        if len(points) == len(self.points):
            return self
        distance = self.distance[np.ix_(points, points)]
        return replace(self, points=self.points[points], distance=distance)


def cloud_of_views(matrix: ViewMatrix, distance: Distances) -> Cloud:
    """The empty version and the views, without stones."""
    points = np.zeros((matrix.views + 1, matrix.classes), dtype=np.bool_)
    points[1:] = matrix.membership.T
    return Cloud(points, distance, matrix.weights, matrix.views + 1)
