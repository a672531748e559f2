"""Graphs that take appends, through Spark: what reads a graph sees the state that it is in."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pandas
import pytest
from pyspark.sql import DataFrame, SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.model.errors import InputError
from graphtide.run.append import append
from graphtide.spark.gateway import SparkGateway
from tests.changing import begin_graph, random_append
from tests.oracle.changing_graph import ChangingGraph, Row

pytestmark = pytest.mark.spark


def by_content(rows: list[Row]) -> list[str]:
    return sorted(str(sorted(row.items())) for row in rows)


def rows_of(frame: DataFrame) -> list[str]:
    return by_content(frame.toArrow().to_pylist())


def test_frames_views_and_groups_are_those_of_the_state(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append, "is_merge_due", lambda stored: False)
    pick = random.Random(7)
    _, known = begin_graph(tmp_path, pick, edges=30)
    session = Session(tmp_path, lambda: SparkGateway(lambda: spark), progress=False)
    graph = session.graph("g")
    early = graph.view("early", "year <= 2001 and dst.age > 0")
    then = ChangingGraph(known.vertices, known.edges)
    for _ in range(6):
        change = random_append(pick, known)
        graph.append(**change)
        known.append(**change)
    assert graph._stored.has_gaps
    assert rows_of(graph.edges_to_spark()) == by_content(known.edges)
    assert rows_of(graph.vertices_to_spark()) == by_content(known.vertices)
    check_early(graph.view("now", "year <= 2001 and dst.age > 0"), known)
    check_early(early, then)
    assert rows_of(early.to_spark()) == by_content(early.to_arrow().to_pylist())
    assert session.collection("early").stale == 6
    years = session.collection("early")
    years.refresh()
    assert years.stale == 0
    check_early(years[0], known)
    windows = graph.collection("windows", "expanding windows over year width 1")
    graph.append([(1, 2, 2010, "call")])
    known.append([{"src": 1, "dst": 2, "year": 2010, "kind": "call"}])
    before = len(windows)
    assert windows.refresh() == f"brought up to date with {len(windows) - before} new views"
    assert len(windows) > before
    graph.merge(renumber=True)
    assert years.refresh() == "made again"
    check_early(years[0], known)
    cities = graph.group("cities", by=["city"], vertices={"people": "count(*)"})
    counts = {row["city"]: row["people"] for row in cities.vertices().to_pylist()}
    assert counts == {
        city: sum(row["city"] == city for row in known.vertices)
        for city in {row["city"] for row in known.vertices}
    }


def check_early(view: gt.View, known: ChangingGraph) -> None:
    ages = {row["id"]: row["age"] for row in known.vertices}
    expected = [
        row
        for row in known.edges
        if row["year"] is not None and row["year"] <= 2001 and (ages[row["dst"]] or 0) > 0
    ]
    assert view.to_arrow().to_pylist() == expected


def test_files_are_read_in_the_types_of_the_graph(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(tmp_path / "data", lambda: SparkGateway(lambda: spark), progress=False)
    noon = dt.datetime(2020, 1, 2, 12, tzinfo=dt.UTC)
    first = [{"src": "a", "dst": "b", "code": "007", "n": 1.5, "at": noon}]
    graph = session.load("g", edges=first)
    (tmp_path / "new.csv").write_text(
        "src,dst,code,n,at\nb,9,08,2,2020-01-02T12:00:00Z\nb,c,09,,\n"
    )
    (tmp_path / "gone.csv").write_text("src,dst,code\na,b,007\n")
    graph.append(edges=tmp_path / "new.csv", delete=tmp_path / "gone.csv")
    rows: list[dict[str, Any]] = [
        {"src": "b", "dst": "9", "code": "08", "n": 2.0, "at": noon},
        {"src": "b", "dst": "c", "code": "09", "n": None, "at": None},
    ]
    assert graph.edges().to_pylist() == rows
    assert [row["id"] for row in graph.vertices().to_pylist()] == ["a", "b", "9", "c"]
    (tmp_path / "bad.csv").write_text("src,dst,code,n\nb,a,1,2\nb,,1,2\nb,a,1,many\n")
    with pytest.raises(InputError, match="2 bad edge rows"):
        graph.append(edges=tmp_path / "bad.csv")
    assert session.graph("g").edges().to_pylist() == rows
    graph.append(edges=tmp_path / "bad.csv", on_bad_rows="quarantine")
    assert graph.num_edges == 3
    graph.append(update=[{"src": "b", "dst": "c", "at": noon}])
    read = {row["code"]: row["at"] for row in graph.edges_to_spark().toArrow().to_pylist()}
    assert read == {"08": noon, "09": noon, "1": None}
    assert graph.quarantine().column("line").to_pylist() == [3, 4]
    assert not list((tmp_path / "data" / "graphs" / "g").glob("*.partial"))


@pytest.mark.parametrize(("vertex", "edge"), [(str, int), (int, str), (int, int)])
def test_edges_may_have_an_id_of_their_own(
    vertex: type, edge: type, spark: SparkSession, tmp_path: Path
) -> None:
    session = Session(tmp_path / "data", lambda: SparkGateway(lambda: spark), progress=False)
    names = {str: ["x1", "x2", "x3"], int: [7, 8, 9]}
    ends, ids = names[vertex], names[edge]
    rows = [{"src": ends[at], "dst": ends[at + 1], "id": ids[at]} for at in range(2)]
    graph = session.load("g", edges=rows)
    later = [{"src": ends[2], "dst": ends[0], "id": ids[2]}]
    pandas.DataFrame(later).to_csv(tmp_path / "later.csv", index=False)
    assert graph.append(edges=tmp_path / "later.csv").taken == 1
    assert graph.append(edges=later).taken == 1
    assert graph.edges().to_pylist() == [*rows, *later, *later]
    assert graph.num_vertices == 3


def test_edges_have_the_names_that_the_user_gave_their_ends(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = Session(tmp_path, lambda: SparkGateway(lambda: spark), progress=False)
    (tmp_path / "e.csv").write_text("from,to,src,w\nann,bob,web,1\nbob,cat,app,2\n")
    graph = session.load("g", edges=tmp_path / "e.csv")
    rows = [
        {"from": "ann", "to": "bob", "src_": "web", "w": 1},
        {"from": "bob", "to": "cat", "src_": "app", "w": 2},
    ]
    assert graph.schema.ends == ("from", "to")
    assert graph.edges().to_pylist() == rows
    (tmp_path / "more.csv").write_text("to,from,w\nann,cat,3\ndan,,4\n")
    with pytest.raises(InputError, match=r"1 × missing src \(column 'from'\)"):
        graph.append(tmp_path / "more.csv")
    done = graph.append(tmp_path / "more.csv", at_most=1)
    assert (done.taken, done.set_aside) == (1, 1)
    assert done.quarantine().column("text").to_pylist() == ["dan,,4"]
    rows.append({"from": "cat", "to": "ann", "src_": None, "w": 3})
    assert graph.edges().to_pylist() == rows
    assert rows_of(graph.edges_to_spark()) == by_content(rows)
    heavy = graph.view("heavy", "w >= 2 and src.id <> 'cat'")
    assert heavy.to_arrow().to_pylist() == rows[1:2]
    assert heavy.to_spark().columns == ["from", "to", "src_", "w"]
    assert sorted(graph.to_networkx().edges()) == [("ann", "bob"), ("bob", "cat"), ("cat", "ann")]
    graph.append([{"from": "eve", "to": "ann", "w": 4}])
    graph.append(delete=[("eve", "ann")], update=[{"from": "cat", "to": "ann", "w": 5}])
    rows[2]["w"] = 5
    graph.merge(renumber=True)
    assert graph.edges().to_pylist() == rows
    memory = graph.to_memory()
    assert memory.edges().column_names[:3] == ["edge", "from", "to"]
    graph.append([{"from": "eve", "to": "ann", "src": "web"}])
    assert graph.edges().to_pylist()[3] == {"from": "eve", "to": "ann", "src_": "web", "w": None}


def test_both_words_for_an_end_are_understood(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(tmp_path, lambda: SparkGateway(lambda: spark), progress=False)
    rows = [{"u": "a", "x": "b", "key": 1}]
    graph = session.load("g", edges=rows, source="u", target="x")
    assert graph.edges().to_pylist() == rows
    with pytest.raises(InputError, match="source='u' and src='u' say the same thing"):
        session.load("h", edges=rows, source="u", src="u", target="x")
    graph.append([{"a": "b", "b": "a", "key": 2}], source="a", target="b")
    assert graph.edges().to_pylist()[1] == {"u": "b", "x": "a", "key": 2}
    graph.append([{"src": "c", "dst": "a"}])
    assert graph.edges().to_pylist()[2]["u"] == "c"
    tables = {"one": [{"from": "a", "to": "b"}], "other": [{"u": "a", "v": "b"}]}
    two = session.load("two", edges=tables)
    assert two.edges().column_names[:2] == ["src", "dst"]


def test_what_the_graph_refuses_is_told_by_its_line(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(tmp_path / "data", lambda: SparkGateway(lambda: spark), progress=False)
    vertices = [("a",), ("b",)]
    graph = session.load("g", [{"src": "a", "dst": "b", "_n": 1}], vertices=vertices)
    one, two, people = (tmp_path / name for name in ("1.csv", "2.csv", "p.csv"))
    one.write_text("src,dst,_n\na,b,2\n\na,,3\na,z,4\n")
    two.write_text("src,dst,_n\na,b,5\ny,b,6\n")
    people.write_text("id\nc\nd\nc\n")
    with pytest.raises(InputError, match=f"{one}, line 5: unknown dst: src='a', dst='z', _n=4"):
        graph.append([one, two], on_bad_rows="quarantine", at_most=2)
    done = graph.append([one, two], vertices=people, at_most=10)
    told = [(row["file"], row["line"], row["reason"]) for row in done.quarantine().to_pylist()]
    assert told == [
        (str(people), 4, "duplicate vertex"),
        (str(one), 4, "missing dst"),
        (str(one), 5, "unknown dst"),
        (str(two), 3, "unknown src"),
    ]
    assert graph.edges().column("_n").to_pylist() == [1, 2, 5]


def test_a_load_counts_and_takes_a_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(tmp_path, lambda: SparkGateway(lambda: spark), progress=False)
    lines = ["src,dst,n", *(f"a,b,{at}" for at in range(40)), "a,b,x", "a,,7"]
    (tmp_path / "e.csv").write_text("\n".join(lines))
    graph = session.load("g", tmp_path / "e.csv", on_bad_rows="quarantine", batch="monday")
    loaded = graph.loaded
    assert loaded is not None
    assert (loaded.taken, loaded.vertices, loaded.set_aside) == (40, 2, 2)
    graph.append([("a", None)], on_bad_rows="quarantine")
    assert loaded.quarantine().column("line").to_pylist() == [42, 43]
    again = session.load("g", tmp_path / "none.csv", batch="monday").loaded
    assert again is not None
    assert again.applied_before
    assert graph.append(tmp_path / "none.csv", id="monday").applied_before
    (tmp_path / "t.csv").write_text("\n".join([*lines[:10], "a,b,x"]))
    with pytest.warns(UserWarning, match=r"'n' is text: 9 of 10 values .* line 11: 'x'"):
        session.load("text", tmp_path / "t.csv")
    (answer,) = session.execute(f"load graph text2 from '{tmp_path / 't.csv'}'")
    assert "'n' is text" in answer.notes[0]
    assert "9 edges taken" not in answer.text
    assert answer.text.startswith("10 edges taken, 2 new vertices")


def test_frames_with_odd_values_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(tmp_path, lambda: SparkGateway(lambda: spark), progress=False)
    amounts: list[Any] = [1.5] * 40
    frame = pandas.DataFrame({"src": "a", "dst": "b", "amount": amounts}).astype(object)
    frame.loc[7, "amount"] = "abc"
    with pytest.raises(InputError, match="the column 'amount' holds values of several types"):
        session.load("g", frame)
    texts = pandas.DataFrame({"src": "a", "dst": "b", "amount": frame["amount"].astype(str)})
    with pytest.warns(UserWarning, match="39 of 40 texts are numbers, but not row 7: 'abc'"):
        session.load("g", texts)
    session.load("g", texts, types={"amount": "string"}, replace=True)
    rows = [{"src": 1, "dst": 2, "n": 1}] * 3 + [{"src": 1, "dst": 2, "n": "x"}]
    with pytest.raises(InputError, match="row 3: 'x'"):
        session.load("h", rows)
