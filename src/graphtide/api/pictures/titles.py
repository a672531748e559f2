"""Titles in words: what a run found, and over which views.

`PageRank(damping=0.85, iterations=10)` on 52 tumbling weeks is "PageRank per week". What a title
leaves out, parameters and the name of the collection, stands in the line below it. Programs that
users write keep their names.
"""

from __future__ import annotations

import ast
import datetime as dt
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from graphtide.api.pictures.style import shortened
from graphtide.model.cells import visible

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
_LISTED, _LONGEST = 3, 24


def program_words(program: str) -> tuple[str, str]:
    """What a program finds, in words, and the parameters that these do not tell."""
    name, given = _read(program)
    template = _WORDS.get(name, name)
    try:
        words = template.format_map({key: _value_words(value) for key, value in given.items()})
    except KeyError:
        return name, ""
    rest = {key: value for key, value in given.items() if "{" + key + "}" not in template}
    return words, shortened(", ".join(f"{key}={value!r}" for key, value in rest.items()), 60)


def _read(program: str) -> tuple[str, dict[str, Any]]:
    """The name of a program and its parameters, from the text that describes it."""
    try:
        call = ast.parse(program, mode="eval").body
        assert isinstance(call, ast.Call)
        given = {str(item.arg): ast.literal_eval(item.value) for item in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        return program.partition("(")[0], {}
    return ast.unparse(call.func), given


def _value_words(value: Any) -> str:
    if not isinstance(value, list | tuple):
        return shortened(visible(str(value)), _LONGEST)
    words = [_value_words(item) for item in value[:_LISTED]]
    if len(value) > _LISTED:
        words.append(f"{len(value) - _LISTED} more")
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def views_words(names: Sequence[str]) -> str:
    """Over which views, to follow a title: ` per week`, `, upto-2017 to upto-2020`."""
    first, last = (shortened(visible(names[at]), _LONGEST) for at in (0, -1))
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
    """True for a day or a point in time as windows are named by."""
    return _date(text) is not None


def _unit(span: dt.timedelta | None) -> str:
    """A span as the calendar calls it: `day`, `month`, `3 hours`."""
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
    """What two texts begin with; of the least and the greatest of many, what all begin with."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return one[:count]


def _amount(span: dt.timedelta) -> str:
    """How long a window is: `7 days`, `a month`."""
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
