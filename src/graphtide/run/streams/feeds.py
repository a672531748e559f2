"""Where batches come from, and one stream on its way into a live graph.

A feed is a query of Spark that hands its batches over, or the commits of Spark's file sink. It
calls `take` with one batch after the other, from a thread of its own, and waits until that is
applied before it goes on: that is all the back pressure there is. A query that writes files would
run ahead of the graph; it is stopped where it is too far ahead, and goes on from its checkpoint.

The folder `_spark_metadata` of a file sink has a file for each batch, which lists what that batch
has written and is there as a whole or not at all. Files that no batch lists are of attempts that
failed. Now and then Spark puts all lists together in one (`9.compact`), and later removes the
single ones.

`RunningStream` knows how far a stream is, how fast, and why it has ended. Kept true: batches are
applied one at a time, and none after `stop` has returned. What applying a batch raises ends the
stream, and is raised by `check`, on whatever thread.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.errors import DamagedError, GraphtideError, InputError, StoreError
from graphtide.run.streams.taker import Position, StreamBatch, StreamTaker

if TYPE_CHECKING:
    from graphtide.spark.streams import StreamQuery
    from graphtide.spark.types import DataFrame


METADATA = "_spark_metadata"
_NAME = re.compile(r"(\d+)(\.compact)?")
_VERSION = "v1"


@dataclass(frozen=True)
class SinkCommit:
    """The files of a batch, or of all batches up to it that were not followed before."""

    batch: int
    first: int
    files: tuple[Path, ...]
    end: int
    """How many files have been listed up to here, since the beginning."""

    def read(self) -> pa.Table:
        """The rows of its files, in their order."""
        if not self.files:
            return pa.table({})
        try:
            tables = [pq.read_table(path, partitioning=None) for path in self.files]
            return pa.concat_tables(tables, promote_options="default")
        except FileNotFoundError as error:
            raise DamagedError(
                f"a file that the batch {self.batch:,} of the file sink has written is gone",
                where=str(error.filename or error),
                hint="put it back; rows are never left out in silence",
            ) from None
        except (OSError, pa.ArrowException) as error:
            raise DamagedError(
                f"the files of the batch {self.batch:,} of the file sink cannot be read: {error}",
                where=str(self.files[0].parent),
            ) from None


class FileSink:
    """The folder of a file sink, read by somebody who has followed it up to a batch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._metadata = folder / METADATA

    @property
    def identity(self) -> str | None:
        """The name of the sink's first file, which is unique; None before there is one."""
        listed = self._listed()
        together = [batch for batch in sorted(listed) if _is_compact(listed[batch])]
        for batch in (*together[:1], *sorted(listed)):  # Single lists may be gone before it.
            entries = self._entries(listed[batch])
            if entries:
                return entries[0].name
        return None

    def waiting(self, after: int) -> int:
        return sum(batch > after for batch in self._listed())

    def next_commit(self, after: int, files: int) -> SinkCommit | None:
        """The first commit after batch `after`; `files` is how many files were followed so far."""
        listed = self._listed()
        later = [batch for batch in sorted(listed) if batch > after]
        if not later:
            return None
        if later[0] == after + 1 and not _is_compact(listed[later[0]]):
            entries = self._entries(listed[later[0]])
            return SinkCommit(later[0], later[0], entries, files + len(entries))
        together = [batch for batch in later if _is_compact(listed[batch])]
        if not together:
            raise StoreError(
                f"the batch {after + 1:,} of the file sink is gone, and {later[0]:,} is there",
                where=str(self._metadata),
                hint="put the file back, or follow another sink, under another name",
            )
        entries = self._entries(listed[together[0]])
        if len(entries) < files:
            raise StoreError(
                f"the file sink lists {len(entries):,} files, and {files:,} were followed",
                where=str(listed[together[0]]),
                hint="write the sink without `retention`, and follow it under another name",
            )
        return SinkCommit(together[0], after + 1, entries[files:], len(entries))

    def _listed(self) -> dict[int, Path]:
        """The log file of each batch; a compacted one only if the single one is gone."""
        logs: dict[int, Path] = {}
        try:
            names = list(self._metadata.iterdir())
        except FileNotFoundError:
            return logs
        except OSError as error:
            raise InputError(f"the file sink cannot be read: {error}") from None
        for path in names:
            match = _NAME.fullmatch(path.name)
            if match and (match[2] is None or int(match[1]) not in logs):
                logs[int(match[1])] = path
        return logs

    def _entries(self, path: Path) -> tuple[Path, ...]:
        try:
            version, *lines = path.read_text(encoding="utf-8").splitlines()
            entries = [json.loads(line) for line in lines if line.strip()]
            if version != _VERSION or any(item["action"] != "add" for item in entries):
                raise ValueError(f"of the form {version}")
            return tuple(self._local(item["path"]) for item in entries)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DamagedError(
                f"a list of the file sink cannot be read: {error}",
                where=str(path),
                hint=f"its first line is {_VERSION}, and each other line a file that was added",
            ) from None

    def _local(self, address: str) -> Path:
        """The local path of a file that Spark may know under another folder."""
        return self.folder / Path(unquote(urlsplit(address).path)).name


