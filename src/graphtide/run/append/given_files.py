"""Tables of files and of Spark, for an append: loaded as a graph of their own, and read from it.

So the rows of an append are read, typed and checked as those of a load are. What the load numbers
is of no use here: ends go back to the ids that they were given by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.schema import GraphSchema
from graphtide.model.summary import GraphSummary
from graphtide.run.append.bad_rows import BadRows
from graphtide.run.append.given import (
    GivenRows,
    Place,
    as_type,
    declared_types,
    label_names,
    unknown_property,
)
from graphtide.run.catalog.workspace import Workspace
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.source import TableSource, describe
from graphtide.store.graph import QUARANTINE_SCHEMA

_PLACES = ("_graphtide_file", "_graphtide_block", "_graphtide_row")


class FileReader:
    """Reads tables by Spark, into a folder that nobody sees."""

    def __init__(self, space: Workspace, schema: GraphSchema, folder: Path) -> None:
        self._space = space
        self._schema = schema
        self._folder = folder

    def read(self, table: TableSource, options: IngestOptions, bad: BadRows) -> GivenRows:
        """The rows of a table in the types of the graph; bad ones are set aside, or refused."""
        # Rows that are set aside are counted over all tables, and with those that do not fit later.
        at_most = None if options.on_bad_rows == "refuse" else 1.0
        chosen = replace(options, known=self._schema, at_most=at_most)
        with self._space.gateway.read(self._folder, table, chosen) as (folder, summary):
            bad.set_aside(_quarantine(folder))
            rows = _vertices(folder) if table.kind == "vertices" else _edges(folder, summary)
            places = _places(_parts(folder / table.kind), summary.files)
            source, ends = describe(table.data), self._schema.ends
            return GivenRows(self._typed(table, rows), source, ends=ends, places=places)

    def _typed(self, table: TableSource, rows: pa.Table) -> pa.Table:
        """The columns as rows in memory have them, those of the graph and no others."""
        known = declared_types(self._schema, table.kind)
        labels = ("label", "src_label", "dst_label")
        typed, renamed = {}, label_names(self._schema)
        for given in rows.column_names:
            name, column = renamed.get(given, given), rows.column(given).combine_chunks()
            if name in ("id", "src", "dst"):
                typed[name] = as_type(column, self._schema.id_type, name, table.name)
            elif name in known:
                typed[name] = as_type(column, known[name], name, table.name)
            elif name not in labels:
                raise unknown_property(table.name, name, known)
            elif column.null_count < len(column):
                typed[name] = column.cast(pa.large_string())
        return pa.table(typed)


def _vertices(folder: Path) -> pa.Table:
    rows = _parts(folder / "vertices")
    hidden = {"_vertex", *_PLACES}
    rows = rows.drop_columns([name for name in rows.column_names if name in hidden])
    names = {"_id": "id", "_label": "label"}
    return rows.rename_columns([names.get(name, name) for name in rows.column_names])


def _edges(folder: Path, summary: GraphSummary) -> pa.Table:
    """Edges with the ids of their ends, and with their labels where ids need them."""
    vertices, rows = _parts(folder / "vertices"), _parts(folder / "edges")
    columns = {}
    for side in ("src", "dst"):
        ends = vertices.take(rows.column(f"_{side}"))
        columns[side] = ends.column("_id")
        if summary.schema.vertex_labels:
            columns[f"{side}_label"] = ends.column("_label")
    columns["label"] = rows.column("_label")
    hidden = {"_edge", "_src", "_dst", "_label", *_PLACES}
    rest = [name for name in rows.column_names if name not in hidden]
    return pa.table({**columns, **{name: rows.column(name) for name in rest}})


def _places(rows: pa.Table, files: Sequence[str]) -> list[Place]:
    """The file and the line of each row; lines of files that several tasks read are not counted."""
    columns = (rows.column(name).to_pylist() for name in _PLACES)
    return [
        (files[file], row + 1 if block == 0 else None)
        for file, block, row in zip(*columns, strict=True)
    ]


def _parts(folder: Path) -> pa.Table:
    return pq.read_table(sorted(folder.glob("*.parquet")), partitioning=None)


def _quarantine(folder: Path) -> pa.Table:
    files = sorted((folder / "quarantine").glob("*.parquet"))
    if not files:
        return QUARANTINE_SCHEMA.empty_table()
    return pq.read_table(files, schema=QUARANTINE_SCHEMA, partitioning=None)
