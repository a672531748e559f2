"""A vertex program run from its class, as docs/reference/programs.md tells: the plainest oracle.

The class's own functions are called, on stand-ins for `self`, `u`, `e` and `v`. Neither the reader
nor the plan of Graphtide takes part, so that what they misunderstand shows. All edges are traversed
in every iteration, and an accumulator keeps all that is sent to it until `update` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle import machine_numbers as machine
from tests.oracle.class_stand_ins import Edge, Self, Vertex
from tests.oracle.class_texts import ClassText, Declared

Row = tuple[int, int, Mapping[str, Any]]
State = dict[str, list[Any]]
LONGEST = 100


class NeverSettlesError(Exception):
    """The run goes on for ever (`sure`), or at least for longer than anybody waited."""

    def __init__(self, sure: bool) -> None:
        super().__init__("for ever" if sure else f"for more than {LONGEST} iterations")
        self.sure = sure


@dataclass(frozen=True)
class Outcome:
    """The last state, how many iterations it took, and whether all float sums were exact.

    Where they were, another order of edges gives the same bits, and any difference is a mistake.
    """

    state: State
    iterations: int
    exact: bool


def run_class(
    loaded: ClassText,
    parameters: Mapping[str, Any],
    n: int,
    edges: Sequence[Row],
    given: Sequence[Mapping[str, Any]] = (),
    directed: bool = True,
) -> Outcome:
    """Run it on vertices 0 to n - 1; vertices among the parameters are given by number.

    `given` are the properties of each vertex, None where one is missing. An edge that is not
    `directed` is met once from either end, and all degrees are the edges at a vertex.
    """
    return Run(loaded, parameters, n, edges, given, directed).result()


def run_class_pairs(
    loaded: ClassText,
    parameters: Mapping[str, Any],
    n: int,
    edges: Sequence[Row],
    given: Sequence[Mapping[str, Any]] = (),
    directed: bool = True,
) -> Outcome:
    """The results of each pair's target, of a program that is given pairs."""
    name = next(item for item, kind in loaded.parameters.items() if kind == "pairs")
    runs = {
        source: run_class(loaded, {**parameters, name: source}, n, edges, given, directed)
        for source, _ in parameters[name]
    }
    state = {
        item: [runs[source].state[item][target] for source, target in parameters[name]]
        for item in loaded.state
    }
    longest = max(run.iterations for run in runs.values())
    return Outcome(state, longest, all(run.exact for run in runs.values()))


class Run:
    def __init__(
        self,
        loaded: ClassText,
        parameters: Mapping[str, Any],
        n: int,
        edges: Sequence[Row],
        given: Sequence[Mapping[str, Any]],
        directed: bool,
    ) -> None:
        self.loaded, self.n, self.given = loaded, n, given
        self.values = {**loaded.defaults, **parameters}
        self.program = Self(loaded, self.values)
        self.exact = True
        self.facts = _facts(n, edges, directed)
        self.ways = list(_ways(loaded.direction, edges) if directed else _met(edges))

    def setting(self, value: Any) -> Any:
        return self.values[value] if isinstance(value, str) else value

    def result(self) -> Outcome:
        bound, tolerance = self.setting(self.loaded.iterations), self.setting(self.loaded.tolerance)
        patient = bound is not None and self.loaded.asks_iteration
        state, done, seen = self.start(), 0, set()
        while bound is None or done < bound:
            before, done = state, done + 1
            state = self.iteration(before, done)
            if not patient and self.rests(before, state, tolerance):
                break
            if bound is None:
                told = repr(state)
                sure = told in seen and not self.loaded.asks_iteration
                if sure or done >= LONGEST:
                    raise NeverSettlesError(sure)
                seen.add(told)
        return Outcome(state, done, self.exact)

    def start(self) -> State:
        state = {name: self.column(item) for name, item in self.loaded.state.items()}
        function = self.loaded.functions.get("initialize")
        for at in range(self.n if function else 0):
            function(self.program, Vertex(self, at, state, {}, writes=True))
        return state

    def iteration(self, before: State, number: int) -> State:
        sent: dict[str, list[Any]] = {
            name: [[] for _ in range(self.n)] for name in self.loaded.accumulators
        }
        for source, target, properties in self.ways:
            u = Vertex(self, source, before, {})
            v = Vertex(self, target, before, sent, sends=True)
            self.loaded.functions["traverse"](self.program, u, Edge(self.loaded, properties), v)
        arrived = {name: self.combined(name, lists) for name, lists in sent.items()}
        after = {
            name: [list(value) if isinstance(value, list) else value for value in column]
            for name, column in before.items()
        }
        self.program.iteration = machine.Int(number)
        for at in range(self.n):
            v = Vertex(self, at, after, arrived, writes=True)
            self.loaded.functions["update"](self.program, v)
        del self.program.iteration
        return after

    def column(self, item: Declared) -> list[Any]:
        value = machine.of_type(item.type, 0 if item.default is None else item.default)
        size = self.setting(item.size)
        return [value if size is None else [value] * size for _ in range(self.n)]

    def combined(self, name: str, lists: list[Any]) -> list[Any]:
        item = self.loaded.accumulators[name]
        size = self.setting(item.size)
        if size is None:
            return [self.combine(item, [value for _, value in sent]) for sent in lists]
        return [
            [self.combine(item, [value for at, value in sent if at == k]) for k in range(size)]
            for sent in lists
        ]

    def combine(self, item: Declared, values: list[Any]) -> Any:
        if item.kind == "count":
            return machine.Int(len(values))
        if item.kind in ("or", "and"):
            return any(values) if item.kind == "or" else all(values)
        if item.kind in ("min", "max"):
            return _selected(item, [value for value in values if value == value])
        if item.type is float:
            self.exact &= _any_order_is_exact(item.kind, [float(value) for value in values])
        found = machine.of_type(item.type, 0 if item.kind == "sum" else 1)
        for value in values:
            found = found + value if item.kind == "sum" else found * value
        return found

    def rests(self, before: State, after: State, tolerance: float) -> bool:
        return all(
            _unmoved(one, other, tolerance)
            for name in self.loaded.state
            for one, other in zip(before[name], after[name], strict=True)
        )


