"""Tables as text: nothing lost without a width, nothing too long with one; and as objects."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import graphtide as gt
from graphtide.model.text import (
    COUNTS,
    VALUES,
    cell_text,
    fitted_widths,
    shown_lines,
    table_lines,
    visible,
)
from graphtide.run.table import Table
from tests.examples import examples

CELLS = st.one_of(st.none(), st.integers(-(2**40), 2**40), st.text(max_size=30))


def text_column(cells: list[Any]) -> pa.Array:
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(0, 4))
    columns = draw(st.lists(st.lists(CELLS, min_size=rows, max_size=rows), min_size=1, max_size=6))
    return pa.table({f"column {at}": text_column(cells) for at, cells in enumerate(columns)})


@settings(deadline=None, max_examples=examples(60))
@given(table=tables(), width=st.integers(1, 60))
def test_no_line_is_wider_than_the_terminal(table: pa.Table, width: int) -> None:
    lines = table_lines(table, VALUES, width)
    assert len(lines) == table.num_rows + 1
    assert all(cell_len(line) <= width and line.isprintable() for line in lines)


@settings(deadline=None, max_examples=examples(60))
@given(table=tables())
def test_without_a_terminal_every_value_is_there_whole(table: pa.Table) -> None:
    _, *lines = table_lines(table, VALUES)
    for line, row in zip(lines, table.to_pylist(), strict=True):
        for value in row.values():
            assert visible(str(value) if value is not None else "null").rstrip() in line


@settings(deadline=None, max_examples=examples(100))
@given(widths=st.lists(st.integers(1, 50), min_size=1, max_size=8), room=st.integers(1, 200))
def test_only_the_widest_columns_are_narrowed(widths: list[int], room: int) -> None:
    fitted = fitted_widths(widths, room)
    assert all(after <= before for after, before in zip(fitted, widths, strict=True))
    if sum(widths) + 2 * (len(widths) - 1) <= room:
        assert fitted == widths
    narrowed = [after for after, before in zip(fitted, widths, strict=True) if after < before]
    kept = [after for after, before in zip(fitted, widths, strict=True) if after == before]
    if narrowed and kept:
        assert max(kept) <= max(max(narrowed) + 1, 6)


def test_counts_have_separators_and_stand_to_the_right() -> None:
    table = pa.table({"view": ["a", "bc"], "edges": [1234567, 5], "parent": [None, "a"]})
    assert table_lines(table, COUNTS) == [
        "view      edges  parent",
        "a     1,234,567",
        "bc            5  a",
    ]


def test_values_are_shown_as_they_are() -> None:
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    table = pa.table({"src": [1234567], "ts": [moment], "ok": [True], "x": pa.array([None])})
    assert table_lines(table, VALUES)[1] == "1234567  2020-01-02 03:04:05+00:00  true  null"


def test_wide_characters_stay_in_line() -> None:
    table = pa.table({"name": ["李雷", "Bob"], "n": [1, 2]})
    assert table_lines(table, VALUES) == ["name  n", "李雷  1", "Bob   2"]


def test_control_characters_cannot_reach_the_terminal() -> None:
    assert cell_text("a\x1b[31m\nb\u202e", VALUES) == "a\\x1b[31m\\nb\\u202e"


def test_a_table_prints_aligned_and_says_what_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    ranks = [0.5, 12.25, None] + [1 / 3] * 1200
    table = pa.table({"id": range(1203), "rank": ranks, "text": ["x" * 60] * 1203, "more": ranks})
    assert repr(Table(table)).splitlines()[:5] == [
        "id       rank",
        " 0   0.5",
        " 1  12.25",
        " 2       null",
        " 3   0.333333",
    ]
    assert (
        repr(Table(table)).splitlines()[-1] == "... and 1,183 more rows, 2 more columns: text, more"
    )
    assert len(repr(Table(table)).splitlines()) == 22
    assert repr(Table(table.slice(0, 0).select(["id"]))) == "id\nno rows"
    assert "... and 1,183 more rows" in Table(table)._repr_html_()
    wide = Table(pa.table({f"column {at}": [at] for at in range(30)}))._repr_html_()
    assert "column 19" in wide
    assert "10 more columns: column 20" in wide


@settings(deadline=None, max_examples=examples(60))
@given(table=tables(), width=st.integers(20, 60))
def test_no_printed_line_is_wider_and_none_is_missing(table: pa.Table, width: int) -> None:
    header, *lines = shown_lines(table, VALUES, width)
    shown = [name for name in table.column_names if name in header]
    assert shown == table.column_names[: len(shown)]
    told = lines[-1] if lines and lines[-1].startswith("... and ") else ""
    assert (len(shown) < table.num_columns) == ("more column" in told)
    body = [header, *lines[: len(lines) - bool(told)]]
    assert all(cell_len(line) <= width and line.isprintable() for line in body)
    assert len(body) == max(table.num_rows, 1) + 1


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(
        st.none() | st.floats(-1e5, 1e5) | st.integers(-9, 9).map(float), min_size=1, max_size=20
    )
)
def test_points_stand_below_each_other_and_numbers_are_those(values: list[float | None]) -> None:
    _, *lines = shown_lines(pa.table({"x": pa.array(values, pa.float64())}), VALUES, 80)
    for line, value in zip(lines, values, strict=False):
        if value is not None:
            assert float(line) == pytest.approx(value, rel=1e-5)
    texts = [line for line in lines if "." in line and not line.startswith("...")]
    if not any("e" in line for line in lines):
        assert len({line.index(".") for line in texts}) < 2


def made() -> Table:
    return Table(pa.table({"id": ["a", "b", "c"], "rank": [0.5, 0.25, None]}), COUNTS)


def test_a_table_is_rows_and_columns() -> None:
    table = made()
    assert (len(table), table.num_rows, table.column_names) == (3, 3, ["id", "rank"])
    assert list(table) == table.to_pylist() == made().to_arrow().to_pylist()
    assert table[0] == {"id": "a", "rank": 0.5}
    assert table[-1] == {"id": "c", "rank": None}
    with pytest.raises(IndexError, match="row 3 of a table of 3 rows"):
        table[3]
    assert table["rank"].to_pylist() == table.column("rank").to_pylist() == [0.5, 0.25, None]
    assert table[["rank"]].column_names == ["rank"]
    assert table[1:].to_pylist() == table.slice(1).to_pylist() == table.to_pylist()[1:]
    assert "rank" in table
    assert "value" not in table
    with pytest.raises(KeyError):
        table["value"]


def test_methods_of_arrow_go_through_and_give_such_tables() -> None:
    table = made()
    kept = table.filter(pc.greater(table["rank"], 0.3)).sort_by([("rank", "descending")])
    assert type(kept) is Table
    assert kept.to_pydict() == {"id": ["a"], "rank": [0.5]}
    assert repr(kept) == "id  rank\na    0.5"
    assert table.schema == table.to_arrow().schema
    joined = table.join(made(), "id", right_suffix=" too")
    assert joined.column_names == ["id", "rank", "rank too"]
    assert {"filter", "to_pandas", "sort_by"} <= set(dir(table))


def test_a_table_is_equal_to_what_is_in_it() -> None:
    table, arrow = made(), made().to_arrow()
    assert table == made()
    assert table == arrow
    assert arrow == table
    assert table.equals(made())
    assert table != arrow.slice(1)
    assert table != "table"
    assert pickle.loads(pickle.dumps(table)) == copy.deepcopy(table) == table


def test_others_take_a_table_as_one_of_arrow(tmp_path: Path) -> None:
    table, arrow = made(), made().to_arrow()
    assert pa.table(table) == arrow
    assert isinstance(table, pa.Table)
    for frame in (table.to_polars(), polars.DataFrame(table), polars.from_arrow(table)):
        assert isinstance(frame, polars.DataFrame)
        assert frame.to_dicts() == arrow.to_pylist()
    assert isinstance(polars.from_arrow(table[:0]), polars.DataFrame)
    for frame in (table.to_pandas(), pandas.DataFrame(table)):
        assert frame.equals(arrow.to_pandas())
    assert pq.read_table(table.to_parquet(tmp_path / "t.parquet")) == arrow
    assert pa_csv.read_csv(table.to_csv(tmp_path / "t.csv"))["id"].to_pylist() == ["a", "b", "c"]
    graph = gt.Graph.from_frame(Table(pa.table({"src": [1, 2], "dst": [2, 3]})))
    graph.advance(insert=Table(pa.table({"src": [3], "dst": [4]})))
    assert graph.num_edges == 3


def test_all_that_returns_tables_returns_such() -> None:
    graph = gt.Graph(["a", "b"], ["b", "c"], weight=[1.0, 2.0])
    live, run = graph.maintain(gt.algorithms.PageRank()), graph.run(gt.algorithms.PageRank())
    views = graph.collection({"one": "weight < 2", "all": "true"}).run(gt.algorithms.PageRank())
    query = graph.query("near", gt.queries.Hops("a", 2))
    changed = live.advance(insert=[("c", "a", 1.0)])
    held: list[Any] = [graph.edges(), graph.vertices(), live.table(), live.changes(), changed]
    held += [run.table(), run.workers(), query.table(), query.changes()]
    held += [
        *graph.query_changes().values(),
        graph.view("true").head(),
        graph.view("true").vertices(),
    ]
    held += [views.summary(), views.top(1), views.table(0), views.changes(0, 1), views.history("a")]
    held += [views.losses(1), views.record(), views.workers(), views.globals(), views.differences()]
    for table in held:
        assert isinstance(table, Table)
        assert "pyarrow" not in repr(table)
        assert table._repr_html_().startswith("<div><table>")
    for table in (views.table(0), views.history("a"), views.top(1), run.table(), live.table()):
        assert "rank" in table.column_names
    assert views.to_arrow().column_names == ["view", "id", "rank"]


@gt.program
class Named:
    """Results that are called like columns of tables."""

    view: int = 0
    place: int = 1
    least = gt.Min(int)

    def initialize(self, v: Any) -> None:
        v.view = 1
        v.place = 1

    def traverse(self, u: Any, e: Any, v: Any) -> None:
        v.least(u.view)

    def update(self, v: Any) -> None:
        v.view = min(v.view, v.least)


@pytest.mark.interpreted
def test_results_that_are_called_like_our_columns_are_told_apart() -> None:
    graph = gt.Graph(["a"], ["b"], weight=[1.0])
    run = graph.collection({"all": "true"}).run(Named)
    for table in (run.to_arrow(), run.history("a"), run.table("all")):
        assert {"result_view", "result_place"} <= set(table.column_names)
    assert run.top(1, "place").column_names[:4] == ["view", "place", "id", "result_place"]
