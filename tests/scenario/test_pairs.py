"""Programs on pairs of vertices: tables by both ids, whatever the mode, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import PairDistances, PairHops, ShortestPaths
from graphtide.run.live.results import PairRows, row_names
from tests.oracle.programs import run_pairs

pytestmark = pytest.mark.interpreted

PAIRS = [("a", "d"), ("a", "c"), ("d", "a"), ("a", "d"), ("b", "b")]
ROWS = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "d", 3.0), ("a", "d", 9.0)]


@gt.program
class PairRanks:
    """What a walker from each source brings to its target in three steps: sums, so exact mode."""

    pairs: gt.Pairs
    rank: float
    total = gt.Sum(float)
    iterations = 3

    def initialize(self, v):  # type: ignore[no-untyped-def]
        v.rank = 1.0 if v == self.pairs.source else 0.0

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.total(u.rank / u.out_degree)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.rank = (0.15 if v == self.pairs.source else 0.0) + 0.85 * v.total


@pytest.fixture
def graph() -> gt.Graph:
    src, dst, weight = zip(*ROWS, strict=True)
    return gt.Graph(list(src), list(dst), weight=list(weight))


def distances(live: gt.Live) -> dict[Any, float]:
    rows = live.table().to_pylist()
    return {(row["source"], row["target"]): row["distance"] for row in rows}


@pytest.mark.parametrize("mode", ["auto", "exact"])
def test_tables_have_a_row_a_pair(graph: gt.Graph, mode: Any) -> None:
    live = graph.maintain(PairDistances(pairs=PAIRS), mode=mode)
    first = {("a", "d"): 6.0, ("a", "c"): 3.0, ("d", "a"): gt.inf, ("b", "b"): 0.0}
    assert distances(live) == first
    told = live.advance(insert=[("d", "new", 1.0), ("new", "a", 1.0)], delete=[("b", "c")])
    assert told.to_pylist() == [
        {"source": "a", "target": "d", "old": 6.0, "new": 9.0},
        {"source": "a", "target": "c", "old": 3.0, "new": gt.inf},
        {"source": "d", "target": "a", "old": gt.inf, "new": 2.0},
    ]
    assert live.at(("d", "a")) == {"distance": 2.0}
    assert live["distance"].tolist() == [9.0, gt.inf, 2.0, 0.0]
    assert live.touched > 0
    live.verify()
    live.rollback()
    assert distances(live) == first
    assert live.changes().num_rows == 0


def test_sums_from_each_source(graph: gt.Graph) -> None:
    live = graph.maintain(PairRanks(pairs=PAIRS))
    graph.advance(insert=[("d", "a", 1.0)], delete=[("b", "c")])
    edges = [(0, 1, {}), (2, 3, {}), (0, 3, {}), (3, 0, {})]
    numbers = [("abcd".index(one), "abcd".index(other)) for one, other in dict.fromkeys(PAIRS)]
    expected = run_pairs(PairRanks.plan, {"pairs": numbers}, 4, edges)["rank"]
    np.testing.assert_allclose(live["rank"], expected, rtol=1e-12)


def test_runs_keep_a_distance_a_pair(graph: gt.Graph) -> None:
    versions = {"all": [0, 1, 2, 3], "near": [0, 1, 2], "far": [3]}
    run = graph.run(PairHops(pairs=PAIRS), versions)
    assert run.of_pairs
    assert run.to_arrow().column_names == ["view", "source", "target", "distance"]
    assert run.history(("a", "d")).to_pydict() == {
        "view": ["all", "near", "far"],
        "distance": [1.0, 3.0, 1.0],
    }
    assert run.table("near").column_names == ["source", "target", "distance"]
    assert run.changes("all", "near").to_pylist() == [
        {"source": "a", "target": "d", "old": 1.0, "new": 3.0}
    ]
    assert run.summary().column("reached").to_pylist() == [3, 3, 2]
    assert not graph.run(ShortestPaths(source="a"), versions).of_pairs


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ([], "cannot be []"),
        ([("a", "b", "c")], "cannot be"),
        (["ab"], "cannot be"),
        ([("a", None)], "cannot be"),
        (3, "cannot be 3"),
        ([("a", "nobody")], "not there: 'nobody'"),
    ],
)
def test_pairs_that_cannot_be(graph: gt.Graph, given: Any, what: str) -> None:
    with pytest.raises(gt.GraphtideError) as caught:
        graph.maintain(PairDistances(pairs=given))
    assert what in str(caught.value)


def test_pairs_that_are_asked_for_in_vain(graph: gt.Graph) -> None:
    live = graph.maintain(PairDistances(pairs=PAIRS))
    for wrong, what in ((("b", "a"), "not among"), ("a", "no pair"), (("a", "x"), "no vertex")):
        with pytest.raises(gt.GraphtideError, match=what):
            live.at(wrong)


def test_arrays_of_pairs_are_lists_of_them(graph: gt.Graph) -> None:
    numbers = gt.Graph([0, 1, 2], [1, 2, 3])
    live = numbers.maintain(PairHops(pairs=np.array([[0, 3], [3, 0]])))
    assert live["distance"].tolist() == [3.0, gt.inf]


@pytest.mark.parametrize(
    "make", [lambda: ShortestPaths(source="new"), lambda: PairDistances(pairs=[("new", "a")])]
)
def test_no_rollback_beyond_a_vertex_that_a_program_is_given(
    graph: gt.Graph, make: Callable[[], Any]
) -> None:
    graph.advance(insert=[("new", "a", 1.0)])
    live = graph.maintain(make())
    with pytest.raises(gt.GraphtideError, match="cannot be rolled back"):
        graph.rollback()
    live.verify()
    live.close()
    graph.rollback()
    assert graph.num_vertices == 4


class LabelledVertices:
    """Vertices that need a label beside their id, as graphs of the catalog have them."""

    @property
    def vertices(self) -> LabelledVertices:
        return self

    def columns(self, numbers: Any = None) -> dict[str, pa.Array]:
        chosen = pa.array(range(4) if numbers is None else numbers)
        ids = {"id": pa.array([1, 2, 1, 2]), "label": pa.array(["p", "p", "q", "q"])}
        return {name: column.take(chosen) for name, column in ids.items()}

    def number(self, row: Any) -> int:
        return [("p", 1), ("p", 2), ("q", 1), ("q", 2)].index(row)


def test_pairs_of_labelled_vertices() -> None:
    rows = PairRows(LabelledVertices(), [(0, 3), (2, 1)])
    assert pa.table(rows.columns()).to_pylist() == [
        {"source": 1, "source_label": "p", "target": 2, "target_label": "q"},
        {"source": 1, "source_label": "q", "target": 2, "target_label": "p"},
    ]
    assert rows.number((("q", 1), ("p", 2))) == 1
    assert row_names(rows, np.array([1])) == ["1 to 2"]
