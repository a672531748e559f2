"""Graphs of every kind that NetworkX has, each algorithm of the library beside NetworkX.

Where NetworkX has no such thing, it is computed anew on NetworkX's adjacency: `met` lists every
edge as a program meets it. Graphs have loops; advances take away half of the edges, which are named
from either end where that is the same, and all must be well again after each.
"""

from __future__ import annotations

import itertools
import math
import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

import graphtide as gt
from graphtide import algorithms as lib
from graphtide.algorithms.dataflow import Triangles as FlowTriangles
from graphtide.model.errors import InputError
from graphtide.store.catalog import Catalog
from tests.changing import IDS, SCHEMA, make_views, random_edge, random_vertex
from tests.graphs import write_graph

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


def random_network(kind: Any, pick: random.Random, edges: int = 24) -> Network:
    """Loops and, where the kind has them, parallel edges; the weights are all different."""
    g = kind()
    g.add_nodes_from(range(N))
    for _ in range(edges):
        join(g, pick.choice(range(N)), pick.choice(range(N)), pick)
    join(g, 3, 3, pick)
    return g


def join(g: Network, src: int, dst: int, pick: random.Random) -> tuple[int, int, float] | None:
    if not g.is_multigraph() and g.has_edge(src, dst):
        return None
    row = src, dst, round(pick.uniform(0.1, 9.0), 6)
    g.add_edge(src, dst, weight=row[2], time=row[2])
    return row


def change(g: Network, graph: Any, pick: random.Random) -> None:
    """Half of the edges go, some of them named from their other ends, and others come."""
    leaving = [item for item in g.edges(data="weight", **keyed(g)) if pick.random() < 0.5]
    g.remove_edges_from([item[:-1] for item in leaving])
    rows = [(*item[:2], item[-1]) for item in leaving]
    if not g.is_directed():
        rows = [(v, u, w) if pick.random() < 0.5 else (u, v, w) for u, v, w in rows]
    come = [join(g, *pick.choices(range(N), k=2), pick) for _ in range(9)]
    columns = dict(
        zip(("src", "dst", "weight"), zip(*filter(None, come), strict=True), strict=True)
    )
    gone = dict(zip(("src", "dst", "weight"), zip(*rows, strict=True), strict=True))
    graph.advance(insert={**columns, "time": columns["weight"]}, delete=gone or None)


def keyed(g: Network) -> dict[str, bool]:
    return {"keys": True} if g.is_multigraph() else {}


def check(name: str, live: Any, g: Network) -> None:
    for result, wanted in CASES[name][1](g).items():
        if isinstance(wanted, dict):
            wanted = [wanted[v] for v in range(N)]
            found = live[result].tolist()
        elif isinstance(wanted, list):
            found = live.table()[result].to_pylist() if hasattr(live, "table") else None
        else:
            found = live.globals[result]
        np.testing.assert_allclose(
            np.array(found, float),
            np.array(wanted, float),
            rtol=1e-6,
            atol=1e-9,
            err_msg=f"{name} {result} on a {type(g).__name__}",
        )


def test_no_algorithm_is_left_out() -> None:
    assert {*CASES} - {"dataflow.Triangles"} == {*lib.__all__}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", KINDS)
def test_each_algorithm_says_what_networkx_says(kind: Any) -> None:
    pick = random.Random(f"{kind.__name__}")
    g = random_network(kind, pick)
    graph = gt.Graph.from_networkx(g)
    assert graph.directed == g.is_directed()
    followed = {name: graph.maintain(program) for name, (program, _) in CASES.items()}
    for _ in range(2):
        for name, live in followed.items():
            check(name, live, g)
        change(g, graph, pick)
    for name, live in followed.items():
        check(name, live, g)
    assert_same(graph.to_networkx(), g)


@pytest.mark.interpreted
def test_a_loop_that_comes_or_goes_alone_is_met_once() -> None:
    """Where an advance is small beside the graph, so that nothing begins anew."""
    g = nx.cycle_graph(300)
    graph = gt.Graph.from_networkx(g)
    live = graph.maintain(lib.ConvergedPageRank(tolerance=1e-9))
    for at, come in ((5, True), (9, True), (5, False), (5, True), (9, False)):
        graph.advance(**{"insert" if come else "delete": [(at, at)]})
        (g.add_edge if come else g.remove_edge)(at, at)
        wanted = page_rank(g, 150)
        np.testing.assert_allclose(live["rank"], [wanted[v] for v in g], rtol=1e-7)


