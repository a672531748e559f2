"""A load as tests want it: from a source to plain Python rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from graphtide.model.schema import GraphSchema, GraphSummary
from graphtide.spark.ingest.job import write_graph
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.source import GraphSource
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.graph import graph_manifest, open_graph


@dataclass(frozen=True)
class Loaded:
    """What is on disk after a load; rows in the order of the files and of the rows in them."""

    summary: GraphSummary
    vertices: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    quarantine: list[dict[str, Any]]

    @property
    def schema(self) -> GraphSchema:
        return self.summary.schema

    def ids(self) -> list[Any]:
        return [row["_id"] for row in self.vertices]

    def pairs(self) -> list[tuple[Any, Any]]:
        """The endpoints of the edges by their own ids."""
        ids = self.ids()
        return [(ids[row["_src"]], ids[row["_dst"]]) for row in self.edges]

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.edges]

    def types(self) -> dict[str, str]:
        return {item.name: item.type.value for item in self.schema.edge}


def load(spark: SparkSession, root: Path, edges: Any, vertices: Any = None, **given: Any) -> Loaded:
    """Load a graph into a catalog of its own, and read it back without Spark."""
    catalog = Catalog(root / "catalog")
    if given.get("on_bad_rows") == "quarantine":
        given = {"at_most": 1.0} | given
    source, options = GraphSource(edges, vertices), IngestOptions(**given)
    with begin(catalog.graph_folder("g"), replace=True, what="g") as commit:
        summary = write_graph(spark, commit.path, source, options)
        commit.finish(graph_manifest(summary))
    stored = open_graph(catalog, "g")
    loaded = Loaded(
        summary,
        rows_of(stored.vertices_folder()),
        rows_of(stored.edges_folder()),
        stored.quarantine().to_pylist(),
    )
    _check_store(loaded, stored.path)
    return loaded


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """All rows of the parts, in the order of their names."""
    parts = sorted(folder.glob("*.parquet"))
    assert parts == sorted(folder.iterdir()), "only parts are left in a table"
    return [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]


def _check_store(loaded: Loaded, path: Path) -> None:
    """What holds for every graph: dense numbers in the order of the parts, and nothing else."""
    assert [row["_vertex"] for row in loaded.vertices] == list(range(loaded.summary.vertices))
    assert [row["_edge"] for row in loaded.edges] == list(range(loaded.summary.edges))
    assert len(loaded.quarantine) == loaded.summary.quarantined
    known = {"manifest.json", "vertices", "edges", "quarantine"}
    assert {item.name for item in path.iterdir()} <= known
