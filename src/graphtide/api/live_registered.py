"""Registered programs and queries of a live graph, and deliveries of their changes.

Users ask for changes by name, so a name stands for one program or one query. The log says what is
registered; the objects here are the programs and queries that run, and begin again after every
start.

The graph keeps the changes of the last versions. For earlier ones, a second graph starts from a
checkpoint and follows the log. A graph may have thousands of queries, so it keeps the changes of a
query only from the first time on that a user asks for them.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from graphtide.api.graph import Graph
from graphtide.api.live import Changes, Live
from graphtide.api.query import Query
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.lang.python import AnyProgram
from graphtide.model.errors import GraphtideError, InputError, LimitError, NotFoundError, warn_user
from graphtide.model.names import check_name, given_path
from graphtide.model.schema import name_hint
from graphtide.run.durable.records import (
    ASK,
    DROP,
    REGISTER,
    SET,
    UNREGISTER,
    GraphShape,
    LiveState,
)
from graphtide.run.durable.registrations import (
    Consumer,
    Trust,
    consumer_names,
    forget_consumer,
    is_marked,
    made_program,
    mark,
    note_consumer,
    read_consumer,
    stored_program,
    told_program,
    write_changes,
)
from graphtide.run.durable.replay import Replay, earlier_version, memory_of
from graphtide.run.durable.steps import follow_logged
from graphtide.run.durable.stored_queries import made_query, stored_query
from graphtide.run.durable.writer import LiveWriter
from graphtide.run.live.computation import Mode
from graphtide.run.live.programs import Bound, bound_program
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.queries.answers import change_table
from graphtide.run.queries.kinds import QueryKind
from graphtide.run.queries.standing_queries import StandingQueries
from graphtide.run.table import Table
from graphtide.run.turns import in_turn, uninterrupted
from graphtide.store.files import well_formed

Stored = dict[str, Any]


_MOST_VERSIONS = 256
"""The graph keeps the changes of at most this many versions,"""
_MOST_ROWS = 1 << 20
"""and of at most this many rows (some 25 MB), besides those of the last version."""

Receiver = Callable[[int, pa.Table], object]


class RecentChanges:
    """The changes of the last versions, oldest first, and how many rows they hold."""

    def __init__(self) -> None:
        self._items: deque[tuple[int, Changes | pa.Table, int]] = deque()
        self._rows = 0

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[tuple[int, Changes | pa.Table]]:
        return ((version, changes) for version, changes, _ in self._items)

    def put(self, version: int, changes: Changes | pa.Table) -> None:
        """Add the changes of a version; drop those from it on, of advances that were not logged."""
        while self._items and self._items[-1][0] >= version:
            self._rows -= self._items.pop()[2]
        rows = changes.held if isinstance(changes, Changes) else changes.num_rows
        self._items.append((version, changes, rows))
        self._rows += rows
        while len(self) > 1 and (len(self) > _MOST_VERSIONS or self._rows > _MOST_ROWS):
            self._rows -= self._items.popleft()[2]


class RegisteredGraph(Graph):
    """A graph in memory with programs and queries that its log remembers.

    It can say what changed in them since any version that the log reaches back to.
    """

    folder: Path
    """Where it is."""
    _name: str
    _what: str
    _writer: LiveWriter | None
    _closed: bool
    _state: LiveState
    _shape: GraphShape
    _programs: dict[str, tuple[Live, Stored]]
    _lost: dict[str, GraphtideError]
    _trust: Trust
    _without_lost: bool
    _begun: dict[str, Stored]
    _followed: dict[str, Any]
    _told: dict[str, RecentChanges]
    _consumers: dict[str, tuple[str, Receiver]]
    _waiting: dict[str, str]
    """Consumers that are not told, with the reason: those whose function is not stored."""
    _said_waiting: bool
    _delivering: bool

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

        The name is the program's until `unregister`; the rest is as in `maintain`. Vertices that
        its parameters name stay in the graph as long as it is registered.
        """
        writer = self._writing()
        self._check_free(check_name(name, "program"))
        bound = bound_program(program)
        stored = stored_program(bound)
        knobs = {"mode": mode, "tolerance": tolerance, "keep": keep}
        live = self.maintain(program, mode=mode, tolerance=tolerance, keep=keep)
        facts = {**stored, **knobs, "version": self._state.version}
        try:
            with uninterrupted():
                writer.remember(REGISTER, name=name, program=facts)
                self._trust = self._trust.also(bound)
                self._programs[name] = live, self._state.registered[name]
        except BaseException:
            if name not in self._programs:
                live.close()
            raise
        return live

    @in_turn
    def unregister(self, name: str) -> None:
        """Forget a registered program."""
        writer = self._writing()
        self._check_registered(name)
        with uninterrupted():
            writer.remember(UNREGISTER, name=name)
            self._end_program(name)

    @in_turn
    def registered(self) -> list[str]:
        """The names of the registered programs; those of queries are in `queries`."""
        return list(self._state.registered)

    @in_turn
    def program(self, name: str) -> Live:
        """The results of a registered program, those of the current version."""
        self._check_registered(name)
        if name in self._lost:
            raise self._lost[name]
        return self._programs[name][0]

    @in_turn
    def query(self, name: str, asked: QueryKind) -> Query:
        """Ask a query (`gt.queries`), and keep its answer current, now and after every start.

        It is in the log, and stays until `drop_query`. Vertices that it names stay in the graph as
        long. Where the graph only reads, the query is its own, and goes with it.
        """
        self._check_open()
        self._check_free(name)
        if self._writer is None:
            return super().query(name, asked)
        try:
            query = super().query(name, asked)
            stored = {**stored_query(asked), "version": self._state.version}
            with uninterrupted():
                self._writer.remember(ASK, name=name, query=stored)
                self._begun[name] = stored
        except BaseException as error:
            with uninterrupted():
                if not isinstance(error, InputError | LimitError):
                    self._queries().lose(self._kept_by)
                if name not in self._state.queries and name in self._queries().queries:
                    self._queries().drop(name)
            raise
        return query

    @in_turn
    def drop_query(self, name: str) -> None:
        """Give a query up, for good."""
        kept = self._queries()
        if name not in self._state.queries:
            kept.drop(name)
            return
        writer = self._writing()
        with uninterrupted():
            writer.remember(DROP, name=name)
            self._end_query(name)

    @in_turn
    def set_budget(self, budget: int | str | None, *, patience: float = 1.0) -> None:
        """Let all queries together take so many bytes, now and after every start.

        As `Graph.set_budget`; where the graph only reads, the budget is its own. Queries that did
        not fit when the graph was opened begin if they do now.
        """
        self._check_open()
        with self._settings_or_before():
            super().set_budget(budget, patience=patience)
            if len(self._begun) < len(self._state.queries):
                self._begin_queries(self._queries())
            self._remember({"budget": self._budget, "patience": self._patience})

    @in_turn
    def set_landmarks(self, landmarks: int | Landmarks | None) -> None:
        """Have so many landmarks for queries, now and after every start.

        As `Graph.set_landmarks`; where the graph only reads, they are its own.
        """
        self._check_open()
        with self._settings_or_before():
            super().set_landmarks(landmarks)
            now = self._landmarks
            self._remember({"landmarks": None if now is None else [now.count, now.choice]})

    @contextmanager
    def _settings_or_before(self) -> Iterator[None]:
        """Let the block change settings, here and on the disk; in neither if something stops it.

        What is refused has been undone by those who refuse it. Of anything else it is not known how
        far it has come: answers are then computed anew when somebody asks.
        """
        before, logged = (self._budget, self._patience, self._landmarks), self._state.settings
        try:
            yield
        except (InputError, LimitError):
            raise
        except BaseException:
            with uninterrupted():
                if self._state.settings is logged:
                    self._budget, self._patience, self._landmarks = before
                    if self._asked is not None:
                        self._asked.lose(self._kept_by)
            raise

    def _remember(self, settings: dict[str, Any]) -> None:
        if self._writer is not None:
            with uninterrupted():
                self._writer.remember(SET, settings=settings)
                self._followed = self._state.settings

    def _follow_settings(self) -> None:
        """Keep queries as the log says, if it says something else than it said before."""
        settings = self._state.settings
        if settings == self._followed:
            return
        self._followed = settings
        marks = settings.get("landmarks")
        with well_formed(f"what {self._what} says of its queries"):
            landmarks = None if marks is None else Landmarks(*marks)
        super().set_landmarks(landmarks)
        try:
            super().set_budget(settings.get("budget"), patience=settings.get("patience", 1.0))
        except LimitError as error:  # What a reader asks beside the writer may need more.
            warnings.warn(f"{self._what}: {error.what}", RuntimeWarning, stacklevel=4)

    def _queries(self) -> StandingQueries:
        if self._asked is None or self._asked.failed:
            self._begun = {}
            self._begin_queries(super()._queries())
        return super()._queries()

    def _begin_registered(self) -> None:
        """Maintain what is registered, and end what is not any more."""
        self._follow_settings()
        self._end_unregistered()
        for name, stored in self._state.registered.items():
            if name not in self._programs:
                self._begin_program(name, stored)
        if self._state.queries:
            self._begin_queries(self._queries())

    def _end_unregistered(self) -> None:
        """End what is not registered any more, or is something else by now."""
        for name, (_, stored) in list(self._programs.items()):
            if self._state.registered.get(name) != stored:
                self._end_program(name)
        for name, stored in list(self._begun.items()):
            if self._state.queries.get(name) != stored:
                self._end_query(name)

    def _begin_program(self, name: str, stored: Stored) -> None:
        """Maintain a program; one that cannot begin says so when it is used.

        Whoever writes leaves no program out that cannot be found, unless the caller has said so:
        its consumers would not hear of what it missed.
        """
        known = self._lost.pop(name, None)
        try:
            program = made_program(stored, self._trust)
        except GraphtideError as error:
            if self._writer is not None and not self._without_lost:
                raise
            self._lost[name] = error
            if known is None:
                what = f"{self._what} is open without its program '{name}': {error.what}"
                warnings.warn(what, RuntimeWarning, stacklevel=6)
            return
        try:
            self._programs[name] = self._maintained(program, stored), stored
        except GraphtideError as error:
            self._lost[name] = error

    def _maintained(self, program: Bound, stored: Stored) -> Live:
        with well_formed("a program"):
            knobs = {item: stored[item] for item in ("mode", "tolerance", "keep")}
            return self.maintain(program, **knobs)

    def _end_program(self, name: str) -> None:
        self._lost.pop(name, None)
        live, _ = self._programs.pop(name, (None, None))
        if live is not None:
            live.close()
        self._told.pop(name, None)

    def _begin_queries(self, kept: StandingQueries) -> None:
        """Ask what is registered; a query of a reader's own gives way to one of its name."""
        for name, stored in self._state.queries.items():
            if name in self._begun:
                continue
            if name in kept.queries:
                kept.drop(name)
            try:
                kept.add(name, made_query(stored))
                self._begun[name] = stored
            except GraphtideError as error:
                warnings.warn(
                    f"the query '{name}' of {self._what} could not begin: {error.what}",
                    RuntimeWarning,
                    stacklevel=5,
                )

    def _end_query(self, name: str) -> None:
        self._begun.pop(name, None)
        if self._asked is not None and name in self._asked.queries:
            self._asked.drop(name)
        self._told.pop(name, None)

    def _check_registered(self, name: str) -> None:
        known = self._state.registered
        if name not in known:
            names = ", ".join(known) or "none"
            hint = name_hint(name, known, f"there is: {names}", "'")
            raise NotFoundError(f"no program is registered as '{name}'", hint=hint)

    def _check_free(self, name: str) -> None:
        """Refuse a name that a program or a query has."""
        if name in self._state.registered:
            told = told_program(self._state.registered[name])
            raise InputError(
                f"a program is registered as '{name}' already: {told}",
                hint=f"give another name, or live.unregister({name!r}) first",
            )
        if name in self._state.queries:
            raise InputError(
                f"there is a query '{name}' already",
                hint=f"give another name, or live.drop_query({name!r}) first",
            )

    def _writing(self) -> LiveWriter:
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

    @in_turn
    def changes(self, name: str, since: int) -> Iterator[tuple[int, Table]]:
        """What each version behind `since` has changed in a registered program or query.

        Pairs of the version and a table, oldest first. The table is that of `Live.changes` or
        `Query.changes`; of a program that reports rows alone, those rows with a column `change`,
        which is `appeared` or `disappeared`; of one that has results of the whole graph alone,
        their `name`, `old` and `new`. Versions before something was registered have none. Those of
        the last versions are at hand; earlier ones are computed again, as far back as the
        checkpoint before the last one.
        """
        return iter(
            [(version, Table(table)) for version, table in self._changes_since(name, since)]
        )

    def _changes_since(self, name: str, since: int) -> list[tuple[int, pa.Table]]:
        if isinstance(since, bool) or not isinstance(since, int) or not 0 <= since <= self.version:
            raise InputError(
                f"there are no changes since version {since!r}: the graph is at {self.version:,}",
                hint="give the last version that was seen; a reader comes to others by refresh()",
            )
        first = max(since, self._changing(name).get("version", 0))
        if first >= self.version:
            return []
        kept = [item for item in self._told.get(name, ()) if first < item[0] <= self.version]
        if kept and kept[0][0] == first + 1 and len(kept) == self.version - first:
            return [(version, _as_table(changes)) for version, changes in kept]
        return self._computed_again(name, first)

    @in_turn
    def deliver(self, name: str, to: Receiver | str | Path, *, consumer: str) -> None:
        """Hand the changes of a registered program or query to a consumer, after every advance.

        `to` is called with the version and the changes as an Arrow table, or is a folder that gets
        a Parquet file for each version. How far the consumer has come is remembered by its name:
        after a start it receives what it has not taken yet; a version may come twice, and none is
        left out. A folder goes on by itself when the graph is opened to be written. A function
        cannot be stored: hand it over again after a start; until then the first advance warns.
        A new consumer begins with the next version. What `to` raises leaves the advance done. Where
        the program or query is dropped, the consumer hears nothing until one has its name again.
        """
        self._writing()
        self._changing(name)
        receive, to_folder = _receiver(to)
        noted = read_consumer(self.folder, consumer)
        version = self.version if noted is None else noted.version
        if to_folder is not None and not is_marked(self.folder, consumer, to_folder):
            mark(self.folder, consumer, to_folder)
        if noted != (now := Consumer(version, name, to_folder)):
            note_consumer(self.folder, consumer, now)
        self._consumers[consumer] = name, receive
        self._waiting.pop(consumer, None)
        self._deliver()

    @in_turn
    def consumers(self) -> Table:
        """Who is told of changes: `consumer`, of what `name`, in which folder `to`, up to which
        `version`, and what it is `waiting` for; null where it is told.
        """
        names = list(consumer_names(self.folder))
        noted = [read_consumer(self.folder, consumer) or Consumer(0) for consumer in names]
        texts = {"consumer": names, "name": [item.of for item in noted]}
        texts |= {"to": [item.to for item in noted]}
        texts |= {"waiting": [self._waiting.get(consumer) for consumer in names]}
        columns = {name: pa.array(values, pa.string()) for name, values in texts.items()}
        columns["version"] = pa.array([item.version for item in noted], pa.int64())
        return Table(pa.table(columns))

    @in_turn
    def drop_consumer(self, consumer: str) -> None:
        """Tell a consumer of no more changes, and forget how far it has come."""
        self._writing()
        noted = read_consumer(self.folder, consumer)
        if noted is None:
            known = list(consumer_names(self.folder))
            names = ", ".join(known[:10]) or "none"
            hint = name_hint(consumer, known, f"there is: {names}", "'")
            raise NotFoundError(f"there is no consumer '{consumer}'", hint=hint)
        forget_consumer(self.folder, consumer, noted)
        self._consumers.pop(consumer, None)
        self._waiting.pop(consumer, None)

    def _begin_consumers(self) -> None:
        """Go on telling folders, behind a start; note who is not told until it is handed over."""
        for consumer in consumer_names(self.folder):
            try:
                noted = read_consumer(self.folder, consumer)
                if noted is None or noted.of is None or noted.to is None:
                    self._waiting[consumer] = "its function is not stored"
                elif not is_marked(self.folder, consumer, noted.to):
                    self._waiting[consumer] = f"{noted.to} was not handed over by the graph here"
                else:
                    told = noted.of, partial(write_changes, Path(noted.to))
                    self._deliver_to(consumer, *told)
                    self._consumers[consumer] = told
            except GraphtideError as error:
                self._waiting[consumer] = error.what

    def _say_waiting(self) -> None:
        """Warn, once after a start, of consumers that hear nothing of what is to come."""
        if self._waiting and not self._said_waiting:
            self._said_waiting = True
            told = [line for item in self._waiting.items() if (line := self._waiting_line(*item))]
            if told:
                what = f"{self._what} tells these consumers of nothing: {'; '.join(told)}"
                warn_user(what, RuntimeWarning)

    def _waiting_line(self, consumer: str, reason: str) -> str | None:
        """What a consumer waits for, and what to write; None where nothing has the name."""
        noted = read_consumer(self.folder, consumer)
        name = None if noted is None else noted.of
        if name is not None and not self._is_registered(name):
            return None
        call = f"live.deliver({name or 'NAME'!r}, to, consumer={consumer!r})"
        return (
            f"'{consumer}', since {reason}; {call} goes on, live.drop_consumer({consumer!r}) ends"
        )

    def _deliver(self) -> None:
        if self._delivering:
            return  # A consumer has advanced the graph: whoever calls it goes on with that.
        self._delivering = True
        try:
            for consumer, (name, receive) in list(self._consumers.items()):
                self._deliver_to(consumer, name, receive)
        finally:
            self._delivering = False

    def _deliver_to(self, consumer: str, name: str, receive: Receiver) -> None:
        """Tell one consumer of all versions that it has not taken."""
        noted, before = read_consumer(self.folder, consumer), None
        while noted is not None and noted != before and self._is_registered(name):
            before = noted
            for version, changes in self._changes_since(name, noted.version):
                receive(version, changes)
                noted = replace(noted, version=version)
                note_consumer(self.folder, consumer, noted)

    def _is_registered(self, name: str) -> bool:
        return name in self._state.queries or name in self._state.registered

    def _changing(self, name: str) -> Stored:
        """What is registered under a name; the graph keeps its changes from now on."""
        if name in self._state.queries:
            self._told.setdefault(name, RecentChanges())
            return self._state.queries[name]
        if name in self._state.registered:
            self.program(name)
            return self._state.registered[name]
        known = [*self._state.registered, *self._state.queries]
        names = ", ".join(known[:10]) or "none"
        raise NotFoundError(
            f"neither a program nor a query is registered as '{name}'",
            hint=name_hint(name, known, f"there is: {names}", "'"),
        )

    def _note_changes(self, version: int) -> None:
        for name, (live, _) in self._programs.items():
            if live._kept in self._followers:
                noted = self._told.setdefault(name, RecentChanges())
                noted.put(version, live._changes())
        for name in self._told.keys() & self._state.queries.keys():
            kept = self._queries()
            self._told[name].put(version, change_table(kept, kept.get(name)))

    def _begin_with(self, replay: Replay) -> None:
        self._state, self._shape = replay.state, replay.shape
        with well_formed(replay.what):
            made = memory_of(replay.tables(), replay.shape)
        made.timezone = replay.timezone
        self._hold(made)

    def _computed_again(self, name: str, since: int) -> list[tuple[int, pa.Table]]:
        """The changes behind a version, computed again by a second graph that follows the log."""
        replay, records = earlier_version(self.folder, self._name, self._what, since)
        other = self._at_hand()
        other._trust = self._trust
        other._begin_with(replay)
        changes = other._changes_of(self._changing(name), asked=name in self._state.queries)
        tables = []
        for item in records:
            before = other._state.version
            other._shape = follow_logged(other, other._state, item)
            if other._state.version > self.version:
                break
            if other._state.version > before:
                tables.append((other._state.version, _as_table(changes())))
        return tables

    @classmethod
    def _at_hand(cls) -> Self:
        """An empty graph that is not on disk."""
        return cls.__new__(cls)

    def _changes_of(self, stored: Stored, *, asked: bool) -> Callable[[], Changes | pa.Table]:
        """Begin one registered program or query; returns a reader of the last changes."""
        if not asked:
            return self._maintained(made_program(stored, self._trust), stored).changes
        queries = MemoryGraph._queries(self)
        return partial(change_table, queries, queries.add("it", made_query(stored)))


def _as_table(changes: Changes | pa.Table) -> pa.Table:
    return changes.delivered() if isinstance(changes, Changes) else changes


def _receiver(to: Receiver | str | Path) -> tuple[Receiver, str | None]:
    """What is called with changes, and the folder that it writes to, if it does."""
    if callable(to):
        return to, None
    if isinstance(to, str | Path):
        folder = given_path(to).absolute()
        return partial(write_changes, folder), str(folder)
    raise InputError(f"changes cannot go to {to!r}", hint="give a function, or a folder")
