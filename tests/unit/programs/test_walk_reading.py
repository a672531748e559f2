"""Walk programs as plans: what loops, conditions and sends become, and what is a vertex program."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import Any

import pytest

import graphtide.lang.python as gt
from graphtide import algorithms
from graphtide.model.errors import InputError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.program_text import explain_walk
from graphtide.plan.walk_forms import walks_of
from graphtide.plan.walk_lowering import unrolled
from graphtide.plan.walk_terms import symmetry
from tests.unit.programs.sources import read

TRIANGLES = """
@gt.program
class Triangles:
    '''In how many triangles each vertex is.'''

    total = gt.Global(gt.Sum(int))
    triangles: int = 0
    found = gt.Sum(int)

    def traverse(self, u):
        for v in u.neighbours:
            if u < v:
                for w in v.neighbours:
                    if v < w and w in u.neighbours:
                        u.found(1)
                        v.found(1)
                        w.found(1)
                        self.total(1)

    def update(self, v):
        v.triangles = v.found
"""
RINGS = """
@gt.program
class Rings:
    length: int = 4
    within: float = 7.0
    most: int = 1000
    rings = gt.Matches(member=gt.Columns(gt.Vertex, size="length"), start=float, limit="most")

    def traverse(self, u):
        for v, path in u.out_edges.repeat(self.length):
            if v == u and gt.distinct(path.vertices[1:]):
                if all(a.time < b.time for a, b in pairwise(path.edges)):
                    if path.edges[-1].time - path.edges[0].time <= self.within:
                        self.rings(path.vertices[:-1], path.edges[0].time)
