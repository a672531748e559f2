"""A live graph from its folder: the last checkpoint, and what the log says has happened since.

A graph stands here as two tables, a row for each vertex and for each edge at its number. That is
how checkpoints are stored and what records add to, so a start puts rows together and makes one
graph of them, instead of repeating every advance: what costs a look-up per row the first time costs
a copy then.

An earlier version is put together in the same way, to see what has changed since. The store keeps
the last checkpoint and the one before it, and the log goes back as far; what lies before that is
gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.column_types import MEMORY_TYPES
from graphtide.model.errors import NotFoundError, StoreError
from graphtide.run.durable.records import (
    COMPACT,
    GraphShape,
    LiveState,
    LogRecord,
    described_shape,
    read_record,
)
from graphtide.run.live.named_graph import NamedGraph, SavedGraph, restored_graph
from graphtide.run.live.vertex_ids import VertexIds, id_column
from graphtide.run.views.snapshot import Snapshot
from graphtide.run.views.typed_columns import for_programs
from graphtide.store.commit import open_committed
from graphtide.store.files import Damage, inventory_from, well_formed, within
from graphtide.store.generation import Generation, complete, damaged_error, read_manifest
from graphtide.store.graph import StoredGraph, stored_graph
from graphtide.store.log import LoggedRecord, first_logged, has_log, read_log
from graphtide.store.tables import deleted_edges, edge_table, vertex_table

Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class NumberedTables:
    """All vertices, all edges, and which of these are gone; sorted, each once."""

    vertices: pa.Table
    edges: pa.Table
    gone: Numbers

    def compacted(self, leaving: Numbers) -> NumberedTables:
        """Without the edges that are gone, and without leaving vertices that have no edge.

        What stays keeps its order, so that whoever does this to the same tables gets the same.
        """
        there = np.ones(self.edges.num_rows, np.bool_)
        there[self.gone] = False
        edges = self.edges.filter(pa.array(there))
        ends = [edges.column(name).to_numpy() for name in ("_src", "_dst")]
        stays = np.ones(self.vertices.num_rows, np.bool_)
        stays[leaving] = False
        for end in ends:
            stays[end] = True
        places = (np.cumsum(stays) - 1).astype(np.int32)
        for at, end in enumerate(ends):
            edges = edges.set_column(at, edges.schema.field(at), pa.array(places[end]))
        return NumberedTables(self.vertices.filter(pa.array(stays)), edges, self.gone[:0])


def with_changed(vertices: pa.Table, changed: Sequence[pa.Table]) -> pa.Table:
    """Vertices with the values that rows give them by number; the last one counts. O(vertices)."""
    if not changed:
        return vertices
    rows = pa.concat_tables(changed)
    places = np.arange(vertices.num_rows)
    places[rows.column("_vertex").to_numpy()] = len(places) + np.arange(rows.num_rows)
    taken = pa.array(places)
    columns = [vertices.column("_id")]
    for name in vertices.column_names[1:]:
        both = [*vertices.column(name).chunks, *rows.column(name).chunks]
        columns.append(pa.chunked_array(both, vertices.schema.field(name).type).take(taken))
    return pa.Table.from_arrays(columns, schema=vertices.schema)


def tables_of(snapshot: Snapshot, shape: GraphShape) -> NumberedTables:
    count, rows = len(snapshot.ids), len(snapshot)
    ids = snapshot.ids.taken(np.arange(count)).cast(shape.vertices.field("_id").type)
    known = {name: snapshot.vertex_column(name) for name, _ in shape.vertex}
    columns = {name: snapshot.edge_column(name) for name in shape.edge_types}
    ends = {"_src": pa.array(snapshot.src), "_dst": pa.array(snapshot.dst)}
    return NumberedTables(
        _table({"_id": ids, **known}, shape.vertices),
        _table({**ends, **columns}, shape.edges) if rows else shape.edges.empty_table(),
        np.empty(0, np.int32),
    )


def _table(columns: dict[str, Any], schema: pa.Schema) -> pa.Table:
    cast = [columns[item.name].cast(item.type) for item in schema]
    return pa.Table.from_arrays(cast, schema=schema)


def memory_of(tables: NumberedTables, shape: GraphShape) -> NamedGraph:
    """A graph in memory with what only views read of its edges; shares nothing with the tables."""
    edges = tables.edges
    _check_numbers(tables)
    columns = pa.table({name: _column(edges, name, kind) for name, kind in shape.kept})
    properties = {
        name: _numbers(edges, columns, name, np.dtype(dtype)) for name, dtype in shape.numbers
    }
    saved = SavedGraph(
        ids=_ids(tables.vertices.column("_id")),
        names=shape.names,
        simple=shape.simple,
        src=_array(edges, "_src", np.dtype(np.int32)),
        dst=_array(edges, "_dst", np.dtype(np.int32)),
        properties=properties,
        gone=tables.gone,
        directed=shape.directed,
    )
    described = {name: _column(tables.vertices, name, kind) for name, kind in shape.vertex}
    return restored_graph(saved, pa.table(described), columns)


def _check_numbers(tables: NumberedTables) -> None:
    """ValueError for vertices and edges that are not there: kernels take numbers as given."""
    for name in ("_src", "_dst"):
        ends = tables.edges.column(name)
        if ends.null_count:
            raise ValueError(f"an edge without {name[1:]}")
        if not within(ends.to_numpy(), tables.vertices.num_rows):
            raise ValueError("an edge of a vertex that is not there")
    if not within(tables.gone, tables.edges.num_rows):
        raise ValueError("a deleted edge that is not there")
    if len(np.unique(tables.gone)) < len(tables.gone):
        raise ValueError("an edge that is deleted twice")


def _ids(column: pa.ChunkedArray) -> VertexIds:
    if pa.types.is_integer(column.type):
        return VertexIds(np.array(column.to_numpy(), np.int64))
    ids = id_column(column, "the ids")
    return VertexIds(ids if ids.dtype == object else ids.astype(object))


def _column(table: pa.Table, name: str, kind: str) -> pa.ChunkedArray:
    return table.column(name).cast(MEMORY_TYPES[kind])


def _numbers(edges: pa.Table, kept: pa.Table, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if name in kept.column_names:
        numbers = for_programs(kept.column(name))
        assert numbers is not None
        return np.array(numbers)
    return _array(edges, name, dtype)


def _array(table: pa.Table, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A copy of a column; what is missing is NaN."""
    return np.array(table.column(name).to_numpy(), dtype)


