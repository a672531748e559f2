"""Tables of a stored graph as Arrow, without Spark.

Rows stand in the order of their numbers, so an edge's number is its row: a view's edges are taken
by position, and an endpoint's id is taken from the vertex table the same way. Before this module
reads a file it compares that file with the manifest, and no other.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.delta import EdgeIds
from graphtide.store.generation import Generation
from graphtide.store.graph import StoredGraph

_OURS = ("_edge", "_src", "_dst", "_label")


def edge_rows(stored: StoredGraph, edges: EdgeIds | None) -> pa.Table:
    """Edges as users know them: src and dst by their own ids, label, properties.

    Where vertices have several labels, `src_label` and `dst_label` tell their ids apart.
    `edges` are sorted numbers; None stands for all. Reads only the parts that hold them.
    """
    parts = list(_chosen_rows(stored.generation, edges))
    table = pa.concat_tables(parts).combine_chunks()
    several = len(stored.schema.vertex_labels) > 1
    known = {"_id": "", "_label": "_label"} if several else {"_id": ""}
    vertices = stored.generation.table("vertices", list(known))
    columns = {
        side + suffix: vertices.column(name).combine_chunks().take(table.column(f"_{side}"))
        for name, suffix in known.items()
        for side in ("src", "dst")
    }
    if stored.schema.edge_labels:
        columns["label"] = table.column("_label")
    rest = [name for name in table.column_names if name not in _OURS]
    return pa.table({**columns, **{name: table.column(name) for name in rest}})


def vertex_rows(stored: StoredGraph) -> pa.Table:
    """All vertices as users know them: id, label, properties."""
    hidden = ["_vertex"] if stored.schema.vertex_labels else ["_vertex", "_label"]
    table = stored.generation.table("vertices").drop_columns(hidden)
    names = {"_id": "id", "_label": "label"}
    return table.rename_columns([names.get(name, name) for name in table.column_names])


def vertex_ids(stored: StoredGraph) -> pa.Array:
    """The users' ids of all vertices, in the order of their numbers."""
    column = stored.generation.table("vertices", ["_id"]).column("_id")
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def edge_bounds(stored: StoredGraph, column: str) -> tuple[Any, Any] | None:
    """Smallest and largest value of a property of the edges, from the footers of their files.

    None where a footer does not say, or not exactly: strings may be cut short there, and floats
    leave out NaN as they please.
    """
    low: list[Any] = []
    high: list[Any] = []
    generation = stored.generation
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


def _chosen_rows(generation: Generation, edges: EdgeIds | None) -> Iterator[pa.Table]:
    if edges is None:
        yield generation.table("edges")
        return
    start = 0
    for name, rows in generation.parts("edges"):
        first, last = np.searchsorted(edges, [start, start + rows])
        if first < last or start == 0:
            yield generation.table(name).take(edges[first:last].astype(np.int64) - start)
        start += rows
