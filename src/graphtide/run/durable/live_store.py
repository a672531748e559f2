"""The folder of a live graph for its one writer: the lock, the log, and checkpoints.

A checkpoint is the next state of a stored graph. It holds what the graph is after a record of the
log, whose number its manifest tells. The log goes on in a new file before a checkpoint is written,
and its older files are removed behind it: whoever starts in between finds the checkpoint before,
and all that has happened since.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphtide.run.durable.records import Record, description, written
from graphtide.run.durable.recover import LIVE, Replay, follow_log, open_checkpoint, replay_of
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import LiveState
from graphtide.run.durable.tables import GraphTables, Numbers
from graphtide.run.turns import uninterrupted
from graphtide.store.append import Appended, deleted_table, write_append
from graphtide.store.base import BaseTables, write_base
from graphtide.store.commit import begin_held, find_pointer, hold, open_committed
from graphtide.store.generation import Manifest
from graphtide.store.graph import StoredGraph, stored_graph
from graphtide.store.live_folders import has_log
from graphtide.store.log import Log, create_log, open_log
from graphtide.store.merged import TableName, table_schema


class LiveStore:
    """The writer of a live graph, as long as it is open. `what` it is, for errors."""

    def __init__(self, folder: Path, name: str, what: str) -> None:
        self.folder = folder
        self.name = name
        self.what = what
        self._held = ExitStack()
        self.log: Log
        self.stored: StoredGraph
        self.state: LiveState
        self.shape: Shape
        self.checkpointed: Shape

    def open(self) -> Replay:
        """Take the lock, and find what was left; a torn tail of the log is cut off."""
        self._held.enter_context(hold(self.folder, self.what))
        try:
            self.stored = open_checkpoint(self.folder, self.name, self.what)
            replay = replay_of(self.stored)
            self.checkpointed, since = replay.shape, replay.state.sequence
            self.log, records = open_log(self.folder, self.what, since, replay.state.graph)
            self._held.callback(self.log.close)
            follow_log(replay, records)
            self.state, self.shape = replay.state, replay.shape
        except BaseException:
            self._held.close()
            raise
        return replay

    def create(
        self, tables: GraphTables, shape: Shape, state: LiveState, timezone: str = "UTC"
    ) -> None:
        """Begin a live graph in a folder that has none: of these tables, whose times are read in a
        time zone, or of the stored graph that is there already, be it one of the catalog or what a
        creator that died has left.
        """
        with hold(self.folder, self.what):
            entries = {LIVE: _entry(shape, state)}
            if find_pointer(self.folder) is None:
                with begin_held(self.folder, self.what) as commit:
                    zone = {"timezone": timezone}
                    write_base(commit, None, _base(tables, shape), entries | zone)
            stored = stored_graph(self.name, open_committed(self.folder, self.what))
            if LIVE not in stored.generation.manifest:
                with begin_held(self.folder, self.what) as commit:
                    write_append(commit, stored, _nothing(stored), entries)
                stored = stored_graph(self.name, open_committed(self.folder, self.what))
            graph = LiveState.from_json(stored.generation.manifest[LIVE]["state"]).graph
            create_log(self.folder, self.what, description(shape, graph))

    def commit(self, records: Sequence[Record]) -> None:
        """Bring records to the log, at once, and follow them."""
        first, logged = self.log.next, [written(record) for record in records]
        with uninterrupted():
            self.log.append(logged)
            for number, record in enumerate(records, first):
                self.state.take(record, number)

    def reshape(self, shape: Shape) -> None:
        """Let the records to come have other columns."""
        with uninterrupted():
            self._roll(shape)
            self.shape = shape

    def checkpoint_rows(self, vertices: pa.Table, edges: pa.Table, deleted: Numbers) -> None:
        """Store what has come and gone since the last checkpoint: O(that)."""
        self._roll(self.shape)
        stored = self.stored
        added = replace(
            _nothing(stored),
            vertices=_stored_rows(stored, "vertices", vertices, stored.vertices),
            edges=_stored_rows(stored, "edges", edges, stored.numbers),
            deleted=deleted_table(deleted, stored.number + 1, stored.numbers + edges.num_rows),
        )
        with begin_held(self.folder, self.what) as commit:
            write_append(commit, stored, added, self._entries())
        self._checkpointed()

    def checkpoint_base(self, tables: GraphTables) -> None:
        """Store everything anew."""
        self._roll(self.shape)
        with begin_held(self.folder, self.what) as commit:
            write_base(commit, self.stored, _base(tables, self.shape), self._entries())
        self._checkpointed()

    def close(self) -> None:
        """Let the log and the lock go."""
        self._held.close()

    def _roll(self, shape: Shape) -> None:
        with uninterrupted():
            self.log.roll(description(shape, self.state.graph))

    def _entries(self) -> Manifest:
        return {LIVE: _entry(self.shape, self.state)}

    def _checkpointed(self) -> None:
        self.stored = open_checkpoint(self.folder, self.name, self.what)
        self.checkpointed = self.shape


def is_live(folder: Path) -> bool:
    """Whether a live graph is in a folder."""
    return has_log(folder) and find_pointer(folder) is not None


def _entry(shape: Shape, state: LiveState) -> Manifest:
    return {"shape": shape.to_json(), "state": state.to_json()}


def _base(tables: GraphTables, shape: Shape) -> BaseTables:
    return BaseTables(shape.schema, tables.vertices, tables.edges, tables.gone)


def _nothing(stored: StoredGraph) -> Appended:
    """An append of no rows."""
    none = pa.table({})
    return Appended(stored.schema, none, none, none, none, none, none, listed=True)


def _stored_rows(stored: StoredGraph, name: TableName, rows: pa.Table, first: int) -> pa.Table:
    """Rows in the columns of a stored table, with their numbers."""
    schema = table_schema(stored, name)
    key = schema.names[0]
    numbers = pa.array(np.arange(first, first + rows.num_rows, dtype=np.int32))
    columns = [
        numbers.cast(item.type)
        if item.name == key
        else rows.column(item.name).cast(item.type)
        if item.name in rows.column_names
        else pa.nulls(rows.num_rows, item.type)
        for item in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
