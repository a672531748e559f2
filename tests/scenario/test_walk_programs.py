"""Walk programs as users meet them: results of vertices, of the whole graph, and rows."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.plan.expressions import INT, ValueType
from graphtide.plan.programs import Accumulator, AccumulatorKind
from graphtide.plan.walks import Matches
from graphtide.run.collection.facts import RunFacts, facts_from
from graphtide.run.collection.start import base_tables, base_values
from graphtide.store.catalog import Catalog
from graphtide.store.results import begin_run, open_run
from tests.oracle import algorithms as naive
from tests.oracle.walk_algorithms import rings
from tests.unit.nga import listings

pytestmark = pytest.mark.interpreted
Triangles = gt.algorithms.Triangles
Rings = gt.algorithms.Rings


@gt.program
class Totals:
    """Edges, and the ends of ways of two: nothing of vertices."""

    edges = gt.Global(gt.Count())
    latest = gt.Global(gt.Max(float))
    ways = gt.Global(gt.Count(size=2))

    def traverse(self, u):  # type: ignore[no-untyped-def]
        for v, e in u.out_edges:
            self.edges()
            self.latest(e.time)
            self.ways[0]()
            for _w in v.out_neighbours:
                self.ways[1]()


def square() -> gt.Graph:
    """A square of a, b, c and d, along which times increase."""
    return gt.Graph(list("abcd"), list("bcda"), time=[1.0, 2.0, 3.0, 4.0])


def test_live_results_of_vertices_and_of_the_graph() -> None:
    graph = square()
    live = graph.maintain(Triangles)
    assert (live.mode, live.fields, live["total"], live.globals) == (
        "walk",
        ("triangles",),
        0,
        {"total": 0},
    )
    changes = live.advance(insert=[("a", "c", 5.0)])
    assert changes.globals == {"total": (0, 2)}
    assert live["triangles"].tolist() == [2, 1, 2, 1]
    assert changes.to_pydict() == {"id": list("abcd"), "old": [0] * 4, "new": [2, 1, 2, 1]}
    assert live.at("b") == {"triangles": 1}
    assert live.table().column_names == ["id", "triangles"]
    live.verify()
    live.advance(insert=[("x", "a", 6.0)])
    assert live.changes().globals == {}
    assert live.changes().to_pydict() == {"id": ["x"], "old": [None], "new": [0]}
    graph.rollback()
    graph.rollback()
    assert (live["total"], live.changes().globals) == (0, {})
    live.verify()
    assert "walk mode" in live.explain()
    live.close()
    with pytest.raises(InputError, match="was closed"):
        live.rollback()


def test_a_walk_with_more_steps_than_python_nests_loops() -> None:
    with pytest.raises(InputError) as caught:
        square().maintain(Rings(length=12))
    assert "too many steps to be compiled" in caught.value.what
    assert "nine steps always fit" in (caught.value.hint or "")
    assert square().maintain(Rings(length=9))["total"] == 0


def test_a_program_without_results_of_vertices() -> None:
    graph = square()
    live = graph.maintain(Totals)
    assert live.fields == ()
    assert live.globals["edges"] == 4
    assert live["ways"].tolist() == [4, 4]
    assert live.table().to_pydict() == {"edges": [4], "latest": [4.0], "ways": [[4, 4]]}
    live.advance(delete=[("d", "a")])
    assert (live["latest"], live["edges"]) == (3.0, 3)
    live.verify()
    with pytest.raises(InputError, match="no result 'edge'"):
        live["edge"]


def test_rows_with_the_users_ids() -> None:
    graph = square()
    live = graph.maintain(Rings(length=4))
    assert live.matches("rings").to_pylist() == [
        {
            "member_1": "a",
            "member_2": "b",
            "member_3": "c",
            "member_4": "d",
            "first": 1.0,
            "last": 4.0,
        }
    ]
    changes = live.advance(delete=[("b", "c")])
    assert changes.disappeared("rings").num_rows == 1
    assert changes.appeared("rings").num_rows == 0
    assert live.match_count() == 0
    graph.rollback()
    assert changes.disappeared()["member_2"].to_pylist() == ["b"]
    assert live.match_count("rings") == 1
    few = graph.maintain(Rings(length=4, most=0))
    assert (few.matches().num_rows, few.match_count(), few["total"]) == (0, 1, 1)
    with pytest.raises(InputError, match="no matches 'cycles'"):
        live.matches("cycles")
    with pytest.raises(InputError, match="has no matches"):
        graph.maintain(Triangles).matches()
    with pytest.raises(InputError, match=r"live\.matches"):
        live["rings"]


@pytest.mark.parametrize("length", [2, 3])
def test_rings_at_every_step(length: int) -> None:
    pick = random.Random(length)
    edges = [(pick.randrange(5), pick.randrange(5), float(at)) for at in range(14)]
    graph = gt.Graph(
        [edge[0] for edge in edges],
        [edge[1] for edge in edges],
        vertices=range(5),
        time=[edge[2] for edge in edges],
    )
    live = graph.maintain(Rings(length=length, within=6.0))
    for step in range(5):
        gone = pick.sample(edges, 4)
        come = [(pick.randrange(5), pick.randrange(5), 14.0 + step * 4 + at) for at in range(4)]
        edges = [edge for edge in edges if edge not in gone] + come
        before = rows_of(live.matches())
        changes = live.advance(insert=come, delete=gone)
        wanted = rings(edges, length, 6.0)
        assert rows_of(live.matches()) == wanted
        assert rows_of(changes.appeared()) == [row for row in wanted if row not in before]
        assert rows_of(changes.disappeared()) == [row for row in before if row not in wanted]
    live.verify()


def test_rings_on_more_pairs_than_a_first_table_holds() -> None:
    """A program that goes along edges alone needs no set of joined pairs, and no room in it."""
    edges = [(at, (at + step) % 70, float(at + step)) for at in range(70) for step in (1, 2)]
    graph = gt.Graph(*([edge[end] for edge in edges] for end in (0, 1)), time=range(140))
    live = graph.maintain(Rings(length=2))
    assert live["total"] == 0
    live.advance(insert=[(5, 4, 500.0)])
    assert rows_of(live.matches()) == [(4, 5, 8.0, 500.0)]
    live.rollback()
    assert live["total"] == 0


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_what_walks_do_not_have() -> None:
    graph = square()
    with pytest.raises(InputError, match="has no mode 'exact'"):
        graph.maintain(Triangles, mode="exact")
    with pytest.raises(InputError, match="neither a tolerance"):
        graph.maintain(Triangles, tolerance=0.1)
    with pytest.raises(InputError, match="'time', which the edges do not have"):
        gt.Graph([1], [2]).maintain(Rings)


VERSIONS = {"three": [0, 1, 4], "two": [1, 4], "all": [0, 1, 2, 3, 4], "none": []}


@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch"])
def test_runs(strategy: Any) -> None:
    graph = square()
    graph.advance(insert=[("c", "a", 5.0)])
    run = graph.run(Triangles, VERSIONS, strategy=strategy, verify=1)
    totals = [1, 0, 2, 0]
    assert run.globals().to_pydict() == {"view": list(VERSIONS), "total": totals}
    summary = run.summary()
    assert summary["total"].to_pylist() == totals
    assert summary["triangles_greatest"].to_pylist() == [1, 0, 2, 0]
    assert run.table("all").to_pydict() == {"id": list("abcd"), "triangles": [2, 1, 2, 1]}
    assert run.history("b")["triangles"].to_pylist() == [1, 0, 1, 0]
    assert run.top(1)["id"].to_pylist()[2] == "a"
    assert run.changes("three", "all")["id"].to_pylist() == ["a", "c", "d"]
    assert run.differences("total")["new"].to_pylist()
    with pytest.raises(InputError, match="a result of the whole graph"):
        run.values("all", "total")


def test_runs_without_results_of_vertices(tmp_path: Path) -> None:
    run = square().run(Totals, {"one": [0], "all": [0, 1, 2, 3]})
    table = run.globals()
    assert table.column_names == ["view", "global_edges", "latest", "ways"]
    assert table["ways"].to_pylist() == [[1, 0], [4, 4]]
    assert run.to_arrow() == table
    assert run.summary().column_names == ["view", "edges", "global_edges", "latest", "ways"]
    lines = run.to_csv(tmp_path / "run.csv").read_text().splitlines()
    assert lines[0] == '"view","global_edges","latest","ways_0","ways_1"'
    assert len(lines) == 3
    with pytest.raises(InputError, match="no results of vertices"):
        run.table("all")
    assert run.picture(tmp_path / "whole.svg").title == "Totals, one to all"
    assert (tmp_path / "whole.svg").stat().st_size
    assert run.picture(field="latest").title


@pytest.mark.parametrize("most", [100, 3, 2])
@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch"])
def test_rows_of_every_view(strategy: Any, most: int) -> None:
    pick = random.Random(0)
    edges = [(pick.randrange(4), pick.randrange(4), float(at)) for at in range(24)]
    graph = gt.Graph(*([edge[end] for edge in edges] for end in (0, 1)), time=range(24))
    ids = graph.vertices()["id"].to_pylist()
    versions = {f"from {at}": list(range(at, at + 14)) for at in range(0, 11, 2)} | {"none": []}
    program = Rings(length=3, most=most)
    run = graph.run(program, versions, strategy=strategy, order="auto", verify=1)
    counts = []
    for view, chosen in versions.items():
        numbers = [(ids.index(src), ids.index(dst), time) for src, dst, time in edges]
        wanted = rings([numbers[at] for at in chosen], 3, 99.0)[:most]
        named = [(*(ids[at] for at in row[:3]), *row[3:]) for row in wanted]
        assert [tuple(row.values()) for row in run.matches(view).to_pylist()] == named
        counts.append(len(wanted))
    assert max(counts) == min(most, 4)
    assert run.summary()["rings_rows"].to_pylist() == counts
    assert run.summary()["rings_at_limit"].to_pylist() == [count >= most for count in counts]
    told = run.differences("rings")
    assert told.column_names[:3] == ["view", "parent", "member_1"]
    assert told["count"].to_pylist()
    with pytest.raises(InputError, match="no matches 'cycles'"):
        run.matches("none", "cycles")


@gt.program
class Chains:
    """Rows alone, one of them without any edge."""

    chains = gt.Matches(one=gt.Vertex, other=gt.Vertex)

    def traverse(self, u):  # type: ignore[no-untyped-def]
        self.chains(u, u)
        for v in u.out_neighbours:
            for w in v.out_neighbours:
                self.chains(u, w)


def test_explain_says_where_a_limit_cuts() -> None:
    graph = gt.Graph([0, 0, 0], [1, 1, 2])
    live = graph.maintain(FewChains)
    assert (live.match_count(), live.matches().num_rows) == (2, 1)
    assert "chains: 2 rows, of which the limit lets 1 through" in live.explain()
    live.advance(delete=[(0, 2)])
    assert "the limit lets" not in live.explain()


@gt.program
class FewChains:
    """One row at most, and how many edges there are, which is declared by an annotation."""

    edges: gt.Global = gt.Count()  # type: ignore[assignment]
    chains = gt.Matches(one=gt.Vertex, other=gt.Vertex, limit=1)

    def traverse(self, u):  # type: ignore[no-untyped-def]
        for v in u.out_neighbours:
            self.chains(u, v)
            for _w, _e in u.out_edges:
                self.edges()


def test_a_global_may_be_declared_by_its_annotation() -> None:
    assert FewChains.plan.globals == (Accumulator("edges", AccumulatorKind.COUNT, INT),)
    assert dict(gt.Graph([0, 0], [1, 2]).maintain(FewChains).globals) == {"edges": 4}


@gt.program
class Worth:
    """The weights of all edges, added up and multiplied."""

    whole = gt.Global(gt.Sum(float))
    all_at_once = gt.Global(gt.Product(float))

    def traverse(self, u):  # type: ignore[no-untyped-def]
        for _v, e in u.out_edges:
            self.whole(e.weight)
            self.all_at_once(e.weight)


def test_sums_and_products_of_the_graph_beyond_the_floats_are_infinite() -> None:
    """As those of vertices are; and they are finite again when what was too much has left."""
    edges = [("a", "b", 1e308), ("b", "c", 1e308)]
    graph = gt.Graph(["a", "b"], ["b", "c"], weight=[1e308, 1e308])
    live = graph.maintain(Worth)
    for inserted, deleted in (
        ([], []),
        ([("c", "d", -1e308), ("d", "e", -1e308), ("e", "f", -1.5)], []),
        ([], [("a", "b"), ("b", "c")]),
        ([("f", "g", -1e308)], []),
        ([], [("d", "e"), ("f", "g")]),
    ):
        live.advance(insert=inserted, delete=deleted)
        edges = [edge for edge in edges if edge[:2] not in deleted] + inserted
        weights = [Fraction(weight) for *_, weight in edges]
        expected = {"whole": as_float(sum(weights)), "all_at_once": as_float(math.prod(weights))}
        assert live.globals == expected
        assert graph.run(Worth)["whole"] == expected["whole"]
        live.verify()
    graph = gt.Graph(["a", "b"], ["b", "c"], weight=[1e308, 1e308])
    run = graph.run(Worth, {"all": [0, 1], "none": [], "one": [0]})
    assert run.globals()["whole"].to_pylist() == [math.inf, 0.0, 1e308]


def as_float(number: Fraction | int) -> float:
    """The nearest float, or an infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def test_a_program_of_rows_alone() -> None:
    graph = square()
    run = graph.run(Chains, {"none": [], "two": [0, 1], "all": [0, 1, 2, 3]}, verify=1)
    alone = [(vertex, vertex) for vertex in "abcd"]
    assert rows_of(run.matches("none")) == alone
    assert rows_of(run.matches("two")) == sorted([*alone, ("a", "c")])
    assert run.summary()["chains_rows"].to_pylist() == [4, 5, 8]
    assert run.to_arrow().column_names == ["view"]
    live = graph.maintain(Chains)
    assert live.advance(insert=[("x", "a", 9.0)]).appeared()["other"].to_pylist() == ["b", "x"]
    live.verify()


