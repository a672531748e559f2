"""The whole of a load: from a source to the tables of a graph in a folder.

The folder is a partial generation that somebody else commits or throws away; nothing is written
outside of it, and nothing of the user's session is changed. Each table is staged by its kind:
text, Parquet, a frame, Arrow or rows.

A property may have the name of something else. `src.id` is the id a vertex was loaded with, and
an edge's ends are its columns `src` and `dst`, in predicates, tables and exports alike. A column
of such a name that is neither gets an underscore behind it: `id_`. An edge may have a property
`id`: edges have no id of their own.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.errors import InputError, LimitError
from graphtide.model.progress import ProgressReport, silent
from graphtide.model.schema import ENDS, GraphSchema, GraphSummary
from graphtide.spark.failures import translated
from graphtide.spark.files import reading_path, scratch_folder
from graphtide.spark.ingest.checked import Load, checked_tables
from graphtide.spark.ingest.edges import write_edges, write_few
from graphtide.spark.ingest.files import find_files
from graphtide.spark.ingest.options import IngestOptions, check_names_are_columns
from graphtide.spark.ingest.parts import StagedTable
from graphtide.spark.ingest.roles import Roles, assign_roles
from graphtide.spark.ingest.source import (
    DerivedSource,
    GraphSource,
    Kind,
    TableSource,
    is_networkx,
    is_path_list,
    is_row_list,
    networkx_source,
    table_of_rows,
)
from graphtide.spark.ingest.stage_rows import stage_arrow, stage_frame, stage_parquet
from graphtide.spark.ingest.stage_text import stage_text
from graphtide.spark.ingest.typed import Spaces, TypedTable, TypedTables, find_spaces, find_types
from graphtide.spark.ingest.values import check_format
from graphtide.spark.ingest.vertices import hide_spaces, write_vertices
from graphtide.spark.session import private_session, release, split_reads

Tables = Sequence[tuple[StagedTable, Roles]]


def with_free_names(tables: Tables) -> list[tuple[StagedTable, Roles]]:
    """The tables, with new names for properties whose names are taken."""
    fresh: dict[Kind, dict[str, str]] = {
        "vertices": _fresh_names(tables, "vertices"),
        "edges": _fresh_names(tables, "edges"),
    }
    return [(staged, _renamed(roles, fresh[staged.table.kind])) for staged, roles in tables]


def _renamed(roles: Roles, fresh: dict[str, str]) -> Roles:
    renamed = (replace(item, name=fresh.get(item.name, item.name)) for item in roles.properties)
    return replace(roles, properties=tuple(renamed))


def _fresh_names(tables: Tables, kind: Kind) -> dict[str, str]:
    """The new names of properties, by column, where they differ."""
    taken = _taken(tables, kind)
    own = [roles for staged, roles in tables if staged.table.kind == kind]
    names = dict.fromkeys(item.name for roles in own for item in roles.properties)
    known = taken | {name.lower() for name in names}
    fresh = {}
    for name in names:
        if name.lower() in taken:
            fresh[name] = _free(name, known)
            known.add(fresh[name].lower())
    return fresh


def _free(name: str, known: set[str]) -> str:
    while name.lower() in known:
        name += "_"
    return name


def _taken(tables: Tables, kind: Kind) -> set[str]:
    labelled = {staged.table.kind for staged, roles in tables if _has_labels(staged, roles)}
    label = {"label"} if kind in labelled else set()
    if kind == "vertices":
        return {"id"} | label
    ends = {"src_label", "dst_label"} if "vertices" in labelled else set()
    return {"src", "dst"} | label | ends


def _has_labels(staged: StagedTable, roles: Roles) -> bool:
    by_space = staged.table.kind == "vertices" and roles.spaces[0] is not None
    return staged.table.label is not None or roles.label is not None or by_space


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
    """Stage a table of any kind in a folder that does not exist yet."""
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


_MOST_LABELS = 10_000


class _Counts(NamedTuple):
    """What was written: vertices, edges, rows that were set aside, vertices of tables."""

    vertices: int
    edges: int
    bad: int = 0
    listed: int = 0


def write_graph(
    spark: SparkSession,
    folder: Path,
    source: GraphSource,
    options: IngestOptions | None = None,
    progress: ProgressReport = silent,
) -> GraphSummary:
    """Write `vertices/`, `edges/` and maybe `quarantine/` into a folder; what they hold.

    Raises InputError, with the first of them, if there are bad rows and the options refuse them.
    """
    options = options or IngestOptions()
    private = private_session(spark)
    with (
        translated("loading the graph"),
        _interruptible(private),
        scratch_folder(folder) as staging,
        translated("loading the graph"),  # While links say which files of the user are read.
    ):
        for format_ in set(options.formats.values()):
            check_format(private, format_)
        staged = _stage(private, source_tables(source, options), options, staging, progress)
        progress("finding types", 0.4)
        load = Load(private, folder, staging, options, find_types(staged, options))
        summary = _write(load, source, progress)
    progress("done", 1.0)
    return summary


def _stage(
    spark: SparkSession,
    tables: Sequence[TableSource],
    options: IngestOptions,
    staging: Path,
    progress: ProgressReport,
) -> list[tuple[StagedTable, Roles]]:
    options.check_tables({table.kind for table in tables})
    staged = []
    for place, table in enumerate(tables):
        progress(f"reading {table.name}", 0.4 * place / len(tables))
        one = stage_table(spark, table, options, staging / f"table-{place}")
        staged.append((one, assign_roles(table, one.columns, options, one.declared)))
    columns: dict[str, set[str]] = {"vertices": set(), "edges": set()}
    for one, _ in staged:
        columns[one.table.kind].update(one.columns + one.left_out)
    check_names_are_columns(options, columns)
    _fit_splits(spark, [one for one, _ in staged])
    return with_free_names(staged)


def _fit_splits(spark: SparkSession, staged: Sequence[StagedTable]) -> None:
    """Let all cores read. Lines of text are counted by split, so text keeps its splits."""
    if not any(table.is_text for table in staged):
        sizes = (path.stat().st_size for table in staged for path in table.paths)
        split_reads(spark, sum(sizes))


def _write(load: Load, source: GraphSource, progress: ProgressReport) -> GraphSummary:
    tables = load.tables
    spaces = find_spaces(tables.vertices, tables.edges)
    timezone = load.options.timezone
    progress("numbering vertices", 0.55)
    few = write_few(load, spaces)
    counts = _write_by_jobs(load, spaces, progress) if few is None else _Counts(*few)
    for table in (*tables.vertices, *tables.edges):
        table.staged.check_unchanged()
    schema = GraphSchema(
        tables.id_type,
        tables.vertex_properties,
        tables.edge_properties,
        _labels(load, "vertices", tables.vertices, spaces.found),
        _labels(load, "edges", tables.edges, ()),
        ENDS if isinstance(source, DerivedSource) else _ends(tables),
        load.options.directed is not False,
    )
    sizes = counts.vertices, counts.edges, counts.bad
    told = counts.listed, tables.notes, (tables.vertices or tables.edges)[0].staged.files
    return GraphSummary(schema, *sizes, source.describe(), timezone, *told)


def _write_by_jobs(load: Load, spaces: Spaces, progress: ProgressReport) -> _Counts:
    tables, timezone = load.tables, load.options.timezone
    checked = checked_tables(tables.edges, tables.edge_properties, timezone)
    listed, vertices, bad_vertices = write_vertices(load, spaces, checked)
    progress("writing edges", 0.7)
    edges, bad_edges = write_edges(load, spaces, checked, vertices)
    hide_spaces(load, spaces)
    return _Counts(vertices, edges, bad_vertices + bad_edges, listed)


def _labels(
    load: Load, name: str, tables: Sequence[TypedTable], found: Sequence[str | None]
) -> tuple[str, ...]:
    """The labels of a table: given ones, then those in label columns, sorted."""
    said = [table.staged.table.label for table in tables if table.roles.label is None]
    if name == "vertices":
        said += [table.roles.spaces[0] for table in tables if table.roles.label is None]
    said += list(found)
    labels = dict.fromkeys(label for label in said if label is not None)
    if any(table.roles.label is not None for table in tables):
        labels |= dict.fromkeys(_label_values(load.spark.read.parquet(_address(load, name)), name))
    return tuple(labels)


def _ends(tables: TypedTables) -> tuple[str, str]:
    """The user's names for the ends of edges, if all tables agree and the names are free."""
    names = {tuple(key.name for key in table.roles.keys) for table in tables.edges}
    if len(names) > 1:
        return ENDS
    ((src, dst),) = names
    labels = [f"{src}_label", f"{dst}_label", "label"]
    taken = {name.lower() for name in (*labels, *(item.name for item in tables.edge_properties))}
    is_ours = any(name.startswith((":", "_")) or name.lower() in taken for name in (src, dst))
    shadows = any(item.name in labels for item in tables.edge_properties)
    return ENDS if is_ours or shadows else (src, dst)


def _label_values(table: DataFrame, name: str) -> list[str]:
    values = table.select("_label").where(F.col("_label").isNotNull()).distinct()
    labels = sorted(row[0] for row in values.limit(_MOST_LABELS + 1).collect())
    if len(labels) > _MOST_LABELS:
        raise LimitError(
            f"the label column of the {name} has more than {_MOST_LABELS:,} different values",
            hint="it is a property rather than a label: do not name it as one",
        )
    return labels


def _address(load: Load, name: str) -> str:
    return reading_path(load.folder / name)


@contextlib.contextmanager
def _interruptible(spark: SparkSession) -> Iterator[None]:
    """Release the session after the block; after an error or Ctrl-C stop its jobs."""
    tag = f"graphtide-{uuid.uuid4().hex}"
    spark.addTag(tag)
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            spark.interruptTag(tag)
        raise
    finally:
        spark.removeTag(tag)
        release(spark)