LIVE = "live"
"""The entry of a manifest that makes the generation of a graph a checkpoint."""


@dataclass
class Replay:
    """Rows put together: those of a checkpoint, and those that records add, until somebody asks."""

    what: str
    shape: GraphShape
    state: LiveState
    vertices: list[pa.Table] = field(default_factory=list)
    edges: list[pa.Table] = field(default_factory=list)
    gone: list[Numbers] = field(default_factory=list)
    changed: list[pa.Table] = field(default_factory=list)
    timezone: str = "UTC"

    def take(self, sequence: int, record: LogRecord) -> None:
        if record.kind == COMPACT:
            self._hold(self.tables().compacted(self.state.leaving_by(record)))
        if record.vertices is not None:
            self.vertices.append(pa.Table.from_batches([record.vertices]))
        if record.edges is not None:
            self.edges.append(pa.Table.from_batches([record.edges]))
        if len(record.deleted):
            self.gone.append(record.deleted)
        if record.changed is not None:
            self.changed.append(pa.Table.from_batches([record.changed]))
        self.state.take(record, sequence)

    def reshape(self, shape: GraphShape) -> None:
        """Go on with rows of other columns: those that had no values until now."""
        if shape == self.shape:
            return
        tables = self.tables()
        self.shape = shape
        vertices = _recast(tables.vertices, shape.vertices)
        self._hold(NumberedTables(vertices, tables.edges, tables.gone))

    def tables(self) -> NumberedTables:
        vertices = pa.concat_tables([self.shape.vertices.empty_table(), *self.vertices])
        vertices = with_changed(vertices, self.changed)
        edges = pa.concat_tables([self.shape.edges.empty_table(), *self.edges])
        gone = np.sort(np.concatenate([np.empty(0, np.int32), *self.gone]))
        return NumberedTables(vertices, edges, gone)

    def _hold(self, tables: NumberedTables) -> None:
        self.vertices, self.edges, self.gone = [tables.vertices], [tables.edges], [tables.gone]
        self.changed = []


