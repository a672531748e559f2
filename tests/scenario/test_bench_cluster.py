"""The benchmark of several workers runs through on small graphs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench import cluster, cluster_billion, rmat_blocks
from graphtide.store import lean


@pytest.mark.interpreted
def test_two_threads_are_measured_beside_one() -> None:
    figures = cluster.run(quick=True, part="threads")
    assert len(figures) == 4
    assert all(item.measured is not None for item in figures)


@pytest.mark.interpreted
def test_runs_of_a_stored_graph_are_measured_by_one_thread_and_two() -> None:
    figures = cluster.run(quick=True, part="lean") + cluster.run(quick=True, part="growth")
    assert len(figures) == 11 + 4
    assert all(item.measured is not None for item in figures)


@pytest.mark.interpreted
def test_the_way_of_a_billion_edges_with_a_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rmat_blocks, "BLOCK", 128)
    monkeypatch.setattr(lean, "BUCKET_EDGES", 100)
    figures = cluster_billion.measure(1000, tmp_path)
    assert {item.name: item.verdict for item in figures}["bytes an edge"] == "held"
    assert not list(tmp_path.iterdir()), "it removes its files"
    whole = list(rmat_blocks.rmat_blocks(6, 1000, 2))
    again = rmat_blocks.rmat_blocks(6, 1000, 1)
    assert sum(len(block["src"]) for block in whole) == 1000
    assert all((one["src"] == two["src"]).all() for one, two in zip(whole, again, strict=True))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif("GRAPHTIDE_CAMPAIGN" not in os.environ, reason="part of the campaign")
@pytest.mark.parametrize("part", cluster.SPARK)
def test_tasks_of_spark_are_measured(part: str) -> None:
    figures = cluster.run(quick=True, part=part)
    assert len(figures) == {"spark": 1, "shards": 5, "graphx": 1}[part]
    assert all(item.measured is not None for item in figures if part != "spark")
