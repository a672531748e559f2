"""Classes are read into the plans they mean."""

from __future__ import annotations

import linecache
import math
import pickle

import pytest

import graphtide.lang.python as gt
from graphtide.model.errors import LanguageError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.program_text import body_lines
from tests.unit.programs import library
from tests.unit.programs.sources import define, read

U_DIST = x.StateRef("u", "dist", x.FLOAT)
V_DIST = x.StateRef("v", "dist", x.FLOAT)
INFINITE = x.Const(math.inf, x.FLOAT)


def test_shortest_paths_as_users_write_it() -> None:
    is_source = x.Compare("==", x.VertexFact("v", "id"), x.ParameterRef("source", x.INT))
    reached = x.Binary("+", U_DIST, x.EdgeProperty("weight", x.FLOAT))
    better = x.Call("min", (V_DIST, x.AccumulatorRef("best", x.FLOAT)), x.FLOAT)
    assert library.ShortestPaths.plan == p.VertexProgram(
        name="ShortestPaths",
        parameters=(p.Parameter("source", p.ParameterKind.VERTEX),),
        state=(p.StateField("dist", x.FLOAT, math.inf),),
        accumulators=(p.Accumulator("best", p.AccumulatorKind.MIN, x.FLOAT),),
        initialize=(p.AssignState("dist", x.Choice(is_source, x.Const(0.0, x.FLOAT), INFINITE)),),
        traverse=(p.Send("best", reached),),
        update=(p.AssignState("dist", better),),
        documentation="Distance of every vertex from one source.",
    )


def test_annotated_names_are_state_where_they_are_assigned_and_parameters_elsewhere() -> None:
    plan = library.Hops.plan
    assert [item.name for item in plan.parameters] == ["sources", "limit"]
    assert plan.parameter("limit") == p.Parameter("limit", p.ParameterKind.INT, 1_000_000)
    assert plan.state == (p.StateField("level", x.INT, 1_000_000_000),)


def test_settings() -> None:
    assert library.Ancestors.plan.direction is p.Direction.IN
    assert library.Components.plan.direction is p.Direction.BOTH
    assert library.Components.plan.iterations is None
    assert library.PageRank.plan.iterations == "iterations"
    assert library.PageRank.plan.tolerance == "tolerance"
    assert library.PageRank.plan.parameter("tolerance").default == 0.0
    assert library.Moments.plan.iterations == "rounds"
    assert library.Votes.plan.iterations == 5


@pytest.mark.parametrize("program", library.ALL, ids=lambda item: item.__name__)
def test_a_plan_compares_hashes_pickles_and_prints(program: gt.Program) -> None:
    assert pickle.loads(pickle.dumps(program.plan)) == program.plan
    assert hash(program) == hash(gt.Program(program.plan))
    assert program == gt.Program(program.plan)
    assert program.plan.name in repr(program)
    assert program.__doc__ == program.plan.documentation


def update_of(statements: str, **around: object) -> list[str]:
    lines = "\n".join("        " + line for line in statements.splitlines())
    text = f"""
@gt.program
class Tried:
    size: int
    where: gt.Vertex
    among: gt.Vertices
    b: bool
    i: int
    f: float
    xs = gt.State(float, size=4)
    ks = gt.State(int, size="size")
    best = gt.Min(float)
    def traverse(self, u, e, v): v.best(e.weight)
    def update(self, v):
        v.f = v.best + self.size
        v.b = v == self.where and v in self.among
        v.i = 0
{lines}
"""
    plan = read(text, **around).plan
    return body_lines(plan.update, plan)[3:]


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("v.f = 1", "v.f = 1.0"),
        ("v.f = v.i", "v.f = float(v.i)"),
        ("v.f = v.i + 0.5", "v.f = float(v.i) + 0.5"),
        ("v.f = v.i / 2", "v.f = float(v.i) / 2.0"),
        ("v.i = v.i // 2 - v.i % 3", "v.i = v.i // 2 - v.i % 3"),
        ("v.i = v.i ** 2", "v.i = v.i ** 2"),
        ("v.f = v.i ** v.i", "v.f = float(v.i) ** float(v.i)"),
        ("v.f = v.i ** -1", "v.f = float(v.i) ** -1.0"),
        ("v.f = -(v.f + 1) ** 2", "v.f = -(v.f + 1.0) ** 2.0"),
        ("v.f = +v.f", "v.f = v.f"),
        ("v.i = -9223372036854775808", "v.i = -9223372036854775808"),
        ("v.f = v.f - (v.f - 1)", "v.f = v.f - (v.f - 1.0)"),
        ("v.f = (v.f - v.f) - 1", "v.f = v.f - v.f - 1.0"),
        ("v.f += v.i", "v.f = v.f + float(v.i)"),
        ("v.xs[1] *= 2", "v.xs[1] = v.xs[1] * 2.0"),
        ("v.b = v.i < v.f <= 3", "v.b = float(v.i) < v.f and v.f <= 3.0"),
        ("v.b = not v.b or v.b and v.b", "v.b = not v.b or v.b and v.b"),
        ("v.b = (v.b or v.b) and not (v.b and v.b)", "v.b = (v.b or v.b) and not (v.b and v.b)"),
        ("v.b = v != self.where", "v.b = v.id != self.where"),
        ("v.b = v not in self.among", "v.b = not v in self.among"),
        ("v.b = v.b == (v.i > 1)", "v.b = v.b == (v.i > 1)"),
        ("v.i = 1 if v.b else 2 if v.i > 1 else 3", None),
        ("v.f = 1 if v.b else 2.5", "v.f = 1.0 if v.b else 2.5"),
        ("v.f = (1.0 if v.b else 2.0) + 1", "v.f = (1.0 if v.b else 2.0) + 1.0"),
        ("v.f = max(v.i, v.f, 3)", "v.f = max(float(v.i), v.f, 3.0)"),
        ("v.i = min(v.i, 3)", "v.i = min(v.i, 3)"),
        ("v.f = abs(v.f) + sqrt(v.i) + exp(1) + log(v.f)", None),
        ("v.i = floor(v.f) + ceil(v.f) + int(v.b) + int(v.f)", None),
        ("v.i = floor(v.i) + int(v.i)", "v.i = v.i + v.i"),
        ("v.b = bool(v.i) and bool(v.b)", "v.b = bool(v.i) and v.b"),
        ("v.f = float('inf') - inf", "v.f = inf - inf"),
        ("v.i = v.id + v.degree + v.in_degree + v.out_degree", None),
        ("v.i = self.iteration + len(v.xs) + len(v.ks)", "v.i = self.iteration + 4 + self.size"),
        ("x = 1\nv.i = x", "x = 1\nv.i = x"),
        ("x = 1\nx = x + v.f\nv.f = x", "x = 1.0\nx = x + v.f\nv.f = x"),
        ("x: float = 1\nv.f = x", "x = 1.0\nv.f = x"),
        ("if v.b: x = 1\nelse: x = 2.0\nv.f = x", None),
        ("for k in range(4):\n  v.xs[k] = k", "for k in range(4):\n    v.xs[k] = float(k)"),
        ("for k in range(1, self.size):\n  v.ks[k] += v.ks[k - 1]", None),
        ("for k in range(3, 0, -1):\n  for j in range(k): v.xs[j] = v.xs[k]", None),
        ("if v.b:\n  pass\nelif v.i > 1:\n  v.i = 1\nelse:\n  v.i = 2", None),
        ("'nothing'\npass", ""),
    ],
)
def test_what_update_may_hold(written: str, means: str | None) -> None:
    found = "\n".join(update_of(written))
    if means is not None:
        assert found == means
    # What is printed reads as the same again.
    assert "\n".join(update_of(found)) == found


