"""Drawn parts of graphs, beside an oracle that goes over all edges one by one."""

import json
import math
import random
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import GraphtideError
from graphtide.run.views.drawable import (
    Neighbourhood,
    coordinate_names,
    edge_index,
    mercator,
    sample,
)
from graphtide.web.answers import Answers
from graphtide.web.drawings import held_by
from graphtide.web.shelf import Shelf
from tests.web.stored import big_session

ODD = [
    "<script>alert(1)</script>",
    "😀 \u0645\u0631\u062d\u0628\u0627",
    "a:b/../c",
    "7",
    "",
    "__proto__",
]
VIEWS = {"all": "true", "early": "year < 2004", "late": "year >= 2004", "odd": "year <> 2005"}
IN_VIEW = {
    "all": lambda year: True,
    "early": lambda year: year < 2004,
    "late": lambda year: year >= 2004,
    "odd": lambda year: year != 2005,
}


class Made:
    """A random graph with loops and parallel edges, as answers, and its rows for the oracle."""

    def __init__(self, seed: int, *, directed: bool, vertices: int = 25, edges: int = 45) -> None:
        draw = random.Random(seed)
        names = [*ODD, *(f"v{at}" for at in range(vertices))]
        self.rows = [
            (draw.choice(names), draw.choice(names), draw.randrange(2000, 2009))
            for _ in range(edges)
        ]
        self.rows += [(self.rows[0][0], self.rows[0][0], 2003), self.rows[1], self.rows[1]]
        self.names = names
        src, dst, year = (list(column) for column in zip(*self.rows, strict=True))
        self.graph = gt.Graph(src, dst, year=year, directed=directed, vertices={"id": names})
        self.collection = self.graph.collection("years", VIEWS)
        self.shelf = Shelf()
        self.shelf.put(self.collection, "years")
        self.answers = Answers(self.shelf)
        listed = self.graph.edges()
        self.edges = {
            number: (one, other, year)
            for number, one, other, year in zip(
                *(listed.column(name).to_pylist() for name in ("edge", "src", "dst", "year")),
                strict=True,
            )
        }

    def draw(self, view: str, **options: object) -> dict:
        """A drawing, as the page gets it."""
        texts = {name: str(value) for name, value in options.items()}
        answer = self.answers.get("collection/years/drawing", {"view": view, **texts})
        return json.loads(json.dumps(answer, allow_nan=False))

    def alive(self, view: str) -> dict[int, tuple[str, str, int]]:
        """The edges of a view by number."""
        return {at: edge for at, edge in self.edges.items() if IN_VIEW[view](edge[2])}


def ball(edges, start, hops):
    """The vertices within so many hops, by breadth-first search over rows."""
    near = defaultdict(set)
    for one, other, _ in edges:
        near[one].add(other)
        near[other].add(one)
    far, front = {start: 0}, [start]
    for vertex in front:
        for other in near[vertex]:
            if other not in far and (hops is None or far[vertex] < hops):
                far[other] = far[vertex] + 1
                front.append(other)
    return set(far)


def drawn_edges(drawing):
    """The edges of a drawing by number: ends by id, and what became of them."""
    edges, ids = drawing["edges"], drawing["vertices"]["id"]
    rows = zip(edges["number"], edges["from"], edges["to"], edges["state"], strict=True)
    return {number: (ids[one], ids[other], state) for number, one, other, state in rows}


def check_true(made: Made, drawing: dict) -> None:
    """Whatever part it is: all that it says holds of the two versions."""
    now = made.alive(drawing["view"])
    then = made.alive(drawing["against"]) if drawing["against"] else now
    drawn = drawn_edges(drawing)
    assert len(drawn) == len(drawing["edges"]["number"]), "an edge is drawn twice"
    for number, (one, other, state) in drawn.items():
        assert made.edges[number][:2] == (one, other)
        assert state == (1 if number not in then else 2 if number not in now else 0)
        assert number in now or number in then
    vertices = drawing["vertices"]
    assert len(set(vertices["id"])) == len(vertices["id"])
    for name, degree in zip(vertices["id"], vertices["degree"], strict=True):
        assert degree == sum(name in edge[:2] for edge in now.values())
    assert drawing["whole"] == {"vertices": len(made.names), "edges": len(now)}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_every_neighbourhood_is_the_one_by_rows(seed, directed):
    made = Made(seed, directed=directed)
    draw = random.Random(seed)
    for view in VIEWS:
        against = draw.choice([*VIEWS, None])
        options = {} if against is None else {"against": against}
        start = draw.choice([name for name in made.names if name])
        hops = draw.randrange(0, 5)
        for reach in ({"hops": hops}, {"component": 1}):
            drawing = made.draw(view, around=start, **reach, **options)
            check_true(made, drawing)
            both = made.alive(view)
            if drawing["against"]:
                both = both | made.alive(drawing["against"])
            near = ball(both.values(), start, reach.get("hops"))
            inner = {number for number, edge in both.items() if {*edge[:2]} <= near}
            assert set(drawing["vertices"]["id"]) == near
            if reach.get("hops") != 0:
                assert set(drawing["edges"]["number"]) == inner


