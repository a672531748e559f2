"""The folder of a live graph for its one writer: the lock, the log, and checkpoints.

A checkpoint is the next state of a stored graph: rows beside the last one, a base, or everything
numbered anew. It holds what the graph is after a record of the log, whose number its manifest
tells. The log goes on in a new file before a checkpoint is written, and its older files are removed
behind it: whoever starts in between finds the checkpoint before, and all that has happened since.
What is before the checkpoint before goes, which bounds the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphtide.run.durable.records import (
    COMPACT,
    GraphShape,
    LiveState,
    LogRecord,
    description,
    written,
)
from graphtide.run.durable.replay import (
    LIVE,
    NumberedTables,
    Numbers,
    Replay,
    checkpoint_fact,
    follow_log,
    memory_of,
    open_checkpoint,
    replay_of,
)
from graphtide.run.durable.steps import (
    Counts,
    as_table,
    begin_on_rows,
    can_be_replaced,
    counts_of,
    edge_rows,
    put_rows,
    tables_at,
    vertex_rows,
)
from graphtide.run.durable.stored_queries import held_vertices, numbers_now
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted
from graphtide.store.commit import begin_held, find_pointer, hold, open_committed
from graphtide.store.generation import Manifest
from graphtide.store.graph import StoredGraph, stored_graph
from graphtide.store.log import LogWriter, create_log, has_log, open_log
from graphtide.store.next_state import (
    AppendedRows,
    BaseRows,
    deleted_table,
    is_merge_due,
    write_append,
    write_base,
)
from graphtide.store.tables import TableName, deleted_edges, table_schema


class LiveStore:
    """The writer of a live graph, as long as it is open. `what` it is, for errors."""

    def __init__(self, folder: Path, name: str, what: str) -> None:
        self.folder = folder
        self.name = name
        self.what = what
        self._held = ExitStack()
        self.log: LogWriter
        self.stored: StoredGraph
        self.state: LiveState
        self.shape: GraphShape
        self.checkpointed: GraphShape

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
        self, tables: NumberedTables, shape: GraphShape, state: LiveState, timezone: str = "UTC"
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

    def commit(self, records: Sequence[LogRecord]) -> None:
        """Bring records to the log, at once, and follow them."""
        first, logged = self.log.next, [written(record) for record in records]
        with uninterrupted():
            self.log.append(logged)
            for number, record in enumerate(records, first):
                self.state.take(record, number)

    def reshape(self, shape: GraphShape) -> None:
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

    def checkpoint_base(self, tables: NumberedTables) -> None:
        self._roll(self.shape)
        with begin_held(self.folder, self.what) as commit:
            write_base(commit, self.stored, _base(tables, self.shape), self._entries())
        self._checkpointed()

    def close(self) -> None:
        self._held.close()

    def _roll(self, shape: GraphShape) -> None:
        with uninterrupted():
            self.log.roll(description(shape, self.state.graph))

    def _entries(self) -> Manifest:
        return {LIVE: _entry(self.shape, self.state)}

    def _checkpointed(self) -> None:
        self.stored = open_checkpoint(self.folder, self.name, self.what)
        self.checkpointed = self.shape


def is_live(folder: Path) -> bool:
    return has_log(folder) and find_pointer(folder) is not None


def _entry(shape: GraphShape, state: LiveState) -> Manifest:
    return {"shape": shape.to_json(), "state": state.to_json()}


def _base(tables: NumberedTables, shape: GraphShape) -> BaseRows:
    return BaseRows(shape.schema, tables.vertices, tables.edges, tables.gone)


def _nothing(stored: StoredGraph) -> AppendedRows:
    none = pa.table({})
    return AppendedRows(stored.schema, none, none, none, none, none, none, listed=True)


def _stored_rows(stored: StoredGraph, name: TableName, rows: pa.Table, first: int) -> pa.Table:
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


LOG_BYTES = 64 << 20
"""A checkpoint is due when the log has grown by this much, which takes a second to read again."""

_FEW_GONE = 10_000


class Checkpoints:
    """Writes the checkpoints of one live graph, which is in memory what it is on the disk.

    `renumbered` is called when vertices and edges have got other numbers.
    """

    def __init__(
        self, graph: MemoryGraph, store: LiveStore, replay: Replay, renumbered: Callable[[], None]
    ) -> None:
        self._graph, self._store, self._renumbered = graph, store, renumbered
        self._stored = Counts(store.stored.vertices, store.stored.numbers)
        self._anew = replay.state.compacted > self._sequence
        self._gone: list[Numbers] = []
        if not self._anew:
            gone = replay.tables().gone if replay.gone else np.empty(0, np.int32)
            self._gone.append(np.setdiff1d(gone, deleted_edges(store.stored)))
        self._due = LOG_BYTES

    @property
    def _sequence(self) -> int:
        """The last record that the checkpoint has."""
        return checkpoint_fact(self._store.stored, "sequence")

    @property
    def is_due(self) -> bool:
        return self._store.log.grown >= self._due

    def put_off(self) -> None:
        """Let the log grow on, since there was no room for a checkpoint."""
        self._due += LOG_BYTES

    def note(self, records: list[LogRecord]) -> None:
        """Collect the edges that records delete, for the next checkpoint."""
        self._gone += [record.deleted for record in records if len(record.deleted)]

    def write(self, *, compact: bool) -> None:
        """Store the graph as it is; compacted where that is asked for, or pays.

        It pays where more edges are gone than there are: it then costs less than it took to delete
        them.
        """
        store, graph, previous = self._store, self._graph, self._sequence
        if compact or (self._is_compaction_due() and can_be_replaced(graph)):
            store.checkpoint_base(self._compacted())
        elif self._needs_base(previous) or is_merge_due(store.stored):
            store.checkpoint_base(tables_at(graph, store.shape))
        else:
            store.checkpoint_rows(*self._since_stored())
        self._stored, self._gone, self._anew = counts_of(graph), [], False
        self._due = LOG_BYTES
        store.log.remove_before(previous + 1)

    def _needs_base(self, stored: int) -> bool:
        """Whether what has happened since the last checkpoint is more than rows that came and
        went.
        """
        changed = self._store.state.changed > stored
        return self._anew or changed or self._store.shape != self._store.checkpointed

    def _is_compaction_due(self) -> bool:
        resident = self._graph._resident
        gone = resident.edges - resident.live
        leaving = 2 * len(self._store.state.leaving)
        return gone > max(resident.live, _FEW_GONE) or leaving > max(resident.vertices, _FEW_GONE)

    def _compacted(self) -> NumberedTables:
        """Number everything anew: in the log, in memory, and in what is returned.

        Vertices that leave, and that a query or a program names, stay until it is gone.
        """
        graph, store = self._graph, self._store
        held = np.intersect1d(held_vertices(graph), np.array([*store.state.leaving], np.int32))
        record = LogRecord({"kind": COMPACT, "stay": held.tolist()})
        tables = tables_at(graph, store.shape).compacted(store.state.leaving_by(record))
        made = memory_of(tables, store.shape)
        record.facts["left"] = numbers_now(graph, held, made.ids)
        with uninterrupted(), changing(graph._turns):
            store.commit([record])
            self._anew = True
            replaced = put_rows(graph, made)
            self._renumbered()
        begin_on_rows(graph, replaced)
        return tables

    def _since_stored(self) -> tuple[pa.Table, pa.Table, Numbers]:
        """The rows that have come since the last checkpoint, and the edges that have gone."""
        graph, shape, (vertices, edges) = self._graph, self._store.shape, self._stored
        now = counts_of(graph)
        return (
            as_table(vertex_rows(graph, vertices, now.vertices, shape), shape.vertices),
            as_table(edge_rows(graph, edges, now.edges, shape), shape.edges),
            np.sort(np.concatenate([np.empty(0, np.int32), *self._gone])),
        )