def test_numbers_and_functions_come_from_outside() -> None:
    rounded = math.sqrt
    found = update_of(
        "v.f = HALF * root(v.f) + maths.pi\nv.b = YES", HALF=0.5, root=rounded, maths=math, YES=True
    )
    assert found == ["v.f = 0.5 * sqrt(v.f) + 3.141592653589793", "v.b = True"]


def test_classes_inside_of_functions_see_what_is_around_them() -> None:
    module = define(
        """
        def make(factor):
            @gt.program
            class Scaled:
                size: float = 0
                total = gt.Sum(float)
                def traverse(self, u, e, v): v.total(factor * e.weight)
                def update(self, v): v.size = v.total
            return Scaled
        """
    )
    sent = [module["make"](factor).plan.traverse[0].value for factor in (2.0, 3.0)]
    assert [item.left.value for item in sent] == [2.0, 3.0]


def test_two_classes_of_one_name_are_told_apart() -> None:
    text = """
    def one():
        @gt.program
        class Same:
            x: float
            a = gt.Sum(float)
            def traverse(self, u, e, v): v.a(1)
            def update(self, v): v.x = v.a
        return Same

    def two():
        @gt.program
        class Same:
            y: int
            a = gt.Count()
            def traverse(self, u, e, v): v.a()
            def update(self, v): v.y = v.a
        return Same
    """
    module = define(text)
    assert [item.name for item in module["one"]().plan.state] == ["x"]
    assert [item.name for item in module["two"]().plan.state] == ["y"]


def test_arguments_have_the_names_that_users_give_them() -> None:
    plan = read(
        """
        @gt.program
        class Turned:
            dist: float
            best = gt.Min(float)
            def traverse(this, here, edge, there): there.best(here.dist + edge["my weight"])
            def update(this, vertex): vertex.dist = vertex.best
        """
    ).plan
    assert body_lines(plan.traverse, plan) == ['v.best(u.dist + e["my weight"])']
    assert body_lines(plan.update, plan) == ["v.dist = v.best"]


def test_annotations_may_be_text() -> None:
    text = """
    from __future__ import annotations
    @gt.program
    class Lazy:
        source: gt.Vertex
        among: "gt.Vertices"
        dist: float = inf
        best = gt.Min(float)
        direction: str = "both"
        iterations: int | None = None
        def traverse(self, u, e, v): v.best(u.dist + 1)
        def update(self, v):
            v.dist = 0 if v == self.source or v in self.among else v.best
    """
    plan = read(text).plan
    assert [item.kind for item in plan.parameters] == ["vertex", "vertices"]
    assert (plan.direction, plan.iterations) == (p.Direction.BOTH, None)


PAGE = """\
# A page

Text that is no Python, with `ticks`.

    class Shown: not this one

```python
def make():
    @gt.program
    class Shown:
        x: float

        # a comment
        a = gt.Sum(float)
        def traverse(self, u, e, v): v.a({value})

        def update(self, v): v.x = v.a
    return Shown
shown = make()
```

More text.
"""


def test_programs_on_a_page_that_is_not_python_as_a_whole() -> None:
    def run(value: str) -> gt.Program:
        text = PAGE.format(value=value)
        lines = text.splitlines(keepends=True)
        linecache.cache["page.md"] = (len(text), None, lines, "page.md")
        start = text.index("def make")
        block = "\n" * text.count("\n", 0, start) + text[start : text.index("```\n\nMore")]
        names = {"gt": gt}
        exec(compile(block, "page.md", "exec"), names)
        return names["shown"]  # type: ignore[return-value]

    assert run("2").plan.state[0].name == "x"
    with pytest.raises(LanguageError) as caught:
        run("[2]")
    assert (caught.value.where or "").startswith("page.md, line 15, column 42")
