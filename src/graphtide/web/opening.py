"""Open the page: a server in a thread of this process, its address, and the browser.

A process has one server for each set of settings; what is opened later gets a place of its own on
it. The thread is a daemon: a process that ends, by Ctrl-C too, does not wait for it.

The address with its token is printed for the owner. The browser is not handed it, since all users
of a machine can read what programs are started with: it is led there by a file that only the owner
can read, and that is deleted when the page has been entered.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import errno
import os
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn

from graphtide.model.errors import InputError, SetupError
from graphtide.web.answers import Answers
from graphtide.web.guard import MOST_HEADERS, Connection, Guard, Secrets
from graphtide.web.server import PageServer
from graphtide.web.shelf import Shelf

if TYPE_CHECKING:
    from graphtide.api.session import Session

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("", "0.0.0.0", "::")
_SECONDS_TO_START, _SECONDS_TO_CLOSE, _SECONDS_KEPT = 30, 5, 60

Report = Callable[[str], None]


class Page:
    """A page that is open: its `address`, and `close()`, which ends its server."""

    def __init__(self, server: RunningServer, place: Sequence[str]) -> None:
        self._server = server
        self._place = [quote(part, safe="") for part in place]

    @property
    def address(self) -> str:
        """The address to open in a browser, with the token of the owner."""
        return self._server.address_of(self._place)

    @property
    def running(self) -> bool:
        return self._server.running

    def wait(self) -> None:
        self._server.wait()

    def close(self) -> None:
        """End the server, and with it all its pages."""
        self._server.close()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # Without the token: what is printed lands in notebooks, which are sent to others.
        path = f"#/{'/'.join(self._place)}" if self._place else ""
        state = "" if self.running else ", closed"
        return f"<page at {self._server.origin}/{path}{state}>"


def open_page(
    thing: Any = None,
    *,
    session: Session | None = None,
    place: Sequence[str] = (),
    allow_changes: bool = False,
    port: int | None = None,
    host: str = "127.0.0.1",
    browser: bool = True,
    debug: bool = False,
    report: Report | None = None,
) -> Page:
    """Open the page at something that is in memory, or at a place of what a session stores.

    Without `port` a free one is taken. `host` is the address of this machine at which the page can
    be reached; `report` takes lines for the owner, which are printed otherwise.
    """
    say = _print if report is None else report
    server = _server(session, host, _checked_port(port), changes=allow_changes, debug=debug)
    where = list(place) if thing is None else server.shelf.put(thing)
    page = Page(server, where)
    say(f"the page is at {page.address}")
    if host not in LOOPBACK:
        say(_warning(server, allow_changes))
    if browser:
        server.lead_browser(page.address, say)
    return page


def _print(line: str) -> None:
    print(line, flush=True)


def _warning(server: RunningServer, changes: bool) -> str:
    may = "read and change" if changes else "read"
    return (
        f"warning: other machines can reach {server.host or 'every address'}, port {server.port}. "
        f"Whoever has the address above can {may} what it shows, and whoever is on the way can "
        "listen: nothing is encrypted. Without --host (host=) it is this machine alone."
    )


def _checked_port(port: int | None) -> int | None:
    if port is not None and not (type(port) is int and 1 <= port <= 65_535):
        raise InputError(f"port cannot be {port!r}", hint="give a number from 1 to 65535, or none")
    return port


@cache
def _secrets() -> Secrets:
    """One set of secrets for the process: a page goes on when its server is opened again."""
    return Secrets()


_servers: list[RunningServer] = []
_one_by_one = threading.RLock()


def _server(
    session: Session | None, host: str, port: int | None, *, changes: bool, debug: bool
) -> RunningServer:
    """The server with these settings: a running one, or a new one."""
    with _one_by_one:
        _servers[:] = [server for server in _servers if server.running]
        for server in _servers:
            if server.fits(session, host, port, changes=changes, debug=debug):
                return server
        shelf = Shelf(session, changes=changes)
        server = RunningServer(shelf, host, port, debug=debug)
        _servers.append(server)
        return server


class RunningServer:
    """A server that answers, in a thread of its own, from when it is made until it is closed."""

    def __init__(self, shelf: Shelf, host: str, port: int | None, *, debug: bool) -> None:
        self.shelf = shelf
        self.host = host
        self.debug = debug
        listening = _bound(host, port or 0)
        self.port: int = listening.getsockname()[1]
        self._guard = Guard(
            PageServer(Answers(shelf), _secrets(), debug=debug),
            _secrets(),
            self.port,
            _names(host),
            entered=self._entered,
        )
        self._leading: list[Path] = []
        self._server = _Server(_config(self._guard))
        self._thread = threading.Thread(
            target=self._serve, args=(listening,), name="graphtide page server", daemon=True
        )
        self._thread.start()
        if not self._server.ready.wait(_SECONDS_TO_START):
            raise SetupError("the page's server did not start", hint="try another port")

    @property
    def running(self) -> bool:
        return self._thread.is_alive() and not self._server.should_exit

    @property
    def origin(self) -> str:
        """The address without the token."""
        name = "127.0.0.1" if self.host in _EVERYWHERE else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    def address_of(self, place: Sequence[str]) -> str:
        """The address of a place for the owner, with the token."""
        fragment = f"#/{'/'.join(place)}" if place else ""
        return f"{self.origin}/?token={_secrets().first}{fragment}"

    def fits(
        self, session: Session | None, host: str, port: int | None, *, changes: bool, debug: bool
    ) -> bool:
        """Whether the server has these settings and shows what the session stores."""
        if (host, changes, debug) != (self.host, self.shelf.changes, self.debug):
            return False
        if port not in (None, self.port):
            return False
        own = self.shelf.session
        if session is None or own is session:
            return True
        return own is not None and own.catalog.root == session.catalog.root

    def lead_browser(self, address: str, say: Report) -> None:
        """Open the browser at an address, without telling other users of the machine."""
        browser = _browser()
        if browser is None:
            say("there is no browser here: open the address yourself")
            return
        file = _leading_file(address)
        if file is None:
            say("nothing can be written that leads the browser there: open the address yourself")
            return
        self._leading.append(file)
        atexit.register(_delete, file)

        def lead() -> None:
            with contextlib.suppress(Exception):
                if browser.open(file.as_uri()):
                    return
            say("the browser did not open: open the address yourself")

        # Some browsers return when they are closed.
        threading.Thread(target=lead, name="graphtide browser", daemon=True).start()

    def close(self) -> None:
        """Drop all connections and end. Closing twice is the same as once."""
        self._entered()
        self._server.should_exit = True
        loop = self._server.loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._guard.connections.end)
        self._thread.join(_SECONDS_TO_CLOSE)

    def wait(self) -> None:
        while self._thread.is_alive():
            self._thread.join(0.5)

    def _serve(self, listening: socket.socket) -> None:
        with contextlib.suppress(asyncio.CancelledError), listening:
            asyncio.run(self._server.serve(sockets=[listening]))

    def _entered(self) -> None:
        """Delete the files that led the browser here: the page has been entered."""
        while self._leading:
            _delete(self._leading.pop())


class _Server(uvicorn.Server):
    """Says when it answers, and in which loop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.loop = asyncio.get_running_loop()
        self.ready.set()


