"""A vertex that has every edge: loads, collections, groups and runs are those of plain Python.

One task then has almost all rows of a join or a shuffle, and one shard almost all edges.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.algorithms import BFS, WCC
from graphtide.run.collection import sub_plans

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif("GRAPHTIDE_CAMPAIGN" not in os.environ, reason="takes a minute"),
]
COUNT, OTHERS = 60_000, 9_973
LASTS = (-1, 0, 5_000, 30_000, COUNT)
KINDS = {0: "hub"} | {at: "odd" if at % 2 else "even" for at in range(1, OTHERS + 1)}


def edge(at: int) -> tuple[int, int, int]:
    """From the hub, to it, or both: every seventh a loop; edges come again after a while."""
    other = 1 + at * 17 % OTHERS
    if at % 7 == 3:
        return 0, 0, at
    return (0, other, at) if at % 3 else (other, 0, at)


EDGES = [edge(at) for at in range(COUNT)]


@gt.program
class Weights:
    """The sum of a property of the edges into each vertex."""

    iterations = 1
    total: float = 0.0
    got = gt.Sum(float)

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.got(e.at)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.total = v.got


def right(last: int) -> dict[str, dict[int, float]]:
    """What each program has for the view of the edges up to one."""
    edges = [row for row in EDGES if row[2] <= last]
    touched = {end for src, dst, _ in edges for end in (src, dst)}
    reached = {dst for src, dst, _ in edges if src == 0} | {0}
    total = Counter[int]()
    for _, dst, at in edges:
        total[dst] += at
    return {
        "WCC": {at: 0 if at in touched else at for at in KINDS},
        "BFS": {at: (0.0 if at == 0 else 1.0) for at in reached},
        "Weights": {at: total[at] for at in KINDS},
    }


@pytest.fixture(scope="module")
def graph(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> gt.CatalogGraph:
    folder: Path = tmp_path_factory.mktemp("skew")
    src, dst, at = zip(*EDGES, strict=True)
    pq.write_table(pa.table({"src": src, "dst": dst, "at": at}), folder / "edges.parquet")
    ids, kinds = list(KINDS), list(KINDS.values())
    pq.write_table(pa.table({"id": ids, "kind": kinds}), folder / "vertices.parquet")
    session = gt.session(folder / "store", spark=spark, progress=False)
    return session.load(
        "star", edges=folder / "edges.parquet", vertices=folder / "vertices.parquet"
    )


def test_loaded_and_grouped(graph: gt.CatalogGraph) -> None:
    found = graph.edges().select(["src", "dst", "at"]).to_pylist()
    assert [(row["src"], row["dst"], row["at"]) for row in found] == EDGES
    assert sorted(row["id"] for row in graph.vertices().to_pylist()) == sorted(KINDS)
    grouped = graph.group("kinds", "kind", edges=["count(*)", "sum(at)", "max(at)"])
    expected: dict[tuple[str, str], list[int]] = {}
    for src, dst, at in EDGES:
        expected.setdefault((KINDS[src], KINDS[dst]), []).append(at)
    assert {
        (row["src"], row["dst"]): (row["count"], row["sum_at"], row["max_at"])
        for row in grouped.edges().to_pylist()
    } == {ends: (len(all_), sum(all_), max(all_)) for ends, all_ in expected.items()}


@pytest.mark.parametrize("on", ["here", "spark", "shards"])
def test_runs(graph: gt.CatalogGraph, on: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sub_plans, "SPARK_SECONDS", -1e9)
    monkeypatch.setattr("graphtide.optimize.cutting.STEP", 1e7)
    views = graph.collection(
        f"growing-{on}", {f"upto{last}": f"at <= {last}" for last in LASTS}, order="manual"
    )
    programs = {"WCC": WCC(), "BFS": BFS(source=0), "Weights": Weights()}
    for name, program in programs.items():
        words: dict[str, Any] = {"workers": 1} if on == "here" else {"on": on, "workers": 2}
        run = views.run(program, name=f"{name}-{on}", **words)
        for last in LASTS:
            table = run.table(f"upto{last}")
            field = next(item for item in table.column_names if item != "id")
            pairs = zip(table["id"].to_pylist(), table[field].to_pylist(), strict=True)
            found = {id_: value for id_, value in pairs if value not in (None, float("inf"))}
            assert found == right(last)[name], (name, last)
