"""Tables of a stored graph as Arrow, without Spark.

A row stands at its number: a view's edges are taken by position, and an endpoint's id is taken from
the vertex table the same way. Before this module reads a file it compares that file with the
manifest, and no other.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphtide.model.delta import EdgeIds
from graphtide.model.graph_folders import CHANGED
from graphtide.model.schema import ENDS
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import (
    changed_rows,
    check_ends,
    edge_table,
    live_edges,
    put_changed,
    read_rows,
    vertex_table,
)
from graphtide.store.read_edges import READ_EDGES

_OURS = ("_edge", "_src", "_dst", "_label")


def edge_rows(stored: StoredGraph, edges: EdgeIds | None) -> pa.Table:
    """Edges as users know them: both ends by their own ids and names, label, properties.

    Where vertices have several labels, `src_label` and `dst_label` tell their ids apart, or what
    the ends are called in place of `src` and `dst`.
    `edges` are sorted numbers; None stands for all that are there. Reads only the parts that hold
    them.
    """
    table = edge_table_rows(stored, edges)
    several = len(stored.schema.vertex_labels) > 1
    known = {"_id": "", "_label": "_label"} if several else {"_id": ""}
    vertices = vertex_table(stored, list(known))
    columns = {
        end + suffix: vertices.column(name).combine_chunks().take(table.column(f"_{side}"))
        for name, suffix in known.items()
        for side, end in zip(ENDS, stored.schema.ends, strict=True)
    }
    if stored.schema.edge_labels:
        columns["label"] = table.column("_label")
    rest = [name for name in table.column_names if name not in _OURS]
    return pa.table({**columns, **{name: table.column(name) for name in rest}})


def vertex_rows(stored: StoredGraph) -> pa.Table:
    """All vertices as users know them: id, label, properties."""
    hidden = ["_vertex"] if stored.schema.vertex_labels else ["_vertex", "_label"]
    table = vertex_table(stored).drop_columns(hidden)
    names = {"_id": "id", "_label": "label"}
    return table.rename_columns([names.get(name, name) for name in table.column_names])


def vertex_ids(stored: StoredGraph) -> pa.Array:
    """The users' ids of all vertices, in the order of their numbers."""
    column = vertex_table(stored, ["_id"]).column("_id")
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def edge_table_rows(
    stored: StoredGraph, edges: EdgeIds | None, columns: Sequence[str] | None = None
) -> pa.Table:
    """Rows of the edge table by their sorted numbers; None stands for all that are there."""
    if edges is None and stored.has_gaps:
        edges = live_edges(stored)
    if edges is None:
        return edge_table(stored, columns).combine_chunks()
    table = pa.concat_tables(list(_chosen_rows(stored, edges, columns))).combine_chunks()
    check_ends(stored, table)
    return table


def edge_bounds(stored: StoredGraph, column: str) -> tuple[Any, Any] | None:
    """Smallest and largest value of a property of the edges.

    From the footers of their files, where no edge was deleted or changed. None where a footer does
    not say, or not exactly: strings may be cut short there, and floats leave out NaN at will; and
    where so many edges would have to be read that Spark had better do it.
    """
    generation = stored.generation
    if stored.has_gaps or stored.append_files(CHANGED["edges"]) or not stored.is_latest:
        if stored.has_wide_numbers:
            return None
        return _exact_bounds(edge_table_rows(stored, None, [column]).column(column))
    low: list[Any] = []
    high: list[Any] = []
    names = [name for name, _ in generation.parts("edges")]
    generation.compare(names)
    for name in names:
        footer = pq.read_metadata(generation.path / name)
        at = footer.schema.names.index(column)
        for group in range(footer.num_row_groups):
            statistics = footer.row_group(group).column(at).statistics
            rows = footer.row_group(group).num_rows
            if statistics is None or not (statistics.has_min_max or statistics.null_count == rows):
                return None
            if statistics.has_min_max:
                low.append(statistics.min)
                high.append(statistics.max)
    if not low or not isinstance(low[0], int | dt.date):
        return None
    return min(low), max(high)


def _exact_bounds(values: pa.ChunkedArray) -> tuple[Any, Any] | None:
    """By the values themselves; None for the types of which footers do not say them either."""
    if pa.types.is_floating(values.type) or not values.drop_null():
        return None
    bounds = pc.min_max(values)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    return (low, high) if isinstance(low, int | dt.date) else None


def _chosen_rows(
    stored: StoredGraph, edges: EdgeIds, columns: Sequence[str] | None
) -> Iterator[pa.Table]:
    start, changed = 0, changed_rows(stored, "edges", columns)
    for name, rows in stored.generation.parts("edges"):
        first, last = np.searchsorted(edges, [start, start + rows])
        if first < last or start == 0:
            READ_EDGES.add(rows)
            part = put_changed(read_rows(stored, name, columns), changed, start)
            yield part.take(edges[first:last].astype(np.int64) - start)
        start += rows