@pytest.mark.parametrize("seed", range(8))
def test_caps_are_kept_and_noted(seed):
    made = Made(seed, directed=True)
    for most in (1, 3, 10, 30):
        for options in ({"around": "v1", "component": 1}, {"sample": 1}, {}):
            drawing = made.draw("all", alone=1, most=most, **options)
            check_true(made, drawing)
            whole = len(made.alive("all"))
            if options.get("around"):
                near = ball(made.edges.values(), "v1", None)
                whole = sum({*edge[:2]} <= near for edge in made.edges.values())
                assert set(drawing["vertices"]["id"]) <= near
            count = len(drawing["edges"]["number"])
            assert count == min(most, whole) or "sample" in options
            assert count <= most
            assert drawing["note"] if count < len(made.alive("all")) else True
            if "sample" not in options:
                reached = ball(
                    [(one, other, 0) for one, other, _ in drawn_edges(drawing).values()],
                    drawing["vertices"]["id"][0],
                    None,
                )
                assert reached == set(drawing["vertices"]["id"]), "a part in several pieces"


def test_a_sample_is_the_same_each_time_and_from_all_over():
    made = Made(5, directed=False, vertices=200, edges=600)
    first, again = (made.draw("all", sample=1, most=80, alone=1) for _ in range(2))
    assert first == again
    check_true(made, first)
    assert 40 < len(first["edges"]["number"]) <= 80
    beside = made.draw("odd", sample=1, most=80, alone=1)
    shared = set(first["edges"]["number"]) & set(beside["edges"]["number"])
    assert len(shared) > 20


def test_a_small_graph_is_drawn_whole_with_vertices_that_have_no_edge():
    made = Made(3, directed=True)
    drawing = made.draw("late")
    check_true(made, drawing)
    assert set(drawing["vertices"]["id"]) == set(made.names)
    both = made.alive("late") | (made.alive(drawing["against"]) if drawing["against"] else {})
    assert set(drawing["edges"]["number"]) == set(both)


def test_without_an_other_version_it_is_beside_its_parent_in_the_plan():
    made = Made(1, directed=True)
    labels = {step.index: step.view for step in made.collection.steps()}
    for step in made.collection.steps():
        parent = labels.get(step.parent)
        assert made.draw(step.view)["against"] == parent
        assert made.draw(step.view, alone=1)["against"] is None
        assert made.draw(step.view, against=step.view)["against"] is None


def test_more_adds_the_edges_at_vertices_and_keeps_the_rest():
    made = Made(2, directed=True)
    before = made.draw("all", around="v1", hops=1, alone=1)
    after = made.draw("all", around="v1", hops=1, alone=1, more=json.dumps(["v2", ODD[0]]))
    check_true(made, after)
    at_them = {at for at, edge in made.edges.items() if {"v2", ODD[0]} & {*edge[:2]}}
    assert set(after["edges"]["number"]) >= set(before["edges"]["number"]) | at_them
    assert set(after["vertices"]["id"]) >= {"v2", ODD[0]}


@pytest.mark.parametrize("name", ODD[:4] + ODD[5:])
def test_any_text_names_a_vertex(name):
    made = Made(4, directed=True)
    drawing = made.draw("all", around=name, hops=1, alone=1)
    assert name in drawing["vertices"]["id"]
    facts = made.answers.get("collection/years/vertex", {"view": "all", "vertex": name})
    assert facts["id"] == name
    assert facts["degree"] == sum(name in edge[:2] for edge in made.edges.values())