@pytest.mark.compiled
def test_the_karate_club_has_the_cores_and_the_ranks_of_networkx() -> None:
    g = nx.karate_club_graph()
    graph = gt.Graph.from_networkx(g)
    core = graph.run(lib.KCore(k=4)).table()
    assert sum(core["inside"].to_pylist()) == len(nx.k_core(g, 4)) == 10
    g.add_edge(3, 3)
    graph.advance(insert=[(3, 3, 1)])
    ranks = graph.maintain(lib.ConvergedPageRank(tolerance=1e-9))["rank"] / len(g)
    wanted = _pagerank_python(g, weight=None, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(ranks, [wanted[v] for v in g], rtol=1e-7)


# ---- what an undirected graph is


def undirected(**more: Any) -> gt.Graph:
    """A path 1 - 2 - 3, twice from 2 to 3, and a loop at 3."""
    columns = {"weight": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "b", "a", None], **more}
    return gt.Graph([1, 3, 2, 3], [2, 2, 3, 3], directed=False, **columns)


def assert_same(one: Network, other: Network) -> None:
    """The same kind, nodes and edges; a multigraph without parallel edges is a plain one."""
    kept = Counter(frozenset(e[:2]) if not other.is_directed() else e[:2] for e in other.edges)
    parallel = max(kept.values(), default=0) > 1
    kinds = (nx.MultiGraph, nx.MultiDiGraph) if parallel else (nx.Graph, nx.DiGraph)
    assert type(one) is kinds[other.is_directed()]
    assert dict(one.nodes(data=True)) == dict(other.nodes(data=True))
    keys = [
        sorted(
            (sorted(e[:2]) if not g.is_directed() else e[:2], e[2]) for e in g.edges(data="weight")
        )
        for g in (one, other)
    ]
    assert keys[0] == keys[1]


def test_an_edge_is_one_row_as_it_was_given_and_has_two_names() -> None:
    graph = undirected()
    assert repr(graph).startswith("<undirected graph in memory: 3 vertices, 4 edges")
    assert "undirected graph in memory" in graph._repr_html_()
    ends = [(row["src"], row["dst"]) for row in graph.edges().to_pylist()]
    assert ends == [(1, 2), (3, 2), (2, 3), (3, 3)]
    graph.advance(delete=[(2, 1)])
    graph.advance(delete={"src": [2], "dst": [3], "kind": ["b"]}, insert=[(2, 1, 5.0, "c")])
    rows = [tuple(row.values()) for row in graph.edges().to_pylist()]
    assert rows == [(2, 2, 3, 3.0, "a"), (3, 3, 3, 4.0, None), (4, 2, 1, 5.0, "c")]
    graph.rollback()
    graph.rollback()
    assert graph.num_edges == 4
    with pytest.raises(InputError, match="edges that are not there"):
        graph.advance(delete=[(1, 2), (2, 1)])


def test_many_rows_name_edges_from_either_end() -> None:
    """By slabs, and by the table of pairs, once there is one."""
    pick = random.Random("many")
    for rounds in range(3):
        pairs = [(pick.randrange(7), pick.randrange(7)) for _ in range(200)]
        graph = gt.Graph(*zip(*pairs, strict=True), directed=False, vertices=range(7))
        graph._resident._pairs._pays = bool(rounds)
        left = Counter(frozenset(pair) for pair in pairs)
        for _ in range(6):
            gone = pick.sample(graph.edges().to_pylist(), 20)
            rows = [(row["src"], row["dst"])[:: pick.choice((1, -1))] for row in gone]
            come = [(pick.randrange(7), pick.randrange(7)) for _ in range(10)]
            graph.advance(insert=come, delete=rows)
            left += Counter(map(frozenset, come))
            left -= Counter(map(frozenset, rows))
            edges = graph.edges().to_pylist()
            assert Counter(frozenset((row["src"], row["dst"])) for row in edges) == left
        while graph.version:
            graph.rollback()
        assert sorted((r["src"], r["dst"]) for r in graph.edges().to_pylist()) == sorted(pairs)


def test_a_simple_graph_has_no_edge_back() -> None:
    with pytest.raises(InputError, match="no parallel edges"):
        gt.Graph([1, 2], [2, 1], directed=False, simple=True)
    graph = gt.Graph([1, 2], [2, 3], directed=False, simple=True)
    with pytest.raises(InputError, match="already there"):
        graph.advance(insert=[(2, 1)])
    with pytest.raises(InputError, match="parallel to another"):
        graph.advance(insert=[(1, 3), (3, 1)])
    graph.advance(insert=[(2, 1)], delete=[(1, 2)])
    assert graph.num_edges == 2


def test_what_is_no_truth_value_is_refused() -> None:
    given: Any = "no"
    with pytest.raises(InputError, match="directed cannot be 'no'"):
        gt.Graph([1], [2], directed=given)


