"""Which results name a vertex: numbers of vertices alone, in programs of each language."""

from __future__ import annotations

import pytest

import graphtide as gt
from graphtide import algorithms
from graphtide.plan.vertex_results import vertex_results
from tests.unit.nga import listings
from tests.unit.programs.sources import read

NAMES, MIXED, NUMBER = "names a vertex", "holds both", "is a number"


def kind_of(name: str, program: gt.lang.python.Program, iterations: int | None = None) -> str:
    """What a result is."""
    found = vertex_results(program.plan, iterations)
    return NAMES if name in found.results else MIXED if name in found.mixed else NUMBER


def held(start: str, sent: str = "u.s", update: str = "min(v.s, v.a)", default: str = "") -> str:
    """What the state of a program is that begins so, sends that, and becomes this."""
    text = f"""
    @gt.program
    class Tried:
        source: gt.Vertex
        many: gt.Vertices
        step: int = 1
        s: int{default}
        far: bool
        a = gt.Min(int)

        def initialize(self, v):
            v.far = v == self.source or v in self.many or self.step > 1
            {start}

        def traverse(self, u, e, v):
            v.a({sent})

        def update(self, v):
            v.s = {update}
    """
    return kind_of("s", read(text))


@pytest.mark.parametrize(
    ("start", "more", "expected"),
    [
        ("v.s = v.id", {}, NAMES),
        ("v.s = max(v.id, -1)", {}, NAMES),
        ("v.s = self.source", {}, NAMES),
        ("v.s = v.id if v.far else -1", {}, NAMES),
        ("v.s = v.id if v.far else 2147483648", {}, NAMES),
        ("v.s = v.id if v.far else 2147483647", {}, MIXED),
        ("v.s = v.id if v.far else 0", {}, MIXED),
        ("v.s = v.id + 0", {}, NUMBER),
        ("v.s = v.degree", {}, NUMBER),
        ("v.s = -1", {}, NUMBER),
        ("v.s = -1", {"sent": "u.id"}, NAMES),
        ("v.s = v.id", {"sent": "u.s + 1"}, MIXED),
        ("v.s = v.id", {"sent": "self.step"}, MIXED),
        ("v.s = v.id", {"update": "v.a if v.a < 100 else v.s"}, NAMES),
        ("v.s = v.id", {"update": "max(v.a, self.iteration)"}, MIXED),
        ("pass", {"sent": "u.id"}, MIXED),
        ("pass", {"sent": "u.id", "default": " = -1"}, NAMES),
        ("pass", {"sent": "u.id", "update": "v.a"}, NAMES),
        ("pass", {"sent": "min(u.id, u.s)", "update": "v.a"}, MIXED),
    ],
)
def test_what_a_state_holds(start: str, more: dict[str, str], expected: str) -> None:
    assert held(start, **more) == expected


def test_branches_local_names_and_arrays() -> None:
    program = read("""
    @gt.program
    class Tried:
        size: int = 2
        half: int
        both: int
        pair = gt.State(int, size="size")
        one = gt.State(int, size=3)
        best = gt.Max(int)
        ended: bool

        def initialize(self, v):
            named = v.id
            if v.degree > 1:
                v.half = named
                v.both = named
            else:
                v.both = -1
            for k in range(self.size):
                v.pair[k] = named
            v.one[0] = named

        def traverse(self, u, e, v):
            v.best(u.both)

        def update(self, v):
            v.ended = v.best < 0
    """)
    kinds = {name: kind_of(name, program) for name in ("half", "both", "pair", "one")}
    assert kinds == {"half": MIXED, "both": NAMES, "pair": NAMES, "one": MIXED}


def test_walks_have_globals_and_columns() -> None:
    program = read("""
    @gt.program
    class Tried:
        first = gt.Global(gt.Min(int))
        total = gt.Global(gt.Sum(int))
        rows = gt.Matches(one=int, other=gt.Vertex, degree=int)
        least: int
        own = gt.Min(int)

        def traverse(self, u):
            for w in u.neighbours:
                self.first(w.id)
                self.total(w.id)
                self.rows(u.id, w, u.degree)
                u.own(w.id)

        def update(self, v):
            v.least = v.own
    """)
    found = vertex_results(program.plan, None)
    assert found.results == ("least", "first")
    assert found.columns == {("rows", "one"), ("rows", "other")}
    assert vertex_results(program.plan, 0).results == ("first",), "the default is seen"


@pytest.mark.parametrize("text", [listings.LIBRARY["WCC"], listings.ACTIVE["WCC"]])
def test_programs_in_nga(text: str) -> None:
    assert kind_of("component", gt.nga(text)) == NAMES


def test_programs_of_the_library() -> None:
    plans = {name: getattr(getattr(algorithms, name), "plan", None) for name in algorithms.__all__}
    found = {
        name: vertex_results(plan, None).results
        for name, plan in plans.items()
        if plan is not None and name != "SCC"
    }
    assert {name: results for name, results in found.items() if results} == {"WCC": ("component",)}
