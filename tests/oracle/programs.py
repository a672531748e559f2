"""A vertex program run by the book: synchronous, plain Python, everything anew each iteration.

The only thing taken from the package is the plan's own classes. All live edges are traversed in
every iteration, on the state of the iteration before.
"""

from __future__ import annotations

import datetime as dt
import math
import operator as operators
from collections.abc import Mapping, Sequence
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan import programs as p

Edge = tuple[int, int, Mapping[str, Any]]
State = dict[str, list[Any]]
FIRST_OF_INT64 = -(2**63)
ARITHMETIC = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": operators.truediv,
    "//": operators.floordiv,
    "%": operators.mod,
}
COMPARISONS = {
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
    "==": operators.eq,
    "!=": operators.ne,
}


def run(
    program: p.VertexProgram,
    parameters: Mapping[str, Any],
    n: int,
    edges: Sequence[Edge],
    iterations: int | None = None,
    limit: int = 10_000,
    given: Sequence[Mapping[str, Any]] = (),
) -> tuple[State, list[State]]:
    """The final state and that of every iteration, 0 being after `initialize`.

    `given` are the properties of each vertex. `iterations` overrules the program. It stops early
    after an iteration that changed nothing, unless `update` asks for the iteration and a number of
    them is given.
    """
    values = {item.name: item.default for item in program.parameters} | dict(parameters)
    wanted = program.iterations if iterations is None else iterations
    wanted = values[wanted] if isinstance(wanted, str) else wanted
    tolerance = program.tolerance
    tolerance = values[tolerance] if isinstance(tolerance, str) else tolerance
    graph = _Graph(program, values, n, edges, given)
    history = [graph.start()]
    patient = wanted is not None and _asks_iteration(program)
    while wanted is None or len(history) <= wanted:
        assert len(history) <= limit, f"no end after {limit} iterations"
        history.append(graph.next(history[-1], len(history)))
        if not patient and _same(program, history[-2], history[-1], tolerance):
            break
    return history[-1], history


def run_pairs(
    program: p.VertexProgram,
    parameters: Mapping[str, Any],
    n: int,
    edges: Sequence[Edge],
    given: Sequence[Mapping[str, Any]] = (),
) -> State:
    """The final state of every pair's target, of a program that is given pairs."""
    assert program.pairs is not None
    name = program.pairs.name
    found: State = {item.name: [] for item in program.state}
    for source, target in parameters[name]:
        state, _ = run(program, {**parameters, name: source}, n, edges, given=given)
        for field, column in state.items():
            found[field].append(column[target])
    return found


class _Graph:
    def __init__(
        self,
        program: p.VertexProgram,
        values: Mapping[str, Any],
        n: int,
        edges: Sequence[Edge],
        given: Sequence[Mapping[str, Any]],
    ) -> None:
        self.program, self.values, self.n, self.edges = program, values, n, edges
        self.given = given
        self.facts = [
            {
                "id": vertex,
                "out_degree": sum(src == vertex for src, _, _ in edges),
                "in_degree": sum(dst == vertex for _, dst, _ in edges),
            }
            for vertex in range(n)
        ]
        for facts in self.facts:
            facts["degree"] = facts["out_degree"] + facts["in_degree"]

    def start(self) -> State:
        state = {
            item.name: [self._fresh(item.default, item.size) for _ in range(self.n)]
            for item in self.program.state
        }
        for vertex in range(self.n):
            _Function(self, state, {}, {"v": vertex}, {}, 0).run(self.program.initialize)
        return state

    def next(self, before: State, iteration: int) -> State:
        accumulated = {
            item.name: [self._fresh(_identity(item), item.size) for _ in range(self.n)]
            for item in self.program.accumulators
        }
        for src, dst, properties in self.edges:
            there, back = {"u": src, "v": dst}, {"u": dst, "v": src}
            ways = {"out": (there,), "in": (back,), "both": (there, back)}
            for at in ways[self.program.direction]:
                _Function(self, before, accumulated, at, properties, 0).run(self.program.traverse)
        state = {
            name: [list(value) if isinstance(value, list) else value for value in column]
            for name, column in before.items()
        }
        for v in range(self.n):
            at = {"v": v}
            _Function(self, state, accumulated, at, {}, iteration).run(self.program.update)
        return state

    def _fresh(self, value: Any, size: int | str | None) -> Any:
        if size is None:
            return value
        return [value] * (self.values[size] if isinstance(size, str) else size)