"""
UNROLLED = """\
traverse(u)
    for path_1, path_edge_1 in u.out_edges:
        for v, path_edge_2 in path_1.out_edges:
            if v.id == u.id and path_1.id != v.id:
                if path_edge_1.time < path_edge_2.time:
                    if path_edge_2.time - path_edge_1.time <= self.within:
                        self.rings(u.id, path_1.id, path_edge_1.time)"""


def walk(body: str, declared: str = "", **around: Any) -> Any:
    """The plan of a program with this `traverse`."""
    text = "@gt.program\nclass Walked:\n    n: int = 0\n    found = gt.Sum(int)\n"
    text += "    total = gt.Global(gt.Sum(int))\n" + textwrap.indent(declared, "    ")
    text += "    def traverse(self, u):\n        u.found(1)\n        self.total(1)\n"
    text += textwrap.indent(textwrap.dedent(body).strip(), "        ")
    text += "\n    def update(self, v):\n        v.n = v.found\n"
    return read(text, **around).plan


def one_statement(body: str, **around: Any) -> Any:
    return walk(body, **around).traverse[2]


def vertex_ids(operator: Any, one: str, other: str) -> x.Expression:
    return x.Compare(operator, x.VertexFact(one, "id"), x.VertexFact(other, "id"))


def test_triangles() -> None:
    plan = read(TRIANGLES).plan
    assert isinstance(plan, w.WalkProgram)
    sends = tuple(w.SendAt(name, "found", x.Const(1, x.INT)) for name in "uvw")
    closed = x.Boolean("and", (vertex_ids("<", "v", "w"), x.Joined("u", "w", "both")))
    inner = w.Step(
        "v",
        p.Direction.BOTH,
        "w",
        None,
        (w.When(closed, (*sends, w.SendGlobal("total", x.Const(1, x.INT)))),),
    )
    outer = w.When(vertex_ids("<", "u", "v"), (inner,))
    assert plan.traverse == (w.Step("u", p.Direction.BOTH, "v", None, (outer,)),)
    assert plan.globals == (p.Accumulator("total", p.AccumulatorKind.SUM, x.INT),)
    assert plan.root == "u"


@pytest.mark.parametrize(
    ("loop", "way", "edge"),
    [
        ("for v in u.neighbours", "both", None),
        ("for v in u.out_neighbours", "out", None),
        ("for v in u.in_neighbours", "in", None),
        ("for v, e in u.edges", "both", "e"),
        ("for v, e in u.out_edges", "out", "e"),
        ("for v, e in u.in_edges", "in", "e"),
    ],
)
def test_loops(loop: str, way: str, edge: str | None) -> None:
    found = one_statement(f"{loop}: v.found(1)")
    assert (found.origin, found.way, found.vertex, found.edge) == ("u", way, "v", edge)


def test_a_name_that_two_loops_bind_is_two_names() -> None:
    plan = walk(
        """
        for v in u.neighbours:
            v.found(1)
        for v in u.in_neighbours:
            v.found(2)
        """
    )
    assert [item.vertex for item in plan.traverse[2:]] == ["v", "v_2"]
    assert plan.traverse[3].body == (w.SendAt("v_2", "found", x.Const(2, x.INT)),)


def test_locals_stand_for_their_values() -> None:
    found = one_statement(
        """
        half = u.n // 2
        for v, e in u.edges:
            more: float = half
            if e.weight > more:
                v.found(half)
        """
    )
    half = x.Binary("//", x.StateRef("u", "n", x.INT), x.Const(2, x.INT))
    condition = x.Compare(
        ">", x.EdgeProperty("weight", x.FLOAT, "e"), x.Call("float", (half,), x.FLOAT)
    )
    assert found.body == (w.When(condition, (w.SendAt("v", "found", half),)),)


def test_continue_is_an_if() -> None:
    found = one_statement(
        """
        for v in u.neighbours:
            if v == u:
                continue
            if v.n > 3:
                v.found(1)
                continue
            elif v not in u.in_neighbours:
                v.found(2)
            v.found(3)
        """
    )
    rest = w.SendAt("v", "found", x.Const(3, x.INT))
    inner = w.When(
        x.Compare(">", x.StateRef("v", "n", x.INT), x.Const(3, x.INT)),
        (w.SendAt("v", "found", x.Const(1, x.INT)),),
        (
            w.When(
                x.Unary("not", x.Joined("u", "v", "in")),
                (w.SendAt("v", "found", x.Const(2, x.INT)),),
            ),
            rest,
        ),
    )
    assert found.body == (w.When(vertex_ids("!=", "v", "u"), (inner,)),)


def test_distinct_compares_each_two() -> None:
    found = one_statement(
        """
        for v in u.neighbours:
            for w in v.neighbours:
                if gt.distinct(u, v, w):
                    w.found(1)
        """
    )
    pairs = (("u", "v"), ("u", "w"), ("v", "w"))
    terms = tuple(vertex_ids("!=", *pair) for pair in pairs)
    assert found.body[0].body[0].condition == x.Boolean("and", terms)


def test_numbers_counts_and_arrays() -> None:
    text = """
    @gt.program
    class Many:
        size: int = 2
        n: int = 0
        many = gt.Sum(int, size="size")
        count = gt.Count()
        most = gt.Global(gt.Max(int, size=3))

        def traverse(self, u):
            for v in u.neighbours:
                for k in range(len(v.many)):
                    v.many[k](k + 1)
                v.count()
                self.most([1, 2, v.n])

        def update(self, v):
            v.n = v.many[0] + v.count + self.most[2]
    """
    turn = x.Binary("+", x.Local("k", x.INT), x.Const(1, x.INT))
    (step,) = read(text).plan.traverse
    assert isinstance(step, w.Step)
    assert step.body == (
        w.ForEach("k", 0, "size", (w.SendAt("v", "many", turn, x.Local("k", x.INT)),)),
        w.SendAt("v", "count", x.Const(1, x.INT)),
        w.SendGlobal("most", x.Const(1, x.INT), x.Const(0, x.INT)),
        w.SendGlobal("most", x.Const(2, x.INT), x.Const(1, x.INT)),
        w.SendGlobal("most", x.StateRef("v", "n", x.INT), x.Const(2, x.INT)),
    )


def test_rings_are_unrolled_when_the_length_is_known() -> None:
    program = read(RINGS, pairwise=pairwise)
    found = program(length=2)
    assert explain_walk(found.unrolled).endswith(UNROLLED)
    (rows,) = found.unrolled.matches
    assert rows.columns == (("member_1", "vertex"), ("member_2", "vertex"), ("start", x.FLOAT))
    assert rows.limit == "most"
    steps = [
        item
        for item in w.walk_statements(program(length=5).unrolled.traverse)
        if isinstance(item, w.Step)
    ]
    assert len(steps) == 5


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"length": 0}, "'length' is the size of member"),
        ({"length": 33}, "'length' is how often a loop is repeated"),
        ({"most": -1}, "'most' is the limit of rings"),
    ],
)
def test_values_that_no_walk_can_have(given: dict[str, int], what: str) -> None:
    with pytest.raises(InputError) as caught:
        read(RINGS, pairwise=pairwise)(**given)
    assert what in caught.value.what


def test_a_path_that_is_too_short_for_what_is_asked_of_it() -> None:
    text = """
    @gt.program
    class Third:
        length: int
        total = gt.Global(gt.Sum(int))

        def traverse(self, u):
            for v, path in u.neighbours.repeat(self.length):
                if path.vertices[3] != u:
                    self.total(1)
    """
    assert read(text)(length=4).unrolled
    with pytest.raises(InputError) as caught:
        read(text)(length=2)
    assert "no path.vertices[3] in a path of 2 steps" in caught.value.what


def test_copies_of_a_body_have_names_of_their_own() -> None:
    plan = gt.Program(
        walk(
            """
            for k in range(2):
                for v, path in u.out_edges.repeat(2):
                    if path.edges[0].weight > k:
                        v.found(k)
            """
        )
    )().unrolled
    steps = [item for item in w.walk_statements(plan.traverse) if isinstance(item, w.Step)]
    names = [name for step in steps for name in (step.vertex, step.edge)]
    assert len(set(names)) == len(names) == 8
    sent = [item for item in w.walk_statements(plan.traverse) if isinstance(item, w.SendAt)][1:]
    assert [item.value for item in sent] == [x.Const(0, x.INT), x.Const(1, x.INT)]
    assert [item.vertex for item in sent] == [steps[1].vertex, steps[3].vertex]


ONE_HOP = {
    "BFS": (
        algorithms.BFS,
        "for v, e in u.out_edges:\n    v.best(u.hops + 1.0)",
        "for v in u.out_neighbours:\n    v.best(u.hops + 1.0)",
        "for w, e in u.in_edges:\n    u.best(w.hops + 1.0)",
    ),
    "ShortestPaths": (
        algorithms.ShortestPaths,
        "for v, e in u.out_edges:\n    v.best(u.dist + e.weight)",
        "for v, way in u.in_edges:\n    far = v.dist + way.weight\n    u.best(far)",
    ),
    "PageRank": (
        algorithms.PageRank,
        "share = u.rank / u.out_degree\nfor v, e in u.out_edges:\n    v.total(share)",
        "for v, e in u.in_edges:\n    u.total(v.rank / v.out_degree)",
    ),
    "WCC": (
        algorithms.WCC,
        "for v in u.neighbours:\n    v.least(u.component)",
        "for v, e in u.edges:\n    u.least(v.component)",
    ),
    "LabelPropagation": (
        algorithms.LabelPropagation,
        "for v, e in u.edges:\n    for k in range(2):\n        v.votes[k](u.share[k])",
    ),
}


@pytest.mark.parametrize("name", ONE_HOP)
def test_a_walk_of_one_edge_is_a_vertex_program(name: str) -> None:
    program: Any
    program, *bodies = ONE_HOP[name]
    text = gt.unparse(program.plan)
    head, _, rest = text.partition("    def traverse")
    update = rest[rest.index("    def update") :]
    head = "\n".join(line for line in head.splitlines() if "direction" not in line) + "\n"
    for body in bodies:
        walked = textwrap.indent(body, "        ")
        found = read(f"{head}    def traverse(self, u):\n{walked}\n\n{update}").plan
        assert found == program.plan


@pytest.mark.parametrize(
    "body",
    [
        "for v in u.out_neighbours: v.found(1)",
        "for v, e in u.out_edges:\n    v.found(1)\n    u.found(1)",
        "for v, e in u.out_edges: v.found(1)\nfor w, f in u.in_edges: w.found(1)",
        "for v, e in u.out_edges:\n    if v in u.in_neighbours: v.found(1)",
        "for v, e in u.out_edges:\n    for w, f in v.out_edges: w.found(1)",
        "u.found(1)\nfor v, e in u.out_edges: v.found(1)",
        "for v, p in u.out_edges.repeat(1): v.found(1)",
    ],
)
def test_what_is_no_vertex_program_stays_a_walk(body: str) -> None:
    text = "@gt.program\nclass Walked:\n    n: int = 0\n    found = gt.Sum(int)\n"
    text += "    def traverse(self, u):\n" + textwrap.indent(body, "        ")
    text += "\n    def update(self, v):\n        v.n = v.found\n"
    assert isinstance(read(text).plan, w.WalkProgram)


def test_globals_are_read_in_update() -> None:
    text = TRIANGLES.replace("v.triangles = v.found", "v.triangles = v.found + self.total")
    (assigned,) = read(text).plan.update
    assert isinstance(assigned, p.AssignState)
    assert x.GlobalRef("total", x.INT) in x.children(assigned.value)


def unrolled_lines(body: str, **values: Any) -> list[str]:
    """The `traverse` of a program with paths, once they are steps."""
    plan = unrolled(walk(body, "length: int = 3\n"), {"length": 3} | values)
    lines = explain_walk(plan).partition("traverse(u)")[2].partition("update(v)")[0].splitlines()
    return [line.strip() for line in lines if line.strip()][2:]


def test_any_two_of_a_path() -> None:
    found = unrolled_lines(
        """
        for v, path in u.neighbours.repeat(self.length):
            if all(b in a.neighbours for a, b in combinations(path.vertices[:-1], 2)):
                v.found(1)
        """
    )
    assert found[3] == (
        "if path_1 in u.neighbours and path_2 in u.neighbours and path_2 in path_1.neighbours:"
    )


def test_a_loop_along_a_path() -> None:
    found = unrolled_lines(
        """
        for v, path in u.out_edges.repeat(self.length):
            for x in path.vertices[1:]:
                x.found(1)
            for e, f in pairwise(path.edges):
                if e.time < f.time:
                    self.total(1)
        """
    )
    assert found[3:] == [
        "path_1.found(1)",
        "path_2.found(1)",
        "v.found(1)",
        "if path_edge_1.time < path_edge_2.time:",
        "self.total(1)",
        "if path_edge_2.time < path_edge_3.time:",
        "self.total(1)",
    ]


def test_loops_within_a_loop_along_a_path_have_names_of_their_own() -> None:
    found = unrolled_lines(
        """
        for v, path in u.neighbours.repeat(2):
            for x in path.vertices:
                for y in x.out_neighbours:
                    y.found(self.length)
        """
    )
    loops = [line for line in found if line.endswith("out_neighbours:")]
    assert loops == [
        "for y in u.out_neighbours:",
        "for y_2 in path_1.out_neighbours:",
        "for y_3 in v.out_neighbours:",
    ]


def test_a_name_that_a_path_would_give_to_a_step_is_not_taken_for_it() -> None:
    found = unrolled_lines(
        """
        for v, path in u.neighbours.repeat(2):
            if all(path_1 != path.vertices[1] for path_1 in path.vertices[2:]):
                v.found(self.length)
            for path_1_2 in path.vertices[2:]:
                if path_1_2 != path.vertices[1]:
                    v.found(2)
        """
    )
    middle = found[0].split()[1]
    assert middle not in ("path_1", "path_1_2")
    assert found[2] == f"if v.id != {middle}.id:"
    assert found[4] == f"if v.id != {middle}.id:"


def test_cliques_of_three_are_triangles() -> None:
    cliques = walks_of(algorithms.Cliques(size=3).unrolled)
    (triangles,) = walks_of(algorithms.Triangles.plan)
    assert [len(walk.hops) for walk in cliques] == [len(triangles.hops)]
    assert symmetry(cliques[0]) is not None
