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

from graphtide.plan import expressions as x
from graphtide.plan import programs as p

_MOST_NODES = 500
_MOST_TURNS = 64


class ClosedFormError(Exception):
    """A function that is not one expression, with the reason in words."""


@dataclass(frozen=True)
class ClosedForm:
    """Expressions for all state fields after a function, and for what it sends."""

    state: dict[str, x.Expression]
    sent: dict[str, x.Expression]


def initial_form(program: p.VertexProgram) -> ClosedForm:
    """`initialize` as expressions over v's facts and the parameters."""
    state: dict[str, x.Expression] = {
        item.name: x.Const(item.default, item.type) for item in program.state if item.size is None
    }
    return _closed_form(program, program.initialize, state)


def update_form(program: p.VertexProgram) -> ClosedForm:
    """`update` as expressions over v's state before it and its accumulators."""
    state: dict[str, x.Expression] = {
        item.name: x.StateRef("v", item.name, item.type) for item in program.state
    }
    return _closed_form(program, program.update, state)


def traverse_form(program: p.VertexProgram) -> ClosedForm:
    """`traverse` as expressions over u, e and v; identities where nothing is sent."""
    return _closed_form(program, program.traverse, {})


def _closed_form(
    program: p.VertexProgram, body: p.Body, state: dict[str, x.Expression]
) -> ClosedForm:
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
    """What holds after the statements that were run so far."""

    program: p.VertexProgram
    local: dict[str, x.Expression] = field(default_factory=dict)
    state: dict[str, x.Expression] = field(default_factory=dict)
    sent: dict[str, x.Expression] = field(default_factory=dict)

    def run(self, body: p.Body) -> None:
        for statement in body:
            self._step(statement)

    def _step(self, statement: p.Statement) -> None:
        match statement:
            case p.AssignState(index=index) | p.Send(index=index) if index is not None:
                raise ClosedFormError("it works on arrays")
            case p.AssignState(name, value):
                self.state[name] = self._value(value)
            case p.AssignLocal(name, value):
                self.local[name] = self._value(value)
            case p.Send(name, value):
                self._send(self.program.accumulator(name), self._value(value))
            case p.If(condition, then, otherwise):
                self._branch(self._value(condition), then, otherwise)
            case p.ForRange():
                self._loop(statement)

    def _send(self, accumulator: p.Accumulator, value: x.Expression) -> None:
        name = accumulator.name
        if name not in self.sent:
            raise ClosedFormError(f"the {accumulator.kind} '{name}' does not select")
        self.sent[name] = combined(accumulator, self.sent[name], value)

    def _branch(self, condition: x.Expression, then: p.Body, otherwise: p.Body) -> None:
        other = _Reached(self.program, dict(self.local), dict(self.state), dict(self.sent))
        self.run(then)
        other.run(otherwise)
        self.local = _merged(condition, self.local, other.local)
        self.state = _merged(condition, self.state, other.state)
        self.sent = _merged(condition, self.sent, other.sent)

    def _loop(self, loop: p.ForRange) -> None:
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
        for count, _ in enumerate(p.subexpressions(value)):
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


def combined(accumulator: p.Accumulator, one: x.Expression, other: x.Expression) -> x.Expression:
    """What a selecting accumulator makes of two values."""
    if one == x.Const(accumulator.identity, accumulator.type):
        return other
    match accumulator.kind:
        case p.AccumulatorKind.MIN:
            function: x.Function = "least" if accumulator.type is x.FLOAT else "min"
            return x.Call(function, (one, other), accumulator.type)
        case p.AccumulatorKind.MAX:
            function = "greatest" if accumulator.type is x.FLOAT else "max"
            return x.Call(function, (one, other), accumulator.type)
        case p.AccumulatorKind.OR:
            return x.Boolean("or", (one, other))
        case p.AccumulatorKind.AND:
            return x.Boolean("and", (one, other))
        case _:
            raise AssertionError(f"{accumulator.kind} does not select")


def rewrite(expression: x.Expression, leaf: Callable[[x.Expression], x.Expression]) -> x.Expression:
    """The expression with every leaf replaced by what the function makes of it.

    An indexed reference counts as a leaf.
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
        case _:
            return leaf(expression)


def with_expressions(
    program: p.VertexProgram, change: Callable[[x.Expression], x.Expression]
) -> p.VertexProgram:
    """The program with every expression of its three functions changed."""
    return replace(
        program,
        initialize=changed_body(program.initialize, change),
        traverse=changed_body(program.traverse, change),
        update=changed_body(program.update, change),
    )


def changed_body(body: p.Body, change: Callable[[x.Expression], x.Expression]) -> p.Body:
    """The statements with every expression that stands in one changed."""

    def again(statement: p.Statement) -> p.Statement:
        match statement:
            case p.AssignState(_, value, index) | p.Send(_, value, index):
                index = None if index is None else change(index)
                return replace(statement, value=change(value), index=index)
            case p.AssignLocal(_, value):
                return replace(statement, value=change(value))
            case p.If(condition, then, otherwise):
                return p.If(
                    change(condition), changed_body(then, change), changed_body(otherwise, change)
                )
            case p.ForRange(_, start, stop, inner):
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
    """What holds after an `if`: names that only one way assigns have no value after it."""
    return {
        name: value if value == otherwise[name] else x.Choice(condition, value, otherwise[name])
        for name, value in then.items()
        if name in otherwise
    }
