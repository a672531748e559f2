"""One stream into one live graph: how far it is, how fast, and why it has ended.

Kept true: batches are applied one at a time, and none after `stop` has returned. What applying a
batch raises ends the stream, and is raised by `check`, on whatever thread.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from graphtide.model.errors import GraphtideError
from graphtide.run.streams.feeds import Feed, StreamStoppedError
from graphtide.run.streams.position import Batch, Position
from graphtide.run.streams.taking import StreamTaker

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
        """Let batches come."""
        self._taker.tidy()
        self._feed.start(self._take, self._taker.check)

    @property
    def set_aside(self) -> Path:
        """The folder of rows that were not applied."""
        return self._taker.folder.set_aside

    def _take(self, batch: Batch) -> None:
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
        """End between two batches. Called while one is applied, by that: after it."""
        self._stopping = True
        if self._by == threading.get_ident():
            return
        with self._busy:
            pass
        self._feed.stop()

    def ends_within(self, seconds: float) -> bool:
        """Wait; whether the stream has ended."""
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
        """How far it is, and how fast."""
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