def open_checkpoint(folder: Path, name: str, what: str) -> StoredGraph:
    if not has_log(folder):
        raise NotFoundError(
            f"{what} is not there",
            where=str(folder),
            hint="begin it: gt.live(folder, start=gt.Graph(...))",
        )
    return stored_graph(name, open_committed(folder, what))


def replay_of(stored: StoredGraph) -> Replay:
    """The rows of a checkpoint, ready to follow records."""
    with well_formed(stored.generation.what, stored.generation.path):
        entry = stored.generation.manifest[LIVE]
        shape, state = GraphShape.from_json(entry["shape"]), LiveState.from_json(entry["state"])
        return Replay(
            stored.generation.what,
            shape,
            state,
            [_selected(vertex_table(stored), shape.vertices)],
            [_selected(edge_table(stored), shape.edges)],
            [deleted_edges(stored)],
            timezone=stored.timezone,
        )


def follow_log(replay: Replay, records: Iterable[LoggedRecord]) -> None:
    """Bring rows to what the last of some records has made of them."""
    known: dict[bytes, GraphShape] = {}
    with well_formed(f"the log of {replay.what}"):
        for item in records:
            if item.description not in known:
                known[item.description] = described_shape(item.description)
            replay.reshape(known[item.description])
            replay.take(item.sequence, read_record(item.data, replay.shape))


def recovered(folder: Path, stored: StoredGraph, what: str, *, promised: bool = False) -> Replay:
    replay = replay_of(stored)
    since, graph = replay.state.sequence, replay.state.graph
    follow_log(replay, read_log(folder, what, since, graph, promised=promised))
    return replay


def _selected(table: pa.Table, schema: pa.Schema) -> pa.Table:
    return table.select(schema.names).cast(schema)


def _recast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with another schema; a column whose type changed had no values."""
    columns = [
        table.column(item.name)
        if table.schema.field(item.name).type == item.type
        else pa.chunked_array([pa.nulls(table.num_rows, item.type)])
        for item in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def earlier_version(
    folder: Path, name: str, what: str, version: int
) -> tuple[Replay, list[LoggedRecord]]:
    """The graph at a version, and the records behind it; StoreError if it is too long ago."""
    first = first_logged(folder)
    known = [
        item
        for item in _checkpoints(folder, name, what)
        if checkpoint_fact(item, "sequence") >= first - 1
    ]
    there = [item for item in known if checkpoint_fact(item, "version") <= version]
    if not there:
        oldest = min((checkpoint_fact(item, "version") for item in known), default=0)
        raise StoreError(
            f"the changes of {what} since version {version:,} are gone: they are known since "
            f"version {oldest:,}",
            where=str(folder),
            hint="take the whole results, live.program(name).table() or "
            "live.queries[name].table(), and go on from there; `deliver` does so under the name "
            "of a new consumer",
        )
    replay = replay_of(max(there, key=lambda item: checkpoint_fact(item, "sequence")))
    since, graph = replay.state.sequence, replay.state.graph
    records = read_log(folder, what, since, graph, promised=True)
    until = _records_until(records, version)
    follow_log(replay, records[:until])
    return replay, records[until:]


def _records_until(records: list[LoggedRecord], version: int) -> int:
    """The number of records up to a version; other acts belong to the batch before them."""
    for at, item in enumerate(records):
        with well_formed("the log"):
            facts = read_record(item.data, described_shape(item.description)).facts
            behind = facts.get("version", 0) > version
        if behind:
            return at
    return len(records)


def _checkpoints(folder: Path, name: str, what: str) -> list[StoredGraph]:
    """The last checkpoint, and the one before it if it is complete."""
    last = open_committed(folder, what)
    checkpoints = [last]
    for older in complete(folder):
        read = read_manifest(folder / older, None)
        if isinstance(read, Damage) and read.error is not None:
            raise damaged_error(what, read, "")
        if older != last.path.name and not isinstance(read, Damage) and LIVE in read[0]:
            manifest, checksum = read
            files = inventory_from(manifest["files"])
            checkpoints.append(Generation(folder / older, manifest, checksum, files, what))
    return [stored_graph(name, item) for item in checkpoints]


def checkpoint_fact(stored: StoredGraph, name: str) -> int:
    """A number in the state of a checkpoint: its `version`, or the `sequence` of its record."""
    with well_formed(stored.generation.what, stored.generation.path):
        return int(stored.generation.manifest[LIVE]["state"][name])
