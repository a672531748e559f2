"""A program run once on a stored graph: over its lean graph or in memory, with the same answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphtide as gt
from graphtide import algorithms
from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.catalog import graph_runs
from graphtide.store.catalog import Catalog
from tests.graphs import write_graph
from tests.oracle import algorithms as naive

pytestmark = pytest.mark.interpreted

SCHEMA = GraphSchema(
    id_type=PropertyType.STRING,
    vertex=(Property("size", PropertyType.INT),),
    edge=(
        Property("weight", PropertyType.FLOAT),
        Property("count", PropertyType.INT),
        Property("note", PropertyType.STRING),
    ),
)
NAMES = [f"v{number}" for number in range(12)]


def rows(seed: int, count: int = 40) -> list[dict[str, object]]:
    pick = np.random.default_rng(seed)
    src, dst = pick.integers(0, len(NAMES), (2, count)).tolist()
    weights, counts = pick.integers(1, 9, (2, count)).tolist()
    return [
        {"src": one, "dst": other, "weight": weight / 2, "count": number, "note": "x"}
        for one, other, weight, number in zip(src, dst, weights, counts, strict=True)
    ]


@pytest.fixture
def session(tmp_path: Path) -> gt.Session:
    vertices = [{"id": name, "size": number} for number, name in enumerate(NAMES)]
    write_graph(Catalog(tmp_path), "net", SCHEMA, vertices, rows(1))
    return gt.session(tmp_path)


def naive_edges(graph: gt.CatalogGraph) -> naive.Edges:
    number = {name: at for at, name in enumerate(graph.vertices()["id"].to_pylist())}
    return [
        (number[row["src"]], number[row["dst"]], row["weight"]) for row in graph.edges().to_pylist()
    ]


def test_both_forms_give_the_answer_of_the_definition(session: gt.Session) -> None:
    graph = session.graph("net")
    edges = naive_edges(graph)
    expected = naive.bellman_ford(12, edges, [3])["dist"]
    for lean in (True, False, None):
        run = graph.run(algorithms.ShortestPaths(source="v3"), lean=lean, workers=2 if lean else 1)
        assert run["dist"].tolist() == expected
        assert run.table()["id"].to_pylist() == NAMES
        assert run.at("v5") == {"dist": expected[5]}
        assert run.fields == ("dist",)
    ranks = graph.run(algorithms.PageRank(iterations=5), lean=True)["rank"]
    assert np.allclose(ranks, naive.page_rank(12, edges, 0.85, 5)["rank"], rtol=1e-12)


def test_workers_that_are_not_used_are_told(session: gt.Session) -> None:
    graph = session.graph("net")
    told = r"workers=3: one of them works, on the graph in memory \(a lean .*lean=True shares"
    with pytest.warns(gt.UnusedOptionWarning, match=told):
        graph.run(algorithms.WCC, workers=3)
    with pytest.warns(gt.UnusedOptionWarning, match=r"no vertex program\); only a lean graph is"):
        graph.run(algorithms.Triangles(), workers=3)


def test_explain_tells_the_form_and_the_reason(
    session: gt.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = session.graph("net")
    program = algorithms.WCC()
    assert "made from 4,000,000 edges on" in graph.run(program).explain()
    assert "in memory: asked for" in graph.run(program, lean=False).explain()
    monkeypatch.setattr(graph_runs, "LEAN_EDGES", 1)
    made, read = graph.run(program, workers=2).explain(), graph.run(program).explain()
    assert "made and read" in made
    assert "by 2 threads: components by union-find" in made
    rows = graph.run(program, workers=2).workers().to_pylist()
    assert [row["worker"] for row in rows] == ["alone", "thread 1", "thread 2"]
    assert graph.run(program, lean=False).workers()["worker"].to_pylist() == ["alone"]
    assert all(row["processor"] >= 0 for row in rows)
    assert "made and read" not in read
    monkeypatch.undo()
    assert "over the lean graph" in graph.run(program).explain(), "it is there"
    for other, reason in (
        (algorithms.Triangles(), "no vertex program"),
        (algorithms.PairHops(pairs=[("v1", "v2")]), "pairs"),
    ):
        assert reason in graph.run(other).explain()
        with pytest.raises(InputError, match="cannot run over a lean graph"):
            graph.run(other, lean=True)


def test_a_property_that_comes_later_is_added(session: gt.Session) -> None:
    graph = session.graph("net")
    assert "made and read" in graph.run(algorithms.WCC(), lean=True).explain()
    paths = algorithms.ShortestPaths(source="v0")
    assert "made and read" in graph.run(paths, lean=True).explain()
    assert "made and read" not in graph.run(algorithms.WCC(), lean=True).explain()
    assert "made and read" not in graph.run(paths, lean=True).explain()


def test_it_follows_the_states_of_the_graph(session: gt.Session) -> None:
    graph = session.graph("net")
    paths = algorithms.ShortestPaths(source="v3")
    graph.run(paths, lean=True)
    gone = [(row["src"], row["dst"]) for row in graph.edges().to_pylist()[5:9]]
    graph.append(edges=[("v3", "v11", 0.25, 1, "y")], delete=gone)
    changed = graph.edges().to_pylist()[0]
    change = {**changed, "weight": 0.125}
    graph.append(update=[change], match=["count"])
    run = graph.run(paths, lean=True)
    assert "made and read" in run.explain()
    assert run["dist"].tolist() == naive.bellman_ford(12, naive_edges(graph), [3])["dist"]
    assert run["dist"].tolist() == graph.run(paths, lean=False)["dist"].tolist()


def test_edges_that_a_program_cannot_take_are_refused_as_ever(session: gt.Session) -> None:
    graph = session.graph("net")
    graph.append(edges=[("v1", "v2", -1.0, 1, "y")])
    told = []
    for lean in (True, False):
        with pytest.raises(InputError, match="settles only where") as error:
            graph.run(algorithms.ShortestPaths(source="v3"), lean=lean)
        told.append(error.value.what)
        assert "'v1', 'v2', -1.0" in (error.value.where or "")
    assert told[0] == told[1]
    with pytest.raises(InputError, match="v99"):
        graph.run(algorithms.BFS(source="v99"), lean=True)
    with pytest.raises(InputError, match="workers cannot be 0"):
        graph.run(algorithms.BFS(source="v1"), workers=0)
    with pytest.raises(InputError, match="no result 'rank'"):
        _ = graph.run(algorithms.BFS(source="v1"))["rank"]


def test_a_graph_takes_its_lean_graph_with_it(session: gt.Session, tmp_path: Path) -> None:
    graph = session.graph("net")
    graph.run(algorithms.WCC(), lean=True)
    assert list((tmp_path / "lean").rglob("*.bin"))
    session.delete_graph("net")
    assert not list((tmp_path / "lean").rglob("*.bin"))
