"""Proofs about messages: that they rise with the state of their source, and never overtake it.

Both are what a selecting program needs so that one value a vertex is enough to maintain it: if
messages rise, a better source never gives a worse message, so the order of work does not matter;
if they never overtake, no vertex can owe its value to itself along a cycle.
"""

from __future__ import annotations

import math

from graphtide.plan import expressions as x
from graphtide.plan.program_bounds import (
    PROVED,
    Known,
    Proof,
    above_zero,
    at_least,
    at_most,
    below_infinity,
    both,
    either,
    finite,
)
from graphtide.plan.programs import INT_MAX, INT_MIN, subexpressions

LARGEST_STEP = 2**30
"""What an int edge property may add: over any path this stays within int64."""


def rises(message: x.Expression, known: Known) -> Proof | None:
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


def _moves(expression: x.Expression, known: Known, up: bool) -> Proof | None:
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


def never_overtakes(expression: x.Expression, known: Known, up: bool) -> Proof | None:
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
    """True of the constant that nothing of its type exceeds."""
    if not isinstance(expression, x.Const):
        return False
    if expression.type is x.BOOL:
        return expression.value is up
    if expression.type is x.INT:
        return expression.value == (INT_MAX if up else INT_MIN)
    return expression.value == (math.inf if up else -math.inf)


def _binary_moves(binary: x.Binary, known: Known, up: bool) -> Proof | None:
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


def _sum_moves(binary: x.Binary, known: Known, up: bool) -> Proof | None:
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


def _scaled(one: x.Expression, factor: x.Expression, known: Known, up: bool) -> Proof | None:
    """one * factor, where an infinite source times zero must not make a NaN."""
    if known.source in subexpressions(factor):
        return None
    positive = at_least(factor, 0, known) if known.finite else above_zero(factor, known)
    return both(_moves(one, known, up), positive, below_infinity(factor))


def _choice_moves(choice: x.Choice, known: Known, up: bool) -> Proof | None:
    branches = _moves(choice.yes, known, up), _moves(choice.no, known, up)
    return both(*branches, _turns(choice, known, up))


def _turns(choice: x.Choice, known: Known, up: bool) -> Proof | None:
    """Where the condition itself turns with the source, the turn must not be a step back."""
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


def _call_moves(call: x.Call, known: Known, up: bool) -> Proof | None:
    # No library promises that its exp never falls by the last digit.
    plain = call.function in ("min", "max", "float")
    truth = call.function == "int" and call.arguments[0].type is x.BOOL
    if plain or truth:
        return both(*(_moves(item, known, up) for item in call.arguments))
    return None


def _binary_stays(binary: x.Binary, known: Known, up: bool) -> Proof | None:
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


def _step(expression: x.Expression, known: Known, up: bool) -> Proof | None:
    """What is added points away from the source, and for ints is small enough not to wrap."""
    if up:
        away, small = at_least(expression, 0, known), at_most(expression, LARGEST_STEP, known)
    else:
        away, small = at_most(expression, 0, known), at_least(expression, -LARGEST_STEP, known)
    return both(away, small) if expression.type is x.INT else away


def _factor(factor: x.Expression, known: Known, up: bool) -> Proof | None:
    if up:
        return both(at_least(factor, 1, known), below_infinity(factor))
    positive = at_least(factor, 0, known) if known.finite else above_zero(factor, known)
    return both(positive, at_most(factor, 1, known))


def _tells_enough(condition: x.Expression, taken: bool, known: Known, up: bool) -> bool:
    """Where the way was chosen by a true source, nothing is above it; by a false one, below it."""
    if known.source.type is not x.BOOL or taken is up:
        return False
    match condition:
        case x.Boolean(operator, terms) if (operator == "and") is taken:
            return known.source in terms
        case _:
            return condition == known.source
