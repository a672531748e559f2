"""Results of the whole graph, view by view: a panel each, a line for each place of an array."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from numpy.typing import NDArray

from graphtide.api.pictures.bars import draw_bars
from graphtide.api.pictures.style import BLUE, LINES, count_axis, number_axis
from graphtide.api.pictures.view_axis import draw_series
from graphtide.run.collection.tables import global_name

_MOST_LINES = 2 * len(LINES)


def draw_whole(axes: Axes, table: pa.Table, name: str, names: list[str], bars: bool) -> None:
    """One result into one panel; `names` are those of the views, `table` is a summary."""
    column = table.column(global_name(name)).combine_chunks()
    whole = not pa.types.is_floating(column.type)
    if pa.types.is_fixed_size_list(column.type):
        whole = not pa.types.is_floating(column.type.value_type)
        _draw_places(axes, column, "" if bars else "-")
    elif bars:
        draw_bars(axes, _numbers(column), BLUE, names)
    else:
        draw_series(axes, _numbers(column), BLUE)
    axes.set_title(name)
    (count_axis if whole else number_axis)(axes, "number" if whole else name)


def _draw_places(axes: Axes, column: pa.Array, style: str) -> None:
    """A line for each place of an array that is not 0 in every view, as far as lines go."""
    width = column.type.list_size
    values = _numbers(column.flatten()).reshape(-1, width)
    drawn = [at for at in range(width) if (values[:, at] != 0).any()][:_MOST_LINES]
    for at, place in enumerate(drawn):
        dotted = style and at >= len(LINES)
        colour = LINES[at % len(LINES)]
        draw_series(axes, values[:, place], colour, f"[{place}]", ":" if dotted else style)
    if drawn:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), handlelength=1.4)


def _numbers(column: pa.Array) -> NDArray[np.float64]:
    values = np.array(column.to_pylist(), np.float64)
    return np.where(np.isfinite(values), values, np.nan)
