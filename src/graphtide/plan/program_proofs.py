"""Proofs about the messages of a program, for its analysis.

A proof is the set of obligations under which a statement holds for every edge: conditions on
properties and parameters that can be checked when the data is there. No proof is None, which says
nothing about the statement itself. NaN satisfies no obligation, so where the obligations hold no
value is NaN.

The first part proves that an expression stays on one side of a constant. The second proves that
messages rise with the state of their source, and that they never overtake it. Both are what a
selecting program needs so that one value per vertex is enough to maintain it: if messages rise, a
better source never gives a worse message, so the order of work does not matter; if they never
overtake, no vertex can owe its value to itself along a cycle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from graphtide.plan import expressions as x
from graphtide.plan.program_text import expression_text, number_text
from graphtide.plan.programs import INT_MAX, INT_MIN, subexpressions

MOST_VERTICES = 2**31


@dataclass(frozen=True)
class Obligation:
    """A condition on a property or a parameter that the data must satisfy."""

    subject: x.EdgeProperty | x.VertexProperty | x.ParameterRef
    operator: Literal[">=", "<=", ">", "<"]
    bound: x.Number

    def __str__(self) -> str:
        return f"{expression_text(self.subject)} {self.operator} {number_text(self.bound)}"

    def holds_for(self, value: x.Number) -> bool:
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
Bounds = tuple[x.Number, x.Number]


@dataclass(frozen=True)
class SourceAssumptions:
    """What is assumed of the source's state while something else is proved."""

    source: x.StateRef
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


def at_least(expression: x.Expression, bound: x.Number, known: SourceAssumptions) -> Proof | None:
    """A proof of expression >= bound."""
    return _beyond(expression, bound, True, known)


def at_most(expression: x.Expression, bound: x.Number, known: SourceAssumptions) -> Proof | None:
    return _beyond(expression, bound, False, known)


def constant_bounds(expression: x.Expression) -> Bounds | None:
    """The least and the greatest value of what is made of constants and choices between them.

    None of anything else, and of what may be NaN or wrap around. Rounding never turns two results
    round, so the corners of an operation are its bounds to the last digit.
    """
    match expression:
        case x.Const(value) if expression.type is not x.BOOL and not math.isnan(value):
            return value, value
        case x.Unary("-", operand):
            return _combined([operand], lambda ends: [-end for end in ends[0]], operand.type)
        case x.Choice(_, yes, no) if yes.type.is_number:
            return _combined([yes, no], lambda ends: [*ends[0], *ends[1]], yes.type)
        case x.Call("float", (operand,)):
            return _combined([operand], lambda ends: [float(end) for end in ends[0]], x.FLOAT)
        case x.Call("min" | "max" as function, arguments):
            pick = min if function == "min" else max
            return _combined(arguments, lambda ends: list(map(pick, *ends)), expression.type)
        case x.Binary("+" | "-" | "*" | "/" as operator, left, right):
            return _combined([left, right], _CORNERS[operator], left.type)
        case _:
            return None


def _combined(
    parts: Iterable[x.Expression],
    values: Callable[[list[Bounds]], list[x.Number]],
    kind: x.ValueType,
) -> Bounds | None:
    """The bounds of an operation, from the corners that it makes of the bounds of its parts."""
    ends: list[Bounds] = []
    for part in parts:
        bounds = constant_bounds(part)
        if bounds is None:
            return None
        ends.append(bounds)
    corners = values(ends)
    least, greatest = min(corners), max(corners)
    wraps = kind is x.INT and (least < INT_MIN or greatest > INT_MAX)
    return None if wraps or any(map(math.isnan, corners)) else (least, greatest)


def _products(ends: list[Bounds]) -> list[x.Number]:
    """The corners of a product; NaN where an infinity might meet a zero between the ends."""
    one, other = ends
    finite_ends = all(map(math.isfinite, (*one, *other)))
    return [a * b for a in one for b in other] if finite_ends else [math.nan]


