"""The edge table: rows in input order, endpoints replaced by vertex numbers.

The ids of the vertices go to every task where they are small enough; then an edge is looked up
where it is read, and nothing is shuffled. Otherwise edges are joined by shuffle and sorted back
into the order of the input.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.spark.ingest.checked import (
    REJECTED_COLUMNS,
    name_of_key,
    place_columns,
    property_columns,
    union,
)
from graphtide.spark.ingest.driver_ids import fits_driver
from graphtide.spark.ingest.load import Load, check_size, has_small_parts
from graphtide.spark.ingest.rejected import reject
from graphtide.spark.ingest.roles import PropertyColumn, Roles
from graphtide.spark.ingest.spaces import Spaces
from graphtide.spark.ingest.vertices import vertex_ids


def write_edges(
    load: Load, spaces: Spaces, checked: Sequence[DataFrame], vertices: int
) -> tuple[int, int]:
    """Write `edges/` and return how many there are and how many rows were set aside."""
    tables = load.tables.edges
    rows = check_size(tables, "edges")
    broadcast = fits_driver(vertices, load.tables.id_type)
    resolved = union(
        [
            _resolved(load, spaces, frame, table.roles, broadcast=broadcast)
            for frame, table in zip(checked, tables, strict=True)
        ]
    )
    good = _table_columns(load, resolved.where(F.col("_reason").isNull()))
    sort = not broadcast or has_small_parts(tables)
    written = load.write_numbered(good, "edges", "_edge", rows, sort=sort)
    if written == rows:
        return written, 0
    bad = resolved.where(F.col("_reason").isNotNull())
    rejected = reject(load, "edge", tables, bad)
    for path in (load.folder / "edges").iterdir():
        path.unlink()
    (load.folder / "edges").rmdir()
    return load.write_renumbered(good, "edges", "_edge"), rejected


def _resolved(
    load: Load,
    spaces: Spaces,
    frame: DataFrame,
    roles: Roles,
    *,
    broadcast: bool,
) -> DataFrame:
    """Checked edges with `_src` and `_dst`, and a reason where one of them is unknown."""
    ends = zip(("_key0", "_key1"), ("_src", "_dst"), roles.spaces, strict=True)
    for key, name, space in ends:
        ids = vertex_ids(load, spaces, spaces.of(space)).select(
            F.col("_id").alias(f"{name}_id"), F.col("_vertex").alias(name)
        )
        known = F.broadcast(ids) if broadcast else ids
        frame = frame.join(known, F.col(key) == F.col(f"{name}_id"), "left")
    unknown = [_unknown(*end) for end in zip(("src", "dst"), roles.keys, strict=True)]
    reason = F.coalesce(F.col("_reason"), *unknown)
    places = [name for name in REJECTED_COLUMNS if name != "_reason"]
    properties = [f"p{place}" for place in range(len(load.tables.edge_properties))]
    return frame.select(*places, reason.alias("_reason"), "_src", "_dst", "_label", *properties)


def _unknown(end: str, column: PropertyColumn) -> Column:
    return F.when(F.col(f"_{end}").isNull(), f"unknown {name_of_key(end, column)}")


def _table_columns(load: Load, resolved: DataFrame) -> DataFrame:
    properties = property_columns(load.tables.edge_properties)
    places = place_columns(load.options)
    return resolved.select("_number", "_src", "_dst", "_label", *properties, *places)
