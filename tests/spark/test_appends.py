"""Graphs that take appends, through Spark: what reads a graph sees the state that it is in."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.model.errors import InputError
from graphtide.run.append import merging
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
    monkeypatch.setattr(merging, "is_merge_due", lambda stored: False)
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
