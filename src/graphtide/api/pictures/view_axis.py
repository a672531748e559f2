"""The x axis of views, and series along it: readable for four views and for five thousand.

Few views are named one by one, of many a few. Beyond what the width of a picture can show, several
views share a place, and a series becomes the band between its least and its greatest value with
its median inside: no outlier among thousands is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from graphtide.api.pictures.style import WIDTH, shortened
from graphtide.api.pictures.titles import is_date, short_labels

PLACES = 700
"""How many places the width of a picture has."""

_ALL_NAMED = 24
_SOME_NAMED = 8
_LONGEST = 26
_LETTER = 0.078
_SLANT = 35
_MARKED = 60

Float = NDArray[np.float64]


class Band(NamedTuple):
    """Neighbouring values that share a place: where, the least, the median, the greatest."""

    place: Float
    least: Float
    median: Float
    greatest: Float


class Labels(NamedTuple):
    """The views that are named, and how."""

    places: list[int]
    texts: list[str]
    title: str

    @property
    def width(self) -> float:
        """Of the longest name, in inches."""
        return max(map(len, self.texts), default=0) * _LETTER

    @property
    def slanted(self) -> bool:
        """True where they do not fit beside each other."""
        return self.width + 0.12 > (WIDTH - 1.2) / max(len(self.places), 1)


def labels_of(names: Sequence[str], most: int = _SOME_NAMED) -> Labels:
    """All names of a few views, and a few of many or of dates, without what all begin with."""
    count = len(names)
    places = list(range(count))
    texts, title = short_labels(names)
    crowded = is_date(texts[0]) and count * (len(texts[0]) * _LETTER + 0.12) > WIDTH - 1.2
    if count > min(_ALL_NAMED, 3 * most) or crowded:
        step = -(-count // most)
        places = list(range(0, count, step))
        if not crowded or most == 2:
            places = np.unique(np.linspace(0, count - 1, most).round().astype(int)).tolist()
    return Labels(places, [shortened(texts[at], _LONGEST) for at in places], title)


def room_below(names: Sequence[str]) -> float:
    """How many inches the names of views need below the axis, beyond a line."""
    labels = labels_of(names)
    return labels.width * math.sin(math.radians(_SLANT)) if labels.slanted else 0.0


def name_views(axes: Axes, names: Sequence[str], title: str = "", most: int = _SOME_NAMED) -> None:
    """Name views along the x axis: all of a few, and a few of many."""
    labels = labels_of(names, most)
    slant: dict[str, Any] = {"rotation": _SLANT, "ha": "right", "rotation_mode": "anchor"}
    slanted = labels.slanted and most == _SOME_NAMED
    axes.set_xticks(labels.places, labels.texts, **(slant if slanted else {}))
    if most == 2 and len(labels.places) == 2:
        first, last = axes.get_xticklabels()
        first.set_horizontalalignment("left")
        last.set_horizontalalignment("right")
    axes.set_xlabel(title or labels.title)
    axes.set_xlim(-0.5, max(len(names) - 0.5, 0.5))


def draw_series(axes: Axes, values: Float, colour: str, style: str = "-") -> None:
    """A line along the views: marked where they are few, a band where they are very many."""
    if len(values) > PLACES:
        band = banded(values)
        axes.fill_between(
            band.place, band.least, band.greatest, color=colour, alpha=0.3, linewidth=0
        )
        axes.plot(band.place, band.median, color=colour, linewidth=1.2, linestyle=style)
        # The band alone hides where a single view stands out: its edges are drawn as well.
        axes.plot(band.place, band.least, color=colour, linewidth=0.5, alpha=0.7)
        axes.plot(band.place, band.greatest, color=colour, linewidth=0.5, alpha=0.7)
        return
    marker = "o" if len(values) <= _MARKED else None
    axes.plot(
        np.arange(len(values)),
        values,
        color=colour,
        linestyle=style,
        linewidth=1.6,
        marker=marker,
        markersize=4.5,
        clip_on=marker is None,
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
