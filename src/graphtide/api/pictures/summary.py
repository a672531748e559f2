"""What a run found, view by view: components, what is reached, or the greatest values.

The panels follow from what the results mean, as the summary of the run does; below them stands
the number of edges of each view, so that what follows from size alone is seen as such. Views in
an order are a line, others a row each, those that stand out first.

Of the vertices that lead, at most seven lines have a colour, since nobody follows more; the
others stand behind them in grey, as do those that led in an earlier view. Up to four lines share
a panel, each with its name at its end. More have a panel each, all on the same axes, with the
others behind in grey: lines that cross and cross again are told apart by nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from graphtide.api.pictures.picture import (
    BLUE,
    GREEN,
    GREY,
    LINES,
    RED,
    WIDTH,
    Picture,
    count_axis,
    headed,
    number_axis,
    panels,
    shortened,
)
from graphtide.api.pictures.vertices import spread_apart
from graphtide.api.pictures.views import (
    MOST_COLUMNS,
    Panel,
    Series,
    banded,
    draw_rows,
    draw_series,
    groups_note,
    have_order,
    name_views,
    program_words,
    room_below,
    views_words,
)
from graphtide.model.errors import InputError
from graphtide.model.text import counted, visible
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.ranking import descending, first_ranked, ranked
from graphtide.run.collection.summaries import check_order, figure_prefix, summary_table
from graphtide.run.collection.tables import global_name
from graphtide.run.live.results import row_names

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
        return Picture(title, draw_rows(names, [Panel(field, series)], title, subtitle))
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


_PANEL, _EDGES = 2.3, 1.1
_LEADERS = 4


class CountedColumn(NamedTuple):
    """A column of the summary that counts something: its name, what it says, and of what."""

    column: str
    title: str
    unit: str
    colour: str


_COMPONENTS = (
    CountedColumn("largest", "largest component", "vertices", BLUE),
    CountedColumn("components", "components", "number", RED),
)
_REACHED = (CountedColumn("reached", "reached", "vertices", BLUE),)
_TRUE = (CountedColumn("true", "true", "vertices", BLUE),)
_NAMED = (CountedColumn("named", "a vertex is named", "vertices", BLUE),)


class _SummaryPanels(NamedTuple):
    """What is drawn of a run: its views, and the results that have a panel."""

    run: RunContents
    field: str | None
    table: pa.Table
    wholes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        names: list[str] = self.table.column("view").to_pylist()
        return names

    @property
    def prefix(self) -> str:
        return "" if self.field is None else figure_prefix(self.run, self.field)

    @property
    def counts(self) -> tuple[CountedColumn, ...]:
        """What is counted of the result, in words that name it."""
        for known in () if self.field is None else (_COMPONENTS, _REACHED, _TRUE, _NAMED):
            if all(self.prefix + item.column in self.table.column_names for item in known):
                if known is _TRUE:
                    return (_TRUE[0]._replace(title=f"{self.field} is true"),)
                return known
        return ()

    @property
    def spread(self) -> bool:
        """Whether the result has a mean."""
        return self.field is not None and self.prefix + "mean" in self.table.column_names

    def values(self, column: str) -> Float:
        """A column of the summary of the result, NaN where there is none or it is infinite."""
        return _numbers(self.table.column(self.prefix + column))


def draw_summary(run: RunContents, field: str | None, bars: bool | None = None) -> Picture:
    """The panels that suit a result of the run, the first one unless a field is named.

    Without a name, results of the whole graph come first, each in a panel of its own. A line along
    the views where they have an order, else rows; `bars` has the last word.
    """
    check_drawable(run)
    wholes = tuple(
        name for name in run.globals if field in (None, name) and run.named_by(name) is None
    )
    if field in run.globals and run.named_by(field) is not None:
        raise InputError(
            f"'{field}' names a vertex in each view, which cannot be drawn",
            hint="run.globals() has them",
        )
    alone = field in run.globals or (field is None and not run.fields)
    found = _SummaryPanels(run, None if alone else run.field(field), summary_table(run), wholes)
    names = found.names
    title = f"{program_words(run.facts.program)[0]}{views_words(names)}"
    if not have_order(names) if bars is None else bars:
        columns = _columns(found)
        more = len(columns) - MOST_COLUMNS
        below = _subtitle(run, found.field, "the farthest from the median first")
        if more > 0:
            below += f"; {counted(more, 'more result')}: field=NAME draws one"
            columns = [*columns[: MOST_COLUMNS - 1], columns[-1]]
        return Picture(title, draw_rows(names, columns, title, below))
    counts = found.counts
    heights = [_PANEL] * (len(wholes) + len(counts) + found.spread) + [_EDGES]
    figure, axes = panels(heights, title, _subtitle(run, found.field), room_below(names))
    for name, panel in zip(wholes, axes, strict=False):
        _draw_whole(panel, found.table, name)
    axes = axes[len(wholes) :]
    for item, panel in zip(counts, axes, strict=False):
        draw_series(panel, found.values(item.column), item.colour)
        panel.set_title(item.title)
        count_axis(panel, "pairs" if run.facts.pairs is not None else item.unit)
    if found.spread:
        _draw_spread(axes[len(counts)], found)
    draw_series(axes[-1], _numbers(found.table.column("edges")), GREY)
    axes[-1].set_title("size of the view")
    count_axis(axes[-1], "edges")
    name_views(axes[-1], names)
    return Picture(title, figure)


def draw_leading(
    run: RunContents, field: str | None, count: int | None, bars: bool | None = None
) -> Picture:
    """The values of the vertices that lead in the last view."""
    check_drawable(run)
    field = run.field(field)
    last = run.steps.names[run.finished_views()[-1]]
    below = _subtitle(run, field, f"the greatest of the last view, {last}")
    return draw_top(run, field, count, bars, below)


def check_drawable(run: RunContents) -> None:
    """InputError where no view is finished."""
    if not run.finished_views():
        raise InputError(
            f"no view of the run '{run.facts.name}' is finished, so there is nothing to draw",
            hint="resume it: resume=True in Python, `run ... resume` in GVDL",
        )


def _columns(found: _SummaryPanels) -> list[Panel]:
    """The panels of views without an order."""
    columns = [_whole_column(found.table, name) for name in found.wholes]
    columns += [
        Panel(item.title, (Series(found.values(item.column), item.colour),))
        for item in found.counts
    ]
    if found.spread:
        for name, colour in (("mean", GREEN), ("greatest", RED)):
            title = f"{name} {found.field}"
            columns.append(Panel(title, (Series(found.values(name), colour),)))
    edges = Series(_numbers(found.table.column("edges")), GREY)
    return [*columns, Panel("size of the view", (edges,))]


def _draw_spread(axes: Axes, found: _SummaryPanels) -> None:
    """Mean and greatest value; for values without a reach, the leaders instead of the greatest."""
    field, run = found.field, found.run
    assert field is not None
    mean, reached = found.values("mean"), found.prefix + "reached" in found.table.column_names
    if reached or run.base[field].ndim > 1 or len(mean) == 1:
        lines = [("mean", mean, GREEN if reached else GREY)]
        lines.append(("greatest", found.values("greatest"), RED))
        if not reached:
            lines.append(("least", found.values("least"), BLUE))
        for _, values, colour in lines:
            draw_series(axes, values, colour)
        axes.set_title(f"{field}, of what is reached" if reached else field)
        number_axis(axes, field)
        name_lines(axes, lines, _PANEL)
        return
    leaders = leaders_of(run, field, _LEADERS)
    draw_leaders(axes, leaders, field, _PANEL, [("mean of all", mean, GREY)])
    axes.set_title(f"{field}: the {len(leaders.names)} greatest of the last view")


def _draw_whole(axes: Axes, table: pa.Table, name: str) -> None:
    """A result of the whole graph into one panel; of an array a line for each place."""
    column = _whole_column(table, name)
    if len(column.series) == 1 and not column.series[0].name:
        draw_series(axes, column.series[0].values, BLUE)
    else:
        for series in column.series[COLOURED:]:
            draw_behind(axes, series.values)
        lines = [(item.name, item.values, item.colour) for item in column.series[:COLOURED]]
        for _, values, colour in lines:
            draw_series(axes, values, colour)
    axes.set_title(name)
    whole = not pa.types.is_floating(_value_type(table, name))
    (count_axis if whole else number_axis)(axes, "number" if whole else name)
    if column.series and column.series[0].name:
        name_lines(axes, lines, _PANEL)


def _value_type(table: pa.Table, name: str) -> pa.DataType:
    kind = table.schema.field(global_name(name)).type
    return kind.value_type if pa.types.is_fixed_size_list(kind) else kind


def _whole_column(table: pa.Table, name: str) -> Panel:
    """A result of the whole graph; of an array the places that are not 0 in every view."""
    column = table.column(global_name(name)).combine_chunks()
    if not pa.types.is_fixed_size_list(column.type):
        return Panel(name, (Series(_numbers(column), BLUE),))
    values = _numbers(column.flatten()).reshape(-1, column.type.list_size)
    drawn = np.flatnonzero((values != 0).any(axis=0)).tolist()
    series = [
        Series(values[:, place], LINES[at % COLOURED], f"[{place}]")
        for at, place in enumerate(drawn)
    ]
    return Panel(name, tuple(series))


def _numbers(column: pa.Array | pa.ChunkedArray) -> Float:
    """Numbers, NaN where there is none or where it is infinite."""
    values = np.array(column.to_pylist(), np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _subtitle(run: RunContents, field: str | None, order: str = "") -> str:
    """The collection, how many views, and what the title does not say of the program."""
    done = len(run.finished_views())
    note = "" if order.startswith("the farthest") else groups_note(done)
    views = f"{run.facts.collection}: {counted(done, 'view')}{note}"
    if not run.finished:
        views = (
            f"{run.facts.collection}: {done:,} of {len(run.steps.names):,} views, "
            "then the run was interrupted"
        )
    result = f"result '{field}' of " if field is not None and len(run.facts.results) > 1 else ""
    parameters = program_words(run.facts.program)[1]
    said = [f"{result}{views}", order, parameters]
    return "; ".join(filter(None, said))
