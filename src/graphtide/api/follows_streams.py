"""Streams into a live graph: it follows them on threads of its own, until it is closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphtide.api.live_stream import Follower, StreamOptions, start_following
from graphtide.model.errors import InputError
from graphtide.run.durable.writer import Writer
from graphtide.run.streams.columns import ColumnChoice


class FollowsStreams(ABC):
    """The part of a live graph that follows streams."""

    folder: Path
    """Where it is."""
    _streams: dict[str, Follower]

    @abstractmethod
    def _writing(self) -> Writer:
        """What writes the graph; InputError where it is only read, or closed."""

    @abstractmethod
    def _say_waiting(self) -> None:
        """Warn of consumers that hear nothing of what is to come."""

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

    def _stop_streams(self) -> None:
        for running in self._streams.values():
            running.stop()
