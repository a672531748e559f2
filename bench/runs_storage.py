"""Files: reading a collection and writing results, beside pyarrow alone on the same files.

The collection is weekly windows of sx-mathoverflow, written here by Arrow in the format of the
store, which needs the parts of Graphtide that do that and no Spark. Reading ends with a graph in
memory; what its adjacency takes is shown apart. Results are the differences of PageRank, which are
many.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import data
from bench.figures import Figure
from bench.runs_collections import Views, expanding
from bench.runs_graphs import EdgeTable, read_edges
from bench.timing import medians_in_turns
from graphtide.algorithms import PageRank
from graphtide.engine.resident import ResidentGraph
from graphtide.model.schema import GraphSchema, GraphSummary, PropertyType
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.collection.start import PreparedRun
from graphtide.run.collection.stored_graph import load_graph
from graphtide.run.live.programs import compiled_program
from graphtide.store.catalog import Catalog
from graphtide.store.collection import (
    EDGES,
    CollectionFacts,
    open_collection,
    write_collection,
)
from graphtide.store.commit import begin
from graphtide.store.generation import Generation
from graphtide.store.graph import StoredGraph, graph_manifest, open_graph
from graphtide.store.parts import PARTS, PartsInMemory, PartsOnDisk, start_parts

FILE, SECTION = "sx-mathoverflow.txt.gz", "files, beside pyarrow alone"
BAR, ROUNDS, WEEK = 3.0, 7, 7


def storage() -> list[Figure]:
    """Both ways."""
    graph = read_edges(FILE, directed=True)
    names = "reading the collection", "writing the results"
    if graph is None:
        reason = data.missing(FILE)
        return [Figure(name, None, "at most", BAR, "x", reason, SECTION) for name in names]
    views = expanding(graph, "week", WEEK)
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        return [*_reading(views, Path(folder)), _writing(views, Path(folder))]


def _reading(views: Views, folder: Path) -> list[Figure]:
    catalog = Catalog(folder / "store")
    stored = _store_graph(catalog, views.graph)
    _store_views(catalog, stored, views)
    chosen = compiled_program(_program(), "auto")
    collection = open_collection(catalog, "windows")
    files = [
        *sorted(collection.path.rglob("*.parquet")),
        *sorted(stored.edges_folder().rglob("*.parquet")),
    ]
    graph = views.graph

    def ours() -> object:
        return load_graph(stored, open_collection(catalog, "windows"), chosen.needed)

    def pyarrow_alone() -> object:
        return [pq.read_table(file) for file in files]

    def adjacency() -> object:
        return ResidentGraph(graph.vertices, graph.src, graph.dst, {}, live=False)

    works = {"ours": ours, "pyarrow": pyarrow_alone, "adjacency": adjacency}
    took = medians_in_turns(works, ROUNDS)
    apart = took["ours"] - took["adjacency"]
    return [
        _ratio("reading the collection", took["ours"], took["pyarrow"], BAR),
        _ratio("the same without its adjacency", apart, took["pyarrow"], None),
    ]


def _writing(views: Views, folder: Path) -> Figure:
    compiled = compiled_program(_program(), "auto")
    hand = PreparedRun(
        views.collection._made.versions(compiled.needed), RunRequest("", compiled, workers=1)
    )
    parts = PartsInMemory()
    hand.run(hand.base(), parts, hand.chooser("adaptive"), RunSettings())
    held = list(parts._parts)
    (folder / "plain").mkdir()

    def ours() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            start_parts(Path(fresh) / PARTS)
            written = PartsOnDisk(Generation(Path(fresh), {}, "", {}, "the run"))
            for part in held:
                written.append(part)

    def pyarrow_alone() -> None:
        for number, part in enumerate(held):
            pq.write_table(part.record, folder / "plain" / f"record-{number}.parquet")
            for name, table in part.differences.items():
                pq.write_table(table, folder / "plain" / f"{name}-{number}.parquet")

    took = medians_in_turns({"ours": ours, "pyarrow": pyarrow_alone}, ROUNDS)
    return _ratio("writing the results", took["ours"], took["pyarrow"], BAR)


def _program() -> Any:
    program: Any = PageRank
    return program(iterations=2)


def _ratio(name: str, ours: float, theirs: float, bar: float | None) -> Figure:
    note = f"{ours * 1e3:.3g} ms over {theirs * 1e3:.3g} ms"
    return Figure(name, ours / theirs, "at most", bar, "x", note, SECTION)


def _store_graph(catalog: Catalog, graph: EdgeTable) -> StoredGraph:
    numbers = pa.array(np.arange(graph.vertices, dtype=np.int32))
    no_label = pa.nulls(graph.vertices, pa.string())
    vertices = pa.table({"_vertex": numbers, "_id": graph.ids, "_label": no_label})
    edges = pa.table(
        {
            "_edge": np.arange(graph.edges, dtype=np.int32),
            "_src": graph.src,
            "_dst": graph.dst,
            "_label": pa.nulls(graph.edges, pa.string()),
        }
    )
    facts = GraphSummary(
        GraphSchema(PropertyType.INT, (), ()), graph.vertices, graph.edges, 0, FILE
    )
    with begin(catalog.graph_folder("graph"), replace=True, what="graph") as commit:
        for name, table in (("vertices", vertices), ("edges", edges)):
            (commit.path / name).mkdir()
            pq.write_table(table, commit.path / name / "part-000000000000.parquet")
        commit.finish(graph_manifest(facts))
    return open_graph(catalog, "graph")


def _store_views(catalog: Catalog, graph: StoredGraph, views: Views) -> None:
    made = views.collection._made
    used = np.flatnonzero(made.of_edge >= 0).astype(np.int32)
    table = pa.table({"_edge": used, "_class": made.of_edge[used]})
    facts = CollectionFacts("collection", graph.name, graph.identity, "true", "windows", 0.0)
    with begin(catalog.collection_folder("windows"), replace=True, what="windows") as commit:
        (commit.path / EDGES).mkdir()
        pq.write_table(table, commit.path / EDGES / "part.parquet")
        write_collection(commit, facts, list(made.views), made.plan, made.weights)
