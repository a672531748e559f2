"""Graphs, views and collections of a workspace: statements resolved, carried out and stored.

A statement becomes a request: names, predicates and views resolved against their graph. Generators
of views ask the graph for bounds and for rows that match; bounds of a property of the edges come
from the footers of its files where these say them exactly, without a Spark job.

A collection is built of a request: signatures, classes, plan, commit. The store is locked from the
start, so that a second writer fails at once and not after the work. The driver plans while Spark
writes the classes of the edges: neither needs the other.

`whole_view` is the view of a graph that has all of its edges: what a run on shards takes for the
graph. It is stored under a name of its own, `GRAPH-whole`, made by Spark when somebody first asks
for it and again when the graph has changed. Shards and results belong to it, as to any other view.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from graphtide.lang.gvdl.facts import GraphFacts, NamedEdge, NamedVertex
from graphtide.lang.gvdl.lower import lower_groups
from graphtide.lang.gvdl.parse import parse_predicate, parse_script
from graphtide.lang.gvdl.resolve import resolve_predicate
from graphtide.lang.gvdl.statements import CreateCollection, CreateGrouped, CreateView
from graphtide.lang.gvdl.unparse import unparse
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.progress import ProgressReport
from graphtide.model.schema import PropertyType, name_hint
from graphtide.plan.classes import classify_signatures, count_unviewed
from graphtide.plan.grouping import GroupPlan
from graphtide.plan.predicates import (
    EVERYTHING,
    Predicate,
    PropertyRef,
    Value,
)
from graphtide.plan.signatures import layout_signatures
from graphtide.run.catalog.row_counts import RowCounts, counts_of_load
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.planned_views import note_missing
from graphtide.run.durable.records import AppliedBatches, BatchId
from graphtide.run.progress import shown
from graphtide.run.views.build import CollectionRequest, collection_request, view_request
from graphtide.spark.ingest.options import ingest_options
from graphtide.spark.ingest.source import GraphSource, is_networkx
from graphtide.store.catalog import Catalog
from graphtide.store.collection import (
    EDGES,
    CollectionFacts,
    StoredCollection,
    latest_behind,
    open_collection,
    state_behind,
    view_names,
    write_collection,
)
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph, graph_manifest, open_graph
from graphtide.store.tables import edge_bounds

if TYPE_CHECKING:
    from graphtide.spark.gateway import SparkGateway


class StoredGraphFacts:
    """The GraphFacts of a stored graph."""

    def __init__(self, stored: StoredGraph, gateway: SparkGateway) -> None:
        self._stored = stored
        self._gateway = gateway

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        """Smallest and largest value over the edges that match."""
        if where == EVERYTHING and self._is_declared(property):
            bounds = edge_bounds(self._stored, property.name)
            if bounds is not None:
                low, high = bounds
                return _as_value(low, property.type), _as_value(high, property.type)
        return self._gateway.bounds(self._stored, property, where)

    def edges(self, where: Predicate, limit: int) -> Sequence[NamedEdge]:
        rows = self._gateway.edge_names(self._stored, where, limit)
        return [NamedEdge(edge, src, dst) for edge, src, dst in rows]

    def vertices(self, where: Predicate, limit: int) -> Sequence[NamedVertex]:
        rows = self._gateway.vertex_names(self._stored, where, limit)
        return [NamedVertex(vertex, name) for vertex, name in rows]

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        """The distinct values over the edges that match, ascending."""
        return self._gateway.values(self._stored, property, where, limit)

    def _is_declared(self, item: PropertyRef) -> bool:
        declared = {known.name for known in self._stored.schema.edge}
        return item.owner == "edge" and item.name in declared


def _as_value(found: Value, type_: PropertyType) -> Value:
    """A footer's timestamp has lost its zone where the file says only 'UTC-adjusted'."""
    if type_ is PropertyType.TIMESTAMP and isinstance(found, dt.datetime) and not found.tzinfo:
        return found.replace(tzinfo=dt.UTC)
    return found


