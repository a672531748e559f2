"""Views in a picture: in titles, along the x axis where they have an order, else in rows.

Titles say in words what a run found, and over which views: `PageRank(damping=0.85,
iterations=10)` on 52 tumbling weeks is "PageRank per week". What a title leaves out, parameters
and the name of the collection, stands in the line below it. Programs that users write keep their
names.

Along an axis, few views are named one by one, of many a few. Beyond what the width of a picture
can show, several views share a place, and a series becomes the band between its least and its
greatest value with its median inside: no outlier among thousands is lost.

Views without an order have a row each, those that stand out first, and one row for all others: a
line between two outages would say that something lies between them. Bars begin at 0, or at the
median where all values are alike and far from 0: what stands out is then seen as such.
"""

from __future__ import annotations

import ast
import datetime as dt
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from graphtide.api.pictures.picture import (
    BLACK,
    GREY,
    WIDTH,
    are_alike,
    headed,
    short_number,
    shortened,
)
from graphtide.model.text import visible

Float = NDArray[np.float64]

_NUMBERS = (re.compile(r"\d+"), re.compile(r"-?\d+(?:\.\d+)?"))
_REMOVED = "without "
_MOST_ROWS, MOST_COLUMNS = 24, 5
_ROW, _LONGEST_ROW_NAME = 0.235, 26


@dataclass(frozen=True)
class Series:
    """Values view by view, NaN where there is none; several in one panel have a name each."""

    values: Float
    colour: str
    name: str = ""


@dataclass(frozen=True)
class Panel:
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


def draw_rows(names: Sequence[str], columns: Sequence[Panel], title: str, subtitle: str) -> Figure:
    """A figure with a row for each view that stands out and a panel for each column."""
    order, odd = _farthest_first(columns)
    rows = order if len(order) <= _MOST_ROWS else order[: min(max(odd, 5), _MOST_ROWS - 1)]
    rest = order[len(rows) :]
    bare = [name.removeprefix(_REMOVED) for name in names] if _all_removed(names) else names
    labels = [shortened(visible(bare[at]), _LONGEST_ROW_NAME) for at in rows]
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


