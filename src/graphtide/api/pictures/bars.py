"""Views without an order: a bar each, and the names of those that stand out.

A line between two outages would say that something lies between them. Bars begin at 0, or at the
median where all values are alike and far from 0: what stands out is then seen as such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from graphtide.api.pictures.style import BLACK, are_alike, shortened
from graphtide.api.pictures.view_axis import PLACES, banded, labels_of
from graphtide.model.cells import visible

Float = NDArray[np.float64]

_NUMBERS = (re.compile(r"\d+"), re.compile(r"-?\d+(?:\.\d+)?"))
_REMOVED = "without "
_LABELLED = 5
_LONGEST = 24
_LETTER = 0.0083
"""The width of a letter as a share of the width of a panel."""

_WORST = 0.5
"""Named are those that are at least half as far from the median as the farthest."""

_GAPS = 200
"""From here on bars touch: gaps of less than a dot flicker."""


def have_order(names: Sequence[str]) -> bool:
    """True where the numbers in the names go up from view to view: years, days, counts.

    One view alone has an order, and what is left without something has none.
    """
    if len(names) > 1 and all(name.startswith(_REMOVED) for name in names):
        return False
    return any(_go_up([_key(pattern, name) for name in names]) for pattern in _NUMBERS)


def _key(pattern: re.Pattern[str], name: str) -> tuple[float, ...]:
    return tuple(map(float, pattern.findall(name)))


def _go_up(keys: Sequence[tuple[float, ...]]) -> bool:
    return len(keys) == 1 or (all(keys) and all(one < other for one, other in pairwise(keys)))


def draw_bars(axes: Axes, values: Float, colour: str, names: Sequence[str] | None = None) -> None:
    """A bar a view, of very many a bar a place; names those that stand out where few are named."""
    known = values[np.isfinite(values)]
    if not len(known):
        return
    bottom = float(np.median(known)) if are_alike(known.min(), known.max()) else 0.0
    place, ends = np.arange(len(values), dtype=np.float64), [values]
    if len(values) > PLACES:
        band = banded(values)
        place, ends = band.place, [band.least, band.greatest]
    touching = len(values) > _GAPS
    width = (1.0 if touching else 0.8) * len(values) / len(place)
    for end in ends:
        heights, line = end - bottom, 0.5 if touching else 0.0
        axes.bar(place, heights, width, bottom, color=colour, edgecolor=colour, linewidth=line)
    if bottom:
        axes.axhline(bottom, color=colour, linewidth=0.8)
    if names is not None and len(labels_of(names).places) < len(names):
        _name_odd_ones(axes, values, names, bottom)


def _name_odd_ones(axes: Axes, values: Float, names: Sequence[str], bottom: float) -> None:
    """Write the names of the views that are farthest from the median, where there is room."""
    far = np.abs(values - np.nanmedian(values))
    far = np.where(np.isnan(far), 0.0, far)
    taken: list[tuple[float, float]] = []
    for at in np.argsort(-far, kind="stable").tolist():
        if len(taken) == _LABELLED or not far[at] > 0 or far[at] < _WORST * far.max():
            return
        text = shortened(visible(names[at]), _LONGEST)
        room = _room(at / len(values), len(text) * _LETTER)
        if all(room[1] < left or right < room[0] for left, right in taken):
            taken.append(room)
            # Over the bars beside it, where it is shorter than they are.
            value = float(values[at] if bottom else max(values[at], np.nanmedian(values)))
            _write(axes, (at, value), text, room, below=value < bottom)


def _room(place: float, width: float) -> tuple[float, float]:
    """Where a text stands that is as far over its place as the borders allow, in shares."""
    left = min(max(place - width / 2, 0.0), 1.0 - width)
    return left, left + width


def _write(
    axes: Axes, point: tuple[int, float], text: str, room: tuple[float, float], *, below: bool
) -> None:
    aligned = "left" if room[0] == 0 else "right" if room[1] == 1 else "center"
    axes.annotate(
        text,
        point,
        xytext=(0, -3 if below else 3),
        textcoords="offset points",
        ha=aligned,
        va="top" if below else "bottom",
        fontsize=8,
        color=BLACK,
    )
