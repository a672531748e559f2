"""Rules over graphs in memory and their views: edges and vertices as facts, relations as rows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import graphtide as gt
from graphtide.lang.python.program_files import programs_of
from graphtide.model.errors import InputError, LanguageError

REACH = """
.decl edge(u: vertex, v: vertex)
.decl root(v: vertex)
.decl reach(v: vertex)
reach(r) :- root(r).
reach(v) :- reach(u), edge(u, v).
.decl degree(v: vertex, n: number)
degree(u, n) :- edge(u, _), n = count : { edge(u, _) }.
.output reach, degree
"""
TEXTS = """
.decl edge(u: vertex, v: vertex, w: number, kind: symbol)
.decl vertex(v: vertex, name: symbol, age: number)
.decl knows(u: vertex, name: symbol, weight: float)
knows(u, n, to_float(w)) :- edge(u, v, w, "friend"), vertex(v, n, a), a > 20.
.output knows
"""
Edges = list[tuple[int, int]]


def _expected(edges: Edges, root: int) -> tuple[set[int], set[tuple[int, int]]]:
    reached, frontier = {root}, [root]
    while frontier:
        at = frontier.pop()
        for u, v in edges:
            if u == at and v not in reached:
                reached.add(v)
                frontier.append(v)
    distinct = set(edges)
    return reached, {(u, len([1 for a, _ in distinct if a == u])) for u, _ in distinct}


def _check(live: gt.Live, edges: Edges) -> None:
    reached, degrees = _expected(edges, 0)
    assert set(live.matches("reach")["v"].to_pylist()) == reached
    found = live.matches("degree")
    assert set(zip(found["v"].to_pylist(), found["n"].to_pylist(), strict=True)) == degrees


@pytest.mark.parametrize("seed", range(3))
def test_rules_follow_a_graph_forth_and_back(seed: int) -> None:
    chance = random.Random(seed)
    edges = [(chance.randrange(6), chance.randrange(6)) for _ in range(8)] + [(0, 1)]
    graph = gt.Graph(*zip(*edges, strict=True))
    live = graph.maintain(gt.datalog(REACH)(root=[0]))
    history = []
    for _ in range(12):
        if history and chance.random() < 0.3:
            live.rollback()
            edges = history.pop()
        else:
            history.append(list(edges))
            gone = chance.sample(edges, chance.randint(0, min(4, len(edges))))
            new = [(chance.randrange(9), chance.randrange(9)) for _ in range(chance.randint(0, 3))]
            live.advance(insert=new, delete=gone)
            for item in gone:
                edges.remove(item)
            edges = edges + new
        _check(live, edges)
    live.verify()


def test_what_an_advance_changed_is_told_by_rows() -> None:
    graph = gt.Graph([0, 1], [1, 2])
    live = graph.maintain(gt.datalog(REACH)(root=[0]))
    changes = live.advance(delete=[(1, 2)])
    assert changes.disappeared("reach")["v"].to_pylist() == [2]
    assert changes.appeared("degree").num_rows == 0


def test_changes_that_were_rolled_back_can_be_held_while_others_come() -> None:
    graph = gt.Graph(["a", "b"], ["b", "c"])
    live = graph.maintain(
        gt.datalog("""
            .decl edge(u: vertex, v: vertex)
            .decl back(u: vertex, v: vertex)
            back(v, u) :- edge(u, v).
            .output back
        """)
    )
    gone = live.advance(insert=[("c", "a")])
    graph.rollback()
    come = live.advance(insert=[("b", "a")])
    graph.rollback()
    graph.advance(delete=[("a", "b")])
    assert gone.appeared("back").to_pylist() == [{"u": "a", "v": "c"}]
    assert come.appeared("back").to_pylist() == [{"u": "a", "v": "b"}]
    assert live.matches("back").to_pylist() == [{"u": "c", "v": "b"}]


def test_properties_of_edges_and_vertices_are_facts() -> None:
    people = {"id": ["ann", "bob", "cy"], "name": ["Ann", "Bob", None], "age": [30, 40, 50]}
    graph = gt.Graph(
        ["ann", "bob", "bob"], ["bob", "ann", "cy"],
        w=[1, 2, 3], kind=["friend", "foe", "friend"], vertices=people,
    )  # fmt: skip
    live = graph.maintain(gt.datalog(TEXTS))
    assert live.matches("knows").to_pylist() == [{"u": "ann", "name": "Bob", "weight": 1.0}]
    live.advance(insert=[("cy", "ann", 5, "friend"), ("bob", "ann", 7, "new kind")])
    assert live.matches("knows")["u"].to_pylist() == ["ann", "cy"]
    live.verify()


@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch"])
def test_rules_run_over_a_collection(strategy: str) -> None:
    src, dst, year = [0, 1, 2, 0, 3, 1], [1, 2, 3, 4, 0, 2], [1, 2, 3, 3, 2, 3]
    graph = gt.Graph(src, dst, year=year)
    years = graph.collection("years", "for y in 1..3 [y{y}: year <= y]")
    run = years.run(gt.datalog(REACH)(root=[0]), strategy=strategy, verify=1)
    for y in (1, 2, 3):
        edges = [(u, v) for u, v, at in zip(src, dst, year, strict=True) if at <= y]
        reached, degrees = _expected(edges, 0)
        assert set(run.matches(f"y{y}", "reach")["v"].to_pylist()) == reached
        found = run.matches(f"y{y}", "degree")
        assert set(zip(found["v"].to_pylist(), found["n"].to_pylist(), strict=True)) == degrees


def test_a_file_of_rules_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "reach.dl"
    path.write_text(REACH)
    (program,) = programs_of(path).values()
    assert (program.name, [item.name for item in program.parameters]) == ("reach", ["root"])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (".decl edge(u: vertex, v: vertex)", "puts nothing out"),
        (".decl edge(u: number, v: number)\n.output edge", "begins with 2 of type vertex"),
        (".decl vertex(n: number)\n.output vertex", "begins with 1 of type vertex"),
        (".decl a(x: number)\n.output a", "nothing says what 'a' holds over a graph"),
        (".decl edge(u: vertex, v: vertex)\n.decl o()\no() :- edge(_, _).\n.output o",
         "o has no attributes"),
        (".decl edge(u: vertex, v: vertex)\n.decl r(v: vertex)\nedge(x, x) :- r(x).\n.output edge",
         "'edge' is what the graph holds"),
        (REACH + '.input edge(filename="x")', "is to come from a file"),
    ],
)  # fmt: skip
def test_what_no_graph_has_is_refused(text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        gt.Graph([0], [1]).maintain(gt.datalog(text))


def test_a_vertex_is_no_number_and_has_no_name_in_the_text() -> None:
    for rule, what in [
        ("reach(3).", "a vertex has no name in the text"),
        ("degree(v, v) :- edge(v, _).", "a vertex stands where a number is expected"),
        ("reach(v + v) :- edge(v, _).", "a vertex has no value"),
    ]:
        with pytest.raises(LanguageError, match=what):
            gt.datalog(REACH + rule)


def test_parameters_must_be_vertices_of_the_graph() -> None:
    graph = gt.Graph([0], [1])
    with pytest.raises(InputError, match="needs a value for 'root'"):
        graph.maintain(gt.datalog(REACH))
    with pytest.raises(InputError, match="names a vertex that is not there"):
        graph.maintain(gt.datalog(REACH)(root=[7]))
    with pytest.raises(InputError, match="has no mode"):
        graph.maintain(gt.datalog(REACH)(root=[0]), mode="exact")


def test_rules_that_are_registered_are_there_after_a_start(tmp_path: Path) -> None:
    with gt.live(tmp_path / "graph", start=gt.Graph([0, 1], [1, 2])) as graph:
        graph.register("reach", gt.datalog(REACH)(root=[0]))
    with gt.live(tmp_path / "graph") as graph:
        graph.advance(insert=[(2, 3)])
        assert graph.program("reach").matches("reach")["v"].to_pylist() == [0, 1, 2, 3]
        graph.program("reach").verify()
