"""Rows that are taken over as they are mean what reading them means, whatever ids the graph has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import ShortestPaths
from graphtide.model.errors import InputError
from graphtide.run.live.edge_rows import ColumnNames, PlainRows, read_rows
from graphtide.run.live.versions import Followers

REAL = np.dtype(np.float64)
COLUMNS = {"src": [3, 2**62], "weight": [0.5, float("inf")], "dst": [4, -1]}


def taken(given: Any) -> Any:
    return PlainRows("src", "dst", [("weight", REAL)]).taken_over("insert", given)


@pytest.mark.parametrize(
    "given",
    [
        [(3, 4, 0.5), (2**62, -1, float("inf"))],
        {
            "weight": np.array([0.5, np.inf]),
            "src": np.array([3, 2**62]),
            "dst": np.array([4, -1, 9])[:2],
        },
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=[7, 5]),
        pl.DataFrame(COLUMNS),
    ],
    ids=["tuples", "columns", "Arrow", "a batch", "pandas", "an index", "Polars"],
)
def test_lines_hold_the_words_of_all_columns(given: Any) -> None:
    rows = taken(given)
    assert rows.lines.flags.c_contiguous
    assert rows.lines[:2].tolist() == [[3, 2**62], [4, -1]]
    assert rows.lines[2].view(REAL).tolist() == [0.5, float("inf")]
    assert rows.row(1) == f"({2**62}, -1, inf)"


@pytest.mark.parametrize("row", [(3, -1, 0.5), (3, -1)])
def test_a_single_tuple_is_a_row(row: tuple[Any, ...]) -> None:
    rows = taken([row])
    assert rows.lines[:2].tolist() == [[3], [-1]]
    assert rows.row(0) == str(row)
    assert len(rows.lines) == len(row)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"src": [3], "dst": [4], "weight": [np.nan]}),
        pd.DataFrame({"src": [3, 3], "dst": [4, 5], "weight": [0.5, 1.5]})[::-1],
        pd.DataFrame({"src": [3], "dst": [4], "weight": pd.array([0.5], "Float64")}),
        pd.DataFrame({"src": [3], "dst": [4], "weight": [0.5]}).set_index("weight"),
        pd.DataFrame({"src": [3], "dst": [4], "weight": [0.5]}).set_index("src"),
        pd.DataFrame({"src": [3], "dst": [4], "weight": [0.5]}).convert_dtypes(),
        pl.DataFrame({"src": [3, 4], "dst": [4, 5], "weight": [None, float("nan")]}),
        pl.DataFrame({"src": [3], "dst": [4]}),
        pa.table(COLUMNS).slice(1),
        pa.table(COLUMNS).slice(0, 1),
        pa.table(COLUMNS).slice(2),
        pa.table(COLUMNS).to_batches()[0].slice(1),
        pa.concat_tables([pa.table(COLUMNS), pa.table(COLUMNS).slice(1)]),
        pa.table({"dst": [4, 5], "src": [3, 3], "weight": [0.5, None]}),
        pa.table({"dst": [4, 5, 6], "src": [3, 3, 3], "weight": [None, 0.5, 1.5]}).slice(1),
        pa.table({"dst": [4], "src": pa.array([3, 5]).slice(1), "weight": [0.5]}),
        pa.table({"dst": [4], "src": [3]}),
    ],
)
def test_a_frame_means_what_it_means_to_the_reader(frame: Any) -> None:
    names = ColumnNames("src", "dst", ("weight",))
    found, read = taken(frame), read_rows("insert", frame, names)
    if found is not None:
        assert found.src.tolist() == read.src.tolist()
        assert found.dst.tolist() == read.dst.tolist()
        assert found.properties.keys() == read.properties.keys()
        for name, column in read.properties.items():
            np.testing.assert_array_equal(found.properties[name], column)


@pytest.mark.parametrize(
    "given",
    [
        [(3, 4, 1)],
        [(3,)],
        [(3, 4, 0.5, 0.5)],
        pd.DataFrame({"src": [3], "dst": [4], "weight": [0.5]}).set_index("weight"),
        pd.DataFrame({"src": [3], "dst": [4], "colour": [0.5]}),
        pd.DataFrame([[3, 4, 5]], columns=["src", "dst", "src"]),
        pd.DataFrame({"src": [3], "dst": [4], "weight": [1]}),
        pl.DataFrame({"src": [3, None], "dst": [4, 5]}),
        [(3, True, 0.5)],
        [(2**63, 4, 0.5)],
        [(3, 4, 0.5), (3, 4)],
        pa.table({"src": [3, None], "dst": [4, 5], "weight": [0.5, 0.5]}),
        {"src": np.array([3]), "dst": np.array([4]), "weight": np.array([1])},
    ],
)
def test_what_has_other_types_is_left_to_the_reader(given: Any) -> None:
    assert taken(given) is None


def test_missing_floats_are_nan_as_they_are_for_the_reader() -> None:
    rows = taken(pa.table({"src": [3], "dst": [4], "weight": pa.array([None], pa.float64())}))
    assert np.isnan(rows.properties["weight"]).all()
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
