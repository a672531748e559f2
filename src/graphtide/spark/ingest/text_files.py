"""The lines of text files, each with its file and its number.

Local files are read through links named by their number in the list: any name will do, hidden,
with colons or with stars, and a row knows its file by a few digits of the link's name. Files that
Spark cannot read as they are have a copy in place of a link: what it cannot unpack, and Parquet
files with times in nanoseconds, as pandas writes them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.disk import disk_error
from graphtide.model.errors import InputError
from graphtide.spark.addresses import reading_path
from graphtide.spark.ingest.files import FileList, is_zstandard

_DIGITS = 7
_ROW_BITS = (1 << 33) - 1
_UNPACKED = 1 << 22


@dataclass(frozen=True)
class LinkedFiles:
    """Files as Spark is to read them: a folder of numbered links, or addresses as they are."""

    paths: tuple[str, ...]
    linked: bool

    def number(self) -> Column:
        """The place in the list of the file a row was read from."""
        if self.linked:
            return F.substring("_metadata.file_name", 1, _DIGITS).cast("int")
        if len(self.paths) == 1:
            return F.lit(0)
        addresses = F.array(*(F.lit(path) for path in self.paths))
        return (F.array_position(addresses, F.col("_metadata.file_path")) - 1).cast("int")


def link_files(found: FileList, folder: Path) -> LinkedFiles:
    """Links to local files in a new folder; other files stay where they are."""
    if not found.local:
        return LinkedFiles(found.paths, linked=False)
    folder.mkdir(parents=True)
    for place, path in enumerate(found.paths):
        name = folder / f"{place:0{_DIGITS}d}{_suffix(path, found.format)}"
        if found.format == "text" and is_zstandard(path):
            _unpack(path, name)
        elif found.format == "parquet" and has_nanoseconds(pq.read_schema(path)):
            _write_microseconds(path, name)
        else:
            os.symlink(path, name)
    return LinkedFiles((reading_path(folder),), linked=True)


def _unpack(path: str, target: Path) -> None:
    """Write the plain text of a Zstandard file: Spark itself needs a library for those."""
    try:
        with pa.input_stream(path, compression="zstd") as packed, open(target, "wb") as plain:
            while content := packed.read(_UNPACKED):
                plain.write(content)
    except OSError as error:
        if error.errno is None:
            raise InputError(f"the file cannot be unpacked: {error}", where=path) from None
        raise disk_error(error, f"the text of '{path}'", target) from None


def has_nanoseconds(schema: pa.Schema) -> bool:
    """Whether a column has times in nanoseconds, which Spark refuses to read."""
    return any(_in_microseconds(field.type) is not field.type for field in schema)


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    is_nanoseconds = pa.types.is_timestamp(kind) and kind.unit == "ns"
    return pa.timestamp("us", kind.tz) if is_nanoseconds else kind


def _write_microseconds(path: str, target: Path) -> None:
    """Write a Parquet file with its times in microseconds, cut off, as those of frames are."""
    source = pq.ParquetFile(path)
    fields = [field.with_type(_in_microseconds(field.type)) for field in source.schema_arrow]
    schema = pa.schema(fields)
    try:
        with pq.ParquetWriter(target, schema) as writer:
            for batch in source.iter_batches():
                columns = [
                    column.cast(field.type, safe=False)
                    for column, field in zip(batch.columns, fields, strict=True)
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    except OSError as error:
        raise disk_error(error, f"the rows of '{path}'", target) from None


def row_in_task() -> Column:
    """The number of a row within its task, from zero."""
    return F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_BITS))


def read_lines(spark: SparkSession, files: LinkedFiles) -> DataFrame:
    """Every line of the files: `value`, `_file`, `_block` and `_row`."""
    return spark.read.text(list(files.paths)).select(
        "value",
        files.number().alias("_file"),
        F.col("_metadata.file_block_start").alias("_block"),
        row_in_task().alias("_row"),
    )


def count_lines_before(spark: SparkSession, files: LinkedFiles) -> dict[tuple[int, int], int]:
    """The number of lines before each block of each file. Reads all of the files."""
    counted = read_lines(spark, files).groupBy("_file", "_block").count()
    before: dict[tuple[int, int], int] = {}
    lines, last = 0, -1
    for file, block, count in sorted((row[0], row[1], row[2]) for row in counted.collect()):
        lines = lines if file == last else 0
        before[file, block] = lines
        lines, last = lines + count, file
    return before


def _suffix(path: str, format: str) -> str:
    if format == "parquet":
        return ".parquet"
    return Path(path).suffix.lower() if path.lower().endswith((".gz", ".bz2")) else ".txt"
