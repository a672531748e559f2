"""A walk program run by the book: nested loops over lists of live edges, in plain Python.

The only things taken from the package are the plan's own classes. Every iteration runs all loops
for every vertex, and asks the list of edges for everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.oracle import programs as vertex_programs

Edge = tuple[int, int, Mapping[str, Any]]
State = dict[str, list[Any]]
Row = tuple[Any, ...]


@dataclass
class Outcome:
    """All results; the rows of matches are sorted."""

    state: State
    globals: dict[str, Any]
    matches: dict[str, list[Row]]


def run(
    program: w.WalkProgram,
    parameters: Mapping[str, Any],
    n: int,
    edges: Sequence[Edge],
    limit: int = 1000,
    given: Sequence[Mapping[str, Any]] = (),
) -> Outcome:
    """What a program ends with; `given` are the properties of each vertex."""
    values = {item.name: item.default for item in program.parameters} | dict(parameters)
    wanted = _setting(program.iterations, values)
    tolerance = _setting(program.tolerance, values)
    patient = wanted is not None and "Iteration()" in repr(program.update)
    graph = _Graph(program, values, n, edges)
    graph.given = given
    found, iteration = graph.start(), 0
    while wanted is None or iteration < wanted:
        iteration += 1
        assert iteration <= limit, f"no end after {limit} iterations"
        before, found = found, graph.next(found.state, iteration)
        if not patient and _same(program, before.state, found.state, tolerance):
            break
    return found


def _setting(given: Any, values: Mapping[str, Any]) -> Any:
    return values[given] if isinstance(given, str) else given


def _same(program: w.WalkProgram, before: State, after: State, tolerance: float) -> bool:
    return all(
        vertex_programs._unchanged(one, other, tolerance if item.type == "float" else 0.0)
        for item in program.state
        for one, other in zip(before[item.name], after[item.name], strict=True)
    )


class _Graph:
    def __init__(
        self, program: w.WalkProgram, values: Mapping[str, Any], n: int, edges: Sequence[Edge]
    ) -> None:
        self.program, self.values, self.n, self.edges = program, values, n, edges
        self.given: Sequence[Mapping[str, Any]] = ()
        self.facts = []
        for vertex in range(n):
            out = sum(src == vertex for src, _, _ in edges)
            into = sum(dst == vertex for _, dst, _ in edges)
            degrees = {"out_degree": out, "in_degree": into, "degree": out + into}
            self.facts.append({"id": vertex, **degrees})

    def start(self) -> Outcome:
        state = {item.name: self.filled(item, item.default) for item in self.program.state}
        for vertex in range(self.n):
            _Frame(self, state, {"v": vertex}).run(self.program.initialize)
        return Outcome(state, self.empty(), {item.name: [] for item in self.program.matches})

    def empty(self) -> dict[str, Any]:
        return {item.name: self.element(item) for item in self.program.globals}

    def next(self, before: State, iteration: int) -> Outcome:
        found = Outcome({}, self.empty(), {item.name: [] for item in self.program.matches})
        kept = {item.name: item for item in self.program.accumulators}
        sent = {name: [self.element(item) for _ in range(self.n)] for name, item in kept.items()}
        for vertex in range(self.n):
            frame = _Frame(self, before, {self.program.root: vertex})
            frame.sent, frame.found = sent, found
            frame.walk(self.program.traverse)
        found.state = {name: [_copied(item) for item in rows] for name, rows in before.items()}
        for vertex in range(self.n):
            frame = _Frame(self, found.state, {"v": vertex})
            frame.sent, frame.found, frame.iteration = sent, found, iteration
            frame.run(self.program.update)
        found.matches = {name: sorted(rows) for name, rows in found.matches.items()}
        return found

    def filled(self, item: p.StateField, value: Any) -> list[Any]:
        if item.size is None:
            return [value] * self.n
        return [[value] * _setting(item.size, self.values) for _ in range(self.n)]

    def element(self, item: p.Accumulator) -> Any:
        empty = vertex_programs._identity(item)
        return empty if item.size is None else [empty] * _setting(item.size, self.values)

    def joined(self, source: int, target: int, way: str) -> bool:
        forward = any((src, dst) == (source, target) for src, dst, _ in self.edges)
        backward = any((src, dst) == (target, source) for src, dst, _ in self.edges)
        return {"out": forward, "in": backward, "both": forward or backward}[way]

    def visits(self, origin: int, way: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Every live edge once each way."""
        if way in ("out", "both"):
            yield from ((dst, row) for src, dst, row in self.edges if src == origin)
        if way in ("in", "both"):
            yield from ((src, row) for src, dst, row in self.edges if dst == origin)


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


class _Frame(vertex_programs._Function):
    """One vertex of `initialize` or `update`, or one walk."""

    def __init__(self, graph: _Graph, state: State, at: dict[str, int]) -> None:
        super().__init__(graph, state, {}, at, {}, 0)  # type: ignore[arg-type]
        self.walks, self.at = graph, at
        self.bound: dict[str, Mapping[str, Any]] = {}
        self.sent: dict[str, list[Any]] = {}
        self.found = Outcome({}, {}, {})

    def walk(self, body: tuple[w.WalkStatement, ...]) -> None:
        for statement in body:
            match statement:
                case w.Step():
                    self.step_on(statement)
                case w.When(condition, then, otherwise):
                    self.walk(then if self.value(condition) else otherwise)
                case w.SendAt(vertex, name, value, index):
                    item = {one.name: one for one in self.walks.program.accumulators}[name]
                    self.take_in(item, self.sent[name], self.at[vertex], value, index)
                case w.SendGlobal(name, value, index):
                    item = {one.name: one for one in self.walks.program.globals}[name]
                    held = [self.found.globals[name]]
                    self.take_in(item, held, 0, value, index)
                    self.found.globals[name] = held[0]
                case w.Report(name, values):
                    self.found.matches[name].append(tuple(map(self.value, values)))

    def step_on(self, step: w.Step) -> None:
        visits = list(self.walks.visits(self.at[step.origin], step.way))
        if step.edge is None:
            visits = [(vertex, {}) for vertex in dict.fromkeys(vertex for vertex, _ in visits)]
        for vertex, row in visits:
            self.at[step.vertex] = vertex
            if step.edge is not None:
                self.bound[step.edge] = row
            self.walk(step.body)

    def take_in(
        self,
        item: p.Accumulator,
        column: list[Any],
        at: int,
        value: x.Expression,
        index: x.Expression | None,
    ) -> None:
        if index is not None:
            column = column[at]
            at = vertex_programs._within(self.value(index), column)
        sent = self.value(value)
        column[at] = vertex_programs._combine(item.kind, item.type, column[at], sent)

    def value(self, node: x.Expression) -> Any:
        match node:
            case x.Joined(source, target, way):
                return self.walks.joined(self.at[source], self.at[target], way)
            case x.GlobalRef(name, _, index):
                return self.element(self.found.globals[name], index)
            case x.AccumulatorRef(name, _, index):
                return self.element(self.sent[name][self.at["v"]], index)
            case x.EdgeProperty(name, _, edge):
                return self.bound[edge][name]
            case _:
                return super().value(node)
