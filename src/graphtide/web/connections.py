"""Connections of the page's server: how many there may be, and how long each may take to ask.

Whoever has not shown the owner's cookie is a stranger. Strangers get a few seconds to say what they
want, and where there are too many the oldest is dropped. So a thousand connections that say nothing
keep neither memory nor the owner's page. Whoever asks and does not read the answer is dropped too.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_STRANGERS, MOST_KNOWN = 64, 256
SECONDS_TO_ASK, SECONDS_TO_READ = 10.0, 60.0

# What strangers send that is no HTTP is nothing that the owner must read.
_SILENCE = logging.getLogger(f"{__name__}.silence")
_SILENCE.setLevel(logging.CRITICAL + 1)


class Connections:
    """All connections of one server, the oldest first."""

    def __init__(self) -> None:
        self._strangers: dict[Connection, None] = {}
        self._known: dict[Connection, None] = {}

    def add(self, connection: Connection) -> None:
        """Take up a stranger, in place of the oldest where there are too many."""
        _put(self._strangers, connection, MOST_STRANGERS)

    def know(self, connection: Connection) -> None:
        """A connection has shown the owner's cookie."""
        if connection in self._strangers:
            del self._strangers[connection]
            _put(self._known, connection, MOST_KNOWN)

    def remove(self, connection: Connection) -> None:
        """A connection has ended."""
        self._strangers.pop(connection, None)
        self._known.pop(connection, None)

    def __len__(self) -> int:
        return len(self._strangers) + len(self._known)

    def end(self) -> None:
        """Drop all: the server ends."""
        for connection in [*self._strangers, *self._known]:
            connection.drop()


def _put(group: dict[Connection, None], connection: Connection, most: int) -> None:
    if len(group) >= most:
        oldest = next(iter(group))
        del group[oldest]
        oldest.drop()
    group[connection] = None


class Connection(H11Protocol):
    """One connection. It must ask within some seconds, and is known to the guard by itself."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        guard: Any = self.app
        self.logger = _SILENCE
        self._all: Connections = guard.connections
        self._patience: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self.app = partial(guard, connection=self)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, and wait for a request for some seconds."""
        super().connection_made(transport)
        self._all.add(self)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; a request whose headers are not all here has the same few seconds."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._asked()

    def pause_writing(self) -> None:
        """More has been written than the other side has read; it has a while to go on."""
        super().pause_writing()
        self._reading = self.loop.call_later(SECONDS_TO_READ, self.drop)

    def resume_writing(self) -> None:
        """The other side has read on."""
        self._read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side has gone, or was dropped."""
        self._asked()
        self._read()
        self._all.remove(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        """End at once, whatever has not been sent."""
        self.transport.abort()

    def _wait(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(SECONDS_TO_ASK, self.drop)

    def _read(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _asked(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
