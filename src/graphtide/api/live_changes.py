"""Changes of registered programs and queries: those since a version, and deliveries to consumers.

The graph keeps the changes of the last versions. For earlier ones, a second graph starts from a
checkpoint and follows the log. A graph may have thousands of queries, so it keeps the changes of a
query only from the first time on that a user asks for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

import pyarrow as pa

from graphtide.api.changes import Changes
from graphtide.api.live_registered import RegisteredGraph, Stored
from graphtide.model.errors import GraphtideError, InputError, NotFoundError, warn_user
from graphtide.model.paths import given_path
from graphtide.model.schema import name_hint
from graphtide.run.durable.asked import made_query
from graphtide.run.durable.consumers import (
    Consumer,
    consumer_names,
    forget_consumer,
    is_marked,
    mark,
    note_consumer,
    read_consumer,
    write_changes,
)
from graphtide.run.durable.earlier import earlier_version
from graphtide.run.durable.reader import follow_logged
from graphtide.run.durable.recover import Replay
from graphtide.run.durable.registered import made_program
from graphtide.run.durable.tables import memory_of
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.queries.answers import change_table
from graphtide.run.table import Table
from graphtide.run.turns import in_turn
from graphtide.store.seal import well_formed

_MOST_TOLD = 256
"""The graph keeps the changes of at most this many versions,"""
_MOST_ROWS = 1 << 20
"""and of at most this many rows (some 25 MB), besides those of the last version."""

Receiver = Callable[[int, pa.Table], object]


class Told:
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
        while len(self) > 1 and (len(self) > _MOST_TOLD or self._rows > _MOST_ROWS):
            self._rows -= self._items.popleft()[2]


class ChangingGraph(RegisteredGraph):
    """A live graph that can say what changed since any version that its log reaches back to."""

    _told: dict[str, Told]
    _consumers: dict[str, tuple[str, Receiver]]
    _waiting: dict[str, str]
    """Consumers that are not told, with the reason: those whose function is not stored."""
    _said_waiting: bool
    _delivering: bool

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
            self._told.setdefault(name, Told())
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
                noted = self._told.setdefault(name, Told())
                noted.put(version, live._changes())
        for name in self._told.keys() & self._state.queries.keys():
            kept = self._queries()
            self._told[name].put(version, change_table(kept, kept.get(name)))

    def _end_program(self, name: str) -> None:
        super()._end_program(name)
        self._told.pop(name, None)

    def _end_query(self, name: str) -> None:
        super()._end_query(name)
        self._told.pop(name, None)

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
