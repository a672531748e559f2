"""`V`, the number of vertices: a program that reads it begins anew where vertices come."""

from __future__ import annotations

import random

import numpy as np
import pytest

import graphtide as gt
from graphtide.plan.program_values import VERTEX_COUNT
from graphtide.run.durable.registrations import made_program, stored_program, trusted
from tests.unit.nga import listings

pytestmark = pytest.mark.interpreted

Edges = list[tuple[int, int]]
ROUNDS = 12
"""Fewer than it takes to settle, so that rounds that are cut off are compared too."""


def paper_ranks(vertices: int, edges: Edges) -> list[float]:
    """Figure 5 by its definition: what a vertex sent last counts until it sends anew."""
    rank, sent = [1.0] * vertices, [0.0] * vertices
    degree = [sum(src == vertex for src, _ in edges) for vertex in range(vertices)]
    active = [True] * vertices
    for _ in range(ROUNDS):
        for vertex in range(vertices):
            if active[vertex] and degree[vertex]:
                sent[vertex] = rank[vertex] / degree[vertex]
        active = [False] * vertices
        for vertex in range(vertices):
            total = sum(sent[src] for src, dst in edges if dst == vertex)
            value = 0.15 / vertices + 0.85 * total
            if abs(value - rank[vertex]) > 0.001:
                rank[vertex], active[vertex] = value, True
    return rank


def triangles(edges: Edges) -> int:
    """How many triples are joined in all ways, by looking at all of them."""
    pairs = {frozenset(pair) for pair in edges if pair[0] != pair[1]}
    ends = sorted({end for pair in pairs for end in pair})
    return sum(
        {frozenset((one, two)), frozenset((two, three)), frozenset((one, three))} <= pairs
        for at, one in enumerate(ends)
        for further, two in enumerate(ends[at + 1 :], at + 1)
        for three in ends[further + 1 :]
    )


@pytest.mark.parametrize("seed", range(2))
def test_the_listings_of_the_paper_follow_a_graph_that_grows(seed: int) -> None:
    draw = random.Random(seed)
    edges = [(draw.randrange(5), draw.randrange(5)) for _ in range(9)]
    graph = gt.Graph(*map(np.array, zip(*edges, strict=True)), vertices=list(range(5)))
    ranks = graph.maintain(gt.nga(f"Iterations ({ROUNDS})\n{listings.PAGE_RANK}", name="Ranks"))
    count = graph.maintain(gt.nga(listings.TRIANGLE_COUNT, name="Count"))
    kept = [list(edges)]
    sizes = [5]
    for step in range(6):
        vertices = sizes[-1] + (step % 2)
        here = range(vertices) if step % 2 == 0 else [*range(vertices - 1), vertices - 1]
        come = [(draw.choice(here), draw.choice(here)) for _ in range(2)]
        come += [(vertices - 1, 0)]
        gone = [edges.pop(draw.randrange(len(edges)))]
        graph.advance(insert=come, delete=gone)
        edges += come
        kept.append(list(edges))
        sizes.append(graph.num_vertices)
        check(ranks, count, sizes[-1], edges)
    ranks.verify()
    for before, size in zip(kept[-2::-1], sizes[-2::-1], strict=True):
        graph.rollback()
        check(ranks, count, size, before)


def check(ranks: gt.Live, count: gt.Live, vertices: int, edges: Edges) -> None:
    assert ranks["rank"].tolist() == pytest.approx(paper_ranks(vertices, edges), rel=1e-9)
    assert count.globals["cnts"] == triangles(edges)


SHARE = """
Program Share
Vertex (share: double, found: Accm<long, SUM>)
GlobalVariable (most: Accm<double, MAX>)
Traverse (u):
  For v in u.nbrs Where (u < v) For w in v.nbrs Where (v < w And w == u) { u.found.Accumulate(1); }
  most.Accumulate(u.degree / V);
Update (u): u.share = u.found + u.degree / V;
"""


def test_walks_that_read_it_begin_anew_and_tell_what_changed() -> None:
    graph = gt.Graph(np.array([0, 1]), np.array([1, 2]), vertices=[0, 1, 2])
    live = graph.maintain(gt.nga(SHARE))
    assert live["share"].tolist() == pytest.approx([1 / 3, 2 / 3, 1 / 3])
    changes = live.advance(insert=[(3, 0)])
    assert live["share"].tolist() == [0.5, 0.5, 0.25, 0.25]
    assert changes.globals == {"most": (2 / 3, 0.5)}
    assert sorted(changes["id"].to_pylist()) == [0, 1, 2, 3]
    live.verify()
    live.advance(delete=[(1, 2)])
    assert live["share"].tolist() == [0.5, 0.25, 0.0, 0.25]
    graph.rollback()
    graph.rollback()
    assert live["share"].tolist() == pytest.approx([1 / 3, 2 / 3, 1 / 3])
    assert live.globals["most"] == 2 / 3


def test_who_gives_a_number_keeps_it() -> None:
    graph = gt.Graph(np.array([0, 1]), np.array([1, 2]), vertices=[0, 1, 2])
    live = graph.maintain(gt.nga(SHARE)(V=10))
    live.advance(insert=[(3, 0)])
    assert live["share"].tolist() == [0.2, 0.2, 0.1, 0.1]


def test_views_have_the_vertices_of_their_graph() -> None:
    graph = gt.Graph(np.array([0, 1]), np.array([1, 2]), vertices=[0, 1, 2, 3], kind=[1, 2])
    run = graph.collection({"one": "kind = 1", "all": "kind < 3"}).run(gt.nga(SHARE))
    assert run.globals().column("most").to_pylist() == [0.25, 0.5]


def test_it_is_open_again_after_a_start() -> None:
    bound = gt.nga(SHARE)()
    assert bound.values == (("V", VERTEX_COUNT),)
    assert made_program(stored_program(bound), trusted(())).values == bound.values
    assert repr(bound) == "Share()"
