"""What a page may ask, by path: the answers of `types.d.ts`, as values that JSON has.

A path is parts between slashes, where `*` stands for a name. Modules of answers define tables of
them by their patterns:

- `ROUTES`: functions of the shelf, the names and the options. One that returns an Arrow table is
  paged, and can be downloaded whole.
- `POSTS`: functions of the shelf, the names and the body, each with whether it changes something:
  then it is refused unless the shelf allows changes.
- `EVENTS`: functions of the shelf and the names that return an iterator of what to report, each
  item the whole state. It may block, and yields None at least once a second where there is nothing
  to report, so that it ends soon after nobody listens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from graphtide.model.errors import NotFoundError
from graphtide.model.text import visible
from graphtide.web import drawings, gvdl, jobs, live, stored
from graphtide.web.json_values import NotAllowedError, Options, ordered, searched, table_page
from graphtide.web.shelf import Shelf

Route = Callable[..., Any]

_MODULES: tuple[Any, ...] = (stored, drawings, gvdl, jobs, live)
"""The modules of answers."""


def _merged(name: str) -> dict[str, Any]:
    return {
        pattern: target
        for module in _MODULES
        for pattern, target in getattr(module, name, {}).items()
    }


ROUTES: dict[str, Route] = _merged("ROUTES")
"""The function of each path; called with the shelf, a name for each `*`, and the options."""

POSTS: dict[str, tuple[Route, bool]] = _merged("POSTS")
"""The function of each path that is posted to, and whether it changes something that stays."""

EVENTS: dict[str, Route] = _merged("EVENTS")
"""The function of each path that reports as it goes."""


class Answers:
    """Answers from one shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def get(self, path: str, options: Options) -> Any:
        """The answer to a path, as values that JSON has."""
        answer = self.asked(path, options)
        return table_page(answer, options) if isinstance(answer, pa.Table) else answer

    def table(self, path: str, options: Options) -> pa.Table:
        """The whole table behind a path, searched and sorted, for a download."""
        answer = self.asked(path, options)
        if not isinstance(answer, pa.Table):
            raise NotFoundError(f"'{path}' is no table", hint="save one of the page's tables")
        return ordered(searched(answer, options.get("search", "")), options)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Carry something out. Changes are refused unless the shelf allows them."""
        (carry_out, changes), names = _found(POSTS, path)
        if changes and not self.shelf.changes:
            raise NotAllowedError(
                "this page is for reading only",
                hint="open it for changes: graphtide open --allow-changes, or "
                ".open(allow_changes=True)",
            )
        return carry_out(self.shelf, *names, body)

    def events(self, path: str) -> Iterator[Any]:
        """The events of a path as they come; None where there is nothing new."""
        route, names = _found(EVENTS, path)
        return iter(route(self.shelf, *names))

    def asked(self, path: str, options: Options) -> Any:
        """The answer to a path; a table is returned whole."""
        route, names = _found(ROUTES, path)
        return route(self.shelf, *names, options)


def _found(table: dict[str, Any], path: str) -> tuple[Any, list[str]]:
    """The target of a path, and what stands for the stars of its pattern."""
    parts = [unquote(part) for part in path.split("/")]
    for pattern, target in table.items():
        names = _names(pattern.split("/"), parts)
        if names is not None:
            return target, names
    raise NotFoundError(f"the page knows no '{visible(path[:80])}'", hint="begin at the catalog")


def _names(pattern: list[str], parts: list[str]) -> list[str] | None:
    """What stands for the stars of a pattern; None if the path does not fit."""
    if len(pattern) != len(parts):
        return None
    names = []
    for wanted, part in zip(pattern, parts, strict=True):
        if wanted == "*":
            names.append(part)
        elif wanted != part:
            return None
    return names
