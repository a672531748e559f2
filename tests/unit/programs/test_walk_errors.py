"""Mistakes in walk programs: each error says what, where in the user's file, and what to do."""

from __future__ import annotations

import textwrap

import pytest

import graphtide.lang.python as gt
from graphtide.model.errors import InputError, LanguageError
from tests.unit.programs.sources import read
from tests.unit.programs.test_program_errors import marked

HEAD = """
@gt.program
class Wrong:
    source: gt.Vertex
    among: gt.Vertices
    length: int = 3
    scale: float = 1.0
    n: int = 0
    xs = gt.State(float, size=4)
    found = gt.Sum(int)
    sums = gt.Sum(float, size=2)
    total = gt.Global(gt.Sum(int))
    heights = gt.Global(gt.Max(float, size=2))
    rings = gt.Matches(first=gt.Vertex, time=float, part=gt.Columns(gt.Vertex, size="length"))

    def initialize(self, v):
        if v == self.source or v in self.among:
            v.n = 1
        v.xs[0] = self.scale

    def traverse(self, u):
        u.found(1)
        u.sums([1, 2])
        self.heights[0](u.xs[0])
        for z, path in u.out_edges.repeat(self.length):
            self.rings(u, path.edges[0].time, path.vertices[1:])
            self.total(1)
"""
TAIL = """
    def update(self, v):
        v.n = v.found
        v.xs[1] = v.sums[0]
"""


def program_text(statements: str, update: str = "") -> str:
    body = textwrap.indent(textwrap.dedent(statements).strip("\n"), "        ")
    return HEAD + body + "\n" + TAIL + textwrap.indent(update, "        ")


def test_the_base_of_these_tests_is_no_mistake() -> None:
    assert read(program_text("pass")).plan.name == "Wrong"


