"""From named predicates to a planned collection over a version of a graph in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphtide.lang.gvdl.lower import LoweredViews
from graphtide.model.delta import Delta, EdgeIds
from graphtide.optimize import plan_collection
from graphtide.optimize.planner import Order
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.named_views import kept_views, listed_views, note_missing
from graphtide.run.collection.steps import ViewVertices
from graphtide.run.collection.versions import Versions
from graphtide.run.live.conditions import Conditions
from graphtide.run.views.classes import viewed_edges
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.collection import GroupedEdges, StoredView, group_edges


@dataclass(frozen=True)
class ViewsInMemory:
    """A collection that is not stored: views, their plan, and the class of each edge."""

    name: str
    statement: str
    snapshot: Snapshot
    views: tuple[StoredView, ...]
    plan: CollectionPlan
    weights: NDArray[np.int64]
    of_edge: NDArray[np.int32]
    unviewed: Mapping[str, int]

    @cached_property
    def grouped_edges(self) -> GroupedEdges:
        """The edges by class, under the numbers that users know."""
        return self._grouped(self.snapshot.numbers[self._rows])

    def delta(self, step: int) -> Delta:
        """The edges that enter and leave at a step of the plan, by number, in no order."""
        return self.grouped_edges.delta(self.plan.steps[step])

    def view_edges(self, view: int) -> EdgeIds:
        """The edges of a view by number, sorted."""
        return self.grouped_edges.of_view(self.plan, view)

    def versions(self, needed: Conditions) -> Versions:
        """What a run visits, with a graph of its own that has what the program reads. O(edges)."""
        known = self.snapshot.resident(self._rows, needed)
        names = tuple(view.name for view in self.views)
        grouped = self._grouped(known.resident.numbers)
        told = lambda rows: self.snapshot.edge_table(self._rows[rows])  # noqa: E731
        vertices = ViewVertices.of(self.views)
        return Versions(self.plan, names, known, grouped, vertices, told)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The edges that are in at least one view."""
        return np.flatnonzero(self.of_edge >= 0)

    def _grouped(self, edges: EdgeIds) -> GroupedEdges:
        return group_edges(edges, self.of_edge[self._rows], len(self.weights))


def build_views(
    snapshot: Snapshot,
    lowered: LoweredViews,
    *,
    name: str,
    statement: str,
    order: Order = "auto",
    effort: float | None = None,
) -> ViewsInMemory:
    """Classify the edges, and arrange the views."""
    predicates = [view.predicate for view in lowered.views]
    of_edge, classes, unviewed = viewed_edges(snapshot, predicates, lowered.unviewed)
    chosen = kept_views(name, lowered.views, lowered.drop_empty, classes)
    views = classes.views.keeping(chosen)
    plan = plan_collection(views, order=order, effort=effort)
    listed = tuple(listed_views(lowered.views, chosen, views.sizes()))
    note_missing(name, unviewed, lowered.unviewed)
    weights = views.weights
    return ViewsInMemory(name, statement, snapshot, listed, plan, weights, of_edge, unviewed)
