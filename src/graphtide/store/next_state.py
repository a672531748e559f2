"""The next state of a stored graph: an append beside the base, a merge of both, or a new base.

An append writes files beside the base, in a generation that shares all other files with the one
before by hard links (copies where a file system has none). So an append costs what it adds,
whatever the graph holds, and the states before it stay readable. Whoever reads users' rows finds
the vertices and edges that they are about; here they are numbers.

Reading a graph reads all that its appends have written, time and again; a merge writes the whole
graph once. The rule is that of iTurboGraph's store: an append of x rows, n appends ago, has been
read n times, so all reading since the base has cost the sum of n times x over the appends, and a
merge is due when that exceeds the rows that it writes. A file costs as much as some rows, however
few it holds.

A merge keeps the state and the numbers of edges, so collections stay as they are. Only where more
than half of the numbers are of deleted edges does it leave these out and number the others anew.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphtide.model import disk
from graphtide.model.delta import EdgeIds, no_edges, number_type
from graphtide.model.disk import disk_errors
from graphtide.model.schema import CHANGED, DELETED, KEYS, GraphSchema, GraphSummary
from graphtide.store.commit import Commit
from graphtide.store.files import FileFacts, write_table
from graphtide.store.generation import Generation, Manifest, own_entries
from graphtide.store.graph import (
    GraphState,
    StoredGraph,
    append_file,
    graph_manifest,
    numbering_of,
    schema_to_json,
    states_to_json,
    write_history,
)
from graphtide.store.tables import (
    TableName,
    changed_rows,
    deleted_edges,
    put_changed,
    read_rows,
    table_schema,
    written_deleted,
)


def carry_files(source: Generation, names: Iterable[str], commit: Commit) -> dict[str, FileFacts]:
    """Give the next generation some files of this one; what is known of them, for its manifest.

    Nothing is read: a damaged file stays known as what it was when it was written. Whoever writes
    into the next generation does so before, under names of its own: a shared file is never opened
    for writing.
    """
    carried = {name: source.files[name] for name in names}
    with disk_errors(commit.what, commit.folder):
        for name in carried:
            target = commit.path / name
            disk.make_folders_below(commit.path, target.parent)
            _share(source, name, target)
    return carried


def _share(source: Generation, name: str, target: Path) -> None:
    try:
        disk.link_or_copy(source.path / name, target)
    except FileNotFoundError:
        source.compare([name])
        raise


NO_ENTRIES: Manifest = {}


@dataclass(frozen=True)
class AppendedRows:
    """What an append adds, deletes and changes, as rows of the tables with their numbers.

    `vertices` and `edges` follow the last numbers that are taken; `listed` says whether the new
    vertices are those of a table. `schema` has the labels that are new.
    """

    schema: GraphSchema
    vertices: pa.Table
    edges: pa.Table
    deleted: pa.Table
    changed_vertices: pa.Table
    changed_edges: pa.Table
    quarantined: pa.Table
    listed: bool = False

    @property
    def rows(self) -> int:
        """How many rows the append writes."""
        return sum(table.num_rows for table in self.tables.values())

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The rows by the folders that they go to, without those that were set aside."""
        return {
            "vertices": self.vertices,
            "edges": self.edges,
            DELETED: self.deleted,
            CHANGED["vertices"]: self.changed_vertices,
            CHANGED["edges"]: self.changed_edges,
        }


def deleted_table(edges: Sequence[int] | EdgeIds, append: int, numbers: int) -> pa.Table:
    """The table of edges that an append deletes; `numbers` is how many edge numbers are taken."""
    since = pa.array([append] * len(edges), pa.int64())
    return pa.table({"_edge": np.asarray(edges, number_type(numbers)), "_append": since})


def write_append(
    commit: Commit, stored: StoredGraph, added: AppendedRows, entries: Manifest = NO_ENTRIES
) -> Path:
    """Write what is appended to a graph, and commit it as the next state. O(what is added).

    The manifest gets some more `entries`.
    """
    number = stored.number + 1
    starts = {"vertices": stored.vertices, "edges": stored.numbers}
    with disk_errors(commit.what, commit.folder):
        for folder, table in added.tables.items():
            if table.num_rows:
                name = part_name(starts[folder]) if folder in starts else append_file(number)
                write_part(table, commit.path / folder, name)
        if added.quarantined.num_rows:
            write_part(added.quarantined, commit.path / "quarantine", append_file(number))
    carried = carry_files(stored.generation, _kept(stored.generation, commit.path), commit)
    manifest = _manifest(commit.generation, stored, added) | entries
    return commit.finish(manifest, carried=carried)


