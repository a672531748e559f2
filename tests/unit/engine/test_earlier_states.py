"""What has changed since an earlier run: the ends of edges that came, went or changed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.append import append
from graphtide.run.live.programs import compiled_program
from graphtide.run.shards import orders
from graphtide.store.catalog import Catalog
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.tables import deleted_edges, edge_table
from tests.graphs import write_graph
from tests.unit.store.test_vertex_rows import Largest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = GraphSchema(
    id_type=PropertyType.INT,
    vertex=(Property("size", PropertyType.INT),),
    edge=(Property("weight", PropertyType.INT),),
)
TOLD = {"vertices": 300, "shards": 4, "spans": [[0, 1], [1, 4]]}


class Finder:
    """In place of Spark: the ends of edges that are there."""

    def edge_ends(self, stored: StoredGraph, edges: Any) -> pa.Table:
        gone = set(deleted_edges(stored).tolist())
        there = [edge for edge in edges.tolist() if edge < stored.numbers and edge not in gone]
        return edge_table(stored, ["_src", "_dst"]).take(there)


def since(graph: StoredGraph, identity: str, program: Any = WCC) -> Any:
    compiled: Any = compiled_program(program, "exact")
    space: Any = SimpleNamespace(gateway=Finder())
    return orders.states_before(space, graph, compiled, {**TOLD, "graph_identity": identity})


def test_what_has_changed_since(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append, "is_merge_due", lambda graph: False)
    catalog = Catalog(tmp_path)
    vertices = [{"id": at, "size": at} for at in range(300)]
    edges = [{"src": at % 300, "dst": at * 7 % 300, "weight": at} for at in range(90)]
    edges.append({"src": 1, "dst": 200, "weight": 5})
    write_graph(catalog, "net", SCHEMA, vertices, edges)
    first = open_graph(catalog, "net").identity
    graph = gt.session(tmp_path, spark=spark, progress=False).graph("net")
    columns = ["src", "dst", "weight"]
    new = [(5, 9, 1), (300, 2, 0)]
    graph.append(edges=new, edge_columns=columns, vertices=[{"id": 300, "size": 0}])
    second = graph._stored.identity
    graph.append(delete=[(5, 9, 1), (11, 77, 11)], edge_columns=columns)
    graph.append(update=[{"src": 1, "dst": 200, "weight": 9}])
    found = since(open_graph(catalog, "net"), first)
    assert (found.vertices, found.shards, found.spans) == (300, 4, ((0, 1), (1, 4)))
    assert [item.tolist() for item in found.lost] == [[1, 11], [77, 200]], "5 to 9 was never there"
    assert [item.tolist() for item in found.gained] == [[1, 300], [2, 200]]
    found = since(open_graph(catalog, "net"), second)
    assert [item.tolist() for item in found.lost] == [[1, 5, 11], [9, 77, 200]]
    assert [item.tolist() for item in found.gained] == [[1], [200]]
    assert since(open_graph(catalog, "net"), graph._stored.identity) is None, "nothing has changed"
    assert since(open_graph(catalog, "net"), "of another graph") is None
    monkeypatch.setattr(orders, "MOST_CHANGED", 3)
    assert since(open_graph(catalog, "net"), first) is None, "much has changed"


def test_values_of_vertices_that_changed(spark: SparkSession, tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    rows = [{"id": at, "size": at} for at in range(300)]
    write_graph(catalog, "net", SCHEMA, rows, [{"src": 0, "dst": 1, "weight": 1}] * 99)
    graph = gt.session(tmp_path, spark=spark, progress=False).graph("net")
    first = graph._stored.identity
    graph.append(vertices=[{"id": 5, "size": 50}])
    assert since(open_graph(catalog, "net"), first) is not None, "nobody reads them"
    assert since(open_graph(catalog, "net"), first, Largest) is None
    graph.append(delete=[(0, 1)], edge_columns=["src", "dst"])
    graph.merge(renumber=True)
    assert since(open_graph(catalog, "net"), first) is None, "edges have other numbers"
