"""Random plans, written as classes and read again; and what such classes compute in real Python."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import graphtide.lang.python as gt
from graphtide.plan import programs as p
from tests.examples import examples
from tests.oracle.programs import run
from tests.property.program_plans import ACCUMULATORS, SIZE, STATE, programs
from tests.unit.programs.sources import define, read

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
VALUES = {"here": 1, "among": (0, 2), "ways": 2, "pi": 2, "pf": 0.5, "pb": True}


@given(programs())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW)
def test_what_unparse_writes_reads_as_the_same_plan(plan: p.VertexProgram) -> None:
    text = gt.unparse(plan)
    again = read(text).plan
    assert again == plan, text
    assert gt.unparse(again) == text


class Sent:
    """An accumulator of a vertex in real Python: call it, or index it and call that."""

    def __init__(self, item: p.Accumulator) -> None:
        self.kind = item.kind
        self.values: list[list[Any]] = [[] for _ in range(SIZE if item.size else 1)]
        self.item = item

    def __getitem__(self, index: int) -> Any:
        assert 0 <= index < len(self.values)
        return lambda *value: self.values[index].append(value[0] if value else 1)

    def __call__(self, *value: Any) -> None:
        self[0](*value)

    def result(self) -> Any:
        found = [self._combined(values) for values in self.values]
        return found if self.item.size else found[0]

    def _combined(self, values: list[Any]) -> Any:
        match self.kind:
            case "min":
                return min(values, default=math.inf)
            case "max":
                return max(values, default=-math.inf)
            case "or":
                return any(values)
            case _:
                return sum(values)


class PythonVertex(SimpleNamespace):
    """A vertex that equals its number, as `v == self.here` and `v in self.among` want."""

    def __eq__(self, other: object) -> bool:
        return bool(self.id == (other.id if isinstance(other, PythonVertex) else other))

    __hash__ = None  # type: ignore[assignment]


class EdgeView(SimpleNamespace):
    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


def fresh(vertex: int, edges: list[Any]) -> PythonVertex:
    made = PythonVertex(id=vertex)
    made.out_degree = sum(src == vertex for src, _, _ in edges)
    made.in_degree = sum(dst == vertex for _, dst, _ in edges)
    made.degree = made.out_degree + made.in_degree
    for item in STATE:
        setattr(made, item.name, [item.default] * SIZE if item.size else item.default)
    return made


def run_in_python(plan: p.VertexProgram, n: int, edges: list[Any]) -> list[PythonVertex]:
    """One iteration of the class itself, as Python runs it."""
    plain = SimpleNamespace(**{name: getattr(gt, name) for name in gt.__all__})
    plain.program = lambda cls: cls
    names = {name: getattr(math, name) for name in ("sqrt", "exp", "log", "floor", "ceil")}
    cls = define(gt.unparse(plan), gt=plain, **names)["Random"]
    me = cls()
    for name, value in VALUES.items():
        setattr(me, name, SimpleNamespace(source=value) if name == "ways" else value)
    vertices = [fresh(vertex, edges) for vertex in range(n)]
    for v in vertices:
        me.initialize(v)
    for v in vertices:
        for item in ACCUMULATORS:
            setattr(v, item.name, Sent(item))
    for src, dst, properties in edges:
        ways = {"out": [(src, dst)], "in": [(dst, src)], "both": [(src, dst), (dst, src)]}
        for u, v in ways[plan.direction]:
            me.traverse(vertices[u], EdgeView(**properties), vertices[v])
    me.iteration = 1
    for v in vertices:
        for item in ACCUMULATORS:
            setattr(v, item.name, getattr(v, item.name).result())
        me.update(v)
    return vertices


EDGES = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 2),
        st.fixed_dictionaries(
            {
                "weight": st.sampled_from([-1.5, 0.0, 0.5, 2.0]),
                "kind": st.integers(-2, 3),
                "open": st.booleans(),
            }
        ),
    ),
    max_size=4,
)


@given(programs(), EDGES)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW)
def test_the_plan_computes_what_python_computes(plan: p.VertexProgram, edges: list[Any]) -> None:
    try:
        vertices = run_in_python(plan, 3, edges)
    except (ZeroDivisionError, OverflowError, ValueError, IndexError, TypeError):
        assume(False)  # where Python raises (or turns complex), programs have rules of their own
    try:
        final, _ = run(plan, VALUES, 3, edges, iterations=1)
    except IndexError:
        assume(False)
    for item in STATE:
        for at, v in enumerate(vertices):
            expected, found = getattr(v, item.name), final[item.name][at]
            pairs = zip(expected, found, strict=True) if item.size else [(expected, found)]
            for one, other in pairs:
                assume((not isinstance(one, complex) and abs(one) < 2**53) or abs(one) == math.inf)
                assert one == other or (one != one and other != other), (
                    item.name,
                    gt.unparse(plan),
                )