def _quotients(ends: list[Bounds]) -> list[x.Number]:
    """The corners of a quotient; NaN where the divisor may be zero."""
    one, other = ends
    apart = other[0] > 0 or other[1] < 0
    finite_ends = all(map(math.isfinite, (*one, *other)))
    return [a / b for a in one for b in other] if apart and finite_ends else [math.nan]


_CORNERS: dict[str, Callable[[list[Bounds]], list[x.Number]]] = {
    "+": lambda ends: [a + b for a in ends[0] for b in ends[1]],
    "-": lambda ends: [a - b for a in ends[0] for b in ends[1]],
    "*": _products,
    "/": _quotients,
}


def above_zero(expression: x.Expression, known: SourceAssumptions) -> Proof | None:
    bounds = constant_bounds(expression)
    if bounds is not None:
        return PROVED if bounds[0] > 0 else None
    match expression:
        case x.Choice(_, yes, no):
            return both(above_zero(yes, known), above_zero(no, known))
        case x.EdgeProperty() | x.VertexProperty() | x.ParameterRef():
            return frozenset({Obligation(expression, ">", 0)})
        case x.Call("float", (inner,)):
            return above_zero(inner, known)
        case x.Call("min", arguments):
            return both(*(above_zero(item, known) for item in arguments))
        case x.Call("max", arguments):
            return either(above_zero(item, known) for item in arguments)
        case _:
            return None


def below_infinity(expression: x.Expression) -> Proof | None:
    """A proof that a factor is not infinite above, so that it makes no NaN of a zero."""
    bounds = constant_bounds(expression)
    if bounds is not None:
        return PROVED if bounds[1] < math.inf else None
    match expression:
        case x.EdgeProperty() | x.VertexProperty() | x.ParameterRef():
            return frozenset({Obligation(expression, "<", math.inf)})
        case x.Choice(_, yes, no):
            return both(below_infinity(yes), below_infinity(no))
        case x.Call("min", arguments) if all(map(_is_given, arguments)):
            return either(map(below_infinity, arguments))
        case x.Call("float" | "min" | "max", arguments):
            return both(*map(below_infinity, arguments))
        case _:
            return None


def _is_given(expression: x.Expression) -> bool:
    """True of constants, properties and parameters, of which none is NaN."""
    match expression:
        case x.EdgeProperty() | x.VertexProperty() | x.ParameterRef():
            return True
        case _:
            return constant_bounds(expression) is not None


def finite(expression: x.Expression) -> Proof | None:
    """A proof that a float is neither NaN nor an infinity."""
    match expression:
        case x.Const(value):
            return PROVED if math.isfinite(value) else None
        case x.EdgeProperty() | x.VertexProperty() | x.ParameterRef():
            infinity = float("inf")
            return frozenset(
                {Obligation(expression, ">", -infinity), Obligation(expression, "<", infinity)}
            )
        case x.Call("float"):
            return PROVED
        case x.Unary(_, operand):
            return finite(operand)
        case x.Call("abs" | "min" | "max", arguments):
            return both(*map(finite, arguments))
        case x.Choice(_, yes, no):
            return both(finite(yes), finite(no))
        case _:
            return None


def never_nan(expression: x.Expression) -> Proof | None:
    """A proof that an expression without state or edge properties is a number, if infinite.

    No vertex property is NaN, since NaN is a missing value.
    """
    if expression.type is not x.FLOAT:
        return PROVED
    match expression:
        case x.VertexProperty():
            return PROVED
        case x.Const(value):
            return None if math.isnan(value) else PROVED
        case x.ParameterRef():
            return frozenset({Obligation(expression, ">=", -float("inf"))})
        case x.Call("float"):
            return PROVED
        case x.Unary(_, operand):
            return never_nan(operand)
        case x.Call("abs" | "min" | "max" | "exp", arguments):
            return both(*map(never_nan, arguments))
        case x.Choice(_, yes, no):
            return both(never_nan(yes), never_nan(no))
        case x.Binary("+" | "-" | "*", left, right):
            return both(finite(left), finite(right))
        case x.Binary("/", left, x.Const(divisor)) if divisor != 0:
            return finite(left)
        case _:
            return None


