"""What a page may ask, by path: the answers of `types.d.ts`, as values that JSON has.

A path is parts between slashes, where `*` stands for a name. Each route is a function of the shelf,
the names and the options; one that returns an Arrow table is paged, and can be downloaded whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from graphtide.model.errors import NotFoundError
from graphtide.web import catalog, collections, runs
from graphtide.web.shelf import Shelf
from graphtide.web.tables import Options, table_page

Route = Callable[..., Any]

ROUTES: dict[str, Route] = {**catalog.ROUTES, **collections.ROUTES, **runs.ROUTES}
"""The function of each path. Each is called with the shelf, a name for each `*`, and the options."""


class Answers:
    """Answers from one shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def get(self, path: str, options: Options) -> Any:
        """The answer to a path, as values that JSON has."""
        answer = self._asked(path, options)
        return table_page(answer, options) if isinstance(answer, pa.Table) else answer

    def table(self, path: str, options: Options) -> pa.Table:
        """The whole table behind a path, to be saved."""
        answer = self._asked(path, options)
        if not isinstance(answer, pa.Table):
            raise NotFoundError(f"'{path}' is no table", hint="save one of the page's tables")
        return answer

    def _asked(self, path: str, options: Options) -> Any:
        parts = [unquote(part) for part in path.split("/")]
        for pattern, route in ROUTES.items():
            names = _names(pattern.split("/"), parts)
            if names is not None:
                return route(self.shelf, *names, options)
        raise NotFoundError(f"the page knows no '{path[:80]}'", hint="begin at the catalog")


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
