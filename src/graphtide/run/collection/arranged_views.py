"""What is known of a collection, stored or in memory: its views, and the plan over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import Delta, EdgeIds
from graphtide.plan.collection import CollectionPlan
from graphtide.store.collection import StoredView


class ArrangedViews(Protocol):
    """What is known of a collection, stored or not."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def views(self) -> tuple[StoredView, ...]:
        """Its views, in the order in which they were given."""

    @property
    def plan(self) -> CollectionPlan:
        """Its plan by classes."""

    @property
    def weights(self) -> NDArray[np.int64]:
        """The number of edges of each class."""

    @property
    def unviewed(self) -> Mapping[str, int]:
        """How many edges are in no view, by reason."""

    def view_edges(self, view: int) -> EdgeIds:
        """The edges of a view by number, sorted."""

    def delta(self, step: int) -> Delta:
        """The edges that enter and leave at a step of the plan."""


def plan_table(views: ArrangedViews) -> pa.Table:
    """A row a step of the plan: view or stone, size, parent, edges in and out."""
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
    """A row a class that enters (+1) or leaves (-1) at a step of the plan."""
    columns: dict[str, list[NDArray[np.generic]]] = {"step": [], "_class": [], "sign": []}
    for index, step in enumerate(plan.steps):
        for classes, sign in ((step.inserted, 1), (step.deleted, -1)):
            columns["step"].append(np.full(len(classes), index, np.int32))
            columns["_class"].append(classes.astype(np.int32))
            columns["sign"].append(np.full(len(classes), sign, np.int8))
    return pa.table({name: np.concatenate(parts) for name, parts in columns.items()})