def _beyond(
    expression: x.Expression, bound: x.Number, up: bool, known: SourceAssumptions
) -> Proof | None:
    bounds = constant_bounds(expression)
    if bounds is not None:
        return PROVED if (bounds[0] >= bound if up else bounds[1] <= bound) else None
    match expression:
        case x.EdgeProperty() | x.VertexProperty() | x.ParameterRef():
            return frozenset({Obligation(expression, ">=" if up else "<=", bound)})
        case x.VertexFact():
            return PROVED if (bound <= 0 if up else bound >= MOST_VERTICES) else None
        case x.StateRef() if expression == known.source:
            return PROVED if up and bound <= 0 and known.at_least_zero else None
        case x.Unary("-", operand):
            return _beyond(operand, -bound, not up, known)
        case x.Choice(_, yes, no):
            return both(_beyond(yes, bound, up, known), _beyond(no, bound, up, known))
        case x.Call():
            return _call_beyond(expression, bound, up, known)
        case x.Binary():
            return _binary_beyond(expression, bound, up, known)
        case _:
            return None


def _call_beyond(call: x.Call, bound: x.Number, up: bool, known: SourceAssumptions) -> Proof | None:
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


def _may_wrap(expression: x.Expression) -> bool:
    return any(
        isinstance(item, x.Binary) and item.type is x.INT for item in subexpressions(expression)
    )


def _binary_beyond(
    binary: x.Binary, bound: x.Number, up: bool, known: SourceAssumptions
) -> Proof | None:
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
            return _shifted(left, x.Unary("-", right), bound, up, known)
        case "*":
            return _product_beyond(left, right, bound, up, known)
        case "/" if up and bound <= 0:
            finite = both(below_infinity(left), below_infinity(right))
            return both(finite, _beyond(left, 0, True, known), above_zero(right, known))
        case _:
            return None


def _shifted(
    one: x.Expression, other: x.Expression, bound: x.Number, up: bool, known: SourceAssumptions
) -> Proof | None:
    """one + other beyond the bound: by a constant shift, or with each on its side of zero."""
    shift = _constant_value(other)
    # Shifting a float bound rounds it, except away from zero.
    if shift is not None and (bound == 0 or one.type is x.INT):
        return _beyond(one, bound - shift, up, known)
    if bound <= 0 if up else bound >= 0:
        return both(_beyond(one, 0, up, known), _beyond(other, 0, up, known))
    return None


def _constant_value(expression: x.Expression) -> x.Number | None:
    match expression:
        case x.Const(value) if math.isfinite(value):
            return value
        case x.Unary("-", x.Const(value)) if math.isfinite(value):
            return -value
        case _:
            return None


def _product_beyond(
    left: x.Expression, right: x.Expression, bound: x.Number, up: bool, known: SourceAssumptions
) -> Proof | None:
    sides = (left, right)
    if left.type is x.INT:  # a product of ints may wrap around
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


LARGEST_STEP = 2**30
"""What an int edge property may add: over any path this stays within int64."""


def rises(message: x.Expression, known: SourceAssumptions) -> Proof | None:
    """A proof that a message never falls with its source, where a NaN is a message not sent.

    A sum is NaN only where an infinity that never changes meets the opposite one. Then every other
    source sends that infinity, which is as good as nothing: so the parts that are sent as they are
    may be NaN, and only what is inside of something else must not.
    """
    match message:
        case x.Binary("+" | "-", left, right):
            added = message.operator == "+"
            other = rises(right, known) if added else _moves(right, known, False)
            return both(rises(left, known), other)
        case x.Choice(_, yes, no):
            return both(rises(yes, known), rises(no, known), _turns(message, known, True))
        case x.Call("least" | "greatest", arguments):
            return both(*(rises(item, known) for item in arguments))
        case _:
            return _moves(message, known, True)


