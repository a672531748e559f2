"""What walk classes do in real Python is what their plans say, paths and ranges unrolled.

A class runs as Python runs it, over vertices with lists of neighbours; everything that it sends and
reports is noted down. The plan, unrolled, is followed step by step, and must note the same.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphtide.lang.python as gt
from graphtide.plan import expressions as x
from graphtide.plan import walks as w
from tests.examples import examples
from tests.oracle.programs import _Function
from tests.unit.programs.sources import define, read

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
Edges = list[tuple[int, int, dict[str, Any]]]

HEAD = """
@gt.program
class Walked:
    source: gt.Vertex
    among: gt.Vertices
    length: int = 2
    n: int = 0
    level: float = 0.5
    found = gt.Sum(int)
    many = gt.Max(float, size=3)
    total = gt.Global(gt.Sum(int))
    parts = gt.Global(gt.Sum(float, size=2))
    rows = gt.Matches(one=gt.Vertex, time=float, part=gt.Columns(gt.Vertex, size="length"))

    def initialize(self, v):
        v.n = v.id * 3 % 4 if v == self.source or v in self.among else 2

    def traverse(self, u):
        for z, chain in u.out_edges.repeat(self.length):
            self.rows(z, chain.edges[0].time, chain.vertices[1:])
            self.total(1)
            self.parts[0](chain.edges[-1].time)
            z.many[1](0.5)
"""
TAIL = """
    def update(self, v):
        v.n = v.found
        v.level = v.many[0]
"""
WALKS = (
    """
        for v in u.neighbours:
            if u < v:
                for w in v.neighbours:
                    if v < w and w in u.neighbours:
                        u.found(1); v.found(2); w.found(3); self.total(1)
""",
    """
        base = u.n + 1
        for v, e in u.edges:
            late = e.time > 2.0
            if v == u or v in self.among:
                continue
            if late:
                v.found(base)
                if v not in u.out_neighbours:
                    continue
                u.found(7)
            for w, f in v.in_edges:
                if f.time < e.time and w != self.source:
                    w.found(base * w.degree)
                else:
                    self.parts([f.time, e.time])
            v.found(11)
""",
    """
        for v, path in u.out_edges.repeat(self.length):
            rising = all(a.time <= b.time for a, b in pairwise(path.edges))
            if rising and distinct(path.vertices[1:]):
                self.rows(v, path.edges[-1].time - path.edges[0].time, path.vertices[:-1])
                path.vertices[1].found(sum(p.n for p in path.vertices))
            if any(e.time > 3.0 for e in path.edges[1:]):
                v.many[0](max(e.time for e in path.edges))
        for v, path in u.in_neighbours.repeat(3):
            if distinct(u, path.vertices[1:3]) and v == u:
                path.vertices[-2].found(1)
""",
    """
        for k in range(self.length):
            for v, e in u.in_edges:
                v.many[k](e.time + k)
                for j in range(2, 0, -1):
                    if v.n > j:
                        v.found(k * j)
        for v in u.out_neighbours:
            for w in u.in_neighbours:
                if distinct(u, v, w) and (w in v.in_neighbours or not v.n == 2):
                    self.total(v.n - w.n)
            else_level = min(v.level, u.level)
            v.many[2](else_level)
