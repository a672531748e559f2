"""The ways into the page in a real browser, and what pages of other servers can do to it."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphtide.web import opening
from graphtide.web.opening import Page as Opened
from tests.web.asking import owner_of, port_of, token_of, wait_for
from tests.web.browser import Browser, Page
from tests.web.memory import run_in_memory


@pytest.fixture(scope="module")
def page() -> Iterator[Opened]:
    with run_in_memory().open(browser=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def cookies() -> list[str]:
    """What the other server has been sent."""
    return []


@pytest.fixture(scope="module")
def elsewhere(cookies: list[str]) -> Iterator[Callable[[str], str]]:
    """Another server of this machine: the address of a page with this body."""
    bodies: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.extend(self.headers.get_all("cookie", []))
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            at = self.path.strip("/")
            self.wfile.write(bodies[int(at)].encode() if at.isdigit() else b"")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def put(body: str, name: str = "127.0.0.1") -> str:
            bodies.append(f"<!doctype html><title>elsewhere</title><body>{body}")
            return f"http://{name}:{server.server_port}/{len(bodies) - 1}"

        yield put
        server.shutdown()


def entered(shown: Page, page: Opened) -> bool:
    """It is at its place, and the token has left the address."""
    shown.wait("header.bar")
    own = rf"http://127\.0\.0\.1:{port_of(page)}/[\w-]+/#/run/years-WCC"
    return re.fullmatch(own, shown.address) is not None


def test_by_the_printed_address(page: Opened, opened: Callable[[str], Page]) -> None:
    shown = opened(page.address)
    assert entered(shown, page)
    assert token_of(page) not in shown.evaluate("document.documentElement.outerHTML")
    assert shown.evaluate("document.cookie") == "", "scripts do not see it"
    shown.reload()
    assert entered(shown, page)


def test_by_the_file_that_leads_there(page: Opened, browser: Browser) -> None:
    file = opening._leading_file(page.address)
    assert file is not None
    try:
        shown = browser.open(file.as_uri())
        shown.until("location.protocol === 'http:'")
        assert entered(shown, page)
        assert not shown.errors
        shown.close()
    finally:
        file.unlink()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_by_a_link_of_another_site(
    page: Opened, browser: Browser, elsewhere: Callable[..., str], name: str
) -> None:
    """As from a notebook, which is a server of this machine as well."""
    shown = browser.open(elsewhere(f'<a href="{page.address}">open</a>', name))
    shown.click("a")
    shown.until(f"location.port === '{port_of(page)}'")
    assert entered(shown, page)
    shown.close()


def test_without_the_token(page: Opened, browser: Browser) -> None:
    shown = browser.open(f"http://127.0.0.1:{port_of(page)}/#/run/years-WCC")
    shown.wait("h1", "403")
    assert "open the address" in shown.text()
    shown.close()


ATTACK = """
<script>
const told = {{}};
const base = "http://127.0.0.1:{port}/";
const note = (name) => [() => (told[name] = "let in"), () => (told[name] = "refused")];
fetch(base + "api/catalog", {{ credentials: "include" }}).then(...note("fetch"));
fetch(base + "api/catalog", {{ credentials: "include", mode: "no-cors" }}).then(...note("no-cors"));
fetch(base + "api/jobs", {{ method: "POST", credentials: "include", body: "{{}}" }})
  .then(...note("post"));
for (const [tag, link] of [["script", "static/app.js"], ["img", "static/icon.svg"]]) {{
  const element = document.createElement(tag);
  [element.onload, element.onerror] = note(tag);
  element.src = base + link;
  document.body.append(element);
}}
const frame = document.createElement("iframe");
frame.onload = () => {{
  told.frame = frame.contentDocument === null ? "refused" : "let in";
}};
frame.src = base;
document.body.append(frame);
</script>
"""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_port_gets_nothing(
    page: Opened, browser: Browser, elsewhere: Callable[..., str], cookies: list[str], name: str
) -> None:
    """Though the browser has been in the page, on the same host; the cookie stays there, too."""
    shown = browser.open(page.address)
    assert entered(shown, page)
    shown.go(elsewhere(ATTACK.format(port=port_of(page)), name))
    shown.until(
        "['fetch', 'no-cors', 'post', 'script', 'img', 'frame'].every((name) => told[name])"
    )
    assert set(shown.evaluate("told").values()) == {"refused"}
    assert not cookies
    shown.close()


def test_the_page_goes_on_when_its_server_comes_back(browser: Browser) -> None:
    first = run_in_memory().open(browser=False, allow_changes=True)
    port = port_of(first)
    shown = browser.open(first.address)
    assert entered(shown, first)
    first.close()
    with run_in_memory().open(browser=False, allow_changes=True, port=port) as second:
        shown.reload()
        assert entered(shown, second)
    shown.close()


def test_nothing_is_left_in_the_home_folder(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file goes as soon as the page has been entered."""

    class Leads:
        def open(self, address: str) -> bool:
            leading.append(address)
            return True

    leading: list[str] = []
    monkeypatch.setattr(opening, "_browser", Leads)
    monkeypatch.setenv("HOME", str(tmp_path))
    with run_in_memory().open(allow_changes=True) as page:
        wait_for(lambda: bool(leading))
        shown = browser.open(leading[0])
        assert entered(shown, page)
        wait_for(lambda: not list(tmp_path.iterdir()))
        assert owner_of(page).get("/api/catalog").status == 200
        shown.close()