def build_collection(
    catalog: Catalog,
    gateway: SparkGateway,
    request: CollectionRequest[StoredGraph],
    report: ProgressReport,
) -> StoredCollection:
    """Materialise a collection and return it as stored. Nothing is left behind on failure."""
    if not request.views:
        raise InputError(f"the {request.kind} '{request.name}' has no views")
    folder = catalog.collection_folder(request.name)
    began = time.perf_counter()
    what = f"the {request.kind} '{request.name}'"
    with begin(folder, replace=request.replace, what=what) as commit:
        report("counting signatures", None)
        why = request.why_unviewed
        layout = layout_signatures([*request.predicates, *why.predicates])
        jobs = gateway.collection_jobs(request.graph, layout)
        counts = jobs.count()
        rows = counts.signatures, counts.counts
        classes = classify_signatures(layout, *rows, request.predicates)
        unviewed: dict[str, int] = {}
        if request.kind == "collection":
            unviewed = count_unviewed(layout, *rows, classes.of_signature, why)
        stored, views = request.views_of(classes)
        report(f"planning {len(stored):,} views", None)
        with jobs.writing(counts.signatures, classes.of_signature, commit.path / EDGES):
            # Spark has the cores now: BLAS threads that wait for one make planning slower.
            with threadpool_limits(limits=1, user_api="blas"):
                plan = request.plan(views)
            report("writing", None)
        facts = CollectionFacts(
            kind=request.kind,
            graph=request.graph.name,
            graph_identity=request.graph.identity,
            base=str(request.base),
            statement=request.statement,
            seconds=round(time.perf_counter() - began, 3),
            unviewed=unviewed,
        )
        checksums, wide = gateway.checksums, request.graph.has_wide_numbers
        written = facts, stored, plan, views.weights
        write_collection(commit, *written, checksums=checksums, wide=wide)
    note_missing(request.name, unviewed, why)
    return open_collection(catalog, request.name)


FactsOf = Callable[[StoredGraph], GraphFacts]


@dataclass(frozen=True)
class GroupedRequest:
    """A grouped graph that a user asks for, with its groups resolved."""

    graph: StoredGraph
    plan: GroupPlan
    statement: str


def grouped_request(space: Workspace, statement: CreateGrouped) -> GroupedRequest:
    """A statement with its groups resolved; asks nothing of Spark."""
    graph, base = base_of(space, statement.base)
    if statement.name == graph.name:
        raise InputError(
            f"'{graph.name}' is the graph that is to be grouped",
            hint="give the grouped graph a name of its own",
        )
    plan = lower_groups(statement, graph.schema, base=base, timezone=graph.timezone)
    return GroupedRequest(graph, plan, unparse(statement))


def stored_request(
    space: Workspace,
    statement: CreateView | CreateCollection,
    *,
    effort: float | None = None,
    facts_of: FactsOf | None = None,
) -> CollectionRequest[StoredGraph]:
    """A statement with its views resolved; generators may ask Spark for bounds or rows.

    They ask `facts_of` the graph instead, if that is given.
    """
    graph, base = base_of(space, statement.base)
    if isinstance(statement, CreateView):
        return view_request(graph, statement, base)
    facts = StoredGraphFacts(graph, space.gateway) if facts_of is None else facts_of(graph)
    return collection_request(graph, statement, facts, base, effort)


def request_again(space: Workspace, stored: StoredCollection) -> CollectionRequest[StoredGraph]:
    """The request that would make a stored collection again, on the graph as it is now."""
    (statement,) = parse_script(stored.facts.statement)
    assert isinstance(statement, CreateView | CreateCollection)
    base = statement.base or stored.facts.graph
    return stored_request(space, with_changes(statement, base=base, replace=True))


def base_of(space: Workspace, name: str | None) -> tuple[StoredGraph, Predicate]:
    """The graph behind a name and the predicate of the view that the name stands for.

    The graph is as it is now, whatever state of it the view was made from.
    """
    name = name or space.current_graph()
    if space.catalog.has_graph(name):
        return open_graph(space.catalog, name), EVERYTHING
    if not space.catalog.has_collection(name):
        raise _no_base(space.catalog, name)
    stored = open_collection(space.catalog, name)
    if stored.facts.kind != "view":
        raise InputError(
            f"'{name}' is a collection: a view needs a graph or a single view to stand on",
            hint="name a graph or a view behind 'on'",
        )
    graph = latest_behind(space.catalog, stored)
    state_behind(stored, graph)  # Refuses a view whose graph was loaded anew since.
    text = stored.views[0].predicate
    return graph, resolve_predicate(parse_predicate(text), graph.schema)


