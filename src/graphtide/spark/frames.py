"""The tables of a stored graph as DataFrames.

Frames have the schema of the manifest, so no Spark job runs to find it out. This module knows a
store by its schema and its folders; the store hands out a folder only if its files are what was
written.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from graphtide.model.checksums import Checksums
from graphtide.model.graph_folders import CHANGED, DELETED
from graphtide.model.schema import GraphSchema, PropertyType
from graphtide.spark.addresses import reading_path
from graphtide.spark.checksums import checksums

SPARK_TYPES: dict[PropertyType, T.DataType] = {
    PropertyType.STRING: T.StringType(),
    PropertyType.INT: T.LongType(),
    PropertyType.FLOAT: T.DoubleType(),
    PropertyType.BOOL: T.BooleanType(),
    PropertyType.DATE: T.DateType(),
    PropertyType.TIMESTAMP: T.TimestampType(),
}


class GraphTables(Protocol):
    """What is needed of a stored graph to read its tables."""

    @property
    def schema(self) -> GraphSchema:
        """The schema of its rows."""

    @property
    def vertices(self) -> int:
        """How many of the rows of the vertex table are of this state."""

    @property
    def numbers(self) -> int:
        """How many of the rows of the edge table are of this state."""

    @property
    def number(self) -> int:
        """How many appends have made this state."""

    @property
    def has_wide_numbers(self) -> bool:
        """Whether a file of its edges may have numbers of 64 bits."""

    @property
    def is_latest(self) -> bool:
        """Whether all rows are of this state."""

    def vertices_folder(self, checksums: Checksums) -> Path:
        """The folder of the vertex table, after its files have been compared."""

    def edges_folder(self, checksums: Checksums) -> Path:
        """The folder of the edge table, after its files have been compared."""

    def append_paths(self, folder: str, checksums: Checksums) -> list[Path]:
        """The files that appends have written in a folder, after they have been compared."""


def vertices_frame(spark: SparkSession, stored: GraphTables) -> DataFrame:
    """The vertex table: `_vertex`, `_id`, `_label` and the properties."""
    path = reading_path(stored.vertices_folder(partial(checksums, spark)))
    schema = vertex_table_schema(stored.schema)
    rows = spark.read.schema(schema).parquet(path)
    if not stored.is_latest:
        rows = rows.where(F.col("_vertex") < stored.vertices)
    return _with_changed(rows, _appended(spark, stored, CHANGED["vertices"], schema), "_vertex")


def edges_frame(spark: SparkSession, stored: GraphTables) -> DataFrame:
    """The edge table: `_edge`, `_src`, `_dst`, `_label` and the properties."""
    path = reading_path(stored.edges_folder(partial(checksums, spark)))
    schema = edge_table_schema(stored.schema, wide=stored.has_wide_numbers)
    rows = spark.read.schema(schema).parquet(path)
    if not stored.is_latest:
        rows = rows.where(F.col("_edge") < stored.numbers)
    rows = _with_changed(rows, _appended(spark, stored, CHANGED["edges"], schema), "_edge")
    since = T.StructField("_append", T.LongType())
    deleted = _appended(spark, stored, DELETED, T.StructType([schema.fields[0], since]))
    if deleted is None:
        return rows
    deleted = deleted.where(F.col("_append") <= stored.number).select("_edge")
    return rows.join(F.broadcast(deleted), "_edge", "left_anti")


def _appended(
    spark: SparkSession, stored: GraphTables, folder: str, schema: T.StructType
) -> DataFrame | None:
    """The rows that appends have written in a folder; None where there are none."""
    paths = stored.append_paths(folder, partial(checksums, spark))
    if not paths:
        return None
    return spark.read.schema(schema).parquet(*map(reading_path, paths))


def _with_changed(rows: DataFrame, changed: DataFrame | None, key: str) -> DataFrame:
    """Rows with those in their place that the last append to change them has written."""
    if changed is None:
        return rows
    names = [f"`{name.replace('`', '``')}`" for name in rows.columns]
    file = F.col("_metadata.file_name")
    newest = changed.groupBy(key).agg(F.max_by(F.struct(*names), file).alias("_newest"))
    latest = newest.select(*(F.col("_newest")[name].alias(name) for name in rows.columns))
    others = rows.join(F.broadcast(changed.select(key)), key, "left_anti")
    return others.unionByName(latest)


def vertex_table_schema(schema: GraphSchema) -> T.StructType:
    """The columns of the vertex table, in their order."""
    fixed = [
        T.StructField("_vertex", T.IntegerType()),
        T.StructField("_id", SPARK_TYPES[schema.id_type]),
        T.StructField("_label", T.StringType()),
    ]
    return T.StructType(
        fixed + [T.StructField(item.name, SPARK_TYPES[item.type]) for item in schema.vertex]
    )


def edge_table_schema(schema: GraphSchema, *, wide: bool = False) -> T.StructType:
    """The columns of the edge table, in their order; Spark reads narrow numbers as wide ones."""
    fixed = [T.StructField("_edge", T.LongType() if wide else T.IntegerType())]
    fixed += [T.StructField(name, T.IntegerType()) for name in ("_src", "_dst")]
    fixed.append(T.StructField("_label", T.StringType()))
    return T.StructType(
        fixed + [T.StructField(item.name, SPARK_TYPES[item.type]) for item in schema.edge]
    )