def _farthest_first(columns: Sequence[Panel]) -> tuple[NDArray[np.int64], int]:
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
    """The middle value, which is one of them: most outages change nothing."""
    return float(np.sort(values)[len(values) // 2])


def _draw_column(
    axes: Axes, column: Panel, rows: NDArray[np.int64], rest: NDArray[np.int64]
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
    """Draw a bar for each row, with its number."""
    values = series.values[rows]
    axes.barh(np.arange(len(rows)), values - start, 0.72, start, color=series.colour)
    for at in np.flatnonzero(np.isfinite(values)).tolist():
        _write(axes, float(values[at]), at, short_number(float(values[at])), values[at] < start)


def _draw_rest(
    axes: Axes, series: Series, row: int, rest: NDArray[np.int64], *, written: bool
) -> None:
    """Draw all other views in one row, from the least to the greatest, with the median."""
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


_WORDS = {
    "AdamicAdar": "Adamic-Adar index",
    "Ancestors": "What leads to {targets}",
    "BFS": "Hops from {source}",
    "BeliefPropagation": "Belief propagation",
    "Cliques": "Cliques of {size}",
    "ClusteringCoefficients": "Clustering coefficients",
    "CollaborativeFiltering": "Collaborative filtering",
    "CommonNeighbours": "Common neighbours",
    "ConvergedPageRank": "PageRank",
    "ConvergedPersonalisedPageRank": "PageRank from {sources}",
    "CoTrainingEM": "Co-training",
    "DegreeStatistics": "Degrees",
    "KCore": "The {k}-core",
    "KHops": "Within {k} hops of {sources}",
    "LabelPropagation": "Label propagation",
    "NearestSource": "Distance from the nearest of {sources}",
    "PairDistances": "Distances of pairs",
    "PairHops": "Hops between pairs",
    "PersonalisedPageRank": "PageRank from {sources}",
    "Reachability": "What is reached from {sources}",
    "Rings": "Rings of {length}",
    "SCC": "Strongly connected components",
    "ShortestPaths": "Distance from {source}",
    "TriadCensus": "Triad census",
    "WCC": "Connected components",
    "WidestPath": "Widest paths from {source}",
}
_WITHOUT, _UNTIL = "without ", "until-"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_UNITS = (
    (365, 366, "year"),
    (89, 92, "quarter"),
    (28, 31, "month"),
    (7, 7, "week"),
    (1, 1, "day"),
)
_LISTED, _LONGEST_WORD = 3, 24


def program_words(program: str) -> tuple[str, str]:
    """What a program finds in words, and the parameters that the words leave out."""
    name, given = _read(program)
    template = _WORDS.get(name, name)
    try:
        words = template.format_map({key: _value_words(value) for key, value in given.items()})
    except KeyError:
        return name, ""
    rest = {key: value for key, value in given.items() if "{" + key + "}" not in template}
    return words, shortened(", ".join(f"{key}={value!r}" for key, value in rest.items()), 60)


def _read(program: str) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a program, from the text that describes it."""
    try:
        call = ast.parse(program, mode="eval").body
        assert isinstance(call, ast.Call)
        given = {str(item.arg): ast.literal_eval(item.value) for item in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        return program.partition("(")[0], {}
    return ast.unparse(call.func), given


def _value_words(value: Any) -> str:
    if not isinstance(value, list | tuple):
        return shortened(visible(str(value)), _LONGEST_WORD)
    words = [_value_words(item) for item in value[:_LISTED]]
    if len(value) > _LISTED:
        words.append(f"{len(value) - _LISTED} more")
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def views_words(names: Sequence[str]) -> str:
    """The views in words, to follow a title: ` per week`, `, upto-2017 to upto-2020`."""
    first, last = (shortened(visible(names[at]), _LONGEST_WORD) for at in (0, -1))
    if len(names) == 1:
        return f" {first}" if first.startswith(_WITHOUT) else f" in {first}"
    if all(name.startswith(_WITHOUT) for name in names):
        return (
            " without " + ("some" if any("," in name for name in names) else "one") + " at a time"
        )
    starts = [_date(name.removeprefix(_UNTIL).partition("..")[0]) for name in names]
    if None in starts:
        return f", {first} to {last}"
    step = _unit(min((b - a for a, b in pairwise(starts) if a and b and b > a), default=None))
    if all(name.startswith(_UNTIL) for name in names):
        return f" up to each {step}"
    ends = [_date(name.partition("..")[2]) for name in names]
    if None in ends:
        return f" per {step}"
    width = max(b - a for a, b in zip(starts, ends, strict=True) if a and b)
    if _unit(width) == step:
        return f" per {step}"
    return f" in windows of {_amount(width)}, {step} by {step}"


def _date(text: str) -> dt.datetime | None:
    if _DATE.match(text) is None:
        return None
    try:
        return dt.datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


def is_date(text: str) -> bool:
    """True for a date or time as windows are named by."""
    return _date(text) is not None


def _unit(span: dt.timedelta | None) -> str:
    """A period in words: `day`, `month`, `3 hours`."""
    if span is None:
        return "view"
    for least, most, name in _UNITS:
        if least <= span.days <= most and (name != "day" or not span.seconds):
            return name
    if span.days:
        return f"{span.days} days"
    hours = span.seconds / 3600
    return "hour" if hours == 1 else f"{hours:.3g} hours"


def _shared_start(one: str, other: str) -> str:
    """The common beginning of two texts."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return one[:count]


def _amount(span: dt.timedelta) -> str:
    """The length of a window in words: `7 days`, `a month`."""
    unit = f"{span.days} days" if 1 < span.days < 28 else _unit(span)
    return unit if unit[0].isdigit() else f"{'an' if unit == 'hour' else 'a'} {unit}"


def short_labels(names: Sequence[str]) -> tuple[list[str], str]:
    """Names of views as they stand along an axis, and the title of the axis.

    What all begin with stands in the title alone; of ranges there is the start.
    """
    plain = [visible(name) for name in names]
    starts = [name.partition("..") for name in plain]
    if len(names) > 1 and all(found[1] and _date(found[0]) for found in starts):
        return [found[0] for found in starts], "view (by its first day)"
    common = _shared_start(min(plain), max(plain))
    kept = max((common.rfind(mark) for mark in "-_ :/"), default=-1) + 1
    if len(names) < 2 or kept < 2 or _date(plain[0]):
        return plain, "view"
    return [name[kept:] for name in plain], f"view ({common[:kept]}…)"


PLACES = 700
"""How many places the width of a picture has."""

_ALL_NAMED = 24
_SOME_NAMED = 8
_LONGEST = 26
_LETTER = 0.078
_SLANT = 35
_MARKED = 60


class Band(NamedTuple):
    """Neighbouring values that share a place: where, the least, the median, the greatest."""

    place: Float
    least: Float
    median: Float
    greatest: Float


class Labels(NamedTuple):
    """The views that are named, and how."""

    places: list[int]
    texts: list[str]
    title: str

    @property
    def width(self) -> float:
        """The width of the longest name, in inches."""
        return max(map(len, self.texts), default=0) * _LETTER

    @property
    def slanted(self) -> bool:
        """True if the names do not fit beside each other."""
        return self.width + 0.12 > (WIDTH - 1.2) / max(len(self.places), 1)


def labels_of(names: Sequence[str], most: int = _SOME_NAMED) -> Labels:
    """All names of a few views, or some of many, without their common beginning."""
    count = len(names)
    places = list(range(count))
    texts, title = short_labels(names)
    crowded = is_date(texts[0]) and count * (len(texts[0]) * _LETTER + 0.12) > WIDTH - 1.2
    if count > min(_ALL_NAMED, 3 * most) or crowded:
        step = -(-count // most)
        places = list(range(0, count, step))
        if not crowded or most == 2:
            places = np.unique(np.linspace(0, count - 1, most).round().astype(int)).tolist()
    return Labels(places, [shortened(texts[at], _LONGEST) for at in places], title)


def room_below(names: Sequence[str]) -> float:
    """How many inches the names of views need below the axis, beyond one line."""
    labels = labels_of(names)
    return labels.width * math.sin(math.radians(_SLANT)) if labels.slanted else 0.0


def name_views(axes: Axes, names: Sequence[str], title: str = "", most: int = _SOME_NAMED) -> None:
    """Name views along the x axis: all of a few, and a few of many."""
    labels = labels_of(names, most)
    slant: dict[str, Any] = {"rotation": _SLANT, "ha": "right", "rotation_mode": "anchor"}
    slanted = labels.slanted and most == _SOME_NAMED
    axes.set_xticks(labels.places, labels.texts, **(slant if slanted else {}))
    if most == 2 and len(labels.places) == 2:
        first, last = axes.get_xticklabels()
        first.set_horizontalalignment("left")
        last.set_horizontalalignment("right")
    axes.set_xlabel(title or labels.title)
    axes.set_xlim(-0.5, max(len(names) - 0.5, 0.5))


def draw_series(axes: Axes, values: Float, colour: str, style: str = "-") -> None:
    """Draw a line along the views: with marks if they are few, as a band if they are very many."""
    if len(values) > PLACES:
        band = banded(values)
        axes.fill_between(
            band.place, band.least, band.greatest, color=colour, alpha=0.3, linewidth=0
        )
        axes.plot(band.place, band.median, color=colour, linewidth=1.2, linestyle=style)
        # The band alone hides where a single view stands out: its edges are drawn as well.
        axes.plot(band.place, band.least, color=colour, linewidth=0.5, alpha=0.7)
        axes.plot(band.place, band.greatest, color=colour, linewidth=0.5, alpha=0.7)
        return
    marker = "o" if len(values) <= _MARKED else None
    axes.plot(
        np.arange(len(values)),
        values,
        color=colour,
        linestyle=style,
        linewidth=1.6,
        marker=marker,
        markersize=4.5,
        clip_on=marker is None,
    )


def banded(values: Float, places: int = PLACES) -> Band:
    """The values in as many groups of neighbours as there are places, without NaN."""
    bounds = np.linspace(0, len(values), places + 1).round().astype(int)
    groups = [values[start:stop] for start, stop in pairwise(bounds)]
    known = [group[np.isfinite(group)] for group in groups]
    rows = [
        (part.min(), np.median(part), part.max()) if part.size else (np.nan,) * 3 for part in known
    ]
    least, median, greatest = np.array(rows, np.float64).T
    return Band((bounds[:-1] + bounds[1:] - 1) / 2, least, median, greatest)


def groups_note(count: int) -> str:
    """The note for several views that share a place."""
    if count <= PLACES:
        return ""
    return f"; each place is about {round(count / PLACES)} views: least, median, greatest"
