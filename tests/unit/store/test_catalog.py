from pathlib import Path

import pytest

from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.schema import GraphSchema, GraphSummary, Property, PropertyType
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.graph import graph_manifest, open_graph

SCHEMA = GraphSchema(
    id_type=PropertyType.STRING,
    vertex=(Property("größe", PropertyType.FLOAT),),
    edge=(Property("at", PropertyType.TIMESTAMP), Property("on", PropertyType.DATE)),
    vertex_labels=("Person", "City"),
)
SUMMARY = GraphSummary(SCHEMA, vertices=3, edges=2, quarantined=1, source="a.csv")


def store(catalog: Catalog, name: str) -> Path:
    with begin(catalog.graph_folder(name), replace=True, what=name) as commit:
        return commit.finish(graph_manifest(SUMMARY))


def test_an_empty_catalog_has_nothing(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "none")
    assert catalog.graphs() == catalog.collections() == []
    assert not catalog.has_graph("a")


def test_a_graph_comes_back_as_it_was(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    path = store(catalog, "Calls")
    graph = open_graph(catalog, "Calls")
    assert graph.path == path
    assert graph.schema == SCHEMA
    assert (graph.vertices, graph.edges, graph.quarantined) == (3, 2, 1)
    assert catalog.graphs() == ["Calls"]
    assert graph.quarantine().num_rows == 0


def test_each_generation_has_its_own_identity(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    store(catalog, "Calls")
    first = open_graph(catalog, "Calls")
    store(catalog, "Calls")
    assert open_graph(catalog, "Calls").identity != first.identity


def test_a_missing_graph_is_named_with_its_neighbour(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    store(catalog, "Calls")
    with pytest.raises(NotFoundError, match="did you mean 'Calls'"):
        open_graph(catalog, "calls2")


def test_deleted_graphs_are_gone(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    store(catalog, "Calls")
    catalog.delete_graph("Calls")
    assert catalog.graphs() == []


def test_names_that_cannot_be_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Catalog(tmp_path).graph_folder("../up")


def test_a_manifest_of_something_else_is_called_damaged(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    with begin(catalog.graph_folder("x"), replace=True, what="x") as commit:
        commit.finish({"kind": "graph"})
    with pytest.raises(StoreError, match="damaged"):
        open_graph(catalog, "x")
