"""The writer of a live graph: advances that are on the disk before anybody hears of them.

An advance is made in memory first, with all that follows it: whatever can be refused is refused
there, by the same code as on any graph in memory, and so nothing is ever logged that could not be
done again. Then it is logged. Only if that succeeds can it not be undone any more; if it fails, the
graph goes back. Nobody sees the version in between: calls on a graph take turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from graphtide.model.errors import GraphtideError, InputError, StoreError
from graphtide.run.durable.asked import held_vertices, numbers_now
from graphtide.run.durable.expiry import Expiry, Keep, times_of
from graphtide.run.durable.given import GivenBatch, Prepared, expiry_of, prepared
from graphtide.run.durable.live_store import LiveStore
from graphtide.run.durable.records import ASK, COMPACT, DROP, REGISTER, SET, UNREGISTER, Record
from graphtide.run.durable.recover import Replay
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import BatchId, LiveState
from graphtide.run.durable.steps import (
    Counts,
    as_table,
    begin_on_rows,
    can_be_replaced,
    chosen_edges,
    counts_of,
    current_shape,
    edge_rows,
    put_rows,
    record_of,
    tables_at,
    values_before,
    vertex_rows,
)
from graphtide.run.durable.tables import GraphTables, Numbers, memory_of
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import uninterrupted
from graphtide.store.merge import is_merge_due
from graphtide.store.merged import deleted_edges

LOG_BYTES = 64 << 20
"""A checkpoint is due when the log has grown by so much; reading it again takes about a second."""

GROUP_ROWS = 20_000
"""Batches that are given together are brought to the disk by about so many rows at once."""

_FEW_GONE = 10_000
_MOST_UNDOABLE = 100


class _Undoable(NamedTuple):
    """What an advance did: edges that came and edges that went, by number, vertices that were to
    stay before and leave now, those that were to leave or were not there and stay now, and what
    vertices had before that got other values.

    `version` is that of the graph in memory behind it. An edge that a rollback brings back has
    another number: then so have the edges that came.
    """

    version: int
    came: Numbers
    gone: Numbers
    left: list[int]
    stays: list[int]
    before: pa.Table | None = None


class Writer:
    """Advances of one live graph, and its checkpoints. Whoever calls has the graph's turn."""

    def __init__(self, graph: MemoryGraph, store: LiveStore, replay: Replay) -> None:
        self.graph = graph
        self.store = store
        self._stored = Counts(store.stored.vertices, store.stored.numbers)
        self._anew = replay.state.compacted > _checkpoint_sequence(store)
        self._gone: list[Numbers] = []
        if not self._anew:
            gone = replay.tables().gone if replay.gone else np.empty(0, np.int32)
            self._gone.append(np.setdiff1d(gone, deleted_edges(store.stored)))
        self._due = LOG_BYTES
        self._undoable: list[_Undoable] = []
        self._on_disk = graph._versions.current
        """The version of the graph in memory that is on the disk."""
        self._leaves: dict[int, bool] = {}
        """Vertices of which records that are not on the disk yet say that they leave, or stay."""
        self.expiry: Expiry | None = None
        self.applied: Callable[[int], None] = lambda version: None
        """Called with every version that the graph has come to, before it is logged."""
        self.committed: Callable[[], None] = lambda: None
        """Called when versions have been logged."""
        self.find_expiry()

    @property
    def state(self) -> LiveState:
        """What the graph knows besides vertices and edges."""
        return self.store.state

    @property
    def shape(self) -> Shape:
        """The columns of the records to come."""
        return self.store.shape

    def advance(self, given: GivenBatch) -> None:
        """One advance, on the disk when this returns; none if the batch was applied before."""
        self.back_to_disk()
        if given.id is None or not self.state.has(given.id):
            self._commit([self._made(given, [])])
            self._behind_commit()

    def advance_all(self, batches: Iterable[GivenBatch]) -> None:
        """Many advances, several of which are brought to the disk at once.

        Where one is refused, those before it are done.
        """
        held: list[Record] = []
        self.back_to_disk()
        try:
            for given in batches:
                if given.id is not None and self._has(given.id, held):
                    continue
                held.append(self._made(given, held))
                if sum(map(_rows, held)) >= GROUP_ROWS:
                    self._commit_held(held)
        except GraphtideError:
            self._commit_held(held)
            raise
        except BaseException:
            self.back_to_disk()
            raise
        self._commit_held(held)

    def _commit_held(self, held: list[Record]) -> None:
        records = held.copy()
        held.clear()
        if records:
            self._commit(records)
            self._behind_commit()

    def _has(self, given: BatchId, held: list[Record]) -> bool:
        """Whether a batch was applied before; those that are held are brought to the disk first
        where one of them could be it.
        """
        if any("id" in item.facts or "stream" in item.facts for item in held):
            names = [item.facts.get("id") for item in held]
            if isinstance(given, str) and given in names:
                return True
            if not isinstance(given, str):
                self._commit_held(held)
        return self.state.has(given)

    def rollback(self) -> None:
        """One more advance, which takes back what the last one has brought and taken."""
        self.back_to_disk()
        if not self._undoable:
            raise InputError(
                "there is no advance to roll back",
                hint="those of this process since the last checkpoint can be",
            )
        last = self._undoable[-1]
        rows = chosen_edges(self.graph, last.gone, self.shape) if len(last.gone) else None
        facts: dict[str, Any] = {"rollback": True, "left": last.stays, "back": last.left}
        batch = Prepared(rows, last.came if len(last.came) else None, last.before, facts)
        if self.expiry is not None:
            times = [] if rows is None else rows[self.expiry.keep.time]
            batch.times = times_of(times, self.expiry.keep.time)
            self.expiry.begin()
        self._commit([self._tried(lambda: self._applied(batch, []))], back=last)
        self._behind_commit()

    def _forget_undone(self, last: _Undoable) -> None:
        """Leave out an advance that was taken back, and the one that took it back."""
        came = self._undoable[-1].came
        del self._undoable[-2:]
        self._renumber(last.gone, came)

    def _renumber(self, before: Numbers, now: Numbers) -> None:
        """Let earlier advances know the edges that they brought by the numbers that these have."""
        if not len(before):
            return
        order = np.argsort(before)
        for at, item in enumerate(self._undoable):
            place = np.searchsorted(before, item.came, sorter=order)
            found = order[np.minimum(place, len(before) - 1)]
            came = np.where(before[found] == item.came, now[found], item.came)
            self._undoable[at] = item._replace(came=came.astype(np.int32))

    def _behind_commit(self) -> None:
        """Tell of what is on the disk, and then see whether a checkpoint is due."""
        self.committed()
        self.checkpoint_if_due()

    def _made(self, given: GivenBatch, held: list[Record]) -> Record:
        """Advance the graph in memory, and say what is to be logged."""
        if self.expiry is not None:
            self.expiry.begin()
        return self._tried(
            lambda: self._applied(prepared(self.graph, given, self.shape, self.expiry), held)
        )

    def _tried(self, advance: Callable[[], Record]) -> Record:
        """What an advance has come to; as before, whatever stops it, in memory too."""
        before = self.graph._versions.current
        try:
            return advance()
        except BaseException:
            with uninterrupted():
                self._take_back(before)
                if self.expiry is not None:
                    self.expiry.back()
            raise

    def _take_back(self, version: int) -> None:
        """Let the graph in memory be at an earlier version."""
        while self.graph._versions.current > version:
            self.graph._versions.rollback()
        while self._undoable and self._undoable[-1].version > version:
            undone = self._undoable.pop()
            self._leaves |= dict.fromkeys(undone.left, False) | dict.fromkeys(undone.stays, True)

    def _applied(self, batch: Prepared, held: list[Record]) -> Record:
        graph, before = self.graph, counts_of(self.graph)
        MemoryGraph._advance(graph, batch.insert, batch.delete, batch.vertices)
        shape = current_shape(graph, self.shape)
        if shape != self.shape:
            self._reshape(shape, held)
        facts = {"version": self.state.version + len(held) + 1, **batch.facts}
        record = record_of(graph, before, shape, facts)
        self._find_returned(record)
        if self.expiry is not None and batch.times is not None:
            self.expiry.enter(batch.times, before.edges)
        self._note_undoable(record, before)
        self.applied(record.facts["version"])
        del self._undoable[:-_MOST_UNDOABLE]
        return record

    def _find_returned(self, record: Record) -> None:
        """Vertices that were to leave, or leave by this record, and that it names again, stay."""
        facts = record.facts
        left = set(facts.get("left", ()))
        if "rollback" in facts or not (left or self.state.leaving or self._leaves):
            return
        named = [] if record.edges is None else [record.edges.column(at) for at in (0, 1)]
        named += [] if record.changed is None else [record.changed.column(0)]
        ends = {end for column in named for end in column.to_pylist()}
        back = sorted(end for end in ends if end in left or self._is_leaving(end))
        if back:
            facts["back"] = back

    def _is_leaving(self, vertex: int) -> bool:
        return self._leaves.get(vertex, vertex in self.state.leaving)

    def _note_undoable(self, record: Record, before: Counts) -> None:
        """Keep what a rollback needs, and who leaves by what is not on the disk yet."""
        now, facts = counts_of(self.graph), record.facts
        after = dict.fromkeys(facts.get("left", ()), True) | dict.fromkeys(
            facts.get("back", ()), False
        )
        left = [vertex for vertex, leaves in after.items() if leaves > self._is_leaving(vertex)]
        stays = [vertex for vertex, leaves in after.items() if leaves < self._is_leaving(vertex)]
        stays += range(before.vertices, now.vertices)
        self._leaves |= after
        came = np.arange(before.edges, now.edges, dtype=np.int32)
        self._undoable.append(
            _Undoable(
                self.graph._versions.current,
                came,
                record.deleted,
                left,
                stays,
                values_before(self.graph),
            )
        )

    def _reshape(self, shape: Shape, held: list[Record]) -> None:
        """Records with other columns go to another file, behind those that are held."""
        if held:
            with uninterrupted():
                self._bring(held)
            held.clear()
        self.store.reshape(shape)

    def _commit(self, records: list[Record], back: _Undoable | None = None) -> None:
        """Bring records to the disk; the last one takes `back` what that advance did."""
        try:
            with uninterrupted():
                self._bring(records)
                self.graph._versions.forget()
                if back is not None:
                    self._forget_undone(back)
        except BaseException:
            self.back_to_disk()
            raise

    def _bring(self, records: list[Record]) -> None:
        self.store.commit(records)
        self._on_disk += len(records)
        self._gone += [record.deleted for record in records if len(record.deleted)]
        self._leaves.clear()

    def back_to_disk(self) -> None:
        """Let the graph in memory be what is on the disk, where something stopped between them."""
        if self.graph._versions.current == self._on_disk:
            return
        with uninterrupted():
            self._take_back(self._on_disk)
            self._leaves.clear()
            self.find_expiry()

    def find_expiry(self) -> None:
        """Look at the times of all edges, where edges expire. O(edges)."""
        if self.state.keep is not None:
            keep = Keep(**self.state.keep)
            self.expiry = expiry_of(self.graph, self.shape, keep, self.state.latest)

    def register(self, name: str, program: dict[str, Any]) -> None:
        """Remember a program by its name, with all that it takes to make it again."""
        self.store.commit([Record({"kind": REGISTER, "name": name, "program": program})])

    def unregister(self, name: str) -> None:
        """Forget a program."""
        self.store.commit([Record({"kind": UNREGISTER, "name": name})])

    def ask(self, name: str, query: dict[str, Any]) -> None:
        """Remember a query by its name, with all that it takes to ask it again."""
        self.store.commit([Record({"kind": ASK, "name": name, "query": query})])

    def set(self, settings: dict[str, Any]) -> None:
        """Remember how queries are kept."""
        self.store.commit([Record({"kind": SET, "settings": settings})])

    def drop(self, name: str) -> None:
        """Forget a query."""
        self.store.commit([Record({"kind": DROP, "name": name})])

    def checkpoint_if_due(self) -> None:
        """A checkpoint where the log has grown enough. The advances before it are done in any case:
        where there is no room for it, the log goes on, and a warning says so.
        """
        if self.store.log.grown < self._due:
            return
        try:
            self.checkpoint()
        except StoreError as error:
            self._due += LOG_BYTES
            warnings.warn(
                f"no checkpoint of {self.store.what}: {error.what}; its log goes on",
                RuntimeWarning,
                stacklevel=4,
            )

    def checkpoint(self, *, compact: bool = False) -> None:
        """Store the graph as it is; compacted where that is asked for, or pays.

        It pays where more edges are gone than there are: it then costs less than it took to delete
        them.
        """
        self.back_to_disk()
        store, previous = self.store, _checkpoint_sequence(self.store)
        if compact or (self._is_compaction_due() and can_be_replaced(self.graph)):
            store.checkpoint_base(self._compacted())
        elif self._needs_base(previous) or is_merge_due(store.stored):
            store.checkpoint_base(tables_at(self.graph, self.shape))
        else:
            store.checkpoint_rows(*self._since_stored())
        self._stored, self._gone, self._anew = counts_of(self.graph), [], False
        self._undoable.clear()
        self._due = LOG_BYTES
        store.log.remove_before(previous + 1)

    def _needs_base(self, stored: int) -> bool:
        """Whether what has happened since the last checkpoint is more than rows that came and
        went.
        """
        changed = self.state.changed > stored
        return self._anew or changed or self.store.shape != self.store.checkpointed

    def _is_compaction_due(self) -> bool:
        resident = self.graph._resident
        gone = resident.edges - resident.live
        leaving = 2 * len(self.state.leaving)
        return gone > max(resident.live, _FEW_GONE) or leaving > max(resident.vertices, _FEW_GONE)

    def _compacted(self) -> GraphTables:
        """Number everything anew: in the log, in memory, and in what is returned.

        Vertices that leave, and that a query or a program names, stay until it is gone.
        """
        held = np.intersect1d(held_vertices(self.graph), np.array([*self.state.leaving], np.int32))
        record = Record({"kind": COMPACT, "stay": held.tolist()})
        leaving = self.state.leaving_by(record)
        tables = tables_at(self.graph, self.shape).compacted(leaving)
        made = memory_of(tables, self.shape)
        record.facts["left"] = numbers_now(self.graph, held, made.ids)
        with uninterrupted():
            self.store.commit([record])
            self._anew = True
            replaced = put_rows(self.graph, made)
            self._undoable.clear()
            self.find_expiry()
        begin_on_rows(self.graph, replaced)
        return tables

    def _since_stored(self) -> tuple[pa.Table, pa.Table, Numbers]:
        """The rows that have come since the last checkpoint, and the edges that have gone."""
        graph, shape, (vertices, edges) = self.graph, self.shape, self._stored
        now = counts_of(graph)
        return (
            as_table(vertex_rows(graph, vertices, now.vertices, shape), shape.vertices),
            as_table(edge_rows(graph, edges, now.edges, shape), shape.edges),
            np.sort(np.concatenate([np.empty(0, np.int32), *self._gone])),
        )


def _rows(record: Record) -> int:
    come = 0 if record.edges is None else record.edges.num_rows
    return int(come + len(record.deleted)) + 1


def _checkpoint_sequence(store: LiveStore) -> int:
    return int(store.stored.generation.manifest["live"]["state"]["sequence"])
