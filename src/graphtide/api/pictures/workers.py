"""Who made what when: a row a worker, a bar for what it kept at once, coloured by sub-plan.

Of a run on shards, a row a task and a bar a superstep, coloured by it: filled while the task
computes, hatched while it sends and takes in, grey while it waits for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from graphtide.api.pictures.picture import Picture
from graphtide.api.pictures.style import BLACK, GREY, LINES, duration, panels, shortened
from graphtide.api.pictures.titles import program_words
from graphtide.model.errors import InputError
from graphtide.model.wording import counted
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.worker_rows import supersteps_table, workers_table

_ROW, _BAR, _NAME = 0.35, 0.7, 24
_MOST_NAMED, _MOST_LINES = 12, 100
_WAITING, _HATCH = "#D9D9D9", "////"
Row = dict[str, Any]


def draw_workers(run: RunContents) -> Picture:
    """Bars from when to when, in seconds since the first worker began."""
    rows, supersteps = workers_table(run).to_pylist(), supersteps_table(run).to_pylist()
    if not rows:
        raise InputError(
            f"the run '{run.facts.name}' does not tell who made its views",
            hint="none is finished, or it is of an earlier Graphtide: run it again",
        )
    names = sorted({row["worker"] for row in rows})
    first, last = min(row["began"] for row in rows), max(row["ended"] for row in rows)
    title = f"{program_words(run.facts.program)[0]}: who did what when"
    worked = duration(sum(row["processor"] for row in rows))
    who = _many_supersteps(names, supersteps) if supersteps else _many_sub_plans(names, rows)
    took = f"{duration(last - first)} by the clock, {worked} of processor time"
    subtitle = f"{run.facts.collection}, {who}: {took}"
    heights = [0.6 + _ROW * len(names) + (0.3 if supersteps else 0.0)]
    figure, (axes,) = panels(heights, title, subtitle)
    if supersteps:
        _draw_supersteps(axes, names, first, supersteps)
        _name_views(axes, first, rows)
    else:
        _draw_sub_plans(axes, names, first, rows)
    axes.set_yticks(range(len(names)), [shortened(name, _NAME) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds")
    return Picture(title, figure)


def _many_sub_plans(names: Sequence[str], rows: Sequence[Row]) -> str:
    pieces = len({row["sub_plan"] for row in rows})
    return f"{counted(len(names), 'worker')} on {counted(pieces, 'sub-plan')}"


def _many_supersteps(names: Sequence[str], supersteps: Sequence[Row]) -> str:
    each = dict.fromkeys(names, 0)
    for row in supersteps:
        each[row["worker"]] += row["supersteps"]
    return f"{counted(len(names), 'task')}, {counted(max(each.values()), 'superstep')}"


def _draw_sub_plans(axes: Axes, names: list[str], first: float, rows: Sequence[Row]) -> None:
    for row in rows:
        axes.barh(
            names.index(row["worker"]),
            row["ended"] - row["began"],
            left=row["began"] - first,
            height=_BAR,
            color=LINES[row["sub_plan"] % len(LINES)],
            edgecolor="white",
            linewidth=0.5,
        )


def _draw_supersteps(axes: Axes, names: list[str], first: float, rows: Sequence[Row]) -> None:
    """Each superstep as three bars in a row."""
    by_task = sorted(rows, key=lambda row: str(row["worker"]))
    for worker, own in groupby(by_task, lambda row: row["worker"]):
        _draw_task(axes, names.index(worker), first, list(own))
    kinds = (("computes, a colour a superstep", ""), ("sends and takes in", _HATCH))
    handles = [
        Patch(facecolor=LINES[1], edgecolor="white", label=text, hatch=hatch)
        for text, hatch in kinds
    ]
    handles.append(Patch(facecolor=_WAITING, label="waits"))
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=1.2
    )


def _draw_task(axes: Axes, number: int, first: float, rows: Sequence[Row]) -> None:
    """All bars of one kind at once: there may be thousands."""
    colours = [LINES[row["superstep"] % len(LINES)] for row in rows]
    looks: dict[str, dict[str, Any]] = {
        "computed": {"facecolors": colours},
        "waited": {"facecolors": _WAITING},
        "transferred": {"facecolors": colours, "hatch": _HATCH, "edgecolor": "white"},
    }
    starts = [row["began"] - first for row in rows]
    for name, look in looks.items():
        took = [row[name] for row in rows]
        bars = list(zip(starts, took, strict=True))
        axes.broken_barh(bars, (number - _BAR / 2, _BAR), linewidth=0, **look)
        starts = [start + more for start, more in bars]


def _name_views(axes: Axes, first: float, rows: Sequence[Row]) -> None:
    """A line where each view begins, with its name where there is room for them."""
    begun: dict[str, float] = {}
    for row in rows:
        begun[row["view"]] = min(row["began"], begun.get(row["view"], row["began"]))
    if len(begun) > _MOST_LINES:
        return
    for view, began in begun.items():
        place = began - first
        axes.axvline(place, color=GREY, linewidth=0.6, zorder=3)
        if len(begun) <= _MOST_NAMED:
            text, beside = shortened(view, _NAME), "offset points"
            axes.annotate(text, (place, -0.5), (2, 2), textcoords=beside, fontsize=8, color=BLACK)
