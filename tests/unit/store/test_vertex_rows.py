"""Rows of some vertices are those that the whole table has at their numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.programs import compiled_program
from graphtide.run.shards.runs import AskedVertices
from graphtide.run.shards.shard_files import OpenedShards
from graphtide.store.catalog import Catalog
from graphtide.store.files import READ_VERTICES
from graphtide.store.graph import StoredGraph, find_state, open_graph
from graphtide.store.tables import vertex_table, vertices_at
from tests.graphs import write_graph

SCHEMA = GraphSchema(
    id_type=PropertyType.STRING,
    vertex=(Property("size", PropertyType.INT), Property("town", PropertyType.STRING)),
    edge=(),
)


@gt.program
class Largest:
    """The largest size among those that reach a vertex."""

    size = gt.VertexProperty(int)
    most: int = 0
    found = gt.Max(int)

    def initialize(self, v):
        v.most = v.size

    def traverse(self, u, e, v):
        v.found(u.most)

    def update(self, v):
        v.most = max(v.most, v.found)


ROWS = [{"id": f"v{at}", "size": None if at == 2 else at, "town": "t"} for at in range(20)]


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


def asked(stored: StoredGraph, calls: list[int]) -> AskedVertices:
    """Vertices that somebody else looks for, in plain Python."""

    class Finder:
        def vertices_with_ids(self, stored: StoredGraph, ids: list[int | str]) -> pa.Table:
            calls.append(len(ids))
            table = vertex_table(stored, ["_vertex", "_id", "_label"])
            rows = [row for row in table.to_pylist() if row["_id"] in ids]
            return pa.Table.from_pylist(rows, table.schema)

    return AskedVertices(stored, Finder())


def test_vertices_by_their_ids(tmp_path: Path) -> None:
    """Looked up where they stand, or asked for, they are those that all ids together tell."""
    catalog = Catalog(tmp_path)
    schema = replace(SCHEMA, vertex_labels=("person", "town"))
    rows = [{"id": f"v{at % 15}", "label": "town" if at < 15 else "person"} for at in range(20)]
    write_graph(catalog, "net", schema, rows, [])
    first = open_graph(catalog, "net")
    graph = gt.session(tmp_path, progress=False).graph("net")
    graph.append(vertices=[{"id": "new", "label": "town"}])
    graph.merge()
    latest = open_graph(catalog, "net")
    assert len(latest.generation.parts("vertices")) == 1, "both states are in one file"
    then = find_state(latest, first.identity)
    assert then is not None
    given = ["v3", ("town", "v3"), ("person", "v3"), "v14", "new", ("person", "v14"), "x", 3, None]
    for stored in (latest, then.graph):
        assert stored is not None
        whole, calls = StoredVertices(stored), list[int]()
        read = READ_VERTICES.count
        ways = StoredVertices(stored, paged=True), asked(stored, calls)
        assert READ_VERTICES.count == read, "nothing is read before it is asked for"
        ids = np.array([*given, None], object)[:-1]
        for found in ways:
            assert len(found) == len(whole) == stored.vertices
            assert found.numbers(ids).tolist() == whole.numbers(ids).tolist()
            numbers = np.array([19, 0, 7])
            assert found.columns(numbers) == whole.columns(numbers)
            assert found[17] == whole[17] == ("person", "v2")
            assert found.hint("v3") == whole.hint("v3")
            assert found.hint(("dog", "v14")) == whole.hint(("dog", "v14"))
            assert found.hint("vx") == "ids are such as 'v0', 'v1', 'v2'"
        assert calls[0] == 4, "all that are given at once"
        assert whole.numbers(ids).tolist()[:4] == [-1, 3, 18, 14]
        assert ways[0].columns() == whole.columns()


def test_statistics_tell_where_an_id_is_not(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    schema = replace(SCHEMA, id_type=PropertyType.INT)
    write_graph(catalog, "net", schema, [{"id": 5 * at} for at in range(20)], [])
    graph = gt.session(tmp_path, progress=False).graph("net")
    graph.append(vertices=[{"id": 1_000 + at} for at in range(6)])
    found, read = StoredVertices(open_graph(catalog, "net"), paged=True), READ_VERTICES.count
    assert found.number(1_003) == 23
    assert READ_VERTICES.count - read == 6, "those that were appended, and no others"
    assert found[2] == 10
    assert READ_VERTICES.count - read == 6 + 20
    assert found.numbers(np.array([2**40, 7])).tolist() == [-1, -1]


def test_a_task_refuses_vertices_of_its_own(tmp_path: Path) -> None:
    stored = write_graph(Catalog(tmp_path), "net", SCHEMA, ROWS, [])
    compiled: Any = compiled_program(Largest, "exact")
    shards: Any = SimpleNamespace(vertices=20, shards=4, file=lambda way, shard: None)
    needed = compiled.needed
    first, second = (OpenedShards(shards, stored, needed, 2, task, 1) for task in (0, 1))
    data = first.local(compiled.bound.program)[1]
    assert sum(data.array(compiled.needed.vertices["size"])) == sum(
        at for at in range(20) if at % 4 < 2
    )
    with pytest.raises(InputError, match="1 of 10 vertices of a task lacks") as caught:
        second.local(compiled.bound.program)
    assert caught.value.where == "vertex 'v2'"
