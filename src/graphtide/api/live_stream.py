"""A stream that a live graph follows: the handle that users hold, and how one begins.

A live graph follows streams on threads of their own, until it is closed. How batches come and are
applied is `graphtide.run.streams`.
"""

from __future__ import annotations

import time as clock
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from graphtide.model.errors import InputError
from graphtide.model.names import check_name, given_path
from graphtide.run.durable.batch import read_keep
from graphtide.run.durable.records import GraphShape
from graphtide.run.durable.writer import LiveWriter
from graphtide.run.progress import shown
from graphtide.run.streams.feeds import (
    BatchFeed,
    Feed,
    FileSink,
    RunningStream,
    SinkFeed,
    StreamStatus,
    check_sink,
)
from graphtide.run.streams.rows import ColumnChoice, stream_columns
from graphtide.run.streams.taker import OnError, StreamSettings, StreamTaker
from graphtide.run.turns import StaysHere
from graphtide.spark import AVAILABLE_NOW, needs_spark

_LOOK = 0.5
"""Between two looks at a stream that is waited for, in seconds."""


class StreamOptions(NamedTuple):
    """What `LiveGraph.follow` was given."""

    name: str
    choice: ColumnChoice
    late: Any
    time: str | None
    on_error: str
    limit: int
    trigger: str | None
    checkpoint: str | Path | None
    files: str | Path | None


class Follower(StaysHere):
    """A stream that is on its way into a live graph. `LiveGraph.follow` starts one.

    As a context it stops at the end of the block. It also stops when its graph is closed.
    """

    _instead = "ask it for its status() where it is"

    def __init__(self, running: RunningStream) -> None:
        self._running = running
        self.name = running.name
        """What the graph calls the stream."""

    @property
    def active(self) -> bool:
        """Whether batches may still come."""
        return self.status().active

    @property
    def set_aside(self) -> Path:
        """The folder with rows that were not applied, as Parquet; `_reason` says why."""
        return self._running.set_aside

    def status(self) -> StreamStatus:
        """How far the stream has come, how fast, and what waits."""
        return self._running.status()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the stream has ended; False if it has not within so many seconds.

        Shows rows a second and the lag in a terminal. Raises what has ended the stream: an error in
        a batch, which was not applied, or one of Spark's. Ctrl-C ends the waiting, not the stream.
        """
        ends = None if timeout is None else clock.monotonic() + timeout
        with shown(f"following '{self.name}'") as report:
            while True:
                left = _LOOK if ends is None else min(_LOOK, ends - clock.monotonic())
                if self._running.ends_within(max(left, 0.001)):
                    self._running.check()
                    return True
                if ends is not None and clock.monotonic() >= ends:
                    return False
                report(_told(self.status()))

    def stop(self) -> None:
        """End the stream between two batches. Following it again goes on behind the last one."""
        self._running.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<stream '{self.name}': {_told(self.status())}>"


def start_following(
    graph: Path, writer: LiveWriter, stream: Any, options: StreamOptions
) -> Follower:
    """Begin to follow a streaming DataFrame, or the folder of a file sink."""
    name = check_name(options.name, "stream")
    if options.on_error not in ("stop", "set aside"):
        raise InputError(
            f"on_error cannot be {options.on_error!r}", hint="give 'stop' or 'set aside'"
        )
    if not isinstance(options.limit, int) or options.limit < 1:
        raise InputError(f"limit cannot be {options.limit!r}", hint="give a number of rows")
    on_error: OnError = "stop" if options.on_error == "stop" else "set aside"
    late = None if options.late is None else read_keep(options.late, options.time, writer.shape)
    following = StreamSettings(name, options.choice, late, on_error, options.limit)
    taker = StreamTaker(writer, graph, following)
    running = RunningStream(taker, _feed(stream, taker, writer.shape, options))
    running.start()
    return Follower(running)


def _feed(stream: Any, taker: StreamTaker, shape: GraphShape, options: StreamOptions) -> Feed:
    if isinstance(stream, str | Path):
        sink = FileSink(check_sink(given_path(stream)))
        _refuse(options, "checkpoint", "files")
        if options.trigger not in (None, AVAILABLE_NOW):
            raise InputError(
                "commits of a file sink are followed as they come: there is no other trigger",
                hint=f"leave it out, or give '{AVAILABLE_NOW}'",
            )
        once = options.trigger == AVAILABLE_NOW
        return SinkFeed(sink, lambda: taker.position, once=once)
    return _spark_feed(stream, taker, shape, options)


def _spark_feed(stream: Any, taker: StreamTaker, shape: GraphShape, options: StreamOptions) -> Feed:
    with needs_spark():
        from graphtide.spark.streams import is_remote, is_stream, start_file_sink

    if not is_stream(stream):
        raise InputError(
            f"a {type(stream).__name__} is no stream",
            hint="give a DataFrame of spark.readStream, or the folder of a file sink; "
            "advance(insert=...) takes a table",
        )
    stream_columns(stream.columns, shape, options.choice)
    folder, given = taker.folder, options.checkpoint
    checkpoint = folder.checkpoint.absolute() if given is None else given
    if not is_remote(stream):
        _refuse(options, "files")
        return BatchFeed(stream, checkpoint, options.trigger)
    files = folder.sink if options.files is None else given_path(options.files)
    files = check_sink(files.absolute())
    write = partial(start_file_sink, stream, files, checkpoint, options.trigger)
    return SinkFeed(FileSink(files), lambda: taker.position, write=write)


def _refuse(options: StreamOptions, *names: str) -> None:
    """Refuse what has no meaning for a stream of this kind."""
    for name in names:
        if getattr(options, name) is not None:
            raise InputError(f"`{name}` has no meaning for this stream", hint=f"leave `{name}` out")


def _told(status: StreamStatus) -> str:
    """A line of progress."""
    waiting = f", {status.waiting:,} batches wait" if status.waiting else ""
    aside = [(status.late, "late"), (status.set_aside, "wrong")]
    told = "".join(f", {count:,} {what} set aside" for count, what in aside if count)
    return (
        f"{status.rows:,} rows{told}, {status.rows_per_second:,.0f} rows/s, "
        f"lag {status.lag:.1f} s{waiting}"
    )
