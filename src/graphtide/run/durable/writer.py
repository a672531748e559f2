"""The writer of a live graph: advances that are on the disk before anybody hears of them.

An advance is made in memory first, with all that follows it: whatever can be refused is refused
there, by the same code as on any graph in memory, and so nothing is ever logged that could not be
done again. Then it is logged. Only if that succeeds can it not be undone any more; if it fails, the
graph goes back. Nobody sees the version in between: calls on a graph take turns.

A rollback is one more advance, made of what the last advances did. Edges have numbers that they
keep until a compaction; an edge that a rollback brings back gets another one, and earlier advances
then know it by that.

Where memory ends, and it cannot be said any more whether the graph in memory is what is on the
disk, it is unusable (`run.turns`): nothing of it is stored, and who opens it again has all of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from graphtide.engine.maintainer import UndoStack
from graphtide.model.errors import MEMORY_ENDED, GraphtideError, InputError, StoreError
from graphtide.run.durable.batch import (
    Expiry,
    Keep,
    LiveBatch,
    ResolvedBatch,
    expiry_of,
    prepared,
    times_of,
)
from graphtide.run.durable.live_store import Checkpoints, LiveStore
from graphtide.run.durable.records import BatchId, GraphShape, LiveState, LogRecord
from graphtide.run.durable.replay import Numbers, Replay
from graphtide.run.durable.steps import (
    Counts,
    chosen_edges,
    counts_of,
    current_shape,
    record_of,
    values_before,
)
from graphtide.run.limits import Undo, UndoBounds
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted


class UndoEntry(NamedTuple):
    """What an advance did: edges that came and edges that went, by number, vertices that were to
    stay before and leave now, those that were to leave or were not there and stay now, and what
    vertices had before that got other values.

    `version` is that of the graph in memory behind it.
    """

    version: int
    came: Numbers
    gone: Numbers
    left: list[int]
    stays: list[int]
    before: pa.Table | None = None


class UndoHistory:
    """The last advances, in their order; those that are not on the disk yet among them."""

    def __init__(self, undo: Undo) -> None:
        self._advances = UndoStack()
        self._bounds = UndoBounds(undo)
        self._leaves: dict[int, bool] = {}
        """Vertices of which records that are not on the disk yet say that they leave, or stay."""

    @property
    def last(self) -> UndoEntry | None:
        return self._advances.last if self._advances else None

    def refusal(self) -> InputError:
        return self._bounds.refusal("those of this process since the last checkpoint can be")

    def clear(self) -> None:
        self._advances.forget()
        self._bounds.clear()

    def on_disk(self) -> None:
        """Forget who leaves by unwritten records: all records are on disk now."""
        self._leaves.clear()

    def find_returned(self, record: LogRecord, state: LiveState) -> None:
        """Note in the record which leaving vertices it names again: they stay."""
        facts = record.facts
        left = set(facts.get("left", ()))
        if "rollback" in facts or not (left or state.leaving or self._leaves):
            return
        named = [] if record.edges is None else [record.edges.column(at) for at in (0, 1)]
        named += [] if record.changed is None else [record.changed.column(0)]
        ends = {end for column in named for end in column.to_pylist()}
        back = sorted(end for end in ends if end in left or self._is_leaving(end, state))
        if back:
            facts["back"] = back

    def _is_leaving(self, vertex: int, state: LiveState) -> bool:
        return self._leaves.get(vertex, vertex in state.leaving)

    def note(self, graph: MemoryGraph, record: LogRecord, before: Counts, state: LiveState) -> None:
        """Keep what a rollback needs, and who leaves by what is not on the disk yet."""
        now, facts = counts_of(graph), record.facts
        after = dict.fromkeys(facts.get("left", ()), True)
        after |= dict.fromkeys(facts.get("back", ()), False)
        were = {vertex: self._is_leaving(vertex, state) for vertex in after}
        left = [vertex for vertex, leaves in after.items() if leaves > were[vertex]]
        stays = [vertex for vertex, leaves in after.items() if leaves < were[vertex]]
        stays += range(before.vertices, now.vertices)
        self._leaves |= after
        came = np.arange(before.edges, now.edges, dtype=np.int32)
        version, values = graph._versions.current, values_before(graph)
        self._advances.append(UndoEntry(version, came, record.deleted, left, stays, values))

    def set_bounds(self, undo: Undo) -> None:
        self._bounds = UndoBounds(undo)
        self.forget_oldest()

    def forget_oldest(self) -> None:
        """Keep no more than the bounds allow; all are on the disk."""
        while self._bounds.exceeded(len(self._advances), self._advances.nbytes):
            self._advances.forget(len(self._advances) - 1)

    def take_back(self, version: int) -> None:
        """Forget the advances after a version that the graph in memory returned to."""
        while self._advances and self._advances.last.version > version:
            undone = self._advances.pop()
            self._leaves |= dict.fromkeys(undone.left, False) | dict.fromkeys(undone.stays, True)

    def forget_undone(self, undone: UndoEntry) -> None:
        """Drop an advance and the rollback that undid it."""
        came = self._advances.pop().came
        self._advances.pop()
        self._renumber(undone.gone, came)

    def _renumber(self, before: Numbers, now: Numbers) -> None:
        """Update the edge numbers in earlier advances after edges came back under new ones."""
        if not len(before):
            return
        order = np.argsort(before)
        for came in (item.came for item in self._advances.entries()):
            place = np.searchsorted(before, came, sorter=order)
            places = order[np.minimum(place, len(before) - 1)]
            came[:] = np.where(before[places] == came, now[places], came)


GROUP_ROWS = 20_000
"""Batches that are given together go to the disk in groups of about this many rows,"""
GROUP_UNDO_BYTES = 64_000_000
"""or fewer, where what it takes to undo them in memory comes to more than this."""


@dataclass
class WaitingRecords:
    """Records of advances that wait for the disk: how many rows they have, and of which ids."""

    records: list[LogRecord] = field(default_factory=list)
    rows: int = 0
    ids: set[str] = field(default_factory=set)
    have_streams: bool = False

    def add(self, record: LogRecord) -> None:
        self.records.append(record)
        come = 0 if record.edges is None else record.edges.num_rows
        self.rows += come + len(record.deleted) + 1
        self.ids |= {record.facts["id"]} if "id" in record.facts else set()
        self.have_streams |= "stream" in record.facts

    def take(self) -> list[LogRecord]:
        records = self.records
        self.records, self.rows, self.ids, self.have_streams = [], 0, set(), False
        return records


class LiveWriter:
    """Advances of one live graph, and its checkpoints. Whoever calls has the graph's turn."""

    def __init__(self, graph: MemoryGraph, store: LiveStore, replay: Replay, undo: Undo) -> None:
        self.graph = graph
        self.store = store
        self._checkpoints = Checkpoints(graph, store, replay, self._renumbered)
        self._undoable = UndoHistory(undo)
        self._on_disk = graph._versions.current
        """The version of the graph in memory that is on the disk."""
        self.expiry: Expiry | None = None
        self.applied: Callable[[int], None] = lambda version: None
        """Called with every version that the graph has come to, before it is logged."""
        self.committed: Callable[[], None] = lambda: None
        """Called when versions have been logged."""
        self.find_expiry()

    @property
    def state(self) -> LiveState:
        return self.store.state

    @property
    def shape(self) -> GraphShape:
        return self.store.shape

    def advance(self, given: LiveBatch) -> None:
        """One advance, on the disk when this returns; none if the batch was applied before."""
        if given.id is None or not self.state.has(given.id):
            self._as_on_disk(lambda: self._commit([self._made(given, WaitingRecords())]))
            self._behind_commit()

    def advance_all(self, batches: Iterable[LiveBatch]) -> None:
        """Many advances, several of which are brought to the disk at once.

        Where one is refused, those before it are done.
        """
        self._as_on_disk(lambda: self._advance_all(batches, WaitingRecords()))

    def _advance_all(self, batches: Iterable[LiveBatch], held: WaitingRecords) -> None:
        try:
            for given in batches:
                if given.id is not None and self._has(given.id, held):
                    continue
                held.add(self._made(given, held))
                undo_bytes = self.graph._versions.undo_bytes
                if held.rows >= GROUP_ROWS or undo_bytes > GROUP_UNDO_BYTES:
                    self._commit_held(held)
        except GraphtideError:
            self._commit_held(held)
            raise
        self._commit_held(held)

    def _commit_held(self, held: WaitingRecords) -> None:
        if records := held.take():
            self._commit(records)
            self._behind_commit()

    def _has(self, given: BatchId, held: WaitingRecords) -> bool:
        """Whether a batch was applied before; those that are held are brought to the disk first
        where one of them could be it.
        """
        if isinstance(given, str):
            return given in held.ids or self.state.has(given)
        if held.ids or held.have_streams:
            self._commit_held(held)
        return self.state.has(given)

    def rollback(self) -> None:
        """One more advance, which takes back what the last one has brought and taken."""
        self._as_on_disk(self._roll_back)
        self._behind_commit()

    def _roll_back(self) -> None:
        last = self._undoable.last
        if last is None:
            raise self._undoable.refusal()
        rows = chosen_edges(self.graph, last.gone, self.shape) if len(last.gone) else None
        facts: dict[str, Any] = {"rollback": True, "left": last.stays, "back": last.left}
        batch = ResolvedBatch(rows, last.came if len(last.came) else None, last.before, facts)
        if self.expiry is not None:
            times = [] if rows is None else rows[self.expiry.keep.time]
            batch.times = times_of(times, self.expiry.keep.time)
            self.expiry.begin()
        queries = self.graph._asked
        with nullcontext() if queries is None else queries.beyond_budget():
            record = self._tried(lambda: self._applied(batch, WaitingRecords()))
        self._commit([record], back=last)

    def _behind_commit(self) -> None:
        """Report what was committed, then make a checkpoint if one is due."""
        self.committed()
        self.checkpoint_if_due()

    def _made(self, given: LiveBatch, held: WaitingRecords) -> LogRecord:
        """Advance the graph in memory, and say what is to be logged."""
        if self.expiry is not None:
            self.expiry.begin()
        return self._tried(
            lambda: self._applied(prepared(self.graph, given, self.shape, self.expiry), held)
        )

    def _tried(self, advance: Callable[[], LogRecord]) -> LogRecord:
        """Carry out an advance in memory; on any error the memory is as before."""
        turns, before = self.graph._turns, self.graph._versions.current
        try:
            return advance()
        except BaseException:
            if not turns.unusable:
                turns.unusable = True
                with uninterrupted():
                    self._take_back(before)
                    if self.expiry is not None:
                        self.expiry.back()
                    turns.unusable = False
            raise

    def _take_back(self, version: int) -> None:
        """Let the graph in memory be at an earlier version."""
        while self.graph._versions.current > version:
            self.graph._versions.rollback()
        self._undoable.take_back(version)

    def _applied(self, batch: ResolvedBatch, held: WaitingRecords) -> LogRecord:
        graph, before = self.graph, counts_of(self.graph)
        MemoryGraph._advance(graph, batch.insert, batch.delete, batch.vertices)
        shape = current_shape(graph, self.shape)
        if shape != self.shape:
            self._reshape(shape, held)
        facts = {"version": self.state.version + len(held.records) + 1, **batch.facts}
        record = record_of(graph, before, shape, facts)
        self._undoable.find_returned(record, self.state)
        if self.expiry is not None and batch.times is not None:
            self.expiry.enter(batch.times, before.edges)
        self._undoable.note(graph, record, before, self.state)
        self.applied(record.facts["version"])
        return record

    def _reshape(self, shape: GraphShape, held: WaitingRecords) -> None:
        """Write waiting records first, then begin a log file for records with other columns."""
        if held.records:
            with uninterrupted(), changing(self.graph._turns):
                self._bring(held.records)
                held.take()
        self.store.reshape(shape)

    def _commit(self, records: list[LogRecord], back: UndoEntry | None = None) -> None:
        """Write records to the log; `back` is the advance that the last record undoes."""
        self.graph._turns.check()
        with uninterrupted(), changing(self.graph._turns):
            self._bring(records)
            self.graph._versions.forget()
            if back is not None:
                self._undoable.forget_undone(back)
            self._undoable.forget_oldest()

    def _bring(self, records: list[LogRecord]) -> None:
        self.store.commit(records)
        self._on_disk += len(records)
        self.graph._pace.promised(len(records))
        self._checkpoints.note(records)
        self._undoable.on_disk()

    def _as_on_disk(self, advance: Callable[[], None]) -> None:
        """Carry out an advance; whatever happens, memory ends up equal to the disk."""
        self.back_to_disk()
        try:
            advance()
        except BaseException:
            self.back_to_disk()
            raise

    def back_to_disk(self) -> None:
        """Roll the memory back to the disk's version if something stopped in between."""
        turns = self.graph._turns
        if turns.unusable or self.graph._versions.current == self._on_disk:
            return
        turns.unusable = True
        with uninterrupted():
            self._take_back(self._on_disk)
            self._undoable.on_disk()
            self.find_expiry()
            turns.unusable = False

    def find_expiry(self) -> None:
        """Look at the times of all edges, where edges expire. O(edges)."""
        if self.state.keep is not None:
            keep = Keep(**self.state.keep)
            self.expiry = expiry_of(self.graph, self.shape, keep, self.state.latest)

    def remember(self, kind: str, **facts: Any) -> None:
        """Log something that is no advance: a program, a query or a setting."""
        with uninterrupted(), changing(self.graph._turns):
            self.store.commit([LogRecord({"kind": kind, **facts})])

    def set_undo(self, undo: Undo) -> None:
        self._undoable.set_bounds(undo)

    def checkpoint_if_due(self) -> None:
        """A checkpoint where the log has grown enough. The advances before it are done in any case:
        where there is no room for it, the log goes on, and a warning says so.
        """
        if not self._checkpoints.is_due:
            return
        try:
            self.checkpoint()
        except StoreError as error:
            self._checkpoints.put_off()
            warnings.warn(
                f"no checkpoint of {self.store.what}: {error.what}; its log goes on",
                RuntimeWarning,
                stacklevel=4,
            )

    def checkpoint(self, *, compact: bool = False) -> None:
        """Store the graph as it is; compacted where that is asked for, or pays."""
        self.graph._turns.check()
        self.back_to_disk()
        try:
            self._checkpoints.write(compact=compact)
            self._undoable.clear()
        except MEMORY_ENDED:
            self.graph._turns.unusable = True
            raise

    def _renumbered(self) -> None:
        self._undoable.clear()
        self.find_expiry()
