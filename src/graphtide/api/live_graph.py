"""A live graph: a graph in memory that is on disk as well, batch by batch.

It has all that a graph in memory has. Every advance is in its log before the call returns, so that
the next start, whatever ended this one, finds the graph as it was left, with each batch applied
once. What the folder holds, and how a start finds its way back, is `graphtide.run.durable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtide.api.follows_streams import FollowsStreams
from graphtide.api.graph import Graph
from graphtide.api.live_changes import ChangingGraph
from graphtide.model.errors import InputError
from graphtide.model.wording import sized
from graphtide.run.durable.given import GivenBatch
from graphtide.run.durable.live_store import LiveStore
from graphtide.run.durable.reader import (
    check_as_on_disk,
    committed_since,
    follow_logged,
    read_committed,
)
from graphtide.run.durable.registered import TrustedBy, trusted
from graphtide.run.durable.state import checked_id
from graphtide.run.durable.steps import begin_on_rows, put_rows
from graphtide.run.durable.tables import memory_of
from graphtide.run.durable.writer import Writer
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.staying import StaysHere
from graphtide.run.turns import changing, in_turn, uninterrupted
from graphtide.run.undo import UNBOUNDED, Undo, given_undo
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.seal import well_formed

_BATCH = ("insert", "delete", "vertices", "update", "remove", "match", "id")


class LiveGraph(StaysHere, ChangingGraph, FollowsStreams):
    """A graph in memory whose advances are on disk. Use `graphtide.live` to get one.

    One process writes it; any number of others read the last state (`readonly=True`).
    """

    _rows_are_new = True
    _vertices_change = True
    _undo = UNBOUNDED  # Of one advance in memory; the writer knows the last ones by what they did.
    _instead = "open it there: gt.live(folder, readonly=True)"

    def __init__(self) -> None:
        raise InputError("a live graph has a folder", hint="open it: gt.live(folder)")

    @classmethod
    def _opened(cls, folder: Path, name: str, *, readonly: bool, trust: TrustedBy = ()) -> Self:
        graph = cls.__new__(cls)
        graph.folder, graph._name = folder, name
        graph._what = f"the live graph '{name}'"
        graph._writer, graph._closed = None, False
        graph._programs, graph._lost, graph._begun = {}, {}, {}
        graph._trust, graph._without_lost = trusted(trust), trust is False
        graph._told, graph._consumers, graph._delivering = {}, {}, False
        graph._waiting, graph._said_waiting = {}, False
        graph._streams, graph._followed = {}, {}
        store = LiveStore(folder, name, graph._what)
        try:
            if readonly:
                graph._begin_with(read_committed(folder, name, graph._what))
            else:
                replay = store.open()
                graph._begin_with(replay)
                graph._writer = Writer(graph, store, replay, Undo())
                graph._writer.applied = graph._note_changes
                graph._writer.committed = graph._deliver
            graph._begin_registered()
            if not readonly:
                graph._begin_consumers()
        except BaseException:
            with uninterrupted():
                store.close()
            raise
        return graph

    def _put(self, known: KnownEdges) -> None:
        known.ids.are_stored = True
        self._order: NDArray[np.int32] | None = None
        super()._put(known)

    def _given_order(self) -> NDArray[np.int32]:
        if self._order is None:
            self._order = super()._given_order()
        return self._order

    @classmethod
    def _of_snapshot(  # type: ignore[override]
        cls, snapshot: Snapshot, rows: NDArray[np.int64], vertices: NDArray[np.int64]
    ) -> Graph:
        """A part of a live graph is a graph in memory."""
        return Graph._of_snapshot(snapshot, rows, vertices)

    @property
    @in_turn
    def version(self) -> int:
        """How many advances lie between the graph as it began and now, in all processes."""
        return self._state.version

    @property
    def readonly(self) -> bool:
        """Whether it only reads what another process writes."""
        return self._writer is None and not self._closed

    @property
    def writable(self) -> bool:
        """Whether it is open, and this process writes it."""
        return self._writer is not None

    @property
    @in_turn
    def late(self) -> int:
        """How many inserted rows had expired before they came, and were left out."""
        return self._state.late

    @in_turn
    def advance(
        self,
        insert: Any = None,
        delete: Any = None,
        vertices: Any = None,
        *,
        update: Any = None,
        remove: Any = None,
        match: str | Iterable[str] = (),
        id: Any = None,
    ) -> None:
        """Go to the next version, which is on disk when this returns; every program follows.

        `insert`, `delete` and `vertices` are as on any graph in memory, but every inserted row is
        an edge of its own, and a vertex that is there gets the values that a row gives it: programs
        that read them begin anew. `update` gives edges other values: rows name them by their ends,
        and by the columns in `match`. Rows may name edges by texts and moments, too. `remove` lists
        vertices that go, with all their edges; they are listed without edges until the next
        compaction. Under an `id`, a text or `(stream, number)`, a batch is applied once, however
        often it is given.
        """
        names = (match,) if isinstance(match, str) else tuple(match)
        given = GivenBatch(insert, delete, vertices, update, remove, names, checked_id(id))
        writer = self._writing()
        self._say_waiting()
        writer.advance(given)

    @in_turn
    def advance_all(self, batches: Iterable[Mapping[str, Any]]) -> None:
        """Many advances, each a dict of what `advance` takes, several of them to the disk at once.

        Where one is refused, those before it are done; `version` says how many.
        """
        writer = self._writing()
        self._say_waiting()
        writer.advance_all(_given_batch(item) for item in batches)

    def _advance(self, insert: Any, delete: Any, vertices: Any) -> None:
        self._writing().advance(GivenBatch(insert, delete, vertices))

    @in_turn
    def rollback(self) -> None:
        """Take back the last advance that has not been, by one more advance, which is logged too.

        Those of this process since the last checkpoint can be, as far as `set_undo` goes: by
        default the last 100, within 256 MB. Edges that come back have new numbers; vertices that
        came stay.
        """
        writer = self._writing()
        self._say_waiting()
        writer.rollback()

    @in_turn
    def set_undo(self, undo: int | str | Undo | None) -> None:
        """Bound what this process keeps to roll back: as `Graph.set_undo`."""
        self._writing().set_undo(given_undo(undo))

    @in_turn
    def applied(self, id: Any) -> bool:
        """Whether the batch of that id has been applied; the last 10,000 texts are remembered."""
        given = checked_id(id)
        return given is not None and self._state.has(given)

    @in_turn
    def checkpoint(self) -> None:
        """Store the graph as it is, so that the next start has no log to read.

        Happens by itself whenever the log has grown by 64 MB. `session.graph(name)` reads it.
        """
        self._writing().checkpoint()

    @in_turn
    def compact(self) -> None:
        """Give back the room of deleted edges and removed vertices, and store the graph so.

        Edges and vertices get new numbers, and programs begin anew. Happens by itself at a
        checkpoint where more edges are deleted than there are.
        """
        self._writing().checkpoint(compact=True)

    @in_turn
    def verify(self) -> None:
        """Compare the graph in memory with its checkpoint and log, read anew, row by row.

        AssertionError at the first difference. `verify()` of a program or a query compares its
        results with the graph in memory. Some microseconds for each row that was ever there since
        the last compaction.
        """
        writer = self._writing()
        writer.back_to_disk()
        check_as_on_disk(self, read_committed(self.folder, self._name, self._what))

    @in_turn
    def refresh(self) -> int:
        """Bring a graph that only reads to the last state that was committed; its version."""
        if self._writer is not None:
            return self.version
        self._check_open()
        records = committed_since(self.folder, self._what, self._state)
        if records is None:
            replay = read_committed(self.folder, self._name, self._what)
            with well_formed(replay.what):
                made = memory_of(replay.tables(), replay.shape)
            made.timezone = replay.timezone
            with uninterrupted():
                earlier = self._state, self._shape
                self._state, self._shape = replay.state, replay.shape
                try:
                    self._end_unregistered()
                except BaseException:
                    self._state, self._shape = earlier
                    raise
                with changing(self._turns):
                    replaced = put_rows(self, made)
            begin_on_rows(self, replaced)
        for item in records or ():
            known, before = (self._state.registered, self._state.queries), self.version
            self._shape = follow_logged(self, self._state, item)
            if self.version > before:
                self._note_changes(self.version)
            if known[0] is not self._state.registered or known[1] is not self._state.queries:
                self._begin_registered()  # At once: what has been dropped may hold no vertex.
        self._begin_registered()
        return self.version

    def close(self) -> None:
        """Let the folder go, so that another process can write. What is held stays readable.

        Streams that it follows are stopped first.
        """
        try:
            self._stop_streams()
        finally:
            self._close()

    def _close(self) -> None:
        with self._turns.lock:  # An unusable graph is closed as well.
            if not self._turns.unusable:
                self._turns.check()
            if self._writer is not None:
                self._writer.store.close()
            self._writer, self._closed = None, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @in_turn
    def __repr__(self) -> str:
        state = "closed" if self._closed else "readonly" if self.readonly else "open"
        waiting = "; not delivered to " + ", ".join(self._waiting) if self._waiting else ""
        return (
            f"<live {self._kind} in {self.folder}: {sized(self.num_vertices, self.num_edges)}; "
            f"version {self.version}, {state}{waiting}>"
        )


def _given_batch(item: Mapping[str, Any]) -> GivenBatch:
    unknown = [name for name in item if name not in _BATCH]
    if unknown:
        raise InputError(
            f"a batch has no '{unknown[0]}'",
            hint=f"it has {', '.join(_BATCH)}; all may be left out",
        )
    batch = dict(item)
    match = batch.get("match", ())
    batch["match"] = (match,) if isinstance(match, str) else tuple(match)
    batch["id"] = checked_id(batch.get("id"))
    return GivenBatch(**batch)
