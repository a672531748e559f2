"""Where batches come from: a query of Spark that hands them over, or the commits of a file sink.

A feed calls `take` with one batch after the other, from a thread of its own, and waits until that
is applied before it goes on: that is all the back pressure there is, and all that is needed. A
query that writes files would run ahead of the graph; it is stopped where it is too far ahead, and
goes on from its checkpoint.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from graphtide.run.streams.file_sink import Commit, FileSink
from graphtide.run.streams.position import Batch, Position

if TYPE_CHECKING:
    from graphtide.spark.streams import StreamQuery
    from graphtide.spark.types import DataFrame

MOST_AHEAD = 16
"""A query that writes files is stopped while this many batches wait."""

_POLL = 0.2


class StreamStoppedError(Exception):
    """Raised into Spark by a batch that comes when it is not wanted any more."""


Give = Callable[[Batch], object]
"""What a feed does with a batch; returns when that is applied."""


class Feed(Protocol):
    """Batches that come by themselves."""

    def start(self, give: Give, check: Callable[[str], None]) -> None:
        """Begin; `check` refuses a query before it gives a batch."""

    def stop(self) -> None:
        """End, between two batches."""

    def ends_within(self, seconds: float) -> bool:
        """Wait; whether it has ended."""

    @property
    def is_active(self) -> bool:
        """Whether batches may come."""

    @property
    def failure(self) -> BaseException | None:
        """What has ended it."""

    @property
    def waiting(self) -> int | None:
        """How many batches wait to be applied, where that is known."""


class BatchFeed:
    """A query of a session of this process, which hands over its batches."""

    waiting: int | None = None

    def __init__(self, stream: DataFrame, checkpoint: Path | str, trigger: str | None) -> None:
        self._stream, self._checkpoint, self._trigger = stream, checkpoint, trigger
        self._known = threading.Event()
        self._refused = False
        self.query: StreamQuery | None = None

    def start(self, give: Give, check: Callable[[str], None]) -> None:
        """Start the query."""
        from graphtide.spark.streams import start_batches

        def take(batch: int, load: Callable[[], pa.Table]) -> None:
            self._known.wait()  # The first batch may come before the query has told its id.
            assert self.query is not None
            if self._refused:
                raise StreamStoppedError  # Else Spark would take the batch for done.
            give(Batch(self.query.id, batch, load))

        self.query = start_batches(self._stream, take, self._checkpoint, self._trigger)
        try:
            check(self.query.id)
        except BaseException:
            self._refused = True
            self._known.set()  # A batch that waits would keep the query from stopping.
            self.query.stop()
            raise
        self._known.set()

    def stop(self) -> None:
        """Stop the query."""
        if self.query is not None:
            self.query.stop()

    def ends_within(self, seconds: float) -> bool:
        """Wait for the query."""
        return self.query is None or self.query.ends_within(seconds)

    @property
    def is_active(self) -> bool:
        """Whether the query runs."""
        return self.query is not None and self.query.is_active

    @property
    def failure(self) -> BaseException | None:
        """What Spark says."""
        return None if self.query is None else self.query.failure


class SinkFeed:
    """The commits of a file sink, followed by a thread.

    `write` starts the query that writes the sink, where it is ours; its files are removed when they
    have been followed. `once` ends with the commits that are there.
    """

    def __init__(
        self,
        sink: FileSink,
        position: Callable[[], Position | None],
        *,
        write: Callable[[], StreamQuery] | None = None,
        once: bool = False,
    ) -> None:
        self._sink, self._position = sink, position
        self._write, self._once = write, once
        self.query: StreamQuery | None = None
        self._thread = threading.Thread(target=self._run, name="graphtide-sink", daemon=True)
        self._ending = threading.Event()
        self._held_back = False
        self.failure: BaseException | None = None

    def start(self, give: Give, check: Callable[[str], None]) -> None:
        """Start the query, where it is ours, and the thread."""
        self._give, self._check = give, check
        if self._write is not None:
            self.query = self._write()
            try:
                check(self.query.id)
            except BaseException:
                self.query.stop()
                raise
        elif (identity := self._sink.identity) is not None:
            check(identity)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and the query."""
        self._ending.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        if self.query is not None:
            self.query.stop()

    def ends_within(self, seconds: float) -> bool:
        """Wait for the thread."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def is_active(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    @property
    def waiting(self) -> int | None:
        """Commits that have not been followed."""
        return self._sink.waiting(self._last)

    @property
    def _last(self) -> int:
        position = self._position()
        return -1 if position is None else position.batch - (position.part is not None)

    def _run(self) -> None:
        try:
            while not self._ending.is_set() and self._goes_on():
                pass
            if self.query is not None and not self._ending.is_set():
                self.failure = self.query.failure
        except BaseException as error:  # Told by whoever waits for the stream.
            self.failure = error

    def _goes_on(self) -> bool:
        """Follow one commit, or wait for one; False where none will come."""
        ended = self._once if self.query is None else not self.query.is_active
        if not ended and self.query is not None and self._sink.waiting(self._last) > MOST_AHEAD:
            self.query.stop()
            self._held_back = True
        if self._follow():
            return True
        if self._held_back:
            assert self._write is not None
            self.query, self._held_back = self._write(), False
            return True
        if not ended:
            self._ending.wait(_POLL)
        return not ended

    def _follow(self) -> bool:
        """Give the next commit, if there is one."""
        query = self._sink.identity if self.query is None else self.query.id
        if query is None:
            return False
        position = self._position()
        commit = self._sink.next_commit(self._last, 0 if position is None else position.files)
        if commit is None:
            return False
        self._give(Batch(query, commit.batch, commit.read, commit.first, commit.end))
        self._remove(commit)
        return True

    def _remove(self, commit: Commit) -> None:
        if self._write is not None:
            for path in commit.files:
                path.unlink(missing_ok=True)