def test_the_base_of_a_stored_run_has_a_row_for_the_graph(tmp_path: Path) -> None:
    rows = Counter({(1, 2.5): 2, (0, 1.5): 1})
    base: Any = {"triangles": np.arange(3), "total": np.array([7]), "rings": rows}
    base["ways"] = np.array([[1, 2]])
    nothing = pa.table({"step": pa.array([], pa.int32())})
    tables = base_tables(base, facts_of_walks())
    with begin_run(Catalog(tmp_path), "walks", {}, tables, nothing):
        pass
    found: Any = base_values(open_run(Catalog(tmp_path), "walks").base())
    assert found.pop("rings") == base.pop("rings")
    assert {name: column.tolist() for name, column in found.items()} == {
        name: column.tolist() for name, column in base.items()
    }


def facts_of_walks() -> RunFacts:
    columns: Any = (("member", "vertex"), ("time", ValueType.FLOAT))
    return RunFacts(
        *("name", "Program()", ("triangles",), None, "walk", "", "adaptive"),
        *("views", "graph", "1", "2", "now"),
        globals=("total", "ways"),
        matches=(Matches("rings", columns, 10),),
    )


def test_the_manifest_of_an_earlier_run_has_no_results_of_the_graph() -> None:
    facts = facts_of_walks()
    manifest = facts.to_json()
    assert facts_from("name", json.loads(json.dumps(manifest))) == facts
    del manifest["run"]["globals"]
    del manifest["run"]["matches"]
    assert facts_from("name", manifest).results == ("triangles",)