class _Function:
    """One call of one of the three functions."""

    def __init__(
        self,
        graph: _Graph,
        state: State,
        accumulated: State,
        at: Mapping[str, int],
        properties: Mapping[str, Any],
        iteration: int,
    ) -> None:
        self.graph, self.state, self.accumulated = graph, state, accumulated
        self.at, self.properties, self.iteration = at, properties, iteration
        self.local: dict[str, Any] = {}

    def run(self, body: p.Body) -> None:
        for statement in body:
            self.step(statement)

    def step(self, statement: p.Statement) -> None:
        match statement:
            case p.AssignLocal(name, value):
                self.local[name] = self.value(value)
            case p.AssignState(name, value, None):
                self.state[name][self.at["v"]] = self.value(value)
            case p.AssignState(name, value, index):
                array = self.state[name][self.at["v"]]
                array[_within(self.value(index), array)] = self.value(value)
            case p.Send(name, value, index):
                self.send(self.graph.program.accumulator(name), value, index)
            case p.If(condition, then, otherwise):
                self.run(then if self.value(condition) else otherwise)
            case p.ForRange(variable, start, stop, body, step):
                for turn in range(self.value(start), self.value(stop), step):
                    self.local[variable] = turn
                    self.run(body)

    def send(self, item: p.Accumulator, value: x.Expression, index: x.Expression | None) -> None:
        column, at = self.accumulated[item.name], self.at["v"]
        if index is not None:
            column = column[at]
            at = _within(self.value(index), column)
        column[at] = _combine(item.kind, item.type, column[at], self.value(value))

    def value(self, node: x.Expression) -> Any:
        match node:
            case x.StateRef(vertex, name, _, index):
                return self.element(self.state[name][self.at[vertex]], index)
            case x.Binary(operator, left, right):
                return _number(
                    _arithmetic(operator, self.value(left), self.value(right)), node.type
                )
            case x.Const(value):
                return value
            case x.Local(name):
                return self.local[name]
            case x.Call(function, arguments, _):
                return _number(_call(function, [self.value(item) for item in arguments]), node.type)
            case x.AccumulatorRef(name, _, index):
                return self.element(self.accumulated[name][self.at["v"]], index)
            case x.EdgeProperty(name):
                return self.properties[name]
            case x.Compare(operator, left, right) if left.type is x.TEXT:
                one, other = self.value(left), self.value(right)
                return (one is not None and one == other) is (operator == "==")
            case x.Compare(operator, left, right):
                return _compare(operator, self.value(left), self.value(right))
            case x.Text(value):
                return value
            case x.ParameterRef(name, type_):
                return _given(type_, self.graph.values[name])
            case x.PairSource(parameter):
                return self.graph.values[parameter]
            case x.VertexFact(vertex, fact):
                return self.graph.facts[self.at[vertex]][fact]
            case x.VertexProperty(vertex, name, type_, missing):
                value = self.graph.given[self.at[vertex]][name]
                return _given(type_, missing if value is None else value)
            case x.Member(vertex, parameter):
                return self.at[vertex] in self.graph.values[parameter]
            case x.Iteration():
                return self.iteration
            case x.Unary("not", operand):
                return not self.value(operand)
            case x.Unary(_, operand):
                return _number(-self.value(operand), node.type)
            case x.Boolean("and", terms):
                return all(self.value(term) for term in terms)
            case x.Boolean(_, terms):
                return any(self.value(term) for term in terms)
            case x.Choice(condition, yes, no):
                return self.value(yes if self.value(condition) else no)
        raise AssertionError(node)

    def element(self, value: Any, index: x.Expression | None) -> Any:
        return value if index is None else value[_within(self.value(index), value)]


