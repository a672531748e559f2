"""A few edges are written by Arrow, and the tables are those that Spark's jobs write."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from graphtide.spark.ingest import edges, job
from tests.spark.loading import Loaded, load

pytestmark = pytest.mark.spark

NOON = dt.datetime(2020, 5, 17, 12, 0, tzinfo=dt.UTC)
ALL_TYPES = pa.table(
    {
        "src": [30, 20, 20, -7],
        "dst": [20, 30, 2**62, -7],
        "name": ["a", "", None, "ü"],
        "year": pa.array([2001, None, 2003, 2004], pa.int16()),
        "weight": [0.5, float("nan"), None, float("inf")],
        "on": [True, False, None, True],
        "day": [dt.date(2020, 1, 1), None, dt.date(1969, 12, 31), dt.date(2020, 2, 29)],
        "at": pa.array([NOON, None, NOON, NOON], pa.timestamp("us", tz="UTC")),
    }
)
KNOWS = pa.table({"src": ["b", "a", " a"], "dst": ["a", "ä", "b"], "since": [1, 2, 3]})
LIKES = pa.table({"src": ["b", "Z"], "dst": ["a", "a"], "weight": [0.5, 1.0]})

BY_ARROW: dict[str, tuple[Any, dict[str, Any]]] = {
    "all types": (ALL_TYPES, {}),
    "tuples": ([(1, 2), (2, 3)], {"edge_columns": ["src", "dst"]}),
    "two tables": ({"knows": KNOWS, "likes": LIKES}, {}),
    "no edges": (ALL_TYPES.slice(0, 0), {}),
}
BY_JOBS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a missing end": (
        pa.table({"src": [1, None, 3], "dst": [2, 2, 2]}),
        {"on_bad_rows": "quarantine"},
    ),
    "a blank end": (
        pa.table({"src": ["a", "  "], "dst": ["b", "b"]}),
        {"on_bad_rows": "quarantine"},
    ),
    "numbers as texts": (ALL_TYPES, {"types": {"year": "string"}}),
    "seconds": (ALL_TYPES, {"types": {"year": "unix_seconds"}}),
    "a column of labels": (
        KNOWS.append_column("kind", pa.array(["x", "y", "x"])),
        {"edge_label": "kind"},
    ),
}


def loaded(spark: SparkSession, root: Path, given: tuple[Any, dict[str, Any]]) -> Loaded:
    return load(spark, root, given[0], **given[1])


def column_types(root: Path) -> set[tuple[str, ...]]:
    """The names and types of the columns of each table, whatever number of parts it has."""
    parts = root.rglob("part-*.parquet")
    return {
        (part.parent.name, *(f"{item.name}: {item.type}" for item in pq.read_schema(part)))
        for part in parts
    }


@pytest.mark.parametrize("name", BY_ARROW)
def test_the_tables_are_those_that_jobs_write(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(job, "_write_by_jobs", refused)
        few = loaded(spark, tmp_path / "few", BY_ARROW[name])
    monkeypatch.setattr(edges, "MOST_EDGES", -1)
    many = loaded(spark, tmp_path / "many", BY_ARROW[name])
    assert few == many
    assert column_types(tmp_path / "few") == column_types(tmp_path / "many")


@pytest.mark.parametrize("name", BY_JOBS)
def test_what_needs_more_than_numbers_is_left_to_jobs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(job, "_write_by_jobs", refused)
    with pytest.raises(JobsError):
        loaded(spark, tmp_path, BY_JOBS[name])


class JobsError(Exception):
    """Jobs were to write the tables."""


def refused(*_: Any) -> Any:
    raise JobsError
