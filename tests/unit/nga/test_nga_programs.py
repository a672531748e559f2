"""L_NGA as plans: the listings of the paper, and that both languages say the same thing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphtide import algorithms
from graphtide.lang.nga import nga, unparse
from graphtide.model.errors import InputError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.walk_explain import explain_walks, walk_facts
from tests.unit.nga import listings
from tests.unit.programs.sources import read
from tests.unit.programs.test_walk_reading import RINGS
from tests.unit.programs.test_walk_reading import TRIANGLES as TRIANGLES_IN_PYTHON

CLUSTERING_IN_PYTHON = """
@gt.program
class Clustering:
    coefficient: float
    closed = gt.Sum(int)
    open = gt.Sum(int)

    def traverse(self, u):
        for v in u.neighbours:
            if u != v:
                for w in u.neighbours:
                    if v < w and u != w:
                        u.open(1)
                        if w in v.neighbours:
                            u.closed(1)

    def update(self, v):
        if v.open > 0:
            v.coefficient = v.closed / v.open
"""


def plain(plan: Any) -> Any:
    return replace(plan, documentation="")


def body(statements: str, declared: str = "", update: str = "u.n = u.found;") -> Any:
    """The plan of a program with this Traverse."""
    lines = "\n".join("  " + line for line in statements.strip("\n").split("\n"))
    text = f"Vertex (n: long, found: Accm<long, SUM>)\n{declared}\n"
    return nga(f"{text}Traverse (u):\n{lines}\nUpdate (u): {update}").plan


@pytest.mark.parametrize("name", listings.LIBRARY)
def test_the_library_in_l_nga_is_the_same_plan(name: str) -> None:
    program = getattr(algorithms, name)
    assert nga(listings.LIBRARY[name]).plan == plain(program.plan)


@pytest.mark.parametrize("name", listings.ACTIVE)
def test_programs_that_activate_what_changes_are_the_same_plan(name: str) -> None:
    program = getattr(algorithms, name)
    assert nga(listings.ACTIVE[name]).plan == plain(program.plan)


def test_walks_are_the_same_plan_in_both_languages() -> None:
    assert nga(listings.TRIANGLES).plan == read(TRIANGLES_IN_PYTHON).plan
    assert nga(listings.CLUSTERING).plan == read(CLUSTERING_IN_PYTHON).plan


def test_the_triangles_of_the_paper() -> None:
    plan = nga(listings.TRIANGLE_COUNT, name="Count").plan
    in_python = """
    @gt.program
    class Count:
        cnts = gt.Global(gt.Sum(int))
        iterations = 1

        def traverse(self, u1):
            for u2 in u1.neighbours:
                if u1 < u2:
                    for u3 in u2.neighbours:
                        if u2 < u3:
                            for u4 in u3.neighbours:
                                if u4 == u1:
                                    self.cnts(1)
    """
    assert plan == read(in_python).plan
    assert plan == nga(listings.TRIANGLE_COUNT_IN_BRACES, name="Count").plan


def test_the_page_rank_of_the_paper() -> None:
    plan = nga(listings.PAGE_RANK, name="Ranks").plan
    in_python = """
    @gt.program
    class Ranks:
        V: int
        rank = gt.State(float)
        sum = gt.Sum(float)

        def initialize(self, v):
            v.rank = 1.0

        def traverse(self, u, e, v):
            v.sum(u.rank / u.out_degree)

        def update(self, v):
            val = 0.15 / self.V + 0.85 * v.sum
            if abs(val - v.rank) > 0.001:
                v.rank = val
    """
    assert plan == read(in_python).plan


def test_who_is_sent_nothing_divides_nothing_by_it() -> None:
    for divided in ("1 / u.sum", "u.rank % u.sum", "Log(u.sum)", "1 / (0.1 + sent)"):
        text = listings.PAGE_RANK.replace("0.15/V + 0.85*u.sum", divided)
        text = text.replace("Update (u):\n", "Update (u):\n  Let sent = u.sum;\n")
        assert "received" in [item.name for item in nga(text).plan.accumulators], divided


def test_sums_of_who_is_active_by_another_rule_are_taken_at_their_word() -> None:
    for old, new in (
        ("u.rank = val;\n    u.active = true;", "u.rank = val;\n  u.active = val > 1;"),
        ("u.active = true;\n\nTraverse", "u.active = u.out_degree > 1;\n\nTraverse"),
        ("u.rank / u.out_degree;", "u.active ? u.rank : 0;"),
    ):
        text = listings.PAGE_RANK.replace(old, new)
        assert text != listings.PAGE_RANK
        assert "active" in [item.name for item in nga(text).plan.state]


AGES = """
Vertex (age: int, kind: string, score: double = 0.5, oldest: int, found: Accm<int, MAX>)
Initialize (u): u.oldest = u.age;
Traverse (u): For v in u.out_nbrs Where (u.kind == "a" And u.score > 0.1)
    v.found.Accumulate(u.oldest);
