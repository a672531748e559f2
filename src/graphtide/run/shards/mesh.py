"""Tasks that reach each other by sockets: everybody sends everybody one message, again and again.

A task listens at the address that Spark knows its host by. All tasks hand their ports round in one
call of Spark, and each connects to those before it. Both ends of a connection prove that they know
the secret of the run, by a keyed hash of what the other one made up, before anything else is said:
whoever else connects is turned away.

A message is its length in eight bytes and then arrays, one behind the other. Sending and receiving
go side by side, so that two tasks with much to say do not wait for each other for good. Nobody is
more than a message ahead: who has taken in the messages of all others may send the next ones.

A task that fails with an error of ours says so to all others before it ends, and they end as well;
one that is lost is noticed because its sockets close.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
import select
import socket
import struct
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import SetupError
from graphtide.run.catalog.spark_runs import StoppedError

_RANK = struct.Struct("<i")
_NONCE = 32
_GREETING = _RANK.size + _NONCE
_PATIENCE = 60.0
_SHORT = 10.0
"""Seconds in which whoever connects must have proved that it is a task; it takes milliseconds."""
_MOST_CALLERS = 256
"""So many who have not proved it are heard at a time; the first of more are turned away."""
_LOOK_EVERY = 1.0


class Door:
    """A socket that listens for the tasks behind this one."""

    def __init__(self, host: str) -> None:
        self.host = host
        try:
            family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
            self._socket = socket.create_server((host, 0), family=family)
        except OSError as error:
            raise SetupError(
                f"a task cannot listen at the address that Spark knows its host by: {error}",
                where=host,
                hint="set SPARK_LOCAL_IP on that host to an address of its own",
            ) from None
        self.port = int(self._socket.getsockname()[1])

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()

    def connected(
        self, rank: int, addresses: Sequence[tuple[str, int]], secret: bytes, patience: float
    ) -> dict[int, socket.socket]:
        """Sockets to all other tasks, by their numbers. SetupError where one cannot be reached."""
        sockets: dict[int, socket.socket] = {}
        try:
            for other in range(rank):
                sockets[other] = _connect(rank, other, addresses[other], secret, patience)
            lacking = set(range(rank + 1, len(addresses)))
            self._accept(rank, secret, monotonic() + patience, addresses, lacking, sockets)
            return sockets
        except BaseException:
            for connection in sockets.values():
                connection.close()
            raise

    def _accept(
        self,
        rank: int,
        secret: bytes,
        until: float,
        addresses: Sequence[tuple[str, int]],
        lacking: set[int],
        found: dict[int, socket.socket],
    ) -> None:
        """Take in the tasks that connect and know the secret, until none is lacking.

        All who connect are heard side by side, so that whoever says nothing keeps nobody waiting.
        """
        callers: dict[int, _Caller] = {}
        poll, door = select.poll(), self._socket.fileno()
        self._socket.setblocking(False)
        poll.register(door, select.POLLIN)
        try:
            while lacking:
                left = until - monotonic()
                if left <= 0:
                    raise _unreachable(self.host, self.port, addresses[min(lacking)])
                ready = {number for number, _ in poll.poll(1000 * min(left, _LOOK_EVERY))}
                for number in ready & callers.keys():
                    other = callers[number].heard(rank, secret)
                    if other in lacking:
                        lacking.remove(other)
                        found[other] = callers.pop(number).connection
                        poll.unregister(number)
                late = monotonic() - _SHORT
                over = list(callers)[: max(0, len(callers) - _MOST_CALLERS)]
                for number, caller in list(callers.items()):
                    if caller.ended or caller.since < late or number in over:
                        poll.unregister(number)
                        callers.pop(number).connection.close()
                if door in ready:
                    with contextlib.suppress(BlockingIOError, ConnectionError):
                        connection, _ = self._socket.accept()
                        poll.register(connection.fileno(), select.POLLIN)
                        callers[connection.fileno()] = _Caller(connection)
        finally:
            for caller in callers.values():
                caller.connection.close()


class _Caller:
    """Somebody who has connected, and has not proved yet to be a task of the run."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.since = monotonic()
        self.ended = False
        """Whether it has hung up, or has said what no task says."""
        self._said = b""
        self._mine = secrets.token_bytes(_NONCE)

    def heard(self, rank: int, secret: bytes) -> int | None:
        """The number of the task, once it has proved that it is one; None until then."""
        greeted = len(self._said) >= _GREETING
        try:
            more = self.connection.recv(_GREETING + greeted * _NONCE - len(self._said))
            self._said += more
            (other,) = _RANK.unpack(self._said[: _RANK.size].ljust(_RANK.size))
            self.ended = not more
            if not greeted and len(self._said) == _GREETING:
                theirs = self._said[_RANK.size :]
                proof = _proof(secret, b"accepts", other, rank, theirs)
                self.connection.sendall(self._mine + proof)
            elif len(self._said) == _GREETING + _NONCE:
                wanted = _proof(secret, b"connects", other, rank, self._mine)
                if hmac.compare_digest(self._said[_GREETING:], wanted):
                    self.connection.sendall(b"!")
                    return int(other)
                self.ended = True
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True
        return None


def join(
    door: Door,
    rank: int,
    addresses: Sequence[tuple[str, int]],
    secret: bytes,
    patience: float = _PATIENCE,
) -> dict[int, socket.socket]:
    """Sockets to all other tasks, each of which has proved that it is one."""
    try:
        return door.connected(rank, addresses, secret, patience)
    finally:
        door.close()


def _connect(
    rank: int, other: int, address: tuple[str, int], secret: bytes, patience: float
) -> socket.socket:
    try:
        connection = socket.create_connection(address, timeout=patience)
    except OSError as error:
        raise _unreachable(socket.gethostname(), 0, address, error) from None
    try:
        mine = secrets.token_bytes(_NONCE)
        connection.sendall(_RANK.pack(rank) + mine)
        answer = _take(connection, 2 * _NONCE)
        theirs, proof = answer[:_NONCE], answer[_NONCE:]
        if not hmac.compare_digest(proof, _proof(secret, b"accepts", rank, other, mine)):
            raise OSError("it does not know the secret of the run")
        connection.sendall(_proof(secret, b"connects", rank, other, theirs))
        if _take(connection, 1) != b"!":
            raise OSError("it turns this task away")
    except OSError as error:
        connection.close()
        raise _unreachable(socket.gethostname(), 0, address, error) from None
    return connection


def _proof(secret: bytes, word: bytes, one: int, other: int, nonce: bytes) -> bytes:
    """What only those can make who know the secret, for this word, these two and this number."""
    said = word + _RANK.pack(one) + _RANK.pack(other) + nonce
    return hmac.new(secret, said, hashlib.sha256).digest()


def _take(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        more = connection.recv(size - len(received))
        if not more:
            raise OSError("the connection was closed")
        received += more
    return received


def _unreachable(
    host: str, port: int, address: tuple[str, int], error: OSError | None = None
) -> SetupError:
    reason = "no connection came" if error is None else str(error) or type(error).__name__
    here = f"{host}:{port}" if port else host
    return SetupError(
        f"a task cannot reach another one: {reason}",
        where=f"between {here} and {address[0]}:{address[1]}",
        hint="let executors connect to each other on any port, and check what Spark calls hosts: "
        "SPARK_LOCAL_IP, SPARK_LOCAL_HOSTNAME",
    )


_LENGTH = struct.Struct("<q")
_FAILED = -1
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
