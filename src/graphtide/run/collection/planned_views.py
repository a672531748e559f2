"""The views of a collection, stored or in memory: what is known of them, and how like they are.

Similarity is Jaccard's, the share of their edges that two views have in common: exact, and from the
classes of the plan alone, without reading an edge. Of more views than a picture has places, evenly
spaced ones stand for the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import Delta, EdgeIds
from graphtide.model.text import counted
from graphtide.optimize.tree import distances_between
from graphtide.plan.collection import CollectionPlan
from graphtide.plan.predicates import OTHERWISE, IsNull, Unviewed
from graphtide.store.collection import StoredView


class PlannedViews(Protocol):
    """What is known of a collection, stored or not."""

    @property
    def name(self) -> str: ...

    @property
    def views(self) -> tuple[StoredView, ...]:
        """Its views, in the order in which they were given."""

    @property
    def plan(self) -> CollectionPlan: ...

    @property
    def weights(self) -> NDArray[np.int64]: ...

    @property
    def unviewed(self) -> Mapping[str, int]:
        """How many edges are in no view, by reason."""

    def view_edges(self, view: int) -> EdgeIds:
        """The edges of a view by number, sorted."""

    def delta(self, step: int) -> Delta:
        """The edges that enter and leave at a step of the plan."""


def plan_table(views: PlannedViews) -> pa.Table:
    """One row per step of the plan: view or stone, size, parent, edges in and out."""
    steps, weights = views.plan.steps, views.weights
    inserted = np.array([weights[step.inserted].sum() for step in steps], np.int64)
    deleted = np.array([weights[step.deleted].sum() for step in steps], np.int64)
    sizes: list[int] = []
    for at, step in enumerate(steps):
        before = 0 if step.parent < 0 else sizes[step.parent]
        sizes.append(before + int(inserted[at]) - int(deleted[at]))
    labels = [
        f"({step.stone})" if step.view is None else views.views[step.view].name for step in steps
    ]
    parents = [None if step.parent < 0 else labels[step.parent] for step in steps]
    return pa.table(
        {
            "view": pa.array(labels, pa.string()),
            "stone": pa.array([step.view is None for step in steps], pa.bool_()),
            "edges": pa.array(sizes, pa.int64()),
            "parent": pa.array(parents, pa.string()),
            "inserted": inserted,
            "deleted": deleted,
        }
    )


def plan_flips(plan: CollectionPlan) -> pa.Table:
    """One row per class that enters (+1) or leaves (-1) at a step of the plan."""
    columns: dict[str, list[NDArray[np.generic]]] = {"step": [], "_class": [], "sign": []}
    for index, step in enumerate(plan.steps):
        for classes, sign in ((step.inserted, 1), (step.deleted, -1)):
            columns["step"].append(np.full(len(classes), index, np.int32))
            columns["_class"].append(classes.astype(np.int32))
            columns["sign"].append(np.full(len(classes), sign, np.int8))
    return pa.table({name: np.concatenate(parts) for name, parts in columns.items()})


_log = logging.getLogger("graphtide")


def unviewed_text(unviewed: Mapping[str, int]) -> str | None:
    """How many edges are in no view, and why; None where all are in one."""
    if not unviewed:
        return None
    total = sum(unviewed.values())
    verb = "is" if total == 1 else "are"
    text = f"{counted(total, 'edge')} {verb} in no view"
    told = [f"{reason}: {number:,}" for reason, number in unviewed.items()]
    return text if list(unviewed) == [OTHERWISE] else f"{text} ({'; '.join(told)})"


def note_missing(name: str, unviewed: Mapping[str, int], why: Unviewed) -> None:
    """Say in the log that windows leave out edges because these have no value to go by."""
    without = [item.name for item in why.reasons if isinstance(item.predicate, IsNull)]
    if any(reason in unviewed for reason in without):
        _log.warning("collection '%s': %s", name, unviewed_text(unviewed))


Float = NDArray[np.float64]
_MOST_SHOWN = 400
_FEWEST_SHOWN = 60
_MOST_CELLS = 1 << 26
_STRIP = 1 << 16


def planned_order(plan: CollectionPlan) -> NDArray[np.int64]:
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
    points = plan.memberships(wanted.tolist())
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


def _room(classes: int) -> int:
    """How many views are shown: fewer where each has very many classes."""
    affordable = _MOST_CELLS // max(classes, 1)
    return int(np.clip(affordable, _FEWEST_SHOWN, _MOST_SHOWN))
