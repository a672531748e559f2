"""The naive interpreter against NetworkX: two strangers agree on what the programs mean."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.oracle.programs import run
from tests.unit.programs import library
from tests.unit.programs.sources import read

Edges = list[tuple[int, int, dict[str, Any]]]


@st.composite
def graphs(draw: Any) -> tuple[int, Edges]:
    """Multigraphs with self-loops and isolated vertices."""
    n = draw(st.integers(1, 7))
    ends = st.integers(0, n - 1)
    weight = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])
    found = draw(st.lists(st.tuples(ends, ends, weight), max_size=16))
    edges = [
        (src, dst, {"weight": value, "capacity": value, "chance": value / 4})
        for src, dst, value in found
    ]
    return n, edges


def network(n: int, edges: Edges) -> Any:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph


@given(graphs())
@settings(max_examples=examples(60), deadline=None)
def test_shortest_paths(given_graph: tuple[int, Edges]) -> None:
    n, edges = given_graph
    final, history = run(library.ShortestPaths.plan, {"source": 0}, n, edges)
    found = nx.single_source_dijkstra_path_length(network(n, edges), 0)
    assert final["dist"] == [found.get(vertex, math.inf) for vertex in range(n)]
    assert history[-1] == history[-2]
    assert len(history) <= n + 1


@given(graphs(), st.integers(0, 4))
@settings(max_examples=examples(60), deadline=None)
def test_hops(given_graph: tuple[int, Edges], limit: int) -> None:
    n, edges = given_graph
    given_values = {"sources": (0, n - 1), "limit": limit}
    final, history = run(library.Hops.plan, given_values, n, edges)
    near = nx.multi_source_dijkstra_path_length(network(n, edges), {0, n - 1}, weight=None)
    reached = {vertex: hops for vertex, hops in near.items() if hops <= limit}
    assert final["level"] == [reached.get(vertex, 1_000_000_000) for vertex in range(n)]
    for iteration, state in enumerate(history):
        known = {v: hops for v, hops in reached.items() if hops <= iteration}
        assert state["level"] == [known.get(vertex, 1_000_000_000) for vertex in range(n)]


@given(graphs())
@settings(max_examples=examples(60), deadline=None)
def test_components(given_graph: tuple[int, Edges]) -> None:
    n, edges = given_graph
    final, _ = run(library.Components.plan, {}, n, edges)
    for component in nx.weakly_connected_components(network(n, edges)):
        assert {final["label"][vertex] for vertex in component} == {min(component)}


@given(graphs())
@settings(max_examples=examples(60), deadline=None)
def test_ancestors(given_graph: tuple[int, Edges]) -> None:
    n, edges = given_graph
    final, _ = run(library.Ancestors.plan, {"targets": [n - 1]}, n, edges)
    expected = nx.ancestors(network(n, edges), n - 1) | {n - 1}
    assert final["reaches"] == [vertex in expected for vertex in range(n)]


@given(graphs())
@settings(max_examples=examples(60), deadline=None)
def test_widest_and_most_reliable_paths(given_graph: tuple[int, Edges]) -> None:
    n, edges = given_graph
    wide, _ = run(library.WidestPath.plan, {"source": 0}, n, edges)
    sure, _ = run(library.MostReliable.plan, {"source": 0}, n, edges)
    widths, chances = {0: math.inf}, {0: 1.0}
    graph = network(n, edges)
    for target in range(1, n):
        paths = list(nx.all_simple_edge_paths(graph, 0, target))
        data = [[graph.edges[edge] for edge in path] for path in paths]
        widths[target] = max((min(d["capacity"] for d in path) for path in data), default=0)
        chances[target] = max((math.prod(d["chance"] for d in path) for path in data), default=0)
    assert wide["width"] == [widths[vertex] for vertex in range(n)]
    assert sure["chance"] == pytest.approx([chances[vertex] for vertex in range(n)])


@given(graphs(), st.sampled_from([0.5, 0.85]))
@settings(max_examples=examples(40), deadline=None)
def test_pagerank(given_graph: tuple[int, Edges], damping: float) -> None:
    n, edges = given_graph
    # NetworkX spreads the rank of dead ends over all vertices: give every vertex a way out.
    edges = [*edges, *((vertex, (vertex + 1) % n, {}) for vertex in range(n))]
    parameters = {"damping": damping, "iterations": 200}
    final, _ = run(library.PageRank.plan, parameters, n, edges)
    steps = nx.google_matrix(network(n, edges), alpha=damping, weight="none")
    expected = np.ones(n) @ np.linalg.matrix_power(steps, 200)
    assert final["rank"] == pytest.approx(expected, abs=1e-8)


@given(graphs(), st.integers(1, 4))
@settings(max_examples=examples(60), deadline=None)
def test_core(given_graph: tuple[int, Edges], k: int) -> None:
    n, edges = given_graph
    simple = nx.Graph((src, dst) for src, dst, _ in edges if src != dst)
    simple.add_nodes_from(range(n))
    once = [(src, dst, {}) for src, dst in simple.edges]
    final, _ = run(library.Core.plan, {"k": k}, n, once)
    assert final["inside"] == [vertex in nx.k_core(simple, k) for vertex in range(n)]


def test_tolerance_ends_a_run_early() -> None:
    edges: Edges = [(0, 1, {}), (1, 2, {}), (2, 0, {}), (0, 2, {})]
    ended = [
        len(run(library.PageRank.plan, {"iterations": 500, "tolerance": t}, 3, edges)[1])
        for t in (0.5, 1e-2, 1e-4, 0.0)
    ]
    assert ended == sorted(ended)
    assert ended[0] < ended[2] < ended[3]


def test_self_loops_are_traversed_once_each_way() -> None:
    text = """
    @gt.program
    class Arrivals:
        arrived: int
        count = gt.Count()
        direction = "{}"
        def traverse(self, u, e, v): v.count()
        def update(self, v): v.arrived = v.count * 10 + v.degree
    """
    for direction, arrived in (("out", 1), ("in", 1), ("both", 2)):
        plan = read(text.format(direction)).plan
        final, _ = run(plan, {}, 2, [(0, 0, {})])
        assert final["arrived"] == [arrived * 10 + 2, 0]
