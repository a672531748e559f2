"""The graph of a stored collection in memory: the edges of its views, and what a program reads.

Read by Arrow, without Spark: ends, the columns that the program asks for, and nothing else. Ids
stay in Arrow: a run looks up a few, and results take all of them at once.

One property is in no file: `_ends`, by which Graphsurge makes weights. It numbers vertices as it
meets them: those of the vertex file first, in its order, then ends of edges, src before dst. Ours
are the same for vertices of tables; those that only edges speak of we number by id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.model.column_types import ARROW_TYPES, NUMPY_TYPES
from graphtide.model.delta import MOST_NARROW, EdgeIds, is_wide
from graphtide.model.errors import LimitError
from graphtide.model.schema import PropertyType
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.edge_rows import ColumnNames, property_column
from graphtide.run.live.named_graph import NO_TABLE, NamedGraph
from graphtide.run.views.typed_columns import typed_column
from graphtide.store.collection import EDGES, GroupedEdges, StoredCollection
from graphtide.store.files import Damage, within
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import (
    edge_table,
    edge_table_rows,
    live_edges,
    vertex_table,
    vertices_at,
)

ENDS = "_ends"
"""The sum of the numbers of both ends. No property of a file can have this name."""


def with_ends(edges: pa.Table, stored: StoredGraph) -> pa.Table:
    """All edges of a graph (`_src`, `_dst`, ...) with the column `_ends`."""
    src, dst = (edges.column(name).to_numpy() for name in ("_src", "_dst"))
    there = live_edges(stored)
    numbers = numbers_by_appearance(src[there], dst[there], stored.vertices, stored.listed)
    return edges.append_column(ENDS, pa.array(numbers[src] + numbers[dst]))


def numbers_by_appearance(
    src: NDArray[np.int32], dst: NDArray[np.int32], vertices: int, listed: int
) -> NDArray[np.int64]:
    """By our number, that of Graphsurge; the first `listed` vertices are of tables."""
    numbers = np.arange(vertices, dtype=np.int64)
    if listed == vertices:
        return numbers
    met = np.empty(2 * len(src), np.int32)
    met[0::2], met[1::2] = src, dst
    distinct, first = np.unique(met[met >= listed], return_index=True)
    order = distinct[np.argsort(first)]
    # Behind those that edges meet come those whose edges are all deleted.
    order = np.concatenate([order, np.setdiff1d(np.arange(listed, vertices), order)])
    numbers[order] = np.arange(listed, vertices)
    return numbers


def load_graph(
    stored: StoredGraph, collection: StoredCollection, needed: Conditions
) -> tuple[NamedGraph, GroupedEdges]:
    """The graph, none of its edges live, and the edges of each class by their inside numbers."""
    check_columns(stored, needed)
    check_memory(int(collection.weights.sum()), f"the views of '{collection.name}' hold")
    grouped = collection.grouped_edges
    places = grouped.edges
    check_edges(stored, collection)
    if 2 * len(places) < stored.numbers or stored.has_wide_numbers:
        chosen = np.sort(grouped.edges)
        places = np.searchsorted(chosen, grouped.edges).astype(np.int32)
        table = _rows(stored, needed, chosen)
    else:
        table = _rows(stored, needed)
    known = _known_edges(stored, table, needed)
    return known, GroupedEdges(known.resident.numbers[places], grouped.offsets)


def check_edges(stored: StoredGraph, collection: StoredCollection) -> None:
    """DamagedError where a collection has edges that its graph has not."""
    if not within(collection.grouped_edges.edges, stored.numbers):
        problem = f"names an edge that the graph '{stored.name}' does not have"
        raise collection.generation.damaged(Damage(collection.path / EDGES, problem))


def load_whole(stored: StoredGraph, needed: Conditions) -> NamedGraph:
    check_columns(stored, needed)
    check_memory(stored.edges, f"the graph '{stored.name}' has")
    table = _rows(stored, needed, live_edges(stored) if stored.has_gaps else None)
    return _known_edges(stored, table, needed, live=True)


def check_memory(edges: int, who: str) -> None:
    """Refuse more edges than a graph in memory can tell apart, before anything is read of them."""
    if is_wide(edges):
        raise LimitError(
            f"{who} {edges:,} edges, and a graph in memory numbers them by 32 bits: fewer than "
            f"{MOST_NARROW:,}",
            hint="run a vertex program over the whole graph, graph.run(program), which maps a lean "
            "graph; or on='shards', where tasks of Spark hold the edges together",
        )


def _rows(stored: StoredGraph, needed: Conditions, edges: EdgeIds | None = None) -> pa.Table:
    """The ends of some edges, by their sorted numbers, or of all; and what a program reads."""
    wanted = ["_src", "_dst", *(name for name in needed.properties if name != ENDS)]
    if edges is not None and ENDS not in needed.properties:
        return edge_table_rows(stored, edges, wanted)
    table = edge_table(stored, wanted)
    if ENDS in needed.properties:
        table = with_ends(table, stored)
    return table if edges is None else table.take(pa.array(edges))


def load_vertices(stored: StoredGraph, needed: Conditions) -> NamedGraph:
    """The graph without any of its edges; columns have the types that they have with them."""
    check_columns(stored, needed)
    types = {item.name: ARROW_TYPES[item.type] for item in stored.schema.edge}
    types |= {ENDS: pa.int64(), "_src": pa.int32(), "_dst": pa.int32()}
    wanted = ("_src", "_dst", *needed.properties)
    table = pa.table({name: pa.array([], types[name]) for name in wanted})
    return _known_edges(stored, table, needed)


def check_columns(stored: StoredGraph, needed: Conditions) -> None:
    """Refuse a graph whose edges lack a property, or have it in another type."""
    kinds = {
        item.name: NUMPY_TYPES[item.type] for item in stored.schema.edge if item.type in NUMPY_TYPES
    }
    kinds |= {ENDS: np.int64} if ENDS in needed.properties else {}
    needed.check_columns({name: np.empty(0, kind) for name, kind in kinds.items()}, _coded(stored))


def _coded(stored: StoredGraph) -> dict[str, PropertyType]:
    """The edge properties that programs read as codes."""
    return {item.name: item.type for item in stored.schema.edge if item.type not in NUMPY_TYPES}


def _known_edges(
    stored: StoredGraph, table: pa.Table, needed: Conditions, *, live: bool = False
) -> NamedGraph:
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
    directed = stored.directed
    resident = ResidentGraph(stored.vertices, src, dst, properties, live=live, directed=directed)
    names = ColumnNames(*stored.schema.ends, tuple(properties))
    vertices = program_vertex_table(stored, needed)
    return NamedGraph(resident, StoredVertices(stored), names, False, vertices, edges)


def program_vertex_table(
    stored: StoredGraph, needed: Conditions, numbers: NDArray[Any] | None = None
) -> pa.Table:
    """The vertex properties that a program reads, and nothing else: of some vertices, or of all."""
    places = _vertex_columns(stored, needed)
    if not places:
        return NO_TABLE
    columns = list(places.values())
    if numbers is None:
        table = vertex_table(stored, columns)
    else:
        table = vertices_at(stored, columns, numbers)
    return pa.table({name: typed_column(table.column(place)) for name, place in places.items()})


def unread_vertex_table(stored: StoredGraph, needed: Conditions) -> pa.Table:
    """The same of one vertex that has no values: who only compiles a program reads no others."""
    types = {item.name: ARROW_TYPES[item.type] for item in stored.schema.vertex}
    places = _vertex_columns(stored, needed)
    kinds = {name: types.get(place, pa.string()) for name, place in places.items()}
    return pa.table({name: typed_column(pa.nulls(1, kind)) for name, kind in kinds.items()})


def _vertex_columns(stored: StoredGraph, needed: Conditions) -> dict[str, str]:
    """Where the properties stand that a program reads; refused where there is none such."""
    needed.check_vertex_names(name for name in stored.schema.vertex_properties() if name != "id")
    labelled = bool(stored.schema.vertex_labels)
    return {name: "_label" if labelled and name == "label" else name for name in needed.vertices}
