"""Who made what when: a row a worker, a bar for what it kept at once, coloured by sub-plan."""

from __future__ import annotations

from graphtide.api.pictures.picture import Picture
from graphtide.api.pictures.style import LINES, duration, panels, shortened
from graphtide.model.errors import InputError
from graphtide.model.wording import counted
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.worker_rows import workers_table

_ROW, _BAR, _NAME = 0.35, 0.7, 24


def draw_workers(run: RunContents) -> Picture:
    """Bars from when to when, in seconds since the first worker began."""
    rows = workers_table(run).to_pylist()
    if not rows:
        raise InputError(
            f"the run '{run.facts.name}' does not tell who made its views",
            hint="none is finished, or it is of an earlier Graphtide: run it again",
        )
    names = sorted({row["worker"] for row in rows})
    first, last = min(row["began"] for row in rows), max(row["ended"] for row in rows)
    pieces = len({row["sub_plan"] for row in rows})
    title = f"{run.facts.program} on {run.facts.collection}: who did what when"
    worked = duration(sum(row["processor"] for row in rows))
    who = f"{counted(len(names), 'worker')} on {counted(pieces, 'sub-plan')}"
    subtitle = f"{who}: {duration(last - first)} by the clock, {worked} of processor time"
    figure, (axes,) = panels([0.6 + _ROW * len(names)], title, subtitle)
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
    axes.set_yticks(range(len(names)), [shortened(name, _NAME) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds")
    return Picture(title, figure)
