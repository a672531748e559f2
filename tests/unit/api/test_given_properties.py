"""Columns of numbers in every form that users hold them in, and what is no column at all."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphtide as gt

HALVES = [1.5, 2.0, 3.0]
DECIMALS = [Decimal("1.5"), Decimal(2), Decimal(3)]
FORMS: dict[str, Any] = {
    "a list": HALVES,
    "a tuple": tuple(HALVES),
    "NumPy": np.array(HALVES, np.float32),
    "NumPy's objects": np.array(HALVES, object),
    "pandas": pd.Series(HALVES, index=[7, 8, 9]),
    "pandas' objects": pd.Series(HALVES, dtype=object),
    "pandas' own floats": pd.Series(HALVES, dtype="Float64"),
    "Arrow in pandas": pd.Series(HALVES, dtype=pd.ArrowDtype(pa.float64())),
    "Polars": pl.Series(HALVES),
    "Arrow": pa.array(HALVES),
    "chunks of Arrow": pa.chunked_array([HALVES[:1], HALVES[1:]]),
    "decimals": DECIMALS,
    "decimals and floats": [Decimal("1.5"), 2.0, 3],
    "decimals of pandas": pd.Series(DECIMALS),
    "decimals of Arrow": pa.array(DECIMALS, pa.decimal128(9, 2)),
    "decimals of Polars": pl.Series(DECIMALS),
}


@pytest.mark.parametrize("form", FORMS)
def test_numbers_with_fractions_are_numbers_in_every_form(form: str) -> None:
    graph = gt.Graph([0, 1, 2], [1, 2, 0], w=FORMS[form])
    assert graph.edges()["w"].to_pylist() == HALVES
    assert graph.view("w > 1.7").edge_ids.tolist() == [1, 2]


@pytest.mark.parametrize("form", FORMS)
def test_they_come_and_go_in_every_form(form: str) -> None:
    graph = gt.Graph([0], [1], w=[0.5])
    rows = {"src": [0, 1, 2], "dst": [1, 2, 0], "w": FORMS[form]}
    graph.advance(insert=rows)
    assert graph.edges()["w"].to_pylist() == [0.5, *HALVES]
    graph.advance(delete=rows)
    assert graph.edges()["w"].to_pylist() == [0.5]


def test_a_frame_with_decimals_has_numbers_for_programs() -> None:
    frame = pa.table({"src": [0, 1], "dst": [1, 2], "weight": pa.array(DECIMALS[:2])})
    graph = gt.Graph.from_frame(frame)
    live = graph.maintain(gt.algorithms.ShortestPaths(source=0))
    assert live["dist"].tolist() == [0.0, 1.5, 3.5]
    live.advance(insert=[(0, 2, Decimal("2.25"))])
    assert live["dist"].tolist() == [0.0, 1.5, 2.25]


@pytest.mark.parametrize("given", [5, True, None, "ab", {1, 2}, {0: 1.0, 1: 2.0}])
def test_what_is_no_column_is_refused(given: Any) -> None:
    with pytest.raises(gt.GraphtideError, match="'toll' of the graph is no column of values"):
        gt.Graph([0, 1], [1, 0], toll=given)


@pytest.mark.parametrize("given", [[1, None], [True, None], pd.array([1, None], dtype="Int64")])
def test_gaps_are_told_as_gaps(given: Any) -> None:
    @gt.program
    class Counted:
        got: int
        sent = gt.Sum(int)
        w = gt.Property(int)

        def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
            v.sent(e.w)

        def update(self, v):  # type: ignore[no-untyped-def]
            v.got = v.sent

    graph = gt.Graph([0, 1], [1, 0], w=given)
    with pytest.raises(gt.GraphtideError, match="'w' as int, and some edges have none"):
        graph.maintain(Counted)


DAY, NOON = date(2020, 1, 1), datetime(2020, 1, 1, 12)


@pytest.mark.parametrize("given", [[DAY, NOON], [NOON, DAY], np.array([DAY, NOON], object)])
def test_dates_and_timestamps_are_no_column(given: Any) -> None:
    with pytest.raises(gt.GraphtideError, match="'at' of the graph does not hold"):
        gt.Graph([0, 1], [1, 0], at=given)
    with pytest.raises(gt.GraphtideError, match="'at' of `vertices` holds what no property"):
        gt.Graph([0, 1], [1, 0], vertices={"id": [0, 1], "at": given})
    graph = gt.Graph([0], [1], at=[DAY])
    with pytest.raises(gt.GraphtideError, match="'at' holds values of type date"):
        graph.advance(insert=[(0, 1, item) for item in given])
    assert graph.edges()["at"].to_pylist() == [DAY]


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NaT])
@pytest.mark.parametrize("value", ["a", DAY])
def test_gaps_among_texts_and_dates_in_every_form(value: Any, gap: Any) -> None:
    graph = gt.Graph([0, 1], [1, 0], at=[value, gap], vertices={"id": [0, 1], "at": [gap, value]})
    assert graph.edges()["at"].to_pylist() == [value, None]
    assert graph.vertices()["at"].to_pylist() == [None, value]
    graph.advance(insert=[(0, 1, gap), (1, 0, value)])
    assert graph.edges()["at"].to_pylist() == [value, None, None, value]
