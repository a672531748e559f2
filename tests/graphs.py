"""Small stored graphs, written by Arrow alone, for tests that are not about loading."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.schema import GraphSchema, GraphSummary, Property, PropertyType
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph, graph_manifest, open_graph

ARROW = {
    PropertyType.STRING: pa.string(),
    PropertyType.INT: pa.int64(),
    PropertyType.FLOAT: pa.float64(),
    PropertyType.BOOL: pa.bool_(),
    PropertyType.DATE: pa.date32(),
    PropertyType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}

Rows = list[dict[str, Any]]


def write_graph(
    catalog: Catalog,
    name: str,
    schema: GraphSchema,
    vertices: Rows,
    edges: Rows,
    parts: int = 2,
    timezone: str = "UTC",
) -> StoredGraph:
    """Vertices have an `id`; edges have `src` and `dst`, positions in the list of vertices."""
    with begin(catalog.graph_folder(name), replace=True, what=name) as commit:
        ids = pa.array([row["id"] for row in vertices], ARROW[schema.id_type])
        table = {"_vertex": pa.array(range(len(vertices)), pa.int32()), "_id": ids}
        table["_label"] = pa.array([row.get("label") for row in vertices], pa.string())
        _write(commit.path / "vertices", table, schema.vertex, vertices, 1)
        links: dict[str, Any] = {"_edge": pa.array(range(len(edges)), pa.int32())}
        for end in ("src", "dst"):
            links[f"_{end}"] = pa.array([row[end] for row in edges], pa.int32())
        links["_label"] = pa.array([row.get("label") for row in edges], pa.string())
        _write(commit.path / "edges", links, schema.edge, edges, parts)
        facts = GraphSummary(schema, len(vertices), len(edges), 0, "rows of a test", timezone)
        commit.finish(graph_manifest(facts))
    return open_graph(catalog, name)


def _write(
    folder: Any, columns: dict[str, Any], properties: tuple[Property, ...], rows: Rows, parts: int
) -> None:
    folder.mkdir()
    for item in properties:
        columns[item.name] = pa.array([row.get(item.name) for row in rows], ARROW[item.type])
    table = pa.table(columns)
    size = max(-(-len(rows) // parts), 1)
    for start in range(0, max(len(rows), 1), size):
        pq.write_table(table.slice(start, size), folder / f"part-{start:012d}.parquet")
