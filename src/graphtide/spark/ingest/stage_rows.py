"""Tables that have types already into staged tables: Parquet files, DataFrames and Arrow.

DataFrames are copied by Spark; so are Parquet files that cannot be read where they are. Arrow
data (whatever has `__arrow_c_stream__`: pandas, Polars, DuckDB, ...) is streamed batch by batch
into Parquet by this process, without importing the library that it comes from.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from graphtide.model.errors import InputError
from graphtide.spark.addresses import reading_path, writing_path
from graphtide.spark.ingest.arrow_parts import write_arrow_parts
from graphtide.spark.ingest.convert import property_type_of
from graphtide.spark.ingest.files import FileList
from graphtide.spark.ingest.in_place import Positioned, read_footers, read_in_place
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.parts import arrange_parts, read_part, read_sequence
from graphtide.spark.ingest.source import TableSource
from graphtide.spark.ingest.staged import (
    PLACE_COLUMNS,
    StagedTable,
    nothing_to_check,
    staged_paths,
    write_staged,
)
from graphtide.spark.ingest.text_files import LinkedFiles, link_files, row_in_task

_VERIFY_PAGES = "parquet.page.verify-checksum.enabled"
_PLACES = [
    T.StructField("_file", T.IntegerType()),
    T.StructField("_block", T.LongType()),
    T.StructField("_row", T.LongType()),
]
STAGED_TYPES: dict[pa.DataType, T.DataType] = {
    pa.bool_(): T.BooleanType(),
    pa.int64(): T.LongType(),
    pa.float64(): T.DoubleType(),
    pa.string(): T.StringType(),
    pa.date32(): T.DateType(),
    pa.timestamp("us", tz="UTC"): T.TimestampType(),
    pa.timestamp("us"): T.TimestampNTZType(),
}
"""How Spark reads what Arrow data is staged as."""


def stage_parquet(
    spark: SparkSession,
    table: TableSource,
    found: FileList,
    options: IngestOptions,
    folder: Path,
) -> StagedTable:
    """Parquet files, each row with its file and its row in that file.

    Files of this machine are read where they are. Others, and those whose folders hold columns, are
    copied: their footers cannot be read here, or do not tell all.
    """
    footers = read_footers(found) if found.local else None
    reader = spark.read.option("mergeSchema", len(found.paths) > 1).option(_VERIFY_PAGES, True)
    if _is_partitioned(found):
        footers = None
    if _is_partitioned(found):
        frame = reader.option("basePath", _root(found)).parquet(*_addresses(found.paths))
        found = FileList(tuple(sorted(frame.inputFiles())), "parquet", local=False)
        files = LinkedFiles(_as_reported(found.paths), linked=False)
    else:
        files = link_files(found, folder.with_name(folder.name + "-files"))
        frame = reader.parquet(*files.paths)
    columns = kept_columns(table, frame.columns, options)
    places = [
        files.number().alias("_file"),
        F.lit(0).cast("bigint").alias("_block"),
        F.col("_metadata.row_index").alias("_row"),
    ]
    cells = [_quoted(name).alias(f"c{to}") for to, (_, name) in enumerate(columns)]
    types = [frame.schema.fields[place].dataType for place, _ in columns]
    _check_types(table, columns, types, options)
    rows = frame.select(*places, *cells)
    positioned = read_in_place(rows, footers) if footers else _copied(spark, rows, folder)
    names = tuple(name for _, name in columns)
    return StagedTable(
        table,
        positioned.frame,
        positioned.rows,
        positioned.paths,
        names,
        tuple(types),
        found.paths,
        left_out=_left_out(frame.columns, names),
        check_unchanged=positioned.check,
        names_in_files=tuple(frame.columns[place] for place, _ in columns) if footers else None,
    )


def _copied(spark: SparkSession, rows: DataFrame, folder: Path) -> Positioned:
    write_staged(rows, folder)
    count = arrange_parts(folder, PLACE_COLUMNS)
    frame = read_sequence(spark, folder, rows.schema)
    return Positioned(frame, count, staged_paths(folder), nothing_to_check)


def stage_frame(
    spark: SparkSession, table: TableSource, options: IngestOptions, folder: Path
) -> StagedTable:
    """Copy a DataFrame, in the session that it belongs to; rows count over all partitions."""
    frame: DataFrame = table.data
    columns = kept_columns(table, frame.columns, options)
    types = [frame.schema.fields[place].dataType for place, _ in columns]
    _check_types(table, columns, types, options)
    renamed = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    places = [
        F.lit(0).alias("_file"),
        F.spark_partition_id().cast("bigint").alias("_block"),
        row_in_task().alias("_row"),
    ]
    cells = [F.col(f"c{place}").alias(f"c{to}") for to, (place, _) in enumerate(columns)]
    rows = renamed.select(*places, *cells)
    write_staged(rows, folder)
    before = _rows_before(folder)
    count = arrange_parts(folder, ("_block", "_row"))
    names = tuple(name for _, name in columns)
    return StagedTable(
        table,
        read_sequence(spark, folder, rows.schema),
        count,
        staged_paths(folder),
        names,
        tuple(types),
        ("DataFrame",),
        rows_before=lambda: before,
        left_out=_left_out(frame.columns, names),
    )


def stage_arrow(
    spark: SparkSession, table: TableSource, options: IngestOptions, folder: Path
) -> StagedTable:
    """Stream Arrow batches into Parquet parts."""
    written = write_arrow_parts(
        table.name, table.data, folder, lambda names: kept_columns(table, names, options)
    )
    types = tuple(STAGED_TYPES[type_] for type_ in written.types)
    cells = [T.StructField(f"c{place}", type_) for place, type_ in enumerate(types)]
    schema = T.StructType([*_PLACES, *cells])
    what = f"{type(table.data).__module__.split('.')[0]} {type(table.data).__name__}"
    return StagedTable(
        table,
        read_sequence(spark, folder, schema),
        written.rows,
        staged_paths(folder),
        written.columns,
        types,
        (what,),
        left_out=_left_out(written.found, written.columns),
        notes=written.notes,
    )


def kept_columns(
    table: TableSource, names: Sequence[str], options: IngestOptions
) -> list[tuple[int, str]]:
    """Place and name of the columns to stage: all but those to drop and pandas' nameless index."""
    given = options.columns_of(table.kind)
    if given is not None and len(given) != len(names):
        raise InputError(
            f"{table.name}: {len(given)} names are given for {len(names)} columns",
            where=f"columns found: {', '.join(names)}",
        )
    return [
        (place, name)
        for place, name in enumerate(given or names)
        if not {name, f"{table.kind}.{name}"} & set(options.drop)
        and not name.startswith("__index_level_")
    ]


