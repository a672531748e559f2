"""The tables of a stored graph as DataFrames: by predicate, as users know them, and with results.

Frames have the schema of the manifest, so no Spark job runs to find it out. This module knows a
store by its schema and its folders; the store hands out a folder only if its files are what was
written.

A predicate may look at the edge and at both endpoints. The endpoint properties that it needs, and
no others, are joined to the edges under names that no property of a user's can have. Results that
tasks have written become a frame here; a step has the rows of the vertices that differ from the
empty version. All functions turn frames into frames: none runs a job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from graphtide.model.disk import Checksums
from graphtide.model.schema import CHANGED, DELETED, ENDS, GraphSchema, PropertyType
from graphtide.plan.predicates import Predicate, PropertyRef, atoms_of, properties_of
from graphtide.plan.signatures import VERTEX_NUMBER
from graphtide.spark.columns import Names, predicate_column
from graphtide.spark.files import checksums, reading_path

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
    def schema(self) -> GraphSchema: ...

    @property
    def vertices(self) -> int:
        """How many rows of the vertex table belong to this state."""

    @property
    def numbers(self) -> int:
        """How many rows of the edge table belong to this state."""

    @property
    def number(self) -> int:
        """How many appends made this state."""

    @property
    def timezone(self) -> str:
        """The zone of timestamps without an offset."""

    @property
    def has_wide_numbers(self) -> bool:
        """Whether a file of edges may have 64-bit numbers."""

    @property
    def is_latest(self) -> bool:
        """Whether all rows belong to this state."""

    def vertices_folder(self, checksums: Checksums) -> Path:
        """The checked folder of the vertex table."""

    def edges_folder(self, checksums: Checksums) -> Path:
        """The checked folder of the edge table."""

    def append_paths(self, folder: str, checksums: Checksums) -> list[Path]:
        """The checked files that appends have written in a folder."""


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
    """The rows that appends have written in a folder; None if there are none."""
    paths = stored.append_paths(folder, partial(checksums, spark))
    if not paths:
        return None
    return spark.read.schema(schema).parquet(*map(reading_path, paths))


def _with_changed(rows: DataFrame, changed: DataFrame | None, key: str) -> DataFrame:
    """The rows, with changed ones as the last append wrote them."""
    if changed is None:
        return rows
    names = map(quoted, rows.columns)
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


Endpoint = Literal["src", "dst"]
ENDPOINTS: tuple[Endpoint, Endpoint] = ("src", "dst")

# The join of endpoints is a broadcast up to this many vertices.
_BROADCAST_VERTICES = 5_000_000


@dataclass(frozen=True)
class GraphFrames:
    """The two tables of a stored graph, with the number of vertices to choose the join by.

    With several labels of vertices an id may stand for one vertex of each.
    """

    vertices: DataFrame
    edges: DataFrame
    vertex_count: int
    several_labels: bool = False
    ends: tuple[str, str] = ENDS
    directed: bool = True

    @property
    def broadcasts_vertices(self) -> bool:
        """Whether to broadcast the vertices when they are joined."""
        return self.vertex_count <= _BROADCAST_VERTICES


def matching_edges(frames: GraphFrames, predicate: Predicate) -> DataFrame:
    """The rows of the edge table on which the predicate is true, with the table's columns."""
    needed = dict.fromkeys(item for atom in atoms_of(predicate) for item in properties_of(atom))
    joined = join_properties(frames, needed)
    condition = predicate_column(predicate, joined_names(frames.edges.columns))
    return joined.where(condition).select(*map(quoted, frames.edges.columns))


def matching_vertices(frames: GraphFrames, predicate: Predicate) -> DataFrame:
    """The rows of the vertex table on which a predicate over its own properties is true."""
    return frames.vertices.where(predicate_column(predicate, table_names(frames.vertices.columns)))


def join_properties(frames: GraphFrames, items: Iterable[PropertyRef]) -> DataFrame:
    """The edge table, joined with the endpoint properties among the items."""
    joined = frames.edges
    names = table_names(frames.vertices.columns)
    for side in ENDPOINTS:
        raw = [item for item in items if item.owner == side and item.name != VERTEX_NUMBER]
        if raw:
            columns = [raw_column(item, names) for item in raw]
            joined = join_endpoint(joined, frames, side, columns)
    return joined


def join_endpoint(
    edges: DataFrame, frames: GraphFrames, side: Endpoint, columns: Sequence[Column]
) -> DataFrame:
    """Edges with columns of one endpoint's row."""
    endpoint = frames.vertices.select(F.col("_vertex").alias(f"_{side}"), *columns)
    return edges.join(F.broadcast(endpoint) if frames.broadcasts_vertices else endpoint, f"_{side}")