def part_name(first: int) -> str:
    """The name of the part of a table whose first row has this number."""
    return f"part-{first:012d}.parquet"


def write_part(table: pa.Table, folder: Path, name: str) -> None:
    """Write rows as one file of a folder, which is made if it is missing."""
    disk.make_folder(folder, there=True)
    write_table(table, folder / name)


def _kept(generation: Generation, path: Path) -> list[str]:
    """The files that stay: all but an empty part in whose place the first rows are written."""
    return [name for name in generation.files if not (path / name).exists()]


def _manifest(generation: str, stored: StoredGraph, added: AppendedRows) -> Manifest:
    files = sum(table.num_rows > 0 for table in added.tables.values())
    last = stored.states[-1]
    state = GraphState(
        identity=uuid.uuid4().hex,
        number=last.number + 1,
        generation=generation,
        vertices=last.vertices + added.vertices.num_rows,
        numbers=last.numbers + added.edges.num_rows,
        deleted=last.deleted + added.deleted.num_rows,
        rows=added.rows,
        files=files,
    )
    return own_entries(stored.generation.manifest) | {
        "schema": schema_to_json(added.schema),
        "vertices": state.vertices,
        "edges": state.edges,
        "quarantined": stored.quarantined + added.quarantined.num_rows,
        "listed": _listed(stored, added),
        "identity": state.identity,
        "changed": dt.datetime.now(dt.UTC).isoformat(),
        "states": states_to_json([*stored.states, state]),
    }


def _listed(stored: StoredGraph, added: AppendedRows) -> int:
    """How many vertices come from tables: they stand in front, as long as all before are listed."""
    if added.listed and stored.listed == stored.vertices:
        return stored.listed + int(added.vertices.num_rows)
    return stored.listed


_PART_ROWS = 1_000_000


class BaseRows(NamedTuple):
    """Vertices (`_id`, properties) and edges (`_src`, `_dst`, properties), each at its number.

    `deleted` are the numbers of the edges that are not there.
    """

    schema: GraphSchema
    vertices: pa.Table
    edges: pa.Table
    deleted: EdgeIds


def write_base(
    commit: Commit,
    before: StoredGraph | None,
    tables: BaseRows,
    entries: Manifest,
) -> Path:
    """Write a graph as one base and commit it; the states `before` go into its history."""
    vertices, edges, deleted = tables.vertices, tables.edges, tables.deleted
    number = 0 if before is None else before.states[-1].number + 1
    with disk_errors(commit.what, commit.folder):
        _write_base_table(commit.path, "vertices", vertices, 1)
        _write_base_table(commit.path, "edges", edges, 2)
        if len(deleted):
            gone = deleted_table(deleted, number, edges.num_rows)
            write_part(gone, commit.path / DELETED, append_file(0))
        if before is not None:
            write_history(before, commit.path)
    there = edges.num_rows - len(deleted)
    summary = GraphSummary(tables.schema, vertices.num_rows, there, 0, "a live graph")
    manifest = graph_manifest(summary)
    rows = vertices.num_rows, edges.num_rows, len(deleted)
    state = GraphState(manifest["identity"], number, commit.generation, *rows)
    manifest |= {"states": states_to_json([state]), **entries}
    if before is None:
        return commit.finish(manifest)
    quarantined = [name for name, _ in before.generation.parts("quarantine")]
    carried = carry_files(before.generation, quarantined, commit)
    stays = ("created", "source", "timezone", "quarantined")
    manifest |= {name: before.generation.manifest[name] for name in stays}
    manifest |= {"numbering": numbering_of(before) + 1}
    return commit.finish(own_entries(before.generation.manifest) | manifest, carried=carried)


def _write_base_table(path: Path, name: str, table: pa.Table, ends: int) -> None:
    """Write a table with numbers in front, and an empty label behind the ids or ends."""
    disk.make_folder(path / name)
    type_ = np.int32 if name == "vertices" else number_type(table.num_rows)
    numbers = pa.array(np.arange(table.num_rows, dtype=type_))
    whole = table.add_column(0, KEYS[name], numbers)
    whole = whole.add_column(1 + ends, "_label", pa.nulls(table.num_rows, pa.string()))
    for first in range(0, max(table.num_rows, 1), _PART_ROWS):
        write_table(whole.slice(first, _PART_ROWS), path / name / part_name(first))


# Opening a file takes about as long as reading so many rows of a table: measured, 0.4 ms beside
# 0.02 microseconds a row.
FILE_ROWS = 20_000
# A part has about so many rows.
_MERGED_ROWS = 1_000_000