def _left_out(found: Sequence[str], kept: Sequence[str]) -> tuple[str, ...]:
    return tuple(set(found) - set(kept))


def _check_types(
    table: TableSource,
    kept: Sequence[tuple[int, str]],
    types: Sequence[T.DataType],
    options: IngestOptions,
) -> None:
    for (_, name), type_ in zip(kept, types, strict=True):
        if property_type_of(type_) is None:
            raise InputError(
                f"{table.name}: the column '{name}' is of type {type_.simpleString()}, "
                "which no property can have",
                hint=f"leave it out with {options.said('drop', (name,))}, "
                "or take its parts into columns",
            )


def _rows_before(folder: Path) -> dict[tuple[int, int], int]:
    """Rows before each partition of a DataFrame just written."""
    parts = [read_part(path, ("_block",)) for path in folder.glob("part-*.parquet")]
    before: dict[tuple[int, int], int] = {}
    rows = 0
    for part in sorted((part for part in parts if part.rows), key=lambda part: part.low):
        before.setdefault((0, part.low[0]), rows)
        rows += part.rows
    return before


def _quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def _is_partitioned(found: FileList) -> bool:
    return found.local and any("=" in Path(path).parent.name for path in found.paths)


def _root(found: FileList) -> str:
    folders = [Path(path).parent for path in found.paths]
    common = Path(os.path.commonpath(folders))
    while "=" in common.name:
        common = common.parent
    return writing_path(common)


def _addresses(paths: Sequence[str]) -> list[str]:
    return [reading_path(Path(path)) for path in paths]


def _as_reported(paths: Sequence[str]) -> tuple[str, ...]:
    """Addresses as rows report them: `file:/` where the list of files has `file:///`."""
    return tuple(path.replace("file:///", "file:/", 1) for path in paths)
