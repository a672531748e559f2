"""Sequences: folders of Parquet parts whose rows have positions, without a column for them.

A part's name is the position of its first row, and its rows follow each other; so the position
of a row is the number in the name of its file plus its index in the file. Spark gives both for
free (`_metadata.file_name`, `_metadata.row_index`): dense numbers for any number of rows, with
no sort, no window and nothing collected but the footers of the parts.

Spark writes parts in an order of its own (largest split first). `arrange_parts` renames them by
the order of columns whose smallest value the footers hold.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from graphtide.model.errors import StoreError
from graphtide.spark.addresses import reading_path

_DIGITS = 12


@dataclass(frozen=True)
class Part:
    """What the footer of a part says: rows, and the span of some of its columns."""

    path: Path
    rows: int
    low: tuple[int, ...]
    high: tuple[int, ...]


def arrange_parts(folder: Path, order: Sequence[str] = (), start: int = 0) -> int:
    """Name the parts that Spark wrote by the position of their first row; the number of rows.

    Parts are put in the order of the smallest values of the columns `order`; without columns,
    in the order in which Spark numbered them, which is right after a sort. A part that reaches
    into the next is an error: its rows were not in order.
    """
    parts = [read_part(path, order) for path in _written(folder)]
    full = [part for part in parts if part.rows] or parts[:1]
    full.sort(key=lambda part: part.low)
    _check_disjoint(full, order)
    position = start
    for part in full:
        part.path.rename(folder / part_name(position))
        position += part.rows
    _remove_others(folder)
    return position - start


def part_name(position: int) -> str:
    """The name of the part whose first row has that position."""
    return f"part-{position:0{_DIGITS}d}.parquet"


def positions() -> Column:
    """The position of each row of a sequence just read."""
    name = F.col("_metadata.file_name")
    first = F.substring(name, len("part-") + 1, _DIGITS).cast("bigint")
    return first + F.col("_metadata.row_index")


def read_sequence(spark: SparkSession, folder: Path, schema: StructType) -> DataFrame:
    """All columns of a sequence and `_position`. With the schema known, no job looks for it."""
    frame = spark.read.schema(schema).parquet(reading_path(folder))
    return frame.select("*", positions().alias("_position"))


def count_rows(folder: Path) -> int:
    """The rows of a folder of parts, by their footers."""
    return sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))


def read_part(path: Path, columns: Iterable[str]) -> Part:
    """The footer of a part. Costs one small read."""
    footer = pq.read_metadata(path)
    spans = [_span(footer, name) for name in columns] if footer.num_rows else []
    return Part(path, footer.num_rows, tuple(a for a, _ in spans), tuple(b for _, b in spans))


def remove_marks(folder: Path) -> None:
    """Remove what Spark leaves beside the parts it writes: a mark of success, and checksums."""
    for path in folder.iterdir():
        if path.suffix != ".parquet" or path.name.startswith("."):
            path.unlink()


def _span(footer: pq.FileMetaData, column: str) -> tuple[int, int]:
    place = footer.schema.names.index(column)
    statistics = [
        footer.row_group(group).column(place).statistics for group in range(footer.num_row_groups)
    ]
    return min(item.min for item in statistics), max(item.max for item in statistics)


def _written(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"), key=lambda path: _spark_number(path.name))


def _spark_number(name: str) -> int:
    number = re.match(r"part-(\d+)", name)
    return int(number[1]) if number else 0


def _check_disjoint(parts: Sequence[Part], order: Sequence[str]) -> None:
    for before, after in itertools.pairwise(parts if order else ()):
        if before.high >= after.low:
            raise StoreError(
                "rows were written out of order", where=f"{before.path} and {after.path.name}"
            )


def _remove_others(folder: Path) -> None:
    named = re.compile(rf"part-\d{{{_DIGITS}}}\.parquet")
    for path in folder.iterdir():
        if not named.fullmatch(path.name):
            path.unlink()
