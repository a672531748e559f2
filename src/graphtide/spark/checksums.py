"""Checksums of files, taken where Spark's tasks run.

On one machine the threads of this process are quickest. On a cluster, a driver that read a large
store alone would take longer than the work itself; there a job reads the files, each task its own.
Spark's `crc32` is the checksum that stores use, so no Python is needed on the workers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from graphtide.model.checksums import checksums_by_threads, written
from graphtide.spark.addresses import reading_path
from graphtide.spark.failures import translated

# A job reads a file as one value: at most 2 GB in Spark, and less is kinder to its memory.
_LARGEST = 256 << 20
# What a driver reads alone in the time that a job takes to start.
_SMALL_STORE = 256 << 20


def checksums(spark: SparkSession, paths: Sequence[Path]) -> list[str]:
    """The checksums of files in their order, by threads or by a job, whichever is quicker."""
    sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
    if sum(sizes) < _SMALL_STORE or _is_local(spark):
        return checksums_by_threads(paths)
    fitting = [path for path, size in zip(paths, sizes, strict=True) if size <= _LARGEST]
    by_path = checksums_by_job(spark, fitting)
    rest = [path for path in paths if path not in by_path]
    by_path |= zip(rest, checksums_by_threads(rest), strict=True)
    return [by_path[path] for path in paths]


def checksums_by_job(spark: SparkSession, paths: Sequence[Path]) -> dict[Path, str]:
    """The checksums of files that tasks have read, without those that they did not name."""
    if not paths:
        return {}
    with translated("taking the checksums of the files"):
        frame = spark.read.format("binaryFile").load([reading_path(path) for path in paths])
        rows = frame.select("path", F.crc32("content").alias("checksum")).collect()
    known = {str(path.absolute()): path for path in paths}
    by_path: dict[Path, str] = {}
    for row in rows:
        reported = re.sub("^file:/+", "/", row["path"])
        path = known.get(reported) or known.get(unquote(reported))
        if path is not None:
            by_path[path] = written(row["checksum"])
    return by_path


def _is_local(spark: SparkSession) -> bool:
    return (spark.conf.get("spark.master", None) or "").startswith("local")
