"""Vertex programs as plans: what to compute on one static graph, and nothing about how.

A run is synchronous. Iteration 0 gives every state field its default and then runs `initialize`.
Iteration i empties the accumulators, runs `traverse` for every live edge on the state of
iteration i - 1, and then `update` for every vertex. It ends after the given number of iterations,
or after the first iteration that changes no state; a program with a number of iterations whose
`update` reads the iteration runs all of them. Every way to run or maintain a program must give
the same result.

A program with a parameter of pairs runs once for each distinct source among the pairs, and during
that run the parameter stands for the source. Its results are those of the targets, one per pair.

Within one function, statements run in order, and a field that was assigned reads as its new
value. With direction `both`, an edge is traversed once each way, a self-loop therefore twice.

Behind the tree stands what is done to it. `rewrite` and `changed_body` replace expressions. A
*closed form* is one expression for each thing that a function assigns or sends: local names are
replaced by their values, an `if` becomes a choice, a short loop over constants is written out.
Only scalars, and only accumulators that select, have one; `ClosedFormError` says why others do
not. The language that builds a plan checks it; `program_values` binds values to parameters,
`program_text` writes a plan as text, and `program_analysis` proves what it can about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from graphtide.plan import expressions as x
from graphtide.plan.expressions import ByBits, Constant, Expression, Number, ValueType, children

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
    """How edges are traversed: u is the src (out), the dst (in), or each in turn (both)."""

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


_MOST_NODES = 500
_MOST_TURNS = 64


class ClosedFormError(Exception):
    """A function that is not one expression, with the reason in words."""


@dataclass(frozen=True)
class ClosedForm:
    """Expressions for all state fields after a function, and for what it sends."""

    state: dict[str, x.Expression]
    sent: dict[str, x.Expression]


def initial_form(program: VertexProgram) -> ClosedForm:
    """`initialize` as expressions over v's facts and the parameters."""
    state: dict[str, x.Expression] = {
        item.name: x.Const(item.default, item.type) for item in program.state if item.size is None
    }
    return _closed_form(program, program.initialize, state)


def update_form(program: VertexProgram) -> ClosedForm:
    """`update` as expressions over v's state before it and its accumulators."""
    state: dict[str, x.Expression] = {
        item.name: x.StateRef("v", item.name, item.type) for item in program.state
    }
    return _closed_form(program, program.update, state)


def traverse_form(program: VertexProgram) -> ClosedForm:
    """`traverse` as expressions over u, e and v; identities where nothing is sent."""
    return _closed_form(program, program.traverse, {})


def _closed_form(program: VertexProgram, body: Body, state: dict[str, x.Expression]) -> ClosedForm:
    sent: dict[str, x.Expression] = {
        item.name: x.Const(item.identity, item.type)
        for item in program.accumulators
        if item.size is None and item.kind.selects
    }
    reached = _Reached(program, {}, state, sent)
    reached.run(body)
    return ClosedForm(reached.state, reached.sent)


@dataclass
class _Reached:
    """The values of all names after the statements that were executed so far."""

    program: VertexProgram
    local: dict[str, x.Expression] = field(default_factory=dict)
    state: dict[str, x.Expression] = field(default_factory=dict)
    sent: dict[str, x.Expression] = field(default_factory=dict)

    def run(self, body: Body) -> None:
        for statement in body:
            self._step(statement)

    def _step(self, statement: Statement) -> None:
        match statement:
            case AssignState(index=index) | Send(index=index) if index is not None:
                raise ClosedFormError("it works on arrays")
            case AssignState(name, value):
                self.state[name] = self._value(value)
            case AssignLocal(name, value):
                self.local[name] = self._value(value)
            case Send(name, value):
                self._send(self.program.accumulator(name), self._value(value))
            case If(condition, then, otherwise):
                self._branch(self._value(condition), then, otherwise)
            case ForRange():
                self._loop(statement)

    def _send(self, accumulator: Accumulator, value: x.Expression) -> None:
        name = accumulator.name
        if name not in self.sent:
            raise ClosedFormError(f"the {accumulator.kind} '{name}' does not select")
        self.sent[name] = combined(accumulator, self.sent[name], value)

    def _branch(self, condition: x.Expression, then: Body, otherwise: Body) -> None:
        other = _Reached(self.program, dict(self.local), dict(self.state), dict(self.sent))
        self.run(then)
        other.run(otherwise)
        self.local = _merged(condition, self.local, other.local)
        self.state = _merged(condition, self.state, other.state)
        self.sent = _merged(condition, self.sent, other.sent)

    def _loop(self, loop: ForRange) -> None:
        start, stop = self._value(loop.start), self._value(loop.stop)
        if not (isinstance(start, x.Const) and isinstance(stop, x.Const)):
            raise ClosedFormError("it has a loop whose length is not known")
        turns = range(int(start.value), int(stop.value), loop.step)
        if len(turns) > _MOST_TURNS:
            raise ClosedFormError("it has a long loop")
        for turn in turns:
            self.local[loop.variable] = x.Const(turn, start.type)
            self.run(loop.body)

    def _value(self, expression: x.Expression) -> x.Expression:
        value = rewrite(expression, self._stand_in)
        for count, _ in enumerate(subexpressions(value)):
            if count > _MOST_NODES:
                raise ClosedFormError("it is too long to be one expression")
        return value

    def _stand_in(self, leaf: x.Expression) -> x.Expression:
        match leaf:
            case x.Local(name):
                return self.local[name]
            case x.StateRef("v", name, _, None):
                return self.state.get(name, leaf)
            case x.StateRef(index=index) | x.AccumulatorRef(index=index) if index is not None:
                raise ClosedFormError("it works on arrays")
            case _:
                return leaf


