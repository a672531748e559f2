"""How far `tolerance` may lead results astray: a bound that some programs have, and others lack.

With a tolerance t, every state is within a share t of what its own accumulators say. Suppose that
whatever a program computes from states within a factor r of the true ones is itself within that
factor. Then the factor grows by 1 / (1 - t) in a round and by nothing else, whatever the number of
advances. This holds where messages and updates are sums of states that are not negative, times
factors that are not negative and do not depend on states: PageRank. It does not hold where a
message is a logarithm of a state, where two states are multiplied or divided, or where terms of
both signs cancel.

A proof or nothing, as in `program_analysis`: what is not recognised may still be harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.program_bounds import PROVED, Known, Obligation, Proof, at_least
from graphtide.plan.program_symbols import rewrite
from graphtide.plan.program_text import expression_text
from graphtide.plan.program_values import BoundProgram

_ADDED = (
    p.AccumulatorKind.SUM,
    p.AccumulatorKind.COUNT,
    p.AccumulatorKind.MIN,
    p.AccumulatorKind.MAX,
)
_NO_STATE = Known(x.StateRef("u", "", x.FLOAT))


class _NoBoundError(Exception):
    """Why there is no proof, in words."""


@dataclass(frozen=True)
class ToleranceBound:
    """Whether results stay within a share of those from scratch, on which conditions, or why not.

    The share is (1 - tolerance) ** -iterations - 1.
    """

    obligations: tuple[Obligation, ...] = ()
    reason: str | None = None

    def __str__(self) -> str:
        if self.reason is not None:
            return f"no bound is known, {self.reason}"
        where = " and ".join(map(str, self.obligations))
        bound = "results are within (1 - tolerance) ** -iterations - 1 of those from scratch"
        return f"{bound} where {where}" if where else bound


def tolerance_bound(bound: BoundProgram) -> ToleranceBound:
    """The bound of a program with its parameters."""
    program, reading = bound.program, _Reading(dict(bound.values))
    try:
        _check_fields(program)
        if bound.iterations is None:
            raise _NoBoundError("it ends where little changes, and that may be in another round")
        for body in (program.initialize, program.traverse, program.update):
            reading.read(body)
    except _NoBoundError as reason:
        return ToleranceBound(reason=str(reason))
    return ToleranceBound(tuple(sorted(reading.obligations, key=str)))


def _check_fields(program: p.VertexProgram) -> None:
    for item in program.state:
        if item.type is not x.FLOAT:
            raise _NoBoundError(f"{item.name} is no float")
        if item.default < 0:
            raise _NoBoundError(f"{item.name} starts below 0")
    for accumulator in program.accumulators:
        if accumulator.kind not in _ADDED:
            raise _NoBoundError(f"{accumulator.name} is a {accumulator.kind}")


@dataclass
class _Reading:
    """What a function's names stand for, and the conditions that have come up."""

    values: Mapping[str, Any]
    names: dict[str, x.Expression] = field(default_factory=dict)
    obligations: Proof = PROVED

    def read(self, body: p.Body) -> None:
        for statement in body:
            match statement:
                case p.AssignLocal(name, value):
                    self.names[name] = self._written_out(value)
                case p.AssignState(_, value) | p.Send(_, value):
                    self._check(self._written_out(value))
                case p.If(condition, then, otherwise):
                    self._check_free(self._written_out(condition))
                    for branch in (then, otherwise):
                        self.read(branch)
                        self._forget(branch)
                case p.ForRange(body=inner):
                    self._forget(inner)
                    self.read(inner)
                    self._forget(inner)

    def _forget(self, body: p.Body) -> None:
        """A name that one way or turn assigns may stand for several things."""
        for statement in body:
            match statement:
                case p.AssignLocal(name):
                    self.names.pop(name, None)
                case p.If(_, then, otherwise):
                    self._forget(then)
                    self._forget(otherwise)
                case p.ForRange(body=inner):
                    self._forget(inner)

    def _written_out(self, expression: x.Expression) -> x.Expression:
        def leaf(item: x.Expression) -> x.Expression:
            match item:
                case x.Local(name):
                    return self.names.get(name, item)
                case x.ParameterRef(name, type_) if isinstance(self.values.get(name), int | float):
                    return x.Const(self.values[name], type_)
            return item

        return _folded(rewrite(expression, leaf))

    def _check(self, expression: x.Expression) -> None:
        """Raise unless the value stays within the factor that all states are within."""
        if not _reads_states(expression):
            self._check_not_negative(expression)
            return
        match expression:
            case x.StateRef() | x.AccumulatorRef():
                return
            case x.Binary("+", left, right):
                self._check(left)
                self._check(right)
            case x.Binary("*", left, right) if not (_reads_states(left) and _reads_states(right)):
                self._check(left)
                self._check(right)
            case x.Binary("/", left, right) if not _reads_states(right):
                self._check(left)
                self._check_not_negative(right)
            case x.Choice(condition, yes, no):
                self._check_free(condition)
                self._check(yes)
                self._check(no)
            case x.Call("min" | "max" | "abs" | "sqrt" | "float", arguments):
                for item in arguments:
                    self._check(item)
            case _:
                text = expression_text(expression)
                raise _NoBoundError(f"{text} is not in proportion to what it reads")

    def _check_free(self, condition: x.Expression) -> None:
        if _reads_states(condition):
            raise _NoBoundError(f"the condition {expression_text(condition)} depends on a state")

    def _check_not_negative(self, expression: x.Expression) -> None:
        if isinstance(expression, x.Iteration):
            return
        proof = at_least(expression, 0, _NO_STATE)
        if proof is None:
            raise _NoBoundError(f"{expression_text(expression)} may be negative")
        self.obligations |= proof


def _reads_states(expression: x.Expression) -> bool:
    """Whether a value depends on states; so may that of a name that is not known."""
    return any(
        isinstance(item, x.StateRef | x.AccumulatorRef | x.Local)
        for item in p.subexpressions(expression)
    )


def _folded(expression: x.Expression) -> x.Expression:
    """With the arithmetic of constants carried out."""
    match expression:
        case x.Binary(operator, left, right):
            sides = _folded(left), _folded(right)
            if isinstance(sides[0], x.Const) and isinstance(sides[1], x.Const):
                value = _result(operator, float(sides[0].value), float(sides[1].value))
                if value is not None and expression.type is x.FLOAT:
                    return x.Const(value, x.FLOAT)
            return x.Binary(operator, *sides)
        case x.Choice(condition, yes, no):
            return x.Choice(condition, _folded(yes), _folded(no))
        case x.Call("float", (inner,), type_):
            found_inner = _folded(inner)
            if isinstance(found_inner, x.Const):
                return x.Const(float(found_inner.value), x.FLOAT)
            return x.Call("float", (found_inner,), type_)
    return expression


def _result(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right:
            return left / right
    return None