def test_more_vertices_than_are_asked_for_ahead() -> None:
    around = list(range(200))
    ahead = [(vertex + step) % 200 for step in (1, 2) for vertex in around]
    live = gt.Graph(around * 2, ahead).maintain(gt.algorithms.Triangles)
    assert live["total"] == 200
    live.verify()


def test_the_page_rank_of_the_paper_comes_to_rest() -> None:
    pick = random.Random(5)
    edges = [(at, (at + 1) % 28) for at in range(30)]  # Nobody leads to the last two.
    edges += [(pick.randrange(30), pick.randrange(28)) for _ in range(60)]
    graph = gt.Graph(*zip(*edges, strict=True), vertices=range(30))
    found = graph.maintain(gt.nga(listings.PAGE_RANK)).table().column("rank").to_pylist()
    out = Counter(src for src, _ in edges)
    for vertex in range(30):
        share = sum(found[src] / out[src] for src, dst in edges if dst == vertex)
        assert abs(0.15 / 30 + 0.85 * share - found[vertex]) <= 0.001
    # Each stays where it would move by 0.001, which adds up to 0.001 / 0.15 a vertex.
    ranks = naive.converged_page_rank(30, [(*edge, 1.0) for edge in edges], 0.85, 1e-12)["rank"]
    assert (
        sum(abs(one - two / 30) for one, two in zip(found, ranks, strict=True)) <= 30 * 0.001 / 0.15
    )