def _moves(expression: x.Expression, known: SourceAssumptions, up: bool) -> Proof | None:
    """A proof that the expression never falls (up) or never rises (not up) with the source."""
    if known.source not in subexpressions(expression):
        return PROVED
    match expression:
        case x.Unary(_, operand):
            return _moves(operand, known, not up)
        case x.Binary():
            return _binary_moves(expression, known, up)
        case x.Compare(">" | ">=", left, right):
            return both(_moves(left, known, up), _moves(right, known, not up))
        case x.Compare("<" | "<=", left, right):
            return both(_moves(left, known, not up), _moves(right, known, up))
        case x.Boolean(_, terms):
            return both(*(_moves(term, known, up) for term in terms))
        case x.Choice():
            return _choice_moves(expression, known, up)
        case x.Call():
            return _call_moves(expression, known, up)
        case _:
            return PROVED if up and expression == known.source else None


def never_overtakes(expression: x.Expression, known: SourceAssumptions, up: bool) -> Proof | None:
    """A proof that the message is never below (up) or never above (not up) its source's state."""
    match expression:
        case x.Const():
            return PROVED if is_extreme(expression, up) else None
        case x.Binary():
            return _binary_stays(expression, known, up)
        case x.Choice(condition, yes, no):
            proofs = []
            for branch, taken in ((yes, True), (no, False)):
                certain = _tells_enough(condition, taken, known, up)
                proofs.append(PROVED if certain else never_overtakes(branch, known, up))
            return both(*proofs)
        case x.Boolean(operator, terms):
            proofs = [never_overtakes(term, known, up) for term in terms]
            return either(proofs) if (operator == "or") is up else both(*proofs)
        case x.Call("least" | "greatest", arguments):
            return both(*(never_overtakes(item, known, up) for item in arguments))
        case x.Call("min" | "max" as function, arguments):
            proofs = [never_overtakes(item, known, up) for item in arguments]
            return either(proofs) if (function == "max") is up else both(*proofs)
        case x.Call("abs", (inner,)) if up:
            return never_overtakes(inner, known, up)
        case _:
            return PROVED if expression == known.source else None


def is_extreme(expression: x.Expression, up: bool) -> bool:
    """True of the greatest constant of its type (up), or of the least."""
    if not isinstance(expression, x.Const):
        return False
    if expression.type is x.BOOL:
        return expression.value is up
    if expression.type is x.INT:
        return expression.value == (INT_MAX if up else INT_MIN)
    return expression.value == (math.inf if up else -math.inf)


def _binary_moves(binary: x.Binary, known: SourceAssumptions, up: bool) -> Proof | None:
    left, right = binary.left, binary.right
    match binary.operator:
        case "+" | "-":
            return _sum_moves(binary, known, up)
        case "*" if binary.type is not x.INT:
            return either(
                (_scaled(left, right, known, up), _scaled(right, left, known, up)),
            )
        case "//" if binary.type is not x.INT and not known.finite:
            return None  # an infinity floored is NaN
        case "/" | "//" if known.source not in subexpressions(right):
            return both(_moves(left, known, up), above_zero(right, known), below_infinity(right))
        case _:
            return None


def _sum_moves(binary: x.Binary, known: SourceAssumptions, up: bool) -> Proof | None:
    """A sum inside of something else: ints must not wrap around, floats not become NaN."""
    left, right, added = binary.left, binary.right, binary.operator == "+"
    moving = both(_moves(left, known, up), _moves(right, known, up is added))
    held, other = (left, right) if known.source in subexpressions(left) else (right, left)
    if known.source in subexpressions(other):
        return None
    if binary.type is x.INT:
        small = at_least(other, -LARGEST_STEP, known), at_most(other, LARGEST_STEP, known)
        return both(moving, *small)
    number = finite(other)
    if added and known.at_least_zero and held == known.source:
        number = either((number, at_least(other, 0, known)))
    return both(moving, number)


