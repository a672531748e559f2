"""Parquet that is read where it is, and ends that Arrow finds: the same graph as by jobs."""

from __future__ import annotations

import os
from pathlib import Path

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
from graphtide.spark.ingest import driver_ends, found_vertices
from graphtide.spark.ingest.convert import always_readable
from graphtide.spark.ingest.job import write_graph
from graphtide.spark.ingest.source import GraphSource
from graphtide.spark.ingest.type_spec import TypeSpec
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
    monkeypatch.setattr(driver_ends, "MOST_ROWS", -1)
    monkeypatch.setattr(found_vertices, "_FEW_ROWS", -1)
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
