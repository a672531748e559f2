"""What each view took and how it was reached, and which worker did what when.

Times stand beside what views take from scratch. The reference is another run, from scratch, where
one is given; or else the time from scratch that the run itself measured where it took that way,
and predicted where it did not.

Workers have a row each, and a bar for what they kept at once, coloured by sub-plan. Of a run on
shards, a row a task and a bar a superstep, coloured by it: filled while the task computes,
hatched while it sends and takes in, grey while it waits for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from graphtide.api.pictures.picture import (
    BLACK,
    BLUE,
    GREY,
    LINES,
    RED,
    Picture,
    duration,
    panels,
    shortened,
    time_axis,
)
from graphtide.api.pictures.views import banded, name_views, program_words, room_below
from graphtide.model.errors import InputError
from graphtide.model.text import counted
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.tables import record_table, supersteps_table, workers_table

Float = NDArray[np.float64]
_SHAPES = {"differential": ("o", BLUE, "differential"), "scratch": ("^", RED, "from scratch")}
_LINE_PLACES = 300


def draw_times(run: RunContents, reference: RunContents | None) -> Picture:
    """Time by step, and below it the time that has passed, each beside that from scratch."""
    record = record_table(run)
    if "seconds" not in record.column_names or not record.num_rows:
        raise InputError(
            f"no view of the run '{run.facts.name}' is finished, so there is nothing to draw",
            hint="resume it: resume=True in Python, `run ... resume` in GVDL",
        )
    seconds = record.column("seconds").to_numpy()
    scratch, label = _reference(run, record, reference)
    title = f"{program_words(run.facts.program)[0]}: time per view"
    names = record.column("view").to_pylist()
    subtitle = _subtitle(run, seconds, scratch)
    figure, (upper, lower) = panels([3.0, 1.9], title, subtitle, room_below(names))
    _draw_steps(upper, record, seconds)
    if scratch is not None:
        _draw_reference(upper, scratch, label)
    time_axis(upper, "time per step (log)")
    larger = 2.5 if len(names) > 1000 else 1.0
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
    upper.legend(ncols=3, handletextpad=0.4, markerscale=larger, **place)
    _draw_passed(lower, seconds, scratch)
    stones = bool(np.any(record.column("stone").to_numpy(zero_copy_only=False)))
    name_views(lower, names)
    order = "in the order of the plan" + (" (stepping stones in brackets)" if stones else "")
    lower.set_xlabel(f"{lower.get_xlabel()}, {order}")
    return Picture(title, figure)


def _reference(
    run: RunContents, record: pa.Table, other: RunContents | None
) -> tuple[Float | None, str]:
    """Seconds from scratch of every step, and where they are from in words."""
    if other is not None:
        return _measured(run, record, other), f"from scratch, measured: {other.facts.name}"
    seconds = record.column("seconds").to_numpy()
    taken = np.array([name == "scratch" for name in record.column("strategy").to_pylist()])
    predicted = record.column("predicted_scratch").to_numpy()
    scratch = np.where(taken, seconds, predicted)
    if taken.all() or not np.isfinite(scratch).all():
        return None, ""
    return scratch, "from scratch, predicted where not taken"


def _measured(run: RunContents, record: pa.Table, other: RunContents) -> Float:
    theirs = record_table(other)
    same = other.facts.collection == run.facts.collection and other.steps.names == run.steps.names
    if not same or len(other.finished_views()) < len(run.finished_views()):
        raise InputError(
            f"the run '{other.facts.name}' is no reference for '{run.facts.name}': "
            + ("it has fewer views" if same else f"it is on '{other.facts.collection}'"),
            hint=f"run {run.facts.program} on '{run.facts.collection}' with strategy='scratch'",
        )
    # Plans that are cut elsewhere have other stepping stones.
    names = theirs.column("view").to_pylist()
    took = dict(zip(names, theirs.column("seconds").to_pylist(), strict=True))
    return np.array([took.get(name, 0.0) for name in record.column("view").to_pylist()])


def _draw_steps(axes: Axes, record: pa.Table, seconds: Float) -> None:
    """Draw a dot for each step; strategies differ in shape and colour."""
    names = np.array(record.column("strategy").to_pylist())
    size = float(np.interp(len(seconds), [10, 300, 5000], [46, 16, 5]))
    for name, (marker, colour, label) in _SHAPES.items():
        at = np.flatnonzero(names == name)
        if len(at):
            axes.scatter(
                at,
                np.maximum(seconds[at], 1e-7),
                s=size if marker == "o" else 1.6 * size,
                marker=marker,
                color=colour,
                linewidths=0,
                alpha=0.9 if len(seconds) < 500 else 0.6,
                label=f"{label} ({len(at):,})",
                rasterized=len(seconds) > 2000,
                zorder=3,
            )


def _draw_reference(axes: Axes, scratch: Float, told: str) -> None:
    places, values = np.arange(len(scratch), dtype=np.float64), scratch
    if len(scratch) > _LINE_PLACES:
        band = banded(scratch, _LINE_PLACES)
        places, values = band.place, band.median
    axes.plot(places, values, color=GREY, linewidth=1.4, linestyle="--", label=told, zorder=2)


def _draw_passed(axes: Axes, seconds: Float, scratch: Float | None) -> None:
    """The time that has passed up to each step."""
    passed = np.cumsum(seconds)
    total = float(passed[-1])
    lines = [(passed, BLUE, "-", f"this run: {duration(total)}")]
    if scratch is not None:
        whole = np.cumsum(scratch)
        lines.append((whole, GREY, "--", f"from scratch: {duration(float(whole[-1]))}"))
    most = max(float(line[0][-1]) for line in lines)
    size, unit = (1.0, "seconds") if most >= 1 else (1e-3, "milliseconds")
    for values, colour, style, label in lines:
        marker = "o" if len(values) == 1 else None
        axes.plot(
            values / size, color=colour, linestyle=style, linewidth=1.8, label=label, marker=marker
        )
    axes.set_ylim(bottom=0)
    axes.set_ylabel(unit)
    axes.set_title("time passed")
    axes.legend(loc="upper left")


def _subtitle(run: RunContents, seconds: Float, scratch: Float | None) -> str:
    steps = f"{counted(len(seconds), 'step')} in {duration(seconds.sum())}"
    if scratch is None:
        return f"{run.facts.collection}, {run.facts.strategy}: {steps}"
    ratio = float(scratch.sum() / max(seconds.sum(), 1e-12))
    anew = f"from scratch {duration(scratch.sum())}: {ratio:,.3g} times"
    return f"{run.facts.collection}, {run.facts.strategy}: {steps}, {anew}"


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
    """Draw each superstep as three bars in a row."""
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
    """Draw all bars of one kind in one call: there may be thousands."""
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