def test_numbers_are_named_by_their_texts():
    graph = gt.Graph([1, 2, 3], [2, 3, 30], kind=["x", "y", "z"])
    answers = answers_of(graph.collection("c", {"all": "true"}), "c")
    drawing = answers.get("collection/c/drawing", {"view": "all", "around": "30", "hops": "1"})
    assert drawing["vertices"]["id"] == ["3", "30"]
    number = str(drawing["edges"]["number"][0])
    facts = answers.get("collection/c/edge", {"view": "all", "number": number})
    assert facts == {"from": "3", "to": "30", "properties": {"kind": "z"}}


def answers_of(thing, name):
    shelf = Shelf()
    shelf.put(thing, name)
    return Answers(shelf)


def test_vertices_that_are_taken_out_are_not_there():
    graph = gt.Graph(["a", "b", "c", "d"], ["b", "c", "d", "a"], directed=False)
    collection = graph.collection("out", "[all: true], without each vertex")
    run = collection.run(gt.algorithms.WCC())
    shelf = Shelf()
    for thing in (collection, run):
        shelf.put(thing, "out")
    answers = Answers(shelf)
    for kind in ("collection", "run"):
        alone = answers.get(f"{kind}/out/drawing", {"view": "without b", "alone": "1"})
        assert alone["vertices"]["id"] == ["a", "c", "d"]
        assert alone["whole"] == {"vertices": 3, "edges": 2}
        beside = answers.get(f"{kind}/out/drawing", {"view": "without b", "against": "all"})
        states = dict(zip(beside["vertices"]["id"], beside["vertices"]["state"], strict=True))
        assert states == {"a": 0, "b": 2, "c": 0, "d": 0}
        assert drawn_states(beside) == {("a", "b"): 2, ("b", "c"): 2, ("c", "d"): 0, ("d", "a"): 0}
        back = answers.get(f"{kind}/out/drawing", {"view": "all", "against": "without b"})
        states = dict(zip(back["vertices"]["id"], back["vertices"]["state"], strict=True))
        assert states == {"a": 0, "b": 1, "c": 0, "d": 0}
    values = dict(zip(beside["vertices"]["id"], beside["vertices"]["value"], strict=True))
    assert values["b"] is None
    assert back["vertices"]["before"][back["vertices"]["id"].index("b")] is None
    facts = answers.get("run/out/vertex", {"view": "without b", "vertex": "b"})
    assert facts["degree"] == 0
    assert facts["results"] == {}


def drawn_states(drawing):
    return {(one, other): state for one, other, state in drawn_edges(drawing).values()}


def test_results_colour_vertices_and_tell_what_they_were():
    graph = gt.Graph(["a", "b", "d"], ["b", "c", "e"], kind=[1, 2, 1], directed=False)
    collection = graph.collection("c", {"all": "true", "cut": "kind = 1"})
    run = collection.run(gt.algorithms.WCC())
    answers = answers_of(run, "r")
    drawing = answers.get("run/r/drawing", {"view": "cut", "against": "all"})
    vertices = drawing["vertices"]
    values = dict(zip(vertices["id"], vertices["value"], strict=True))
    before = dict(zip(vertices["id"], vertices["before"], strict=True))
    assert drawing["field"] == "component"
    assert values["a"] == values["b"] != values["c"]
    assert before["a"] == before["b"] == before["c"] != before["d"]
    table = {row["id"]: row["component"] for row in run.table("cut").to_pylist()}
    assert values == {name: str(value) for name, value in table.items()}
    facts = answers.get("run/r/vertex", {"view": "cut", "vertex": "c"})
    assert facts["results"] == {"component": "c"}
    gone = next(at for at, state in enumerate(drawing["edges"]["state"]) if state == 2)
    number = str(drawing["edges"]["number"][gone])
    facts = answers.get("run/r/edge", {"view": "cut", "number": number})
    assert facts == {"from": "b", "to": "c", "properties": {"kind": 2}}


def test_what_is_not_reached_is_said_in_words():
    graph = gt.Graph(["a", "x"], ["b", "y"])
    run = graph.collection("c", {"all": "true"}).run(gt.algorithms.BFS(source="a"))
    vertices = answers_of(run, "r").get("run/r/drawing", {"view": "all"})["vertices"]
    values = dict(zip(vertices["id"], vertices["value"], strict=True))
    assert values["b"] == 1
    assert values["x"] == values["y"] == "not reached"


