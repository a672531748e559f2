"""Some edges of a stored graph, as the classification of edges in memory takes them.

Only the rows of these edges and of their ends are read into columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import EdgeIds, no_edges
from graphtide.plan.predicates import Predicate, PropertyRef, atoms_of, properties_of
from graphtide.plan.signatures import EDGE_NUMBER, VERTEX_NUMBER
from graphtide.run.views.typed_columns import ARROW_TYPES
from graphtide.store.edge_batches import end_batches
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import vertex_table
from graphtide.store.tables import edge_table_rows


class StoredRows:
    """Edges by their numbers, and the vertices that they join, in an order of their own.

    Vertices are read where they are asked for; of the edges, what `predicates` look at, if these
    are given.
    """

    def __init__(
        self,
        stored: StoredGraph,
        numbers: EdgeIds,
        predicates: Iterable[Predicate] | None = None,
    ) -> None:
        self._numbers, self._stored = numbers, stored
        self._schema = stored.schema
        columns = None if predicates is None else _columns_of(stored, predicates)
        self._edges = edge_table_rows(stored, numbers, columns)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def src(self) -> NDArray[Any]:
        """The place of each edge's source among the vertices."""
        return self._places[: len(self._numbers)]

    @property
    def dst(self) -> NDArray[Any]:
        """The place of each edge's target among the vertices."""
        return self._places[len(self._numbers) :]

    @property
    def _ends(self) -> NDArray[Any]:
        return self._joined[0]

    @property
    def _places(self) -> NDArray[Any]:
        return self._joined[1]

    @cached_property
    def _joined(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The vertices at the ends by number, sorted, and the place of each end among them."""
        ends = [self._edges.column(name).to_numpy() for name in ("_src", "_dst")]
        return np.unique(np.concatenate(ends), return_inverse=True)

    @cached_property
    def _vertices(self) -> pa.Table:
        return vertex_table(self._stored).take(pa.array(self._ends))

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


def _columns_of(stored: StoredGraph, predicates: Iterable[Predicate]) -> list[str]:
    """The columns of the edges that predicates look at, with both ends."""
    items = {
        item
        for predicate in predicates
        for atom in atoms_of(predicate)
        for item in properties_of(atom)
        if item.owner == "edge"
    }
    known = {item.name for item in stored.schema.edge}
    names = {item.name for item in items if item.name in known}
    if stored.schema.edge_labels and any(item.name == "label" for item in items):
        names.add("_label")
    return ["_src", "_dst", *sorted(names)]


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
