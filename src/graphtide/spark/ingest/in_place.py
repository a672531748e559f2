"""Parquet files of this machine as tables with positions, without a copy of them.

Their footers say how many rows each has, so the position of a row is the rows of the files before
its own plus its index in the file. A file that somebody changes while it is read would give a
graph that never was: sizes and times are noted first and compared when the load is done.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

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


def read_in_place(rows: DataFrame, found: FileList) -> Positioned:
    """Rows that were read with `_file` and `_row`, with their positions among all of them."""
    paths = tuple(map(Path, found.paths))
    noted = _stamps(paths)
    counts = [pq.read_metadata(path).num_rows for path in paths]
    before = [0, *itertools.accumulate(counts)]
    positioned = rows.withColumn("_position", _before(before[:-1]) + F.col("_row"))
    return Positioned(positioned, before[-1], paths, lambda: _check_unchanged(paths, noted))


def _stamps(paths: Sequence[Path]) -> tuple[Stamp, ...]:
    """What tells a file from a changed one: its size and the time of its last change."""
    facts = [os.stat(path) for path in paths]
    return tuple((item.st_size, item.st_mtime_ns) for item in facts)


def _check_unchanged(paths: Sequence[Path], noted: Sequence[Stamp]) -> None:
    """An error that names the first file that is not what it was."""
    for path, stamp in zip(paths, noted, strict=True):
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
