"""The way to stage a table, chosen by its kind: text, Parquet, a frame, Arrow or rows."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from graphtide.model.errors import InputError
from graphtide.spark.ingest.files import find_files
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.python_rows import (
    is_networkx,
    is_row_list,
    networkx_source,
    table_of_rows,
)
from graphtide.spark.ingest.source import GraphSource, TableSource, is_path_list
from graphtide.spark.ingest.stage_rows import stage_arrow, stage_frame, stage_parquet
from graphtide.spark.ingest.stage_text import stage_text
from graphtide.spark.ingest.staged import StagedTable


def source_tables(source: GraphSource, options: IngestOptions) -> tuple[TableSource, ...]:
    """The tables of a source; a NetworkX graph has two."""
    if not is_networkx(source.edges):
        return source.tables()
    if source.vertices is not None:
        raise InputError("a NetworkX graph has its vertices already", hint="leave out vertices=")
    return networkx_source(source.edges, options.drop).tables()


def stage_table(
    spark: SparkSession, table: TableSource, options: IngestOptions, folder: Path
) -> StagedTable:
    """Stage one table, whatever it is, in a folder that does not exist yet."""
    data = table.data
    if isinstance(data, DataFrame):
        return stage_frame(spark, table, options, folder)
    if isinstance(data, str | os.PathLike) or is_path_list(data):
        files = find_files(data, table.name)
        if files.format == "parquet":
            return stage_parquet(spark, table, files, options, folder)
        return stage_text(spark, table, files, options, folder)
    if hasattr(data, "__arrow_c_stream__"):
        return stage_arrow(spark, table, options, folder)
    if is_row_list(data):
        rows = replace(table, data=table_of_rows(table, options.drop))
        return stage_arrow(spark, rows, options, folder)
    raise InputError(
        f"{table.name} cannot be read from a {type(data).__name__}",
        hint="give a path, a Spark DataFrame, a NetworkX graph, a list of rows, or anything with "
        "__arrow_c_stream__ (Arrow, pandas 2.2 or later, Polars, DuckDB)",
    )
