"""Graphs that take appends: every state equals a reload of everything, then and later."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import graphtide as gt
from graphtide.store.catalog import Catalog
from graphtide.store.graph import find_state, open_graph
from graphtide.store.tables import edge_rows, vertex_rows
from tests.changing import begin_graph, check_same, random_append
from tests.oracle.changing_graph import ChangingGraph

SEEDS = range(4 if "GRAPHTIDE_CAMPAIGN" not in os.environ else 200)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_state_equals_a_reload(tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    listed = pick.random() < 0.5
    graph, known = begin_graph(tmp_path, pick, listed=listed, edges=pick.choice([0, 5, 20]))
    states = []
    for _ in range(8):
        change = random_append(pick, known, listed=listed)
        graph.append(**change)
        known.append(**change)
        if pick.random() < 0.2:
            graph.merge(renumber=pick.random() < 0.3)
        check_same(graph, known)
        states.append((graph._stored.identity, ChangingGraph(known.vertices, known.edges)))
    check_same(gt.session(tmp_path, progress=False).graph("g"), known)
    latest = open_graph(Catalog(tmp_path), "g")
    for identity, then in states:
        found = find_state(latest, identity)
        assert found is not None
        if found.graph is not None:
            assert edge_rows(found.graph, None).to_pylist() == then.edges
            assert vertex_rows(found.graph).to_pylist() == then.vertices
