"""Ids that the driver looks at itself: those of graphs whose ids go to every task anyway.

Spark sends a broadcast table through the driver, so ids that are few enough for that are few
enough to be sorted, numbered or counted there by Arrow. A job for it would take longer than the
work: a sort alone is two jobs and a shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.schema import Property, PropertyType
from graphtide.spark.ingest.parts import part_name

# Vertices whose ids are sent to every task. An int id with its number takes some 40 bytes in
# Spark's hash table, a string three times that: at most 200 MB.
BROADCAST_VERTICES = {PropertyType.INT: 5_000_000}
_BROADCAST_OTHERS = 1_500_000
ARROW_TYPES = {
    PropertyType.STRING: pa.string(),
    PropertyType.INT: pa.int64(),
    PropertyType.FLOAT: pa.float64(),
    PropertyType.BOOL: pa.bool_(),
    PropertyType.DATE: pa.date32(),
    PropertyType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


def fits_driver(vertices: int, id_type: PropertyType) -> bool:
    """Whether the ids of so many vertices go to every task, and so through the driver."""
    return vertices <= BROADCAST_VERTICES.get(id_type, _BROADCAST_OTHERS)


def distinct_rows(folder: Path, columns: Sequence[str]) -> int:
    """How many different rows a folder of parts has in some columns."""
    table = read_columns(folder, columns)
    return int(table.group_by(list(columns)).aggregate([]).num_rows)


def write_sorted_ids(
    ids: pa.Table, target: Path, start: int, properties: Sequence[Property], *, has_space: bool
) -> None:
    """Write a part of the vertex table: some `_space` and `_id`, sorted and numbered."""
    ids = ids.sort_by([("_space", "ascending"), ("_id", "ascending")])
    columns = {
        "_vertex": pa.array(np.arange(start, start + ids.num_rows, dtype=np.int32)),
        "_id": ids.column("_id"),
        "_label": ids.column("_space"),
    }
    columns |= {"_space": ids.column("_space")} if has_space else {}
    nothing = {item.name: pa.nulls(ids.num_rows, ARROW_TYPES[item.type]) for item in properties}
    target.mkdir(exist_ok=True)
    if ids.num_rows or not any(target.iterdir()):
        pq.write_table(pa.table(columns | nothing), target / part_name(start), compression="zstd")


def read_columns(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of all parts of a folder, whether a part may hold missing values or not."""
    paths = sorted(folder.glob("*.parquet"))
    parts = [pq.read_table(path, columns=list(columns)) for path in paths]
    return pa.table(
        {
            name: pa.chunked_array(
                [chunk for part in parts for chunk in part.column(name).chunks],
                parts[0].schema.field(name).type,
            )
            for name in columns
        }
    )
