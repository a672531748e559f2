"""Expressions of `update` as base + factor * sum: what a settling sum is made of.

Only what is such a product by its form is taken; whatever else there is has a reason that
users are told.
"""

from __future__ import annotations

from graphtide.plan import expressions as x
from graphtide.plan.program_text import expression_text
from graphtide.plan.programs import subexpressions

ONE, NONE = x.Const(1.0, x.FLOAT), x.Const(0.0, x.FLOAT)


class NotSettlingError(Exception):
    """Why a program is no settling sum."""


def affine(form: x.Expression) -> tuple[x.Expression, x.Expression]:
    """An expression as a part without the sum, and what the sum is multiplied by."""
    if not any(isinstance(item, x.AccumulatorRef) for item in subexpressions(form)):
        return form, NONE
    match form:
        case x.AccumulatorRef():
            return NONE, ONE
        case x.Unary("-", inner):
            base, factor = affine(inner)
            return x.Unary("-", base), x.Unary("-", factor)
        case x.Binary("+" | "-" as sign, left, right):
            one, other = affine(left), affine(right)
            return _combined(sign, one[0], other[0]), _combined(sign, one[1], other[1])
        case x.Binary("*", left, right) if is_constant(left):
            base, factor = affine(right)
            return product(left, base), product(left, factor)
        case x.Binary("*", left, right) if is_constant(right):
            return affine(x.Binary("*", right, left))
        case x.Binary("/", left, right) if is_constant(right):
            base, factor = affine(left)
            return _quotient(base, right), _quotient(factor, right)
        case x.Choice(condition, yes, no):
            return _choice(condition, yes, no)
    raise NotSettlingError(f"{expression_text(form)} is not in proportion to the sum")


def _choice(
    condition: x.Expression, yes: x.Expression, no: x.Expression
) -> tuple[x.Expression, x.Expression]:
    if any(isinstance(item, x.AccumulatorRef) for item in subexpressions(condition)):
        raise NotSettlingError(f"the condition {expression_text(condition)} depends on the sum")
    one, other = affine(yes), affine(no)
    if one[1] != other[1]:
        raise NotSettlingError("the sum counts otherwise at some vertices")
    return x.Choice(condition, one[0], other[0]), one[1]


def is_constant(expression: x.Expression) -> bool:
    """True where it is the same number everywhere: of constants and parameters alone."""
    given = x.EdgeProperty | x.VertexFact | x.VertexProperty | x.Member
    own = x.StateRef | x.AccumulatorRef | given | x.Local | x.Iteration
    return not any(isinstance(item, own) for item in subexpressions(expression))


def product(left: x.Expression, right: x.Expression) -> x.Expression:
    """Both multiplied, without a factor of 1."""
    if left == ONE or right == NONE:
        return right
    return left if right == ONE or left == NONE else x.Binary("*", left, right)


def _quotient(left: x.Expression, right: x.Expression) -> x.Expression:
    return left if left == NONE else x.Binary("/", left, right)


def _combined(sign: str, left: x.Expression, right: x.Expression) -> x.Expression:
    if right == NONE:
        return left
    if sign == "+":
        return right if left == NONE else x.Binary("+", left, right)
    return x.Unary("-", right) if left == NONE else x.Binary("-", left, right)
