"""Vertex programs as plans: what to compute on one static graph, and nothing about how.

A run is synchronous. Iteration 0 gives every state field its default and then runs `initialize`.
Iteration i empties the accumulators, runs `traverse` for every live edge on the state of
iteration i - 1, and then `update` for every vertex. It ends after the given number of iterations,
or after the first iteration that changes no state; a program with a number of iterations whose
`update` reads the iteration runs all of them. Every way to run or maintain a program must give
what this gives.

A program with a parameter of pairs runs once for each distinct source among the pairs, and during
that run the parameter stands for the source. Its results are those of the targets, one a pair.

Within one function, statements run in order, and a field that was assigned reads as its new
value. With direction `both`, an edge is traversed once each way, a self-loop therefore twice.

The language that builds a plan checks it; here a plan is plain data that prints, compares and
hashes. `program_values` binds values to parameters, `program_text` writes a plan as text, and
`program_analysis` proves what can be proved about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from graphtide.plan.by_bits import ByBits
from graphtide.plan.expressions import Constant, Expression, Number, ValueType, children

INT_MAX = 2**63 - 1
INT_MIN = -(2**63)

Size = int | str
"""The length of an array: a number, or the name of an int parameter."""


class ParameterKind(StrEnum):
    """What a parameter may be bound to."""

    VERTEX = "vertex"
    VERTICES = "vertices"
    PAIRS = "pairs"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TEXT = "str"
    DATE = "date"
    TIMESTAMP = "timestamp"


class AccumulatorKind(StrEnum):
    """How values sent to one accumulator become one."""

    MIN = "min"
    MAX = "max"
    SUM = "sum"
    PRODUCT = "product"
    COUNT = "count"
    OR = "or"
    AND = "and"

    @property
    def selects(self) -> bool:
        """True where the result is one of the values sent, so that nothing can be taken out."""
        return self not in (AccumulatorKind.SUM, AccumulatorKind.PRODUCT, AccumulatorKind.COUNT)


class Direction(StrEnum):
    """Which way edges are traversed: u is the src (out), the dst (in), or each in turn (both)."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, eq=False)
class Parameter(ByBits):
    """A value given when the program is used; without a default it must be given.

    The default of a moment is the moment in ISO form, a text.
    """

    name: str
    kind: ParameterKind
    default: Constant | None = None


@dataclass(frozen=True, eq=False)
class StateField(ByBits):
    """A value that every vertex keeps from one iteration to the next; an array if it has a size.

    `default` has the type of the field and is what every vertex begins with.
    """

    name: str
    type: ValueType
    default: Number
    size: Size | None = None


@dataclass(frozen=True)
class Accumulator:
    """Where the messages to a vertex meet, anew in every iteration; an array if it has a size."""

    name: str
    kind: AccumulatorKind
    type: ValueType
    size: Size | None = None

    @property
    def identity(self) -> Number:
        """What it holds where nothing was sent."""
        return identity(self.kind, self.type)


@dataclass(frozen=True)
class AssignState:
    """`v.name = value` or `v.name[index] = value`; the value has the field's type."""

    name: str
    value: Expression
    index: Expression | None = None


@dataclass(frozen=True)
class AssignLocal:
    """`name = value`; a local name has one type in the whole function."""

    name: str
    value: Expression


@dataclass(frozen=True)
class Send:
    """`v.accumulator(value)` or `v.accumulator[index](value)`; 1 is what a count is sent."""

    accumulator: str
    value: Expression
    index: Expression | None = None


@dataclass(frozen=True)
class If:
    """Statements to run where the condition holds, and where it does not."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class ForRange:
    """`for variable in range(start, stop, step)`; bounds are ints, evaluated once.

    The step is not 0. Nothing in the body assigns the variable, and it has no value after the loop.
    """

    variable: str
    start: Expression
    stop: Expression
    body: tuple[Statement, ...]
    step: int = 1


Statement = AssignState | AssignLocal | Send | If | ForRange
Body = tuple[Statement, ...]


@dataclass(frozen=True)
class VertexProgram:
    """A whole program.

    `iterations` is a number, the name of an int parameter, or None: until nothing changes.
    `tolerance` is a number or the name of a float parameter: a float field that moves by no more
    than this share of itself counts as unchanged when the run asks whether to go on (a move from
    or to an infinity always counts).
    """

    name: str
    parameters: tuple[Parameter, ...]
    state: tuple[StateField, ...]
    accumulators: tuple[Accumulator, ...]
    initialize: Body
    traverse: Body
    update: Body
    direction: Direction = Direction.OUT
    iterations: int | str | None = None
    tolerance: float | str = 0.0
    documentation: str = ""

    @property
    def pairs(self) -> Parameter | None:
        """The parameter that lists pairs of vertices; None where results are those of vertices."""
        return next((item for item in self.parameters if item.kind is ParameterKind.PAIRS), None)

    @property
    def sized(self) -> tuple[StateField | Accumulator, ...]:
        """All state fields and accumulators: what may be an array."""
        return (*self.state, *self.accumulators)

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name; KeyError if there is none."""
        return {item.name: item for item in self.parameters}[name]

    def field(self, name: str) -> StateField:
        """The state field of that name; KeyError if there is none."""
        return {item.name: item for item in self.state}[name]

    def accumulator(self, name: str) -> Accumulator:
        """The accumulator of that name; KeyError if there is none."""
        return {item.name: item for item in self.accumulators}[name]


def identity(kind: AccumulatorKind, value_type: ValueType) -> Number:
    """What an accumulator holds where nothing was sent.

    Ints have no infinity: the largest and smallest int64 stand in for it.
    """
    whole = value_type is ValueType.INT
    match kind:
        case AccumulatorKind.MIN:
            return INT_MAX if whole else math.inf
        case AccumulatorKind.MAX:
            return INT_MIN if whole else -math.inf
        case AccumulatorKind.PRODUCT:
            return 1 if whole else 1.0
        case AccumulatorKind.SUM | AccumulatorKind.COUNT:
            return 0 if whole else 0.0
        case AccumulatorKind.OR | AccumulatorKind.AND:
            return kind is AccumulatorKind.AND


def statements_of(body: Body) -> Iterator[Statement]:
    """Every statement of a function, those inside of others included, in the order they stand."""
    for statement in body:
        yield statement
        match statement:
            case If(_, then, otherwise):
                yield from statements_of(then)
                yield from statements_of(otherwise)
            case ForRange(body=inner):
                yield from statements_of(inner)


def expressions_of(body: Body) -> Iterator[Expression]:
    """Every expression of a function, each followed by the ones inside of it."""
    for statement in statements_of(body):
        for expression in _roots(statement):
            yield from subexpressions(expression)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """The expression itself and everything inside of it, from left to right."""
    yield expression
    for child in children(expression):
        yield from subexpressions(child)


def _roots(statement: Statement) -> tuple[Expression, ...]:
    match statement:
        case AssignState(_, value, index) | Send(_, value, index):
            return (value,) if index is None else (index, value)
        case AssignLocal(_, value):
            return (value,)
        case If(condition):
            return (condition,)
        case ForRange(_, start, stop):
            return (start, stop)
