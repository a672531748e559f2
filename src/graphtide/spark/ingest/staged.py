"""A staged table: the rows of one source as they are, with where each came from.

Most sources are copied into parts first. Parquet files of this machine are not: they have types,
positions and a size already, so a copy would only cost a pass; they are read where they are, as
long as nobody changes them meanwhile.

The columns of the source are called `c0`, `c1`, ... in the parts, so that no name of theirs can
meet one of ours. Beside them stand `_file`, `_block` and `_row` (the file, the split of it and
the row within the split, all from zero), `_fault` (why a line could not be taken apart, else
null) and `_raw` (the line itself, where its columns do not tell it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from graphtide.spark.addresses import writing_path
from graphtide.spark.ingest.headers import DeclaredColumn
from graphtide.spark.ingest.source import TableSource

PLACE_COLUMNS = ("_file", "_block", "_row")

# Rows before each (file, block), for files that were read in more than one block.
RowsBefore = Callable[[], dict[tuple[int, int], int]]


def no_rows_before() -> dict[tuple[int, int], int]:
    """Of files read in one block each."""
    return {}


def nothing_to_check() -> None:
    """Of copies: nobody else writes to them."""


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
        """The names of the columns in the files that tasks read."""
        return self.names_in_files or tuple(f"c{place}" for place in range(len(self.columns)))

    @property
    def is_text(self) -> bool:
        """True if the columns are strings whose types are to be found."""
        return self.separator is not None

    def read(self) -> DataFrame:
        """The staged rows with their `_position`."""
        if self.is_text:
            return self.frame
        nothing = F.lit(None).cast("string")
        return self.frame.withColumns({"_fault": nothing, "_raw": nothing})

    def raw_text(self) -> Column:
        """A staged row as the text a user would recognise: its line, or its values as JSON."""
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
    """The parts of a table that was copied."""
    return tuple(folder.glob("*.parquet"))
