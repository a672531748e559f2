"""What a function of a program computes, as one expression for each thing it assigns or sends.

This module runs statements on expressions instead of numbers: it replaces local names by what they
stand for, turns the two ways of an `if` into a choice, and writes out a short loop over constants.
It joins several values sent to one accumulator into one; where nothing is sent, the value is the
accumulator's identity. Only scalars, and only accumulators that select, have such a closed form;
for all others `ClosedFormError` says why there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from graphtide.plan.expressions import (
    FLOAT,
    AccumulatorRef,
    Binary,
    Boolean,
    Call,
    Choice,
    Compare,
    Const,
    Expression,
    Function,
    Local,
    StateRef,
    Unary,
)
from graphtide.plan.programs import (
    Accumulator,
    AccumulatorKind,
    AssignLocal,
    AssignState,
    Body,
    ForRange,
    If,
    Send,
    Statement,
    VertexProgram,
    subexpressions,
)

_MOST_NODES = 500
_MOST_TURNS = 64


class ClosedFormError(Exception):
    """A function that is not one expression, with the reason in words."""


@dataclass(frozen=True)
class ClosedForm:
    """Expressions for all state fields after a function, and for what it sends."""

    state: dict[str, Expression]
    sent: dict[str, Expression]


def initial_form(program: VertexProgram) -> ClosedForm:
    """`initialize` as expressions over v's facts and the parameters."""
    state: dict[str, Expression] = {
        item.name: Const(item.default, item.type) for item in program.state if item.size is None
    }
    return _closed_form(program, program.initialize, state)


def update_form(program: VertexProgram) -> ClosedForm:
    """`update` as expressions over v's state before it and its accumulators."""
    state: dict[str, Expression] = {
        item.name: StateRef("v", item.name, item.type) for item in program.state
    }
    return _closed_form(program, program.update, state)


def traverse_form(program: VertexProgram) -> ClosedForm:
    """`traverse` as expressions over u, e and v; identities where nothing is sent."""
    return _closed_form(program, program.traverse, {})


def _closed_form(program: VertexProgram, body: Body, state: dict[str, Expression]) -> ClosedForm:
    sent: dict[str, Expression] = {
        item.name: Const(item.identity, item.type)
        for item in program.accumulators
        if item.size is None and item.kind.selects
    }
    reached = _Reached(program, {}, state, sent)
    reached.run(body)
    return ClosedForm(reached.state, reached.sent)


@dataclass
class _Reached:
    """What holds after the statements that were run so far."""

    program: VertexProgram
    local: dict[str, Expression] = field(default_factory=dict)
    state: dict[str, Expression] = field(default_factory=dict)
    sent: dict[str, Expression] = field(default_factory=dict)

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

    def _send(self, accumulator: Accumulator, value: Expression) -> None:
        name = accumulator.name
        if name not in self.sent:
            raise ClosedFormError(f"the {accumulator.kind} '{name}' does not select")
        self.sent[name] = combined(accumulator, self.sent[name], value)

    def _branch(self, condition: Expression, then: Body, otherwise: Body) -> None:
        other = _Reached(self.program, dict(self.local), dict(self.state), dict(self.sent))
        self.run(then)
        other.run(otherwise)
        self.local = _merged(condition, self.local, other.local)
        self.state = _merged(condition, self.state, other.state)
        self.sent = _merged(condition, self.sent, other.sent)

    def _loop(self, loop: ForRange) -> None:
        start, stop = self._value(loop.start), self._value(loop.stop)
        if not (isinstance(start, Const) and isinstance(stop, Const)):
            raise ClosedFormError("it has a loop whose length is not known")
        turns = range(int(start.value), int(stop.value), loop.step)
        if len(turns) > _MOST_TURNS:
            raise ClosedFormError("it has a long loop")
        for turn in turns:
            self.local[loop.variable] = Const(turn, start.type)
            self.run(loop.body)

    def _value(self, expression: Expression) -> Expression:
        value = rewrite(expression, self._stand_in)
        for count, _ in enumerate(subexpressions(value)):
            if count > _MOST_NODES:
                raise ClosedFormError("it is too long to be one expression")
        return value

    def _stand_in(self, leaf: Expression) -> Expression:
        match leaf:
            case Local(name):
                return self.local[name]
            case StateRef("v", name, _, None):
                return self.state.get(name, leaf)
            case StateRef(index=index) | AccumulatorRef(index=index) if index is not None:
                raise ClosedFormError("it works on arrays")
            case _:
                return leaf


def combined(accumulator: Accumulator, one: Expression, other: Expression) -> Expression:
    """What a selecting accumulator makes of two values."""
    if one == Const(accumulator.identity, accumulator.type):
        return other
    match accumulator.kind:
        case AccumulatorKind.MIN:
            function: Function = "least" if accumulator.type is FLOAT else "min"
            return Call(function, (one, other), accumulator.type)
        case AccumulatorKind.MAX:
            function = "greatest" if accumulator.type is FLOAT else "max"
            return Call(function, (one, other), accumulator.type)
        case AccumulatorKind.OR:
            return Boolean("or", (one, other))
        case AccumulatorKind.AND:
            return Boolean("and", (one, other))
        case _:
            raise AssertionError(f"{accumulator.kind} does not select")


def rewrite(expression: Expression, leaf: Callable[[Expression], Expression]) -> Expression:
    """The expression with every leaf replaced by what the function makes of it.

    An indexed reference counts as a leaf.
    """

    def again(inner: Expression) -> Expression:
        return rewrite(inner, leaf)

    match expression:
        case Unary(_, operand):
            return replace(expression, operand=again(operand))
        case Binary(_, left, right) | Compare(_, left, right):
            return replace(expression, left=again(left), right=again(right))
        case Boolean(_, terms):
            return replace(expression, terms=tuple(map(again, terms)))
        case Choice(condition, yes, no):
            return Choice(again(condition), again(yes), again(no))
        case Call(_, arguments):
            return replace(expression, arguments=tuple(map(again, arguments)))
        case _:
            return leaf(expression)


def _merged(
    condition: Expression, then: dict[str, Expression], otherwise: dict[str, Expression]
) -> dict[str, Expression]:
    """What holds after an `if`: names that only one way assigns have no value after it."""
    return {
        name: value if value == otherwise[name] else Choice(condition, value, otherwise[name])
        for name, value in then.items()
        if name in otherwise
    }
