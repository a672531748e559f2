"""The widget of notebooks: what the kernel replies, and the bridge in a browser with a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphtide.model.errors import InputError, SetupError
from graphtide.web import widget
from graphtide.web.answers import Answers
from graphtide.web.one_file import STATIC
from graphtide.web.shelf import Shelf
from tests.web import things
from tests.web.browser import Page

MODEL = """<!doctype html><div id="cell"></div><script type="module">
window.sent = [];
const hearers = new Set();
window.fromPython = (message) => hearers.forEach((hear) => hear(message));
const model = {
  get: () => 600,
  send: (message) => sent.push(message),
  on: (_, hear) => hearers.add(hear),
  off: (_, hear) => hearers.delete(hear),
};
const bytes = Uint8Array.from(atob(MODULE), (sign) => sign.charCodeAt(0));
const address = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
const { default: widget } = await import(address);
window.close = widget.render({ model, el: document.getElementById("cell") });
</script>"""


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


def test_the_page_asks_the_kernel(
    replies: widget.Replies, opened: Callable[..., Page], tmp_path: Path
) -> None:
    import base64

    module = base64.b64encode((STATIC / "notebook.js").read_bytes()).decode()
    (tmp_path / "notebook.html").write_text(MODEL.replace("MODULE", json.dumps(module)))
    page = opened((tmp_path / "notebook.html").as_uri())
    pump(page, replies, 1)
    with page.inside("iframe"):
        page.until("document.readyState === 'complete' && document.querySelector('.bar')")
        page.wait(".bar", "run")
    pump(page, replies, 2)
    page.evaluate("window.close()")
    page.screenshot(tmp_path / "notebook.png")


def pump(page: Page, replies: widget.Replies, least: int) -> None:
    """Reply to what the page has sent, and at least to so many messages."""
    page.until(f"window.sent?.length >= {least}")
    for message in page.evaluate("window.sent.splice(0)"):
        page.evaluate(f"void fromPython({json.dumps(replies.to(message))})")
