"""Tasks that reach each other by sockets: everybody sends everybody one message, again and again.

A message is its length in eight bytes and then arrays, one behind the other. Sending and receiving
go side by side, so that two tasks with much to say do not wait for each other for good. Nobody is
more than a message ahead: who has taken in the messages of all others may send the next ones.

A task that fails with an error of ours says so to all others before it ends, and they end as well;
one that is lost is noticed because its sockets close.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.catalog.spark_tasks import StoppedError

_LENGTH = struct.Struct("<q")
_FAILED = -1
_LOOK_EVERY = 1.0
_SILENCE = 600.0


class PeerFailedError(StoppedError):
    """Another task has ended with an error of ours, which it reports itself."""


class PeerLostError(Exception):
    """Another task is gone."""


class Sockets:
    """The connected tasks of a run, as one of them has them."""

    def __init__(self, rank: int, peers: Mapping[int, socket.socket]) -> None:
        self.rank = rank
        self.size = len(peers) + 1
        self._peers = {peer: _Peer(peer, connection) for peer, connection in peers.items()}
        self.waited = 0.0
        """Seconds that went by until the last of the others had begun to send."""

    def exchange(self, sent: Mapping[int, Sequence[NDArray[Any]]]) -> dict[int, NDArray[np.uint8]]:
        """Send arrays to each other task, and take in what each of them sends."""
        began = monotonic()
        for peer in self._peers.values():
            peer.begin(sent[peer.rank])
        for peer in self._peers.values():
            peer.send()
        self._wait()
        self.waited += max((peer.heard - began for peer in self._peers.values()), default=0.0)
        return {rank: peer.received for rank, peer in self._peers.items()}

    def _wait(self) -> None:
        """Until everything is sent and taken in."""
        poll, by_number, heard = select.poll(), {}, monotonic()
        for peer in self._peers.values():
            by_number[peer.number] = peer
            poll.register(peer.number, peer.events)
        left = len(by_number)
        while left:
            ready = poll.poll(1000 * _LOOK_EVERY)
            heard = monotonic() if ready else heard
            if monotonic() - heard > _SILENCE:
                raise PeerLostError(f"no other task has said anything for {_SILENCE:,.0f} s")
            for number, event in ready:
                peer = by_number[number]
                before = peer.events
                peer.go_on(event)
                if not peer.events:
                    poll.unregister(number)
                    left -= 1
                elif peer.events != before:
                    poll.modify(number, peer.events)

    def fail(self) -> None:
        """Tell all others that this task ends with an error of ours."""
        for peer in self._peers.values():
            peer.fail()

    def close(self) -> None:
        """End all connections."""
        for peer in self._peers.values():
            peer.close()


class _Peer:
    """One other task: what is still to be sent to it, and to be taken in from it."""

    def __init__(self, rank: int, connection: socket.socket) -> None:
        self.rank = rank
        self._connection = connection
        connection.setblocking(False)
        with contextlib.suppress(OSError):  # Pairs of sockets within a process have no such option.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = connection.fileno()
        self.received = np.empty(0, np.uint8)
        self.heard = 0.0
        """When its message began to come in."""
        self._sending: list[memoryview] = []
        self._taking: memoryview | None = None
        self._heading: memoryview | None = None
        self._head = bytearray(_LENGTH.size)

    def begin(self, arrays: Sequence[NDArray[Any]]) -> None:
        """A message to send, and one to take in."""
        views = [_bytes_of(item) for item in arrays]
        length = _LENGTH.pack(sum(map(len, views)))
        self._sending = [memoryview(length), *(view for view in views if len(view))]
        self._heading, self._taking = memoryview(self._head), memoryview(self._head)

    @property
    def events(self) -> int:
        """What is waited for: 0 where there is nothing left to do."""
        wanted = select.POLLOUT if self._sending else 0
        return wanted | (select.POLLIN if self._taking is not None else 0)

    def go_on(self, event: int) -> None:
        """Send and take in what goes without waiting."""
        if event & select.POLLOUT:
            self.send()
        if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
            self._take()

    def send(self) -> None:
        """As much as goes without waiting."""
        try:
            while self._sending:
                sent = self._connection.sendmsg(self._sending[:64])
                while self._sending and sent >= len(self._sending[0]):
                    sent -= len(self._sending.pop(0))
                if sent:
                    self._sending[0] = self._sending[0][sent:]
        except BlockingIOError:
            return
        except OSError:
            # What it said before it ended is told by what it sent.
            self._sending = []

    def _take(self) -> None:
        while self._taking is not None:
            try:
                size = self._connection.recv_into(self._taking)
            except BlockingIOError:
                return
            except OSError as error:
                raise PeerLostError(f"task {self.rank} is gone: {error}") from None
            if size == 0:
                raise PeerLostError(f"task {self.rank} is gone")
            self._taking = self._taking[size:]
            if not len(self._taking):
                self._next()

    def _next(self) -> None:
        """Behind the length come the arrays, and behind those nothing."""
        if self._heading is None:
            self._taking = None
            return
        (length,) = _LENGTH.unpack(self._head)
        self._heading, self.heard = None, monotonic()
        if length == _FAILED:
            raise PeerFailedError(f"task {self.rank} has failed")
        self.received = np.empty(length, np.uint8)
        self._taking = self.received.data if length else None

    def fail(self) -> None:
        """Say it behind what was begun, and wait a moment for the other one to have read it."""
        with contextlib.suppress(OSError):
            self._connection.settimeout(_LOOK_EVERY)
            for left in self._sending:
                self._connection.sendall(left)
            self._connection.sendall(_LENGTH.pack(_FAILED))
            self._connection.shutdown(socket.SHUT_WR)
            while self._connection.recv(1 << 16):
                pass

    def close(self) -> None:
        self._connection.close()


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