Update (u): u.oldest = Max(u.oldest, u.found);
"""


def test_an_attribute_that_nothing_assigns_is_a_property_of_the_data() -> None:
    plan = nga(AGES, name="Ages").plan
    in_python = """
    @gt.program
    class Ages:
        oldest = gt.State(int)
        found = gt.Max(int)
        age = gt.VertexProperty(int)
        kind = gt.VertexProperty(str)
        score = gt.VertexProperty(float, missing=0.5)
        def initialize(self, v):
            v.oldest = v.age
        def traverse(self, u, e, v):
            if u.kind == "a" and u.score > 0.1:
                v.found(u.oldest)
        def update(self, v):
            v.oldest = max(v.oldest, v.found)
    """
    assert plan == read(in_python).plan
    assert nga(unparse(plan)).plan == plan


@pytest.mark.parametrize(
    "text",
    [
        listings.PAGE_RANK,
        listings.TRIANGLE_COUNT,
        listings.TRIANGLES,
        listings.CLUSTERING,
        *listings.LIBRARY.values(),
        *listings.ACTIVE.values(),
    ],
)
def test_what_unparse_writes_reads_as_the_same_plan(text: str) -> None:
    plan = nga(text).plan
    written = unparse(plan)
    assert nga(written).plan == plan
    assert unparse(nga(written).plan) == written


@pytest.mark.parametrize("name", ["BFS", "WCC", "KHops", "ShortestPaths", "PageRank", "WidestPath"])
def test_programs_of_the_library_can_be_written(name: str) -> None:
    plan = getattr(algorithms, name).plan
    assert nga(unparse(plan)).plan == plan


def test_what_l_nga_cannot_say_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        unparse(read(RINGS).plan)
    assert "rows of matches" in caught.value.what
    changing = read(
        """
        @gt.program
        class Changing:
            n: int
            found = gt.Sum(int)

            def traverse(self, u, e, v):
                v.found(1)

            def update(self, v):
                old = v.n
                v.n = v.found
                v.n = v.n + old
        """
    )
    with pytest.raises(InputError) as caught:
        unparse(changing.plan)
    assert "Changing cannot be written in L_NGA" in caught.value.what


def loops(plan: Any) -> list[tuple[str, str, str | None]]:
    found = [item for item in w.walk_statements(plan.traverse) if isinstance(item, w.Step)]
    return [(item.vertex, str(item.way), item.edge) for item in found]


def test_loops_that_nest_visit_distinct_neighbours() -> None:
    plan = body(
        """
For v in u.out_nbrs
  For w in v.in_nbrs Via f
    w.found.Accumulate(1);
For v in u.nbrs
  v.found.Accumulate(1);
