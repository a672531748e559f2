"""How large the plan of a collection will be, before it is made and without Spark.

The edges of a small graph are classified in this process, and planned as they will be: that is the
size. Of a larger graph so many edges are taken at random, and the differences that their plan has
are multiplied: that is an estimate, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from graphtide.lang.gvdl.facts import NamedEdge, NamedVertex
from graphtide.model.errors import LimitError
from graphtide.plan.predicates import EVERYTHING, Predicate, PropertyRef, Value
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.views.build import CollectionRequest, SnapshotFacts
from graphtide.run.views.classes import StoredEdgeRows, viewed_edges
from graphtide.run.views.sources import stored_source
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_bounds, live_edges

SAMPLE = 200_000
"""The most edges that are classified. As many take half a second for 200 windows."""

IN_MEMORY = 500_000
"""The most edges of a graph that is read to find bounds, values, or edges to take out."""


@dataclass(frozen=True)
class PlanSize:
    """The size of a plan; `note` says how it was estimated, if it was."""

    views: int
    differences: int
    kind: str
    note: str | None = None


def plan_size(request: CollectionRequest[StoredGraph]) -> PlanSize:
    """How many views and differences the collection will have."""
    numbers, predicates = live_edges(request.graph), request.predicates
    whole, note = len(numbers), None
    if whole > SAMPLE:
        numbers = np.sort(np.random.default_rng(0).choice(numbers, SAMPLE, replace=False))
        note = f"estimated from {SAMPLE:,} of {whole:,} edges"
    rows = StoredEdgeRows(request.graph, numbers, predicates)
    classes = viewed_edges(rows, predicates, request.why_unviewed)[1]
    # A window without an edge of the sample may well have some.
    asked = request if note is None else replace(request, drop_empty=frozenset())
    views = asked.views_of(classes)[1]
    plan = request.plan(views)
    differences = plan.differences(views.weights) * whole / max(1, len(numbers))
    return PlanSize(views.views, round(differences), plan.kind, note)


class LocalFacts:
    """The GraphFacts of a stored graph, found in this process."""

    def __init__(self, stored: StoredGraph) -> None:
        self._stored = stored

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        """Smallest and largest value: of the footers, if all edges count, and theirs are exact."""
        declared = {known.name for known in self._stored.schema.edge}
        if where == EVERYTHING and property.owner == "edge" and property.name in declared:
            bounds: Any = edge_bounds(self._stored, property.name)
            if bounds is not None and not hasattr(bounds[0], "tzinfo"):
                return bounds  # type: ignore[no-any-return]
        return self._found.bounds(property, where)

    def edges(self, where: Predicate, limit: int) -> Sequence[NamedEdge]:
        return self._found.edges(where, limit)

    def vertices(self, where: Predicate, limit: int) -> Sequence[NamedVertex]:
        return self._found.vertices(where, limit)

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        """The distinct values over the edges that match, ascending."""
        return self._found.values(property, where, limit)

    @cached_property
    def _found(self) -> SnapshotFacts:
        stored = self._stored
        if stored.edges > IN_MEMORY:
            raise LimitError(
                f"the graph '{stored.name}' has {stored.edges:,} edges, and which views this makes "
                "is known once Spark has looked at all of them",
                hint="create it, or say where windows begin and end: from ... until ...",
            )
        graph = MemoryGraph._of_source(stored_source(stored), simple=False)
        return SnapshotFacts(graph._snapshot())