def known_edges(edges: DataFrame, frames: GraphFrames) -> DataFrame:
    """Rows of the edge table as users know them: ends by their ids and names, label, properties.

    Where vertices have several labels, `src_label` and `dst_label` tell their ids apart, or what
    the ends are called in place of `src` and `dst`. Sorted by nothing; `_edge` stays in front, for
    those who want to sort or join.
    """
    joined = edges
    known = ["_id", "_label"] if frames.several_labels else ["_id"]
    for side in ENDPOINTS:
        columns = [F.col(name).alias(_known(side, name)) for name in known]
        joined = join_endpoint(joined, frames, side, columns)
    named = list(zip(ENDPOINTS, frames.ends, strict=True))
    ends = [F.col(_known(side, "_id")).alias(name) for side, name in named]
    if frames.several_labels:
        ends += [F.col(_known(side, "_label")).alias(f"{name}_label") for side, name in named]
    label = [F.col("_label").alias("label")] if "_label" in edges.columns else []
    properties = [quoted(name) for name in edges.columns if name not in _OURS]
    return joined.select("_edge", *ends, *label, *properties)


def table_names(columns: Sequence[str]) -> Names:
    """Names of properties in a table that has all of them."""
    return lambda item: F.col(quoted(property_column(item, columns)))


def joined_names(edge_columns: Sequence[str]) -> Names:
    """Names of properties in the edge table joined with its endpoints."""

    def name(item: PropertyRef) -> Column:
        if item.name == VERTEX_NUMBER:
            return F.col(f"_{item.owner}")
        if item.owner == "edge":
            return F.col(quoted(property_column(item, edge_columns)))
        return F.col(quoted(_raw_name(item)))

    return name


def raw_column(item: PropertyRef, names: Names) -> Column:
    """A property of an endpoint, named as `joined_names` expects."""
    return names(item).alias(_raw_name(item))


def property_column(item: PropertyRef, columns: Sequence[str]) -> str:
    """The stored column of a property; ids and labels take precedence over properties."""
    if item.name == "label" and "_label" in columns:
        return "_label"
    if item.name == "id" and item.owner != "edge":
        return "_id"
    return "_edge" if item.name == "id" and "id" not in columns else item.name


def quoted(name: str) -> str:
    """A column name in backticks, safe for dots and spaces."""
    return "`" + name.replace("`", "``") + "`"


_OURS = {"_edge", "_src", "_dst", "_label"}


def _raw_name(item: PropertyRef) -> str:
    return f"_graphtide_{item.owner}_{item.name}"


def _known(side: Endpoint, column: str) -> str:
    return f"_graphtide_{side}{column}_known"


class ResultFiles(NamedTuple):
    """The files of one result: of the empty version, and of all steps; the name of its column, and
    whether its values are vertices.
    """

    base: Sequence[Path]
    steps: Sequence[Path]
    name: str
    names_vertices: bool = False


def result_frame(
    session: SparkSession,
    graph: GraphFrames,
    views: Mapping[int, str],
    results: Sequence[ResultFiles],
    removed: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> DataFrame:
    """`view`, `id`, perhaps `label`, and a column a result; `views` are names by steps.

    A result that names vertices has their ids, and their labels where ids need one. Vertices that
    are `removed` from a step are not there.
    """
    steps = pa.table({"_step": pa.array(list(views), pa.int32()), "view": list(views.values())})
    ids = {"_id": "id"} | ({"_label": "label"} if graph.several_labels else {})
    frame = graph.vertices.select("_vertex", *(F.col(at).alias(name) for at, name in ids.items()))
    frame = frame.crossJoin(F.broadcast(session.createDataFrame(steps)))
    pairs = [(step, vertex) for step, vertices in removed.items() for vertex in vertices]
    if pairs:
        away = session.createDataFrame(pairs, "_step int, _vertex long")
        frame = frame.join(F.broadcast(away), ["_step", "_vertex"], "left_anti")
    columns = []
    for item in results:
        base = _read(session, item.base).select(F.col("vertex").alias("_vertex"), "value")
        keys = F.col("step").alias("_step"), F.col("vertex").alias("_vertex")
        new = _read(session, item.steps).select(*keys, "new", F.lit(True).alias("_differs"))
        frame = frame.join(base, "_vertex").join(new, ["_step", "_vertex"], "left")
        value = F.when(F.col("_differs"), F.col("new")).otherwise(F.col("value"))
        frame = frame.withColumn("_value", value).drop("value", "new", "_differs")
        named = {"_value": item.name}
        if item.names_vertices:
            named = {f"_named{at}": f"{item.name}{at.removeprefix('_id')}" for at in ids}
            vertices = graph.vertices.select(
                F.col("_vertex").alias("_value"), *(F.col(at).alias(f"_named{at}") for at in ids)
            )
            frame = frame.join(vertices, "_value", "left").drop("_value")
        for at, name in named.items():
            frame = frame.withColumnRenamed(at, f"_result_{name}")
            columns.append(F.col(f"_result_{name}").alias(name))
    return frame.select("view", *ids.values(), *columns)


def _read(session: SparkSession, paths: Sequence[Path]) -> DataFrame:
    return session.read.parquet(*map(reading_path, paths))
