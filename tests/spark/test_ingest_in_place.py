"""Parquet that is read where it is, and ends that Arrow finds: the same graph as by jobs."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from graphtide.spark.ingest import vertices
from graphtide.spark.ingest.job import write_graph
from graphtide.spark.ingest.options import TypeSpec
from graphtide.spark.ingest.source import GraphSource
from graphtide.spark.ingest.values import always_readable
from tests.spark.loading import load

pytestmark = pytest.mark.spark

FILES = [
    pa.table({"src": [5, 3, None], "dst": [3, 9, 8], "w": [1.0, 2.0, 3.0]}),
    pa.table({"src": [5], "dst": [3], "w": [1.0]}).slice(1),
    pa.table({"src": [9, 3], "dst": [9, None], "w": [float("nan"), 4.0]}),
    pa.table({"src": [-(2**63), 3], "dst": [2**63 - 1, 3], "w": [None, 5.0]}),
]
TEXTS = [
    pa.table({"src": ["b", " ", "a"], "dst": ["a", "never", "é"]}),
    pa.table({"src": pa.array(["a", None], pa.large_string()), "dst": ["\U0001f600", "neither"]}),
]


def written(folder: Path, tables: list[pa.Table]) -> Path:
    folder.mkdir()
    for place, table in enumerate(tables):
        pq.write_table(table, folder / f"{place}.parquet", row_group_size=2)
    return folder


@pytest.mark.parametrize("tables", [FILES, TEXTS], ids=["numbers", "texts"])
def test_arrow_finds_the_ends_that_a_job_finds(
    tables: list[pa.Table], spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "in", tables)
    by_arrow = load(spark, tmp_path, folder, on_bad_rows="quarantine")
    monkeypatch.setattr(vertices, "MOST_ROWS", -1)
    monkeypatch.setattr(vertices, "_FEW_ROWS", -1)
    by_job = load(spark, tmp_path, folder, on_bad_rows="quarantine")
    assert by_arrow.vertices == by_job.vertices
    assert by_arrow.edges == by_job.edges
    assert by_arrow.quarantine == by_job.quarantine
    places = {(Path(row["file"]).name, row["line"]) for row in by_arrow.quarantine}
    if tables is FILES:
        assert by_arrow.pairs() == [(5, 3), (3, 9), (9, 9), (-(2**63), 2**63 - 1), (3, 3)]
        assert places == {("0.parquet", 3), ("2.parquet", 2)}
    else:
        assert by_arrow.ids() == ["a", "b", "é", "\U0001f600"]
        assert places == {("0.parquet", 2), ("1.parquet", 2)}


def test_a_file_that_changes_meanwhile_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    file = written(tmp_path / "in", FILES[3:]) / "0.parquet"

    def touch(stage: str, done: float | None) -> None:
        if stage == "writing edges":
            os.utime(file, (1, 1))

    with pytest.raises(InputError, match="changed while it was loaded") as caught:
        write_graph(spark, tmp_path / "out", GraphSource(str(file)), progress=touch)
    assert caught.value.where == str(file)


@pytest.mark.parametrize(
    ("type_", "wanted", "known"),
    [
        (LongType(), PropertyType.INT, True),
        (IntegerType(), PropertyType.INT, True),
        (DoubleType(), PropertyType.FLOAT, True),
        (FloatType(), PropertyType.FLOAT, True),
        (TimestampType(), PropertyType.TIMESTAMP, True),
        (StringType(), PropertyType.STRING, True),
        (DoubleType(), PropertyType.STRING, True),
        (DoubleType(), PropertyType.INT, False),
        (LongType(), PropertyType.FLOAT, False),
        (DecimalType(18, 0), PropertyType.INT, False),
        (TimestampNTZType(), PropertyType.TIMESTAMP, False),
        (StringType(), PropertyType.INT, False),
    ],
)
def test_what_types_promise(type_: DataType, wanted: PropertyType, known: bool) -> None:
    assert always_readable(type_, TypeSpec(wanted)) is known


def test_times_in_nanoseconds_are_read_as_pandas_writes_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark itself refuses them. A bad row is named by its place in the user's own file."""
    moments = pd.to_datetime(["2025-03-01 10:00:00.123456789", None, "2025-03-02 00:00:00.0"])
    first = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1], "at": moments})
    first["zone"] = first["at"].dt.tz_localize("Europe/Zurich")
    folder = tmp_path / "in"
    folder.mkdir()
    first.to_parquet(folder / "0.parquet")
    assert pq.read_schema(folder / "0.parquet").field("at").type == pa.timestamp("ns")
    second = pd.DataFrame({"src": [1, None], "dst": [3, 2], "at": [moments[2]] * 2, "zone": None})
    second = second.astype({"src": "Int64", "zone": first["zone"].dtype})
    second.to_parquet(folder / "1.parquet")
    found = load(spark, tmp_path, folder, on_bad_rows="quarantine")
    assert [None if at is None else at.isoformat() for at in found.column("at")] == [
        "2025-03-01T10:00:00.123456+00:00",
        None,
        "2025-03-02T00:00:00+00:00",
        "2025-03-02T00:00:00+00:00",
    ]
    assert [(row["file"], row["line"]) for row in found.quarantine] == [
        (str(folder / "1.parquet"), 2)
    ]


def test_files_that_disagree_on_a_type_say_what_to_do(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).to_parquet(folder / "0.parquet")
    pd.DataFrame({"src": [1, None], "dst": [2, 3]}).to_parquet(folder / "1.parquet")
    with pytest.raises(InputError, match="'Int64'"):
        load(spark, tmp_path, folder)