def _config(guard: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        guard,
        interface="asgi3",
        http=Connection,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        # What a header says about where a request comes from is not believed.
        proxy_headers=False,
        server_header=False,
        backlog=1024,
        timeout_keep_alive=_SECONDS_KEPT,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MOST_HEADERS,
    )


def _bound(host: str, port: int) -> socket.socket:
    """A listening socket at an address of this machine."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=_PASSIVE)
    except (OSError, UnicodeError):
        raise InputError(
            f"host cannot be '{host}'", hint="give an address of this machine, or none"
        ) from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":
            # A port that was closed just now can be had again.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise _bind_error(error, host, port) from None
    return listening


_PASSIVE = socket.AI_PASSIVE


def _bind_error(error: OSError, host: str, port: int) -> SetupError:
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return SetupError(
            f"port {port} is taken", where=where, hint="name another port, or none for a free one"
        )
    if error.errno == errno.EACCES:
        return SetupError(f"port {port} is not for you", where=where, hint="name one above 1023")
    if error.errno == errno.EADDRNOTAVAIL:
        return SetupError("this machine has no such address", where=where, hint="leave host out")
    return SetupError(f"nothing can listen there: {error.strerror}", where=where)


def _names(host: str) -> set[str]:
    """The names that `Host` may have; an empty one stands for any numeric address."""
    name = f"[{host}]" if ":" in host else host
    if host in LOOPBACK:
        return {"127.0.0.1", "localhost", "[::1]"}
    if host in _EVERYWHERE:
        return {"", "localhost", socket.gethostname(), socket.getfqdn()}
    return {name}


def _browser() -> webbrowser.BaseBrowser | None:
    """The browser of the user; None if there is none, or only one within the terminal."""
    chosen = os.environ.get("BROWSER")
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not (chosen or screen):
        return None
    try:
        return webbrowser.get()
    except webbrowser.Error:
        return None


def _leading_file(address: str) -> Path | None:
    """A page for the owner's eyes that leads to an address.

    It stands in the home folder for the second until it is read: browsers that are kept in a
    box of their own see neither hidden folders nor those of temporary files.
    """
    link = escape(address)
    text = (
        '<!doctype html><meta charset="utf-8"><title>Graphtide</title>'
        f'<meta http-equiv="refresh" content="0; url={link}"><a href="{link}">Graphtide</a>\n'
    )
    for folder in (Path.home(), Path(tempfile.gettempdir())):
        try:
            handle, name = tempfile.mkstemp(".html", "graphtide-opens-", folder)
        except OSError:
            continue
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return Path(name)
    return None


def _delete(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
