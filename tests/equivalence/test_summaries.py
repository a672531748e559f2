"""Summaries and leaders of every view are those of a naive recomputation from its whole results.

Over chains and trees of views, from differences and from whole results.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import graphtide as gt
from graphtide.run.collection import figures
from tests.equivalence.run_cases import make_run_case
from tests.equivalence.summary_cases import KINDS, NUMBERS, MadeRun, make_run
from tests.oracle import summaries as naive

WAYS = {"followed": 0, "whole": 1 << 60}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """All figures from differences, or all from whole results."""
    monkeypatch.setattr(figures, "_LITTLE", WAYS[request.param])
    return str(request.param)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_figures_are_those_of_a_recomputation(kind: str, seed: int, way: str) -> None:
    made = make_run(random.Random(f"summary {kind} {seed}"), kind)
    summary = made.run.summary()
    assert ("vertices" in summary.column_names) == bool(made.run._contents.steps.vertices.removed)
    counted = [len(made.there(at)) for at in range(len(made.values))]
    if "vertices" in summary.column_names:
        assert summary.column("vertices").to_pylist() == counted
        summary = summary.drop_columns(["vertices"])
    rows = summary.drop_columns(["view", "edges"]).to_pylist()
    expected = [_figures(made, kind, made.there(at)) for at in range(len(made.values))]
    assert rows == naive.without_zeros(expected)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "labels"])
@pytest.mark.parametrize("seed", range(12))
def test_leaders_are_those_of_a_recomputation(kind: str, seed: int, way: str) -> None:
    pick = random.Random(f"top {kind} {seed}")
    made, count = make_run(pick, kind), pick.choice((1, 3, 50))
    names = [made.run.views[at] for at in made.run._contents.finished_views()]
    told = ("value", "rose", "new")
    found = [
        (names.index(row["view"]), row["place"], int(row["id"][1:]), *(row[name] for name in told))
        for row in made.run.top(count).to_pylist()
    ]
    base = made.run._contents.base["value"].tolist()
    expected = naive.top(made.values, count, made.missing, base, made.removed)
    assert list(map(_comparable, found)) == list(map(_comparable, expected))


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("seed", range(12))
def test_losses_are_those_of_a_recomputation(kind: str, seed: int) -> None:
    made = make_run(random.Random(f"losses {kind} {seed}"), kind)
    names = [made.run.views[at] for at in made.run._contents.finished_views()]
    found = made.run.losses(names[0])
    expected = {}
    for at, name in enumerate(names[1:], start=1):
        both = set(range(len(made.values[0]))) - {*made.removed[0], *made.removed[at]}
        before, values = ([made.values[of][vertex] for vertex in sorted(both)] for of in (0, at))
        lost = naive.less(before, values)
        if made.missing is not None:
            lost = naive.farther(before, values, made.missing)
        expected[name] = lost
    rows = {row.pop("view"): row for row in found.drop_columns(["edges_lost"]).to_pylist()}
    told = naive.without_zeros(list(expected.values()))
    assert [rows[name] for name in expected] == told
    assert found.column_names[:3] == ["view", "edges_lost", "lost"]
    worst = [tuple(value or 0 for value in row.values()) for row in rows.values()]
    assert worst == sorted(worst, reverse=True)


@pytest.mark.parametrize("order", ["manual", "tree", "chain"])
@pytest.mark.parametrize("seed", range(4))
def test_summaries_of_real_runs(seed: int, order: Any, way: str) -> None:
    case = make_run_case(random.Random(f"summary of a run {seed}"))
    graph = case.graph()
    parts = graph.run(gt.algorithms.WCC, case.versions, order=order)
    hops = graph.run(gt.algorithms.BFS(source="v0"), case.versions, order=order)
    for at, row in enumerate(parts.summary().to_pylist()):
        found = {name: row[name] for name in ("components", "largest", "single")}
        assert found == naive.components(parts.values(at).tolist())
        assert row["edges"] == int(case.versions[row["view"]].sum())
    for at, row in enumerate(hops.summary().to_pylist()):
        found = {name: row[name] for name in ("reached", "least", "greatest", "mean")}
        expected = naive.numbers(hops.values(at).tolist(), math.inf)
        assert found | {"not_finite": 0} == expected


def test_labels_beyond_the_vertices_are_counted_all_the_same(way: str) -> None:
    made = make_run(random.Random("labels behind"), "whole")
    assert not any(made.removed)
    object.__setattr__(made.run._contents.facts, "labels", "value")
    rows = made.run.summary().drop_columns(["view", "edges"]).to_pylist()
    assert rows == [naive.components(values) for values in made.values]


def _figures(made: MadeRun, kind: str, values: list[Any]) -> dict[str, Any]:
    if kind == "labels":
        return naive.components(values)
    if kind == "truths":
        return {"true": sum(values)}
    return naive.numbers(values, made.missing)


def _comparable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple("nan" if item != item else item for item in row)