def _within(index: int, array: list[Any]) -> int:
    if not 0 <= index < len(array):
        raise IndexError(f"{index} is outside of an array of {len(array)}")
    return index


def _identity(item: p.Accumulator) -> Any:
    whole = item.type == "int"
    return {
        "min": 2**63 - 1 if whole else math.inf,
        "max": -(2**63) if whole else -math.inf,
        "sum": 0 if whole else 0.0,
        "product": 1 if whole else 1.0,
        "count": 0,
        "or": False,
        "and": True,
    }[item.kind]


def _combine(kind: str, value_type: str, one: Any, other: Any) -> Any:
    if kind == "min":
        return other if other < one else one
    if kind == "max":
        return other if other > one else one
    if kind in ("sum", "count"):
        return _number(one + other, value_type)
    if kind == "product":
        return _number(one * other, value_type)
    return one or other if kind == "or" else one and other


def _number(value: Any, value_type: str) -> Any:
    """As int64 and float64 hold it: ints wrap around."""
    if value_type == "int":
        return (int(value) - FIRST_OF_INT64) % 2**64 + FIRST_OF_INT64
    return float(value) if value_type == "float" else value


def _arithmetic(operator: str, one: Any, other: Any) -> Any:
    if operator in ("/", "//", "%") and other == 0:
        return _by_zero(operator, one, other)
    try:
        if operator == "**":
            return one**other if isinstance(one, int) else math.pow(one, other)
        return ARITHMETIC[operator](one, other)
    except OverflowError:
        return math.inf if one > 0 or other % 2 == 0 else -math.inf
    except ValueError:  # a power that is no real number, or 0 to a negative one
        if one == 0:
            odd = float(other).is_integer() and other % 2 == 1
            return math.copysign(math.inf, one) if odd else math.inf
        return math.nan


def _by_zero(operator: str, one: Any, zero: Any) -> Any:
    if isinstance(one, int):
        return 0
    if operator == "%" or one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, zero)


def _given(type_: x.ValueType, value: Any) -> Any:
    """Dates as numbers of days, all else as it is."""
    if type_ is not x.DATE:
        return value
    date = dt.date.fromisoformat(value) if isinstance(value, str) else value
    return (date - dt.date(1970, 1, 1)).days


def _compare(operator: str, one: Any, other: Any) -> bool:
    return COMPARISONS[operator](one, other)


def _call(function: str, arguments: list[Any]) -> Any:
    first = arguments[0]
    match function:
        case "min":
            return min(arguments)
        case "max":
            return max(arguments)
        case "abs":
            return abs(first)
        case "float":
            return float(first)
        case "bool":
            return bool(first)
        case "int":
            return int(first) if math.isfinite(first) else FIRST_OF_INT64
        case "floor" | "ceil":
            return getattr(math, function)(first) if math.isfinite(first) else FIRST_OF_INT64
        case "sqrt":
            return math.sqrt(first) if first >= 0 else math.nan
        case "log":
            return math.log(first) if first > 0 else -math.inf if first == 0 else math.nan
        case "exp":
            try:
                return math.exp(first)
            except OverflowError:
                return math.inf
    raise AssertionError(function)


def _asks_iteration(program: p.VertexProgram) -> bool:
    return "Iteration()" in repr(program.update)


def _same(program: p.VertexProgram, before: State, after: State, tolerance: float) -> bool:
    return all(
        _unchanged(one, other, tolerance if item.type == "float" else 0.0)
        for item in program.state
        for one, other in zip(before[item.name], after[item.name], strict=True)
    )


def _unchanged(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, list):
        return all(_unchanged(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if one == other or (one != one and other != other):
        return True
    if tolerance == 0 or math.isinf(one) or math.isinf(other):
        return False
    return abs(one - other) <= tolerance * max(abs(one), abs(other))