def _scaled(
    one: x.Expression, factor: x.Expression, known: SourceAssumptions, up: bool
) -> Proof | None:
    """one * factor, where an infinite source times zero must not make a NaN."""
    if known.source in subexpressions(factor):
        return None
    positive = at_least(factor, 0, known) if known.finite else above_zero(factor, known)
    return both(_moves(one, known, up), positive, below_infinity(factor))


def _choice_moves(choice: x.Choice, known: SourceAssumptions, up: bool) -> Proof | None:
    branches = _moves(choice.yes, known, up), _moves(choice.no, known, up)
    return both(*branches, _turns(choice, known, up))


def _turns(choice: x.Choice, known: SourceAssumptions, up: bool) -> Proof | None:
    """A proof that no step back happens where the condition itself changes with the source."""
    if known.source not in subexpressions(choice.condition):
        return PROVED
    turns = []
    for low, high, turned_on in (
        (choice.no, choice.yes, True),
        (choice.yes, choice.no, False),
    ):
        if is_extreme(high, up) or is_extreme(low, not up):
            turns.append(_moves(choice.condition, known, turned_on))
    return either(turns)


def _call_moves(call: x.Call, known: SourceAssumptions, up: bool) -> Proof | None:
    # No library promises that its exp never falls by the last digit.
    plain = call.function in ("min", "max", "float")
    truth = call.function == "int" and call.arguments[0].type is x.BOOL
    if plain or truth:
        return both(*(_moves(item, known, up) for item in call.arguments))
    return None


def _binary_stays(binary: x.Binary, known: SourceAssumptions, up: bool) -> Proof | None:
    left, right = binary.left, binary.right
    match binary.operator:
        case "+":
            return either(
                (
                    both(never_overtakes(left, known, up), _step(right, known, up)),
                    both(never_overtakes(right, known, up), _step(left, known, up)),
                )
            )
        case "-":
            return both(never_overtakes(left, known, up), _step(right, known, not up))
        case "*" if binary.type is not x.INT and known.at_least_zero:
            # What a factor of at most 1 makes of a negative value is at most 0, as no source is.
            return either(
                (
                    both(never_overtakes(left, known, up), _factor(right, known, up)),
                    both(never_overtakes(right, known, up), _factor(left, known, up)),
                )
            )
        case "/" if known.at_least_zero and not up:
            divided = never_overtakes(left, known, up)
            return both(divided, at_least(right, 1, known), below_infinity(right))
        case _:
            return None


def _step(expression: x.Expression, known: SourceAssumptions, up: bool) -> Proof | None:
    """A proof that the addend points away from the source, and cannot make an int wrap around."""
    if up:
        away, small = at_least(expression, 0, known), at_most(expression, LARGEST_STEP, known)
    else:
        away, small = at_most(expression, 0, known), at_least(expression, -LARGEST_STEP, known)
    return both(away, small) if expression.type is x.INT else away


def _factor(factor: x.Expression, known: SourceAssumptions, up: bool) -> Proof | None:
    if up:
        return both(at_least(factor, 1, known), below_infinity(factor))
    positive = at_least(factor, 0, known) if known.finite else above_zero(factor, known)
    return both(positive, at_most(factor, 1, known))


def _tells_enough(condition: x.Expression, taken: bool, known: SourceAssumptions, up: bool) -> bool:
    """Whether the condition implies the source: nothing is above true, nor below false."""
    if known.source.type is not x.BOOL or taken is up:
        return False
    match condition:
        case x.Boolean(operator, terms) if (operator == "and") is taken:
            return known.source in terms
        case _:
            return condition == known.source
