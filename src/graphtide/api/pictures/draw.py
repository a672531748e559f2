"""What can be drawn of a run and of a collection, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from graphtide.api.pictures.picture import Picture, picture_format
from graphtide.api.pictures.similarity import draw_similarity
from graphtide.api.pictures.style import styled
from graphtide.api.pictures.summary import draw_summary, draw_top
from graphtide.api.pictures.times import draw_times
from graphtide.api.pictures.workers import draw_workers
from graphtide.model.errors import InputError
from graphtide.model.paths import given_path
from graphtide.run.collection.arranged_views import ArrangedViews
from graphtide.run.collection.contents import RunContents

Drawn = Literal["summary", "times", "top", "workers"]


def draw_run(
    run: RunContents,
    path: str | Path | None = None,
    *,
    of: Drawn = "summary",
    field: str | None = None,
    count: int | None = None,
    reference: RunContents | None = None,
    bars: bool | None = None,
) -> Picture:
    """A picture of a run: its `summary` or the `top` vertices by view, the `times` that it took, or
    what its `workers` did when.

    Saved if there is a path.
    """
    if of not in get_args(Drawn):
        known = ", ".join(f"'{name}'" for name in get_args(Drawn))
        raise InputError(f"a run has no picture of {of!r}", hint=f"use one of {known}")
    if of == "times":
        return _drawn(path, lambda: draw_times(run, reference))
    if of == "workers":
        return _drawn(path, lambda: draw_workers(run))
    if of == "top":
        return _drawn(path, lambda: draw_top(run, field, count, bars))
    return _drawn(path, lambda: draw_summary(run, field, bars))


def draw_collection(views: ArrangedViews, graph: str, path: str | Path | None = None) -> Picture:
    """The similarity of a collection's views, before and after ordering."""
    return _drawn(path, lambda: draw_similarity(views, graph))


def _drawn(path: str | Path | None, draw: Callable[[], Picture]) -> Picture:
    """Draw in our style and save; a file that is no picture is refused before anything is drawn."""
    if path is not None:
        picture_format(given_path(path))
    with styled():
        picture = draw()
    if path is not None:
        picture.save(path)
    return picture
