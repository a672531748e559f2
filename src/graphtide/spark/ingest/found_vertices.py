"""Vertices that have no table: the ends of edges, sorted by space and id.

Arrow finds the distinct ends of plain tables, tasks those of all others; the driver sorts and
numbers them, unless they are too many for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from graphtide.spark.addresses import reading_path, writing_path
from graphtide.spark.ingest.checked import no_properties, union
from graphtide.spark.ingest.driver_ends import ends_by_arrow
from graphtide.spark.ingest.driver_ids import fits_driver, read_columns, write_sorted_ids
from graphtide.spark.ingest.load import Load, check_count
from graphtide.spark.ingest.parts import arrange_parts, count_rows, read_sequence
from graphtide.spark.ingest.spaces import Space, Spaces

# So many rows are looked at by one task, which needs no shuffle to find what is distinct.
_FEW_ROWS = 200_000


def write_found(
    load: Load, spaces: Spaces, edges: Sequence[DataFrame], start: int, *, has_space: bool
) -> int:
    """Write the distinct endpoints of good edges as vertices numbered from `start`."""
    tables = load.tables
    ids = ends_by_arrow(tables.edges, tables.id_type, spaces)
    if ids is None:
        folder = load.staging / "endpoints"
        distinct = _distinct_ends(load, spaces, edges)
        distinct.write.parquet(writing_path(folder))
        count = count_rows(folder)
        check_count(start + count, "vertices")
        if not fits_driver(count, tables.id_type):
            ends = load.spark.read.schema(distinct.schema).parquet(reading_path(folder))
            _write_by_jobs(load, ends, start, has_space=has_space)
            return count
        ids = read_columns(folder, ("_space", "_id"))
    target = load.folder / "vertices"
    write_sorted_ids(ids, target, start, tables.vertex_properties, has_space=has_space)
    return int(ids.num_rows)


def _distinct_ends(load: Load, spaces: Spaces, edges: Sequence[DataFrame]) -> DataFrame:
    ends = union(
        [
            _ends(frame, [spaces.of(space) for space in table.roles.spaces], spaces)
            for frame, table in zip(edges, load.tables.edges, strict=True)
            if any(spaces.of(space) in spaces.found for space in table.roles.spaces)
        ]
    )
    rows = sum(table.staged.rows for table in load.tables.edges)
    distinct = (ends.coalesce(1) if rows <= _FEW_ROWS else ends).distinct()
    no_space = F.lit(None).cast("string").alias("_space")
    return distinct if spaces.used else distinct.select(no_space, "_id")


def _ends(frame: DataFrame, ends: Sequence[Space], spaces: Spaces) -> DataFrame:
    """The ends of good edges that have no vertex table, by one scan for both.

    Where there is one space they are ids alone, of which Spark finds what is distinct much
    sooner than of structs.
    """
    good = frame.where(F.col("_reason").isNull())
    if not spaces.used:
        return good.select(F.explode(F.array("_key0", "_key1")).alias("_id"))
    pairs = [
        F.struct(F.lit(space).cast("string").alias("_space"), F.col(key).alias("_id"))
        for space, key in zip(ends, ("_key0", "_key1"), strict=True)
        if space in spaces.found
    ]
    return good.select(F.explode(F.array(*pairs)).alias("end")).select("end._space", "end._id")


def _write_by_jobs(load: Load, ends: DataFrame, start: int, *, has_space: bool) -> None:
    """Sort by one job and number by another: for ids that only tasks together can hold."""
    folder = load.staging / "endpoints-sorted"
    ends.orderBy("_space", "_id").write.parquet(writing_path(folder))
    arrange_parts(folder)
    numbered = read_sequence(load.spark, folder, ends.schema).select(
        (F.col("_position") + start).cast("int").alias("_vertex"),
        "_id",
        F.col("_space").alias("_label"),
        *([F.col("_space")] if has_space else []),
        *no_properties(load.tables.vertex_properties),
    )
    target = load.staging / "vertices-found"
    numbered.write.parquet(writing_path(target))
    arrange_parts(target, ("_vertex",), start)
    _move_parts(target, load.folder / "vertices")


def _move_parts(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        path.rename(target / path.name)
