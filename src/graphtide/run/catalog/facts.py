"""What a stored graph tells the generators of views: bounds, and the rows that match.

Bounds of a property of the edges come from the footers of its files where these say them
exactly, without a Spark job.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphtide.lang.gvdl.facts import EdgeFact, VertexFact
from graphtide.model.schema import PropertyType
from graphtide.plan.predicates import EVERYTHING, Predicate, PropertyRef, Value
from graphtide.store.graph import StoredGraph
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

    def edges(self, where: Predicate, limit: int) -> Sequence[EdgeFact]:
        """The edges that match, by number."""
        rows = self._gateway.edge_names(self._stored, where, limit)
        return [EdgeFact(edge, src, dst) for edge, src, dst in rows]

    def vertices(self, where: Predicate, limit: int) -> Sequence[VertexFact]:
        """The vertices that match, by number."""
        rows = self._gateway.vertex_names(self._stored, where, limit)
        return [VertexFact(vertex, name) for vertex, name in rows]

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
