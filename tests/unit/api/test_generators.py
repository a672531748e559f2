"""Generators written in Python are the GVDL they stand for, and slips in them are told."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import graphtide as gt
from graphtide.lang.gvdl.requests import view_items, view_list, written_predicate
from graphtide.lang.gvdl.unparse import unparse

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (gt.expanding("ts", width="1 week"), "expanding windows over ts width 1 week"),
        (
            gt.sliding("year", width=5, step=1, start=2000, until=2020),
            "sliding windows over year from 2000 until 2020 width 5 step 1",
        ),
        (
            gt.tumbling("src.age", width=10, drop_empty=True, name="age-{start}"),
            "tumbling windows over src.age width 10 drop empty named 'age-{start}'",
        ),
        (
            gt.without_each("edge", where="kind = 'line'", pairs=True),
            "without each pair of edges where kind = 'line'",
        ),
        (
            gt.without(1, {"a": "src.c1", "b": "src.c2"}),
            "without 1 of ([a: src.c1], [b: src.c2])",
        ),
        (
            gt.cross("for y in 1..2 [{y}: year = y]", ["fee > 1"]),
            "for y in 1..2 [{y}: year = y] cross [fee > 1]",
        ),
    ],
)
def test_a_generator_is_its_gvdl(made: Any, text: str) -> None:
    assert unparse(made) == unparse(view_items(text)[0])


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (np.int64(3), "3"),
        (np.float64(0.5), "0.5"),
        (dt.date(2020, 1, 31), "date '2020-01-31'"),
        (pd.Timestamp("2020-01-31 10:00"), "timestamp '2020-01-31 10:00:00'"),
        (pd.Timestamp("2020-01-31", tz=BERLIN), "timestamp '2020-01-31 00:00:00+01:00'"),
        (dt.datetime(2020, 1, 31, tzinfo=BERLIN), "timestamp '2020-01-31 00:00:00+01:00'"),
        (np.datetime64("2020-01-31T10:00", "ns"), "timestamp '2020-01-31 10:00:00'"),
    ],
)
def test_bounds_come_from_numpy_and_pandas_too(bound: Any, text: str) -> None:
    made = gt.tumbling("ts", width=1, start=bound)
    assert unparse(made) == f"tumbling windows over ts from {text} width 1"


WIDTHS: list[tuple[Any, str]] = [
    ("7d", "7 days"),
    ("7 D", "7 days"),
    ("1w", "1 week"),
    ("W", "1 week"),
    ("day", "1 day"),
    ("2 weeks", "2 weeks"),
    ("12h", "12 hours"),
    ("30min", "30 minutes"),
    ("90s", "90 seconds"),
    ("250ms", "250 milliseconds"),
    ("1mo", "1 month"),
    ("ME", "1 month"),
    ("3MS", "3 months"),
    ("2y", "2 years"),
    (dt.timedelta(days=7), "7 days"),
    (dt.timedelta(hours=36), "36 hours"),
    (pd.Timedelta("7D"), "7 days"),
    (pd.Timedelta("90min"), "90 minutes"),
    (pd.Timedelta(1500, "ms"), "1500 milliseconds"),
    (pd.offsets.Day(7), "7 days"),
    (pd.offsets.Hour(6), "6 hours"),
    (pd.offsets.MonthBegin(2), "2 months"),
    (np.timedelta64(2, "W"), "2 weeks"),
    (np.timedelta64(3, "M"), "3 months"),
    (np.timedelta64(7 * 86_400, "s"), "7 days"),
    (10, "10"),
    (0.5, "0.5"),
    (np.int64(3), "3"),
    ("10", "10"),
]


@pytest.mark.parametrize(("width", "text"), WIDTHS, ids=repr)
def test_widths_are_taken_as_people_write_them(width: Any, text: str) -> None:
    assert unparse(gt.tumbling("ts", width)) == f"tumbling windows over ts width {text}"


def test_widths_and_steps_go_without_their_names() -> None:
    assert gt.sliding("ts", "7d", "1d") == gt.sliding("ts", width="7 days", step="1 day")
    assert gt.expanding("ts", "1d", "1w") == gt.expanding("ts", width="1 day", step="1 week")


@pytest.mark.parametrize("make", [gt.tumbling, gt.sliding, gt.expanding])
def test_editors_see_what_windows_take(make: Callable[..., Any]) -> None:
    known = inspect.signature(make).parameters
    assert not any(item.kind is item.VAR_KEYWORD for item in known.values())
    assert {"start", "until", "timezone", "drop_partial", "drop_empty", "name"} <= set(known)
    assert ("step" in known) == (make is not gt.tumbling)


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        (lambda: gt.tumbling("ts", True), "(?s)width cannot be True.*'1w'.*timedelta"),
        (lambda: gt.tumbling("ts", "1 fortnight"), "(?s)width cannot be '1 fortnight'.*'7 days'"),
        (lambda: gt.tumbling("ts", "P7D"), "(?s)width cannot be 'P7D'.*'7 days'"),
        (lambda: gt.tumbling("ts", "1h30min"), "(?s)width cannot be '1h30min'.*'30min'"),
        (lambda: gt.tumbling("ts", "1.5 hours"), "90 minutes"),
        (lambda: gt.tumbling("ts", "1m"), "(?s)'m' is a month or a minute.*'1 month'.*'1min'"),
        (lambda: gt.tumbling("ts", dt.timedelta(microseconds=1)), "whole number of milliseconds"),
        (lambda: gt.tumbling("ts", dt.timedelta(0)), "width cannot be .*more than 0"),
        (lambda: gt.sliding("ts", "1d", pd.NaT), "step cannot be NaT"),
        (lambda: gt.tumbling("ts", width=1, start=True), "start cannot be True"),
        (lambda: gt.tumbling("ts", width=1, until=pd.NaT), "until cannot be NaT"),
        (lambda: gt.without_each("node"), "use 'edge' or 'vertex'"),
        (lambda: written_predicate(lambda edge: True), "a predicate is GVDL text"),
        (lambda: view_list("[a: true]", within=3), "a predicate is GVDL text"),  # type: ignore[arg-type]
        (lambda: view_items(42), "does not describe views"),  # type: ignore[arg-type]
    ],
)
def test_slips_are_told(slip: Callable[[], object], told: str) -> None:
    with pytest.raises(gt.GraphtideError, match=told):
        slip()


MIXED: list[tuple[Any, str]] = [
    (
        ["year < 1", {"a": "year < 2", "b": "year < 3"}, ("c", "year < 4")],
        "[year < 1], [a: year < 2], [b: year < 3], [c: year < 4]",
    ),
    (
        [gt.expanding("ts", width="1 day"), "for y in 1..3 [upto-{y}: year <= y]", "year < 1"],
        "expanding windows over ts width 1 day, for y in 1..3 [upto-{y}: year <= y], [year < 1]",
    ),
    (
        (text for text in ["[x: year = 1], [y: year = 2]", "tumbling windows over ts width 1 day"]),
        "[x: year = 1], [y: year = 2], tumbling windows over ts width 1 day",
    ),
    ([["year < 1", "year < 2"], "name = 'a[b'"], "[year < 1], [year < 2], [name = 'a[b']"),
]


@pytest.mark.parametrize(("views", "text"), MIXED)
def test_a_list_mixes_whatever_describes_views(views: Any, text: str) -> None:
    assert view_list(views) == view_list(text)


@pytest.mark.parametrize(
    ("views", "problem"),
    [
        (["year <"], "ends too early"),
        (["for y in 1..3 [a: year <= ]"], "column 27"),
        ([{"a": 3}], "does not describe views"),
        ([{"a": "year < 1"}, 7], "7 does not describe views"),
    ],
)
def test_a_slip_in_a_mixed_list_is_told(views: Any, problem: str) -> None:
    with pytest.raises(gt.GraphtideError, match=problem):
        view_list(views)
