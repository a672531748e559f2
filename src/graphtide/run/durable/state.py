"""What a live graph knows besides its vertices and edges; part of every checkpoint.

It is changed by records alone, one after the other, whether they come from a caller or from the
log. So two processes that have seen the same records know the same. What is registered is in dicts
that are replaced, never changed: another dict says that something has come or gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.durable.records import BATCH, COMPACT, REGISTER, UNREGISTER, Record
from graphtide.store.files import Damage
from graphtide.store.generation import MANIFEST, Manifest
from graphtide.store.graph import StoredGraph

MOST_IDS = 10_000
"""A live graph remembers this many ids of batches, the last ones."""

_BATCHES = "batches"

BatchId = str | tuple[str, int]
"""Whatever a caller calls a batch: a text, or a stream and the number of the batch in it."""


@dataclass
class AppliedBatches:
    """The batches that a graph has taken: the last ids, and how far each stream has come."""

    ids: dict[str, int] = field(default_factory=dict)
    streams: dict[str, int] = field(default_factory=dict)

    def has(self, given: BatchId) -> bool:
        """Whether a batch of that id has been applied; InputError where some before it have not."""
        if isinstance(given, str):
            return given in self.ids
        stream, number = given
        last = self.streams.get(stream)
        if last is None or number <= last:
            return last is not None
        if number > last + 1:
            raise InputError(
                f"the batch {number:,} of the stream '{stream}' follows the batch {last:,}",
                hint="give the batches of a stream in their order, without gaps",
            )
        return False

    def add(self, given: BatchId, version: int) -> None:
        """A batch has been applied, and has made that version."""
        if isinstance(given, str):
            self.ids[given] = version
            if len(self.ids) > MOST_IDS:
                del self.ids[next(iter(self.ids))]
        else:
            self.streams[given[0]] = given[1]

    def entries(self, id: BatchId | None, version: int) -> Manifest:
        """What the manifest of a stored graph says of them, with a batch that makes a version."""
        if id is not None:
            self.add(id, version)
        return {_BATCHES: vars(self)} if self.ids or self.streams else {}

    @classmethod
    def of_graph(cls, stored: StoredGraph) -> AppliedBatches:
        """Those of a stored graph."""
        try:
            found = cls(**stored.generation.manifest.get(_BATCHES, {}))
            numbers = [*dict.values(found.ids), *dict.values(found.streams)]
            if not all(type(item) is int for item in numbers):
                raise TypeError(numbers)
        except TypeError as error:
            damage = Damage(stored.path / MANIFEST, f"is not that of a graph: {error!r:.60}")
            raise stored.generation.damaged(damage) from None
        return found


@dataclass
class LiveState:
    """Versions, ids of batches, registered programs and queries, vertices that leave, the time."""

    graph: str = ""
    """The identity of the graph, which its log has as well."""
    version: int = 0
    sequence: int = 0
    ids: dict[str, int] = field(default_factory=dict)
    streams: dict[str, int] = field(default_factory=dict)
    followed: dict[str, dict[str, Any]] = field(default_factory=dict)
    """How far each stream that the graph follows has come (`run.streams.position`)."""
    registered: dict[str, dict[str, Any]] = field(default_factory=dict)
    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    """How queries are kept: `budget`, `patience` and `landmarks`, those that were ever set."""
    leaving: set[int] = field(default_factory=set)
    latest: float | int | None = None
    late: int = 0
    keep: dict[str, Any] | None = None
    compacted: int = 0
    """The last record that has numbered vertices and edges anew."""
    changed: int = 0
    """The last record that gave vertices other values."""

    def take(self, record: Record, sequence: int) -> None:
        """Follow a record."""
        facts, self.sequence = record.facts, sequence
        match record.kind:
            case "batch":
                self._take_batch(facts)
                if record.changed is not None:
                    self.changed = sequence
            case "compact":
                self.leaving = set(facts.get("left", ()))
                self.compacted = sequence
            case "register":
                self.registered = _with(self.registered, facts["name"], facts["program"])
            case "unregister":
                self.registered = _without(self.registered, facts["name"])
            case "ask":
                self.queries = _with(self.queries, facts["name"], facts["query"])
            case "drop":
                self.queries = _without(self.queries, facts["name"])
            case "set":
                self.settings = {**self.settings, **facts["settings"]}

    def _take_batch(self, facts: dict[str, Any]) -> None:
        self.version = facts["version"]
        self.leaving.update(facts.get("left", ()))
        self.leaving.difference_update(facts.get("back", ()))
        self.latest = facts.get("latest", self.latest)
        self.late += facts.get("late", 0)
        batches = AppliedBatches(self.ids, self.streams)
        if (name := facts.get("id")) is not None:
            batches.add(name, self.version)
        for stream, number in facts.get("stream", {}).items():
            batches.add((stream, number), self.version)
        self.followed |= facts.get("followed", {})

    def has(self, given: BatchId) -> bool:
        """Whether a batch of that id has been applied; InputError where some before it have not."""
        return AppliedBatches(self.ids, self.streams).has(given)

    def leaving_by(self, record: Record) -> NDArray[np.int32]:
        """The vertices that leave by a compaction, ascending: all but those that it says stay."""
        return np.array(sorted(self.leaving.difference(record.facts.get("stay", ()))), np.int32)

    def to_json(self) -> dict[str, Any]:
        """As a manifest holds it."""
        return {**vars(self), "leaving": sorted(self.leaving)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LiveState:
        """The state that a manifest holds."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        state = cls(**{**known, "leaving": set(data.get("leaving", ()))})
        state._check()
        return state

    def _check(self) -> None:
        """TypeError where a manifest holds what no state has."""
        for name, usual in vars(LiveState()).items():
            value = getattr(self, name)
            if usual is not None and type(value) is not type(usual):
                raise TypeError(f"'{name}' is {value!r:.60}")
        for known in (self.registered, self.queries, self.followed):
            for name, stored in known.items():
                _with({}, name, stored)
        numbers = (*self.ids.values(), *self.streams.values(), *self.leaving)
        if not all(type(item) is int for item in numbers):
            raise TypeError("a version, a batch or a vertex is no number")


def _with(known: dict[str, dict[str, Any]], name: str, stored: Any) -> dict[str, dict[str, Any]]:
    fits = isinstance(stored, dict) and type(stored.get("version", 0)) is int
    if fits and isinstance(name, str):
        return {**known, name: stored}
    raise TypeError(f"{name!r:.60} stands for {stored!r:.60}")


def _without(known: dict[str, dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    return {other: stored for other, stored in known.items() if other != name}


def checked_id(given: Any) -> BatchId | None:
    """The id of a batch as a caller gives it."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, tuple | list) and len(given) == 2:
        stream, number = given
        if isinstance(stream, str) and isinstance(number, int) and not isinstance(number, bool):
            return stream, number
    raise InputError(
        f"{given!r} cannot be the id of a batch",
        hint="give a text, or the name of a stream and the number of the batch: ('orders', 17)",
    )


__all__ = [
    "BATCH",
    "COMPACT",
    "REGISTER",
    "UNREGISTER",
    "AppliedBatches",
    "BatchId",
    "LiveState",
    "checked_id",
]