def reading_cost(graph: StoredGraph) -> int:
    """How many rows have been read because of appends that are not merged yet."""
    last = graph.states[-1].number
    costs = (_size(state) * (last - state.number) for state in graph.states[1:])
    return sum(costs)


def rewriting_cost(graph: StoredGraph) -> int:
    """How many rows a merge writes."""
    state = graph.states[-1]
    return state.vertices + state.numbers + 2 * FILE_ROWS


def is_merge_due(graph: StoredGraph) -> bool:
    """Whether reading unmerged appends has cost more than a merge would."""
    return reading_cost(graph) > rewriting_cost(graph)


def write_merged(commit: Commit, graph: StoredGraph, *, renumber: bool | None = None) -> Path:
    """Write the graph as one base, and commit it. O(graph), by parts of a million rows.

    `renumber` leaves deleted edges out; None where more than half of the numbers are theirs.
    """
    deleted = deleted_edges(graph)
    if renumber is None:
        renumber = 2 * len(deleted) > graph.numbers
    gone = deleted if renumber else deleted[:0]
    with disk_errors(commit.what, commit.folder):
        _write_table(commit.path, graph, "vertices", no_edges())
        _write_table(commit.path, graph, "edges", gone)
        if len(deleted) > len(gone):
            _write_deleted(commit.path, graph)
        write_history(graph, commit.path)
    quarantined = [name for name, _ in graph.generation.parts("quarantine")]
    carried = carry_files(graph.generation, quarantined, commit)
    state = _merged_state(commit.generation, graph, len(gone))
    anew = len(gone) > 0 or any(graph.append_files(folder) for folder in CHANGED.values())
    manifest = own_entries(graph.generation.manifest) | {
        "edges": state.edges,
        "identity": state.identity,
        "states": states_to_json([state]),
        "numbering": numbering_of(graph) + anew,
    }
    return commit.finish(manifest, carried=carried)


def _size(state: GraphState) -> int:
    return state.rows + FILE_ROWS * state.files


def _merged_state(generation: str, graph: StoredGraph, dropped: int) -> GraphState:
    """The state after a merge: the last one, or a new one if edges were numbered anew."""
    last = replace(graph.states[-1], generation=generation, rows=0, files=0)
    if not dropped:
        return last
    left, deleted = last.numbers - dropped, last.deleted - dropped
    identity, number = uuid.uuid4().hex, last.number + 1
    return replace(last, identity=identity, number=number, numbers=left, deleted=deleted)


def _write_table(
    path: Path,
    graph: StoredGraph,
    table: TableName,
    gone: EdgeIds,
) -> None:
    disk.make_folder(path / table)
    schema, first = table_schema(graph, table), 0
    type_ = np.int32 if table == "vertices" else number_type(graph.numbers - len(gone))
    for rows in _joined(_parts(graph, table, gone)):
        numbers = pa.array(np.arange(first, first + rows.num_rows, dtype=type_))
        rows = rows.set_column(rows.schema.get_field_index(KEYS[table]), KEYS[table], numbers)
        write_table(rows, path / table / part_name(first))
        first += rows.num_rows
    if not first:
        write_table(schema.empty_table(), path / table / part_name(0))


def _parts(graph: StoredGraph, table: TableName, gone: EdgeIds) -> Iterator[pa.Table]:
    """The parts of a table in their present state, without deleted rows."""
    start, changed = 0, changed_rows(graph, table)
    for name, rows in graph.generation.parts(table):
        part = put_changed(read_rows(graph, name), changed, start)
        low, high = np.searchsorted(gone, [start, start + rows])
        left = np.delete(np.arange(rows), gone[low:high] - start)
        yield part if low == high else part.take(pa.array(left))
        start += rows


def _joined(parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Join small parts until they have enough rows."""
    held: list[pa.Table] = []
    for part in parts:
        held.append(part)
        if sum(item.num_rows for item in held) >= _MERGED_ROWS:
            yield pa.concat_tables(held).combine_chunks()
            held = []
    rest = pa.concat_tables(held).combine_chunks() if held else None
    if rest is not None and rest.num_rows:
        yield rest


def _write_deleted(path: Path, graph: StoredGraph) -> None:
    """Write all deleted edges into one file, each with the append that deleted it."""
    names = graph.append_files(DELETED)
    rows = written_deleted(graph, names)
    disk.make_folder(path / DELETED)
    write_table(rows.combine_chunks(), path / DELETED / append_file(0))