def _facts(n: int, edges: Sequence[Row], directed: bool) -> list[dict[str, Any]]:
    if not directed:
        met = [source for source, _, _ in _met(edges)]
        degrees = ("out_degree", "in_degree", "degree")
        return [
            {"id": machine.Int(at), **dict.fromkeys(degrees, machine.Int(met.count(at)))}
            for at in range(n)
        ]
    found = [{"id": at, "out_degree": 0, "in_degree": 0} for at in range(n)]
    for source, target, _ in edges:
        found[source]["out_degree"] += 1
        found[target]["in_degree"] += 1
    for facts in found:
        facts["degree"] = facts["out_degree"] + facts["in_degree"]
    return [{name: machine.Int(value) for name, value in facts.items()} for facts in found]


def _ways(direction: str, edges: Sequence[Row]) -> Any:
    for source, target, properties in edges:
        if direction != "in":
            yield source, target, properties
        if direction != "out":
            yield target, source, properties


def _met(edges: Sequence[Row]) -> Any:
    """Edges without a direction, from each of their ends."""
    for one, other, properties in edges:
        for source, target in {(one, other), (other, one)}:
            yield source, target, properties


def _selected(item: Declared, values: list[Any]) -> Any:
    if values:
        return (machine.least if item.kind == "min" else machine.greatest)(*values)
    if item.type is float:
        return machine.Float(math.inf if item.kind == "min" else -math.inf)
    return machine.Int(machine.LAST if item.kind == "min" else machine.FIRST)


def _unmoved(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, list):
        return all(_unmoved(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if one == other or (one != one and other != other):
        return True
    if not isinstance(one, float) or tolerance == 0 or math.isinf(one) or math.isinf(other):
        return False
    return abs(float(one) - float(other)) <= tolerance * max(abs(float(one)), abs(float(other)))


def _any_order_is_exact(kind: str, values: list[float]) -> bool:
    """Whether every order of a sum or product gives the same float, without any rounding."""
    finite = [Fraction(value) for value in values if math.isfinite(value) and value != 0]
    if kind == "product":
        odd = math.prod(value.numerator // _evenness(value) for value in finite)
        return abs(odd) < 2**53 and sum(abs(math.log2(abs(value))) for value in finite) < 1000
    finest = min((Fraction(_evenness(value), value.denominator) for value in finite), default=1)
    return sum(map(abs, finite)) / finest < 2**53


def _evenness(value: Fraction) -> int:
    return value.numerator & -value.numerator