@pytest.mark.parametrize(
    ("statements", "what", "hint", "place"),
    [
        # Where a walk cannot go.
        ("for v in u.friends: v.found(1)", "cannot go over 'friends'", "u.neighbours", None),
        ("for v in u.neighbors: v.found(1)", "'neighbors'", "`neighbours`", "u.neighbors"),
        ("for v in w.neighbours: v.found(1)", "has not reached a vertex 'w'", "it has u", "w"),
        ("for v in self.among: v.found(1)", "goes on to neighbours", "u.edges", "self.among"),
        ("for v in [1, 2]: pass", "goes on to neighbours", "u.neighbours", "[1, 2]"),
        ("for v in u: pass", "goes on to neighbours", "u.neighbours", "u"),
        (
            "for v in u.edges: v.found(1)",
            "an edge comes with the vertex",
            "for v, e in u.edges",
            "v",
        ),
        (
            "for v, e in u.out_neighbours: v.found(1)",
            "without their edges",
            "for v, e in u.out_edges",
            "v, e",
        ),
        ("for v, e, f in u.edges: pass", "plain names", "for v, e", "v, e, f"),
        ("for u in u.neighbours: pass", "'u' has a value already", "another name", "u"),
        ("for v, v in u.edges: pass", "two different names", "for v, e", "v, v"),
        ("x = 1\nfor x in u.neighbours: pass", "'x' has a value", "another name", "x"),
        ("for self in u.neighbours: pass", "'self' has a value", "another name", "self"),
        (
            "for k in range(u.n): u.found(1)",
            "known before the walk",
            "range(self.size)",
            "range(u.n)",
        ),
        ("for k, m in range(3): pass", "over numbers", "one name", None),
        ("for v in u.neighbours:\n    pass\nelse:\n    u.found(1)", "no else", "behind", None),
        ("while True: u.found(1)", "`while`", "for k in range", None),
        # Names that are not bound.
        ("v.found(1)", "has not reached a vertex 'v' here", "it has u", "v"),
        (
            "for v in u.neighbours: pass\nv.found(1)",
            "has not reached a vertex 'v'",
            "it has u",
            "v",
        ),
        ("for v in u.neighbours: v.found(w.n)", "not reached a vertex 'w'", "u, v", "w"),
        (
            "for v in u.neighbours:\n    if v < w: v.found(1)",
            "nothing here is called 'w'",
            "u, v",
            "w",
        ),
        ("if u in w.neighbours: u.found(1)", "has not reached such a vertex", "it has u", "w"),
        ("if w in u.neighbours: u.found(1)", "has not reached such a vertex", "it has u", "w"),
        ("if u in u.edges: u.found(1)", "among the neighbours", "w in u.neighbours", "u.edges"),
        ("if u.n > 2:\n    x = 1\nu.found(x)", "nothing here is called 'x'", "names assigned", "x"),
        ("for v, e in u.edges: pass\nu.found(int(e.time))", "not reached a vertex 'e'", "", "e"),
        ("if u > 2: u.found(1)", "'u' is a vertex, and it is compared with an int", "u.id", "u"),
        ("x = u.n\nx = 2", "'x' has a value already", "another name", "x = 2"),
        ("x = u.n\nx += 2", "'x' keeps its value", "gt.Sum(float)", "x += 2"),
        ("x = u", "'u' alone is no value", "u.id", "u"),
        ("x: text = u.n", "cannot have this type", "int, float or bool", "text"),
        # What is sent.
        ("u.n(1)", "'n' is state", "`update`", "u.n"),
        ("u.missing(1)", "a vertex has no 'missing'", "gt.Sum", "u.missing"),
        ("u.fond(1)", "a vertex has no 'fond'", "`found`", "u.fond"),
        ("u.sums(1)", "an array of 2", "sums[k]", "u.sums"),
        ("u.found[0](1)", "no array", "leave the index out", "u.found"),
        ("u.sums[7](1)", "7 is outside", "0 to 1", "u.sums"),
        ("u.found(0.5)", "v.found is an int", "int(...)", "0.5"),
        ("u.found()", "one value is sent", "v.found(value)", "u.found()"),
        ("self.total()", "one value is sent", "", "self.total()"),
        ("self.heights(1)", "an array of 2", "heights[k]", "self.heights"),
        ("self.found(1)", "nothing of the whole graph", "write v.found", "self.found"),
        ("self.tatal(1)", "nothing of the whole graph", "`total`", "self.tatal"),
        ("self.length(1)", "nothing of the whole graph", "gt.Global", "self.length"),
        ("u.total(1)", "a vertex has no 'total'", "self.total", "u.total"),
        ("print(u)", "cannot call print()", "look at live.table()", "print"),
        ("for v, e in u.edges: e.found(1)", "only vertices", "v.found", "e.found"),
        ("u.n = 3", "traverse cannot assign", "`update`", "u.n"),
        ("u.xs[1] += 3", "traverse cannot assign", "`update`", "u.xs[1]"),
        ("self.n = 3", "nothing can be assigned", "", "self.n"),
        ("u.n", "does nothing", "send it", "u.n"),
        # What is read.
        ("u.found(u.found)", "cannot be read in traverse", "`update`", "u.found"),
        ("u.found(self.total)", "cannot be read in traverse", "`update`", "self.total"),
        ("u.found(self.iteration)", "does not know the iteration", "`update`", None),
        ("u.found(u.xs)", "an array of 4", "xs[k]", "u.xs"),
        ("if u.n: u.found(1)", "a condition is true or false", "!= 0", "u.n"),
        ("if self.among == u: u.found(1)", "a set of vertices", "v in self.among", "self.among"),
        # Rows of matches.
        ("self.rings(u)", "has 3 values", "self.rings(first, time, part)", "self.rings(u)"),
        ("self.rings(u, u, 1)", "'time' holds numbers", "time=gt.Vertex", "u"),
        ("self.rings(3, 1.0, 1)", "'first' takes a vertex", "it has u", "3"),
        ("self.rings(w, 1.0, 1)", "'first' takes a vertex", "it has u", "w"),
        ("self.rings(u, 1.0, u)", "as many values", "path.vertices", "u"),
        # Paths.
        ("for v, p in u.edges.repeat(u.n): pass", "a fixed number of times", "self.length", "u.n"),
        ("for v, p in u.edges.repeat(0): pass", "a fixed number of times", "from 1 on", "0"),
        ("for v, p in u.edges.repeat(): pass", "the number of steps", ".repeat(3)", None),
        (
            "for v, p in u.neighbours.repeat(2):\n    u.found(int(p.edges[0].time))",
            "has no edges",
            "u.out_edges.repeat",
            "p.edges",
        ),
        (
            "for v, p in u.edges.repeat(2):\n    u.found(int(p.edges[2].time))",
            "a path of 2 steps has no edges[2]",
            "edges[0] to edges[1]",
            "2",
        ),
        (
            "for v, p in u.edges.repeat(2):\n    p.vertices[self.length].found(1)",
            "stands at a fixed place",
            "vertices[-1]",
            "self.length",
        ),
        (
            "for v, p in u.edges.repeat(2):\n    if all(e.time for e in p.edges): v.found(1)",
            "all() is of true or false",
            "!= 0",
            None,
        ),
        (
            "for v, p in u.edges.repeat(2):\n    if all(e.a > 1 for e in u.edges): v.found(1)",
            "over the items of a path",
            "path.edges",
            "u.edges",
        ),
        (
            "for v, p in u.edges.repeat(2):\n    if all(e.a > 1 for e, f in p.edges): v.found(1)",
            "one name",
            "pairwise",
            "e, f",
        ),
        (
            "for v, p in u.edges.repeat(2):\n    for e, f in p.edges: v.found(1)",
            "one name",
            "for e in path.edges",
            "e, f",
        ),
        (
            "for v, p in u.edges.repeat(3):\n    for e in combinations(p.edges, 3): v.found(1)",
            "two at a time",
            "combinations(path.vertices, 2)",
            "3",
        ),
        (
            "for v, p in u.edges.repeat(3):\n    for e, e in pairwise(p.edges): v.found(1)",
            "two different names",
            "pairwise",
            "e, e",
        ),
        (
            "for v, p in u.edges.repeat(3):\n    for v in p.vertices: v.found(1)",
            "'v' has a value already",
            "another name",
            "v",
        ),
        ("if gt.distinct(u): u.found(1)", "two or more", "distinct(u, v, w)", "gt.distinct(u)"),
        ("if gt.distinct(u, 3): u.found(1)", "takes vertices", "path.vertices", "3"),
    ],
)
def test_mistakes_in_walks(statements: str, what: str, hint: str, place: str | None) -> None:
    with pytest.raises(LanguageError) as caught:
        read(program_text(statements))
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    found = marked(caught.value)
    if place is not None:
        assert found == place