def test_coordinates_place_vertices():
    vertices = pa.table(
        {"id": ["a", "b", "c"], "Longitude": [10.0, 20.0, None], "Latitude": [0.0, 60.0, 1.0]}
    )
    graph = gt.Graph(["a", "b"], ["b", "c"], vertices=vertices)
    answers = answers_of(graph.collection("c", {"all": "true"}), "c")
    drawn = answers.get("collection/c/drawing", {"view": "all"})["vertices"]
    assert drawn["x"] == [10.0, 20.0, None]
    up = math.degrees(math.log(math.tan(math.pi / 4 + math.radians(60) / 2)))
    assert drawn["y"] == [pytest.approx(0.0), pytest.approx(up), None]
    plain = gt.Graph(["a"], ["b"]).collection("c", {"all": "true"})
    assert (
        answers_of(plain, "c").get("collection/c/drawing", {"view": "all"})["vertices"]["x"] is None
    )


def test_which_properties_are_coordinates():
    assert coordinate_names(["name", "lng", "lat"]) == ("lng", "lat", True)
    assert coordinate_names(["X", "y"]) == ("X", "y", False)
    assert coordinate_names(["x", "lat"]) is None
    assert list(mercator(np.array([90.0, -90.0]))) == pytest.approx([179.41, -179.41], abs=0.01)


@pytest.mark.parametrize(
    "options",
    [
        {"view": "nope"},
        {},
        {"view": "all", "around": "nobody"},
        {"view": "all", "hops": "2"},
        {"view": "all", "most": "-1"},
        {"view": "all", "around": "v1", "hops": "x"},
        {"view": "all", "against": "nope"},
        {"view": "all", "more": "[1]"},
        {"view": "all", "more": "{"},
        {"view": "all", "more": '["nobody"]'},
    ],
)
def test_what_cannot_be_drawn_is_an_error_of_ours(options):
    with pytest.raises(GraphtideError) as raised:
        Made(1, directed=True).answers.get("collection/years/drawing", options)
    assert raised.value.hint


def test_an_edge_that_is_not_there_is_an_error_of_ours():
    answers = Made(1, directed=True).answers
    with pytest.raises(GraphtideError):
        answers.get("collection/years/edge", {"view": "all", "number": "999999"})


def test_a_graph_without_edges_is_drawn():
    graph = gt.Graph(["a"], ["b"], kind=[1])
    answers = answers_of(graph.collection("c", {"all": "true", "none": "kind = 2"}), "c")
    drawing = answers.get("collection/c/drawing", {"view": "none", "alone": "1"})
    assert drawing["vertices"]["id"] == ["a", "b"]
    assert drawing["edges"]["number"] == []


@pytest.mark.parametrize("seed", range(6))
def test_an_index_has_every_edge_at_both_ends_and_loops_once(seed):
    draw = np.random.default_rng(seed)
    src, dst = (draw.integers(0, 30, 80).astype(np.int32) for _ in range(2))
    index = edge_index(30, src, dst)
    for vertex in range(30):
        edges, others = index.at(np.array([vertex]))
        wanted = sorted(at for at in range(80) if vertex in (src[at], dst[at]))
        assert sorted(edges.tolist()) == wanted
        assert all(
            {vertex, other} == {src[at], dst[at]} for at, other in zip(edges, others, strict=True)
        )


def test_an_index_of_many_vertices_sorts_by_all_bits():
    src = np.array([70_000, 1, 65_536, 70_000], np.int32)
    dst = np.array([1, 70_000, 0, 70_000], np.int32)
    index = edge_index(70_001, src, dst)
    assert sorted(index.at(np.array([70_000]))[0].tolist()) == [0, 1, 3]
    assert index.at(np.array([0]))[1].tolist() == [65_536]


def test_a_part_of_so_many_vertices_takes_the_highest():
    src = np.zeros(5, np.int32)
    dst = np.arange(1, 6, dtype=np.int32)
    rank = np.array([0, 5, 1, 4, 2, 3])
    part = Neighbourhood(edge_index(6, src, dst), np.ones(5, np.bool_), rank, most_vertices=3)
    part.grow(np.array([0]))
    assert np.flatnonzero(part.found).tolist() == [0, 1, 3]
    assert part.cut


