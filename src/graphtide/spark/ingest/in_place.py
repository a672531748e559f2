"""Parquet files of this machine as tables with positions, without a copy of them.

Their footers say how many rows each has, so the position of a row is the rows of the files before
its own plus its index in the file. A file that somebody changes while it is read would give a
graph that never was: sizes and times are noted first and compared when the load is done.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.model.errors import InputError
from graphtide.spark.columns import constant_array
from graphtide.spark.ingest.files import FileList

Stamp = tuple[int, int]


@dataclass(frozen=True)
class Positioned:
    """Rows with their `_position`, how many there are, and the files that tasks read.

    `check` raises if these files have changed since.
    """

    frame: DataFrame
    rows: int
    paths: tuple[Path, ...]
    check: Callable[[], None]


@dataclass(frozen=True)
class Footers:
    """What files were before they were read, and how many rows each has."""

    paths: tuple[Path, ...]
    stamps: tuple[Stamp, ...]
    counts: tuple[int, ...]


def read_footers(found: FileList) -> Footers:
    """The footers of Parquet files of this machine; InputError with the first that has none."""
    paths = tuple(map(Path, found.paths))
    stamps, counts = _stamps(paths), []
    for path in paths:
        with naming_damage(path):
            counts.append(pq.read_metadata(path).num_rows)
    return Footers(paths, stamps, tuple(counts))


@contextlib.contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Let an error of Arrow leave the block as one that names the Parquet file it has read."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(
            f"the file is no Parquet file, or it is cut or damaged: {str(error).splitlines()[0]}",
            where=str(path),
            hint="compare it with where it comes from, or write it again",
        ) from None


def read_in_place(rows: DataFrame, footers: Footers) -> Positioned:
    """Rows that were read with `_file` and `_row`, with their positions among all of them."""
    before = [0, *itertools.accumulate(footers.counts)]
    positioned = rows.withColumn("_position", _before(before[:-1]) + F.col("_row"))
    return Positioned(positioned, before[-1], footers.paths, lambda: _check_unchanged(footers))


def _stamps(paths: Sequence[Path]) -> tuple[Stamp, ...]:
    """What tells a file from a changed one: its size and the time of its last change."""
    facts = [os.stat(path) for path in paths]
    return tuple((item.st_size, item.st_mtime_ns) for item in facts)


def _check_unchanged(footers: Footers) -> None:
    """An error that names the first file that is not what it was."""
    for path, stamp in zip(footers.paths, footers.stamps, strict=True):
        if not path.exists() or _stamps([path]) != (stamp,):
            raise InputError(
                "the file was changed while it was loaded",
                where=str(path),
                hint="load again when nobody writes to it",
            )


def _before(counts: Sequence[int]) -> Column:
    if len(counts) == 1:
        return F.lit(counts[0]).cast("bigint")
    return F.get(constant_array(counts, "bigint"), F.col("_file"))
