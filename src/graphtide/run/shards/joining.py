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
import socket
import struct
from collections.abc import Sequence
from time import monotonic

from graphtide.model.errors import SetupError

_RANK = struct.Struct("<i")
_NONCE = 32
_PATIENCE = 60.0


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
            until = monotonic() + patience
            while len(sockets) < len(addresses) - 1:
                other, connection = self._accepted(rank, secret, until, addresses, sockets)
                sockets[other] = connection
        except BaseException:
            for connection in sockets.values():
                connection.close()
            raise
        return sockets

    def _accepted(
        self,
        rank: int,
        secret: bytes,
        until: float,
        addresses: Sequence[tuple[str, int]],
        found: dict[int, socket.socket],
    ) -> tuple[int, socket.socket]:
        """The next one that connects and knows the secret."""
        while True:
            left = until - monotonic()
            lacking = [at for at in range(rank + 1, len(addresses)) if at not in found]
            if left <= 0:
                raise _unreachable(self.host, self.port, addresses[lacking[0]])
            self._socket.settimeout(left)
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            with contextlib.suppress(OSError):
                connection.settimeout(min(left, _PATIENCE / 6))
                other = _answer(connection, rank, secret)
                if other in lacking:
                    return other, connection
            connection.close()


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


def _answer(connection: socket.socket, rank: int, secret: bytes) -> int:
    """The number of the task that has connected; -1 where it does not know the secret."""
    greeting = _take(connection, _RANK.size + _NONCE)
    (other,) = _RANK.unpack(greeting[: _RANK.size])
    mine = secrets.token_bytes(_NONCE)
    proof = _proof(secret, b"accepts", other, rank, greeting[_RANK.size :])
    connection.sendall(mine + proof)
    given = _take(connection, _NONCE)
    if not hmac.compare_digest(given, _proof(secret, b"connects", other, rank, mine)):
        return -1
    connection.sendall(b"!")
    return int(other)


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