def check_sink(folder: Path) -> Path:
    """The folder, if a file sink can be there; it need not be there yet."""
    if folder.is_file():
        raise InputError(
            f"'{folder}' is a file", hint="give the folder that Spark writes a stream to"
        )
    if folder.is_dir() and not (folder / METADATA).exists() and any(folder.iterdir()):
        raise InputError(
            f"'{folder}' is no file sink: it has no `{METADATA}`",
            hint="give the folder that Spark's writeStream.format('parquet') writes to",
        )
    return folder


def _is_compact(path: Path) -> bool:
    return path.suffix == ".compact"


MOST_AHEAD = 16
"""A query that writes files is stopped while this many batches wait."""

_POLL = 0.2


class StreamStoppedError(Exception):
    """Raised into Spark by a batch that comes when it is not wanted any more."""


Give = Callable[[StreamBatch], object]
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
        from graphtide.spark.streams import start_batches

        def take(batch: int, load: Callable[[], pa.Table]) -> None:
            self._known.wait()  # The first batch may come before the query has told its id.
            assert self.query is not None
            if self._refused:
                raise StreamStoppedError  # Else Spark would take the batch for done.
            give(StreamBatch(self.query.id, batch, load))

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
        if self.query is not None:
            self.query.stop()

    def ends_within(self, seconds: float) -> bool:
        return self.query is None or self.query.ends_within(seconds)

    @property
    def is_active(self) -> bool:
        return self.query is not None and self.query.is_active

    @property
    def failure(self) -> BaseException | None:
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
        self._ending.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        if self.query is not None:
            self.query.stop()

    def ends_within(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def is_active(self) -> bool:
        return self._thread.is_alive()

    @property
    def waiting(self) -> int | None:
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
        self._give(StreamBatch(query, commit.batch, commit.read, commit.first, commit.end))
        self._remove(commit)
        return True

    def _remove(self, commit: SinkCommit) -> None:
        if self._write is not None:
            for path in commit.files:
                path.unlink(missing_ok=True)


_RECENT = 10.0
"""Rates are those of this many last seconds."""

_MOST_RECENT = 100


class _Applied(NamedTuple):
    """A batch, from when it was handed over to when it was on the disk."""

    began: float
    ended: float
    rows: int


@dataclass(frozen=True)
class StreamStatus:
    """How far a stream has come in a live graph, since its beginning and in all processes.

    `rows` have been applied; `late` ones and others that are wrong (`set_aside`) have not.
    `rows_per_second` is of the last seconds. `lag` says for how many seconds the batch that is
    being applied has been here, 0 where none is; `waiting` how many batches wait behind it, None
    where the source does not say.
    """

    stream: str
    active: bool
    batch: int
    rows: int
    late: int
    set_aside: int
    rows_per_second: float
    lag: float
    waiting: int | None


class RunningStream:
    """Feeds a live graph until it is stopped, or fails, or all is read."""

    def __init__(self, taker: StreamTaker, feed: Feed) -> None:
        self.name = taker.following.stream
        self._taker, self._feed = taker, feed
        self._busy = threading.RLock()
        self._applying: float | None = None
        self._by: int | None = None
        self._stopping = False
        self._error: BaseException | None = None
        self._recent: deque[_Applied] = deque(maxlen=_MOST_RECENT)

    def start(self) -> None:
        self._taker.tidy()
        self._feed.start(self._take, self._taker.check)

    @property
    def set_aside(self) -> Path:
        return self._taker.folder.set_aside

    def _take(self, batch: StreamBatch) -> None:
        with self._busy:
            if self._stopping or self._error is not None:
                raise StreamStoppedError
            began = time.monotonic()
            self._applying, self._by = began, threading.get_ident()
            try:
                rows = self._taker.take(batch)
            except BaseException as error:
                self._error = error
                raise
            finally:
                self._applying = self._by = None
            self._recent.append(_Applied(began, time.monotonic(), rows))

    def stop(self) -> None:
        self._stopping = True
        if self._by == threading.get_ident():
            return
        with self._busy:
            pass
        self._feed.stop()

    def ends_within(self, seconds: float) -> bool:
        return self._feed.ends_within(seconds)

    def check(self) -> None:
        """Raise what has ended the stream, if that was an error."""
        error = self._error
        if error is None and not self._stopping:
            error = self._feed.failure
        if error is None:
            return
        if isinstance(error, GraphtideError):
            raise error
        raise GraphtideError(
            f"applying a batch of the stream '{self.name}' has failed: "
            f"{type(error).__name__}: {error}",
            hint="the batches before it are applied; follow the stream again to go on",
        ) from error

    def status(self) -> StreamStatus:
        position = self._taker.position or Position("")
        applying = self._applying
        return StreamStatus(
            stream=self.name,
            active=self._feed.is_active,
            batch=position.batch - (position.part is not None),
            rows=position.rows,
            late=position.late,
            set_aside=position.aside,
            rows_per_second=self._rate(),
            lag=0.0 if applying is None else time.monotonic() - applying,
            waiting=self._feed.waiting,
        )

    def _rate(self) -> float:
        """Rows of the last batches by the time from the first of them to the end of the last."""
        since = time.monotonic() - _RECENT
        recent = [item for item in self._recent if item.ended >= since]
        if not recent:
            return 0.0
        return sum(item.rows for item in recent) / max(recent[-1].ended - recent[0].began, 1e-3)
