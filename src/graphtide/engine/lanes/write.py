"""Expressions and statements of a program as source text over lanes.

Lanes go different ways at a condition, so there are no branches: both sides are computed, and every
assignment keeps the lanes that its condition leaves out. Nothing in the language traps, so that
this gives what branches would. What has no form in lanes is told by `why_not_lanes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graphtide.engine.write import constant_text, may_be_missing
from graphtide.plan.expressions import (
    BOOL,
    FLOAT,
    AccumulatorRef,
    Binary,
    Boolean,
    Call,
    Choice,
    Compare,
    Const,
    Distinct,
    EdgeProperty,
    Expression,
    GlobalRef,
    Iteration,
    Joined,
    Local,
    Member,
    OverPath,
    PairSource,
    ParameterRef,
    StateRef,
    Text,
    Unary,
    ValueType,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.programs import (
    AccumulatorKind,
    AssignLocal,
    AssignState,
    Body,
    ForRange,
    If,
    Send,
    VertexProgram,
    expressions_of,
    statements_of,
)

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


def why_not_lanes(program: VertexProgram) -> str | None:
    """The reason in words why a program is run one version at a time; None if it is not."""
    if any(item.size is not None for item in program.sized):
        return "it has arrays"
    if any(item.kind is AccumulatorKind.PRODUCT for item in program.accumulators):
        return "it multiplies messages"
    for body in (program.initialize, program.traverse, program.update):
        if any(isinstance(statement, ForRange) for statement in statements_of(body)):
            return "it has a loop"
        for expression in expressions_of(body):
            reason = _why_not(expression)
            if reason is not None:
                return reason
    return None


def _why_not(expression: Expression) -> str | None:
    match expression:
        case Binary(operator) if operator not in _ARITHMETIC:
            return f"it uses {operator}"
        case Call("int", (argument,)) if argument.type is FLOAT:
            return "it makes ints of floats"
        case Call(("exp" | "log" | "floor" | "ceil") as function):
            return f"it uses {function}"
    return None


def lane_expression(node: Expression, places: LanePlaces) -> str:
    """One expression, as a call or a name."""

    def write(inner: Expression) -> str:
        return lane_expression(inner, places)

    match node:
        case Const(value, type_):
            return f"spread({constant_text(value, type_)})"
        case Text(value):
            return f"spread({places.text(value)})"
        case ParameterRef(name):
            return f"spread({places.parameter(name)})"
        case PairSource(parameter):
            return f"spread({places.parameter(parameter)})"
        case StateRef(vertex, name):
            return places.state(vertex, name)
        case AccumulatorRef(name):
            return places.accumulator(name)
        case EdgeProperty(name):
            return f"spread({places.edge_property(name)})"
        case VertexFact(vertex, fact):
            return places.fact(vertex, fact)
        case VertexProperty(vertex, name):
            return f"spread({places.vertex_property(vertex, name)})"
        case Member(vertex, parameter):
            return f"spread({places.member(vertex, parameter)})"
        case Local(name):
            return f"local_{name}"
        case Iteration():
            return "spread(iteration)"
        case Unary(operator, operand):
            return f"{'negative' if operator == '-' else 'opposite'}({write(operand)})"
        case Binary(operator, left, right):
            return f"{_ARITHMETIC[operator]}({write(left)}, {write(right)})"
        case Compare(operator, left, right) if may_be_missing(node):
            there = f"at_most(spread(0), {write(left)})"
            same = f"both(equal({write(left)}, {write(right)}), {there})"
            return same if operator == "==" else f"opposite({same})"
        case Compare(operator, left, right) if operator in _SWAPPED:
            return f"{_SWAPPED[operator]}({write(right)}, {write(left)})"
        case Compare(operator, left, right):
            return f"{_COMPARISONS[operator]}({write(left)}, {write(right)})"
        case Boolean(operator, terms):
            return _folded("both" if operator == "and" else "either", list(map(write, terms)))
        case Choice(condition, yes, no):
            return f"choose({write(condition)}, {write(yes)}, {write(no)})"
        case Call(function, arguments):
            return _call(function, arguments[0].type, list(map(write, arguments)))
        case Joined() | GlobalRef() | Distinct() | OverPath():
            raise AssertionError(f"{node} stands in walks only")


def _folded(function: str, terms: list[str]) -> str:
    text = terms[0]
    for term in terms[1:]:
        text = f"{function}({text}, {term})"
    return text


def _call(function: str, given: ValueType, arguments: list[str]) -> str:
    text = arguments[0]
    match function, given:
        case ("min", _):
            return _folded("least", arguments)
        case ("max", _):
            return _folded("greatest", arguments)
        case ("abs", ValueType.FLOAT):
            return f"magnitude({text})"
        case ("abs", _):
            return f"greatest({text}, negative({text}))"
        case ("sqrt", _):
            return f"square_root({text})"
        case ("int", ValueType.BOOL):
            return f"as_ints({text})"
        case ("float", ValueType.INT):
            return f"as_floats({text})"
        case ("float", ValueType.BOOL):
            return f"as_floats(as_ints({text}))"
        case ("bool", ValueType.INT | ValueType.FLOAT):
            return f"differ({text}, spread({constant_text(0, given)}))"
        case _:
            return text


@dataclass
class LaneBody:
    """Writes the statements of one function; names that have a value so far are in `assigned`."""

    places: LanePlaces
    assigned: set[str] = field(default_factory=set)
    _conditions: int = 0

    def write(self, body: Body, condition: str | None = None) -> list[str]:
        """Lines for statements that the lanes of a condition run."""
        lines: list[str] = []
        for statement in body:
            match statement:
                case AssignState(name, value):
                    lines += self._assign(f"state_{name}", value, condition)
                case AssignLocal(name, value):
                    lines += self._assign(f"local_{name}", value, condition)
                case Send(accumulator, value):
                    sent = lane_expression(value, self.places)
                    lines += self.places.send(accumulator, sent, condition)
                case If(test, then, otherwise):
                    lines += self._branches(test, then, otherwise, condition)
                case ForRange():
                    raise AssertionError("a loop has no form in lanes")
        return lines

    def _assign(self, name: str, value: Expression, condition: str | None) -> list[str]:
        text = lane_expression(value, self.places)
        if condition is not None and name in self.assigned:
            text = f"choose({condition}, {text}, {name})"
        self.assigned.add(name)
        return [f"{name} = {text}"]

    def _branches(
        self, test: Expression, then: Body, otherwise: Body, condition: str | None
    ) -> list[str]:
        self._conditions += 1
        yes, no = f"yes_{self._conditions}", f"no_{self._conditions}"
        lines = [f"{yes} = {lane_expression(test, self.places)}", f"{no} = opposite({yes})"]
        if condition is not None:
            lines += [f"{side} = both({condition}, {side})" for side in (yes, no)]
        return lines + self.write(then, yes) + self.write(otherwise, no)


def word_type(type_: ValueType) -> str:
    """Whether a value stands in memory as a float or as an int."""
    return "real" if type_ is FLOAT else "whole"


def from_words(type_: ValueType, words: str) -> str:
    """Lanes that were read from memory, as a value."""
    return f"differ({words}, spread(0))" if type_ is BOOL else words


def to_words(type_: ValueType, value: str) -> str:
    """A value as it is written to memory."""
    return f"as_ints({value})" if type_ is BOOL else value
