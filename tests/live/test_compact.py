"""A graph in memory that runs for long: room comes back, and answers stay those of the oracle."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import graphtide as gt
from graphtide.algorithms import BFS
from tests.oracle.live_graph import EdgeList

pytestmark = pytest.mark.interpreted


def test_insertions_and_deletions_for_long_take_no_more_room() -> None:
    pick, known = random.Random(1), EdgeList([(0, 1, 0.5), (1, 2, 0.5)])
    graph = gt.Graph([0, 1], [1, 2], weight=[0.5, 0.5])
    hops = graph.maintain(BFS(source=0))
    near = graph.query("near", gt.queries.Hops(0, 3))
    sizes = []
    for step in range(400):
        gone = pick.sample(known.rows, min(len(known.rows), 5)) if step else []
        come = [(pick.randrange(9), pick.randrange(9), step + pick.random()) for _ in range(5)]
        graph.advance(insert=come, delete=gone)
        known.advance(come, gone)
        if graph._resident.edges > 2 * graph._resident.live + 50:
            graph.compact()
            assert graph.version == known.version
            with pytest.raises(gt.GraphtideError, match="no advance to roll back"):
                graph.rollback()
            rows = graph.edges().select(["src", "dst", "weight"]).to_pylist()
            assert Counter(tuple(row.values()) for row in rows) == known.counted()
            assert graph.edges()["edge"].to_pylist() == list(range(len(rows)))
        said = known.hops(0)
        found = {row["id"]: row["hops"] for row in hops.table().to_pylist()}
        assert found == {id_: said[id_] for id_ in found}
        close = {row["id"] for row in near.table().to_pylist()}
        assert close == {id_ for id_, hop in said.items() if hop <= 3}
        room = graph._resident.adjacency.out.edge.nbytes
        sizes.append((graph._resident.edges, room, len(graph._versions._done)))
    for at in range(3):
        assert max(size[at] for size in sizes[200:]) <= max(size[at] for size in sizes[:200])
    graph.advance(insert=[(0, 8, 1.0)])
    graph.rollback()
    hops.verify()
    near.verify()


def test_kept_columns_and_vertices_stay() -> None:
    graph = gt.Graph(
        ["a", "b", "c"], ["b", "c", "a"], kind=["x", "y", "z"], vertices={"id": list("abcd")}
    )
    graph.advance(delete=[("b", "c")])
    graph.compact()
    assert graph.edges().select(["src", "kind"]).to_pylist() == [
        {"src": "a", "kind": "x"},
        {"src": "c", "kind": "z"},
    ]
    graph.advance(insert=[("b", "d", "w")])
    assert len(graph.view("kind = 'w'")) == 1
    assert graph.vertices()["id"].to_pylist() == list("abcd")
