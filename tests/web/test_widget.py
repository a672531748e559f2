"""The widget of notebooks: what the kernel replies, and the bridge in a browser with a model."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from graphtide.model.errors import InputError, SetupError
from graphtide.web import widget
from graphtide.web.answers import Answers
from graphtide.web.saved import STATIC
from graphtide.web.shelf import Shelf
from tests.web import things
from tests.web.browser import Page
from tests.web.conftest import SCREENSHOTS

MODEL = """<!doctype html><link rel="icon" href="data:,"><div id="cell"></div>
<script type="module">
import widget from "./notebook.js";
const hearers = new Set();
const model = {
  get: () => 600,
  send: (message) => fetch("reply", { method: "POST", body: JSON.stringify(message) })
    .then((reply) => reply.json())
    .then((reply) => hearers.forEach((hear) => hear(reply))),
  on: (_, hear) => hearers.add(hear),
  off: (_, hear) => hearers.delete(hear),
};
window.leave = widget.render({ model, el: document.getElementById("cell") });
</script>"""
"""A notebook as far as the bridge sees it: its kernel is behind `reply`."""


@pytest.fixture
def notebook(replies: widget.Replies) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = self.path == "/"
            self._send(MODEL.encode() if page else (STATIC / "notebook.js").read_bytes(), page)

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._send(json.dumps(replies.to(message)).encode())

        def _send(self, body: bytes, page: bool = False) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html" if page else "text/javascript")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def replies() -> widget.Replies:
    shelf = Shelf()
    return widget.Replies(Answers(shelf), shelf.put(things.ranks()))


def test_the_kernel_replies_to_the_place_that_asked(replies: widget.Replies) -> None:
    said = replies.to(
        {"view": "a", "graphtide": 7, "get": "run/years-PageRank/table?count=2&view=all"}
    )
    assert said is not None
    assert (said["view"], said["graphtide"], said["answer"]["rows"]) == ("a", 7, 60)
    assert len(said["answer"]["columns"][0]["values"]) == 2
    json.dumps(said, allow_nan=False)


def test_a_mistake_is_a_problem(replies: widget.Replies) -> None:
    for path, status in (("run/none", 404), ("run/years-PageRank/table?view=all&start=x", 400)):
        said = replies.to({"view": "a", "graphtide": 1, "get": path})
        assert said is not None
        assert said["status"] == status
        assert said["problem"]["what"]


def test_an_error_of_ours_is_a_problem_too(replies: widget.Replies, monkeypatch: Any) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(replies.answers, "get", broken)
    said = replies.to({"view": "a", "graphtide": 1, "get": "catalog"})
    assert said is not None
    assert said["status"] == 500
    assert "secret" not in str(said)


def test_nothing_is_carried_out(replies: widget.Replies) -> None:
    said = replies.to({"view": "a", "graphtide": 1, "post": "jobs", "body": {"statement": "x"}})
    assert said is not None
    assert said["status"] == 403


@pytest.mark.parametrize(
    "message", [None, 3, "x", {}, {"view": 1, "open": True}, {"get": "catalog"}]
)
def test_what_is_none_of_the_pages_has_no_reply(replies: widget.Replies, message: Any) -> None:
    assert replies.to(message) is None


def test_the_widget_sends_replies(monkeypatch: Any) -> None:
    made = widget.show(things.collection(), height=500)
    sent: list[Any] = []
    monkeypatch.setattr(made, "send", sent.append)
    made._handle_custom_msg({"view": "a", "open": True}, [])
    assert "data-notebook" in sent[0]["page"]
    assert made.height == 500


def test_without_anywidget_the_error_says_what_to_install(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(SetupError, match=r"graphtide\[notebook\]"):
        widget.show(things.collection())


def test_a_height_must_be_one() -> None:
    with pytest.raises(InputError, match="pixels high"):
        widget.show(things.collection(), height=0)


def test_the_page_asks_the_kernel(notebook: str, opened: Callable[..., Page]) -> None:
    page = opened(notebook)
    with page.inside("iframe"):
        page.wait("h1", "years-PageRank")
        page.evaluate("document.querySelector('.brand').click()")
        page.wait("h1", "Catalog")
        page.evaluate("[...document.querySelectorAll('main a')][0].click()")
        page.until("location.hash.startsWith('#/')")
        assert (
            page.evaluate("(() => { try { return parent.document.title } catch { return 0 } })()")
            == 0
        )
    page.screenshot(SCREENSHOTS / "notebook.png")
    page.evaluate("leave()")
