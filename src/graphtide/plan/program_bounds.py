"""Proofs that an expression stays on one side of a constant, for the analysis of programs.

A proof is the set of obligations under which the statement holds for every edge: conditions on
properties and parameters that can be checked when the data is there. No proof is None, which says
nothing about the statement itself. NaN satisfies no obligation, so where the obligations hold no
value is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from graphtide.plan.expressions import (
    FLOAT,
    INT,
    Binary,
    Call,
    Choice,
    Const,
    EdgeProperty,
    Expression,
    Number,
    ParameterRef,
    StateRef,
    Unary,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.program_text import expression_text, number_text
from graphtide.plan.programs import subexpressions

MOST_VERTICES = 2**31


@dataclass(frozen=True)
class Obligation:
    """A condition on a property or a parameter that the data must satisfy."""

    subject: EdgeProperty | VertexProperty | ParameterRef
    operator: Literal[">=", "<=", ">", "<"]
    bound: Number

    def __str__(self) -> str:
        return f"{expression_text(self.subject)} {self.operator} {number_text(self.bound)}"

    def holds_for(self, value: Number) -> bool:
        """Whether one value satisfies it; NaN never does."""
        match self.operator:
            case ">=":
                return value >= self.bound
            case "<=":
                return value <= self.bound
            case ">":
                return value > self.bound
            case "<":
                return value < self.bound


Proof = frozenset[Obligation]
PROVED: Proof = frozenset()


@dataclass(frozen=True)
class Known:
    """What is taken for granted about the source's state while something else is proved."""

    source: StateRef
    at_least_zero: bool = False
    finite: bool = False


def both(*proofs: Proof | None) -> Proof | None:
    """All of the statements; None as soon as one of them has no proof."""
    joined: Proof = PROVED
    for proof in proofs:
        if proof is None:
            return None
        joined |= proof
    return joined


def either(proofs: Iterable[Proof | None]) -> Proof | None:
    """Any one of the statements: the proof that obliges least."""
    return min((proof for proof in proofs if proof is not None), key=len, default=None)


def at_least(expression: Expression, bound: Number, known: Known) -> Proof | None:
    """A proof of expression >= bound."""
    return _beyond(expression, bound, True, known)


def at_most(expression: Expression, bound: Number, known: Known) -> Proof | None:
    """A proof of expression <= bound."""
    return _beyond(expression, bound, False, known)


def above_zero(expression: Expression, known: Known) -> Proof | None:
    """A proof of expression > 0, for divisors and factors."""
    match expression:
        case Const(value):
            return PROVED if value > 0 else None
        case EdgeProperty() | VertexProperty() | ParameterRef():
            return frozenset({Obligation(expression, ">", 0)})
        case Call("float", (inner,)):
            return above_zero(inner, known)
        case Call("min", arguments):
            return both(*(above_zero(item, known) for item in arguments))
        case Call("max", arguments):
            return either(above_zero(item, known) for item in arguments)
        case _:
            return None


def below_infinity(expression: Expression) -> Proof | None:
    """A proof that a factor is not infinite above, so that it makes no NaN of a zero."""
    match expression:
        case Const(value):
            return PROVED if value < float("inf") else None
        case EdgeProperty() | VertexProperty() | ParameterRef():
            return frozenset({Obligation(expression, "<", float("inf"))})
        case Call("float" | "min" | "max", arguments):
            return both(*map(below_infinity, arguments))
        case _:
            return None


def finite(expression: Expression) -> Proof | None:
    """A proof that a float is neither NaN nor an infinity."""
    match expression:
        case Const(value):
            return PROVED if math.isfinite(value) else None
        case EdgeProperty() | VertexProperty() | ParameterRef():
            infinity = float("inf")
            return frozenset(
                {Obligation(expression, ">", -infinity), Obligation(expression, "<", infinity)}
            )
        case Call("float"):
            return PROVED
        case Unary(_, operand):
            return finite(operand)
        case Call("abs" | "min" | "max", arguments):
            return both(*map(finite, arguments))
        case Choice(_, yes, no):
            return both(finite(yes), finite(no))
        case _:
            return None