@pytest.mark.parametrize(
    ("old", "new", "what", "hint"),
    [
        ("    n: int = 0\n", '    n: int = 0\n    direction = "in"\n', "no one direction", "loops"),
        ("gt.Global(gt.Sum(int))", "gt.Global(int)", "does not say how", "gt.Global(gt.Sum(int))"),
        ("first=gt.Vertex", "first=str", "no such kind", "gt.Vertex, int"),
        ("gt.Matches(first=gt.Vertex, time=float, ", "gt.Matches(limit=-1, ", "-1 is no", "limit"),
        ('size="length"))', 'size="scale"))', "'scale' is no int parameter", "scale: int"),
        ('size="length"))', 'size="length"), limit="most")', "no limit", "most: int"),
        ("self.total(1)", "pass", "nothing sends to 'total'", "self.total(...)"),
        ("self.rings(u, path.edges[0].time, path.vertices[1:])", "pass", "to 'rings'", "remove"),
        ("u.found(1)", "pass", "nothing sends to the accumulator 'found'", "v.found"),
        ("traverse(self, u)", "traverse(self, u, e, v)", "only walks send to", "traverse(self, u)"),
    ],
)
def test_mistakes_in_declarations(old: str, new: str, what: str, hint: str) -> None:
    text = program_text("pass")
    assert old in text
    with pytest.raises(LanguageError) as caught:
        read(text.replace(old, new))
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")


def test_the_arguments_of_traverse() -> None:
    text = """
    @gt.program
    class Odd:
        n: int
        found = gt.Sum(int)

        def traverse(self):
            pass

        def update(self, v):
            v.n = v.found
    """
    with pytest.raises(LanguageError) as caught:
        read(text)
    assert "takes 4 arguments" in caught.value.what
    assert "with loops" in (caught.value.hint or "")


def test_a_walk_that_goes_nowhere() -> None:
    text = """
    @gt.program
    class Still:
        total = gt.Global(gt.Sum(int))

        def traverse(self, u):
            self.total(1)
    """
    with pytest.raises(LanguageError) as caught:
        read(text)
    assert "goes nowhere" in caught.value.what


@pytest.mark.parametrize(
    ("statement", "what", "hint"),
    [
        ("v.n = self.heights", "an array of 2", "heights[k]"),
        ("v.n = self.total[0]", "no array", "leave the index out"),
        ("v.n = self.rings", "no parameter 'rings'", "reported in `traverse`"),
        ("self.total(1)", "can only send", "v.best"),
    ],
)
def test_mistakes_in_update(statement: str, what: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        read(program_text("pass", statement))
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")


def test_distinct_by_itself() -> None:
    with pytest.raises(InputError) as caught:
        gt.distinct(1, 2)
    assert "a part of walk programs" in caught.value.what


@pytest.mark.parametrize(
    ("statements", "what", "hint"),
    [
        ("for e in u.out_edges:\n    u.found(1)", "an edge comes with", "for v, e in u.out_edges"),
        ("if u in u:\n    u.found(1)", "`in` asks whether", "w in u.neighbours"),
        ("if u in (u, u):\n    u.found(1)", "`in` asks whether", "w == u or w == v"),
        ("if u.has_edge(u):\n    u.found(1)", "no function 'has_edge'", "w in u.neighbours"),
        ("u.found(len(u.neighbours))", "only arrays", "v.degree"),
        ("if u.neighbours:\n    u.found(1)", "'neighbours' of a vertex is no value", "for w in"),
    ],
)
def test_habits_of_plain_python_are_told_what_a_walk_writes(
    statements: str, what: str, hint: str
) -> None:
    with pytest.raises(LanguageError) as caught:
        read(program_text(statements), "Wrong")
    assert what in str(caught.value)
    assert hint in str(caught.value)
