"""Streams from Kafka and from Delta, where their connectors are; they skip with the reason.

Kafka: `GRAPHTIDE_TEST_KAFKA` names a server, such as `localhost:9092`. Delta: the session finds
`delta-spark` among its jars.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import graphtide as gt
from tests.live.graphs import graph_of, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FIELDS = "src LONG, dst LONG, weight DOUBLE, kind STRING"


def has_source(spark: SparkSession, name: str) -> bool:
    """Whether Spark finds a connector."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        spark.readStream.format(name).load()
    except (PySparkException, Py4JError) as error:
        return "DATA_SOURCE_NOT_FOUND" not in str(error) and "Failed to find" not in str(error)
    return True


def test_kafka(tmp_path: Path, spark: SparkSession) -> None:
    server = os.environ.get("GRAPHTIDE_TEST_KAFKA")
    if server is None:
        pytest.skip("GRAPHTIDE_TEST_KAFKA names no server")
    if not has_source(spark, "kafka"):
        pytest.skip("spark-sql-kafka is not among the jars of Spark")
    topic = f"graphtide-{time.time_ns()}"
    rows = [(at, at + 1, float(at), "a") for at in range(20)]
    names = ("src", "dst", "weight", "kind")
    told = [(str(row[0]), json.dumps(dict(zip(names, row, strict=True)))) for row in rows]
    messages = spark.createDataFrame(told, "key string, value string")
    place = {"kafka.bootstrap.servers": server}
    messages.write.format("kafka").options(**place).option("topic", topic).save()
    stream = (
        spark.readStream.format("kafka")
        .options(**place, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="7")
        .load()
        .selectExpr(f"from_json(CAST(value AS STRING), '{FIELDS}') AS row")
        .select("row.*")
    )
    with gt.live(tmp_path / "g", graph_of([])) as graph:
        for _ in range(2):
            assert graph.follow(stream, trigger="available now").wait(600)
            assert sorted(rows_of(graph.edges())) == rows


def test_delta(tmp_path: Path, spark: SparkSession) -> None:
    if not has_source(spark, "delta"):
        pytest.skip("delta-spark is not among the jars of Spark")
    table, at = f"delta.`{tmp_path / 'table'}`", str(tmp_path / "table")
    spark.sql(
        f"CREATE TABLE {table} ({FIELDS}) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 2, 1.0, 'a'), (1, 2, 1.0, 'b'), (2, 3, 2.0, 'c')")
    feed = spark.readStream.format("delta").option("readChangeFeed", "true")
    with gt.live(tmp_path / "g", graph_of([])) as graph:
        for statement in (
            "SELECT 1",
            f"UPDATE {table} SET weight = 5.0 WHERE kind = 'b'",
            f"DELETE FROM {table} WHERE src = 2",
        ):
            spark.sql(statement)
            stream = feed.option("startingVersion", 0).load(at)
            assert graph.follow(stream, trigger="available now").wait(600)
            held = [tuple(row) for row in spark.read.format("delta").load(at).collect()]
            assert sorted(rows_of(graph.edges())) == sorted(held)
