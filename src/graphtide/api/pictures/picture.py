"""A picture that is saved or shown, and what all pictures share: colours, fonts, panels, numbers.

The colours are those of Okabe and Ito, which people with any colour vision tell apart; what
counts is told by shape or place as well. The usual font has no Chinese, Japanese or Korean
letters. Where another has them it stands in; where none has, the picture shows boxes, and one
warning says so.
"""

from __future__ import annotations

import io
import math
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.model.progress import somebody_looks
from graphtide.store.whole_files import whole_file

_USUAL = "DejaVu Sans"
_OTHERS = (
    "Noto Sans CJK",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans",
    "WenQuanYi",
    "Droid Sans Fallback",
    "AR PL UMing",
    "PingFang",
    "Hiragino Sans",
    "Heiti",
    "Microsoft YaHei",
    "SimHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Apple SD Gothic",
    "Noto Sans",
    "Arial Unicode MS",
    "Unifont",
)
_MISSING = re.compile(r"Glyph (\d+) .*missing from")


@cache
def fonts() -> list[str]:
    """The usual font, and others for more letters where they are installed."""
    return [_USUAL, *chosen_fonts(font_manager.get_font_names())]


def chosen_fonts(installed: list[str]) -> list[str]:
    """One installed font of each family that has letters of other scripts, the best first."""
    families = (sorted(name for name in installed if name.startswith(item)) for item in _OTHERS)
    return list(dict.fromkeys(family[0] for family in families if family))


@contextmanager
def telling_of_boxes() -> Iterator[None]:
    """Warn once within the block of letters that no font has."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        missing = _MISSING.match(str(warning.message))
        if missing is None:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif somebody_looks():
            _tell(chr(int(missing.group(1))))


_told: set[str] = set()


def _tell(letter: str) -> None:
    if _told:
        return
    _told.add(letter)
    print(
        f"graphtide: no installed font has letters such as '{letter}', so pictures show boxes; "
        "install one that does, such as Noto Sans CJK",
        file=sys.stderr,
    )


BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, GREY, BLACK = "#CC79A7", "#56B4E9", "#8A8A8A", "#222222"
LINES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, BLACK)
WIDTH = 9.0
_ALIKE = 0.2

_SETTINGS: dict[str, Any] = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": BLACK,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "xtick.color": BLACK,
    "ytick.color": BLACK,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    # A `$` in the name of a view is a `$`.
    "text.parse_math": False,
    "svg.hashsalt": "graphtide",
}


def panels(
    heights: Sequence[float], title: str, subtitle: str, below: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """A figure with panels of these heights, in inches, above each other on one x axis.

    `below` is the room for the names of views, beyond a line.
    """
    figure = Figure(figsize=(WIDTH, sum(heights) + 1.1 + below), layout="constrained")
    grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=list(heights))
    headed(figure, title, subtitle)
    return figure, [axes for (axes,) in grid]


def headed(figure: Figure, title: str, subtitle: str) -> None:
    """Write a title in bold, and a subtitle below it."""
    width, height = figure.get_size_inches()
    # Two lines are kept free above the panels; what stands there is placed by hand.
    figure.suptitle(" \n ", fontsize=12)
    above = {"x": 0.09 / width, "va": "top", "ha": "left"}
    bold = shortened(title, int(9.6 * width))
    figure.text(y=1 - 0.07 / height, s=bold, fontsize=12, fontweight="bold", **above)
    small = shortened(subtitle, int(13 * width))
    figure.text(y=1 - 0.29 / height, s=small, fontsize=9.5, color="#555555", **above)


@contextmanager
def styled(**more: Any) -> Iterator[None]:
    """Make and render figures in our style within the block, whatever the style of the user is."""
    settings: Any = {**matplotlib.rcParamsDefault, **_SETTINGS, "font.family": fonts(), **more}
    settings.pop("backend", None)
    with matplotlib.rc_context(settings):
        yield


def count_axis(axes: Axes, title: str) -> None:
    """A y axis of whole numbers, beginning at 0 unless all of them are far from it and alike.

    Among thousands of outages, the few that split a network would be lost in a line's width.
    """
    axes.set_ylabel(title)
    least, most = axes.dataLim.y0, axes.dataLim.y1
    if are_alike(least, most):
        edge = max(0.08 * (most - least), 0.5)
        axes.set_ylim(least - edge, most + edge)
        axes.set_ylabel(f"{title}\n(not from 0)")
    else:
        axes.set_ylim(0, max(1.06 * most, 1.0))
    axes.yaxis.set_major_locator(
        MaxNLocator(nbins=5, integer=True, min_n_ticks=2, steps=[1, 2, 5, 10])
    )
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def are_alike(least: float, most: float) -> bool:
    """True if all values are far from 0 and differ little."""
    return bool(0 < most - least < _ALIKE * most)


def number_axis(axes: Axes, title: str) -> None:
    """A y axis of any numbers."""
    axes.set_ylabel(title)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=2, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def time_axis(axes: Axes, title: str) -> None:
    """A logarithmic y axis of seconds, each tick written in the unit that suits it.

    Powers of ten where they are several, and twice and five times them where they are not.
    """
    axes.set_yscale("log")
    axes.set_ylabel(title)
    low, high = axes.get_ylim()
    between = (1.0, 2.0, 5.0) if high / max(low, 1e-12) < 300 else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=between, numticks=12))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))


def short_number(value: float) -> str:
    """1200 as 1,200; 3400000 as 3.4 M."""
    for limit, unit in ((1e9, "G"), (1e6, "M")):
        if abs(value) >= limit:
            return f"{value / limit:,.4g} {unit}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them: `12 µs`, `3.4 ms`, `5.6 s`, `3 min`."""
    if not math.isfinite(seconds) or seconds <= 0:
        return "0 s"
    if seconds >= 120:
        return f"{seconds / 60:,.3g} min"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size * 0.9995:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def shortened(text: str, most: int) -> str:
    """The text on one line, with its middle left out where it is longer."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    tail = most // 3
    return f"{plain[: most - tail - 1]}…{plain[-tail:]}"


Format = Literal["png", "svg", "pdf"]
FORMATS: dict[str, Format] = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
_METADATA: dict[Format, dict[str, Any]] = {
    "png": {"Software": "Graphtide"},
    "svg": {"Date": None},
    "pdf": {"Creator": "Graphtide", "CreationDate": None},
}
_DOTS = 160
_SHOWN_DOTS = 100


@dataclass(frozen=True)
class Picture:
    """A drawn picture. `figure` is the figure of matplotlib, which users may change."""

    title: str
    figure: Figure

    def save(self, path: str | Path) -> Path:
        """Write PNG, SVG or PDF, by the ending of the file: all of it or nothing."""
        target = given_path(path)
        content = self.render(picture_format(target))
        with whole_file(target) as partial:
            partial.write_bytes(content)
        return target

    def render(self, format: Format) -> bytes:
        """The picture as the bytes of a file."""
        buffer = io.BytesIO()
        with styled(), telling_of_boxes():
            self.figure.savefig(buffer, format=format, dpi=_DOTS, metadata=_METADATA[format])
        return buffer.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = self.figure.get_size_inches() * _SHOWN_DOTS
        return self.render("png"), {"width": int(width), "height": int(height)}

    def __repr__(self) -> str:
        return f"<picture of {self.title}>"


def picture_format(path: Path) -> Format:
    """PNG, SVG or PDF by the ending of the file; InputError for any other."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        raise InputError(
            f"'{path}' is no PNG, SVG or PDF file", hint="end its name with .png, .svg or .pdf"
        )
    return format_
