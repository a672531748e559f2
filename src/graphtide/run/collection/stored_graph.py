"""The graph of a stored collection in memory: the edges of its views, and what a program reads.

Read by Arrow, without Spark: ends, the columns that the program asks for, and nothing else. Ids
stay in Arrow: a run looks up a few, and results take all of them at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from graphtide.run.collection.made_columns import ENDS, with_ends
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.edge_rows import ColumnNames, property_column
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_columns import NO_TABLE
from graphtide.run.live.vertex_hints import vertex_hint
from graphtide.run.live.vertex_ids import Ids, Int32, VertexIds
from graphtide.run.views.typed_columns import typed_column
from graphtide.store.collection import GroupedEdges, StoredCollection
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import ARROW_TYPES, edge_table, live_edges, vertex_table
from graphtide.store.vertex_rows import vertices_at

_TOLD = 3
_KINDS = {PropertyType.INT: np.int64, PropertyType.FLOAT: np.float64, PropertyType.BOOL: np.bool_}


class StoredVertices(VertexIds):
    """The vertices of a stored graph by their ids; where there are several labels, by both."""

    def __init__(self, stored: StoredGraph) -> None:
        self._several = len(stored.schema.vertex_labels) > 1
        columns = ["_id", "_label"] if self._several else ["_id"]
        self._rows = vertex_table(stored, columns).combine_chunks()

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    def __getitem__(self, number: int) -> Any:
        found = self._rows.column("_id")[number].as_py()
        return (self._rows.column("_label")[number].as_py(), found) if self._several else found

    def numbers(self, ids: Ids) -> Int32:
        """The number of each id, -1 where there is none, or where several labels have it."""
        return np.array([self._number(item) for item in ids.tolist()], np.int32)

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        """The ids of some vertices, or of all; with their labels where they need them."""
        names = {"_id": "id", "_label": "label"}
        table = self._rows if numbers is None else self._rows.take(pa.array(numbers))
        return {names[name]: table.column(name).combine_chunks() for name in table.column_names}

    def taken(self, numbers: NDArray[Any]) -> pa.Array:
        """The ids of some vertices, without their labels."""
        return self.columns(numbers)["id"]

    def number(self, vertex: Any) -> int:
        """The number of a vertex; InputError if there is none."""
        found = self._number(vertex)
        if found < 0:
            raise InputError(f"there is no vertex {vertex!r}", hint=self.hint(vertex))
        return found

    def hint(self, vertex: Any) -> str:
        """What to do about a vertex that is not there, or that several labels have."""
        label, given = self._parted(vertex)
        labels = self._labels_of(given)
        if self._several and labels and label is None:
            pairs = " or ".join(repr((item, given)) for item in labels[:_TOLD])
            return f"several labels have it: give a pair, such as {pairs}"
        if self._several and labels:
            return f"that id has the label {' or '.join(map(repr, labels[:_TOLD]))}"
        return vertex_hint(self._rows.column("_id"), given)

    def _parted(self, given: Any) -> tuple[Any, Any]:
        """The label, None where there is none, and the id."""
        pair = self._several and isinstance(given, tuple) and len(given) == 2
        return given if pair else (None, given)

    def _labels_of(self, given: Any) -> list[str]:
        """The labels of all vertices with an id."""
        same = self._same(given)
        if not self._several or same is None:
            return []
        return list(pc.unique(self._rows.column("_label").filter(same)).to_pylist())

    def _number(self, given: Any) -> int:
        label, given = self._parted(given)
        same = self._same(given)
        if same is None:
            return -1
        if label is not None:
            same = pc.and_(same, pc.equal(self._rows.column("_label"), str(label)))
        found = np.flatnonzero(same.to_numpy())
        return int(found[0]) if len(found) == 1 else -1

    def _same(self, given: Any) -> Any:
        """Which vertices have an id; None where no vertex could."""
        ids = self._rows.column("_id")
        try:
            return pc.equal(ids, pa.scalar(given, ids.type))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None


def load_graph(
    stored: StoredGraph, collection: StoredCollection, needed: Conditions
) -> tuple[KnownEdges, GroupedEdges]:
    """The graph, none of its edges live, and the edges of each class by their inside numbers."""
    check_columns(stored, needed)
    grouped = collection.grouped_edges
    wanted = [name for name in needed.properties if name != ENDS]
    table = edge_table(stored, ["_src", "_dst", *wanted])
    if ENDS in needed.properties:
        table = with_ends(table, stored)
    places = grouped.edges
    if 2 * len(grouped.edges) < stored.numbers:
        chosen = np.sort(grouped.edges)
        places = np.searchsorted(chosen, grouped.edges).astype(np.int32)
        table = table.take(pa.array(chosen))
    known = _known_edges(stored, table, needed)
    return known, GroupedEdges(known.resident.numbers[places], grouped.offsets)


def load_whole(stored: StoredGraph, needed: Conditions) -> KnownEdges:
    """The graph with all edges that are there, live."""
    check_columns(stored, needed)
    wanted = [name for name in needed.properties if name != ENDS]
    table = edge_table(stored, ["_src", "_dst", *wanted])
    if ENDS in needed.properties:
        table = with_ends(table, stored)
    if stored.has_gaps:
        table = table.take(pa.array(live_edges(stored)))
    return _known_edges(stored, table, needed, live=True)


def load_vertices(stored: StoredGraph, needed: Conditions) -> KnownEdges:
    """The graph without any of its edges; columns have the types that they have with them."""
    check_columns(stored, needed)
    types = {item.name: ARROW_TYPES[item.type] for item in stored.schema.edge}
    types |= {ENDS: pa.int64(), "_src": pa.int32(), "_dst": pa.int32()}
    wanted = ("_src", "_dst", *needed.properties)
    table = pa.table({name: pa.array([], types[name]) for name in wanted})
    return _known_edges(stored, table, needed)


def check_columns(stored: StoredGraph, needed: Conditions) -> None:
    """Refuse a graph whose edges lack a property, or have it in another type."""
    kinds = {item.name: _KINDS[item.type] for item in stored.schema.edge if item.type in _KINDS}
    kinds |= {ENDS: np.int64} if ENDS in needed.properties else {}
    needed.check_columns({name: np.empty(0, kind) for name, kind in kinds.items()}, _coded(stored))


def _coded(stored: StoredGraph) -> dict[str, PropertyType]:
    """The edge properties that programs read as codes."""
    return {item.name: item.type for item in stored.schema.edge if item.type not in _KINDS}


def _known_edges(
    stored: StoredGraph, table: pa.Table, needed: Conditions, *, live: bool = False
) -> KnownEdges:
    """Some edges as a graph, with what a program reads."""
    coded = _coded(stored)
    properties = {
        name: property_column(table.column(name), name, f"the graph '{stored.name}'")
        for name in needed.properties
        if name not in coded
    }
    edges = pa.table(
        {name: typed_column(table.column(name)) for name in needed.properties if name in coded}
    )
    src, dst = (table.column(name).to_numpy().astype(np.int32) for name in ("_src", "_dst"))
    resident = ResidentGraph(stored.vertices, src, dst, properties, live=live)
    names = ColumnNames("src", "dst", tuple(properties))
    vertices = program_vertex_table(stored, needed)
    return KnownEdges(resident, StoredVertices(stored), names, False, vertices, edges)


def program_vertex_table(
    stored: StoredGraph, needed: Conditions, numbers: NDArray[Any] | None = None
) -> pa.Table:
    """The vertex properties that a program reads, and nothing else: of some vertices, or of all."""
    needed.check_vertex_names(name for name in stored.schema.vertex_properties() if name != "id")
    labelled = bool(stored.schema.vertex_labels)
    places = {name: "_label" if labelled and name == "label" else name for name in needed.vertices}
    if not places:
        return NO_TABLE
    columns = list(places.values())
    if numbers is None:
        table = vertex_table(stored, columns)
    else:
        table = vertices_at(stored, columns, numbers)
    return pa.table({name: typed_column(table.column(place)) for name, place in places.items()})
