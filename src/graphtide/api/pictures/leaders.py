"""The vertices that lead: their values view by view.

At most seven lines have a colour, since nobody follows more; the others stand behind them in grey,
as do those that led in an earlier view. Up to four lines share a panel, each with its name at its
end. More have a panel each, all on the same axes, with the others behind in grey: lines that cross
and cross again are told apart by nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from graphtide.api.pictures.bars import Column, Series, draw_rows, have_order
from graphtide.api.pictures.layout import spread_apart
from graphtide.api.pictures.picture import Picture
from graphtide.api.pictures.style import GREY, LINES, WIDTH, headed, number_axis, panels, shortened
from graphtide.api.pictures.titles import program_words, views_words
from graphtide.api.pictures.view_axis import banded, draw_series, name_views, room_below
from graphtide.model.cells import visible
from graphtide.model.errors import InputError
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.leaders import check_order
from graphtide.run.collection.ranking import descending, first_ranked, ranked
from graphtide.run.live.result_rows import row_names

Float = NDArray[np.float64]

USUAL, COLOURED = 5, len(LINES)
_TOGETHER, _MOST, _BEHIND = 4, 100, 12
_PALE = "#CFCFCF"
_ACROSS = 3


class Leaders(NamedTuple):
    """The names of some vertices, their values (a row a view, a column a vertex), and others'."""

    names: list[str]
    values: Float
    behind: Float


def draw_top(
    run: RunContents, field: str, count: int | None, bars: bool | None, subtitle: str
) -> Picture:
    """The values, view by view, of the vertices that have the greatest ones in the last view."""
    check_order(run, field)
    wanted = USUAL if count is None else count
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= _MOST:
        raise InputError(
            f"count cannot be {wanted!r}",
            hint=f"draw 1 to {_MOST} vertices: the first {COLOURED} in colour, the rest in grey",
        )
    names = [run.steps.names[at] for at in run.finished_views()]
    leaders = leaders_of(run, field, wanted)
    title = f"{program_words(run.facts.program)[0]}: who leads{views_words(names)}"
    if not have_order(names) if bars is None else bars:
        series = series_of(leaders)
        if (asked := min(wanted, run.count(field))) > len(series):
            subtitle += f"; the first {len(series)} of {asked}"
        return Picture(title, draw_rows(names, [Column(field, series)], title, subtitle))
    if len(leaders.names) > _TOGETHER:
        return Picture(title, _apart(leaders, names, field, title, subtitle))
    figure, (axes,) = panels([3.6], title, subtitle, room_below(names))
    draw_leaders(axes, leaders, field, 3.6)
    name_views(axes, names)
    return Picture(title, figure)


def leaders_of(run: RunContents, field: str, count: int) -> Leaders:
    """The first of the last view in order, and behind them those that led in an earlier one."""
    views = run.finished_views()
    order = np.argsort(run.step_of[views], kind="stable").tolist()
    first: dict[int, None] = {}
    for at in [len(views) - 1, *order]:
        keys = descending(ranked(run, field, run.values(views[at])[field]))
        first |= dict.fromkeys(first_ranked(keys, np.arange(len(keys)), count).tolist())
    count = min(count, len(first))
    best = np.array([*first], np.int64)[: max(count, COLOURED + _BEHIND)]
    values = np.empty((len(views), len(best)))
    for at in order:
        values[at] = run.values(views[at])[field][best]
        values[at, np.isin(best, run.removed(views[at]))] = np.nan
    values = np.where(np.isfinite(values), values, np.nan)
    coloured = min(count, COLOURED)
    names = [shortened(visible(name), 18) for name in row_names(run.rows, best[:coloured])]
    return Leaders(names, values[:, :coloured], values[:, coloured:])


def series_of(leaders: Leaders) -> tuple[Series, ...]:
    """The leaders as dots in one panel, each in its colour."""
    columns = zip(leaders.names, leaders.values.T, LINES, strict=False)
    return tuple(Series(values, colour, name) for name, values, colour in columns)


def draw_leaders(
    axes: Axes,
    leaders: Leaders,
    title: str,
    height: float,
    more: Sequence[tuple[str, Float, str]] = (),
) -> None:
    """Lines in one panel of so many inches, each with its name at its end.

    `more` are lines beside those of the leaders: name, values, colour.
    """
    _draw_behind(axes, leaders.behind)
    lines = [*zip(leaders.names, leaders.values.T, LINES, strict=False), *more]
    for _, values, colour in lines:
        draw_series(axes, values, colour, style="--" if colour == GREY else "-")
    number_axis(axes, title)
    name_lines(axes, lines, height)


def name_lines(axes: Axes, lines: Sequence[tuple[str, Float, str]], height: float) -> None:
    """The names of lines at their ends, moved apart where they would stand on each other."""
    low, high = axes.get_ylim()
    known = [item for item in lines if np.isfinite(item[1]).any()]
    ends = [float(values[np.isfinite(values)][-1]) for _, values, _ in known]
    shares = [(end - low) / (high - low) for end in ends]
    right = max((len(values) for _, values, _ in known), default=1) - 0.5
    for (name, _, colour), share, place in zip(
        known, shares, spread_apart(shares, 0.17 / height), strict=True
    ):
        axes.plot(
            [right, 1.018 * right + 0.018],
            [low + share * (high - low), low + place * (high - low)],
            color=colour,
            linewidth=0.7,
            clip_on=False,
            scalex=False,
            scaley=False,
            label="_to a name",
        )
        axes.text(1.025, place, name, color=colour, transform=axes.transAxes, va="center", size=9)


def _draw_behind(axes: Axes, behind: Float) -> None:
    for values in behind.T:
        draw_behind(axes, values)


def draw_behind(axes: Axes, values: Float) -> None:
    """A line in pale grey, without marks; of very many views the median of neighbours."""
    place, shown = np.arange(len(values), dtype=np.float64), values
    if len(values) > 300:
        band = banded(values, 300)
        place, shown = band.place, band.median
    axes.plot(place, shown, color=_PALE, linewidth=0.9, zorder=1)


def _apart(leaders: Leaders, names: Sequence[str], field: str, title: str, subtitle: str) -> Figure:
    """A panel for each leader, with all others behind it."""
    count = len(leaders.names)
    rows = -(-count // _ACROSS)
    figure = Figure(figsize=(WIDTH, 0.95 + 1.75 * rows), layout="constrained")
    grid = figure.subplots(rows, _ACROSS, sharey=True, squeeze=False)
    everything = np.column_stack([leaders.values, leaders.behind])
    for at, axes in enumerate(grid.flat):
        if at >= count:
            axes.set_visible(False)
            continue
        for other in range(everything.shape[1]):
            if other != at:
                draw_behind(axes, everything[:, other])
        draw_series(axes, leaders.values[:, at], LINES[at])
        axes.set_title(leaders.names[at], color=LINES[at], fontweight="bold")
        if at % _ACROSS == 0:
            number_axis(axes, field)
        lowest = at + _ACROSS >= count
        name_views(axes, names, most=2)
        axes.tick_params(labelbottom=lowest)
        if not lowest:
            axes.set_xlabel("")
    headed(figure, title, subtitle)
    return figure
