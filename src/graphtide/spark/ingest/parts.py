"""Staged tables: the rows of one source as they are, in Parquet parts, with where each came from.

A part's name is the position of its first row, and its rows follow each other; so the position of
a row is the number in the name of its file plus its index in the file. Spark gives both for free
(`_metadata.file_name`, `_metadata.row_index`): dense numbers for any number of rows, with no
sort, no window and nothing collected but the footers of the parts. Spark writes parts in an order
of its own (largest split first). `arrange_parts` renames them by the order of columns whose
smallest value the footers hold.

Most sources are copied into parts first. Parquet files of this machine are not: they have types,
positions and a size already, so a copy would only cost a pass; they are read where they are, as
long as nobody changes them meanwhile.

The columns of the source are called `c0`, `c1`, ... in the parts, so that no name of theirs can
meet one of ours. Beside them stand `_file`, `_block` and `_row` (the file, the split of it and
the row within the split, all from zero), `_fault` (why a line could not be taken apart, else
null) and `_raw` (the line itself, where its columns do not tell it).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from graphtide.model.errors import StoreError
from graphtide.spark.files import reading_path, writing_path
from graphtide.spark.ingest.roles import DeclaredColumn
from graphtide.spark.ingest.source import TableSource

_DIGITS = 12


@dataclass(frozen=True)
class ParquetPart:
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
    """The name of the part whose first row has this position."""
    return f"part-{position:0{_DIGITS}d}.parquet"


def positions() -> Column:
    """The position of each row of a sequence that was just read."""
    name = F.col("_metadata.file_name")
    first = F.substring(name, len("part-") + 1, _DIGITS).cast("bigint")
    return first + F.col("_metadata.row_index")


def read_sequence(spark: SparkSession, folder: Path, schema: StructType) -> DataFrame:
    """A sequence with `_position`. The schema is given, so no job has to find it."""
    frame = spark.read.schema(schema).parquet(reading_path(folder))
    return frame.select("*", positions().alias("_position"))


def count_rows(folder: Path) -> int:
    """The rows of a folder of parts, by footers."""
    return sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))


def read_part(path: Path, columns: Iterable[str]) -> ParquetPart:
    """The footer of a part: one small read."""
    footer = pq.read_metadata(path)
    spans = [_span(footer, name) for name in columns] if footer.num_rows else []
    return ParquetPart(
        path, footer.num_rows, tuple(a for a, _ in spans), tuple(b for _, b in spans)
    )


def remove_marks(folder: Path) -> None:
    """Remove what Spark leaves beside the parts: a mark of success, and checksums."""
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


def _check_disjoint(parts: Sequence[ParquetPart], order: Sequence[str]) -> None:
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


PLACE_COLUMNS = ("_file", "_block", "_row")

# Rows before each (file, block), for files that were read in more than one block.
RowsBefore = Callable[[], dict[tuple[int, int], int]]


def no_rows_before() -> dict[tuple[int, int], int]:
    """For files that were read in one block each."""
    return {}


def nothing_to_check() -> None:
    """For copies, which nobody else writes to."""


@dataclass(frozen=True)
class StagedTable:
    """One table of the graph, staged.

    `frame` holds its rows with their `_position`. `types` are the Spark types of its columns; for
    text all of them are strings, and `separator` is what rows without a `_raw` were joined by.
    `paths` are the files that tasks read; `check_unchanged` raises if they are not ours and
    somebody has changed them. `left_out` are columns that were not staged. `notes` are about
    columns of texts that nearly all are numbers, by their names.
    """

    table: TableSource
    frame: DataFrame
    rows: int
    paths: tuple[Path, ...]
    columns: tuple[str, ...]
    types: tuple[DataType, ...]
    files: tuple[str, ...]
    separator: str | None = None
    declared: tuple[DeclaredColumn, ...] | None = None
    rows_before: RowsBefore = no_rows_before
    check_unchanged: Callable[[], None] = nothing_to_check
    left_out: tuple[str, ...] = ()
    names_in_files: tuple[str, ...] | None = None
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def stored(self) -> tuple[str, ...]:
        """The names of the columns in the staged files."""
        return self.names_in_files or tuple(f"c{place}" for place in range(len(self.columns)))

    @property
    def is_text(self) -> bool:
        """True if the columns are texts whose types are still to be found."""
        return self.separator is not None

    def read(self) -> DataFrame:
        """The staged rows with their `_position`."""
        if self.is_text:
            return self.frame
        nothing = F.lit(None).cast("string")
        return self.frame.withColumns({"_fault": nothing, "_raw": nothing})

    def raw_text(self) -> Column:
        """A staged row as text for the user: its line, or its values as JSON."""
        cells = [F.col(f"c{place}") for place in range(len(self.columns))]
        if self.separator is not None:
            texts = [F.coalesce(cell, F.lit("")) for cell in cells]
            return F.coalesce(F.col("_raw"), F.concat_ws(self.separator, *texts))
        named = [cell.alias(name) for cell, name in zip(cells, self.columns, strict=True)]
        return F.to_json(F.struct(*named))


def write_staged(rows: DataFrame, folder: Path) -> None:
    """Write rows that are read a few times and then gone: quick to write, in small row groups.

    The rows of one large file are then read by several tasks.
    """
    writer = rows.write.option("compression", "snappy").option("parquet.block.size", 32 << 20)
    writer.parquet(writing_path(folder))


def staged_paths(folder: Path) -> tuple[Path, ...]:
    """The parts of a copied table."""
    return tuple(folder.glob("*.parquet"))