def test_copies_views_and_frames_are_undirected_too() -> None:
    graph = gt.Graph.from_frame(undirected().edges(), directed=False)
    copied = pickle.loads(pickle.dumps(graph))
    view = graph.view("kind = 'a'")
    for one in (graph, copied, view.to_graph(vertices="all")):
        assert not one.directed
        assert not one.to_networkx().is_directed()
    assert type(view.to_networkx()) is nx.Graph
    assert type(graph.to_networkx()) is nx.MultiGraph
    assert type(view.to_networkx(multigraph=True)) is nx.MultiGraph
    with pytest.raises(InputError, match="parallel edges, and multigraph=False: between 3 and 2"):
        graph.to_networkx(multigraph=False)
    degrees = lib.DegreeStatistics()
    assert view.to_graph().maintain(degrees)["incoming"].tolist() == [1, 2, 1]
    assert copied.maintain(degrees)["outgoing"].tolist() == [1, 3, 3]


# ---- runs, queries, dataflows and rules

RUN = [
    lib.KCore(k=2),
    lib.PageRank(iterations=3),
    lib.ConvergedPageRank(tolerance=1e-9),
    lib.WCC(),
    lib.ShortestPaths(source=0),
    lib.Triangles(),
    lib.Rings(length=3),
    lib.SCC(),
]


@pytest.mark.interpreted
@pytest.mark.parametrize("strategy", ["differential", "scratch"])
def test_runs_over_views_say_what_networkx_says_of_each(strategy: Any) -> None:
    pick = random.Random("views")
    g = random_network(nx.MultiGraph, pick, 30)
    graph = gt.Graph.from_networkx(g)
    bounds = {f"upto {at}": f"weight <= {at}" for at in (2, 4, 6, 9)}
    collection = graph.collection("growing", bounds)
    for program in RUN:
        run = collection.run(program, strategy=strategy, verify=1)
        expected = EXPECTED[program.program.name]
        for name, bound in zip(bounds, (2, 4, 6, 9), strict=True):
            part = nx.MultiGraph()
            part.add_nodes_from(g)
            part.add_edges_from((u, v, d) for u, v, d in g.edges(data=True) if d["weight"] <= bound)
            for result, wanted in expected(part).items():
                if isinstance(wanted, dict):
                    found, values = run.values(name, result), [wanted[v] for v in range(N)]
                else:
                    at = list(bounds).index(name)
                    found, values = run.globals()[result].to_pylist()[at], wanted
                np.testing.assert_allclose(found, values, 1e-6, 1e-9, err_msg=str(program))


EXPECTED: dict[str, Expected] = {
    "KCore": lambda g: {"inside": core(g, 2)},
    "PageRank": lambda g: {"rank": page_rank(g, 3)},
    **{name: CASES[name][1] for name in ("ConvergedPageRank", "WCC", "ShortestPaths", "Triangles")},
    **{name: CASES[name][1] for name in ("Rings", "SCC")},
}


@pytest.mark.interpreted
def test_queries_go_along_edges_both_ways() -> None:
    pick = random.Random("queries")
    g = random_network(nx.MultiGraph, pick, 14)
    kinds = {edge: pick.choice("ab") for edge in g.edges(keys=True)}
    nx.set_edge_attributes(g, kinds, "kind")
    graph = gt.Graph.from_networkx(g)
    q = gt.queries
    asked = {
        "path": graph.query("path", q.Path(0, 5, weight="weight")),
        "hops": graph.query("hops", q.Hops(0, 2, direction="in")),
        "reach": graph.query("reach", q.Reach(0)),
        "word": graph.query("word", q.Regular("a/b", 0, label="kind")),
    }
    for _ in range(4):
        near, reached = least(g, [0], None), nx.node_connected_component(g, 0)
        ways = {(u, v, d["kind"]) for u, v, d in g.edges(data=True)}
        ways |= {(v, u, kind) for u, v, kind in ways}
        words = {
            v for u, x, a in ways if (u, a) == (0, "a") for y, v, b in ways if (y, b) == (x, "b")
        }
        assert {*asked["hops"].table()["id"].to_pylist()} == {v for v in g if near[v] <= 2}
        assert {*asked["reach"].table()["id"].to_pylist()} == reached
        assert {*asked["word"].table()["id"].to_pylist()} == words
        (cost,) = asked["path"].table()["distance"].to_pylist()
        wanted = least(g, [0], "weight")[5]
        assert (math.inf if cost is None else cost) == pytest.approx(wanted)
        for one in asked.values():
            one.verify()
        leaving = [edge for edge in g.edges(keys=True) if pick.random() < 0.3]
        rows = [(v, u, g.edges[u, v, key]["weight"]) for u, v, key in leaving]
        g.remove_edges_from(leaving)
        row = join(g, 0, pick.randrange(N), pick)
        assert row is not None
        g.edges[row[0], row[1], max(g[row[0]][row[1]])]["kind"] = "a"
        come = {"src": [0], "dst": [row[1]], "weight": [row[2]], "time": [row[2]], "kind": ["a"]}
        gone = {name: [row[at] for row in rows] for at, name in enumerate(("src", "dst", "weight"))}
        graph.advance(insert=come, delete=gone if rows else None)


