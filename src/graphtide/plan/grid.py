"""Views as a grid: those of a product of two generators, given row by row.

A version (i, j) of two coordinates holds all that comes at versions (a, b) with a <= i and b <= j.
So the delta of a view holds what the view has beyond its neighbours above and to the left, less
what both neighbours bring already. An edge that is in all views from some row and column on then
costs one difference, where a chain pays for it in every row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan.collection import EMPTY_VERSION, CollectionPlan, PlanStep
from graphtide.plan.thresholds import check_memory

Shape = tuple[int, int]


@dataclass(frozen=True, eq=False)
class GridPlan:
    """Differences by row, column and class: how often it comes (or goes, below 0) there."""

    shape: Shape
    diffs: NDArray[np.int8]

    def at(self, row: int, column: int) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """The classes that come or go at one place, and how often."""
        here = self.diffs[row, column]
        classes = np.flatnonzero(here)
        return classes, here[classes]

    def differences(self, weights: NDArray[np.int64]) -> int:
        """All differences, in edges."""
        return int(np.abs(self.diffs).astype(np.int64).sum(axis=(0, 1)) @ weights)


def check_grid(shape: object, views: int) -> Shape:
    """A shape as users give it; InputError unless it is one of so many views."""
    sides = tuple(shape) if isinstance(shape, tuple | list) else ()
    if len(sides) != 2 or not all(isinstance(side, int) and side >= 1 for side in sides):
        raise InputError(f"grid cannot be {shape!r}", hint="give rows and columns: grid=(12, 5)")
    rows, columns = int(sides[0]), int(sides[1])
    if rows * columns != views:
        raise InputError(
            f"a grid of {rows} x {columns} has {rows * columns:,} views, and there are {views:,}",
            hint="the views are the rows of the grid, one row after the other",
        )
    return rows, columns


def grid_plans(plan: CollectionPlan, shape: Shape) -> tuple[GridPlan, CollectionPlan]:
    """The views of a plan as a grid, and as steps: along each row, whose first is below the last's.

    O(classes x views); LimitError where that is more than there is memory.
    """
    views_and_classes = shape[0] * shape[1], plan.classes
    check_memory(3 * math.prod(views_and_classes), *views_and_classes)
    held = np.zeros((*shape, plan.classes), np.bool_)
    views = held.reshape(-1, plan.classes)
    for step, version in zip(plan.steps, plan.versions(), strict=True):
        if step.view is not None:
            views[step.view] = version
    diffs = held.astype(np.int8)
    diffs[1:] -= held[:-1]
    diffs[:, 1:] -= diffs[:, :-1].copy()
    steps = [_step(views, at, shape[1]) for at in range(len(views))]
    return GridPlan(shape, diffs), replace(plan, kind="manual", steps=tuple(steps))


def _step(views: NDArray[np.bool_], at: int, columns: int) -> PlanStep:
    parent = at - 1 if at % columns else at - columns
    if parent < 0:
        parent, before = EMPTY_VERSION, np.zeros_like(views[0])
    else:
        before = views[parent]
    inserted = np.flatnonzero(views[at] & ~before).astype(np.int32)
    deleted = np.flatnonzero(before & ~views[at]).astype(np.int32)
    return PlanStep(at, None, parent, inserted, deleted)
