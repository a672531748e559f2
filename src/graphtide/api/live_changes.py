"""Changes of registered programs and queries: those since a version, and deliveries to consumers.

The graph keeps the changes of the last versions. For earlier ones, a second graph starts from a
checkpoint and follows the log. A graph may have thousands of queries, so it keeps the changes of a
query only from the first time on that a user asks for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from graphtide.api.changes import Changes
from graphtide.api.live_registered import RegisteredGraph, Stored
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.schema import name_hint
from graphtide.run.durable.asked import made_query
from graphtide.run.durable.consumers import note_taken, taken_version, write_changes
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
        a Parquet file a version. How far the consumer has come is remembered by its name: after a
        start, it is told of what it has not taken yet; a version may come twice, and none is left
        out. A new consumer begins with the next version. What `to` raises leaves the advance done.
        Where the program or query is dropped, the consumer hears nothing until one has its name
        again.
        """
        self._writing()
        self._changing(name)
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
                while taken is not None and taken != before and self._is_registered(name):
                    before = taken
                    for version, changes in self._changes_since(name, taken):
                        receive(version, changes)
                        note_taken(self.folder, consumer, version)
                        taken = version
        finally:
            self._delivering = False

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


def _receiver(to: Receiver | str | Path) -> Any:
    if callable(to):
        return to
    if isinstance(to, str | Path):
        return partial(write_changes, Path(to))
    raise InputError(f"changes cannot go to {to!r}", hint="give a function, or a folder")
