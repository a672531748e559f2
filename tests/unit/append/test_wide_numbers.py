"""Graphs whose edge numbers outgrow 32 bits, the limit lowered to a few edges; without Spark.

What was written before stays narrow, and is read beside what is wide.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.engine.resident import ResidentGraph
from graphtide.model import delta
from graphtide.model.errors import LimitError
from graphtide.model.schema import CHANGED
from graphtide.optimize import plan_collection
from graphtide.plan.collection import ViewMatrix
from graphtide.run.append import append
from graphtide.run.collection.steps import Deltas, run_steps
from graphtide.store import tables as batches_module
from graphtide.store.collection import GroupedEdges
from graphtide.store.tables import deleted_edges, edge_batches
from tests.changing import begin_graph, check_rows, check_views, make_views, random_append
from tests.oracle.changing_graph import ChangingGraph, Row

LIMIT = 30


@pytest.fixture(autouse=True)
def _few_narrow_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta, "MOST_NARROW", LIMIT)
    monkeypatch.setattr(batches_module, "BATCH_ROWS", 7)


def number_types(graph: gt.CatalogGraph, folder: str = "edges") -> list[Any]:
    """The types of the numbers in the files of a folder, in their order."""
    generation = graph._stored.generation
    files = [generation.path / name for name, _ in generation.parts(folder)]
    return [pq.read_schema(path).field("_edge").type for path in files]


def grown(
    root: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> tuple[gt.CatalogGraph, ChangingGraph, gt.Collection]:
    """A graph of narrow numbers that has become one of wide ones by appends, and views of it."""
    monkeypatch.setattr(append, "is_merge_due", lambda stored: False)
    pick = random.Random(seed)
    graph, known = begin_graph(root, pick, edges=LIMIT - 5)
    views = make_views(graph, "views")
    while graph._stored.numbers < LIMIT + 10 or not graph._stored.append_files(CHANGED["edges"]):
        change = random_append(pick, known)
        graph.append(**change)
        known.append(**change)
    return graph, known, views


@pytest.mark.parametrize("seed", range(2))
def test_appends_lead_from_narrow_numbers_to_wide_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    graph, known, views = grown(tmp_path, monkeypatch, seed)
    check_rows(graph, known)
    assert set(number_types(graph)) == {pa.int32(), pa.int64()}
    assert not views._stored.has_wide_numbers
    assert views.refresh() == "brought up to date"
    assert views._stored.has_wide_numbers
    check_views(views, known)
    assert views[0].edge_ids.dtype == np.int64
    assert deleted_edges(graph._stored).dtype == np.int64
    pick, change = random.Random(seed), {"edges": known.edges[:3], "delete": known.edges[-2:]}
    for _ in range(2):
        graph.append(**change)
        known.append(**change)
        check_rows(graph, known)
        change = random_append(pick, known)
    graph.merge()
    assert set(number_types(graph)) == {pa.int64()}
    check_rows(graph, known)
    check_views(make_views(graph, "anew"), known)


def test_a_merge_that_numbers_anew_leads_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, known, _ = grown(tmp_path, monkeypatch, 5)
    gone = known.edges[LIMIT - 10 :]
    graph.append(delete=gone)
    known.append(delete=gone)
    assert graph._stored.has_wide_numbers
    graph.merge(renumber=True)
    assert not graph._stored.has_wide_numbers
    assert set(number_types(graph)) == {pa.int32()}
    check_rows(graph, known)
    check_views(make_views(graph, "views"), known)


def test_a_lean_graph_is_made_of_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, known, _ = grown(tmp_path, monkeypatch, 6)
    for rows in (3, 1000):
        batches = list(edge_batches(graph._stored, ["year"], rows))
        years = [year for batch in batches for year in batch.column("year").to_pylist()]
        assert years == [row["year"] for row in known.edges]
    run = graph.run(WCC, lean=True)
    assert "over the lean graph" in run.explain()
    check_components(run.table(), known, lambda row: True)


def check_components(
    found: pa.Table, known: ChangingGraph, is_there: Callable[[Row], bool]
) -> None:
    """Vertices that some edges lead between have the same component, and no others."""
    part = {row["id"]: {row["id"]} for row in known.vertices}
    for row in filter(is_there, known.edges):
        joined = part[row["src"]] | part[row["dst"]]
        part |= dict.fromkeys(joined, joined)
    groups: dict[Any, set[Any]] = {}
    for id_, component in zip(*(column.to_pylist() for column in found.columns), strict=True):
        groups.setdefault(component, set()).add(id_)
    assert all(part[id_] == group for group in groups.values() for id_ in group)


def test_what_is_held_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, known, _ = grown(tmp_path, monkeypatch, 7)
    views = make_views(graph, "views")
    held = int(views.weights.sum())
    assert held >= LIMIT
    message = f"'views' hold {held} edges, and a graph in memory numbers them by 32 bits"
    with pytest.raises(LimitError, match=message) as told:
        views.run(WCC, name="r")
    assert "graph.run(program)" in str(told.value)
    assert "on='shards'" in str(told.value)
    with pytest.raises(LimitError, match=f"the graph 'g' has {len(known.edges)} edges"):
        graph.run(WCC, lean=False)
    with pytest.raises(LimitError, match=f"{LIMIT} edges are more than one graph in memory"):
        ResidentGraph(2, np.zeros(LIMIT, np.int32), np.ones(LIMIT, np.int32))
    few = make_views(graph, "few", ["calls"])
    ran = few.run(WCC, name="few", workers=1)
    check_components(ran.table("calls"), known, lambda row: row["kind"] == "call")


def test_sizes_beyond_32_bits_are_planned() -> None:
    """Classes of billions of edges: what views, steps and the plan say of them is exact."""
    weights = np.array([3_000_000_000, 2_500_000_001, 7], np.int64)
    held = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]], np.bool_)
    plan = plan_collection(ViewMatrix(held, weights))
    sizes = GroupedEdges(np.empty(0, np.int32), np.concatenate([[0], np.cumsum(weights)]))
    steps = run_steps(plan, ("a", "b", "c"), Deltas(plan, sizes))
    wanted = (weights[:, None] * held).sum(axis=0).tolist()
    assert ViewMatrix(held, weights).sizes().tolist() == wanted
    found = {int(view): int(edges) for view, edges in zip(steps.view, steps.edges, strict=True)}
    assert [found[at] for at in range(3)] == wanted
    made = {"chain": plan.totals.chain, "tree": plan.totals.tree, "manual": plan.totals.given}
    assert int((steps.inserted + steps.deleted).sum()) == made[plan.kind]
