"""Expressions of `update` as base + factor * sum: what a settling sum is made of.

Only what is such a product by its form is taken; whatever else there is has a reason that
users are told.
"""

from __future__ import annotations

from graphtide.plan.expressions import (
    FLOAT,
    AccumulatorRef,
    Binary,
    Choice,
    Const,
    EdgeProperty,
    Expression,
    Iteration,
    Local,
    Member,
    StateRef,
    Unary,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.program_text import expression_text
from graphtide.plan.programs import subexpressions

ONE, NONE = Const(1.0, FLOAT), Const(0.0, FLOAT)


class NotSettlingError(Exception):
    """Why a program is no settling sum."""


def affine(form: Expression) -> tuple[Expression, Expression]:
    """An expression as a part without the sum, and what the sum is multiplied by."""
    if not any(isinstance(item, AccumulatorRef) for item in subexpressions(form)):
        return form, NONE
    match form:
        case AccumulatorRef():
            return NONE, ONE
        case Unary("-", inner):
            base, factor = affine(inner)
            return Unary("-", base), Unary("-", factor)
        case Binary("+" | "-" as sign, left, right):
            one, other = affine(left), affine(right)
            return _combined(sign, one[0], other[0]), _combined(sign, one[1], other[1])
        case Binary("*", left, right) if is_constant(left):
            base, factor = affine(right)
            return product(left, base), product(left, factor)
        case Binary("*", left, right) if is_constant(right):
            return affine(Binary("*", right, left))
        case Binary("/", left, right) if is_constant(right):
            base, factor = affine(left)
            return _quotient(base, right), _quotient(factor, right)
        case Choice(condition, yes, no):
            return _choice(condition, yes, no)
    raise NotSettlingError(f"{expression_text(form)} is not in proportion to the sum")


def _choice(
    condition: Expression, yes: Expression, no: Expression
) -> tuple[Expression, Expression]:
    if any(isinstance(item, AccumulatorRef) for item in subexpressions(condition)):
        raise NotSettlingError(f"the condition {expression_text(condition)} depends on the sum")
    one, other = affine(yes), affine(no)
    if one[1] != other[1]:
        raise NotSettlingError("the sum counts otherwise at some vertices")
    return Choice(condition, one[0], other[0]), one[1]


def is_constant(expression: Expression) -> bool:
    """True where it is the same number everywhere: of constants and parameters alone."""
    given = EdgeProperty | VertexFact | VertexProperty | Member
    own = StateRef | AccumulatorRef | given | Local | Iteration
    return not any(isinstance(item, own) for item in subexpressions(expression))


def product(left: Expression, right: Expression) -> Expression:
    """Both multiplied, without a factor of 1."""
    if left == ONE or right == NONE:
        return right
    return left if right == ONE or left == NONE else Binary("*", left, right)


def _quotient(left: Expression, right: Expression) -> Expression:
    return left if left == NONE else Binary("/", left, right)


def _combined(sign: str, left: Expression, right: Expression) -> Expression:
    if right == NONE:
        return left
    if sign == "+":
        return right if left == NONE else Binary("+", left, right)
    return Unary("-", right) if left == NONE else Binary("-", left, right)