""",
)


class Path(SimpleNamespace):
    vertices: list[Any]
    edges: list[Any]


class Loop(list[Any]):
    """What `u.out_edges` is: something to go over, once or several times over."""

    def __init__(self, items: list[Any], word: str) -> None:
        super().__init__(items)
        self.word = word

    def repeat(self, length: int) -> Any:
        paths = [
            ([item[0]], [item[1]]) if isinstance(item, tuple) else ([item], []) for item in self
        ]
        for _ in range(length - 1):
            paths = [
                ([*vertices, one[0]], [*edges, one[1]])
                if isinstance(one, tuple)
                else ([*vertices, one], edges)
                for vertices, edges in paths
                for one in getattr(vertices[-1], self.word)
            ]
        return [(vertices, edges) for vertices, edges in paths]


class Vertex:
    """A vertex in real Python, which equals and orders by its number."""

    def __init__(self, number: int, note: Any, state: dict[str, list[Any]]) -> None:
        self.id, self.note = number, note
        self.n, self.level = state["n"][number], state["level"][number]
        self.found = lambda value: note("found", number, None, value)
        self.many = Elements(lambda index, value: note("many", number, index, value))

    def lay(self, vertices: list[Vertex], edges: Edges) -> None:
        out = [
            (vertices[dst], SimpleNamespace(**held)) for src, dst, held in edges if src == self.id
        ]
        into = [
            (vertices[src], SimpleNamespace(**held)) for src, dst, held in edges if dst == self.id
        ]
        self.degree = len(out) + len(into)
        for word, found in (("out_", out), ("in_", into), ("", [*out, *into])):
            self._loop(f"{word}edges", found)
            self._loop(f"{word}neighbours", [vertices[n] for n in sorted({v.id for v, _ in found})])

    def _loop(self, word: str, items: list[Any]) -> None:
        loop = Loop(items, word)
        repeat = loop.repeat
        origin = self

        def paths(length: int) -> list[Any]:
            return [(vs[-1], Path(vertices=[origin, *vs], edges=es)) for vs, es in repeat(length)]

        loop.repeat = paths  # type: ignore[method-assign]
        setattr(self, word, loop)

    def __eq__(self, other: object) -> bool:
        return self.id == (other.id if isinstance(other, Vertex) else other)

    def __lt__(self, other: Vertex) -> bool:
        return self.id < other.id

    __hash__ = None  # type: ignore[assignment]


class Elements:
    def __init__(self, note: Any) -> None:
        self.note = note

    def __getitem__(self, index: int) -> Any:
        return lambda value: self.note(index, value)

    def __call__(self, values: list[Any]) -> None:
        for index, value in enumerate(values):
            self.note(index, value)


def distinct(*given: Any) -> bool:
    flat = [one for item in given for one in (item if isinstance(item, list) else [item])]
    return all(one != other for one, other in combinations(flat, 2))


def in_python(text: str, values: dict[str, Any], state: Any, n: int, edges: Edges) -> Any:
    plain = SimpleNamespace(**{name: getattr(gt, name) for name in gt.__all__})
    plain.program = lambda cls: cls
    me = define(text, gt=plain, pairwise=pairwise, distinct=distinct)["Walked"]()
    events: Counter[Any] = Counter()

    def note(*event: Any) -> None:
        events[event] += 1

    for name, value in values.items():
        setattr(me, name, value)
    me.total = lambda value: note("total", None, None, value)
    me.parts = Elements(lambda index, value: note("parts", None, index, value))
    me.rows = lambda one, time, part: note("rows", one.id, time, *(v.id for v in part))
    vertices = [Vertex(number, note, state) for number in range(n)]
    for vertex in vertices:
        vertex.lay(vertices, edges)
    for vertex in vertices:
        me.traverse(vertex)
    return events


class Follower(_Function):
    """A walk of a plan, followed by the book."""

    def __init__(self, graph: Any, state: Any, root: tuple[str, int], edges: Edges) -> None:
        super().__init__(graph, state, {}, {root[0]: root[1]}, {}, 0)
        self.rows, self.along = edges, dict[str, Any]()
        self.events: Counter[Any] = Counter()

    def ways(self, vertex: int, way: str) -> list[tuple[int, Any]]:
        out = [(dst, held) for src, dst, held in self.rows if src == vertex]
        into = [(src, held) for src, dst, held in self.rows if dst == vertex]
        return {"out": out, "in": into, "both": [*out, *into]}[way]

    def value(self, node: x.Expression) -> Any:
        match node:
            case x.EdgeProperty(name, _, edge):
                return self.along[edge][name]
            case x.Joined(source, target, way):
                found = [vertex for vertex, _ in self.ways(self.at[source], way)]
                return self.at[target] in found
            case _:
                return super().value(node)

    def follow(self, body: tuple[w.WalkStatement, ...]) -> None:
        for statement in body:
            match statement:
                case w.SendAt(vertex, name, value, index):
                    self.note(name, self.at[vertex], self.index(index), self.value(value))
                case w.SendGlobal(name, value, index):
                    self.note(name, None, self.index(index), self.value(value))
                case w.Report(name, values):
                    self.note(name, *map(self.value, values))
                case w.When(condition, then, otherwise):
                    self.follow(then if self.value(condition) else otherwise)
                case w.Step(origin, way, vertex, edge, inner):
                    found = self.ways(self.at[origin], way)
                    if edge is None:
                        found = [(number, None) for number in sorted({v for v, _ in found})]
                    for number, held in found:
                        self.at = {**self.at, vertex: number}
                        self.along = {**self.along, str(edge): held}
                        self.follow(inner)
                case _:
                    raise AssertionError(f"{statement} is not plain")

    def index(self, index: x.Expression | None) -> Any:
        return None if index is None else self.value(index)

    def note(self, *event: Any) -> None:
        self.events[event] += 1


def by_plan(plan: w.WalkProgram, values: Any, state: Any, n: int, edges: Edges) -> Any:
    degrees = [sum((src == v) + (dst == v) for src, dst, _ in edges) for v in range(n)]
    facts = [{"id": v, "degree": degree} for v, degree in enumerate(degrees)]
    graph = SimpleNamespace(values=values, facts=facts, program=plan)
    events: Counter[Any] = Counter()
    for vertex in range(n):
        follower = Follower(graph, state, (plan.root, vertex), edges)
        follower.follow(plan.traverse)
        events += follower.events
    return events


EDGES = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 3),
        st.fixed_dictionaries({"time": st.sampled_from([0.5, 1.0, 2.5, 4.0])}),
    ),
    max_size=7,
)


@given(st.sampled_from(WALKS), st.integers(1, 3), EDGES, st.lists(st.integers(0, 4), min_size=4))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=SLOW)
def test_a_plan_does_what_its_class_does(
    walk: str, length: int, edges: Edges, held: list[int]
) -> None:
    values = {"source": 0, "among": (1, 2), "length": length}
    state = {"n": held[:4], "level": [0.5, 1.5, 2.5, 0.25]}
    text = HEAD + walk.replace("many[k]", "many[min(k, 2)]") + TAIL
    plan = read(text, pairwise=pairwise)(**{**values, "among": [1, 2]}).unrolled
    assert by_plan(plan, values, state, 4, edges) == in_python(text, values, state, 4, edges)
