"""Runs over stored collections, as users make and read them, without Spark."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import BFS, WCC, KHops, ShortestPaths
from graphtide.api.session import Session
from graphtide.store.parts import PartsOnDisk
from tests.oracle import algorithms as naive
from tests.scenario.stored import CALLS, PEOPLE

IDS = [row["id"] for row in PEOPLE]


@pytest.fixture
def session(data: Path) -> Session:
    return gt.session(data, progress=False)


@pytest.fixture
def years(session: Session) -> gt.Collection:
    return session.collection("years")


def edges(view: str) -> list[naive.Edge]:
    last = int(view.split("-")[1])
    return [(row["src"], row["dst"], 1.0) for row in CALLS if row["year"] <= last]


@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch"])
def test_every_view_of_a_stored_collection(years: gt.Collection, strategy: Any) -> None:
    run = years.run(BFS(source="Zoë"), strategy=strategy, verify=3)
    assert run.finished
    assert len(run) == 30
    # All tables first: none may be overwritten by those that are asked for behind it.
    tables = {view: run.table(view) for view in years.names}
    for view, table in tables.items():
        hops = naive.bfs(3, edges(view), 1)["hops"]
        assert table.to_pydict() == {"id": IDS, "hops": hops}


def test_results_are_found_again_by_name(session: Session, years: gt.Collection) -> None:
    made = years.run(WCC)
    found = session.results("years-WCC")
    assert session.runs() == ["years-WCC"]
    assert found.to_arrow() == made.to_arrow()
    assert (found.program, found.collection, found.fields) == ("WCC()", "years", ("component",))
    assert "30 views" in repr(found)
    session.delete_run("years-WCC")
    assert session.runs() == []
    with pytest.raises(gt.GraphtideError, match="no run named"):
        session.results("years-WCC")


def test_a_run_replaces_the_one_before(session: Session, years: gt.Collection) -> None:
    years.run(WCC, name="x")
    years.run(BFS(source="ann"), name="x")
    assert session.results("x").program == "BFS(source='ann')"


def test_every_form_of_the_tidy_table(years: gt.Collection, tmp_path: Path) -> None:
    run = years.run(BFS(source="ann"))
    tidy = run.to_arrow()
    assert tidy.column_names == ["view", "id", "hops"]
    assert tidy.num_rows == 30 * 3
    assert pa.table(run) == tidy
    assert run.to_pandas().values.tolist() == [list(row.values()) for row in tidy.to_pylist()]
    assert run.to_polars().rows() == polars.DataFrame(run).rows()
    with open(run.to_csv(tmp_path / "hops.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["view"] for row in rows[:4]] == ["upto-2010"] * 3 + ["upto-2011"]
    assert [row["id"] for row in rows[:3]] == IDS
    assert math.isinf(float(rows[2]["hops"]))


def test_summaries_suit_the_program(years: gt.Collection) -> None:
    components = years.run(WCC).summary().to_pylist()
    assert components[0] == {
        "view": "upto-2010",
        "edges": 2,
        "components": 2,
        "largest": 2,
        "single": 1,
    }
    hops = years.run(BFS(source="ann")).summary().to_pylist()
    assert hops[0] == {
        "view": "upto-2010",
        "edges": 2,
        "reached": 2,
        "least": 0.0,
        "greatest": 1.0,
        "mean": 0.5,
    }
    assert years.run(WCC).components("upto-2010").to_pydict() == {
        "id": ["ann", "<b>李雷</b>"],
        "size": [2, 1],
    }
    with pytest.raises(gt.GraphtideError, match="does not compute components"):
        years.run(BFS(source="ann")).components(0)


@pytest.mark.interpreted
def test_places_and_how_they_moved(years: gt.Collection) -> None:
    top = years.run(KHops(sources=["ann"], k=1)).top(1)
    assert top.column_names == ["view", "place", "id", "hops", "rose", "new"]
    assert top.num_rows == 30
    assert top.column("rose")[0].as_py() is None


def test_histories_and_changes(years: gt.Collection) -> None:
    run = years.run(BFS(source="ann"))
    history = run.history("<b>李雷</b>").to_pydict()
    assert history["view"] == years.names
    assert history["hops"] == [naive.bfs(3, edges(view), 0)["hops"][2] for view in years.names]
    assert run.changes("upto-2010", "upto-2039").to_pylist() == [
        {"id": "<b>李雷</b>", "old": math.inf, "new": 2.0}
    ]
    assert run.changes(3, 3).num_rows == 0
    assert run.differences().column_names == ["view", "parent", "id", "old", "new"]


def test_the_record_tells_every_step(years: gt.Collection) -> None:
    record = years.run(WCC).record()
    assert record.column("view").to_pylist() == years.names
    assert record.column("edges").to_pylist() == [len(view) for view in years]
    assert set(record.column("state").to_pylist()) <= {"kept", "rebuilt", "fresh", "none"}
    assert np.isfinite(record.column("predicted_scratch").to_numpy()[1:]).all()
    assert (record.column("seconds").to_numpy() > 0).all()
    followed = years.run(WCC, strategy="differential")
    strategies = followed.record().column("strategy").to_pylist()
    assert strategies == ["scratch"] + ["differential"] * 29
    assert "29 steps differentially" in followed.explain()


def test_what_cannot_be_run_is_refused_before_anything_runs(
    session: Session, years: gt.Collection
) -> None:
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (BFS(source="zoe"), {}, "names a vertex that is not there"),
        (ShortestPaths(source="ann"), {}, "reads the edge property 'weight'"),
        (WCC, {"strategy": "fast"}, "strategy cannot be 'fast'"),
        (WCC, {"mode": "quick"}, "mode cannot be 'quick'"),
        (WCC, {"verify": 0}, "verify cannot be 0"),
        (WCC, {"name": "a/b"}, "cannot be the name of a run"),
        (WCC, {"resume": True}, "no run named 'years-WCC'"),
        ("WCC", {}, "is no program"),
    ]
    for program, options, message in refused:
        with pytest.raises(gt.GraphtideError, match=message):
            years.run(program, **options)
    with pytest.raises(gt.GraphtideError, match="has no parameter 'sorce'"):
        years.run(BFS(sorce="ann"))
    assert session.runs() == []


def test_only_the_same_can_be_resumed(years: gt.Collection) -> None:
    years.run(WCC, name="x")
    assert years.run(WCC, name="x", resume=True).finished
    with pytest.raises(gt.GraphtideError, match="cannot be resumed"):
        years.run(BFS(source="ann"), name="x", resume=True)


def test_a_full_disk_is_said_and_keeps_what_there_is(
    session: Session, years: gt.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any, part: Any) -> None:
        if len(self):
            raise gt.GraphtideError("no room")
        append(self, part)

    append = PartsOnDisk.append
    monkeypatch.setattr("graphtide.run.collection.runner._MOST_ROWS", 0)
    monkeypatch.setattr(PartsOnDisk, "append", full)
    with pytest.raises(gt.GraphtideError, match="no room"):
        years.run(BFS(source="ann"))
    monkeypatch.undo()
    run = session.results("years-BFS")
    assert 0 < len(run) < 30
    assert years.run(BFS(source="ann"), resume=True).finished


def test_a_single_view_is_a_collection_of_one(session: Session) -> None:
    run = session.collection("early").run(WCC)
    assert run.views == ["early"]
    assert run.summary().to_pylist()[0]["components"] == 1


def test_an_empty_graph(session: Session, data: Path) -> None:
    graph = gt.Graph([1], [2])
    run = graph.run(WCC, {"nothing": [], "all": [0]}, verify=1)
    assert run.summary().column("components").to_pylist() == [2, 1]


@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch"])
def test_several_versions_of_a_graph_without_vertices(strategy: Any) -> None:
    run = gt.Graph([], []).run(WCC(), {"one": [], "two": []}, strategy=strategy)
    assert [row["components"] for row in run.summary().to_pylist()] == [0, 0]


def test_versions_of_a_graph_in_memory_that_are_refused() -> None:
    graph = gt.Graph([1, 2], [2, 3])
    for versions, message in [
        ([[True]], "1 truth values for 2 edges"),
        ([[5]], "names the edge 5, which is not there"),
        (["x"], "cannot be 'x'"),
        ([], "no versions"),
    ]:
        with pytest.raises(gt.GraphtideError, match=message):
            graph.run(WCC, versions)
    graph.advance(delete=[0])
    assert graph.run(WCC, {"now": [1]}).values("now").tolist() == [1, 2, 2]
    with pytest.raises(gt.GraphtideError, match="no Spark"):
        graph.run(WCC, {"now": [1]}).to_spark()
