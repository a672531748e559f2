"""A live graph from its folder: the last checkpoint, and what the log says has happened since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphtide.model.errors import NotFoundError
from graphtide.run.durable.records import COMPACT, Record, described_shape, read_record
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import LiveState
from graphtide.run.durable.tables import GraphTables, Numbers, with_changed
from graphtide.store.commit import open_committed
from graphtide.store.graph import StoredGraph, stored_graph
from graphtide.store.live_folders import has_log
from graphtide.store.log import LoggedRecord, read_log
from graphtide.store.merged import deleted_edges, edge_table, vertex_table
from graphtide.store.seal import well_formed

LIVE = "live"
"""The entry of a manifest that makes the generation of a graph a checkpoint."""


@dataclass
class Replay:
    """Rows put together: those of a checkpoint, and those that records add, until somebody asks."""

    what: str
    shape: Shape
    state: LiveState
    vertices: list[pa.Table] = field(default_factory=list)
    edges: list[pa.Table] = field(default_factory=list)
    gone: list[Numbers] = field(default_factory=list)
    changed: list[pa.Table] = field(default_factory=list)
    timezone: str = "UTC"

    def take(self, sequence: int, record: Record) -> None:
        """Follow a record."""
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

    def reshape(self, shape: Shape) -> None:
        """Go on with rows of other columns: those that had no values until now."""
        if shape == self.shape:
            return
        tables = self.tables()
        self.shape = shape
        vertices = _recast(tables.vertices, shape.vertices)
        self._hold(GraphTables(vertices, tables.edges, tables.gone))

    def tables(self) -> GraphTables:
        """All rows as they are now."""
        vertices = pa.concat_tables([self.shape.vertices.empty_table(), *self.vertices])
        vertices = with_changed(vertices, self.changed)
        edges = pa.concat_tables([self.shape.edges.empty_table(), *self.edges])
        gone = np.sort(np.concatenate([np.empty(0, np.int32), *self.gone]))
        return GraphTables(vertices, edges, gone)

    def _hold(self, tables: GraphTables) -> None:
        self.vertices, self.edges, self.gone = [tables.vertices], [tables.edges], [tables.gone]
        self.changed = []


def open_checkpoint(folder: Path, name: str, what: str) -> StoredGraph:
    """The last checkpoint of a live graph."""
    if not has_log(folder):
        raise NotFoundError(
            f"{what} is not there",
            where=str(folder),
            hint="begin it: gt.live(folder, start=gt.Graph(...))",
        )
    return stored_graph(name, open_committed(folder, what))


def replay_of(stored: StoredGraph) -> Replay:
    """What a checkpoint holds, ready to follow records."""
    with well_formed(stored.generation.what, stored.generation.path):
        entry = stored.generation.manifest[LIVE]
        shape, state = Shape.from_json(entry["shape"]), LiveState.from_json(entry["state"])
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
    known: dict[bytes, Shape] = {}
    with well_formed(f"the log of {replay.what}"):
        for item in records:
            if item.description not in known:
                known[item.description] = described_shape(item.description)
            replay.reshape(known[item.description])
            replay.take(item.sequence, read_record(item.data, replay.shape))


def recovered(folder: Path, stored: StoredGraph, what: str, *, promised: bool = False) -> Replay:
    """A live graph as it was left; as others were told that it is, if `promised`."""
    replay = replay_of(stored)
    since, graph = replay.state.sequence, replay.state.graph
    follow_log(replay, read_log(folder, what, since, graph, promised=promised))
    return replay


def _selected(table: pa.Table, schema: pa.Schema) -> pa.Table:
    return table.select(schema.names).cast(schema)


def _recast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The same rows; columns whose type is another have no values."""
    columns = [
        table.column(item.name)
        if table.schema.field(item.name).type == item.type
        else pa.chunked_array([pa.nulls(table.num_rows, item.type)])
        for item in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
