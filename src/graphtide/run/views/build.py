"""Views and collections of a graph in memory: facts for generators, classes, plan.

Users write views as statements do. Generators of views ask a snapshot for bounds and for rows that
match; the edges are classified, and the views arranged by the same planner as those of a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.lang.gvdl.facts import EdgeFact, VertexFact
from graphtide.lang.gvdl.lower import LoweredViews, lower_view, lower_views
from graphtide.lang.gvdl.requests import Views, view_list, written_order, written_predicate
from graphtide.lang.gvdl.statements import CreateCollection, CreateView
from graphtide.lang.gvdl.unparse import unparse_statement
from graphtide.model.delta import Delta, EdgeIds
from graphtide.model.errors import InputError, LimitError
from graphtide.model.schema import PropertyType
from graphtide.optimize import plan_collection
from graphtide.optimize.planner import Order
from graphtide.plan.collection import CollectionPlan
from graphtide.plan.predicates import Predicate, PropertyRef, Value
from graphtide.run.collection.planned_views import kept_views, listed_views, note_missing
from graphtide.run.collection.steps import RunVersions, ViewVertices
from graphtide.run.live.conditions import Conditions
from graphtide.run.progress import shown
from graphtide.run.views.classes import matching_edges, matching_vertices, viewed_edges
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.collection import GroupedEdges, StoredView, group_edges


class SnapshotFacts:
    """The GraphFacts of a version of a graph in memory."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        """Smallest and largest value over the edges that match."""
        bounds = pc.min_max(self._values(property, where)).as_py()
        return None if bounds["min"] is None else (bounds["min"], bounds["max"])

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        """The distinct values over the edges that match, ascending."""
        distinct = self._values(property, where).unique()
        _check_count(len(distinct), limit, f"values of {property}")
        return sorted(distinct.to_pylist())

    def edges(self, where: Predicate, limit: int) -> Sequence[EdgeFact]:
        """The edges that match, by number."""
        snapshot = self._snapshot
        rows = np.flatnonzero(matching_edges(snapshot, where))
        _check_count(len(rows), limit, "edges")
        ends = (self._texts(end[rows]) for end in (snapshot.src, snapshot.dst))
        return list(map(EdgeFact, snapshot.numbers[rows].tolist(), *ends))

    def vertices(self, where: Predicate, limit: int) -> Sequence[VertexFact]:
        """The vertices that match, by number."""
        numbers = np.flatnonzero(matching_vertices(self._snapshot, where))
        _check_count(len(numbers), limit, "vertices")
        return list(map(VertexFact, numbers.tolist(), self._texts(numbers)))

    def _values(self, property: PropertyRef, where: Predicate) -> pa.Array:
        """The values that the edges that match have, without NaN; 0.0 for -0.0."""
        values = self._snapshot.edge_values(property)
        values = values.filter(pa.array(matching_edges(self._snapshot, where))).drop_null()
        if property.type is PropertyType.FLOAT:
            values = pc.add(values.filter(pc.invert(pc.is_nan(values))), 0.0)
        return values

    def _texts(self, vertices: NDArray[Any]) -> list[str]:
        """The ids of vertices, as text."""
        ids = self._snapshot.vertex_column("id").take(pa.array(vertices))
        return [str(item) for item in ids.to_pylist()]


def _check_count(found: int, limit: int, what: str) -> None:
    if found > limit:
        raise LimitError(
            f"more than {limit:,} {what} match, and each would make a view",
            hint="narrow the condition behind 'where'",
        )


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

    def versions(self, needed: Conditions) -> RunVersions:
        """What a run visits, with a graph of its own that has what the program reads. O(edges)."""
        known = self.snapshot.resident(self._rows, needed)
        names = tuple(view.name for view in self.views)
        grouped = self._grouped(known.resident.numbers)
        told = lambda rows: self.snapshot.edge_table(self._rows[rows])  # noqa: E731
        vertices = ViewVertices.of(self.views)
        return RunVersions(self.plan, names, known, grouped, vertices, told)

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


def given_name(name: object) -> str:
    """The name of a view or collection; InputError if it is none."""
    if isinstance(name, str):
        return name
    raise InputError(f"a name is a text, not {name!r}", hint="give the name first, then the views")


def view_in_memory(snapshot: Snapshot, name: str, where: str) -> ViewsInMemory:
    """The view of the edges that satisfy a predicate."""
    statement = CreateView(name, written_predicate(where))
    named = lower_view(statement, snapshot.schema, timezone=snapshot.timezone)
    text = unparse_statement(statement)
    lowered = LoweredViews((named,))
    return build_views(snapshot, lowered, name=name, statement=text, order="manual")


def collection_in_memory(
    snapshot: Snapshot,
    name: str,
    views: Views,
    *,
    within: str | None,
    order: Order,
    effort: float | None,
) -> ViewsInMemory:
    """A collection of views, whatever they are written as."""
    written = view_list(views, within)
    ordering = written_order(order)
    statement = CreateCollection(name, written.items, within=written.within, ordering=ordering)
    with shown(f"collection {name}") as report:
        report("finding the classes of the edges")
        facts, zone = SnapshotFacts(snapshot), snapshot.timezone
        lowered = lower_views(statement, snapshot.schema, facts, timezone=zone)
        text = unparse_statement(statement)
        return build_views(snapshot, lowered, name=name, statement=text, order=order, effort=effort)
