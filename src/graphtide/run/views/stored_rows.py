"""Some edges of a stored graph, as the classification of edges in memory takes them.

Only the rows of these edges and of their ends are read into columns.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import EdgeIds, no_edges
from graphtide.plan.predicates import PropertyRef
from graphtide.plan.signatures import EDGE_NUMBER, VERTEX_NUMBER
from graphtide.run.views.typed_columns import ARROW_TYPES
from graphtide.store.edge_batches import end_batches
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import vertex_table
from graphtide.store.tables import edge_table_rows


class StoredRows:
    """Edges by their numbers, and the vertices that they join, in an order of their own."""

    def __init__(self, stored: StoredGraph, numbers: EdgeIds) -> None:
        self._numbers = numbers
        self._schema = stored.schema
        self._edges = edge_table_rows(stored, numbers)
        ends = [self._edges.column(name).to_numpy() for name in ("_src", "_dst")]
        self._ends, places = np.unique(np.concatenate(ends), return_inverse=True)
        self._vertices = vertex_table(stored).take(pa.array(self._ends))
        self.src, self.dst = places[: len(numbers)], places[len(numbers) :]

    def __len__(self) -> int:
        return len(self._numbers)

    def edge_values(self, item: PropertyRef) -> pa.Array:
        """A property of each edge, or of its end."""
        if item.owner != "edge":
            ends = self.src if item.owner == "src" else self.dst
            return self.vertex_values(item).take(pa.array(ends))
        names = self._edges.column_names
        if item.name == EDGE_NUMBER or (item.name == "id" and "id" not in names):
            return pa.array(self._numbers.astype(np.int64))
        return _column(self._edges, item, has_labels=bool(self._schema.edge_labels))

    def vertex_values(self, item: PropertyRef) -> pa.Array:
        """A property of each vertex, whichever end the predicate says it is."""
        if item.name == VERTEX_NUMBER:
            return pa.array(self._ends.astype(np.int64))
        if item.name == "id":
            return self._vertices.column("_id").combine_chunks().cast(ARROW_TYPES[item.type])
        return _column(self._vertices, item, has_labels=bool(self._schema.vertex_labels))


def ends_of(stored: StoredGraph, vertices: NDArray[np.integer]) -> EdgeIds:
    """The numbers of all edges that begin or end at some vertices, deleted ones included."""
    named = np.zeros(stored.vertices, np.bool_)
    named[vertices] = True
    met: list[EdgeIds] = [no_edges()]
    for first, src, dst in end_batches(stored):
        met.append(first + np.flatnonzero(named[src] | named[dst]))
    return np.concatenate(met).astype(stored.number_type)


def _column(table: pa.Table, item: PropertyRef, *, has_labels: bool) -> pa.Array:
    name = "_label" if item.name == "label" and has_labels else item.name
    return table.column(name).combine_chunks().cast(ARROW_TYPES[item.type])
