"""The benchmark of several workers runs through on small graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import cluster, cluster_billion
from graphtide.store import lean_sorting


@pytest.mark.interpreted
def test_two_threads_are_measured_beside_one() -> None:
    figures = cluster.run(quick=True, part="threads")
    assert len(figures) == 4
    assert all(item.measured is not None for item in figures)


@pytest.mark.interpreted
def test_lean_graphs_are_measured_by_one_thread_and_two() -> None:
    figures = cluster.run(quick=True, part="lean") + cluster.run(quick=True, part="growth")
    assert len(figures) == 5 + 4
    assert all(item.measured is not None for item in figures)


@pytest.mark.interpreted
def test_runs_of_a_stored_graph_are_measured_from_the_call_to_the_results() -> None:
    figures = cluster.run(quick=True, part="door")
    assert len(figures) == 6
    assert all(item.measured is not None for item in figures)


@pytest.mark.interpreted
def test_the_way_of_a_billion_edges_with_a_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_billion, "BLOCK", 128)
    monkeypatch.setattr(lean_sorting, "BUCKET_EDGES", 100)
    figures = cluster_billion.measure(1000, tmp_path)
    assert {item.name: item.verdict for item in figures}["bytes an edge"] == "held"
    assert not list(tmp_path.iterdir()), "it removes its files"
    whole = list(cluster_billion.rmat_blocks(6, 1000, 2))
    again = cluster_billion.rmat_blocks(6, 1000, 1)
    assert sum(len(block.src) for block in whole) == 1000
    assert all((one.src == two.src).all() for one, two in zip(whole, again, strict=True))


@pytest.mark.interpreted
def test_tasks_on_shards_are_measured() -> None:
    figures = cluster.run(quick=True, part="shards")
    names = [item.name for item in figures]
    assert names[:3:2] == ["two tasks over one", "a quiet superstep"]
    assert len([name for name in names if "states sent after 5 edges went" in name]) == 2
    assert all(item.measured is not None for item in [*figures[::2], *figures[3:]])