"""
    )
    assert loops(plan) == [("v", "out", None), ("w", "in", "f"), ("v_2", "both", None)]


def test_a_loop_alone_goes_along_edges() -> None:
    plan = body("For v in u.out_nbrs\n  v.found.Accumulate(1);\n  u.found.Accumulate(1);")
    assert loops(plan) == [("v", "out", "e")]
    distinct = body("For v in Distinct u.out_nbrs\n  v.found.Accumulate(1);")
    assert loops(distinct) == [("v", "out", None)]
    assert isinstance(body("For v in u.out_nbrs v.found.Accumulate(1);"), p.VertexProgram)


def test_let_is_substitution() -> None:
    plan = nga(
        """
        Vertex (a: long, b: long, c: long, found: Accm<long, SUM>)
        Initialize (u): u.b = 2
        Traverse (u):
          For v in u.nbrs
            v.found.Accumulate(1)
        Update (u):
          Let kept = u.found + u.b
          Let x = u.a + kept
          u.a = u.found
          u.c = x
        """
    ).plan
    kept = x.Binary("+", x.AccumulatorRef("found", x.INT), x.StateRef("v", "b", x.INT))
    summed = x.Binary("+", x.StateRef("v", "a", x.INT), x.Local("kept", x.INT))
    assert plan.update == (
        p.AssignLocal("kept", kept),
        p.AssignState("a", x.AccumulatorRef("found", x.INT)),
        p.AssignState("c", summed),
    )


def test_let_within_a_loop_that_assigns_what_it_reads() -> None:
    plan = nga(
        """
        Vertex (a: long, found: Accm<long, SUM>)
        Traverse (u): For v in u.nbrs v.found.Accumulate(1)
        Update (u):
          For k in Range(3)
            u.a = u.a + 1
            Let x = u.a
            If (x > u.found)
              u.a = x + x
        """
    ).plan
    (loop,) = plan.update
    assert isinstance(loop, p.ForRange)
    assert not any(isinstance(item, p.AssignLocal) for item in p.statements_of(loop.body))


def test_numbers() -> None:
    plan = body(
        "For v in u.nbrs\n  v.found.Accumulate(1);",
        update="u.n = Int(u.found / 2) + Div(u.found, 2) % 3 - Floor(2.5e1 ** .5);",
    )
    (assigned,) = plan.update
    found = [item for item in p.expressions_of(plan.update) if isinstance(item, x.Binary)]
    assert {item.operator for item in found} == {"+", "-", "/", "//", "%", "**"}
    assert assigned.value.type is x.INT
    divided = next(item for item in found if item.operator == "/")
    assert divided.type is x.FLOAT


def test_a_superstep_of_its_own_updates_who_was_sent_to() -> None:
    plan = nga(
        """
        Vertex (active, n: long, found: Accm<long, SUM>)
        GlobalVariable (total: Accm<long, SUM>)
        Initialize (u): u.active = true
        Traverse (u):
          For v in u.nbrs
            v.found.Accumulate(1)
            total.Accumulate(1)
        Update (u): u.n = u.found
        """
    ).plan
    assert [item.name for item in plan.state] == ["n"]
    assert plan.iterations == 1
    heard = x.Compare(">", x.AccumulatorRef("received", x.INT), x.Const(0, x.INT))
    assert plan.update == (p.If(heard, (p.AssignState("n", x.AccumulatorRef("found", x.INT)),)),)


def test_names_documentation_and_files(tmp_path: Path) -> None:
    text = "// First line.\n//\n// Third line.\n" + listings.LIBRARY["BFS"].replace(
        "Program BFS\n", ""
    )
    assert nga(text).name == "Program"
    assert nga(text, name="Hops").name == "Hops"
    assert nga(text).plan.documentation == "First line.\n\nThird line."
    file = tmp_path / "my-hops.nga"
    file.write_text(text)
    assert nga(file).name == "my_hops"
    assert nga(str(file)) == nga(file)
    file.write_text(text.replace("\n", "\r\n"))
    assert nga(file).plan == replace(nga(text).plan, name="my_hops")
    with pytest.raises(InputError) as caught:
        nga("missing.nga")
    assert "cannot read 'missing.nga'" in caught.value.what
    with pytest.raises(InputError):
        nga(3)  # type: ignore[arg-type]


def test_parameters_are_given_by_calling() -> None:
    program = nga(listings.LIBRARY["PageRank"])
    assert repr(program(damping=0.5)) == "PageRank(damping=0.5, iterations=10)"


def test_edges_in_order_of_time_are_found_by_ordered_rows() -> None:
    steps = """
For v in u.out_nbrs Via e
  For w in v.out_nbrs Via f Where (e.time < f.time)
    w.found.Accumulate(1);
"""
    plan = body(steps, declared="Edge (time: long)")
    assert walk_facts(plan).ordered == ("time",)
    assert any("by its row in the order of time" in line for line in explain_walks(plan))
