"""One append to a stored graph, from the rows that were given to the next state; and merges.

The graph is locked from the start, so that a second writer fails at once; it is opened under the
lock, so that what rows are about is the state that the append follows. An append that finds the
appends before it too costly to read merges them with their base. It is done whatever becomes of
that merge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphtide.model.errors import FullDiskError, InputError, LockedError
from graphtide.model.progress import ProgressReport
from graphtide.model.schema import ENDS
from graphtide.run.append.resolve import AppendTables, resolve
from graphtide.run.append.rows import (
    AppendRows,
    FileReader,
    RejectedRows,
    is_in_memory,
    joined,
    read_here,
)
from graphtide.run.catalog.row_counts import RowCounts, counts_of_append
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.records import AppliedBatches, BatchId
from graphtide.run.progress import shown
from graphtide.spark.ingest.options import IngestOptions, ingest_options
from graphtide.spark.ingest.source import GraphSource, Kind, TableSource
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.next_state import AppendedRows, is_merge_due, write_append, write_merged


def merge_graph(space: Workspace, name: str, *, renumber: bool) -> StoredGraph:
    """Make one base of a graph and its appends, now; with `renumber` without deleted edges.

    A graph that is one base already stays as it is.
    """
    stored = open_graph(space.catalog, name)
    if len(stored.states) == 1 and not (renumber and stored.has_gaps):
        return stored
    with shown(f"merge {name}", enabled=space.progress) as report:
        report("writing", None)
        return _merge(space, name, renumber=renumber or None)


def merge_if_due(space: Workspace, stored: StoredGraph, report: ProgressReport) -> StoredGraph:
    """The graph after an append, merged if reading its appends costs more than that by now.

    The append is done, whatever becomes of the merge: where there is no room for it, or another
    writer is at work, the next append will find it due again.
    """
    if not is_merge_due(stored):
        return stored
    report("merging", None)
    try:
        return _merge(space, stored.name, renumber=None)
    except (FullDiskError, LockedError) as error:
        report(f"not merged: {error.what}", None)
        return stored
    except KeyboardInterrupt as stop:
        stop.add_note(f"the append to '{stored.name}' is done; the merge behind it is left off")
        raise


def _merge(space: Workspace, name: str, *, renumber: bool | None) -> StoredGraph:
    folder = space.catalog.existing_graph(name)
    with begin(folder, replace=True, what=f"the graph '{name}'") as commit:
        write_merged(commit, open_graph(space.catalog, name), renumber=renumber)
    return open_graph(space.catalog, name)


# The options that rows in memory are read with; others are left to the load, which knows them all.
_READ_HERE = {
    *("vertex_id", "src", "dst", "source", "target", "label", "edge_label"),
    *("drop", "on_bad_rows", "at_most", "hints"),
}


@dataclass(frozen=True)
class AppendRequest:
    """What a user gives: tables in any form, and the id of the batch that they are."""

    edges: Any = None
    vertices: Any = None
    delete: Any = None
    update: Any = None
    match: tuple[str, ...] = ()
    id: BatchId | None = None


def append_to_graph(
    space: Workspace, name: str, request: AppendRequest, options: dict[str, Any]
) -> tuple[StoredGraph, RowCounts]:
    """Append to a graph, and return its next state and what was done. All or nothing.

    A batch whose id the graph has taken before does nothing.
    """
    with shown(f"append {name}", enabled=space.progress) as report:
        added = _append(space, name, request, options, report)
        stored = open_graph(space.catalog, name)
        if added is None:
            return stored, RowCounts(name, id=request.id, applied_before=True)
        counts = replace(counts_of_append(space.catalog, stored, added), id=request.id)
        return merge_if_due(space, stored, report), counts


def _append(
    space: Workspace,
    name: str,
    request: AppendRequest,
    options: dict[str, Any],
    report: ProgressReport,
) -> AppendedRows | None:
    if options.get("directed") is not None:
        raise InputError(
            "an append cannot say whether the graph is directed: that is said when it is loaded",
            hint="leave `directed` out, or load the graph anew with it",
        )
    folder = space.catalog.existing_graph(name)
    with begin(folder, replace=True, what=f"the graph '{name}'") as commit:
        stored = open_graph(space.catalog, name)
        batches = AppliedBatches.of_graph(stored)
        _check_names_no_column(request.id, stored)
        if request.id is not None and batches.has(request.id):
            return None
        # As a load reads tables; `id` is here what a batch is called.
        chosen = ingest_options({"timezone": stored.timezone, "hints": "append", **options})
        chosen.check_tables({"edges"} if request.vertices is None else {"edges", "vertices"})
        report("reading", None)
        bad = RejectedRows(chosen)
        files = FileReader(space, stored.schema, commit.path)
        reader = _Reader(stored, chosen, bad, files, set(options) <= _READ_HERE)
        given = AppendTables(
            edges=reader.read("edges", request.edges),
            vertices=reader.read("vertices", request.vertices),
            delete=reader.read("edges", request.delete),
            update=reader.read("edges", request.update),
            match=request.match,
        )
        if not given.tables:
            raise InputError(
                "there is nothing to append", hint="give edges=, vertices=, delete= or update="
            )
        report("looking up", None)
        added = resolve(stored, given, bad)
        if added.rows or added.quarantined.num_rows or request.id is not None:
            report("writing", None)
            write_append(commit, stored, added, batches.entries(request.id, stored.number + 1))
        return added


def _check_names_no_column(id: BatchId | None, stored: StoredGraph) -> None:
    """Refuse a column for an id: every later batch would be taken for the one before."""
    schema = stored.schema
    if id in {"id", *schema.ends, *(item.name for item in (*schema.vertex, *schema.edge))}:
        raise InputError(
            f"id={id!r} is the name of a column, and here the id names a batch",
            hint="give each batch an id of its own, such as id='2026-01-31'; a batch whose id the "
            "graph has taken before changes nothing",
        )


@dataclass(frozen=True)
class _Reader:
    """Reads what was given, here or by Spark."""

    stored: StoredGraph
    options: IngestOptions
    bad: RejectedRows
    files: FileReader
    here: bool

    def read(self, kind: Kind, data: Any) -> AppendRows | None:
        return joined([self._read(table) for table in self._tables(kind, data)])

    def _read(self, table: TableSource) -> AppendRows:
        if self.here and is_in_memory(table.data):
            known = replace(self.options, known=self.stored.schema)
            given = read_here(table, self.stored.schema, known)
        else:
            given = self.files.read(table, self.options, self.bad)
        self.bad.count(kind=table.kind, rows=len(given))
        return given

    def _tables(self, kind: Kind, data: Any) -> tuple[TableSource, ...]:
        if data is None:
            return ()
        if isinstance(data, Mapping) and self._has_keys(kind, data):
            return (TableSource(kind, data),)
        if kind == "edges":
            return GraphSource(edges=data).tables()
        return tuple(t for t in GraphSource(edges=[], vertices=data).tables() if t.kind == kind)

    def _has_keys(self, kind: Kind, data: Mapping[Any, Any]) -> bool:
        """Whether a mapping holds columns, and not tables by label."""
        names = ("id",) if kind == "vertices" else ENDS
        said = [getattr(self.options, name) or name for name in names]
        own = said if kind == "vertices" else self.stored.schema.ends
        return any(all(name in data for name in known) for known in (said, own))
