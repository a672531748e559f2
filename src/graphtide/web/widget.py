"""The page in a notebook, as a widget of anywidget: answers come from the kernel, by messages.

A place where the widget is shown asks for the page, and the page for its answers; each message
carries the name of the place and a number, and so does what is sent back. While a cell runs, the
kernel hears nothing, and the page waits. The page is for reading: cells carry things out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from graphtide.model.errors import InputError, SetupError
from graphtide.web.answers import Answers
from graphtide.web.json_values import problem_of, status_of
from graphtide.web.saved import STATIC, one_file
from graphtide.web.shelf import shelf_of

HEIGHT = 720
_LOG = logging.getLogger(__name__)


def show(thing: Any, *, height: int = HEIGHT) -> Any:
    """A widget with the page of a run, a collection or a graph; `height` is in pixels."""
    if type(height) is not int or not 100 <= height <= 10_000:
        raise InputError(
            f"a page cannot be {height!r} pixels high", hint="give a whole number from 100 on"
        )
    shelf, place = shelf_of(thing)
    return _widget(Replies(Answers(shelf), place), height)


class Replies:
    """What the kernel sends back to the messages of the page that begins at a place."""

    def __init__(self, answers: Answers, start: list[str]) -> None:
        self.answers = answers
        self.start = start

    def to(self, message: Any) -> dict[str, Any] | None:
        """The reply to a message; None if the message is not from the page."""
        match message:
            case {"view": str(view), "open": True}:
                return {"view": view, "page": one_file(start=self.start)}
            case {"view": str(view), "graphtide": int(number), "get": str(path)}:
                return {"view": view, "graphtide": number, **self._answer(path)}
            case {
                "view": str(view),
                "graphtide": int(number),
                "post": str(path),
                "body": dict(body),
            }:
                made = _reply(lambda: self.answers.post(path, body))
                return {"view": view, "graphtide": number, **made}
        return None

    def _answer(self, asked: str) -> dict[str, Any]:
        path, _, query = asked.partition("?")
        return _reply(lambda: self.answers.get(path, dict(parse_qsl(query))))


def _reply(make: Callable[[], Any]) -> dict[str, Any]:
    """An answer, or a problem: if the kernel raised, the page would wait forever."""
    try:
        return {"answer": make()}
    except Exception as error:
        _LOG.debug("no answer", exc_info=True)
        return {"problem": problem_of(error), "status": status_of(error)}


def _widget(replies: Replies, height: int) -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise SetupError(
            "widgets need anywidget, which is not installed",
            hint="pip install 'graphtide[notebook]'; thing.open() shows the same in the browser",
        ) from None

    class PageWidget(anywidget.AnyWidget):
        """A frame with the page."""

        _esm = STATIC / "notebook.js"
        height = traitlets.Int(HEIGHT).tag(sync=True)

    def heard(widget: Any, message: Any, buffers: Any) -> None:
        reply = replies.to(message)
        if reply is not None:
            widget.send(reply)

    made = PageWidget(height=height)
    made.on_msg(heard)
    return made
