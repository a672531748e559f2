"""One small graph, from every kind of table that there is."""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from tests.spark.loading import load

pytestmark = pytest.mark.spark

NOON = dt.datetime(2020, 5, 17, 12, 0, tzinfo=dt.UTC)
EDGES = pa.table(
    {
        "src": pa.array([10, 20, 20, 30], pa.int32()),
        "dst": pa.array([20, 10, 10, 30], pa.int64()),
        "name": ["a", "b", None, "ü"],
        "year": pa.array([2001, None, 2003, 2004], pa.int16()),
        "weight": [0.5, float("inf"), None, -1.25],
        "on": [True, False, None, True],
        "day": [dt.date(2020, 1, 1), None, dt.date(1969, 12, 31), dt.date(2020, 2, 29)],
        "at": pa.array([NOON, None, NOON, NOON], pa.timestamp("us", tz="UTC")),
    }
)
VERTICES = pa.table({"id": [30, 20, 10], "country": ["ca", None, "fr"]})
EXPECTED = [
    {"_edge": place, "_src": src, "_dst": dst, "_label": None} | row
    for place, (src, dst, row) in enumerate(
        zip([2, 1, 1, 0], [1, 2, 2, 0], EDGES.drop_columns(["src", "dst"]).to_pylist(), strict=True)
    )
]


def as_parquet(folder: Path) -> tuple[Any, Any]:
    pq.write_table(EDGES.slice(0, 2), folder / "e1.parquet")
    pq.write_table(EDGES.slice(2), folder / "e2.parquet")
    pq.write_table(VERTICES, folder / "v.parquet")
    return str(folder / "e*.parquet"), folder / "v.parquet"


SOURCES: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "arrow": lambda _: (EDGES, VERTICES),
    "reader": lambda _: (EDGES.to_reader(max_chunksize=1), VERTICES.to_reader()),
    "pandas": lambda _: (
        EDGES.to_pandas(types_mapper=pd.ArrowDtype),
        VERTICES.to_pandas().set_index("id"),
    ),
    "polars": lambda _: (pl.from_arrow(EDGES), pl.from_arrow(VERTICES)),
    "rows": lambda _: (EDGES.to_pylist(), [(30, "ca"), (20, None), (10, "fr")]),
    "parquet": as_parquet,
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_graph(spark: SparkSession, tmp_path: Path, name: str) -> None:
    edges, vertices = SOURCES[name](tmp_path)
    given = {"vertex_columns": ["id", "country"]} if name == "rows" else {}
    loaded = load(spark, tmp_path, edges, vertices, **given)
    assert loaded.edges == EXPECTED
    assert [row["country"] for row in loaded.vertices] == ["ca", None, "fr"]
    assert loaded.ids() == [30, 20, 10]
    assert list(loaded.types().values()) == ["string", "int", "float", "bool", "date", "timestamp"]


@pytest.mark.masters
def test_a_frame_keeps_its_order_whatever_the_settings_of_its_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    zone, ansi = "spark.sql.session.timeZone", "spark.sql.ansi.enabled"
    before = {key: spark.conf.get(key) for key in (zone, ansi)}
    try:
        spark.conf.set(zone, "America/New_York")
        spark.conf.set(ansi, "false")
        frame = spark.createDataFrame(EDGES).repartition(3, "year").sortWithinPartitions("year")
        loaded = load(spark, tmp_path, frame, VERTICES)
        order = [row["year"] for row in frame.collect()]
        assert spark.conf.get(zone) == "America/New_York"
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)
    assert loaded.column("year") == order
    by_year = {row["year"]: row for row in EXPECTED}
    unnumbered = [row | {"_edge": None} for row in loaded.edges]
    assert unnumbered == [by_year[year] | {"_edge": None} for year in order]


def test_bad_rows_of_a_frame_are_counted_over_its_partitions(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.range(100, numPartitions=4).select(
        F.col("id").alias("src"), F.when(F.col("id") % 30 != 7, F.col("id") + 1).alias("dst")
    )
    loaded = load(spark, tmp_path, frame, on_bad_rows="quarantine")
    assert [row["line"] for row in loaded.quarantine] == [8, 38, 68, 98]
    assert loaded.quarantine[0]["text"] == '{"src":7}'
    assert loaded.pairs() == [(n, n + 1) for n in range(100) if n % 30 != 7]


def test_networkx_graphs(spark: SparkSession, tmp_path: Path) -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("b", size=2)
    graph.add_node("a")
    graph.add_edge("a", "b", weight=1)
    graph.add_edge("a", "b", weight=2.5)
    graph.add_edge("b", "b")
    loaded = load(spark, tmp_path, graph)
    assert loaded.ids() == ["b", "a"]
    assert [row["size"] for row in loaded.vertices] == [2, None]
    assert loaded.pairs() == [("b", "b"), ("a", "b"), ("a", "b")]
    assert loaded.column("weight") == [None, 1.0, 2.5]
    grid = load(spark, tmp_path, nx.grid_2d_graph(2, 2))
    assert grid.ids() == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]
    assert len(grid.edges) == 4


