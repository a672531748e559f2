"""Views without an order: a row each, those that stand out first, and one row for all others.

A line between two outages would say that something lies between them. Views stand in the order of
how far they are from the median, so that what an outage does is read from the top. Bars begin at
0, or at the median where all values are alike and far from 0: what stands out is then seen as such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from graphtide.api.pictures.style import (
    BLACK,
    GREY,
    WIDTH,
    are_alike,
    headed,
    short_number,
    shortened,
)
from graphtide.model.cells import visible

Float = NDArray[np.float64]

_NUMBERS = (re.compile(r"\d+"), re.compile(r"-?\d+(?:\.\d+)?"))
_REMOVED = "without "
_MOST_ROWS, MOST_COLUMNS = 24, 5
_ROW, _LONGEST = 0.235, 26


@dataclass(frozen=True)
class Series:
    """Values view by view, NaN where there is none; several in one panel have a name each."""

    values: Float
    colour: str
    name: str = ""


@dataclass(frozen=True)
class Column:
    """A panel: one series as bars, several as dots."""

    title: str
    series: tuple[Series, ...]


def have_order(names: Sequence[str]) -> bool:
    """True where the numbers in the names go up from view to view: years, days, counts.

    One view alone has an order, and what is left without something has none.
    """
    if _all_removed(names):
        return False
    return any(_go_up([_key(pattern, name) for name in names]) for pattern in _NUMBERS)


def _all_removed(names: Sequence[str]) -> bool:
    return len(names) > 1 and all(name.startswith(_REMOVED) for name in names)


def _key(pattern: re.Pattern[str], name: str) -> tuple[float, ...]:
    return tuple(map(float, pattern.findall(name)))


def _go_up(keys: Sequence[tuple[float, ...]]) -> bool:
    return len(keys) == 1 or (all(keys) and all(one < other for one, other in pairwise(keys)))


def draw_rows(names: Sequence[str], columns: Sequence[Column], title: str, subtitle: str) -> Figure:
    """A figure with a row for each view that stands out and a panel for each column."""
    order, odd = _farthest_first(columns)
    rows = order if len(order) <= _MOST_ROWS else order[: min(max(odd, 5), _MOST_ROWS - 1)]
    rest = order[len(rows) :]
    bare = [name.removeprefix(_REMOVED) for name in names] if _all_removed(names) else names
    labels = [shortened(visible(bare[at]), _LONGEST) for at in rows]
    if len(rest):
        labels.append(f"{len(rest):,} others")
    height = 1.45 + _ROW * max(len(labels), 3)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for axes, column in zip(panels, columns, strict=True):
        _draw_column(axes, column, rows, rest)
        axes.set_title(column.title)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].set_ylim(len(labels) - 0.4, -0.6)
    headed(figure, title, subtitle)
    return figure


def _farthest_first(columns: Sequence[Column]) -> tuple[NDArray[np.int64], int]:
    """Views by how far they are from the median, and how many are away from it at all.

    By the first column, then by the next; the last one, which tells the size of views, counts only
    where it is alone. A view that lacks a value which others have is farthest, and those that are
    alike stay in their order.
    """
    keys = []
    for values in (series.values for column in columns[:-1] or columns for series in column.series):
        known = np.isfinite(values)
        median = _median(values[known]) if known.any() else 0.0
        far = np.where(known, np.abs(values - median), np.inf if known.any() else 0.0)
        keys.append(-far)
    odd = np.any(keys, axis=0).sum()
    return np.lexsort(keys[::-1]), int(odd)


def _median(values: Float) -> float:
    """The value in the middle, which is one of them: most outages leave a grid as it is."""
    return float(np.sort(values)[len(values) // 2])


def _draw_column(
    axes: Axes, column: Column, rows: NDArray[np.int64], rest: NDArray[np.int64]
) -> None:
    everything = np.concatenate([series.values for series in column.series])
    known = everything[np.isfinite(everything)]
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=3, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    if not len(known):
        return
    start = _median(known) if are_alike(known.min(), known.max()) else 0.0
    for series in column.series:
        if len(column.series) == 1:
            _draw_bars(axes, series, rows, start)
        else:
            axes.grid(visible=True, axis="y")
            axes.plot(
                series.values[rows],
                np.arange(len(rows)),
                "o",
                color=series.colour,
                markersize=5,
                label=series.name,
            )
        _draw_rest(axes, series, len(rows), rest, written=len(column.series) == 1)
    low, high = min(float(known.min()), start), max(float(known.max()), start)
    room = (high - low or 1.0) * (0.28 if len(column.series) == 1 else 0.06)
    axes.set_xlim(low - (room if low < start or len(column.series) > 1 else 0.0), high + room)
    axes.axvline(start, color=GREY, linewidth=0.8)
    if start:
        axes.set_xlabel("from the median", fontsize=8.5)
    if len(column.series) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), handletextpad=0.1)


def _draw_bars(axes: Axes, series: Series, rows: NDArray[np.int64], start: float) -> None:
    """A bar for each row with its number behind it."""
    values = series.values[rows]
    axes.barh(np.arange(len(rows)), values - start, 0.72, start, color=series.colour)
    for at in np.flatnonzero(np.isfinite(values)).tolist():
        _write(axes, float(values[at]), at, short_number(float(values[at])), values[at] < start)


def _draw_rest(
    axes: Axes, series: Series, row: int, rest: NDArray[np.int64], *, written: bool
) -> None:
    """All other views in one row: from the least to the greatest, and the median between."""
    values = series.values[rest]
    values = values[np.isfinite(values)]
    if not len(values):
        return
    low, middle, high = float(values.min()), float(np.median(values)), float(values.max())
    axes.plot([low, high], [row, row], color=series.colour, linewidth=2.0, alpha=0.5)
    axes.plot([middle], [row], "|", color=series.colour, markersize=9, markeredgewidth=2.0)
    if written:
        text = short_number(middle)
        if low < high:
            text = f"{short_number(low)} to {short_number(high)}"
        _write(axes, high, row, text, left=False)


def _write(axes: Axes, value: float, row: int, text: str, left: bool) -> None:
    axes.annotate(
        text,
        (value, row),
        xytext=(-4 if left else 4, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontsize=8,
        color=BLACK,
    )
