"""Text files into a staged table: every line knows its file and its number.

Spark reads lines, not CSV: a line's split and its number within the task, which reads one split
only, are its place in the file, exactly and without a second pass. `from_csv` then takes the
line apart into strings. Records that span lines need `multiline=True`, which hands whole files
to Spark's CSV reader and counts records instead of lines.

Kept true: a line is a row, a comment, blank, the header, or has a `_fault`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from graphtide.model.errors import InputError
from graphtide.spark.ingest.csv_cells import cells_of_line, cells_of_records
from graphtide.spark.ingest.files import FileList
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.parts import arrange_parts, read_sequence
from graphtide.spark.ingest.preview import (
    LINES,
    Line,
    TextLayout,
    content_lines,
    find_layout,
    read_preview,
)
from graphtide.spark.ingest.source import TableSource
from graphtide.spark.ingest.staged import (
    PLACE_COLUMNS,
    StagedTable,
    no_rows_before,
    staged_paths,
    write_staged,
)
from graphtide.spark.ingest.text_files import (
    LinkedFiles,
    count_lines_before,
    link_files,
    read_lines,
)


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
    """Remote files one by one, as Spark lists them; local ones already are."""
    if found.local:
        return found
    paths = sorted(spark.read.text(list(found.paths)).inputFiles())
    return FileList(tuple(paths), found.format, local=False)


def _previews(spark: SparkSession, found: FileList, comment: str | None) -> list[list[Line]]:
    if found.local:
        return [read_preview(path, comment) for path in found.paths]
    return [
        content_lines((row[0] for row in spark.read.text(path).head(10 * LINES)), comment)
        for path in found.paths
    ]


def _layout(
    previews: Sequence[Sequence[Line]], table: TableSource, found: FileList, options: IngestOptions
) -> TextLayout:
    for lines, path in zip(previews, found.paths, strict=True):
        if lines:
            return find_layout(lines, table.kind, options, path)
    raise InputError(f"{table.name}: nothing but empty files", where=", ".join(found.paths[:5]))


def _header_lines(
    previews: Sequence[Sequence[Line]], layout: TextLayout, found: FileList
) -> list[int]:
    """The number of the header's line in each file, 0 if none; an error where a header differs."""
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
    """The lines that hold rows: neither blank nor comments nor headers."""
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
