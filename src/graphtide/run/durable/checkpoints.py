"""Checkpoints of a live graph: rows beside the last one, a base, or everything numbered anew.

A checkpoint is a stored graph, and bounds the log: what is before the one before it goes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from graphtide.run.durable.asked import held_vertices, numbers_now
from graphtide.run.durable.live_store import LiveStore
from graphtide.run.durable.records import COMPACT, Record
from graphtide.run.durable.recover import Replay
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
from graphtide.run.durable.tables import GraphTables, Numbers, memory_of
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted
from graphtide.store.merge import is_merge_due
from graphtide.store.merged import deleted_edges

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
        return int(self._store.stored.generation.manifest["live"]["state"]["sequence"])

    @property
    def is_due(self) -> bool:
        """Whether the log has grown enough."""
        return self._store.log.grown >= self._due

    def put_off(self) -> None:
        """Let the log grow on, since there was no room for a checkpoint."""
        self._due += LOG_BYTES

    def note(self, records: list[Record]) -> None:
        """Know which edges have gone since the last checkpoint."""
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

    def _compacted(self) -> GraphTables:
        """Number everything anew: in the log, in memory, and in what is returned.

        Vertices that leave, and that a query or a program names, stay until it is gone.
        """
        graph, store = self._graph, self._store
        held = np.intersect1d(held_vertices(graph), np.array([*store.state.leaving], np.int32))
        record = Record({"kind": COMPACT, "stay": held.tolist()})
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
