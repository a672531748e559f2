"""Tables as text: nothing lost without a width, nothing too long with one."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from graphtide.model.cells import COUNTS, VALUES, cell_text, visible
from graphtide.model.table_text import fitted_widths, table_lines
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
