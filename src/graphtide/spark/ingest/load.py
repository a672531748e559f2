"""A load in progress: what its steps share, and how they write.

Rows are written with the numbers they have in the input, in order. If none of them was bad,
these numbers are dense and the table is done. Otherwise the good rows are written once more,
numbered by their positions among themselves: the price of bad rows is paid by those who have
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.edge_numbers import MOST_EDGES, is_wide
from graphtide.model.errors import LimitError
from graphtide.spark.addresses import writing_path
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.parts import arrange_parts, read_sequence
from graphtide.spark.ingest.typed import TypedTable, TypedTables

MOST = {"vertices": 2**31 - 1, "edges": MOST_EDGES}
"""Vertices are numbered by 32 bits, whatever the number of edges."""
# Tables staged in more parts than this, of less than a megabyte each, are written in fewer.
_MANY_PARTS, _SMALL_PART = 64, 1 << 20


@dataclass(frozen=True)
class Load:
    """One load: the private session, the folder of the generation, and a folder for the while."""

    spark: SparkSession
    folder: Path
    staging: Path
    options: IngestOptions
    tables: TypedTables

    def write_numbered(
        self, rows: DataFrame, name: str, number: str, most: int, *, sort: bool
    ) -> int:
        """Write rows, up to `most`, in the order of their `_number`, called `number` in the table.

        `sort` where the frame's partitions are not already spans of that order.
        """
        type_ = "bigint" if name == "edges" and is_wide(most) else "int"
        written = rows.withColumn("_number", F.col("_number").cast(type_))
        written = written.withColumnRenamed("_number", number)
        if sort:
            written = written.orderBy(number)
        written.write.parquet(writing_path(self.folder / name))
        return arrange_parts(self.folder / name, (number,))

    def write_renumbered(self, rows: DataFrame, name: str, number: str) -> int:
        """Write rows in the order of their `_number`, numbered anew without gaps."""
        kept = self.staging / f"{name}-kept"
        rows.orderBy("_number").write.parquet(writing_path(kept))
        count = arrange_parts(kept, ("_number",))
        dense = read_sequence(self.spark, kept, rows.schema)
        columns: list[Column | str] = [F.col("_position").alias("_number")]
        columns += [_quoted(column) for column in rows.columns if column != "_number"]
        return self.write_numbered(dense.select(*columns), name, number, count, sort=False)


def check_size(tables: Sequence[TypedTable], kind: str) -> int:
    """The rows of all tables of a kind, if one graph can hold so many."""
    rows = sum(table.staged.rows for table in tables)
    check_count(rows, kind, f"rows of {kind}")
    return rows


def check_count(rows: int, kind: str, what: str = "") -> None:
    """An error if there are more vertices, or edges, than one graph can hold."""
    if rows > MOST[kind]:
        raise LimitError(
            f"{rows:,} {what or kind} are more than one graph can hold ({MOST[kind]:,})",
            hint="load a part of them, or split the graph",
        )


def has_small_parts(tables: Sequence[TypedTable]) -> bool:
    """True if the staged parts are so many and so small that fewer, sorted, are better."""
    parts = [path for table in tables for path in table.staged.paths]
    size = sum(path.stat().st_size for path in parts)
    return len(parts) > _MANY_PARTS and size < _SMALL_PART * len(parts)


def _quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")
