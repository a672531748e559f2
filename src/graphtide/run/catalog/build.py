"""From named predicates to a stored collection: signatures, classes, plan, commit.

The store is locked from the start, so that a second writer fails at once and not after the work.
The driver plans while Spark writes the classes of the edges: neither needs the other.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from graphtide.model.errors import InputError
from graphtide.model.progress import Report
from graphtide.optimize import plan_collection
from graphtide.optimize.planner import Order
from graphtide.plan.classes import classify_signatures, count_unviewed
from graphtide.plan.predicates import EVERYTHING, NamedPredicate, Predicate, Unviewed
from graphtide.plan.signatures import layout_signatures
from graphtide.run.collection.named_views import kept_views, listed_views, note_missing
from graphtide.store.catalog import Catalog
from graphtide.store.collection import (
    EDGES,
    CollectionFacts,
    Kind,
    StoredCollection,
    open_collection,
    write_collection,
)
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph

if TYPE_CHECKING:
    from graphtide.spark.gateway import SparkGateway


@dataclass(frozen=True)
class CollectionRequest:
    """A collection that a user asks for, with its views already lowered.

    `drop_empty` names the views that are left out if no edge is in them.
    """

    name: str
    kind: Kind
    graph: StoredGraph
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
        """Why edges may be in no view."""
        return Unviewed(self.base) if self.unviewed is None else self.unviewed


def build_collection(
    catalog: Catalog, gateway: SparkGateway, request: CollectionRequest, report: Report
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
        layout = layout_signatures([*(view.predicate for view in request.views), *why.predicates])
        jobs = gateway.collection_jobs(request.graph, layout)
        counts = jobs.count()
        predicates = [view.predicate for view in request.views]
        classes = classify_signatures(layout, counts.signatures, counts.counts, predicates)
        found = counts.signatures, counts.counts
        unviewed = (
            {}
            if request.kind == "view"
            else count_unviewed(layout, *found, classes.of_signature, why)
        )
        chosen = kept_views(request.name, request.views, request.drop_empty, classes)
        views = classes.views.keeping(chosen)
        report(f"planning {len(chosen):,} views", None)
        with jobs.writing(counts.signatures, classes.of_signature, commit.path / EDGES):
            # Spark has the cores now: BLAS threads that wait for one make planning slower.
            with threadpool_limits(limits=1, user_api="blas"):
                plan = plan_collection(views, order=request.order, effort=request.effort)
            report("writing", None)
        facts = _facts(request, time.perf_counter() - began, unviewed)
        stored = listed_views(request.views, chosen, views.sizes())
        checksums, wide = gateway.checksums, request.graph.has_wide_numbers
        given = facts, stored, plan, views.weights
        write_collection(commit, *given, checksums=checksums, wide=wide)
    note_missing(request.name, unviewed, why)
    return open_collection(catalog, request.name)


def _facts(request: CollectionRequest, seconds: float, unviewed: dict[str, int]) -> CollectionFacts:
    return CollectionFacts(
        kind=request.kind,
        graph=request.graph.name,
        graph_identity=request.graph.identity,
        base=str(request.base),
        statement=request.statement,
        seconds=round(seconds, 3),
        unviewed=unviewed,
    )
