"""Who may ask the page's server, checked before anything else sees a request.

- `Host` and `Origin` must be the server's own, in every request: a foreign page that has its name
  resolve to this machine (DNS rebinding), or that posts to it, gets nothing.
- The printed address has a token, which is swapped for a cookie and leaves the address. Without
  the cookie there is a short page that says so. A second user of the machine has neither.
- Browsers send cookies to all ports of a machine, so the cookie is for a folder alone whose name
  nobody else knows: another server of this machine is not sent it. All paths are in that folder.
- A POST needs a second token in a header, which only the page itself can read, and JSON.
- Headers and bodies have a size and a time.
- Whoever has not shown the owner's cookie is a stranger. Strangers get a few seconds to say what
  they want, and where there are too many the oldest is dropped. So a thousand connections that say
  nothing keep neither memory nor the owner's page. Whoever does not read the answer is dropped too.

Every answer, refusals included, carries headers that let the page load its own files alone.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import secrets
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
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
        """Add a stranger; the oldest stranger is dropped if there are too many."""
        _put(self._strangers, connection, MOST_STRANGERS)

    def know(self, connection: Connection) -> None:
        """Note that a connection has shown the owner's cookie."""
        if connection in self._strangers:
            del self._strangers[connection]
            _put(self._known, connection, MOST_KNOWN)

    def remove(self, connection: Connection) -> None:
        self._strangers.pop(connection, None)
        self._known.pop(connection, None)

    def __len__(self) -> int:
        return len(self._strangers) + len(self._known)

    def end(self) -> None:
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
        """Begin, and give the other side some seconds to ask."""
        super().connection_made(transport)
        self._all.add(self)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on. A request whose headers are not complete has the same few seconds."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._asked()

    def pause_writing(self) -> None:
        """The other side reads too slowly; it has some time to go on."""
        super().pause_writing()
        self._reading = self.loop.call_later(SECONDS_TO_READ, self.drop)

    def resume_writing(self) -> None:
        self._read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._asked()
        self._read()
        self._all.remove(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close at once, with whatever has not been sent."""
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


MOST_BODY, MOST_HEADERS = 1_000_000, 16_384
SECONDS_TO_SEND = 10.0
TOKEN_HEADER = "x-graphtide"
_METHODS = ("GET", "HEAD", "POST")
_PIECE = 262_144
_OWN_SITES = (None, "none", "same-origin")

# Whether a browser sends a strict cookie depends on who led it here. From another site, this page
# itself must be the one that goes on; the part behind # stays.
_GO_ON = 'location.replace("{home}" + location.hash)'


@dataclass(frozen=True)
class Secrets:
    """What the owner has: the token of the printed address, the cookie with the name of the folder
    that it is for, and the token of the page.
    """

    first: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    folder: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    page: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def __repr__(self) -> str:
        return "<secrets>"


def same(given: str, wanted: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def script_hash(text: str) -> str:
    """The source of a content security policy that allows one inline script."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def policy(scripts: Iterable[str] = (), nonce: str | None = None) -> str:
    """A content security policy: own files, inline scripts by hash, and styles by nonce."""
    script = " ".join(["'self'", *scripts])
    style = "'self'" if nonce is None else f"'self' 'nonce-{nonce}'"
    return (
        f"default-src 'self'; script-src {script}; style-src {style}; "
        "img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@dataclass
class RefusedError(Exception):
    """A request that gets no answer."""

    status: int
    what: str
    hint: str | None = None


_STRANGER = RefusedError(
    403,
    "This page is open for whoever started it alone",
    "open the address that graphtide printed, with its token",
)


class Guard:
    """An ASGI application in front of another, for the server at one address.

    `names` are what `Host` may be called, without the port; an empty one stands for any address
    in numbers, which no foreign name can be made to point to. `entered` is called when somebody
    has brought the token.
    """

    def __init__(
        self,
        app: ASGIApp,
        secrets: Secrets,
        port: int,
        names: Iterable[str],
        entered: Callable[[], None] = lambda: None,
    ) -> None:
        self._app = app
        self._secrets = secrets
        self._port = port
        self._entered = entered
        self._names = frozenset(name.lower() for name in names)
        self._home = f"/{secrets.folder}/"
        self.cookie_name = f"graphtide-{port}"
        self.connections = Connections()

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, connection: Connection | None = None
    ) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            return
        sending = _Sending(scope, send)
        try:
            headers = _headers(scope)
            _check_size(scope)
            self._check_place(scope, headers)
            if self._brings_token(scope):
                await sending.whole(*self._welcome(headers))
                self._entered()
                return
            self._check_cookie(headers)
            if connection is not None:
                self.connections.know(connection)
            self._check_kind(scope, headers)
            body = await _whole_body(receive) if scope["method"] == "POST" else b""
            await self._app(self._within(scope), _replay(body, receive), sending)
        except RefusedError as refused:
            await sending.refuse(refused)

    def _check_place(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        """Check that host and origin are ours, and that no foreign page asks for our files."""
        if not self._is_ours(headers.get("host", [])):
            raise RefusedError(403, "This is not an address of the page", "open the printed one")
        for origin in headers.get("origin", []):
            if not origin.startswith("http://") or not self._is_ours([origin[7:]]):
                raise RefusedError(403, "Pages of other sites may not ask here")
        site = headers.get("sec-fetch-site", [None])[0]
        if site not in _OWN_SITES and scope["raw_path"] not in (b"/", self._home.encode()):
            raise RefusedError(403, "Pages of other sites may not ask here")

    def _is_ours(self, hosts: list[str]) -> bool:
        if len(hosts) != 1:
            return False
        name, colon, port = hosts[0].lower().rpartition(":")
        if not colon or port != str(self._port):
            return False
        return bool(name) and (name in self._names or ("" in self._names and _is_numeric(name)))

    def _brings_token(self, scope: Scope) -> bool:
        if scope["method"] != "GET" or scope["raw_path"] != b"/":
            return False
        given = _query(scope).get("token")
        if given is None:
            return False
        if not same(given, self._secrets.first):
            raise _STRANGER
        return True

    def _welcome(self, headers: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
        """Swap the token for the cookie, and go on to an address without it."""
        cookie = f"{self.cookie_name}={self._secrets.cookie}"
        cookie += f"; Path={self._home}; HttpOnly; SameSite=Strict"
        answer = {"set-cookie": cookie, "cache-control": "no-store"}
        if headers.get("sec-fetch-site", ["none"])[0] in _OWN_SITES:
            return 303, {**answer, "location": self._home}, b""
        script = _GO_ON.format(home=self._home)
        page = f"<!doctype html><title>Graphtide</title><script>{script}</script>"
        answer["content-security-policy"] = policy([script_hash(script)])
        answer["content-type"] = "text/html; charset=utf-8"
        return 200, answer, page.encode()

    def _check_cookie(self, headers: dict[str, list[str]]) -> None:
        """Accept any cookie of our name with the right value: ports share their cookies."""
        for line in headers.get("cookie", []):
            for part in line.split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie_name and same(value, self._secrets.cookie):
                    return
        raise _STRANGER

    def _within(self, scope: Scope) -> Scope:
        path, raw = scope["path"], scope["raw_path"]
        if not raw.startswith(self._home.encode()):
            raise _STRANGER
        start = len(self._home) - 1
        return {**scope, "path": path[start:], "raw_path": raw[start:]}

    def _check_kind(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        if scope["method"] not in _METHODS:
            raise RefusedError(405, "The page is asked by GET and POST")
        length = headers.get("content-length", ["0"])[0]
        if not length.isdigit() or int(length) > MOST_BODY:
            raise RefusedError(413, "The request is too large", "send less than a megabyte")
        if scope["method"] != "POST":
            if length != "0" or "transfer-encoding" in headers:
                raise RefusedError(400, "What is asked by GET has no body")
            return
        if not same(headers.get(TOKEN_HEADER, [""])[0], self._secrets.page):
            raise RefusedError(403, "Only the page itself may ask for this", "load the page again")
        kind = headers.get("content-type", [""])[0].partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RefusedError(415, "The request is no JSON", "content-type: application/json")


class _Sending:
    """Sends an answer with the headers that all have, in pieces that wait for their reader."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _with_usual(message.get("headers", []))}
        body = message.get("body", b"")
        *whole, last = range(0, len(body), _PIECE) or [0]
        for start in whole:
            piece = body[start : start + _PIECE]
            await self._send({"type": message["type"], "body": piece, "more_body": True})
        await self._send({**message, "body": body[last:]} if whole else message)

    async def whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        pairs.append((b"content-length", str(len(body)).encode()))
        await self({"type": "http.response.start", "status": status, "headers": pairs})
        await self({"type": "http.response.body", "body": body})

    async def refuse(self, refused: RefusedError) -> None:
        """Refuse: with a problem as JSON for requests of answers, else with a short page."""
        headers = {"connection": "close", "cache-control": "no-store"}
        if b"/api/" in self._scope["raw_path"]:
            headers["content-type"] = "application/json"
            body = json.dumps({"what": refused.what, "where": None, "hint": refused.hint})
        else:
            headers["content-type"] = "text/html; charset=utf-8"
            title = f"{refused.status} {HTTPStatus(refused.status).phrase}"
            hint = "" if refused.hint is None else f"<p>Try: {refused.hint}.</p>"
            body = (
                f'<!doctype html><html lang="en"><title>{title}</title>'
                '<meta name="color-scheme" content="light dark">'
                '<meta name="viewport" content="width=device-width">'
                f"<h1>{title}</h1><p>{refused.what}.</p>{hint}"
            )
        await self.whole(refused.status, headers, body.encode())


_USUAL = {
    b"content-security-policy": policy().encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}


def _with_usual(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    pairs = [(name.lower(), value) for name, value in headers]
    known = {name for name, _ in pairs}
    return [*pairs, *(pair for pair in _USUAL.items() if pair[0] not in known)]


def _headers(scope: Scope) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _check_size(scope: Scope) -> None:
    """Limit addresses and headers that arrive at once; h11 limits those that come in pieces."""
    size = len(scope["raw_path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) for name, value in scope["headers"])
    if size > MOST_HEADERS:
        raise RefusedError(431, "The address or the headers are too large")


def _query(scope: Scope) -> dict[str, str]:
    try:
        return dict(parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=50))
    except ValueError:
        return {}


def _is_numeric(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


async def _whole_body(receive: Receive) -> bytes:
    """The body, if it comes in time and is not too large, whatever its headers said."""
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedError(400, "The request has ended before its end")
                body += message.get("body", b"")
                if len(body) > MOST_BODY:
                    raise RefusedError(413, "The request is too large", "send less than a megabyte")
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise RefusedError(408, "The request took too long", "send it at once") from None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand on a body that has been read, and then whatever comes."""
    first: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again
