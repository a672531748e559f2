"""Each algorithm of the library beside NetworkX, and what an undirected graph is where it is kept.

Graphs have loops; advances take away half of the edges, which are named from either end where that
is the same, and all must be well again after each.
"""

from __future__ import annotations

import math
import pickle
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

import graphtide as gt
from graphtide import algorithms as lib
from graphtide.model.errors import InputError
from graphtide.store.catalog import Catalog
from tests.changing import IDS, SCHEMA, make_views, random_edge, random_vertex
from tests.equivalence.networkx_cases import (
    CASES,
    KINDS,
    Expected,
    N,
    Network,
    core,
    degree,
    least,
    met,
    page_rank,
)
from tests.graphs import write_graph


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


@gt.program
class TwoSteps:
    """Every two edges one behind the other, by what they weigh and how many there are."""

    total = gt.Global(gt.Sum(float))

    def traverse(self, u):
        for v, e in u.out_edges:
            for _, f in v.in_edges:
                self.total(e.weight * f.weight + v.out_degree)


@gt.program
class Later:
    """Those of which the second is the later one: found in rows that are in that order."""

    later = gt.Global(gt.Count())

    def traverse(self, u):
        for v, e in u.out_edges:
            for _, f in v.out_edges:
                if e.time < f.time:
                    self.later()


@pytest.mark.interpreted
def test_walks_along_loops_that_come_and_go_begin_once() -> None:
    pick = random.Random("walks")
    g = random_network(nx.MultiGraph, pick, 12)
    graph = gt.Graph.from_networkx(g)
    live, later = graph.maintain(TwoSteps()), graph.maintain(Later())
    for one in (live, later):
        one._kept.maintainer.anew_share = 0  # Terms, however small the graph.
    for step in range(8):
        if step % 2:
            loops = list(nx.selfloop_edges(g, keys=True, data="weight"))
            gone = [item for item in loops if pick.random() < 0.7]
            g.remove_edges_from([item[:3] for item in gone])
            rows = {"src": [row[0] for row in gone], "weight": [row[3] for row in gone]}
            graph.advance(delete={**rows, "dst": rows["src"]} if gone else None)
        else:
            come = [join(g, at, pick.choice((at, 4)), pick) for at in pick.sample(range(N), 3)]
            graph.advance(insert=[(*row, row[2]) for row in come if row])
        ways, at = met(g), degree(g)
        walks = [(e, f) for e in ways for f in ways if e[1] == f[0]]
        total = sum(e[2] * f[2] + at[e[1]] for e, f in walks)
        assert live.globals["total"] == pytest.approx(total)
        assert later.globals["later"] == sum(e[2] < f[2] for e, f in walks)


@pytest.mark.interpreted
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
    graph.append(edges=[{"src": 1, "dst": 4, "year": 1990, "kind": "new"}])
    graph.append(update=[{"src": 4, "dst": 1, "kind": "new", "year": 1991}], match=["kind"])
    assert graph.edges().to_pylist()[-1] == {"src": 1, "dst": 4, "year": 1991, "kind": "new"}
    wanted.add_edge(1, 4)
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
