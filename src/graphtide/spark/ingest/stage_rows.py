"""Tables that have types already into staged tables: Parquet files, DataFrames and Arrow.

Parquet files of this machine are read where they are, without a copy. Their footers say how many
rows each has, so the position of a row is the rows of the files before its own plus its index in
the file. A file that somebody changes while it is read would give a graph that never was: sizes
and times are noted first and compared when the load is done. DataFrames are copied by Spark, and
so are Parquet files that cannot be read where they are.

Arrow data (whatever has `__arrow_c_stream__`: pandas, Polars, DuckDB, ...) is streamed batch by
batch into Parquet by this process, without importing the library that it comes from. Every column
becomes one of the types that properties have; a column that cannot raises an error that names it.
Values keep their meaning: an unsigned number that does not fit is an error, not a negative one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from graphtide.model.column_types import ARROW_TYPES, taken_as
from graphtide.model.errors import InputError
from graphtide.model.mixed_values import TextsOfNumbers, mixed_columns_error
from graphtide.spark.columns import constant_array
from graphtide.spark.files import reading_path, writing_path
from graphtide.spark.frames import SPARK_TYPES, quoted
from graphtide.spark.ingest.files import FileList
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.parts import (
    PLACE_COLUMNS,
    StagedTable,
    arrange_parts,
    nothing_to_check,
    part_name,
    read_part,
    read_sequence,
    staged_paths,
    write_staged,
)
from graphtide.spark.ingest.source import TableSource
from graphtide.spark.ingest.stage_text import LinkedFiles, link_files, row_in_task
from graphtide.spark.ingest.values import property_type_of

Stamp = tuple[int, int]


@dataclass(frozen=True)
class PositionedRows:
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
    """The footers of local Parquet files; InputError for the first bad file."""
    paths = tuple(map(Path, found.paths))
    stamps, counts = _stamps(paths), []
    for path in paths:
        with naming_damage(path):
            counts.append(pq.read_metadata(path).num_rows)
    return Footers(paths, stamps, tuple(counts))


@contextlib.contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Turn errors of Arrow into an error that names the Parquet file."""
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


def read_in_place(rows: DataFrame, footers: Footers) -> PositionedRows:
    """Rows that have `_file` and `_row`, with their positions among all rows."""
    before = [0, *itertools.accumulate(footers.counts)]
    positioned = rows.withColumn("_position", _before(before[:-1]) + F.col("_row"))
    return PositionedRows(positioned, before[-1], footers.paths, lambda: _check_unchanged(footers))


def _stamps(paths: Sequence[Path]) -> tuple[Stamp, ...]:
    """Size and modification time of each file."""
    facts = [os.stat(path) for path in paths]
    return tuple((item.st_size, item.st_mtime_ns) for item in facts)


def _check_unchanged(footers: Footers) -> None:
    """InputError for the first file that was changed meanwhile."""
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


_PART_ROWS = 2_000_000
_ARROW_PLACES = [("_file", pa.int32()), ("_block", pa.int64()), ("_row", pa.int64())]

KeptColumns = Callable[[Sequence[str]], list[tuple[int, str]]]


@dataclass(frozen=True)
class WrittenParts:
    """How many rows were written; names and types of the columns `c0`, `c1`, ...; all names."""

    rows: int
    columns: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    found: tuple[str, ...]
    notes: tuple[tuple[str, str], ...] = ()
    """Columns of texts that nearly all are numbers: their names, and what to report of them."""