def test_a_sample_of_nothing_is_empty():
    nothing = np.zeros(0, np.int32)
    part = sample(edge_index(3, nothing, nothing), np.zeros(0, np.bool_), nothing, 10)
    assert not len(part.edges)


def test_a_live_graph_is_drawn_beside_the_version_before():
    graph = gt.Graph(["a", "b", "x"], ["b", "c", "y"], kind=["k", "k", "k"], directed=False)
    live = graph.maintain(gt.algorithms.WCC())
    answers = answers_of(graph, "g")
    options = {"program": "WCC", "field": "component"}
    first = answers.get("live/g/drawing", options)
    assert (first["view"], first["against"]) == ("version 0", None)
    graph.advance(insert=[("c", "x", "new")], delete=[("a", "b")], vertices=["z"])
    second = answers.get("live/g/drawing", options)
    assert (second["view"], second["against"]) == ("version 1", "version 0")
    assert drawn_states(second) == {("a", "b"): 2, ("b", "c"): 0, ("x", "y"): 0, ("c", "x"): 1}
    vertices = second["vertices"]
    values = dict(zip(vertices["id"], vertices["value"], strict=True))
    before = dict(zip(vertices["id"], vertices["before"], strict=True))
    assert values == {row["id"]: row["component"] for row in live.table().to_pylist()}
    assert (before["c"], before["y"], before["z"]) == ("a", "x", None)
    drawn = {ends[:2]: number for number, ends in drawn_edges(second).items()}
    for ends, kind in ((("c", "x"), "new"), (("a", "b"), "k")):
        asked = {"view": "version 1", "number": str(drawn[ends])}
        facts = answers.get("live/g/edge", asked)
        assert facts == {"from": ends[0], "to": ends[1], "properties": {"kind": kind}}
    facts = answers.get("live/g/vertex", {"view": "version 1", "vertex": "c", **options})
    assert (facts["degree"], facts["results"]) == (2, {"component": "b"})
    assert answers.get("live/g/drawing", {"alone": "1"})["against"] is None
    again = answers.get("live/g/drawing", options)
    assert again == second


def test_a_live_result_that_is_no_colour_is_refused():
    answers = answers_of(gt.Graph(["a"], ["b"]), "g")
    with pytest.raises(GraphtideError):
        answers.get("live/g/drawing", {"program": "nobody"})


def test_what_is_stored_is_drawn_and_a_run_shares_its_edges(tmp_path):
    session = big_session(tmp_path)
    collection = session.collection("big")
    run = collection.run(gt.algorithms.WCC(), name="parts")
    shelf = Shelf(session)
    answers = Answers(shelf)
    view = {"view": "upto-2030", "against": "upto-2029"}
    drawn = {
        kind: answers.get(f"{kind}/{name}/drawing", view)
        for kind, name in (("collection", "big"), ("run", "parts"))
    }
    rows = collection["upto-2030"].to_arrow().to_pylist()
    states = drawn["collection"]["edges"]["state"]
    came = [row for row in rows if row["year"] == 2030]
    assert (states.count(0), states.count(1), states.count(2)) == (
        len(rows) - len(came),
        len(came),
        0,
    )
    assert drawn["run"]["edges"] == drawn["collection"]["edges"]
    assert len(held_by(shelf).graphs) == 1
    vertices = drawn["run"]["vertices"]
    values = dict(zip(vertices["id"], vertices["value"], strict=True))
    table = {row["id"]: row["component"] for row in run.table("upto-2030").to_pylist()}
    assert values == {name: table[name] for name in values}
    ends = drawn_edges(drawn["collection"])
    for number, (one, other, state) in [*ends.items()][:20]:
        asked = {"view": "upto-2030", "number": str(number)}
        facts = answers.get("collection/big/edge", asked)
        assert (facts["from"], facts["to"]) == (one, other)
        assert (facts["properties"]["year"] == 2030) == (state == 1)
        assert answers.get("run/parts/edge", asked) == facts
    facts = answers.get("run/parts/vertex", {"view": "upto-2030", "vertex": ODD[0]})
    assert facts["properties"] == {"state": "CA"}
    assert facts["results"] == {"component": values[ODD[0]]}
