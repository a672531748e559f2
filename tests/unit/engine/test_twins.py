"""A twin of a graph has a version of its own and shares everything else."""

from __future__ import annotations

import numpy as np

from graphtide.engine.resident import ResidentGraph


def test_a_twin_changes_alone() -> None:
    src, dst = np.array([0, 0, 1, 2], np.int32), np.array([1, 2, 2, 0], np.int32)
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    graph = ResidentGraph(3, src, dst, {"weight": weight}, live=False)
    graph.flip(np.array([0, 2], np.int32), np.empty(0, np.int32))
    twin = graph.twin()
    assert sorted(twin.live_edges().tolist()) == [0, 2]
    twin.flip(np.array([1, 3], np.int32), np.array([0], np.int32))
    assert sorted(twin.live_edges().tolist()) == [1, 2, 3]
    assert (sorted(graph.live_edges().tolist()), graph.live) == ([0, 2], 2)
    graph.clear()
    assert (sorted(twin.live_edges().tolist()), twin.live) == ([1, 2, 3], 3)
    assert twin.ends(np.arange(4, dtype=np.int32))[0].tolist() == [0, 0, 1, 2]
    assert np.shares_memory(twin.properties["weight"], graph.properties["weight"])
    assert not np.shares_memory(twin.words, graph.words)