def write_arrow_parts(
    what: str, data: Any, folder: Path, kept_columns: KeptColumns
) -> WrittenParts:
    """Write anything with `__arrow_c_stream__` as parts, one batch in memory at a time."""
    reader = _reader(what, data)
    columns = kept_columns(reader.schema.names)
    fields = [(name, reader.schema.field(place).type) for place, name in columns]
    targets = [target_type(what, name, type_) for name, type_ in fields]
    schema = pa.schema(
        [*_ARROW_PLACES, *((f"c{place}", target) for place, target in enumerate(targets))]
    )
    places = [place for place, _ in columns]
    folder.mkdir(parents=True)
    rows = 0
    texts = [
        (f"c{place}", TextsOfNumbers(name))
        for place, ((name, _), target) in enumerate(zip(fields, targets, strict=True))
        if pa.types.is_string(target)
    ]
    for part in _part_sized(_converted(what, reader, places, schema)):
        for column, text in texts:
            text.look(part.column(column).combine_chunks())
        pq.write_table(part, folder / part_name(rows), row_group_size=_PART_ROWS // 4)
        rows += part.num_rows
    if rows == 0:
        pq.write_table(schema.empty_table(), folder / part_name(0))
    names = tuple(name for _, name in columns)
    notes = tuple((text.name, text.note) for _, text in texts if text.note is not None)
    return WrittenParts(rows, names, tuple(targets), tuple(reader.schema.names), notes)


def target_type(what: str, name: str, type_: pa.DataType) -> pa.DataType:
    """The Arrow type in which a column is staged."""
    if isinstance(type_, pa.DictionaryType):
        return target_type(what, name, type_.value_type)
    if isinstance(type_, pa.BaseExtensionType):
        is_uuid = type_.extension_name == "arrow.uuid"
        return pa.string() if is_uuid else target_type(what, name, type_.storage_type)
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", tz="UTC" if type_.tz else None)
    kind = taken_as(type_)
    if kind is not None:
        return ARROW_TYPES[kind]
    raise InputError(
        f"{what}: the column '{name}' is of type {type_}, which no property can have",
        hint=f"leave it out with drop=['{name}'], or take its parts into columns",
    )


def _reader(what: str, data: Any) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise mixed_columns_error(what, data, error) from None


def _converted(
    what: str, reader: pa.RecordBatchReader, places: Sequence[int], schema: pa.Schema
) -> Iterator[pa.Table]:
    row = 0
    for batch in reader:
        count = batch.num_rows
        arrays = [
            pa.array(np.zeros(count, np.int32)),
            pa.array(np.zeros(count, np.int64)),
            pa.array(np.arange(row, row + count)),
        ]
        for to, place in enumerate(places):
            name = reader.schema.names[place]
            arrays.append(_cast(what, name, batch.column(place), schema.field(f"c{to}").type))
        row += count
        yield pa.Table.from_arrays(arrays, schema=schema)


def _cast(what: str, name: str, array: pa.Array, target: pa.DataType) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        if array.type.extension_name == "arrow.uuid":
            return pa.array([None if item is None else str(item) for item in array.to_pylist()])
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        # pandas writes a missing number as NaN; a NaN that is meant is as good as missing.
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    try:
        is_time = pa.types.is_timestamp(target)
        return array.cast(target, safe=not is_time)
    except pa.ArrowException as error:
        raise InputError(
            f"{what}: the column '{name}' does not fit {target}: {error}",
            hint=f"convert it, or leave it out with drop=['{name}']",
        ) from None


def _part_sized(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows >= _PART_ROWS:
            yield pa.concat_tables(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.concat_tables(waiting)


_VERIFY_PAGES = "parquet.page.verify-checksum.enabled"
_PLACES = [
    T.StructField("_file", T.IntegerType()),
    T.StructField("_block", T.LongType()),
    T.StructField("_row", T.LongType()),
]
STAGED_TYPES: dict[pa.DataType, T.DataType] = {
    **{ARROW_TYPES[kind]: type_ for kind, type_ in SPARK_TYPES.items()},
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
    cells = [F.col(quoted(name)).alias(f"c{to}") for to, (_, name) in enumerate(columns)]
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


def _copied(spark: SparkSession, rows: DataFrame, folder: Path) -> PositionedRows:
    write_staged(rows, folder)
    count = arrange_parts(folder, PLACE_COLUMNS)
    frame = read_sequence(spark, folder, rows.schema)
    return PositionedRows(frame, count, staged_paths(folder), nothing_to_check)


def stage_frame(
    spark: SparkSession, table: TableSource, options: IngestOptions, folder: Path
) -> StagedTable:
    """Copy a DataFrame in its own session; rows count over all partitions."""
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
    """Place and name of the columns to stage: not those to drop, nor pandas' nameless index."""
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
    """The rows before each partition of a DataFrame that was just written."""
    parts = [read_part(path, ("_block",)) for path in folder.glob("part-*.parquet")]
    before: dict[tuple[int, int], int] = {}
    rows = 0
    for part in sorted((part for part in parts if part.rows), key=lambda part: part.low):
        before.setdefault((0, part.low[0]), rows)
        rows += part.rows
    return before


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
    """Addresses as rows report them: `file:/` instead of `file:///`."""
    return tuple(path.replace("file:///", "file:/", 1) for path in paths)
