"""Results of a run on shards, some rows at a time: for who looks for a few vertices, or counts.

Every part has one step, which differs from the empty version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.reading import numpy_column
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.task_parts import pages

Int64 = NDArray[np.int64]


def values_at(contents: RunContents, part: int, field: str, vertices: Int64) -> NDArray[Any]:
    """A result of a few vertices after the one step of a part, looked up page by page."""
    empty = contents.empty(field)
    values = np.zeros((len(vertices), *empty.shape[1:]), empty.dtype)
    left = np.ones(len(vertices), np.bool_)
    sources: list[tuple[Callable[[], Iterator[dict[str, Any]]], str]] = [
        (lambda: field_pages(contents, part, field, ["vertex", "new"]), "new"),
        (lambda: base_pages(contents, field), "value"),
    ]
    for listed, column in sources:
        for page in listed() if left.any() else ():
            order = np.argsort(page["vertex"], kind="stable")
            at = np.searchsorted(page["vertex"], vertices, sorter=order)
            at = order[np.minimum(at, len(order) - 1)] if len(order) else at
            there = left & (page["vertex"][at] == vertices) if len(order) else left & False
            values[there] = page[column][at[there]]
            left &= ~there
    return values


def field_pages(
    contents: RunContents, part: int, field: str, columns: list[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The differences of a part, some at a time."""
    wanted = columns or ["vertex", "old", "new"]
    return _pages(contents, part, f"{field}.field", wanted)


def base_pages(contents: RunContents, field: str) -> Iterator[dict[str, Any]]:
    """The results of the empty version, some at a time."""
    return _pages(contents, 0, f"{field}.base", ["vertex", "value"])


def _pages(
    contents: RunContents, part: int, stem: str, columns: list[str]
) -> Iterator[dict[str, Any]]:
    parts = contents.differences.parts
    assert isinstance(parts, PartsOnDisk)
    for page in pages(parts, part, stem, columns):
        yield {name: numpy_column(page.column(name)) for name in columns}
