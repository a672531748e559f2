"""The x axis of views, and series along it: readable for four views and for five thousand.

Few views are named one by one, of many a few. Beyond what the width of a picture can show, several
views share a place, and a series becomes the band between its least and its greatest value with
its median inside: no outlier among thousands is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from graphtide.api.cells import visible
from graphtide.api.pictures.style import WIDTH, shortened

PLACES = 700
"""How many places the width of a picture has."""

_ALL_NAMED = 24
_SOME_NAMED = 9
_LONGEST = 26
_LETTER = 0.078
_MARKED = 60

Float = NDArray[np.float64]


class Band(NamedTuple):
    """Neighbouring values that share a place: where, the least, the median, the greatest."""

    place: Float
    least: Float
    median: Float
    greatest: Float


def name_views(axes: Axes, names: Sequence[str], title: str) -> None:
    """Name views along the x axis: all of a few, and a few of many."""
    count = len(names)
    if count <= _ALL_NAMED:
        places = np.arange(count)
    else:
        places = np.unique(np.linspace(0, count - 1, _SOME_NAMED).round().astype(int))
    labels = [shortened(visible(names[at]), _LONGEST) for at in places.tolist()]
    room = (WIDTH - 1.2) / max(len(places), 1)
    slanted = max(map(len, labels), default=0) * _LETTER + 0.12 > room
    if slanted:
        axes.set_xticks(places, labels, rotation=35, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticks(places, labels)
    axes.set_xlabel(title)
    axes.set_xlim(-0.5, max(count - 0.5, 0.5))


def draw_series(axes: Axes, values: Float, colour: str, label: str | None = None) -> None:
    """A line along the views: marked where they are few, a band where they are very many."""
    if len(values) > PLACES:
        band = banded(values)
        axes.fill_between(
            band.place, band.least, band.greatest, color=colour, alpha=0.3, linewidth=0
        )
        axes.plot(band.place, band.median, color=colour, linewidth=1.2, label=label)
        # The band alone hides where a single view stands out: its edges are drawn as well.
        axes.plot(band.place, band.least, color=colour, linewidth=0.5, alpha=0.7)
        axes.plot(band.place, band.greatest, color=colour, linewidth=0.5, alpha=0.7)
        return
    marker = "o" if len(values) <= _MARKED else None
    axes.plot(
        np.arange(len(values)),
        values,
        color=colour,
        linewidth=1.6,
        marker=marker,
        markersize=4.5,
        label=label,
    )


def banded(values: Float, places: int = PLACES) -> Band:
    """The values in as many groups of neighbours as there are places; NaN counts for nothing."""
    bounds = np.linspace(0, len(values), places + 1).round().astype(int)
    groups = [values[start:stop] for start, stop in pairwise(bounds)]
    known = [group[np.isfinite(group)] for group in groups]
    rows = [
        (part.min(), np.median(part), part.max()) if part.size else (np.nan,) * 3 for part in known
    ]
    least, median, greatest = np.array(rows, np.float64).T
    return Band((bounds[:-1] + bounds[1:] - 1) / 2, least, median, greatest)


def groups_note(count: int) -> str:
    """What is said where several views share a place."""
    if count <= PLACES:
        return ""
    return f"; each place is about {round(count / PLACES)} views: least, median, greatest"
