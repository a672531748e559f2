"""Files of this machine as Spark reads and writes them: paths, checksums, and scratch folders.

Spark neither decodes nor encodes a path that it is given, so `Path.as_uri` would make it write
`a%20b` for `a b`; and what it reads from is a pattern, in which brackets and stars mean something
unless they are escaped.

Checksums are taken where that is quickest. On one machine that is the threads of this process. On
a cluster, a driver that read a large store alone would take longer than the work itself; there a
job reads the files, each task its own. Spark's `crc32` is the checksum that stores use, so no
Python is needed on the workers.

Jobs hold no frame in memory: they write what they need twice into a scratch folder, and read it
again. Only `scratch_folder` makes such folders, so that none outlives the job that asked for it.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from graphtide.model.disk import checksum_text, checksums_by_threads
from graphtide.spark.failures import translated

_PATTERN = re.compile(r"([\[\]{}*?\\])")


def writing_path(path: Path) -> str:
    """The path in the form in which Spark writes to it."""
    return f"file://{path.absolute()}"


def reading_path(path: Path) -> str:
    """The path in the form in which Spark reads from it, with the signs of patterns escaped."""
    return _PATTERN.sub(r"\\\1", writing_path(path))


@contextlib.contextmanager
def scratch_folder(parent: Path, name: str = "staging") -> Iterator[Path]:
    """A new folder under `parent`, removed after the block."""
    folder = parent / name
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# A job reads a file as one value: at most 2 GB in Spark, and less is kinder to its memory.
_LARGEST = 256 << 20
# What a driver reads alone in the time that a job takes to start.
_SMALL_STORE = 256 << 20


def checksums(spark: SparkSession, paths: Sequence[Path]) -> list[str]:
    """The checksums of files, by threads or by a Spark job, whichever is faster."""
    sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
    if sum(sizes) < _SMALL_STORE or _is_local(spark):
        return checksums_by_threads(paths)
    fitting = [path for path, size in zip(paths, sizes, strict=True) if size <= _LARGEST]
    by_path = checksums_by_job(spark, fitting)
    rest = [path for path in paths if path not in by_path]
    by_path |= zip(rest, checksums_by_threads(rest), strict=True)
    return [by_path[path] for path in paths]


def checksums_by_job(spark: SparkSession, paths: Sequence[Path]) -> dict[Path, str]:
    """The checksums of files that tasks read; files that Spark did not report are left out."""
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
            by_path[path] = checksum_text(row["checksum"])
    return by_path


def _is_local(spark: SparkSession) -> bool:
    return (spark.conf.get("spark.master", None) or "").startswith("local")