def test_rules_have_facts_both_ways() -> None:
    rules = gt.datalog(
        """
        .decl edge(src: vertex, dst: vertex)
        .decl way(one: vertex, other: vertex)
        way(x, y) :- edge(x, y).
        .output way
        """
    )
    graph = undirected()
    live = graph.maintain(rules)
    ends = {(1, 2), (2, 1), (2, 3), (3, 2), (3, 3)}
    assert {tuple(row.values()) for row in live.matches("way").to_pylist()} == ends
    graph.advance(delete=[(2, 1), (3, 3)])
    assert {tuple(row.values()) for row in live.matches("way").to_pylist()} == {(2, 3), (3, 2)}


# ---- on disk


def test_a_live_graph_is_opened_again_as_it_was(tmp_path: Path) -> None:
    with gt.live(tmp_path / "live", undirected()) as graph:
        assert repr(graph).startswith("<live undirected graph in ")
        graph.register("cores", lib.KCore(k=2))
        graph.advance(delete=[(2, 1)], insert=[(2, 2, 1.0, "c"), (1, 3, 1.0, "c")])
        graph.advance(update={"src": [3], "dst": [1], "weight": [7.0]}, match=())
        graph.checkpoint()
        graph.advance(delete=[(3, 3)], insert=[(2, 1, 2.0, "d")])
        rows = graph.edges()
    for readonly in (True, False):
        with gt.live(tmp_path / "live", readonly=readonly) as graph:
            assert not graph.directed
            assert graph.edges().to_pylist() == rows.to_pylist()
            assert sum(graph.program("cores")["inside"]) == 3
            if not readonly:
                graph.verify()
    with pytest.raises(InputError, match="is undirected, which `start` is not"):
        gt.live(tmp_path / "live", gt.Graph([1], [2], weight=[1.0], kind=["a"]))


@pytest.mark.interpreted
def test_a_stored_graph_is_undirected_wherever_it_is_read(tmp_path: Path) -> None:
    pick = random.Random("stored")
    schema = replace(SCHEMA, directed=False)
    edges = [random_edge(pick) for _ in range(24)]
    edges.append({"src": 3, "dst": 3, "year": 2000, "kind": "call"})
    write_graph(Catalog(tmp_path), "g", schema, [random_vertex(pick, v) for v in range(IDS)], edges)
    graph = gt.session(tmp_path, progress=False).graph("g")
    assert repr(graph).startswith("<undirected graph 'g'")
    assert "undirected" in str(graph.schema)
    wanted = nx.MultiGraph()
    wanted.add_nodes_from(range(IDS))
    wanted.add_edges_from((row["src"], row["dst"]) for row in edges)
    check_cores(graph, wanted)
    first = edges[0]
    graph.append(delete=[{"src": first["dst"], "dst": first["src"], "year": first["year"]}])
    wanted.remove_edge(first["src"], first["dst"])
    check_cores(graph, wanted)
    collection = make_views(graph, "views")
    run = collection.run(lib.KCore(k=2), verify=1)
    for view in collection:
        part = nx.MultiGraph(view.to_networkx(vertices="all"))
        assert run.values(view.name).tolist() == [core(part, 2)[v] for v in range(IDS)]
    with pytest.raises(InputError, match="an append cannot say"):
        graph.append(edges=[(1, 2)], directed=False)


def check_cores(graph: gt.CatalogGraph, wanted: Network) -> None:
    """Over the graph in memory, over the lean graph in both forms, and over a copy."""
    right = [core(wanted, 3)[v] for v in range(IDS)]
    for lean in (True, False):
        assert graph.run(lib.KCore(k=3), lean=lean).table()["inside"].to_pylist() == right
        ranks = graph.run(lib.PageRank(iterations=3), lean=lean).table()["rank"]
        met = page_rank(nx.MultiGraph((u, v, {"weight": 1.0}) for u, v in wanted.edges()), 3)
        np.testing.assert_allclose(ranks, [met.get(v, 0.15) for v in range(IDS)])
    assert graph.to_memory().maintain(lib.KCore(k=3))["inside"].tolist() == right
    assert not graph.to_networkx().is_directed()
