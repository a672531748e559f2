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
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from graphtide.model.checksums import Checksums
from graphtide.model.schema import GraphSchema, PropertyType
from graphtide.spark.addresses import reading_path
from graphtide.spark.checksums import checksums

SPARK_TYPES: dict[PropertyType, DataType] = {
    PropertyType.STRING: StringType(),
    PropertyType.INT: LongType(),
    PropertyType.FLOAT: DoubleType(),
    PropertyType.BOOL: BooleanType(),
    PropertyType.DATE: DateType(),
    PropertyType.TIMESTAMP: TimestampType(),
}


class GraphTables(Protocol):
    """What is needed of a stored graph to read its tables."""

    @property
    def schema(self) -> GraphSchema:
        """The schema of its rows."""

    def vertices_folder(self, checksums: Checksums) -> Path:
        """The folder of the vertex table, after its files have been compared."""

    def edges_folder(self, checksums: Checksums) -> Path:
        """The folder of the edge table, after its files have been compared."""


def vertices_frame(spark: SparkSession, stored: GraphTables) -> DataFrame:
    """The vertex table: `_vertex`, `_id`, `_label` and the properties."""
    path = reading_path(stored.vertices_folder(partial(checksums, spark)))
    return spark.read.schema(vertex_table_schema(stored.schema)).parquet(path)


def edges_frame(spark: SparkSession, stored: GraphTables) -> DataFrame:
    """The edge table: `_edge`, `_src`, `_dst`, `_label` and the properties."""
    path = reading_path(stored.edges_folder(partial(checksums, spark)))
    return spark.read.schema(edge_table_schema(stored.schema)).parquet(path)


def vertex_table_schema(schema: GraphSchema) -> StructType:
    """The columns of the vertex table, in their order."""
    fixed = [
        StructField("_vertex", IntegerType()),
        StructField("_id", SPARK_TYPES[schema.id_type]),
        StructField("_label", StringType()),
    ]
    return StructType(
        fixed + [StructField(item.name, SPARK_TYPES[item.type]) for item in schema.vertex]
    )


def edge_table_schema(schema: GraphSchema) -> StructType:
    """The columns of the edge table, in their order."""
    fixed = [StructField(name, IntegerType()) for name in ("_edge", "_src", "_dst")]
    fixed.append(StructField("_label", StringType()))
    return StructType(
        fixed + [StructField(item.name, SPARK_TYPES[item.type]) for item in schema.edge]
    )
