"""What a run found, view by view: components, what is reached, or the greatest values.

The panels follow from what the results mean, as the summary of the run does; below them stands the
number of edges of each view, so that what follows from size alone is seen as such.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from numpy.typing import NDArray

from graphtide.api.pictures.bars import draw_bars, have_order
from graphtide.api.pictures.picture import Picture
from graphtide.api.pictures.style import (
    BLUE,
    GREEN,
    GREY,
    LINES,
    RED,
    count_axis,
    number_axis,
    panels,
    shortened,
)
from graphtide.api.pictures.view_axis import draw_series, groups_note, name_views, room_below
from graphtide.api.pictures.whole_graph import draw_whole
from graphtide.model.cells import visible
from graphtide.model.errors import InputError
from graphtide.model.wording import counted
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.leaders import check_order
from graphtide.run.collection.ranking import descending, ranked
from graphtide.run.collection.summaries import figure_prefix, summary_table
from graphtide.run.live.result_rows import row_names

Float = NDArray[np.float64]
_PANEL, _EDGES = 2.3, 1.1
_USUAL_LINES, _MOST_LINES = 5, 2 * len(LINES)


class Counted(NamedTuple):
    """A column of the summary that counts something: its name, what it says, and of what."""

    column: str
    title: str
    unit: str
    colour: str


_COMPONENTS = (
    Counted("largest", "largest component", "vertices", BLUE),
    Counted("components", "components", "number", RED),
)
_REACHED = (Counted("reached", "reached", "vertices", BLUE),)
_TRUE = (Counted("true", "true", "vertices", BLUE),)
_NAMED = (Counted("named", "a vertex is named", "vertices", BLUE),)


def draw_summary(run: RunContents, field: str | None, bars: bool | None = None) -> Picture:
    """The panels that suit a result of the run, the first one unless a field is named.

    Without a name, results of the whole graph come first, each in a panel of its own. A line along
    the views where they have an order, else bars; `bars` has the last word.
    """
    _check_drawable(run)
    wholes = tuple(
        name for name in run.globals if field in (None, name) and run.named_by(name) is None
    )
    if field in run.globals and run.named_by(field) is not None:
        raise InputError(
            f"'{field}' names a vertex in each view, which cannot be drawn",
            hint="run.globals() has them",
        )
    alone = field in run.globals or (field is None and not run.fields)
    field = None if alone else run.field(field)
    table = summary_table(run)
    prefix = "" if field is None else figure_prefix(run, field)
    counted = () if field is None else _counted(table, prefix)
    spread = field is not None and prefix + "mean" in table.column_names
    title = f"{run.facts.program} on {run.facts.collection}"
    heights = [_PANEL] * (len(wholes) + len(counted) + spread) + [_EDGES]
    names = table.column("view").to_pylist()
    bars = not have_order(names) if bars is None else bars
    figure, axes = panels(heights, title, _subtitle(run, field, bars), room_below(names))
    for name, panel in zip(wholes, axes, strict=False):
        draw_whole(panel, table, name, names, bars)
    axes = axes[len(wholes) :]
    for item, panel in zip(counted, axes, strict=False):
        values = _column(table, prefix + item.column)
        if bars:
            draw_bars(panel, values, item.colour, names)
        else:
            draw_series(panel, values, item.colour)
        panel.set_title(f"{field} is true" if item.column == "true" else item.title)
        count_axis(panel, "pairs" if run.facts.pairs is not None else item.unit)
    if spread and field is not None:
        _draw_spread(axes[len(counted)], run, field, table, prefix, "" if bars else "-")
    _draw_edges(axes[-1], table, bars)
    name_views(axes[-1], names, "view")
    return Picture(title, figure)


def draw_top(
    run: RunContents, field: str | None, count: int | None, bars: bool | None = None
) -> Picture:
    """The values, view by view, of the vertices that have the greatest ones in the last view."""
    _check_drawable(run)
    field = run.field(field)
    check_order(run, field)
    wanted = _USUAL_LINES if count is None else count
    if not 1 <= wanted <= _MOST_LINES:
        raise InputError(
            f"a picture cannot tell {wanted:,} lines apart", hint=f"draw 1 to {_MOST_LINES}"
        )
    title = f"{run.facts.program} on {run.facts.collection}"
    names = [run.steps.names[at] for at in run.finished_views()]
    apart = not have_order(names) if bars is None else bars
    figure, axes = panels([3.6], title, _subtitle(run, field), room_below(names))
    last = _draw_leaders(axes[0], run, field, wanted, "" if apart else "-")
    drawn = min(wanted, len(run.base[field]))
    axes[0].set_title(f"the {drawn} greatest of the last view, '{shortened(last, 40)}'")
    number_axis(axes[0], field)
    name_views(axes[0], names, "view")
    return Picture(title, figure)


def _check_drawable(run: RunContents) -> None:
    if not run.finished_views():
        raise InputError(
            f"no view of the run '{run.facts.name}' is finished, so there is nothing to draw",
            hint="resume it: resume=True in Python, `run ... resume` in GVDL",
        )


def _counted(table: pa.Table, prefix: str) -> tuple[Counted, ...]:
    for known in (_COMPONENTS, _REACHED, _TRUE, _NAMED):
        if all(prefix + item.column in table.column_names for item in known):
            return known
    return ()


def _draw_spread(
    axes: Axes, run: RunContents, field: str, table: pa.Table, prefix: str, style: str
) -> None:
    """Mean and greatest value; for values without a reach, the leaders instead of the greatest.

    Without a `style` of lines there are dots alone.
    """
    reached = prefix + "reached" in table.column_names
    mean = _column(table, prefix + "mean")
    draw_series(axes, mean, GREEN if reached else GREY, "mean", style)
    if reached or run.base[field].ndim > 1 or len(mean) == 1:
        draw_series(axes, _column(table, prefix + "greatest"), RED, "greatest", style)
        if not reached:
            draw_series(axes, _column(table, prefix + "least"), BLUE, "least", style)
        axes.set_title(f"{field}, of what is reached" if reached else field)
    else:
        _draw_leaders(axes, run, field, _USUAL_LINES, style)
        axes.set_title(f"{field}: the greatest of the last view, and the mean of all")
    number_axis(axes, field)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), handlelength=1.4)


def _draw_leaders(axes: Axes, run: RunContents, field: str, count: int, style: str) -> str:
    """A line for each vertex with the greatest values of the last view; returns that view."""
    views = run.finished_views()
    final = run.values(views[-1])[field]
    order = descending(ranked(run, field, final))
    best = np.argsort(order, kind="stable")[:count]
    values = np.empty((len(views), len(best)))
    for at in np.argsort(run.step_of[views], kind="stable"):
        values[at] = run.values(views[int(at)])[field][best]
    for at, name in enumerate(row_names(run.rows, best)):
        label = shortened(visible(name), 18)
        known = np.where(np.isfinite(values[:, at]), values[:, at], np.nan)
        dotted = style and at >= len(LINES)
        draw_series(axes, known, LINES[at % len(LINES)], label, ":" if dotted else style)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), handlelength=1.4)
    return run.steps.names[views[-1]]


def _draw_edges(axes: Axes, table: pa.Table, bars: bool) -> None:
    draw = draw_bars if bars else draw_series
    draw(axes, _column(table, "edges"), GREY)
    axes.set_title("size of the view")
    count_axis(axes, "edges")


def _column(table: pa.Table, name: str) -> Float:
    """A column of numbers, NaN where there is none or where it is infinite."""
    values = np.array(table.column(name).to_pylist(), np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _subtitle(run: RunContents, field: str | None, bars: bool = False) -> str:
    done = len(run.finished_views())
    views = f"{counted(done, 'view')} in the given order"
    if bars and done > 1:
        views = f"{done:,} views; bars from the median where all are alike"
    if not run.finished:
        views = f"{done:,} of {len(run.steps.names):,} views, then the run was interrupted"
    result = f"result '{field}', " if field is not None and len(run.facts.results) > 1 else ""
    shown = "least, greatest" if bars else "least, median, greatest"
    return f"{result}{views}{groups_note(done, shown)}"
