"""Requests for views and collections, and those of a graph in memory carried out.

Users write views as statements do. A statement becomes a request, whose views are resolved against
a graph; generators of views ask that graph for bounds and for rows that match. The same request is
carried out here, over a snapshot, or by Spark and the store (`catalog.build`): edges are
classified, and one planner arranges the views.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.lang.gvdl.facts import GraphFacts, NamedEdge, NamedVertex
from graphtide.lang.gvdl.lower import lower_view, lower_views
from graphtide.lang.gvdl.requests import Views as WrittenViews
from graphtide.lang.gvdl.requests import view_list, written_order, written_predicate
from graphtide.lang.gvdl.statements import CreateCollection, CreateView
from graphtide.lang.gvdl.unparse import unparse
from graphtide.model.delta import Delta, EdgeIds
from graphtide.model.errors import InputError, LimitError
from graphtide.model.schema import PropertyType
from graphtide.optimize.planner import Order, Views, plan_collection
from graphtide.plan.classes import EdgeClasses
from graphtide.plan.collection import CollectionPlan
from graphtide.plan.predicates import (
    EVERYTHING,
    NamedPredicate,
    Predicate,
    PropertyRef,
    Unviewed,
    Value,
)
from graphtide.run.collection.planned_views import note_missing
from graphtide.run.collection.steps import RunVersions, ViewVertices
from graphtide.run.live.conditions import Conditions
from graphtide.run.progress import shown
from graphtide.run.views.classes import matching_edges, matching_vertices, viewed_edges
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.collection import GroupedEdges, Kind, StoredView, group_edges
from graphtide.store.graph import StoredGraph


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

    def edges(self, where: Predicate, limit: int) -> Sequence[NamedEdge]:
        snapshot = self._snapshot
        rows = np.flatnonzero(matching_edges(snapshot, where))
        _check_count(len(rows), limit, "edges")
        ends = (self._texts(end[rows]) for end in (snapshot.src, snapshot.dst))
        return list(map(NamedEdge, snapshot.numbers[rows].tolist(), *ends))

    def vertices(self, where: Predicate, limit: int) -> Sequence[NamedVertex]:
        numbers = np.flatnonzero(matching_vertices(self._snapshot, where))
        _check_count(len(numbers), limit, "vertices")
        return list(map(NamedVertex, numbers.tolist(), self._texts(numbers)))

    def _values(self, property: PropertyRef, where: Predicate) -> pa.Array:
        """The values that the edges that match have, without NaN; 0.0 for -0.0."""
        values = self._snapshot.edge_values(property)
        values = values.filter(pa.array(matching_edges(self._snapshot, where))).drop_null()
        if property.type is PropertyType.FLOAT:
            values = pc.add(values.filter(pc.invert(pc.is_nan(values))), 0.0)
        return values

    def _texts(self, vertices: NDArray[Any]) -> list[str]:
        ids = self._snapshot.vertex_column("id").take(pa.array(vertices))
        return [str(item) for item in ids.to_pylist()]


def _check_count(found: int, limit: int, what: str) -> None:
    if found > limit:
        raise LimitError(
            f"more than {limit:,} {what} match, and each would make a view",
            hint="narrow the condition behind 'where'",
        )


Graph = TypeVar("Graph", StoredGraph, Snapshot)


@dataclass(frozen=True)
class CollectionRequest(Generic[Graph]):
    """A collection that a user asks for, with its views already lowered.

    `drop_empty` names the views that are left out if no edge is in them.
    """

    name: str
    kind: Kind
    graph: Graph
    views: tuple[NamedPredicate, ...]
    statement: str
    base: Predicate = EVERYTHING
    drop_empty: frozenset[str] = frozenset()
    order: Order = "auto"
    effort: float | None = None
    replace: bool = False
    unviewed: Unviewed | None = None

    @property
    def why_unviewed(self) -> Unviewed:
        return Unviewed(self.base) if self.unviewed is None else self.unviewed

    @property
    def predicates(self) -> list[Predicate]:
        return [view.predicate for view in self.views]

    def views_of(self, classes: EdgeClasses) -> tuple[tuple[StoredView, ...], Views]:
        """The views that stay, with their sizes, and which classes each of them holds.

        All stay but the empty ones among those that are to be dropped if empty.
        """
        used = classes.views.sizes() > 0
        droppable = np.array([view.name in self.drop_empty for view in self.views])
        chosen = np.flatnonzero(used | ~droppable)
        if not len(chosen):
            raise InputError(
                f"every view of '{self.name}' is empty and was to be dropped",
                hint="leave 'drop empty' out, or look at the bounds of the property",
            )
        views = classes.views.keeping(chosen)
        return stored_views([self.views[at] for at in chosen], views.sizes()), views

    def plan(self, views: Views) -> CollectionPlan:
        return plan_collection(views, order=self.order, effort=self.effort)


def view_request(
    graph: Graph, statement: CreateView, base: Predicate = EVERYTHING
) -> CollectionRequest[Graph]:
    named = lower_view(statement, graph.schema, base=base, timezone=graph.timezone)
    return CollectionRequest(
        name=statement.name,
        kind="view",
        graph=graph,
        views=(named,),
        statement=unparse(statement),
        base=base,
        replace=statement.replace,
    )


def collection_request(
    graph: Graph,
    statement: CreateCollection,
    facts: GraphFacts,
    base: Predicate = EVERYTHING,
    effort: float | None = None,
) -> CollectionRequest[Graph]:
    """A statement with its views lowered; generators ask the facts for bounds or rows."""
    lowered = lower_views(statement, graph.schema, facts, base=base, timezone=graph.timezone)
    return CollectionRequest(
        name=statement.name,
        kind="collection",
        graph=graph,
        views=lowered.views,
        statement=unparse(statement),
        base=base,
        drop_empty=lowered.drop_empty,
        order=statement.ordering.value,
        effort=effort,
        replace=statement.replace,
        unviewed=lowered.unviewed,
    )


def stored_views(
    views: Iterable[NamedPredicate], sizes: NDArray[np.int64]
) -> tuple[StoredView, ...]:
    """Views as they are stored, with how many edges each has."""
    return tuple(
        StoredView(view.name, str(view.predicate), size, view.removed, view.window)
        for view, size in zip(views, sizes.tolist(), strict=True)
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
        return np.flatnonzero(self.of_edge >= 0)

    def _grouped(self, edges: EdgeIds) -> GroupedEdges:
        return group_edges(edges, self.of_edge[self._rows], len(self.weights))


def build_views(request: CollectionRequest[Snapshot]) -> ViewsInMemory:
    """Classify the edges, and arrange the views."""
    why = request.why_unviewed
    of_edge, classes, unviewed = viewed_edges(request.graph, request.predicates, why)
    listed, views = request.views_of(classes)
    plan = request.plan(views)
    note_missing(request.name, unviewed, why)
    made = request.name, request.statement, request.graph, listed, plan, views.weights
    return ViewsInMemory(*made, of_edge, unviewed)


def given_name(name: object) -> str:
    """The name of a view or collection; InputError if it is none."""
    if isinstance(name, str):
        return name
    raise InputError(f"a name is a text, not {name!r}", hint="give the name first, then the views")


def view_in_memory(snapshot: Snapshot, name: str, where: str) -> ViewsInMemory:
    request = view_request(snapshot, CreateView(name, written_predicate(where)))
    return build_views(replace(request, order="manual"))


def collection_in_memory(
    snapshot: Snapshot,
    name: str,
    views: WrittenViews,
    *,
    within: str | None,
    order: Order,
    effort: float | None,
) -> ViewsInMemory:
    written = view_list(views, within)
    ordering = written_order(order)
    statement = CreateCollection(name, written.items, within=written.within, ordering=ordering)
    with shown(f"collection {name}") as report:
        report("finding the classes of the edges")
        facts = SnapshotFacts(snapshot)
        return build_views(collection_request(snapshot, statement, facts, effort=effort))
