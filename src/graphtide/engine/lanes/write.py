"""Expressions and statements of a program as source text over lanes.

Lanes go different ways at a condition, so there are no branches: both sides are computed, and every
assignment keeps the lanes that its condition leaves out. Nothing in the language traps, so that
this gives what branches would. What has no form in lanes is told by `why_not_lanes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graphtide.engine.write import constant_text, may_be_missing
from graphtide.plan import expressions as x
from graphtide.plan import programs as p

_ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_COMPARISONS = {"<": "less", "<=": "at_most", "==": "equal", "!=": "differ"}
_SWAPPED = {">": "less", ">=": "at_most"}


@dataclass(frozen=True)
class LanePlaces:
    """Where the names of a program are found, as text of lanes.

    `send` takes an accumulator, a value and the lanes that send, or None where all do.
    """

    parameter: Callable[[str], str]
    edge_property: Callable[[str], str]
    state: Callable[[str, str], str]
    accumulator: Callable[[str], str]
    fact: Callable[[str, str], str]
    vertex_property: Callable[[str, str], str]
    text: Callable[[str], str]
    member: Callable[[str, str], str]
    send: Callable[[str, str, str | None], list[str]]


def why_not_lanes(program: p.VertexProgram) -> str | None:
    """The reason in words why a program is run one version at a time; None if it is not."""
    if any(item.size is not None for item in program.sized):
        return "it has arrays"
    if any(item.kind is p.AccumulatorKind.PRODUCT for item in program.accumulators):
        return "it multiplies messages"
    for body in (program.initialize, program.traverse, program.update):
        if any(isinstance(statement, p.ForRange) for statement in p.statements_of(body)):
            return "it has a loop"
        for expression in p.expressions_of(body):
            reason = _why_not(expression)
            if reason is not None:
                return reason
    return None


def _why_not(expression: x.Expression) -> str | None:
    match expression:
        case x.Binary(operator) if operator not in _ARITHMETIC:
            return f"it uses {operator}"
        case x.Call("int", (argument,)) if argument.type is x.FLOAT:
            return "it makes ints of floats"
        case x.Call(("exp" | "log" | "floor" | "ceil") as function):
            return f"it uses {function}"
    return None


def lane_expression(node: x.Expression, places: LanePlaces) -> str:
    """One expression, as a call or a name."""

    def write(inner: x.Expression) -> str:
        return lane_expression(inner, places)

    match node:
        case x.Const(value, type_):
            return f"spread({constant_text(value, type_)})"
        case x.Text(value):
            return f"spread({places.text(value)})"
        case x.ParameterRef(name):
            return f"spread({places.parameter(name)})"
        case x.PairSource(parameter):
            return f"spread({places.parameter(parameter)})"
        case x.StateRef(vertex, name):
            return places.state(vertex, name)
        case x.AccumulatorRef(name):
            return places.accumulator(name)
        case x.EdgeProperty(name):
            return f"spread({places.edge_property(name)})"
        case x.VertexFact(vertex, fact):
            return places.fact(vertex, fact)
        case x.VertexProperty(vertex, name):
            return f"spread({places.vertex_property(vertex, name)})"
        case x.Member(vertex, parameter):
            return f"spread({places.member(vertex, parameter)})"
        case x.Local(name):
            return f"local_{name}"
        case x.Iteration():
            return "spread(iteration)"
        case x.Unary(operator, operand):
            return f"{'negative' if operator == '-' else 'opposite'}({write(operand)})"
        case x.Binary(operator, left, right):
            return f"{_ARITHMETIC[operator]}({write(left)}, {write(right)})"
        case x.Compare(operator, left, right) if may_be_missing(node):
            there = f"at_most(spread(0), {write(left)})"
            same = f"both(equal({write(left)}, {write(right)}), {there})"
            return same if operator == "==" else f"opposite({same})"
        case x.Compare(operator, left, right) if operator in _SWAPPED:
            return f"{_SWAPPED[operator]}({write(right)}, {write(left)})"
        case x.Compare(operator, left, right):
            return f"{_COMPARISONS[operator]}({write(left)}, {write(right)})"
        case x.Boolean(operator, terms):
            return _folded("both" if operator == "and" else "either", list(map(write, terms)))
        case x.Choice(condition, yes, no):
            return f"choose({write(condition)}, {write(yes)}, {write(no)})"
        case x.Call(function, arguments):
            return _call(function, arguments[0].type, list(map(write, arguments)))
        case x.Joined() | x.GlobalRef() | x.Distinct() | x.OverPath():
            raise AssertionError(f"{node} stands in walks only")


def _folded(function: str, terms: list[str]) -> str:
    text = terms[0]
    for term in terms[1:]:
        text = f"{function}({text}, {term})"
    return text


def _call(function: str, given: x.ValueType, arguments: list[str]) -> str:
    text = arguments[0]
    match function, given:
        case ("min", _):
            return _folded("least", arguments)
        case ("max", _):
            return _folded("greatest", arguments)
        case ("abs", x.ValueType.FLOAT):
            return f"magnitude({text})"
        case ("abs", _):
            return f"greatest({text}, negative({text}))"
        case ("sqrt", _):
            return f"square_root({text})"
        case ("int", x.ValueType.BOOL):
            return f"as_ints({text})"
        case ("float", x.ValueType.INT):
            return f"as_floats({text})"
        case ("float", x.ValueType.BOOL):
            return f"as_floats(as_ints({text}))"
        case ("bool", x.ValueType.INT | x.ValueType.FLOAT):
            return f"differ({text}, spread({constant_text(0, given)}))"
        case _:
            return text


@dataclass
class LaneBody:
    """Writes the statements of one function; names that have a value so far are in `assigned`."""

    places: LanePlaces
    assigned: set[str] = field(default_factory=set)
    _conditions: int = 0

    def write(self, body: p.Body, condition: str | None = None) -> list[str]:
        """Lines for statements that the lanes of a condition run."""
        lines: list[str] = []
        for statement in body:
            match statement:
                case p.AssignState(name, value):
                    lines += self._assign(f"state_{name}", value, condition)
                case p.AssignLocal(name, value):
                    lines += self._assign(f"local_{name}", value, condition)
                case p.Send(accumulator, value):
                    sent = lane_expression(value, self.places)
                    lines += self.places.send(accumulator, sent, condition)
                case p.If(test, then, otherwise):
                    lines += self._branches(test, then, otherwise, condition)
                case p.ForRange():
                    raise AssertionError("a loop has no form in lanes")
        return lines

    def _assign(self, name: str, value: x.Expression, condition: str | None) -> list[str]:
        text = lane_expression(value, self.places)
        if condition is not None and name in self.assigned:
            text = f"choose({condition}, {text}, {name})"
        self.assigned.add(name)
        return [f"{name} = {text}"]

    def _branches(
        self, test: x.Expression, then: p.Body, otherwise: p.Body, condition: str | None
    ) -> list[str]:
        self._conditions += 1
        yes, no = f"yes_{self._conditions}", f"no_{self._conditions}"
        lines = [f"{yes} = {lane_expression(test, self.places)}", f"{no} = opposite({yes})"]
        if condition is not None:
            lines += [f"{side} = both({condition}, {side})" for side in (yes, no)]
        return lines + self.write(then, yes) + self.write(otherwise, no)


def word_type(type_: x.ValueType) -> str:
    """Whether a value stands in memory as a float or as an int."""
    return "real" if type_ is x.FLOAT else "whole"


def from_words(type_: x.ValueType, words: str) -> str:
    """Lanes that were read from memory, as a value."""
    return f"differ({words}, spread(0))" if type_ is x.BOOL else words


def to_words(type_: x.ValueType, value: str) -> str:
    """A value as it is written to memory."""
    return f"as_ints({value})" if type_ is x.BOOL else value
