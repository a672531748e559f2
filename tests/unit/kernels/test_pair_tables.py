"""The table of edges by both their ends: who is entered, who leaves, and what a mark proves."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import graphtide as gt
from graphtide.kernels.graph import batches, flips, hash_tables
from graphtide.kernels.graph import batches as matching
from graphtide.kernels.graph.hash_tables import MOST, NONE, edges_within, places_for


def graph_of(ends: list[tuple[int, int]]) -> gt.Graph:
    graph = gt.Graph([], [], vertices=9)
    graph.advance(insert=ends)
    graph._resident._pairs.looked = 1 << 20
    graph._resident._make_ready(len(ends), 0)
    return graph


def entered(graph: gt.Graph) -> int:
    return int((graph._resident._pairs.table != NONE).sum())


def test_a_quarter_of_the_places_is_free() -> None:
    for edges in (0, 1, 11, 12, 13, 1000, 3_800_000):
        places = places_for(edges)
        assert places & (places - 1) == 0
        assert edges <= edges_within(places)


def test_edges_leave_as_if_they_had_never_come() -> None:
    draw = random.Random(1)
    graph = graph_of([(draw.randrange(9), draw.randrange(9)) for _ in range(150)])
    for count in range(6):
        before = graph._resident._pairs.table.copy()
        graph.advance(insert=[(draw.randrange(9), draw.randrange(9)) for _ in range(2**count)])
        graph.rollback()
        assert (graph._resident._pairs.table == before).all()


def test_a_table_grows_with_its_edges() -> None:
    graph = graph_of([(0, 1), (2, 3)])
    places = len(graph._resident._pairs.table)
    graph.advance(insert=[(at % 9, at // 9) for at in range(81)])
    assert len(graph._resident._pairs.table) > places
    assert entered(graph) == 83
    graph.advance(delete=[(at % 9, at // 9) for at in range(81)])
    assert graph.num_edges == 2


def test_a_table_in_the_making_forgets_edges_that_are_rolled_back() -> None:
    graph = gt.Graph([0] * 300, [1] * 300, vertices=9, w=[0] * 300)
    graph.advance(insert=[(8, 8, 0)] * 4 + [(2, 3, 1)] + [(8, 8, 0)] * 95)
    pairs = graph._resident._pairs
    pairs.looked = 1 << 20
    while pairs._entered <= 305:
        pairs.make_ready(graph._resident.words, 400, 0, 0)
    graph.rollback()
    graph.advance(insert=[(2, 3, 2)])
    while not len(pairs.table):
        graph._resident._make_ready(0, 0)
    with pytest.raises(gt.GraphtideError, match="not there"):
        graph.advance(delete=[(2, 3, 1)])
    graph.advance(delete=[(2, 3, 2)])
    assert graph.edges()["edge"].to_pylist() == list(range(300))


def test_only_so_many_parallel_edges_are_entered() -> None:
    graph = graph_of([(1, 2)] * (2 * MOST) + [(2, 1)])
    assert entered(graph) == MOST + 1
    for _ in range(2 * MOST):
        graph.advance(delete=[(1, 2)])
    assert graph.edges()["src"].to_pylist() == [2]


@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="kernels call their own hash")
def test_pairs_of_one_mark_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the hash is: here all pairs have the same place and the same mark."""
    for module in (hash_tables, matching, batches, flips):
        monkeypatch.setattr(module, "pair_hash", lambda source, target: 5)
    graph = graph_of([(1, 2), (1, 3), (1, 4), (5, 2)])
    graph.advance(delete=[(1, 4), (5, 2)])
    assert np.array(graph.edges()["dst"]).tolist() == [2, 3]
    graph.rollback()
    graph.advance(delete=[(1, 3)])
    assert np.array(graph.edges()["dst"]).tolist() == [2, 4, 2]
