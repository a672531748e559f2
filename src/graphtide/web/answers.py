"""What a page may ask, by path: the answers of `types.d.ts`, as values that JSON has.

A path is parts between slashes, where `*` stands for a name. Modules of answers define tables of
them by their patterns:

- `ROUTES`: functions of the shelf, the names and the options. One that returns an Arrow table is
  paged, and can be downloaded whole.
- `POSTS`: functions of the shelf, the names and the body. Those of a `Post` with `changes` are
  refused unless the shelf allows changes.
- `EVENTS`: functions of the shelf and the names that return an iterator of what to report, each
  item the whole state. It may block, and yields None at least once a second where there is nothing
  to report, so that it ends soon after nobody listens.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from graphtide.model.cells import visible
from graphtide.model.errors import (
    MEMORY_ENDED,
    ExistsError,
    GraphtideError,
    LimitError,
    LockedError,
    NotFoundError,
    StoreError,
)
from graphtide.web.shelf import Shelf
from graphtide.web.tables import Options, ordered, searched, table_page

Route = Callable[..., Any]

NO_ANSWERS = (
    "answers",
    "connections",
    "guard",
    "opening",
    "saved",
    "server",
    "shelf",
    "tables",
    "threads",
    "widget",
)
"""Modules beside this one that have no answers."""

_LONGEST = 300


class Post(NamedTuple):
    """What a POST does; `changes` where it changes something that stays."""

    carry_out: Route
    changes: bool = False


class NotAllowedError(GraphtideError):
    """A change that the page was not opened for."""


@dataclass(frozen=True)
class Tables:
    """What modules answer, put together."""

    routes: dict[str, Route]
    posts: dict[str, Post]
    events: dict[str, Route]


@cache
def tables() -> Tables:
    """The answers of all modules of this package; imported at the first question."""
    found = Tables({}, {}, {})
    for item in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if item.name in NO_ANSWERS:
            continue
        module = import_module(f"{__package__}.{item.name}")
        found.routes.update(getattr(module, "ROUTES", {}))
        found.events.update(getattr(module, "EVENTS", {}))
        for pattern, post in getattr(module, "POSTS", {}).items():
            found.posts[pattern] = post if isinstance(post, Post) else Post(*_as_post(post))
    return found


def _as_post(post: Any) -> tuple[Route, bool]:
    """A post that is a pair, or a function that says itself whether it changes something."""
    if isinstance(post, tuple):
        return post[0], post[1]
    return post, bool(getattr(post, "changes", False))


class Answers:
    """Answers from one shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def get(self, path: str, options: Options) -> Any:
        """The answer to a path, as values that JSON has."""
        answer = self._asked(path, options)
        return table_page(answer, options) if isinstance(answer, pa.Table) else answer

    def table(self, path: str, options: Options) -> pa.Table:
        """The whole table behind a path, searched and sorted, to be saved."""
        answer = self._asked(path, options)
        if not isinstance(answer, pa.Table):
            raise NotFoundError(f"'{path}' is no table", hint="save one of the page's tables")
        return ordered(searched(answer, options.get("search", "")), options)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Carry something out; what changes something only where the shelf allows it."""
        post, names = _found(tables().posts, path)
        if post.changes and not self.shelf.changes:
            raise NotAllowedError(
                "this page is for reading only",
                hint="open it for changes: graphtide open --allow-changes, or "
                ".open(allow_changes=True)",
            )
        return post.carry_out(self.shelf, *names, body)

    def events(self, path: str) -> Iterator[Any]:
        """What there is to report of a path, as it comes; None where there is nothing new."""
        route, names = _found(tables().events, path)
        return iter(route(self.shelf, *names))

    def _asked(self, path: str, options: Options) -> Any:
        route, names = _found(tables().routes, path)
        return route(self.shelf, *names, options)


def problem_of(error: BaseException) -> dict[str, Any]:
    """An error as the page shows it: ours as it is, any other without its traceback."""
    shown = _as_ours(error)
    return {"what": shown.what, "where": shown.where, "hint": shown.hint}


def status_of(error: BaseException) -> int:
    """The status of HTTP that says most about an error."""
    match error:
        case NotFoundError():
            return 404
        case NotAllowedError():
            return 403
        case ExistsError() | LockedError():
            return 409
        case StoreError() | OSError():
            return 500
        case GraphtideError():
            return 400
    return 500


def _as_ours(error: BaseException) -> GraphtideError:
    match error:
        case GraphtideError():
            return error
        case OSError(strerror=str() as said):
            return GraphtideError(said, where=error.filename and str(error.filename))
    if isinstance(error, MEMORY_ENDED):
        return LimitError("there is not enough memory for this", hint="ask for less at once")
    first = next(iter(str(error).splitlines()), "")
    said = visible(f"{type(error).__name__}: {first}" if first else type(error).__name__)
    return GraphtideError(
        f"Graphtide has made a mistake: {said[:_LONGEST]}",
        hint="please report it with what you did and what 'graphtide open --debug' prints of it",
    )


def _found(table: dict[str, Any], path: str) -> tuple[Any, list[str]]:
    """What a path leads to, and what stands for the stars of its pattern."""
    parts = [unquote(part) for part in path.split("/")]
    for pattern, target in table.items():
        names = _names(pattern.split("/"), parts)
        if names is not None:
            return target, names
    raise NotFoundError(f"the page knows no '{visible(path[:80])}'", hint="begin at the catalog")


def _names(pattern: list[str], parts: list[str]) -> list[str] | None:
    """What stands for the stars of a pattern; None where it does not fit."""
    if len(pattern) != len(parts):
        return None
    names = []
    for wanted, part in zip(pattern, parts, strict=True):
        if wanted == "*":
            names.append(part)
        elif wanted != part:
            return None
    return names
