"""A program run once on a graph in memory, as it is now: by the definition, and apart from it."""

from __future__ import annotations

import numpy as np
import pytest

import graphtide as gt
from graphtide import algorithms
from graphtide.model.errors import InputError
from tests.oracle import algorithms as naive

pytestmark = pytest.mark.interpreted


def test_a_run_has_the_answer_of_the_definition_after_every_advance() -> None:
    pick = np.random.default_rng(5)
    src, dst = pick.integers(0, 9, (2, 30)).tolist()
    weights = (pick.integers(1, 9, 30) / 2).tolist()
    graph = gt.Graph(src, dst, vertices=range(9), weight=weights)
    kept = graph.maintain(algorithms.ShortestPaths(source=2))
    for at in range(6):
        edges = graph.edges().to_pylist()
        expected = naive.bellman_ford(
            9 + at, [(row["src"], row["dst"], row["weight"]) for row in edges], [2]
        )["dist"]
        run = graph.run(algorithms.ShortestPaths(source=2))
        assert run["dist"].tolist() == list(expected) == kept["dist"].tolist()
        gone = [(row["src"], row["dst"], row["weight"]) for row in edges[at : at + 4]]
        graph.advance(insert=[(at, 9 + at, 0.5), (9 + at, 1, 1.5)], delete=gone)


def test_results_stay_when_the_graph_goes_on() -> None:
    graph = gt.Graph(["a", "b"], ["b", "c"])
    run = graph.run(algorithms.WCC)
    graph.advance(insert=[("c", "d")], delete=[("a", "b")])
    assert run.table().to_pylist() == [{"id": name, "component": "a"} for name in "abc"]
    with pytest.raises(InputError, match="there is no vertex 'd'"):
        run.at("d")


def test_rows_that_walks_report_are_there() -> None:
    graph = gt.Graph([0, 1, 2, 2], [1, 2, 0, 3], time=[1, 2, 3, 4])
    run = graph.run(algorithms.Rings(length=3))
    assert run["total"] == 1
    kept = graph.maintain(algorithms.Rings(length=3))
    assert run.matches().to_pylist() == kept.matches().to_pylist() != []
    with pytest.raises(InputError, match="Rings has no matches 'others'"):
        run.matches("others")
    with pytest.raises(InputError, match="WCC has no matches"):
        graph.run(algorithms.WCC).matches()


def test_pairs_and_dataflows_run_once_too() -> None:
    graph = gt.Graph([0, 1, 2], [1, 0, 1])
    hops = graph.run(algorithms.PairHops(pairs=[(2, 0), (0, 2)])).table().to_pylist()
    assert [row["distance"] for row in hops] == [2, float("inf")]
    components = graph.run(algorithms.SCC)["component"].tolist()
    assert components == [0, 0, 2]


def test_words_of_several_versions_are_refused() -> None:
    graph = gt.Graph([0], [1])
    with pytest.raises(InputError, match="`strategy` is for several versions"):
        graph.run(algorithms.WCC, strategy="scratch")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="there are no versions to run on"):
        graph.run(algorithms.WCC, [])
