"""A live graph: a graph in memory that is on disk as well, batch by batch.

It has all that a graph in memory has. Every advance is in its log before the call returns, so that
the next start, whatever ended this one, finds the graph as it was left, with each batch applied
once. What the folder holds, and how a start finds its way back, is `graphtide.run.durable`. `live`
opens one, or begins it, in a folder or under a name of the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from graphtide.api.graph import Graph
from graphtide.api.live_registered import RegisteredGraph
from graphtide.api.live_stream import Follower, StreamOptions, start_following
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.names import given_path
from graphtide.model.text import sized
from graphtide.run.durable.batch import LiveBatch, read_keep
from graphtide.run.durable.live_store import LiveStore, is_live
from graphtide.run.durable.records import AppliedBatches, LiveState, checked_id, shape_of
from graphtide.run.durable.registrations import TrustedBy, trusted
from graphtide.run.durable.replay import memory_of, tables_of
from graphtide.run.durable.steps import (
    begin_on_rows,
    check_as_on_disk,
    committed_since,
    follow_logged,
    put_rows,
    read_committed,
)
from graphtide.run.durable.writer import LiveWriter
from graphtide.run.limits import UNBOUNDED, Undo, given_undo
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.streams.rows import ColumnChoice
from graphtide.run.turns import StaysHere, changing, in_turn, uninterrupted
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.commit import find_pointer, open_committed
from graphtide.store.files import well_formed
from graphtide.store.graph import stored_graph

_BATCH = ("insert", "delete", "vertices", "update", "remove", "match", "id")


class LiveGraph(StaysHere, RegisteredGraph):
    """A graph in memory whose advances are on disk. Use `graphtide.live` to get one.

    One process writes it; any number of others read the last state (`readonly=True`).
    """

    _vertices_change = True
    _streams: dict[str, Follower]
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
                graph._writer = LiveWriter(graph, store, replay, Undo())
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

    def _put(self, known: NamedGraph) -> None:
        known.ids.are_stored = True
        known.resident.rows_are_new = True
        super()._put(known)

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
        given = LiveBatch(insert, delete, vertices, update, remove, names, checked_id(id))
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
        self._writing().advance(LiveBatch(insert, delete, vertices))

    def follow(
        self,
        stream: Any,
        *,
        name: str = "stream",
        columns: Mapping[str, str] | None = None,
        operation: str | None = None,
        match: Iterable[str] | None = None,
        late: Any = None,
        time: str | None = None,
        on_error: str = "stop",
        limit: int = 1_000_000,
        trigger: str | None = None,
        checkpoint: str | Path | None = None,
        files: str | Path | None = None,
    ) -> Follower:
        """Apply a stream of Spark to the graph, each row once, on a thread beside this one.

        `stream` is a streaming DataFrame, or the folder of a file sink that a query elsewhere
        writes. Rows are edges, in columns called like those of edges, or by `columns`:
        `{"src": "payer", ...}`. The column `operation` says what a row does (insert, update,
        delete, or their letters, or Debezium's); without it rows insert. A change feed of Delta
        says so itself. Rows that update or delete name an edge by its ends and the properties in
        `match`, those of a change feed by all properties.

        How far the stream is, is remembered under `name`. Following it again, after whatever has
        ended it, goes on there, with the same `checkpoint` (by default a folder beside the graph).
        `trigger` is a period such as "10 seconds", or "available now" to read what there is and
        end. A batch of more than `limit` rows becomes several advances.

        Rows that come later than the graph keeps edges for, or later than `late="1 hour"` by the
        property `time`, are set aside. So are rows that an advance would refuse, with
        `on_error="set aside"`: the others go in. Else they end the stream. Over Spark Connect,
        Spark writes the rows to `files`, a folder that both sides see, by default beside the graph.
        """
        chosen = None if match is None else (match,) if isinstance(match, str) else tuple(match)
        choice = ColumnChoice(columns, operation, chosen)
        options = StreamOptions(
            name, choice, late, time, on_error, limit, trigger, checkpoint, files
        )
        running = self._streams.get(name)
        if running is not None and running.active:
            raise InputError(
                f"the stream '{name}' is being followed", hint="stop() it first, or name another"
            )
        writer = self._writing()
        self._say_waiting()
        self._streams[name] = start_following(self.folder, writer, stream, options)
        return self._streams[name]

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
            for running in self._streams.values():
                running.stop()
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


def _given_batch(item: Mapping[str, Any]) -> LiveBatch:
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
    return LiveBatch(**batch)


def live(
    folder: str | Path,
    start: Graph | None = None,
    *,
    keep: Any = None,
    time: str | None = None,
    readonly: bool = False,
    trust: TrustedBy = (),
) -> LiveGraph:
    """Open the live graph in a folder, or begin one with the vertices and edges of `start`.

    `start` says what columns there are; where the folder has a live graph already, it must have the
    same. `keep="7 days"` lets edges expire: those whose property `time` lies so far behind the
    latest leave with the advance that brought it. One process writes; `readonly=True` opens the
    last committed state beside it.

    Opening runs nothing that the folder holds. Of a registered dataflow, a function, the folder has
    the name alone: `trust` hands functions over, or names modules, or files of Python, in which
    they are looked for. Without the function a graph does not open to be written, unless
    `trust=False` leaves such programs out; one that only reads leaves them out, with a warning.
    """
    path = given_path(folder)
    name = path.resolve().name
    return open_live(path, name, start, keep, time, readonly=readonly, trust=trust)


def open_live(
    folder: Path,
    name: str,
    start: Graph | None,
    keep: Any,
    time: str | None,
    *,
    readonly: bool,
    trust: TrustedBy,
) -> LiveGraph:
    """`live`, for a folder of the catalog."""
    _check_given(start, keep, time)
    if not readonly and not is_live(folder):
        _create(folder, name, start, keep, time)
    graph = LiveGraph._opened(folder, name, readonly=readonly, trust=trust)
    try:
        check_same(graph, start, keep, time)
    except BaseException:
        graph.close()
        raise
    return graph


def _check_given(start: Any, keep: Any, time: str | None) -> None:
    if start is not None and not isinstance(start, MemoryGraph):
        raise InputError(
            f"a live graph cannot begin with {type(start).__name__}",
            hint="give graph.to_memory(), or session.live(name) goes on from a graph that is stored"
            if hasattr(start, "to_memory")
            else "give a graph: gt.Graph(src, dst), gt.Graph.from_frame(frame)",
        )
    if time is not None and keep is None:
        raise InputError("time is given without keep", hint="say how long: keep='7 days'")


def _create(folder: Path, name: str, start: Graph | None, keep: Any, time: str | None) -> None:
    what, batches = f"the live graph '{name}'", AppliedBatches()
    if find_pointer(folder) is not None:
        begun, batches = _stored_start(folder, name, what)
    elif start is None:
        raise NotFoundError(
            f"{what} is not there",
            where=str(folder),
            hint="look at the name; a new one begins with edges: live(..., start=gt.Graph(...))",
        )
    else:
        begun = start
    shape = shape_of(begun._known, begun._kept)
    state = LiveState(graph=uuid4().hex, ids=batches.ids, streams=batches.streams)
    if keep is not None:
        state.keep = read_keep(keep, time, shape).facts
    tables = tables_of(begun._snapshot(), shape)
    LiveStore(folder, name, what).create(tables, shape, state, begun._known.timezone)


def _stored_start(folder: Path, name: str, what: str) -> tuple[Graph, AppliedBatches]:
    """The graph of the catalog that is to be live, and the batches that it has taken."""
    stored = stored_graph(name, open_committed(folder, what))
    if stored.schema.vertex_labels or stored.schema.edge_labels:
        raise StoreError(
            f"the graph '{name}' has labels, and live graphs have none",
            hint="load it without labels, or with the label as a property of another name",
        )
    return Graph.from_stored(stored), AppliedBatches.of_graph(stored)


def check_same(graph: LiveGraph, start: Graph | None, keep: Any, time: str | None) -> None:
    """Refuse a start, or a period, that is not the one that the graph was begun with."""
    if start is not None and start is not graph:
        wanted, has = shape_of(start._known, start._kept), graph._shape
        if (wanted.src, wanted.dst, wanted.edge_types) != (has.src, has.dst, has.edge_types):
            columns = ", ".join(f"{name} ({kind})" for name, kind in has.edge_types.items())
            raise InputError(
                f"{graph._what} is there, and its edges have other columns than `start`",
                where=str(graph.folder),
                hint=f"they have {has.src}, {has.dst}, {columns or 'no properties'}",
            )
        if wanted.directed != has.directed:
            raise InputError(
                f"{graph._what} is there, and is {'' if has.directed else 'un'}directed, which "
                "`start` is not",
                where=str(graph.folder),
                hint=f"give gt.Graph(..., directed={has.directed}), or begin another graph",
            )
    if keep is not None and read_keep(keep, time, graph._shape).facts != graph._state.keep:
        raise InputError(
            f"{graph._what} was begun with another period: {graph._state.keep}",
            hint="leave `keep` out, or begin another graph",
        )
