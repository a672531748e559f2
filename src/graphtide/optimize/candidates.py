"""Orders in which near versions stand next to each other, found without distances.

Views that lack the same line, and windows with one start, have bounds in common; nested windows
follow each other by size; and views without any such order still mostly agree on a few classes
picked at random. Each order costs a sort, and its neighbours are candidates for the edges of a
tree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.run_points import RunPoints
from graphtide.optimize.tree import Numbers

SORTED_BOUNDS = 10**8
"""Bounds that may be sorted for candidates, about a quarter of a minute, and for stones as many;
beyond, orders and rounds are left out."""

SAMPLED_ORDERS = 4
"""Orders by classes picked at random: for views that follow no order of the classes."""

SAMPLED_CLASSES = 62
"""Classes of one sample: a bit each in a positive integer."""

LOOKED_AT = 6
"""Bounds by which versions are put in order, from either end."""


def view_orders(points: RunPoints) -> list[Numbers]:
    """Orders of the views, the given one first; as many as may be sorted."""
    allowed = SORTED_BOUNDS // (2 * len(points.bounds.values) + 1)
    makers: list[Callable[[], Numbers]] = [
        lambda: np.arange(len(points)),
        lambda: order_by_bounds(points),
        lambda: np.argsort(points.sizes(), kind="stable"),
        lambda: order_by_bounds(points, backwards=True),
        *(partial(order_by_sample, points, seed) for seed in range(SAMPLED_ORDERS)),
    ]
    orders = [make() for make in makers[: max(1, allowed)]]
    return [order[order > 0].astype(np.intp) for order in orders]


def joined_pairs(order: Numbers) -> NDArray[np.intp]:
    """Each point of an order with the next, a row each."""
    return np.stack([order[:-1], order[1:]], axis=1)


def order_by_bounds(points: RunPoints, *, backwards: bool = False) -> Numbers:
    """The points by their first bounds, or by their last."""
    starts, ends = points.bounds.offsets[:-1], points.bounds.offsets[1:]
    nothing = len(points.bounds.values)
    values = np.append(points.bounds.values, -1)
    columns = []
    for place in range(LOOKED_AT):
        at = ends - 1 - place if backwards else starts + place
        columns.append(values[np.where((starts <= at) & (at < ends), at, nothing)])
    order: Numbers = np.lexsort(columns[::-1])
    return order


def order_by_sample(points: RunPoints, seed: int) -> Numbers:
    """The points by whether they hold some classes, picked at random by their edges.

    Points that few edges tell apart mostly hold the same of them, and then stand together.
    """
    random = np.random.default_rng(seed)
    picked = random.integers(0, max(1, int(points.edges_before[-1])), SAMPLED_CLASSES)
    classes = np.searchsorted(points.edges_before, picked, side="right") - 1
    width = points.classes + 1
    keys = points.bounds.owners() * width + points.bounds.values
    word = np.zeros(len(points), np.int64)
    first = np.arange(len(points)) * width
    for item in classes.tolist():
        passed = np.searchsorted(keys, first + item, side="right") - points.bounds.offsets[:-1]
        word = word << 1 | passed & 1
    return np.argsort(word, kind="stable")
