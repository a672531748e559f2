"""Graphs whose edges are numbered by 64 bits, through Spark: loading, classes, frames and shards.

The limit is lowered to a few edges; and files are forged whose numbers truly lie beyond 2^31.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.algorithms import WCC, PageRank
from graphtide.model import delta
from graphtide.model.errors import LimitError
from graphtide.run.append import append
from graphtide.spark.ingest import edges as few_edges
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.graph import GraphState, StoredGraph, states_to_json

pytestmark = pytest.mark.spark
ROWS = [(at * 7 % 23, at * 11 % 19, at) for at in range(60)]
COLUMNS = ["src", "dst", "at"]
VIEWS = {f"upto-{at}": f"at <= {at}" for at in (0, 20, 40, 59)}
FIRST = 2**31 - 50


def loaded(spark: Any, folder: Path, edges: Any) -> gt.CatalogGraph:
    session = gt.session(folder, spark=spark, progress=False)
    return session.load("net", edges=edges, edge_columns=COLUMNS)


def number_types(graph: gt.CatalogGraph) -> set[Any]:
    generation = graph._stored.generation
    files = [generation.path / name for name, _ in generation.parts("edges")]
    return {pq.read_schema(path).field("_edge").type for path in files}


def results(views: gt.Collection, **words: Any) -> list[list[dict[str, Any]]]:
    runs = [views.run(WCC, name="c", **words), views.run(PageRank, name="r", **words)]
    return [run.to_arrow().to_pylist() for run in runs]


@pytest.fixture(scope="module")
def narrow(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> gt.CatalogGraph:
    return loaded(spark, tmp_path_factory.mktemp("wide") / "narrow", ROWS)


@pytest.fixture(scope="module")
def right(narrow: gt.CatalogGraph) -> Any:
    """The results of the graph with narrow numbers."""
    return results(narrow.collection("v", VIEWS), on="shards")


def test_a_graph_that_is_loaded_wide_or_grows_so(
    spark: Any, right: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same graph, narrow and wide, has the same views and results on shards."""
    monkeypatch.setattr(append, "is_merge_due", lambda stored: False)
    monkeypatch.setattr(delta, "MOST_NARROW", 50)
    small = loaded(spark, tmp_path / "few", ROWS)
    grown = loaded(spark, tmp_path / "grown", ROWS[:45])
    before = grown.view("before", "at <= 20")
    grown.append([dict(zip(COLUMNS, row, strict=True)) for row in ROWS[45:]])
    assert number_types(small) == {pa.int64()}
    assert number_types(grown) == {pa.int32(), pa.int64()}
    assert before.to_spark().count() == 21
    monkeypatch.setattr(few_edges, "MOST_EDGES", 0)
    lines = [*(",".join(map(str, row)) for row in ROWS), "3,,7"]
    (tmp_path / "e.csv").write_text("src,dst,at\n" + "\n".join(lines) + "\n")
    session = gt.session(tmp_path / "jobs", spark=spark, progress=False)
    by_jobs = session.load("net", edges=tmp_path / "e.csv", on_bad_rows="quarantine")
    assert by_jobs.num_edges == 60
    assert number_types(by_jobs) == {pa.int64()}
    for graph in (grown, by_jobs):
        views = graph.collection("v", VIEWS)
        assert views._stored.has_wide_numbers
        flips = views.to_spark().toArrow()
        assert flips.schema.field("_edge").type == pa.int64()
        assert sorted(flips.column("_edge").to_pylist()) == list(range(60))
        assert sorted(views[1].to_spark().toArrow().column("at").to_pylist()) == [*range(21)]
        with pytest.raises(LimitError, match="hold 60 edges, and a graph in memory"):
            views.run(WCC, name="here")
        with pytest.raises(LimitError, match="hold 60 edges, and a graph in memory"):
            views.run(WCC, name="tasks", on="spark")
    assert results(grown._space.collection("v"), on="shards") == right
    grown.append(delete=[dict(zip(COLUMNS, ROWS[50], strict=True))])
    grown.append(update=[{**dict(zip(COLUMNS, ROWS[7], strict=True)), "at": 99}], match=[])
    left = sorted(row[2] if row[2] != 7 else 99 for row in ROWS if row[2] != 50)
    assert sorted(grown.edges_to_spark().toArrow().column("at").to_pylist()) == left


def test_numbers_beyond_two_to_the_31(
    spark: Any, narrow: gt.CatalogGraph, right: Any, tmp_path: Path
) -> None:
    """Numbers from 2^31 - 50 on, in a graph all of whose earlier edges are deleted."""
    forge(narrow._stored, Catalog(tmp_path))
    graph = gt.session(tmp_path, spark=spark, progress=False).graph("net")
    assert graph.num_edges == 60
    wanted = VIEWS | {"one": f"_edge = {FIRST + 57}", "late": f"_edge >= {2**31}"}
    views = graph.collection("w", wanted)
    assert [len(view) for view in views] == [1, 21, 41, 60, 1, 10]
    assert [int(number) for number in views[4].edge_ids] == [FIRST + 57]
    assert views[5].edge_ids.tolist() == [*range(2**31, 2**31 + 10)]
    assert views[5].to_spark().toArrow().sort_by("at").column("at").to_pylist() == [*range(50, 60)]
    flips = views.to_spark().toArrow()
    assert set(flips.column("_edge").to_pylist()) == set(range(FIRST, FIRST + 60))
    again = graph.collection("v", VIEWS)
    assert results(again, on="shards") == right


def forge(stored: StoredGraph, catalog: Catalog) -> None:
    """Write a graph into another catalog, as if FIRST edges before its own had been deleted."""
    vertices, edges = (stored.generation.table(name) for name in ("vertices", "edges"))
    numbers = pa.array(range(FIRST, FIRST + len(edges)), pa.int64())
    with begin(catalog.graph_folder("net"), replace=False, what="net") as commit:
        wide = edges.set_column(0, "_edge", numbers)
        for name, table in (("vertices", vertices), ("edges", wide)):
            (commit.path / name).mkdir()
            pq.write_table(table, commit.path / name / f"part-{0:012d}.parquet")
        sizes = stored.vertices, FIRST + len(edges), FIRST
        state = GraphState("forged", 0, commit.generation, *sizes)
        theirs = ("format", "generation", "files")
        known = {key: item for key, item in stored.generation.manifest.items() if key not in theirs}
        commit.finish(known | {"identity": "forged", "states": states_to_json([state])})
