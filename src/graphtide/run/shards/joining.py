"""How the tasks of a run find each other: addresses once through Spark, then sockets.

A task listens at the address that Spark knows its host by. All tasks hand their ports round in one
call of Spark, and each connects to those before it. Both ends of a connection prove that they know
the secret of the run, by a keyed hash of what the other one made up, before anything else is said:
whoever else connects is turned away.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
import select
import socket
import struct
from collections.abc import Sequence
from time import monotonic

from graphtide.model.errors import SetupError

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