def _no_base(catalog: Catalog, name: str) -> NotFoundError:
    known = [*catalog.graphs(), *view_names(catalog)]
    listed = ", ".join(known[:10]) or "nothing yet"
    return NotFoundError(
        f"there is no graph or view named '{name}'",
        where=str(catalog.root),
        hint=name_hint(name, known, f"there is: {listed}", "'"),
    )


def load_graph(
    space: Workspace,
    name: str,
    source: GraphSource,
    options: dict[str, Any],
    *,
    replace: bool,
    batch: BatchId | None = None,
) -> tuple[StoredGraph, RowCounts]:
    """Load a graph into the catalog, and count its rows; it is the current graph from now on.

    A `batch` that the graph of that name has taken before does nothing, unless the graph is to be
    replaced.
    """
    folder = space.catalog.graph_folder(name)
    chosen = ingest_options(options)
    if chosen.directed is None and is_networkx(source.edges):
        chosen = with_changes(chosen, directed=source.edges.is_directed())
    if batch is not None and not replace and space.catalog.has_graph(name):
        there = open_graph(space.catalog, name)
        if AppliedBatches.of_graph(there).has(batch):
            space.current = name
            return there, RowCounts(name, id=batch, applied_before=True)
    with (
        shown(f"load {name}", enabled=space.progress) as report,
        begin(folder, replace=replace, what=f"the graph '{name}'") as commit,
    ):
        summary = space.gateway.load(commit.path, source, chosen, report)
        report("checking", None)
        manifest = graph_manifest(summary) | AppliedBatches().entries(batch, 0)
        commit.finish(manifest, checksums=space.gateway.checksums)
    space.current = name
    stored = open_graph(space.catalog, name)
    return stored, with_changes(counts_of_load(space.catalog, stored, summary.notes), id=batch)


def make_collection(
    space: Workspace, statement: CreateView | CreateCollection, *, effort: float | None = None
) -> StoredCollection:
    request = stored_request(space, statement, effort=effort)
    with shown(f"{request.kind} {request.name}", enabled=space.progress) as report:
        return build_collection(space.catalog, space.gateway, request, report)


def make_grouped(space: Workspace, statement: CreateGrouped) -> StoredGraph:
    """Store the grouped graph that a statement describes. The current graph stays current."""
    request, name = grouped_request(space, statement), statement.name
    folder = space.catalog.graph_folder(name)
    with (
        shown(f"group {name}", enabled=space.progress) as report,
        begin(folder, replace=statement.replace, what=f"the graph '{name}'") as commit,
    ):
        summary = space.gateway.group(
            commit.path, request.graph, request.plan, request.statement, report
        )
        commit.finish(graph_manifest(summary), checksums=space.gateway.checksums)
    return open_graph(space.catalog, name)


def whole_view(space: Workspace, graph: StoredGraph) -> StoredCollection:
    """The view of all edges of a graph in the state that it was opened in, made if need be."""
    name = f"{graph.name}-whole"
    there = None
    if space.catalog.has_collection(name):
        there = open_collection(space.catalog, name)
        _check_whole(there, graph)
    if there is None or there.facts.graph_identity != graph.identity:
        everything = parse_predicate(str(EVERYTHING))
        there = make_collection(space, CreateView(name, everything, base=graph.name, replace=True))
    if there.facts.graph_identity != graph.identity:
        raise StoreError(
            f"the graph '{graph.name}' has changed since it was opened",
            hint=f"open it again: session.graph('{graph.name}')",
        )
    return there


def is_whole(stored: StoredCollection) -> bool:
    """Whether a view has all edges of its graph."""
    facts, predicates = stored.facts, [view.predicate for view in stored.views]
    wanted = "view", str(EVERYTHING), [str(EVERYTHING)]
    return (facts.kind, facts.base, predicates) == wanted


def _check_whole(there: StoredCollection, graph: StoredGraph) -> None:
    """Refuse to replace a view or a collection of somebody's own that has the name."""
    facts = there.facts
    if facts.graph != graph.name or not is_whole(there):
        raise InputError(
            f"'{there.name}' is to be the view of all edges of '{graph.name}', and is another "
            f"{facts.kind}",
            hint="delete it, or create it again under another name; or run the program on a view "
            "of your own: session.collection(...).run(..., on='shards')",
        )