def combined(accumulator: Accumulator, one: x.Expression, other: x.Expression) -> x.Expression:
    """What a selecting accumulator makes of two values."""
    if one == x.Const(accumulator.identity, accumulator.type):
        return other
    match accumulator.kind:
        case AccumulatorKind.MIN:
            function: x.Function = "least" if accumulator.type is x.FLOAT else "min"
            return x.Call(function, (one, other), accumulator.type)
        case AccumulatorKind.MAX:
            function = "greatest" if accumulator.type is x.FLOAT else "max"
            return x.Call(function, (one, other), accumulator.type)
        case AccumulatorKind.OR:
            return x.Boolean("or", (one, other))
        case AccumulatorKind.AND:
            return x.Boolean("and", (one, other))
        case _:
            raise AssertionError(f"{accumulator.kind} does not select")


def rewrite(expression: x.Expression, leaf: Callable[[x.Expression], x.Expression]) -> x.Expression:
    """The expression with every leaf replaced by what the function makes of it.

    A reference counts as a leaf, and so does what is made along a path; what they hold, an index or
    a value, is rewritten first.
    """

    def again(inner: x.Expression) -> x.Expression:
        return rewrite(inner, leaf)

    match expression:
        case x.Unary(_, operand):
            return replace(expression, operand=again(operand))
        case x.Binary(_, left, right) | x.Compare(_, left, right):
            return replace(expression, left=again(left), right=again(right))
        case x.Boolean(_, terms):
            return replace(expression, terms=tuple(map(again, terms)))
        case x.Choice(condition, yes, no):
            return x.Choice(again(condition), again(yes), again(no))
        case x.Call(_, arguments):
            return replace(expression, arguments=tuple(map(again, arguments)))
        case x.StateRef(index=index) | x.AccumulatorRef(index=index) | x.GlobalRef(index=index):
            return leaf(expression if index is None else replace(expression, index=again(index)))
        case x.OverPath(value=value):
            return leaf(replace(expression, value=again(value)))
        case _:
            return leaf(expression)


def with_expressions(
    program: VertexProgram, change: Callable[[x.Expression], x.Expression]
) -> VertexProgram:
    """The program with every expression of its three functions changed."""
    return replace(
        program,
        initialize=changed_body(program.initialize, change),
        traverse=changed_body(program.traverse, change),
        update=changed_body(program.update, change),
    )


def changed_body(body: Body, change: Callable[[x.Expression], x.Expression]) -> Body:
    """The statements with every expression that stands in one changed."""

    def again(statement: Statement) -> Statement:
        match statement:
            case AssignState(_, value, index) | Send(_, value, index):
                index = None if index is None else change(index)
                return replace(statement, value=change(value), index=index)
            case AssignLocal(_, value):
                return replace(statement, value=change(value))
            case If(condition, then, otherwise):
                return If(
                    change(condition), changed_body(then, change), changed_body(otherwise, change)
                )
            case ForRange(_, start, stop, inner):
                return replace(
                    statement,
                    start=change(start),
                    stop=change(stop),
                    body=changed_body(inner, change),
                )

    return tuple(map(again, body))


def _merged(
    condition: x.Expression, then: dict[str, x.Expression], otherwise: dict[str, x.Expression]
) -> dict[str, x.Expression]:
    """The values after an `if`; a name that only one branch assigns has none."""
    return {
        name: value if value == otherwise[name] else x.Choice(condition, value, otherwise[name])
        for name, value in then.items()
        if name in otherwise
    }
