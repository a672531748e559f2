"""Generators written in Python are the GVDL they stand for, and slips in them are told."""

from __future__ import annotations

import datetime as dt
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


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        (lambda: gt.tumbling("ts", width="1 day", step="1 day"), "no option 'step'"),
        (lambda: gt.sliding("ts", width=1, step=1, untl=4), "did you mean 'until'"),
        (lambda: gt.tumbling("ts", width=dt.timedelta(days=1)), "'1 month'"),
        (lambda: gt.tumbling("ts", width=1, start=True), "start cannot be True"),
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
