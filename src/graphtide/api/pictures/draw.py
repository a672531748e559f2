"""What can be drawn of a run and of a collection, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from graphtide.api.pictures.picture import Picture, picture_format
from graphtide.api.pictures.similarity import draw_similarity
from graphtide.api.pictures.style import styled
from graphtide.api.pictures.summary import draw_summary, draw_top
from graphtide.api.pictures.times import draw_times
from graphtide.api.run import Run
from graphtide.api.view_sequence import AnyCollection
from graphtide.model.errors import InputError
from graphtide.model.paths import given_path

Drawn = Literal["summary", "times", "top"]


def draw_run(
    run: Run,
    *,
    of: Drawn = "summary",
    field: str | None = None,
    count: int | None = None,
    reference: Run | None = None,
    bars: bool | None = None,
) -> Picture:
    """A picture of a run: its `summary` or the `top` vertices by view, or the `times` it took."""
    if of not in get_args(Drawn):
        known = ", ".join(f"'{name}'" for name in get_args(Drawn))
        raise InputError(f"a run has no picture of {of!r}", hint=f"use one of {known}")
    with styled():
        if of == "times":
            return draw_times(run, reference)
        if of == "top":
            return draw_top(run, field, count, bars)
        return draw_summary(run, field, bars)


def draw_collection(collection: AnyCollection) -> Picture:
    """The similarity of a collection's views, before and after ordering."""
    with styled():
        return draw_similarity(collection)


def check_path(path: str | Path | None) -> None:
    """Refuse a file that is no PNG, SVG or PDF, before anything is drawn."""
    if path is not None:
        picture_format(given_path(path))
