"""Draw the pictures that the documentation shows, by running the pages that show them.

    python -m tools.pictures [PAGE ...]

A page that draws `components.png` shows `pictures/components.png`, beside the page: this runs the
page in an empty folder and copies what it drew there. Run it when pictures look different from
before; the files are part of the repository, so that the site needs no Spark to be built. The chart
of speeds is drawn from the table of the page that has the measured figures, and from nothing else.
Screenshots are of what the tutorial on the page in the browser opens, taken with chromium.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator
from PIL import Image

import graphtide as gt
from graphtide.api.pictures.picture import (
    BLACK,
    BLUE,
    GREY,
    WIDTH,
    Picture,
    duration,
    headed,
    styled,
)
from tests.scenario.pages import ROOT, examples, pages, run
from tests.web.browser import Browser

_SHOWN = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
_FIGURES = ROOT / "docs" / "benchmarks" / "runs.md"
_ROW = re.compile(r"^\| (.+?), (.+?) \| ([\d.]+) s \| ([\d.]+) s \| ([\d.]+) \|", re.MULTILINE)


class Speed(NamedTuple):
    """A program over a collection: seconds shared and from scratch, and the ratio as measured."""

    program: str
    views: str
    shared: float
    scratch: float
    times: float


def speeds(page: str) -> list[Speed]:
    """The rows of the table that the README's chart shows, from the page of figures."""
    table = page[page.index("## The README's table") : page.index("## Sharing")]
    found: list[Speed] = []
    for program, views, *figures in _ROW.findall(table):
        views = found[-1].views if views == "the same" else views
        found.append(Speed(program, views, *map(float, figures)))
    return found


def draw_speeds() -> Picture:
    """Two dots a row on one axis of seconds: shared, and from scratch."""
    rows = speeds(_FIGURES.read_text(encoding="utf-8"))
    title = "A program over all views, shared and from scratch"
    with styled():
        figure = Figure(figsize=(WIDTH, 1.05 + 0.5 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for at, row in enumerate(rows):
            axes.plot([row.shared, row.scratch], [at, at], color="#D5D5D5", linewidth=5, zorder=1)
            for value, colour, side in ((row.shared, BLUE, -1), (row.scratch, GREY, 1)):
                axes.plot(value, at, "o", color=colour, markersize=11, zorder=2)
                beside = {"textcoords": "offset points", "va": "center", "fontsize": 9}
                align = "right" if side < 0 else "left"
                text = duration(value)
                axes.annotate(text, (value, at), (9 * side, 0), ha=align, color=colour, **beside)
            middle, text = (row.shared * row.scratch) ** 0.5, f"{row.times:.0f} times faster"
            above = {"textcoords": "offset points", "ha": "center", "fontsize": 8.5}
            axes.annotate(text, (middle, at), (0, 6), color=BLACK, **above)
        axes.set_xscale("log")
        axes.set_xlim(min(row.shared for row in rows) / 2.2, max(row.scratch for row in rows) * 2.2)
        axes.set_ylim(len(rows) - 0.5, -0.6)
        names = [f"{row.program[:1].upper()}{row.program[1:]}\n{row.views}" for row in rows]
        axes.set_yticks(range(len(rows)), names)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        axes.xaxis.set_major_locator(LogLocator(base=10))
        axes.xaxis.set_minor_locator(LogLocator(base=10, subs=()))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
        headed(figure, title, "seconds of one core (log): blue shared, grey each view by itself")
    return Picture(title, figure)


_DRAWN: dict[str, Callable[[], Picture]] = {"speed.png": draw_speeds}
"""Pictures that no page draws."""

_SHOTS = {
    "page-run.png": ("run/storm-WCC?view=hour-4", "table tbody tr", (1200, 860)),
    "page-graph.png": ("run/storm-WCC?view=hour-4&tab=graph", "canvas", (1200, 1250)),
    "page-plan.png": ("collection/storm", "table, canvas, [role=tree]", (1200, 860)),
}
"""Screenshots: the place in the page, what is there when it is complete, and the size."""


def take_screenshots(folder: Path) -> None:
    """Open what the tutorial opens, and keep each of its places as a picture."""
    grid = gt.Graph.from_frame(gt.samples.power_grid())
    views = "for h in 0..8 [hour-{h}: h < out_from or h >= out_until]"
    storm = grid.collection("storm", views)
    with storm.open(browser=False) as opened, Browser() as browser:
        storm.run(gt.algorithms.WCC).open(browser=False)
        address = opened.address.split("#")[0]
        for name, (place, complete, (width, height)) in _SHOTS.items():
            page = browser.open(f"{address}#/{place}", width=width, height=height)
            page.wait(complete)
            page.gone("[aria-busy=true]")
            page.screenshot(folder / name)


def main() -> None:
    """Run every page that draws and shows pictures, or those named, and keep what it shows."""
    named = {ROOT / name for name in sys.argv[1:]}
    for page in filter(examples, pages()):
        shown = [page.parent / name for name in _SHOWN.findall(page.read_text(encoding="utf-8"))]
        if shown and (not named or page in named):
            _draw(page, shown)


def _draw(page: Path, shown: list[Path]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _ in run(page):
            pass
        if any(picture.name in _SHOTS for picture in shown):
            take_screenshots(Path.cwd())
        for picture in shown:
            picture.parent.mkdir(exist_ok=True)
            if picture.name in _DRAWN:
                _DRAWN[picture.name]().save(picture.name)
            _shrink(picture.name, picture)
            print(picture.relative_to(ROOT))
        os.chdir(ROOT)


def _shrink(drawn: str, kept: Path) -> None:
    """Few colours, a third of the bytes, and no difference that one sees."""
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(128).save(kept, optimize=True)


if __name__ == "__main__":
    main()
