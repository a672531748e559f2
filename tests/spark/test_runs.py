"""Runs over collections that Spark made: every view against the naive twin, ids and labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import BFS, WCC, ShortestPaths
from tests.oracle import algorithms as naive
from tests.spark.test_collections import EDGE_ROWS, VERTEX_ROWS

pytestmark = pytest.mark.spark


@pytest.fixture
def session(spark: Any, tmp_path: Path) -> gt.Session:
    return gt.session(tmp_path / "data", spark=spark, progress=False)


@pytest.fixture
def graph(session: gt.Session) -> gt.CatalogGraph:
    ids = [row["id"] for row in VERTEX_ROWS]
    edges = [
        (ids[row["src"]], ids[row["dst"]], row["year"] or 0, float(at % 5))
        for at, row in enumerate(EDGE_ROWS)
    ]
    columns = ["src", "dst", "year", "weight"]
    return session.load(
        "random",
        edges=edges,
        edge_columns=columns,
        vertices=[(name,) for name in ids],
        vertex_columns=["id"],
    )


def naive_edges(view: gt.View, ids: list[Any]) -> list[naive.Edge]:
    rows = view.to_arrow().to_pylist()
    return [(ids.index(row["src"]), ids.index(row["dst"]), row["weight"]) for row in rows]


@pytest.mark.parametrize("order", ["auto", "chain", "tree", "manual"])
def test_every_view_equals_the_twin(graph: gt.CatalogGraph, order: Any) -> None:
    years = sorted({row["year"] or 0 for row in EDGE_ROWS})
    views = {f"upto-{year}": f"year <= {year}" for year in years}
    views |= {f"only-{year}": f"year = {year}" for year in years}
    views |= {f"without-{at}": f"weight != {at}.0" for at in range(5)}
    views["nothing"] = "year > 100000"
    made = graph.collection(f"c-{order}", views, order=order)
    ids = graph.vertices().column("id").to_pylist()
    for strategy in ("adaptive", "differential", "scratch"):
        labels = made.run(WCC, strategy=strategy, verify=4)
        paths = made.run(ShortestPaths(source=ids[0]), strategy=strategy)
        for view in made:
            edges = naive_edges(view, ids)
            found = naive.components(len(ids), edges)["component"]
            assert labels.values(view.name).tolist() == [ids[at] for at in found]
            found = naive.bellman_ford(len(ids), edges, [0])["dist"]
            assert paths.values(view.name).tolist() == found


def test_a_spark_frame_of_all_views(graph: gt.CatalogGraph) -> None:
    run = graph.collection("two", {"all": "true", "some": "weight < 2.0"}).run(WCC)
    frame = run.to_spark()
    assert frame.columns == ["view", "id", "component"]
    rows = sorted(map(tuple, frame.collect()))
    assert rows == sorted(tuple(row.values()) for row in run.to_arrow().to_pylist())


def test_vertices_of_several_labels_go_by_both(session: gt.Session) -> None:
    graph = session.load(
        "labelled",
        vertices={"Person": [{"id": 1}, {"id": 2}], "Forum": [{"id": 1}]},
        edges={
            ("Person", "knows", "Person"): [{"src": 1, "dst": 2}],
            ("Person", "joins", "Forum"): [{"src": 2, "dst": 1}],
        },
    )
    made = graph.collection("labels", {"all": "true", "knows": "label = 'knows'"})
    run = made.run(BFS(source=("Person", 1)))
    rows = {(row["label"], row["id"]): row["hops"] for row in run.table("all").to_pylist()}
    assert rows == {("Person", 1): 0.0, ("Person", 2): 1.0, ("Forum", 1): 2.0}
    assert run.history(("Forum", 1)).column("hops").to_pylist() == [2.0, float("inf")]
    with pytest.raises(gt.GraphtideError, match="names a vertex that is not there: 1"):
        made.run(BFS(source=1))
    check_named(made)


def check_named(made: gt.Collection) -> None:
    """Vertices that results name have labels too, wherever the run was."""
    named = {"all": [("Person", 1)] * 3, "knows": [("Person", 1)] * 2 + [("Forum", 1)]}
    for run in (made.run(WCC), made.run(WCC, name="shards", on="shards")):
        assert run.values("knows").tolist() == named["knows"]
        table = run.table("all")
        assert table.column_names == ["id", "label", "component", "component_label"]
        frame = run.to_spark()
        assert frame.columns == ["view", "id", "label", "component", "component_label"]
        for rows in (frame.toArrow(), run.to_arrow()):
            keys = [("view", "ascending"), ("label", "descending"), ("id", "ascending")]
            told = rows.sort_by(keys).select(["component_label", "component"]).to_pylist()
            assert [tuple(row.values()) for row in told] == [*named["all"], *named["knows"]]
        forum = run.history(("Forum", 1)).select(["component_label", "component"]).to_pylist()
        assert [tuple(row.values()) for row in forum] == [("Person", 1), ("Forum", 1)]
        assert run.components("all").to_pylist() == [{"id": 1, "label": "Person", "size": 3}]


def test_a_graph_loaded_anew_is_noticed(session: gt.Session, graph: gt.CatalogGraph) -> None:
    made = graph.collection("one", {"all": "true"})
    made.run(WCC)
    session.load("random", edges=[(1, 2)], replace=True)
    with pytest.raises(gt.GraphtideError, match="loaded anew"):
        session.results("one-WCC")
    with pytest.raises(gt.GraphtideError, match="loaded anew"):
        made.run(WCC)
