"""Every algorithm of the library with what NetworkX says of it, on graphs of each of its kinds.

Where NetworkX has no such thing, it is computed anew on NetworkX's adjacency: `met` lists every
edge as a program meets it. Nothing of the product takes part.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from graphtide import algorithms as lib
from graphtide.algorithms.dataflow import Triangles as FlowTriangles

Network = Any
Values = dict[Any, Any]
KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
N = 9
ITERATIONS = 4


def met(g: Network, *, both: bool = False) -> list[tuple[int, int, float]]:
    """Edges as programs meet them: along, and with `both` back as well; undirected ones from each
    end, and their loops once.
    """
    edges = list(g.edges(data="weight"))
    back = [(dst, src, w) for src, dst, w in edges]
    if g.is_directed():
        return edges + back * both
    return edges + [edge for edge in back if edge[0] != edge[1]]


def plain(g: Network) -> Network:
    """Undirected, without loops and parallel edges."""
    found = nx.Graph(g.to_undirected())
    found.remove_edges_from(list(nx.selfloop_edges(found)))
    return found


def degree(g: Network) -> Counter[int]:
    return Counter(dst for _, dst, _ in met(g, both=True))


def first_of(groups: Iterator[set[int]]) -> Values:
    """The vertex of each group that stands first in the graph."""
    return {v: min(group) for group in groups for v in group}


def least(g: Network, sources: list[int], weight: str | None) -> Values:
    weighed: Any = weight if weight else lambda *_: 1.0
    found = nx.multi_source_dijkstra_path_length(g, set(sources), weight=weighed)
    return {v: found.get(v, math.inf) for v in g}


def widest(g: Network, source: int) -> Values:
    found = dict.fromkeys(g, -math.inf)
    for bound in sorted({w for _, _, w in g.edges(data="weight")}):
        wide = type(g)()
        wide.add_nodes_from(g)
        wide.add_edges_from((u, v) for u, v, w in g.edges(data="weight") if w >= bound)
        found.update(dict.fromkeys(nx.descendants(wide, source), bound))
    return found | {source: math.inf}


def ranks(g: Network, own: Values, start: Values, iterations: int) -> Values:
    out, rank = Counter(src for src, _, _ in met(g)), dict(start)
    for _ in range(iterations):
        sent = dict.fromkeys(g, 0.0)
        for src, dst, _ in met(g):
            sent[dst] += rank[src] / out[src]
        rank = {v: own[v] + 0.85 * sent[v] for v in g}
    return rank


def page_rank(g: Network, iterations: int) -> Values:
    return ranks(g, dict.fromkeys(g, 0.15), dict.fromkeys(g, 1.0), iterations)


def personal(g: Network, sources: list[int], iterations: int) -> Values:
    start = {v: float(v in sources) for v in g}
    return ranks(g, {v: 0.15 * start[v] for v in g}, start, iterations)


def core(g: Network, k: int) -> Values:
    """By NetworkX, or by peeling where there are parallel edges."""
    g = g.copy()
    g.remove_edges_from(
        list(nx.selfloop_edges(g, keys=True) if g.is_multigraph() else nx.selfloop_edges(g))
    )
    if not g.is_multigraph():
        kept = set(nx.k_core(g, k))
        return {v: v in kept for v in g}
    kept = set(g)
    while weak := [v for v in kept if g.subgraph(kept).degree(v) < k]:
        kept -= set(weak)
    return {v: v in kept for v in g}


def statistics(g: Network) -> dict[str, Values]:
    at, around = degree(g), {v: [] for v in g}
    for src, dst, _ in met(g, both=True):
        around[dst].append(at[src])
    into, out = (Counter(edge[end] for edge in met(g)) for end in (1, 0))
    return {
        "incoming": {v: into[v] for v in g},
        "outgoing": {v: out[v] for v in g},
        "neighbour_mean": {v: sum(around[v]) / max(1, at[v]) for v in g},
        "neighbour_most": {v: max(around[v], default=0) for v in g},
    }


def spread(g: Network, first: list[int], second: list[int]) -> Values:
    share = {v: [float(v in first), float(v in second)] for v in g}
    for _ in range(ITERATIONS):
        votes = {v: np.zeros(2) for v in g}
        for src, dst, _ in met(g, both=True):
            votes[dst] += share[src]
        share = {
            v: share[v]
            if v in first or v in second or not votes[v].sum()
            else list(votes[v] / votes[v].sum())
            for v in g
        }
    return share


def trained(g: Network, positive: list[int], negative: list[int]) -> Values:
    score = {v: 1.0 if v in positive else 0.0 if v in negative else 0.5 for v in g}
    for _ in range(ITERATIONS):
        total, whole = dict.fromkeys(g, 0.0), dict.fromkeys(g, 0.0)
        for src, dst, weight in met(g, both=True):
            total[dst] += weight * score[src]
            whole[dst] += weight
        fixed = {*positive, *negative}
        score = {v: score[v] if v in fixed or not whole[v] else total[v] / whole[v] for v in g}
    return score


def believed(g: Network, first: list[int], second: list[int]) -> Values:
    own = {v: 2.0 if v in first else -2.0 if v in second else 0.0 for v in g}
    odds = dict(own)
    for _ in range(ITERATIONS):
        heard = dict(own)
        for src, dst, _ in met(g, both=True):
            chance = 1 / (1 + math.exp(-odds[src]))
            same = 0.7 * chance + 0.3 * (1 - chance)
            heard[dst] += math.log(same / (1 - same))
        odds = heard
    return odds


def fitted(g: Network) -> Values:
    order = sorted(g)
    factors = {
        v: np.array([0.1 + (at * 7 + k * 13) % 17 / 17.0 for k in range(4)])
        for at, v in enumerate(order)
    }
    for iteration in range(1, ITERATIONS + 1):
        turn = {edge[iteration % 2] for edge in met(g)}
        following = dict(factors)
        for v in turn:
            rows = [(factors[u], w) for u, end, w in met(g, both=True) if end == v]
            a, b = np.array([row for row, _ in rows]), np.array([w for _, w in rows])
            following[v] = np.linalg.solve(a.T @ a + 0.1 * np.eye(4), a.T @ b)
        factors = following
    return factors


def rings(g: Network) -> int:
    """Three edges in a row, each another one; an undirected edge may be gone along either way."""
    numbered = [(at, *edge) for at, edge in enumerate(g.edges(data="weight"))]
    ways = numbered + [(at, v, u, w) for at, u, v, w in numbered if not g.is_directed() and u != v]
    return sum(
        a[2] == b[1] and b[2] == c[1] and c[2] == a[1] and len({a[1], b[1], c[1]}) == 3
        for a, b, c in itertools.permutations(ways, 3)
        if a[3] < b[3] < c[3]
    )


def adamic_adar(g: Network, pairs: list[tuple[int, int]]) -> list[float]:
    simple, at = plain(g), degree(g)
    return [
        sum(1 / math.log(at[w]) for w in nx.common_neighbors(simple, *pair))
        if pair[0] != pair[1]
        else 0.0
        for pair in pairs
    ]


def triads(g: Network) -> dict[str, int]:
    arcs = nx.DiGraph((u, v) for u, v, _ in met(g) if u != v)
    arcs.add_nodes_from(g)
    found = nx.triadic_census(arcs)
    return {f"triad_{name}": found[name] for name in found if name not in ("003", "012", "102")}


def closed(g: Network) -> dict[str, int]:
    simple = plain(g)
    wedges = sum(math.comb(d, 2) for _, d in simple.degree)
    return {"wedges": wedges, "closed": round(nx.transitivity(simple) * wedges)}


def of_triangles(g: Network) -> tuple[dict[str, Values], int]:
    simple = plain(g)
    found = nx.triangles(simple)
    return {"triangles": found, "coefficient": nx.clustering(simple)}, sum(found.values()) // 3


PAIRS = [(0, 5), (5, 0), (2, 2), (1, 7), (3, 4)]
ONE, TWO, OTHER = [0], [1, 2], [3, 4]

Expected = Callable[[Any], dict[str, Any]]
CASES: dict[str, tuple[Any, Expected]] = {
    "BFS": (lib.BFS(source=0), lambda g: {"hops": least(g, ONE, None)}),
    "ShortestPaths": (lib.ShortestPaths(source=0), lambda g: {"dist": least(g, ONE, "weight")}),
    "NearestSource": (lib.NearestSource(sources=TWO), lambda g: {"dist": least(g, TWO, "weight")}),
    "PairDistances": (
        lib.PairDistances(pairs=PAIRS),
        lambda g: {"distance": [least(g, [u], "weight")[v] for u, v in PAIRS]},
    ),
    "PairHops": (
        lib.PairHops(pairs=PAIRS),
        lambda g: {"distance": [least(g, [u], None)[v] for u, v in PAIRS]},
    ),
    "WidestPath": (lib.WidestPath(source=0), lambda g: {"width": widest(g, 0)}),
    "KHops": (
        lib.KHops(sources=TWO, k=2),
        lambda g: {"hops": {v: d if d <= 2 else math.inf for v, d in least(g, TWO, None).items()}},
    ),
    "Reachability": (
        lib.Reachability(sources=TWO),
        lambda g: {"reached": {v: d < math.inf for v, d in least(g, TWO, None).items()}},
    ),
    "Ancestors": (
        lib.Ancestors(targets=TWO),
        lambda g: {"reaches": {v: v in TWO or bool(nx.descendants(g, v) & set(TWO)) for v in g}},
    ),
    "WCC": (
        lib.WCC(),
        lambda g: {"component": first_of(nx.connected_components(g.to_undirected()))},
    ),
    "SCC": (
        lib.SCC(),
        lambda g: {
            "component": first_of(nx.strongly_connected_components(nx.DiGraph(g.to_directed())))
        },
    ),
    "KCore": (lib.KCore(k=3), lambda g: {"inside": core(g, 3)}),
    "PageRank": (
        lib.PageRank(iterations=ITERATIONS),
        lambda g: {"rank": page_rank(g, ITERATIONS)},
    ),
    "ConvergedPageRank": (
        lib.ConvergedPageRank(tolerance=1e-9),
        lambda g: {"rank": page_rank(g, 200)},
    ),
    "PersonalisedPageRank": (
        lib.PersonalisedPageRank(sources=TWO, iterations=ITERATIONS),
        lambda g: {"rank": personal(g, TWO, ITERATIONS)},
    ),
    "ConvergedPersonalisedPageRank": (
        lib.ConvergedPersonalisedPageRank(sources=TWO, tolerance=1e-9),
        lambda g: {"rank": personal(g, TWO, 200)},
    ),
    "DegreeStatistics": (lib.DegreeStatistics(), statistics),
    "LabelPropagation": (
        lib.LabelPropagation(first=TWO, second=OTHER, iterations=ITERATIONS),
        lambda g: {"share": spread(g, TWO, OTHER)},
    ),
    "CoTrainingEM": (
        lib.CoTrainingEM(positive=TWO, negative=OTHER, iterations=ITERATIONS),
        lambda g: {"score": trained(g, TWO, OTHER)},
    ),
    "BeliefPropagation": (
        lib.BeliefPropagation(first=TWO, second=OTHER, iterations=ITERATIONS),
        lambda g: {"odds": believed(g, TWO, OTHER)},
    ),
    "CollaborativeFiltering": (
        lib.CollaborativeFiltering(iterations=ITERATIONS),
        lambda g: {"factors": fitted(g)},
    ),
    "Triangles": (
        lib.Triangles(),
        lambda g: {"triangles": of_triangles(g)[0]["triangles"], "total": of_triangles(g)[1]},
    ),
    "ClusteringCoefficients": (
        lib.ClusteringCoefficients(),
        lambda g: {**of_triangles(g)[0], "total": of_triangles(g)[1]},
    ),
    "Transitivity": (lib.Transitivity(), closed),
    "Cliques": (
        lib.Cliques(size=4),
        lambda g: {"total": sum(len(c) == 4 for c in nx.enumerate_all_cliques(plain(g)))},
    ),
    "CommonNeighbours": (
        lib.CommonNeighbours(pairs=PAIRS),
        lambda g: {
            "common": [
                len(list(nx.common_neighbors(plain(g), u, v))) if u != v else 0 for u, v in PAIRS
            ]
        },
    ),
    "AdamicAdar": (lib.AdamicAdar(pairs=PAIRS), lambda g: {"score": adamic_adar(g, PAIRS)}),
    "Rings": (lib.Rings(length=3), lambda g: {"total": rings(g)}),
    "TriadCensus": (lib.TriadCensus(), triads),
    "dataflow.Triangles": (
        FlowTriangles(),
        lambda g: {FlowTriangles.result.name: of_triangles(g)[0]["triangles"]},
    ),
}
