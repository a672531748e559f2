"""A live graph: a graph in memory that is on disk as well, batch by batch.

It has all that a graph in memory has. Every advance is in its log before the call returns, so that
the next start, whatever ended this one, finds the graph as it was left, with each batch applied
once. What the folder holds, and how a start finds its way back, is `graphtide.run.durable`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.changes import Changes
from graphtide.api.graph import Graph
from graphtide.api.live import Live
from graphtide.lang.python import AnyProgram
from graphtide.model.errors import GraphtideError, InputError, NotFoundError
from graphtide.model.names import check_name
from graphtide.model.schema import closest
from graphtide.run.durable.consumers import note_taken, taken_version, write_changes
from graphtide.run.durable.earlier import earlier_version
from graphtide.run.durable.given import GivenBatch
from graphtide.run.durable.live_store import LiveStore
from graphtide.run.durable.reader import committed_since, follow_logged, read_committed
from graphtide.run.durable.recover import Replay
from graphtide.run.durable.registered import made_program, stored_program, told_program
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import LiveState, checked_id
from graphtide.run.durable.steps import put_in_place
from graphtide.run.durable.tables import memory_of
from graphtide.run.durable.writer import Writer
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.modes import Mode
from graphtide.run.live.programs import bound_program
from graphtide.run.staying import StaysHere
from graphtide.run.turns import in_turn
from graphtide.run.views.snapshot import Snapshot

_MOST_TOLD = 256
"""The changes of so many versions are at hand."""

_BATCH = ("insert", "delete", "vertices", "update", "remove", "match", "id")


class LiveGraph(StaysHere, Graph):
    """A graph in memory whose advances are on disk. Use `graphtide.live` to get one.

    One process writes it; any number of others read the last state (`readonly=True`).
    """

    _rows_are_new = True
    _instead = "open it there: gt.live(folder, readonly=True)"

    folder: Path
    """Where it is."""
    _name: str
    _what: str
    _writer: Writer | None
    _closed: bool
    _programs: dict[str, Live]
    _lost: dict[str, GraphtideError]
    _state: LiveState
    _shape: Shape
    _told: dict[str, deque[tuple[int, Changes]]]
    _consumers: dict[str, tuple[str, Callable[[int, pa.Table], object]]]
    _delivering: bool

    def __init__(self) -> None:
        raise InputError("a live graph has a folder", hint="open it: gt.live(folder)")

    @classmethod
    def _opened(cls, folder: Path, name: str, *, readonly: bool) -> Self:
        graph = cls.__new__(cls)
        graph.folder, graph._name = folder, name
        graph._what = f"the live graph '{name}'"
        graph._writer, graph._closed = None, False
        graph._programs, graph._lost = {}, {}
        graph._told, graph._consumers, graph._delivering = {}, {}, False
        store = LiveStore(folder, name, graph._what)
        if readonly:
            graph._begin_with(read_committed(folder, name, graph._what))
        else:
            replay = store.open()
            try:
                graph._begin_with(replay)
                graph._writer = Writer(graph, store, replay)
                graph._writer.applied = graph._note_changes
                graph._writer.committed = graph._deliver
            except BaseException:
                store.close()
                raise
        graph._begin_programs()
        return graph

    def _begin_with(self, replay: Replay) -> None:
        self._state, self._shape = replay.state, replay.shape
        self._hold(memory_of(replay.tables(), replay.shape))

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
        match: Iterable[str] = (),
        id: Any = None,
    ) -> None:
        """Go to the next version, which is on disk when this returns; every program follows.

        `insert`, `delete` and `vertices` are as on any graph in memory, but every inserted row is
        an edge of its own. `update` gives edges other values: rows name them by their ends, and by
        the columns in `match`. `remove` lists vertices that go, with all their edges; they are
        listed without edges until the next compaction. Under an `id`, a text or `(stream, number)`,
        a batch is applied once, however often it is given.
        """
        given = GivenBatch(insert, delete, vertices, update, remove, tuple(match), checked_id(id))
        self._writing().advance(given)

    @in_turn
    def advance_all(self, batches: Iterable[Mapping[str, Any]]) -> None:
        """Many advances, each a dict of what `advance` takes, several of them to the disk at once.

        Where one is refused, those before it are done; `version` says how many.
        """
        self._writing().advance_all(_given_batch(item) for item in batches)

    def _advance(self, insert: Any, delete: Any, vertices: Any) -> None:
        self._writing().advance(GivenBatch(insert, delete, vertices))

    @in_turn
    def rollback(self) -> None:
        """Take back the last advance that has not been, by one more advance, which is logged too.

        Those of this process since the last checkpoint can be, at most a hundred. Edges that come
        back have new numbers; vertices that came stay.
        """
        self._writing().rollback()

    @in_turn
    def applied(self, id: Any) -> bool:
        """Whether the batch of that id has been applied; the last 10,000 texts are remembered."""
        given = checked_id(id)
        return given is not None and self._state.has(given)

    @in_turn
    def register(
        self,
        name: str,
        program: AnyProgram,
        *,
        mode: Mode = "auto",
        tolerance: float = 0.0,
        keep: int | None = None,
    ) -> Live:
        """Maintain a program under a name, now and after every start.

        The name is the program's until `unregister`; the rest is as in `maintain`.
        """
        writer = self._writing()
        check_name(name, "program")
        if name in self._state.registered:
            raise InputError(
                f"a program is registered as '{name}' already: "
                f"{told_program(self._state.registered[name])}",
                hint=f"give another name, or live.unregister('{name}') first",
            )
        stored = stored_program(bound_program(program))
        knobs = {"mode": mode, "tolerance": tolerance, "keep": keep}
        live = self.maintain(program, mode=mode, tolerance=tolerance, keep=keep)
        writer.register(name, {**stored, **knobs})
        self._programs[name] = live
        return live

    @in_turn
    def unregister(self, name: str) -> None:
        """Forget a registered program."""
        writer = self._writing()
        self._check_registered(name)
        writer.unregister(name)
        self._lost.pop(name, None)
        live = self._programs.pop(name, None)
        if live is not None:
            live.close()

    @in_turn
    def registered(self) -> list[str]:
        """The names of the registered programs."""
        return list(self._state.registered)

    @in_turn
    def program(self, name: str) -> Live:
        """The results of a registered program, those of the current version."""
        self._check_registered(name)
        if name in self._lost:
            raise self._lost[name]
        return self._programs[name]

    @in_turn
    def changes(self, name: str, since: int) -> Iterator[tuple[int, pa.Table]]:
        """What each version behind `since` has changed in a registered program, oldest first.

        A pair of the version and a table as of `Live.changes`. Those of the last versions are at
        hand; earlier ones are computed again, as far back as the checkpoint before the last one.
        """
        self.program(name)
        if since >= self.version:
            return iter(())
        told = [item for item in self._told.get(name, ()) if since < item[0] <= self.version]
        if told and told[0][0] == since + 1 and len(told) == self.version - since:
            return iter([(version, changes.to_arrow()) for version, changes in told])
        return iter(self._computed_again(name, since))

    @in_turn
    def deliver(
        self, name: str, to: Callable[[int, pa.Table], object] | str | Path, *, consumer: str
    ) -> None:
        """Hand the changes of a registered program to a consumer, now and after every advance.

        `to` is called with the version and the table of changes, or is a folder that gets a Parquet
        file a version. How far the consumer has come is remembered by its name: after a start, it
        is told of what it has not taken yet; a version may come twice, and none is left out. A new
        consumer begins with the next version. What `to` raises leaves the advance done.
        """
        self._writing()
        self.program(name)
        if taken_version(self.folder, consumer) is None:
            note_taken(self.folder, consumer, self.version)
        self._consumers[consumer] = name, _receiver(to)
        self._deliver()

    def _deliver(self) -> None:
        if self._delivering:
            return  # A consumer has advanced the graph: whoever calls it goes on with that.
        self._delivering = True
        try:
            for consumer, (name, receive) in list(self._consumers.items()):
                taken, before = taken_version(self.folder, consumer), None
                while taken is not None and taken != before:
                    before = taken
                    for version, changes in self.changes(name, taken):
                        receive(version, changes)
                        note_taken(self.folder, consumer, version)
                        taken = version
        finally:
            self._delivering = False

    def _note_changes(self, version: int) -> None:
        for name, live in self._programs.items():
            if live._kept in self._followers:
                told = self._told.setdefault(name, deque(maxlen=_MOST_TOLD))
                while told and told[-1][0] >= version:
                    told.pop()  # Of a version that could not be logged.
                told.append((version, live._changes()))

    def _computed_again(self, name: str, since: int) -> list[tuple[int, pa.Table]]:
        """The changes behind a version, by another graph that goes the same way."""
        stored = self._state.registered[name]
        replay, records = earlier_version(self.folder, self._name, self._what, since)
        other = LiveGraph.__new__(LiveGraph)
        other._begin_with(replay)
        knobs = {item: stored[item] for item in ("mode", "tolerance", "keep")}
        live = other.maintain(made_program(stored), **knobs)
        found = []
        for item in records:
            before = other._state.version
            other._shape = follow_logged(other, other._state, item)
            if other._state.version > self.version:
                break
            if other._state.version > before:
                found.append((other._state.version, live.changes().to_arrow()))
        return found

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
    def refresh(self) -> int:
        """Bring a graph that only reads to the last state that was committed; its version."""
        if self._writer is not None:
            return self.version
        self._check_open()
        records = committed_since(self.folder, self._what, self._state.sequence)
        if records is None:
            replay = read_committed(self.folder, self._name, self._what)
            self._state, self._shape = replay.state, replay.shape
            put_in_place(self, memory_of(replay.tables(), replay.shape))
        for item in records or ():
            self._shape = follow_logged(self, self._state, item)
        self._begin_programs()
        return self.version

    @in_turn
    def close(self) -> None:
        """Let the folder go, so that another process can write. What is held stays readable."""
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
        return (
            f"<live graph in {self.folder}: {self.num_vertices:,} vertices, "
            f"{self.num_edges:,} edges; version {self.version}, {state}>"
        )

    def _begin_programs(self) -> None:
        """Maintain what is registered; what cannot be found says so when it is used."""
        for name, stored in self._state.registered.items():
            if name in self._programs:
                continue
            try:
                knobs = {item: stored[item] for item in ("mode", "tolerance", "keep")}
                self._programs[name] = self.maintain(made_program(stored), **knobs)
            except GraphtideError as error:
                self._lost[name] = error

    def _check_registered(self, name: str) -> None:
        known = self._state.registered
        if name not in known:
            near = closest(str(name), known)
            told = ", ".join(known) or "none"
            raise NotFoundError(
                f"no program is registered as '{name}'",
                hint=f"did you mean '{near}'?" if near else f"there is: {told}",
            )

    def _writing(self) -> Writer:
        self._check_open()
        if self._writer is None:
            raise InputError(
                f"{self._what} was opened to be read",
                hint="open it without readonly=True, in one process",
            )
        return self._writer

    def _check_open(self) -> None:
        if self._closed:
            raise InputError(f"{self._what} was closed", hint="open it again: gt.live(folder)")


def _receiver(to: Callable[[int, pa.Table], object] | str | Path) -> Any:
    if callable(to):
        return to
    if isinstance(to, str | Path):
        return partial(write_changes, Path(to))
    raise InputError(f"changes cannot go to {to!r}", hint="give a function, or a folder")


def _given_batch(item: Mapping[str, Any]) -> GivenBatch:
    unknown = [name for name in item if name not in _BATCH]
    if unknown:
        raise InputError(
            f"a batch has no '{unknown[0]}'",
            hint=f"it has {', '.join(_BATCH)}; all may be left out",
        )
    found = dict(item)
    found["match"] = tuple(found.get("match", ()))
    found["id"] = checked_id(found.get("id"))
    return GivenBatch(**found)
