"""Edges mean the same in whatever form they are given, and whatever ids the graph has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import ShortestPaths
from graphtide.model.errors import InputError
from graphtide.run.live.edge_rows import ColumnNames, read_edges
from graphtide.run.live.versions import Followers

NAMES = ColumnNames("src", "dst", ("weight",))
COLUMNS = {"src": [3, 2**62], "weight": [0.5, float("inf")], "dst": [4, -1]}


@pytest.mark.parametrize(
    "given",
    [
        [(3, 4, 0.5), (2**62, -1, float("inf"))],
        [[3, 4, 0.5], [2**62, -1, float("inf")]],
        [{"weight": 0.5, "dst": 4, "src": 3}, {"src": 2**62, "dst": -1, "weight": math.inf}],
        iter([(3, 4, 0.5), (2**62, -1, float("inf"))]),
        COLUMNS,
        {name: iter(column) for name, column in COLUMNS.items()},
        {
            "weight": np.array([0.5, np.inf]),
            "src": np.array([3, 2**62]),
            "dst": np.array([4, -1, 9])[:2],
        },
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        pa.concat_tables([pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=[7, 5]),
        pd.DataFrame(COLUMNS).astype({"src": "Int64", "weight": "Float64"}),
        pd.DataFrame(COLUMNS).astype({"weight": "float32"}),
        pd.DataFrame(COLUMNS)[::-1][::-1],
        pl.DataFrame(COLUMNS),
    ],
)
def test_rows_are_read_alike_in_any_form(given: Any) -> None:
    rows = read_edges("insert", given, NAMES)
    assert {name: column.tolist() for name, column in rows.values.items()} == {
        "src": [3, 2**62],
        "dst": [4, -1],
        "weight": [0.5, float("inf")],
    }
    assert list(rows.values) == ["src", "dst", "weight"]
    assert [column.dtype.kind for column in rows.values.values()] == ["i", "i", "f"]
    assert rows.row(1) == f"({2**62}, -1, inf)"


@pytest.mark.parametrize("index", ["src", "weight"])
def test_an_index_with_a_name_is_a_column(index: str) -> None:
    frame = pd.DataFrame({"src": [3, 5], "dst": [4, 6], "weight": [0.5, 1.5]}).set_index(index)
    rows = read_edges("insert", frame, NAMES)
    assert [rows.row(at) for at in range(2)] == ["(3, 4, 0.5)", "(5, 6, 1.5)"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"src": [3, 4], "dst": [4, 5], "weight": [None, 2.0]}),
        pd.DataFrame({"src": [3, 4], "dst": [4, 5], "weight": pd.array([None, 2], "Int64")}),
        pl.DataFrame({"src": [3, 4], "dst": [4, 5], "weight": [None, 2]}),
        pa.table({"src": [3, 4], "dst": [4, 5], "weight": [None, 2.0]}),
    ],
)
def test_missing_numbers_are_nan(frame: Any) -> None:
    weight = read_edges("insert", frame, NAMES)["weight"]
    assert math.isnan(weight[0])
    assert weight[1] == 2.0


def test_what_is_read_is_not_what_the_user_holds() -> None:
    held = np.array([0.5])
    for given in ({"src": [3], "dst": [4], "weight": held}, pd.DataFrame({"weight": held})):
        frame = pd.DataFrame({**given, "src": [3], "dst": [4]})
        for form in (given if "src" in given else frame, frame):
            weight = read_edges("insert", form, NAMES)["weight"]
            weight[0] = 7.0
            assert held[0] == 0.5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([(3,)], "insert: there are rows that are no edges"),
        ([(3, 4, 0.5, 0.5)], "insert: there are rows that are no edges"),
        ([(3, 4, 0.5), (3, 4)], "row 1: (3, 4)"),
        ([(3, 4, 0.5), {"src": 3, "dst": 4}], "row 1: {'src': 3, 'dst': 4}"),
        ([{"src": 3, "dst": 4}, {"src": 3}], "the rows of insert differ in their keys"),
        (["ab"], "row 0: 'ab'"),
        ("ab", "insert cannot be 'ab'"),
        (pd.DataFrame({"src": [3], "dst": [4], "colour": [1]}), "has a column 'colour'"),
        (pd.DataFrame([[3, 4, 5]], columns=["src", "dst", "src"]), "Duplicate column names"),
        ({"src": [1], "weight": [1.0]}, "insert has no column 'dst'"),
        ({"src": [1], "dst": []}, "the columns of insert differ in length: src 1, dst 0"),
        ([(3, True, 0.5)], "cannot be ids"),
        (pl.DataFrame({"src": [3, None], "dst": [4, 5]}), "cannot be ids"),
        ([(3, 4, 2**63)], "does not hold numbers of 64 bits"),
    ],
)
def test_what_is_wrong_is_said(given: Any, words: str) -> None:
    with pytest.raises(InputError) as told:
        read_edges("insert", given, NAMES)
    assert words in str(told.value)


def test_a_missing_cost_is_refused() -> None:
    graph = gt.Graph([3], [4], weight=[1.0])
    live = graph.maintain(ShortestPaths(source=3))
    with pytest.raises(InputError, match="NaN or missing"):
        live.advance(pa.table({"src": [3], "dst": [4], "weight": pa.array([None], pa.float64())}))


@pytest.mark.parametrize(
    "rows", [[(7, 8, 0.5)], {"src": np.array([7]), "dst": np.array([8]), "weight": np.array([0.5])}]
)
def test_whole_numbers_on_a_graph_of_tuples_are_looked_up_by_python(rows: Any) -> None:
    """Numbers of vertices take the place of ids in the lines, and never in the rows."""
    graph = gt.Graph([(0, 1), (7, 7)], [(7, 7), (0, 1)], weight=[1.0, 2.0])
    with pytest.raises(InputError, match=r"row 0: \(7, 8, 0.5\)"):
        graph.advance(delete=rows)
    graph.advance(insert=rows)
    assert graph.vertices()["id"].to_pylist()[2:] == ["7", "8"]
    with pytest.raises(InputError, match=r"row 0: \(8, 7, 0.5\)"):
        graph.advance(delete=[(8, 7, 0.5)])
    graph.advance(delete=rows)
    assert graph.num_edges == 2


def test_followers_are_listed_anew_when_one_comes_or_goes() -> None:
    class Holder:
        pass

    class Kept:
        pass

    followers: Any = Followers()
    one, other, first, second = Holder(), Holder(), Kept(), Kept()
    followers.add(first, one)
    assert followers.all() == (first,)
    followers.add(second, other)
    assert followers.all() == (first, second)
    del one
    assert followers.all() == (second,)
    third = Holder()
    followers.add(first, third)
    del other
    assert followers.all() == (first,)
    followers.remove(first)
    followers.add(second, third)
    assert followers.all() == (second,)
