"""Asks the page's server as browsers and others do, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from graphtide.web.opening import Page

MOST_SECONDS = 60


def wait_for(condition: Callable[[], bool]) -> None:
    """Look until something is so."""
    until = time.monotonic() + MOST_SECONDS
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.002)


@dataclass(frozen=True)
class Heard:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Visitor:
    """Somebody who knows the port. The owner has a cookie, and the page's token, as well."""

    def __init__(self, port: int, cookie: str | None = None, token: str | None = None) -> None:
        self.port = port
        self.cookie = cookie
        self.token = token
        self.home = "/"

    def get(self, path: str, **headers: str | None) -> Heard:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str | None) -> Heard:
        usual = {"content_type": "application/json", "x_graphtide": self.token}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, content, **{**usual, **headers})

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> Heard:
        """A request; a header of None is left out, and underscores stand for dashes."""
        path = self.within(path)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {"cookie": self.cookie, **given}
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            line.putrequest(method, path, skip_host="host" in given, skip_accept_encoding=True)
            if body is not None:
                line.putheader("content-length", str(len(body)))
            for name, value in given.items():
                if value is not None:
                    line.putheader(name, value)
            line.endheaders(body)
            answer = line.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Heard(answer.status, named, answer.read())
        finally:
            line.close()

    def enter(self, address: str) -> Heard:
        """Bring the token, and keep what is given for it."""
        entered = self.get(address)
        self.cookie = entered.headers["set-cookie"].partition(";")[0]
        self.home = entered.headers["location"]
        return entered

    def within(self, path: str) -> str:
        """The path in the folder that the owner's page is in."""
        return self.home + path[1:] if path.startswith("/") and "?token=" not in path else path

    def line(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def head(self, method: str, path: str, *more: str) -> bytes:
        """The headers of a request, for a bare connection."""
        lines = [f"{method} {self.within(path)} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *more]
        if self.cookie:
            lines.append(f"Cookie: {self.cookie}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


def port_of(page: Page) -> int:
    return int(page.address.split("/")[2].rpartition(":")[2])


def token_of(page: Page) -> str:
    found = re.search(r"\?token=([^#]+)", page.address)
    assert found
    return found[1]


def owner_of(page: Page) -> Visitor:
    """Who has opened the printed address, and looked at the page."""
    visitor = Visitor(port_of(page))
    assert visitor.enter(f"/?token={token_of(page)}").status == 303
    shown = visitor.get("/").body.decode()
    found = re.search(r'name="graphtide-token" content="([^"]+)"', shown)
    assert found
    visitor.token = found[1]
    return visitor


def path_of(*parts: str) -> str:
    return "/api/" + "/".join(quote(part, safe="") for part in parts)
