"""The vertex table: rows of vertex tables first, then vertices that only edges speak of.

Vertices of tables are numbered in input order, and the first of an id stays. Vertices found in
edges are numbered after them, sorted by space and id. The table is written part by part by the
tasks that read it; the only shuffles are over ids, to find duplicates and distinct endpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.spark.addresses import reading_path, writing_path
from graphtide.spark.ingest.checked import (
    checked_tables,
    no_properties,
    property_columns,
    union,
)
from graphtide.spark.ingest.load import Load, check_count, check_size, has_small_parts
from graphtide.spark.ingest.parts import arrange_parts, read_sequence
from graphtide.spark.ingest.rejected import reject
from graphtide.spark.ingest.spaces import Space, Spaces

_KEYS = ["_space", "_id"]


def write_vertices(load: Load, spaces: Spaces, edges: Sequence[DataFrame]) -> tuple[int, int, int]:
    """Write `vertices/`: how many are of tables, how many there are, how many rows are set aside.

    `edges` are the checked edge tables, for the vertices that have no table.
    """
    given, rejected = _write_given(load, spaces) if load.tables.vertices else (0, 0)
    found = _write_found(load, spaces, edges, given) if spaces.found else 0
    check_count(given + found, "vertices")
    return given, given + found, rejected


def vertex_ids(load: Load, spaces: Spaces, space: Space) -> DataFrame:
    """`_id` and `_vertex` of all vertices of a space, from the table as written."""
    vertices = load.spark.read.parquet(reading_path(load.folder / "vertices"))
    if spaces.used:
        vertices = vertices.where(F.col(_space_column(load, spaces)) == F.lit(space))
    return vertices.select("_id", "_vertex")


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
    rows = check_size(tables, "vertex rows")
    properties = load.tables.vertex_properties
    frames = checked_tables(load.spark, tables, properties, load.options.timezone)
    checked = union(
        [
            frame.withColumn("_space", F.lit(spaces.of(table.roles.spaces[0])).cast("string"))
            for frame, table in zip(frames, tables, strict=True)
        ]
    )
    good = _table_columns(load, spaces, checked.where(F.col("_reason").isNull()))
    written = load.write_numbered(good, "vertices", "_vertex", sort=has_small_parts(tables))
    if written == rows and not _has_duplicates(load, spaces):
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


def _has_duplicates(load: Load, spaces: Spaces) -> bool:
    vertices = load.spark.read.parquet(reading_path(load.folder / "vertices"))
    keys = ["_id", _space_column(load, spaces)] if spaces.used else ["_id"]
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


def _write_found(load: Load, spaces: Spaces, edges: Sequence[DataFrame], start: int) -> int:
    """Write the distinct endpoints of good edges as vertices numbered from `start`."""
    ends = [
        _endpoints(frame, [spaces.of(space) for space in table.roles.spaces], spaces)
        for frame, table in zip(edges, load.tables.edges, strict=True)
        if any(spaces.of(space) in spaces.found for space in table.roles.spaces)
    ]
    sorted_ids = load.staging / "endpoints"
    distinct = union(ends).distinct().orderBy(*_KEYS)
    distinct.write.parquet(writing_path(sorted_ids))
    found = arrange_parts(sorted_ids)
    check_count(start + found, "vertices")
    numbered = read_sequence(load.spark, sorted_ids).select(
        (F.col("_position") + start).cast("int").alias("_vertex"),
        "_id",
        F.col("_space").alias("_label"),
        *([F.col("_space")] if _space_column(load, spaces) == "_space" else []),
        *no_properties(load.tables.vertex_properties),
    )
    target = load.staging / "vertices-found"
    numbered.write.parquet(writing_path(target))
    arrange_parts(target, ("_vertex",), start)
    _move_parts(target, load.folder / "vertices", found)
    return found


def _endpoints(frame: DataFrame, ends: Sequence[Space], spaces: Spaces) -> DataFrame:
    """Space and id of the endpoints of good edges that have no vertex table. One scan for both."""
    pairs = [
        F.struct(F.lit(space).cast("string").alias("_space"), F.col(key).alias("_id"))
        for space, key in zip(ends, ("_key0", "_key1"), strict=True)
        if space in spaces.found
    ]
    good = frame.where(F.col("_reason").isNull())
    return good.select(F.explode(F.array(*pairs)).alias("end")).select("end._space", "end._id")


def _table_columns(load: Load, spaces: Spaces, checked: DataFrame) -> DataFrame:
    columns: list[Column | str] = ["_number", F.col("_key0").alias("_id"), "_label"]
    if _space_column(load, spaces) == "_space":
        columns.append("_space")
    return checked.select(*columns, *property_columns(load.tables.vertex_properties))


def _space_column(load: Load, spaces: Spaces) -> str:
    """Labels are the spaces, unless rows have labels of their own: then the table has both."""
    own = any(table.roles.label is not None for table in load.tables.vertices)
    return "_space" if own and spaces.used else "_label"


def _move_parts(source: Path, target: Path, rows: int) -> None:
    target.mkdir(exist_ok=True)
    if rows == 0 and any(target.iterdir()):
        return
    for path in source.iterdir():
        path.rename(target / path.name)


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
