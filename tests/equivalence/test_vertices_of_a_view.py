"""Summaries and tables of part of the vertices, and losses, are those of a naive recomputation."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import BFS, WCC, DegreeStatistics, PageRank
from tests.equivalence.run_cases import RunCase, make_run_case
from tests.oracle import summaries as naive

ORDERS = ("manual", "tree", "chain")


def made(seed: int) -> tuple[RunCase, gt.Graph]:
    case = make_run_case(random.Random(f"vertices of a view {seed}"))
    return case, case.graph()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(6))
def test_summaries_of_touched_vertices(seed: int, order: Any) -> None:
    case, graph = made(seed)
    parts = graph.run(WCC, case.versions, order=order)
    hops = graph.run(BFS(source="v0"), case.versions, order=order)
    rows = zip(
        parts.summary(vertices="touched").to_pylist(),
        hops.summary(vertices="touched").to_pylist(),
        strict=True,
    )
    for at, (components, reached) in enumerate(rows):
        name = components["view"]
        touched = sorted(naive.touched(case.edges(name)))
        labels, far = parts.values(at).tolist(), hops.values(at).tolist()
        assert components == {
            "view": name,
            "edges": len(case.edges(name)),
            "vertices": len(touched),
            **naive.components([labels[vertex] for vertex in touched]),
        }
        figures = naive.numbers([far[vertex] for vertex in touched], math.inf)
        del figures["not_finite"]
        assert {name: reached[name] for name in figures} == figures
        table = hops.table(name, vertices="touched").to_pylist()
        assert table == [{"id": f"v{vertex}", "hops": far[vertex]} for vertex in touched]
        sizes = parts.components(name, vertices="touched").column("size").to_pylist()
        assert sum(sizes) == len(touched)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(6))
def test_losses_of_components_and_distances(seed: int, order: Any) -> None:
    case, graph = made(seed)
    versions = {"all": [True] * len(case.campaign.ends), **case.versions}
    parts = graph.run(WCC, versions, order=order)
    hops = graph.run(BFS(source="v0"), versions, order=order)
    before, far = parts.values("all").tolist(), hops.values("all").tolist()
    lost = parts.losses("all").to_pylist()
    assert sorted(row["view"] for row in lost) == sorted(case.versions)
    for row in lost:
        after = parts.values(row["view"]).tolist()
        assert row["cut_off"] == naive.cut_off(before, after)
        assert row["components_more"] == len(set(after)) - len(set(before))
        assert row["edges_lost"] == len(case.campaign.ends) - len(case.edges(row["view"]))
    assert [row["cut_off"] for row in lost] == sorted(
        (row["cut_off"] for row in lost), reverse=True
    )
    for row in hops.losses("all").to_pylist():
        found = naive.farther(far, hops.values(row["view"]).tolist())
        assert {name: row[name] for name in ("lost", "worse", "mean_worse")} == {
            name: found[name] for name in ("lost", "worse", "mean_worse")
        }


@pytest.mark.interpreted
def test_losses_of_numbers_and_of_several_results() -> None:
    graph = gt.Graph(list("aab"), list("bcc"))
    versions = {"all": [0, 1, 2], "less": [0], "none": []}
    ranks = graph.run(PageRank, versions)
    (worst, _) = ranks.losses("all").to_pylist()
    sums = {view: math.fsum(ranks.values(view)) for view in ("all", "none")}
    assert worst["view"] == "none"
    assert worst["lost"] == pytest.approx(sums["all"] - sums["none"])
    degrees = graph.run(DegreeStatistics, versions)
    field = degrees.fields[1]
    assert degrees.losses("all", field=field).column("lost").to_pylist() == [3, 2]
    assert ranks.losses("none").column("view").to_pylist() != []


@pytest.mark.interpreted
def test_what_cannot_be_chosen() -> None:
    run = gt.Graph(["a"], ["b"]).run(WCC, {"all": [0]})
    with pytest.raises(gt.GraphtideError, match="use 'touched' or 'all'"):
        run.summary(vertices="some")  # type: ignore[arg-type]
    with pytest.raises(gt.GraphtideError, match="no labels to choose by"):
        run.summary(label="Person")
    with pytest.raises(gt.GraphtideError, match="has no view 'every'"):
        run.losses("every")
    pairs = gt.Graph(["a"], ["b"]).run(gt.algorithms.PairHops(pairs=[("a", "b")]), {"all": [0]})
    with pytest.raises(gt.GraphtideError, match="pairs of vertices"):
        pairs.summary(vertices="touched")