def test_types_that_become_others(spark: SparkSession, tmp_path: Path) -> None:
    one = uuid.UUID(int=1)
    edges = pa.table(
        {
            "src": pa.array([one.bytes], pa.uuid()),
            "dst": [str(one)],
            "price": [decimal.Decimal("1.50")],
            "kind": pa.array(["x"]).dictionary_encode(),
            "count": pa.array([7], pa.uint64()),
            "local": pa.array([dt.datetime(2020, 7, 1)], pa.timestamp("ns")),
            "nothing": pa.nulls(1),
            "nan": [float("nan")],
        }
    )
    loaded = load(spark, tmp_path, edges, timezone="Europe/Berlin")
    (row,) = loaded.edges
    assert loaded.ids() == [str(one)]
    assert (row["price"], row["kind"], row["count"], row["nothing"]) == (1.5, "x", 7, None)
    assert row["local"] == dt.datetime(2020, 6, 30, 22, tzinfo=dt.UTC)
    assert row["nan"] is None


def test_partitioned_parquet_folders(spark: SparkSession, tmp_path: Path) -> None:
    for year in (2001, 2002):
        (tmp_path / "in" / f"year={year}").mkdir(parents=True)
        ends = pa.array([None if year == 2002 else 1], pa.int64())
        table = pa.table({"src": [year], "dst": ends})
        pq.write_table(table, tmp_path / "in" / f"year={year}" / "a.parquet")
    loaded = load(spark, tmp_path, tmp_path / "in", on_bad_rows="quarantine")
    assert loaded.column("year") == [2001]
    assert loaded.quarantine[0]["file"].endswith("year=2002/a.parquet")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (pa.table({"src": [1], "dst": [2], "x": [[1]]}), "'x' is of type list"),
        (pa.table({"src": [1], "dst": [2], "x": pa.array([2**64 - 1], pa.uint64())}), "fit int64"),
        (pa.table({"src": [1], "dst": ["2"]}), "'src' of the edges is int, 'dst'"),
        ([{"src": 1, "dst": 2, "x": 1}, {"src": 1, "dst": 2, "x": "one"}], "different types"),
        ([{"src": 1, "dst": 2, "x": 2**70}], "'x' has whole numbers of more than 64 bits"),
        ([{"src": 1, "dst": 2}, (1, 2)], "partly mappings"),
        (42, "cannot be read from a int"),
        (None, "needs edges"),
        (pa.table([[1], [2], [3], [4]], ["src", "dst", "x", "X"]), "differ by case only"),
        (pa.table([[1], [2], [3], [4]], ["src", "dst", "x", "x"]), "more than once"),
        (pa.table({"src": [1], "dst": [2], "_Edge": [3]}), "Graphtide's own"),
    ],
)
def test_tables_that_cannot_be_loaded(
    spark: SparkSession, tmp_path: Path, edges: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(spark, tmp_path, edges)
    assert not (tmp_path / "catalog" / "graphs" / "g").exists()


def test_columns_left_out_need_no_type(spark: SparkSession, tmp_path: Path) -> None:
    edges = pa.table({"src": [1], "dst": [2], "x": [[1]], "odd name.`": [5]})
    loaded = load(spark, tmp_path, edges, drop=["x"])
    assert loaded.types() == {"odd name.`": "int"}
    assert loaded.column("odd name.`") == [5]
    assert loaded.schema.id_type is PropertyType.INT


def test_types_of_typed_columns_can_be_changed(spark: SparkSession, tmp_path: Path) -> None:
    edges = pa.table({"src": [1.0, 2.0], "dst": [2, 1], "t": [1254192988, 0], "n": ["7", "8"]})
    loaded = load(spark, tmp_path, edges, types={"src": "int", "t": "unix_seconds", "n": "int"})
    assert loaded.pairs() == [(1, 2), (2, 1)]
    assert loaded.column("t")[0] == dt.datetime(2009, 9, 29, 2, 56, 28, tzinfo=dt.UTC)
    assert loaded.column("n") == [7, 8]


def test_given_tables_import_neither_pandas_nor_polars_of_ours() -> None:
    code = "import sys, graphtide.spark.ingest.stage_rows, graphtide.spark.ingest.source; "
    code += "sys.exit('polars' in sys.modules or 'networkx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_catalog_may_lie_anywhere(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "a [b] {c,d} * é %20 #"
    root.mkdir()
    (root / "e f.csv").write_text("src,dst\n1,2\n")
    assert load(spark, root, root / "e f.csv").pairs() == [(1, 2)]
    assert [path.name for path in tmp_path.iterdir()] == [root.name]
