"""The driver of the browser, on pages of its own."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.browser import Browser, BrowserError

PAGE = """<!doctype html><title>First</title><style>body { background: rgb(255, 0, 0) }
@media (prefers-color-scheme: dark) { body { background: rgb(0, 0, 255) } }</style>
<h1>Ελλάδα</h1><input id="box"><button id="go">Go</button><p id="said"></p>
<a id="file" href="data:text/plain,hello" download="hello.txt">save</a>
<iframe srcdoc="<b>within</b>" sandbox="allow-scripts"></iframe>
<script>
document.getElementById("go").addEventListener("click", () => setTimeout(() => {
  document.getElementById("said").textContent = document.getElementById("box").value;
}, 20));
addEventListener("keydown", (event) => { document.title = event.key; });
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path in {"/", "/favicon.ico"} else 404)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE.encode() if self.path == "/" else b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_page_is_read_and_used(browser: Browser, address: str, tmp_path: Path) -> None:
    page = browser.open(address)
    assert page.text("h1") == "Ελλάδα"
    page.type("#box", "عربي 🚋 <b>")
    page.click("#go")
    page.wait("#said", "عربي 🚋 <b>")
    page.key("ArrowRight")
    page.until("document.title === 'ArrowRight'")
    with page.inside("iframe"):
        page.wait("b", "within")
    red = page.screenshot(tmp_path / "red.png").read_bytes()
    page.prefers(color_scheme="dark")
    assert page.screenshot(tmp_path / "blue.png").read_bytes() != red
    assert browser.downloaded(lambda: page.click("#file")).read_text() == "hello"
    page.reload()
    assert page.value("#box") == ""
    page.close()


def test_errors_and_requests_are_noted(browser: Browser, address: str) -> None:
    page = browser.open(address)
    assert not page.errors
    page.evaluate("setTimeout(() => { throw new TypeError('broken'); })")
    page.evaluate("fetch('missing')")
    page.evaluate(
        "fetch('http://192.0.2.1/').catch(() => console.error('not', 'reached'))", seconds=5
    )
    page.evaluate("fetch('http://example.org/').catch(() => 0)")
    told = "\n".join(page.errors)
    for sign in ("broken", "404", "not reached"):
        assert sign in told
    assert {"http://example.org/", "http://192.0.2.1/"} == {
        one.address for one in page.requests if one.leaves
    }
    page.forgive("broken")
    assert "broken" not in "\n".join(page.errors)
    page.close()


def test_what_does_not_come_is_an_error(browser: Browser, address: str) -> None:
    page = browser.open(address)
    with pytest.raises(BrowserError, match="not in 0 seconds"):
        page.wait("#nowhere", seconds=0.1)
    with pytest.raises(BrowserError, match="SyntaxError"):
        page.evaluate("1 +")
    with pytest.raises(BrowserError, match="net::ERR"):
        page.go("http://127.0.0.1:9/")
    page.close()


def test_the_process_ends_with_the_block() -> None:
    with Browser() as browser:
        folder = browser.folder
        assert folder.is_dir()
    assert not folder.exists()
