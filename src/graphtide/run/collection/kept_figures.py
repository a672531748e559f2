"""Figures that tasks have told of the views of a run on shards: nothing is read for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.figures import Figures, figure_columns
from graphtide.run.collection.partial_figures import Partial, figure_of
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.task_parts import told

FIGURES, LEADERS = "figures", "leaders"


def kept_figures(contents: RunContents, field: str) -> Figures | None:
    """A column a figure, a row a finished view; None where nobody has told them."""
    views = kept_of_views(contents, FIGURES, field)
    if views is None:
        return None
    empty = contents.empty(field)
    rows = [figure_of(item, whole=empty.dtype.kind in "iu") for item in views]
    return figure_columns(rows, empty)


def kept_of_views(contents: RunContents, what: str, field: str) -> list[Partial] | None:
    """What all tasks have told of a result in each finished view; None where they have not."""
    parts = contents.differences.parts
    if not contents.facts.on_shards or not isinstance(parts, PartsOnDisk):
        return None
    partials: list[Any] = [
        told(parts, part).get(what, {}).get(field) for part in parts_of_views(contents)
    ]
    return None if any(item is None for item in partials) else partials


def parts_of_views(contents: RunContents) -> list[int]:
    """The part of each finished view, in the order of the views."""
    steps = contents.step_of[contents.finished_views()]
    places = np.searchsorted(contents.differences.first_steps, steps, side="right") - 1
    parts: list[int] = places.tolist()
    return parts
