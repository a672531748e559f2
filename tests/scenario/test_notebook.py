"""What a notebook shows: well-formed, escaped, and with the right numbers in it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.model.text import VALUES
from graphtide.run.catalog.listings import table_of
from graphtide.run.statements.answers import Answer
from graphtide.run.table import answer_html, bars_html, table_html
from tests.examples import examples


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html)


def rows_of(page: ElementTree.Element, table: int = 0) -> list[list[str]]:
    rows = page.findall(".//table")[table].findall(".//tr")
    return [[cell.text or "" for cell in row] for row in rows]


@pytest.fixture
def session(data: Path) -> gt.Session:
    return gt.session(data)


def test_a_session_lists_what_there_is(session: gt.Session) -> None:
    page = parsed(session._repr_html_())
    assert [row[0] for row in rows_of(page, 0)] == ["graph", "Calls", "Empty"]
    assert rows_of(page, 1)[1] == ["early", "Calls", "10", "predicate of early"]
    assert rows_of(page, 2)[1][:5] == ["years", "Calls", "30", "chain", "60"]


def test_a_run_shows_how_it_went_and_its_summary(session: gt.Session) -> None:
    run = session.collection("years").run(gt.algorithms.WCC)
    page = parsed(run._repr_html_())
    text = "".join(page.itertext())
    assert "WCC() on 'years'" in text
    assert "microseconds of each step" in text
    assert rows_of(page)[0] == ["view", "edges", "components", "largest", "single"]
    assert rows_of(page)[1] == ["upto-2010", "2", "2", "2", "1"]
    assert "... and 20 more" in text
    listed = parsed(session._repr_html_())
    assert rows_of(listed, 3)[1][:3] == ["years-WCC", "WCC()", "years"]


def test_an_empty_session(tmp_path: Path) -> None:
    page = parsed(gt.session(tmp_path)._repr_html_())
    assert page.findall(".//table") == []
    assert "nothing yet" in "".join(page.itertext())


def test_a_graph_shows_sizes_and_schema(session: gt.Session) -> None:
    page = parsed(session.graph("Calls")._repr_html_())
    assert "3 vertices, 60 edges" in "".join(page.itertext())
    assert ["edge", "year", "int"] in rows_of(page)


def test_a_view_shows_its_first_edges_escaped(session: gt.Session) -> None:
    page = parsed(session.collection("years")["upto-2030"]._repr_html_())
    rows = rows_of(page)
    assert rows[0] == ["src", "dst", "year", "note"]
    assert rows[1] == ["ann", "Zoë", "2010", "null"]
    assert rows[3] == ["<b>李雷</b>", "ann", "2012", "a & b"]
    assert len(rows) == 1 + 10
    assert "... and 32 more" in "".join(page.itertext())


def test_a_collection_shows_totals_bars_and_first_steps(session: gt.Session) -> None:
    page = parsed(session.collection("years")._repr_html_())
    assert rows_of(page, 0) == [
        ["arrangement", "differences", "at least"],
        ["given order", "60", ""],
        ["best chain", "60", "60"],
        ["tree", "60", "60"],
    ]
    assert rows_of(page, 1)[2] == ["upto-2011", "false", "4", "upto-2010", "2", "0"]
    bars = page.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(bars) == 29
    assert {bar.get("height") for bar in bars} == {"64.00"}


def test_an_answer_shows_text_table_and_notes(session: gt.Session) -> None:
    answer = Answer("one\n<two>", table_of(("a",), [(1000,)]), notes=("mind & see",))
    page = parsed(answer._repr_html_())
    assert [item.text for item in page.findall("p")] == ["one", "<two>", "note: mind & see"]
    assert rows_of(page) == [["a"], ["1,000"]]


def test_many_steps_share_bars() -> None:
    _, picture = bars_html([(f"v{at}", at) for at in range(1001)])
    bars = parsed(picture).findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(bars) == 167
    assert bars[-1].get("height") == "64.00"
    assert bars_html([("only", 5)]) == []
    assert bars_html([("a", 0), ("b", 0)]) == []


@settings(deadline=None, max_examples=examples(60))
@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=5), name=st.text(max_size=9))
def test_no_text_breaks_the_page(texts: list[str], name: str) -> None:
    html = table_html(table_of((name,), [(text,) for text in texts]), VALUES)
    assert len(parsed(f"<div>{html}</div>").findall(".//tbody/tr")) == len(texts)
    parsed(answer_html("\n".join(texts), None, texts))
