"""What a graph in memory tells the generators of views: bounds, and the rows that match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.lang.gvdl.facts import EdgeFact, VertexFact
from graphtide.model.errors import LimitError
from graphtide.model.schema import PropertyType
from graphtide.plan.predicates import Predicate, PropertyRef, Value
from graphtide.run.views.classes import matching_edges, matching_vertices
from graphtide.run.views.snapshot import Snapshot


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
        _check_limit(len(distinct), limit, f"values of {property}")
        return sorted(distinct.to_pylist())

    def edges(self, where: Predicate, limit: int) -> Sequence[EdgeFact]:
        """The edges that match, by number."""
        snapshot = self._snapshot
        rows = np.flatnonzero(matching_edges(snapshot, where))
        _check_limit(len(rows), limit, "edges")
        ends = (self._texts(end[rows]) for end in (snapshot.src, snapshot.dst))
        return list(map(EdgeFact, snapshot.numbers[rows].tolist(), *ends))

    def vertices(self, where: Predicate, limit: int) -> Sequence[VertexFact]:
        """The vertices that match, by number."""
        numbers = np.flatnonzero(matching_vertices(self._snapshot, where))
        _check_limit(len(numbers), limit, "vertices")
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


def _check_limit(found: int, limit: int, what: str) -> None:
    if found > limit:
        raise LimitError(
            f"more than {limit:,} {what} match, and each would make a view",
            hint="narrow the condition behind 'where'",
        )
