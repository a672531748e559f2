"""How like the views of a collection are: the share of their edges that two have in common.

It is Jaccard's, exact, and from the classes of the plan alone: no edge is read. Of more views than
a picture has places, evenly spaced ones stand for the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.distances import distances_between
from graphtide.plan.collection import CollectionPlan

Float = NDArray[np.float64]
_MOST_SHOWN = 400
_FEWEST_SHOWN = 60
_MOST_CELLS = 1 << 26
_STRIP = 1 << 16


def planned_order(plan: CollectionPlan) -> NDArray[np.int64]:
    """The views in the order in which the plan visits them."""
    return np.array([step.view for step in plan.steps if step.view is not None], np.int64)


def shown_views(plan: CollectionPlan, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some views that a matrix has places for: all, or evenly spaced ones."""
    most = _room(plan.classes)
    if len(order) <= most:
        return order
    places = np.linspace(0, len(order) - 1, most).round().astype(np.int64)
    chosen: NDArray[np.int64] = order[places]
    return chosen


def similarities(
    plan: CollectionPlan, weights: NDArray[np.int64], orders: list[NDArray[np.int64]]
) -> list[Float]:
    """A matrix for each order of some views, in which 1 says that two are the same."""
    wanted = np.unique(np.concatenate(orders))
    points = _memberships(plan, wanted)
    sizes: Float = np.array([weights[held].sum() for held in points], np.float64)
    matrices = []
    for order in orders:
        rows = np.searchsorted(wanted, order)
        chosen = points[rows]
        distances = np.zeros((len(rows), len(rows)), np.int64)
        for first in range(0, max(len(weights), 1), _STRIP):
            strip = np.ascontiguousarray(chosen[:, first : first + _STRIP])
            distances += distances_between(strip, strip, weights[first : first + _STRIP])
        matrices.append(similarity(distances, sizes[rows], sizes[rows]))
    return matrices


def similarity(distances: NDArray[np.int64], left: Float, right: Float) -> Float:
    """Edges in both over edges in either, from sizes and distances; 1 for two empty views."""
    both = left[:, None] + right[None, :]
    either = both + distances
    return np.where(either > 0, (both - distances) / np.maximum(either, 1), 1.0)


def _memberships(plan: CollectionPlan, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The classes of the wanted views, a row each."""
    rows = {int(view): at for at, view in enumerate(wanted)}
    members = np.zeros((len(wanted), plan.classes), np.bool_)
    for step, held in zip(plan.steps, plan.versions(), strict=True):
        if step.view in rows:
            members[rows[step.view]] = held
    return members


def _room(classes: int) -> int:
    """How many views are shown: fewer where each has very many classes."""
    affordable = _MOST_CELLS // max(classes, 1)
    return int(np.clip(affordable, _FEWEST_SHOWN, _MOST_SHOWN))
