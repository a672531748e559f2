"""Rows of some vertices are those that the whole table has at their numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import graphtide as gt
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.store.catalog import Catalog
from graphtide.store.graph import open_graph
from graphtide.store.history import find_state
from graphtide.store.merged import vertex_table
from graphtide.store.vertex_rows import vertices_at
from tests.graphs import write_graph

SCHEMA = GraphSchema(
    id_type=PropertyType.STRING,
    vertex=(Property("size", PropertyType.INT), Property("town", PropertyType.STRING)),
    edge=(),
)


def test_rows_of_some_vertices(tmp_path: Path) -> None:
    catalog, pick = Catalog(tmp_path), np.random.default_rng(3)
    rows = [{"id": f"v{at}", "size": at, "town": f"t{at % 3}"} for at in range(20)]
    write_graph(catalog, "net", SCHEMA, rows, [{"src": 0, "dst": 1}])
    first = open_graph(catalog, "net")
    graph = gt.session(tmp_path, progress=False).graph("net")
    changed = [{"id": "v3", "size": 300, "town": "far"}, {"id": "v17", "size": None, "town": None}]
    graph.append(vertices=[*changed, {"id": "new", "size": 7, "town": "t0"}])
    graph.append(vertices=[{"id": "v3", "size": 301, "town": "farther"}])
    columns = ["town", "size"]
    latest = open_graph(catalog, "net")
    then = find_state(latest, first.identity)
    assert then is not None
    for stored in (latest, then.graph):
        assert stored is not None
        whole = vertex_table(stored, columns)
        for count in (0, 1, 9, stored.vertices):
            numbers = pick.permutation(stored.vertices)[:count]
            for size in (1, 6, None):
                found = vertices_at(stored, columns, numbers, size)
                assert found.to_pylist() == whole.take(numbers).to_pylist()
