"""Text files into a staged table: every line knows its file and its number.

Spark reads lines, not CSV: a line's split and its number within the task, which reads one split
only, are its place in the file, exactly and without a second pass. `from_csv` then takes the line
apart into strings. Records that span lines need `multiline=True`, which hands whole files to
Spark's CSV reader and counts records instead of lines.

Local files are read through links named by their number in the list: any name will do, hidden,
with colons or with stars, and a row knows its file by a few digits of the link's name. Files that
Spark cannot read as they are have a copy in place of a link: what it cannot unpack, and Parquet
files with times in nanoseconds, as pandas writes them.

An unquoted empty cell is missing, a quoted one is the empty string. All cells are strings here;
their types come later. Kept true: a line is a row, a comment, blank, the header, or has a
`_fault`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from graphtide.model.disk import disk_error
from graphtide.model.errors import InputError
from graphtide.spark.files import reading_path
from graphtide.spark.ingest.files import (
    LINES,
    FileList,
    TextLayout,
    TextLine,
    content_lines,
    find_layout,
    is_zstandard,
    read_preview,
)
from graphtide.spark.ingest.options import WHITESPACE, IngestOptions
from graphtide.spark.ingest.parts import (
    PLACE_COLUMNS,
    StagedTable,
    arrange_parts,
    no_rows_before,
    read_sequence,
    staged_paths,
    write_staged,
)
from graphtide.spark.ingest.source import TableSource

_DIGITS = 7
_ROW_BITS = (1 << 33) - 1
_UNPACKED = 1 << 22


@dataclass(frozen=True)
class LinkedFiles:
    """Files as Spark is to read them: a folder of numbered links, or addresses as they are."""

    paths: tuple[str, ...]
    linked: bool

    def number(self) -> Column:
        """The number of the file that a row was read from."""
        if self.linked:
            return F.substring("_metadata.file_name", 1, _DIGITS).cast("int")
        if len(self.paths) == 1:
            return F.lit(0)
        addresses = F.array(*(F.lit(path) for path in self.paths))
        return (F.array_position(addresses, F.col("_metadata.file_path")) - 1).cast("int")


def link_files(found: FileList, folder: Path) -> LinkedFiles:
    """Link local files in a new folder; other files stay where they are."""
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
    """Decompress a Zstandard file: Spark needs a library for those."""
    try:
        with pa.input_stream(path, compression="zstd") as packed, open(target, "wb") as plain:
            while content := packed.read(_UNPACKED):
                plain.write(content)
    except OSError as error:
        if error.errno is None:
            raise InputError(f"the file cannot be unpacked: {error}", where=path) from None
        raise disk_error(error, f"the text of '{path}'", target) from None


def has_nanoseconds(schema: pa.Schema) -> bool:
    """Whether a column has times in nanoseconds, which Spark does not read."""
    return any(_in_microseconds(field.type) is not field.type for field in schema)


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    is_nanoseconds = pa.types.is_timestamp(kind) and kind.unit == "ns"
    return pa.timestamp("us", kind.tz) if is_nanoseconds else kind


def _write_microseconds(path: str, target: Path) -> None:
    """Copy a Parquet file with times cut to microseconds."""
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
    """The number of a row within its task, from 0."""
    return F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_BITS))


def read_lines(spark: SparkSession, files: LinkedFiles) -> DataFrame:
    """All lines of the files: `value`, `_file`, `_block`, `_row`."""
    return spark.read.text(list(files.paths)).select(
        "value",
        files.number().alias("_file"),
        F.col("_metadata.file_block_start").alias("_block"),
        row_in_task().alias("_row"),
    )


def count_lines_before(spark: SparkSession, files: LinkedFiles) -> dict[tuple[int, int], int]:
    """The number of lines before each block of each file. Reads all files."""
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


# What the parser makes of an unquoted empty cell: no text holds it.
_MISSING = "\x01missing\x01"


def cells_of_line(lines: DataFrame, layout: TextLayout, options: IngestOptions) -> DataFrame:
    """The cells of each line; the line itself is kept where they do not tell it.

    Only lines with a quote in them go through the CSV parser: splitting the others at the
    separator gives the same cells in half the time.
    """
    width = len(layout.columns)
    if layout.separator == WHITESPACE:
        split = lines.withColumn("words", F.split(_blanks_as_one("value"), " "))
    else:
        split = lines.withColumn("words", F.split("value", re.escape(layout.separator)))
    cells = [_word(place) for place in range(width)]
    is_wrong = F.size("words") != width
    if options.quote is not None and layout.separator != WHITESPACE:
        quoted = F.contains("value", F.lit(options.quote))
        parsed = F.from_csv("value", _cells_ddl(width), _csv(layout, options))
        split = split.withColumn("parsed", F.when(quoted, parsed))
        cells = [
            F.when(quoted, F.col(f"parsed.c{place}")).otherwise(cell)
            for place, cell in enumerate(cells)
        ]
        is_wrong = F.when(quoted, F.col("parsed._wrong").isNotNull()).otherwise(is_wrong)
    fault = _fault(is_wrong, layout, options)
    cells = [_known(cell, options.null_values) for cell in cells]
    return split.select(
        *PLACE_COLUMNS,
        fault.alias("_fault"),
        F.when(~_is_plain(layout, options, cells), F.col("value")).alias("_raw"),
        *(cell.alias(f"c{place}") for place, cell in enumerate(cells)),
    )


def cells_of_records(
    spark: SparkSession, files: LinkedFiles, layout: TextLayout, options: IngestOptions
) -> DataFrame:
    """The cells of records that may span lines; `_row` counts records, the header not among them.

    A file is one task's work, however large.
    """
    reader = spark.read.schema(_cells_ddl(len(layout.columns))).options(**_csv(layout, options))
    reader = reader.option("multiLine", True).option("header", layout.header is not None)
    reader = reader.option("enforceSchema", True)
    if options.comment:
        reader = reader.option("comment", options.comment)
    records = reader.csv(list(files.paths)).select(
        "*",
        files.number().alias("_file"),
        F.lit(0).cast("bigint").alias("_block"),
        row_in_task().alias("_row"),
    )
    return records.select(
        *PLACE_COLUMNS,
        F.when(F.col("_wrong").isNotNull(), _wrong_width(layout)).alias("_fault"),
        F.col("_wrong").alias("_raw"),
        *(
            _known(F.col(f"c{place}"), options.null_values).alias(f"c{place}")
            for place in range(len(layout.columns))
        ),
    )


def _word(place: int) -> Column:
    word = F.get("words", F.lit(place))
    return F.when(word != "", word)


def _blanks_as_one(column: str) -> Column:
    return F.regexp_replace(F.trim(F.translate(column, "\t", " ")), " +", " ")


def _is_plain(layout: TextLayout, options: IngestOptions, cells: Sequence[Column]) -> Column:
    """True where the joined cells give the line, so that the line need not be kept."""
    texts = [F.coalesce(cell, F.lit("")) for cell in cells]
    is_same = F.col("value") == F.concat_ws(layout.separator, *texts)
    if layout.separator == WHITESPACE or options.null_values:
        return is_same
    width = F.size("words") == len(cells)
    if options.quote is None:
        return width
    return (width & ~F.contains("value", F.lit(options.quote))) | is_same


def _known(cell: Column, null_values: Sequence[str]) -> Column:
    """A cell; null if it holds a word for a missing value."""
    return F.when(~cell.isin(*null_values), cell) if null_values else cell


def _fault(is_wrong: Column, layout: TextLayout, options: IngestOptions) -> Column:
    fault = F.when(~F.is_valid_utf8("value"), "is not UTF-8")
    if options.quote is not None and layout.separator != WHITESPACE:
        pattern = unclosed_quote(layout.separator, options.quote, options.escape)
        is_open = F.contains("value", F.lit(options.quote)) & F.col("value").rlike(pattern)
        fault = fault.when(is_open, "quote not closed (multiline=True if rows span lines)")
    return fault.when(is_wrong, _wrong_width(layout))


def _wrong_width(layout: TextLayout) -> str:
    return f"wrong number of columns ({len(layout.columns)} expected)"


def unclosed_quote(separator: str, quote: str, escape: str | None) -> str:
    """A pattern for lines that end inside a quoted cell. It never backtracks."""
    s, q, e = (re.escape(item) for item in (separator, quote, escape or quote))
    inside = f"(?:[^{q}]++|{q}{q})*+" if e == q else f"(?:[^{q}{e}]++|{e}.)*+"
    cell = f"(?:{q}{inside}{q}[^{s}]*+|[^{q}{s}][^{s}]*+|)"
    return f"^(?:{cell}{s})*+{q}{inside}$"


def _cells_ddl(width: int) -> str:
    return ", ".join([*(f"c{place} string" for place in range(width)), "_wrong string"])


def _csv(layout: TextLayout, options: IngestOptions) -> dict[str, str]:
    quote = options.quote or ""
    return {
        "sep": layout.separator,
        "quote": quote,
        "escape": options.escape or quote or "\\",
        "nullValue": _MISSING,
        "emptyValue": "",
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": "_wrong",
        "maxCharsPerColumn": "-1",
        "maxColumns": "100000",
    }


def stage_text(
    spark: SparkSession,
    table: TableSource,
    found: FileList,
    options: IngestOptions,
    folder: Path,
) -> StagedTable:
    """Write the rows of text files as a staged table in a folder that does not exist yet."""
    found = _listed(spark, found)
    previews = _previews(spark, found, options.comment)
    layout = _layout(previews, table, found, options)
    headers = _header_lines(previews, layout, found)
    files = link_files(found, folder.with_name(folder.name + "-files"))
    if options.multiline:
        rows = cells_of_records(spark, files, layout, options)
    else:
        rows = cells_of_line(_rows(spark, files, headers, options), layout, options)
    write_staged(rows, folder)
    count = arrange_parts(folder, PLACE_COLUMNS)
    return StagedTable(
        table=table,
        frame=read_sequence(spark, folder, rows.schema),
        rows=count,
        paths=staged_paths(folder),
        columns=layout.columns,
        types=(StringType(),) * len(layout.columns),
        files=found.paths,
        separator=layout.separator,
        declared=layout.declared,
        rows_before=no_rows_before
        if options.multiline
        else lambda: count_lines_before(spark, files),
    )


def _listed(spark: SparkSession, found: FileList) -> FileList:
    """Remote files one by one, as Spark lists them; local ones are listed already."""
    if found.local:
        return found
    paths = sorted(spark.read.text(list(found.paths)).inputFiles())
    return FileList(tuple(paths), found.format, local=False)


def _previews(spark: SparkSession, found: FileList, comment: str | None) -> list[list[TextLine]]:
    if found.local:
        return [read_preview(path, comment) for path in found.paths]
    return [
        content_lines((row[0] for row in spark.read.text(path).head(10 * LINES)), comment)
        for path in found.paths
    ]


def _layout(
    previews: Sequence[Sequence[TextLine]],
    table: TableSource,
    found: FileList,
    options: IngestOptions,
) -> TextLayout:
    for lines, path in zip(previews, found.paths, strict=True):
        if lines:
            return find_layout(lines, table.kind, options, path)
    raise InputError(f"{table.name}: nothing but empty files", where=", ".join(found.paths[:5]))


def _header_lines(
    previews: Sequence[Sequence[TextLine]], layout: TextLayout, found: FileList
) -> list[int]:
    """The line of the header in each file, 0 if none; InputError if headers differ."""
    if layout.header is None:
        return [0] * len(previews)
    for lines, path in zip(previews, found.paths, strict=True):
        if lines and lines[0].text.strip() != layout.header.text.strip():
            raise InputError(
                "the files of a table have different headers",
                where=f"{path}, line {lines[0].number}: {lines[0].text[:200]}",
                hint=f"the first file has: {layout.header.text[:200]}",
            )
    return [lines[0].number if lines else 0 for lines in previews]


def _rows(
    spark: SparkSession, files: LinkedFiles, headers: Sequence[int], options: IngestOptions
) -> DataFrame:
    """The lines that hold rows: not blank, no comment, no header."""
    is_row = F.col("value").rlike(r"[^ \t]")
    if options.comment:
        is_row &= ~F.col("value").startswith(options.comment)
    if any(headers):
        is_row &= (F.col("_block") != 0) | (F.col("_row") + 1 != _header_line(headers))
    return read_lines(spark, files).where(is_row)


def _header_line(headers: Sequence[int]) -> Column:
    if len(set(headers)) == 1:
        return F.lit(headers[0])
    return F.element_at(F.array(*map(F.lit, headers)), F.col("_file") + 1)
