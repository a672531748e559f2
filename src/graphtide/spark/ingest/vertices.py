"""The vertex table: rows of vertex tables first, then vertices that only edges speak of.

Vertices of tables are numbered in input order, and the first of an id stays. Vertices found in
edges (`found_vertices`) are numbered after them. The table is written part by part by the
tasks that read it; the only shuffles are over ids, to find duplicates and distinct endpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from graphtide.spark.addresses import reading_path, writing_path
from graphtide.spark.frames import SPARK_TYPES
from graphtide.spark.ingest.checked import (
    checked_tables,
    place_columns,
    property_columns,
    union,
)
from graphtide.spark.ingest.driver_ids import distinct_rows, fits_driver
from graphtide.spark.ingest.found_vertices import write_found
from graphtide.spark.ingest.load import Load, check_count, check_size, has_small_parts
from graphtide.spark.ingest.parts import arrange_parts
from graphtide.spark.ingest.rejected import reject
from graphtide.spark.ingest.spaces import Space, Spaces

_KEYS = ["_space", "_id"]


def write_vertices(load: Load, spaces: Spaces, edges: Sequence[DataFrame]) -> tuple[int, int, int]:
    """Write `vertices/`: how many are of tables, how many there are, how many rows are set aside.

    `edges` are the checked edge tables, for the vertices that have no table.
    """
    given, rejected = _write_given(load, spaces) if load.tables.vertices else (0, 0)
    has_space = _space_column(load, spaces) == "_space"
    named = write_found(load, spaces, edges, given, has_space=has_space) if spaces.found else 0
    check_count(given + named, "vertices")
    return given, given + named, rejected


def vertex_ids(load: Load, spaces: Spaces, space: Space) -> DataFrame:
    """`_id` and `_vertex` of all vertices of a space, from the table as written."""
    vertices = _written_ids(load, spaces)
    if spaces.used:
        vertices = vertices.where(F.col(_space_column(load, spaces)) == F.lit(space))
    return vertices.select("_id", "_vertex")


def _written_ids(load: Load, spaces: Spaces) -> DataFrame:
    """The columns of the table as written that tell which vertex is which."""
    fields = [
        StructField("_vertex", IntegerType()),
        StructField("_id", SPARK_TYPES[load.tables.id_type]),
        StructField(_space_column(load, spaces), StringType()),
    ]
    return load.spark.read.schema(StructType(fields)).parquet(
        reading_path(load.folder / "vertices")
    )


def hide_spaces(load: Load, spaces: Spaces) -> None:
    """Write the table once more without its spaces, where it has both spaces and labels.

    To be called when no more ids are looked up.
    """
    if _space_column(load, spaces) != "_space":
        return
    table, bare = load.folder / "vertices", load.staging / "vertices-bare"
    vertices = load.spark.read.parquet(reading_path(table))
    vertices.drop("_space").write.parquet(writing_path(bare))
    arrange_parts(bare, ("_vertex",))
    _clear(table)
    bare.rename(table)


def _write_given(load: Load, spaces: Spaces) -> tuple[int, int]:
    tables = load.tables.vertices
    rows = check_size(tables, "vertices")
    properties = load.tables.vertex_properties
    frames = checked_tables(tables, properties, load.options.timezone)
    checked = union(
        [
            frame.withColumn("_space", F.lit(spaces.of(table.roles.spaces[0])).cast("string"))
            for frame, table in zip(frames, tables, strict=True)
        ]
    )
    good = _table_columns(load, spaces, checked.where(F.col("_reason").isNull()))
    written = load.write_numbered(good, "vertices", "_vertex", rows, sort=has_small_parts(tables))
    if written == rows and not _has_duplicates(load, spaces, rows):
        return written, 0
    return _without_bad(load, spaces, checked)


def _without_bad(load: Load, spaces: Spaces, checked: DataFrame) -> tuple[int, int]:
    """Write the table again without bad rows and second vertices of an id."""
    judged = _with_duplicates(checked)
    bad = judged.where(F.col("_reason").isNotNull())
    rejected = reject(load, "vertex", load.tables.vertices, bad)
    _clear(load.folder / "vertices")
    good = _table_columns(load, spaces, judged.where(F.col("_reason").isNull()))
    return load.write_renumbered(good, "vertices", "_vertex"), rejected


def _has_duplicates(load: Load, spaces: Spaces, rows: int) -> bool:
    keys = ["_id", _space_column(load, spaces)] if spaces.used else ["_id"]
    if fits_driver(rows, load.tables.id_type):
        return distinct_rows(load.folder / "vertices", keys) < rows
    vertices = _written_ids(load, spaces)
    return not vertices.groupBy(*keys).count().where(F.col("count") > 1).isEmpty()


def _with_duplicates(checked: DataFrame) -> DataFrame:
    """The rows, with a reason for all good ones but the first of each id."""
    good = checked.where(F.col("_reason").isNull())
    keyed = good.select("_space", F.col("_key0").alias("_id"), "_number")
    first = keyed.groupBy(*_KEYS).agg(F.min("_number").alias("_first"), F.count("*").alias("_n"))
    repeated = first.where(F.col("_n") > 1).select(
        F.col("_space").alias("_space2"), "_id", "_first"
    )
    same = (F.col("_key0") == F.col("_id")) & F.col("_space").eqNullSafe(F.col("_space2"))
    is_second = F.col("_reason").isNull() & (F.col("_number") > F.col("_first"))
    reason = F.when(is_second, "duplicate vertex").otherwise(F.col("_reason"))
    return checked.join(repeated, same, "left").withColumn("_reason", reason)


def _table_columns(load: Load, spaces: Spaces, checked: DataFrame) -> DataFrame:
    columns: list[Column | str] = ["_number", F.col("_key0").alias("_id"), "_label"]
    if _space_column(load, spaces) == "_space":
        columns.append("_space")
    properties = property_columns(load.tables.vertex_properties)
    return checked.select(*columns, *properties, *place_columns(load.options))


def _space_column(load: Load, spaces: Spaces) -> str:
    """Labels are the spaces, unless rows have labels of their own: then the table has both."""
    own = any(table.roles.label is not None for table in load.tables.vertices)
    return "_space" if own and spaces.used else "_label"


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