def never_nan(expression: Expression) -> Proof | None:
    """A proof that an expression without state or edge properties is a number, if infinite.

    No vertex property is NaN, since NaN is a missing value.
    """
    if expression.type is not FLOAT:
        return PROVED
    match expression:
        case VertexProperty():
            return PROVED
        case Const(value):
            return None if math.isnan(value) else PROVED
        case ParameterRef():
            return frozenset({Obligation(expression, ">=", -float("inf"))})
        case Call("float"):
            return PROVED
        case Unary(_, operand):
            return never_nan(operand)
        case Call("abs" | "min" | "max" | "exp", arguments):
            return both(*map(never_nan, arguments))
        case Choice(_, yes, no):
            return both(never_nan(yes), never_nan(no))
        case Binary("+" | "-" | "*", left, right):
            return both(finite(left), finite(right))
        case Binary("/", left, Const(divisor)) if divisor != 0:
            return finite(left)
        case _:
            return None


def _beyond(expression: Expression, bound: Number, up: bool, known: Known) -> Proof | None:
    match expression:
        case Const(value):
            return PROVED if (value >= bound if up else value <= bound) else None
        case EdgeProperty() | VertexProperty() | ParameterRef():
            return frozenset({Obligation(expression, ">=" if up else "<=", bound)})
        case VertexFact():
            return PROVED if (bound <= 0 if up else bound >= MOST_VERTICES) else None
        case StateRef() if expression == known.source:
            return PROVED if up and bound <= 0 and known.at_least_zero else None
        case Unary("-", operand):
            return _beyond(operand, -bound, not up, known)
        case Choice(_, yes, no):
            return both(_beyond(yes, bound, up, known), _beyond(no, bound, up, known))
        case Call():
            return _call_beyond(expression, bound, up, known)
        case Binary():
            return _binary_beyond(expression, bound, up, known)
        case _:
            return None


def _call_beyond(call: Call, bound: Number, up: bool, known: Known) -> Proof | None:
    proofs = [_beyond(item, bound, up, known) for item in call.arguments]
    match call.function:
        case "float":
            return None if _may_wrap(call.arguments[0]) else proofs[0]
        case "min" | "max":
            return both(*proofs) if (call.function == "min") is up else either(proofs)
        case "abs" | "exp":
            return PROVED if up and bound <= 0 else None
        case _:
            return None


def _may_wrap(expression: Expression) -> bool:
    return any(isinstance(item, Binary) and item.type is INT for item in subexpressions(expression))


def _binary_beyond(binary: Binary, bound: Number, up: bool, known: Known) -> Proof | None:
    left, right = binary.left, binary.right
    match binary.operator:
        case "+":
            return either(
                (
                    _shifted(left, right, bound, up, known),
                    _shifted(right, left, bound, up, known),
                )
            )
        case "-":
            return _shifted(left, Unary("-", right), bound, up, known)
        case "*":
            return _product_beyond(left, right, bound, up, known)
        case "/" if up and bound <= 0:
            finite = both(below_infinity(left), below_infinity(right))
            return both(finite, _beyond(left, 0, True, known), above_zero(right, known))
        case _:
            return None


def _shifted(
    one: Expression, other: Expression, bound: Number, up: bool, known: Known
) -> Proof | None:
    """one + other beyond the bound: by a constant shift, or with each on its side of zero."""
    shift = _constant_value(other)
    # Shifting a float bound rounds it, except away from zero.
    if shift is not None and (bound == 0 or one.type is INT):
        return _beyond(one, bound - shift, up, known)
    if bound <= 0 if up else bound >= 0:
        return both(_beyond(one, 0, up, known), _beyond(other, 0, up, known))
    return None


def _constant_value(expression: Expression) -> Number | None:
    match expression:
        case Const(value) if math.isfinite(value):
            return value
        case Unary("-", Const(value)) if math.isfinite(value):
            return -value
        case _:
            return None


def _product_beyond(
    left: Expression, right: Expression, bound: Number, up: bool, known: Known
) -> Proof | None:
    sides = (left, right)
    if left.type is INT:  # a product of ints may wrap around
        return None
    if up and bound <= 0:
        finite = both(*map(below_infinity, sides))
        return both(finite, *(_beyond(side, 0, True, known) for side in sides))
    if up and bound <= 1:
        return both(*(_beyond(side, 1, True, known) for side in sides))
    if not up and bound >= 1:
        unit = [_beyond(side, 0, True, known) for side in sides]
        return both(*unit, *(_beyond(side, 1, False, known) for side in sides))
    return None
