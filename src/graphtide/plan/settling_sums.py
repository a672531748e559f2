"""Programs that add up and settle: where a contraction can be proved, residuals are enough.

A settling sum has one float per vertex, x(v) = base(v) + the sum of x(u) * share(u) over the edges
that lead to v. If the shares of a vertex, one for each edge that leaves it, add up to at most a
factor below one, and every base is above 0, then there is exactly one solution x*, from whatever
start, and what is missing at each vertex tells how far x is from it:

    r(v) = base(v) + sum of x(u) * share(u) - x(v)
    |r(v)| <= t * base(v) for every v   implies   |x(v) - x*(v)| <= t * x*(v) for every v

because x* - x = (I - A)^-1 r, where A has the shares and (I - A)^-1 = I + A + A^2 + ... has no
negative entry, so that |x* - x| <= (I - A)^-1 (t * base) = t * x*. (What takes the place of the
base where that asks for too much, and why it may, is in docs/design/vertex-programs.md.)

Bases may be 0, as those of a personalised rank are away from its sources. No residual is small
beside 0, so the promise is another one: with a floor f below the greatest base b,

    |r(v)| <= t * (base(v) + f) for every v
    implies   |x(v) - x*(v)| <= t * (x*(v) + f / b * y(v)) for every v

where y is what vertices would have if all bases were b: (I - A)^-1 (t * f) is t * f / b * y.

The proof needs two tools, which come first. `affine` writes an expression of `update` as base +
factor * sum. `range_of` says between which numbers an expression stays once parameters are known,
by interval arithmetic rounded to the nearest: whoever asks compares with 0, 1 or infinity, with
room for the last digit. A proof or nothing, as in `program_analysis`: what is not recognised runs
in exact mode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan.program_text import expression_text
from graphtide.plan.program_values import VERTEX_COUNT, BoundProgram
from graphtide.plan.programs import (
    AccumulatorKind,
    AssignLocal,
    AssignState,
    ClosedFormError,
    Direction,
    ParameterKind,
    Send,
    VertexProgram,
    initial_form,
    rewrite,
    subexpressions,
    update_form,
)

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
            return _sum_of(sign, one[0], other[0]), _sum_of(sign, one[1], other[1])
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


def _sum_of(sign: str, left: x.Expression, right: x.Expression) -> x.Expression:
    if right == NONE:
        return left
    if sign == "+":
        return right if left == NONE else x.Binary("+", left, right)
    return x.Unary("-", right) if left == NONE else x.Binary("-", left, right)


Values = Mapping[str, float]
_NUMBERS = (ParameterKind.INT, ParameterKind.FLOAT, ParameterKind.BOOL)
_MOST_VERTICES = 2.0**31
_EXACT = 2.0**53


@dataclass(frozen=True)
class NumberRange:
    """All numbers from the least to the greatest; NaN is among them where both are infinite."""

    least: float = -math.inf
    greatest: float = math.inf

    @property
    def finite(self) -> bool:
        """Whether neither end is infinite."""
        return math.isfinite(self.least) and math.isfinite(self.greatest)


_ANY = NumberRange()


def known_values(bound: BoundProgram) -> Values:
    """The parameters of a program that are numbers; no vertices, nor how many there are."""
    kinds = {item.name: item.kind for item in bound.program.parameters}
    numbers: dict[str, Any] = {
        name: value
        for name, value in bound.values
        if kinds[name] in _NUMBERS and value is not VERTEX_COUNT
    }
    return {name: float(value) for name, value in numbers.items()}


def range_of(expression: x.Expression, values: Values) -> NumberRange:
    """Between which numbers it stays; all of them where nothing is known."""
    match expression:
        case x.Const(value):
            return NumberRange(float(value), float(value))
        case x.ParameterRef(name) if name in values:
            return NumberRange(values[name], values[name])
        case x.VertexFact():
            return NumberRange(0.0, _MOST_VERTICES)
        case x.Unary("-", inner):
            range_ = range_of(inner, values)
            return NumberRange(-range_.greatest, -range_.least)
        case x.Choice(_, yes, no):
            return _hull([range_of(yes, values), range_of(no, values)])
        case x.Call(function, arguments):
            return _call(function, [range_of(item, values) for item in arguments])
        case x.Binary(operator, left, right):
            return _binary(operator, range_of(left, values), range_of(right, values), left.type)
    if expression.type is x.ValueType.BOOL:
        return NumberRange(0.0, 1.0)
    return _ANY


def covers(expression: x.Expression, direction: Direction, values: Values) -> bool:
    """True where it is no less than the edges along which a vertex u sends in that direction."""
    match expression:
        case x.VertexFact("u", fact):
            own = {Direction.OUT: "out_degree", Direction.IN: "in_degree"}
            return fact == "degree" or fact == own.get(direction)
        case x.Call("float", (inner,)):
            return covers(inner, direction, values)
        case x.Call("max", arguments):
            return any(covers(item, direction, values) for item in arguments)
        case x.Binary("+", left, right):
            return any(
                covers(one, direction, values) and _is_small(range_of(other, values))
                for one, other in ((left, right), (right, left))
            )
    return False


def _is_small(found: NumberRange) -> bool:
    """Whether adding it makes nothing less, not even by wrapping around."""
    return found.least >= 0 and found.greatest < _EXACT


def _hull(found: list[NumberRange]) -> NumberRange:
    return NumberRange(min(item.least for item in found), max(item.greatest for item in found))


def _call(function: str, found: list[NumberRange]) -> NumberRange:
    match function:
        case "float":
            return found[0]
        case "min":
            return NumberRange(
                min(item.least for item in found), min(item.greatest for item in found)
            )
        case "max":
            return NumberRange(
                max(item.least for item in found), max(item.greatest for item in found)
            )
        case "abs":
            ends = abs(found[0].least), abs(found[0].greatest)
            inside = found[0].least <= 0 <= found[0].greatest
            return NumberRange(0.0 if inside else min(ends), max(ends))
    return _ANY


def _binary(operator: str, one: NumberRange, other: NumberRange, kind: x.ValueType) -> NumberRange:
    if not (one.finite and other.finite):
        return _ANY
    range_ = _ANY
    match operator:
        case "+":
            range_ = NumberRange(one.least + other.least, one.greatest + other.greatest)
        case "-":
            range_ = NumberRange(one.least - other.greatest, one.greatest - other.least)
        case "*":
            range_ = _corners([a * b for a in _ends(one) for b in _ends(other)])
        case "/" if other.least > 0 or other.greatest < 0:
            range_ = _corners([a / b for a in _ends(one) for b in _ends(other)])
    wraps = kind is x.INT and max(abs(range_.least), abs(range_.greatest)) >= _EXACT
    return _ANY if wraps else range_


def _ends(found: NumberRange) -> tuple[float, float]:
    return found.least, found.greatest


def _corners(products: list[float]) -> NumberRange:
    return NumberRange(min(products), max(products))


LEAST_TOLERANCE, LEAST_WITH_FLOOR = 1e-12, 1e-9
FLOOR = 2.0**-10
"""The share of the greatest base that is the floor where bases may be 0. Half of it costs a little
more work; a smaller tolerance makes both parts of the promise smaller."""
_LEAST, _MOST = 1e-100, 1e100
"""Numbers between these can be multiplied and divided with no loss but rounding."""


@dataclass(frozen=True)
class SettlingSum:
    """A program as x(v) = base(v) + sum of x(u) * share(u).

    `base` reads v's number, properties, memberships and parameters; `share` reads u's degrees and
    properties and parameters, and holds where an edge leaves u. `factor` is what the shares of a
    vertex add up to at most; no base is below `least` or above `greatest`.
    """

    state: str
    base: x.Expression
    share: x.Expression
    factor: float
    least: float
    greatest: float

    @property
    def floor(self) -> float:
        """What residuals are small beside besides bases: 0 where these are above 0."""
        return 0.0 if self.least > 0 else FLOOR * self.greatest

    def __str__(self) -> str:
        return f"it adds up, and what a vertex sends is at most {self.factor:g} of what it has"


def settling_sum(bound: BoundProgram) -> SettlingSum | None:
    """The program with its parameters as a settling sum; None if that is not proved."""
    try:
        return _recognise(bound)
    except NotSettlingError:
        return None


def why_not_settling_sum(bound: BoundProgram) -> str | None:
    """The reason in words why there is no such proof; None if there is one."""
    try:
        _recognise(bound)
    except NotSettlingError as reason:
        return str(reason)
    return None


def explain_settling(bound: BoundProgram) -> list[str]:
    """What was found of a program that adds up, in a line; nothing of one that selects."""
    if all(item.kind.selects for item in bound.program.accumulators):
        return []
    proved = settling_sum(bound)
    if proved is None:
        return [f"not settling: {why_not_settling_sum(bound)}"]
    sum_text = f"{proved.state} is {expression_text(proved.base)} and what edges carry"
    lines = [f"settling: {sum_text}, each u.{proved.state} * {expression_text(proved.share)}"]
    if proved.floor:
        lines.append(
            "bases may be 0: results are within the tolerance of what they are and "
            f"{FLOOR:g} of what they would be if every base were {proved.greatest:g}"
        )
    return lines


def _recognise(bound: BoundProgram) -> SettlingSum:
    program, values = bound.program, known_values(bound)
    _check_fields(program)
    _check_ending(bound)
    _check_start(program, values)
    base, outer = _update(program)
    least, greatest = _bases(base, values)
    if not least > 0:
        _check_tolerance(bound, LEAST_WITH_FLOOR)
    coefficient, divisors = _message(program)
    factor = _number(product(outer, coefficient), values)
    text = expression_text(product(outer, coefficient))
    if not factor >= _LEAST:
        raise NotSettlingError(f"its factor {text} is {factor:g}, which is not above 0")
    _check_divisors(program, divisors, values)
    if not factor < 1:
        raise NotSettlingError(f"its factor {text} is {factor:g}, which is not below 1")
    share: x.Expression = product(outer, coefficient)
    for divisor in divisors:
        share = x.Binary("/", share, divisor)
    return SettlingSum(program.state[0].name, base, share, factor, least, greatest)


def _check_fields(program: VertexProgram) -> None:
    if len(program.state) != 1 or len(program.accumulators) != 1:
        raise NotSettlingError("it has more than one state field or accumulator")
    field, accumulator = program.state[0], program.accumulators[0]
    if field.size is not None or accumulator.size is not None:
        raise NotSettlingError("it works on arrays")
    if accumulator.kind is not AccumulatorKind.SUM:
        raise NotSettlingError(f"its accumulator is a {accumulator.kind}, and no sum")
    if field.type is not x.FLOAT or accumulator.type is not x.FLOAT:
        raise NotSettlingError("it does not add floats")
    if program.pairs is not None:
        raise NotSettlingError("it runs on pairs")


def _check_ending(bound: BoundProgram) -> None:
    if bound.iterations is not None:
        raise NotSettlingError(f"it ends after {bound.iterations} iterations")
    if bound.tolerance == 0:
        raise NotSettlingError("it has no tolerance to settle within")
    _check_tolerance(bound, LEAST_TOLERANCE)
    if not bound.tolerance < 1:
        raise NotSettlingError(f"its tolerance {bound.tolerance:g} is not below 1")


def _check_tolerance(bound: BoundProgram, least: float) -> None:
    if bound.tolerance < least:
        raise NotSettlingError(
            f"its tolerance {bound.tolerance:g} is below {least:g}, "
            "which rounding alone may take up"
        )


def _check_start(program: VertexProgram, values: Values) -> None:
    """Any finite start leads to the one solution; an infinite one never leaves itself."""
    try:
        start = initial_form(program).state[program.state[0].name]
    except ClosedFormError as reason:
        raise NotSettlingError(f"initialize is not one expression: {reason}") from None
    if not range_of(start, values).finite:
        raise NotSettlingError(f"its start {expression_text(start)} may be infinite")


def _update(program: VertexProgram) -> tuple[x.Expression, x.Expression]:
    """Base and factor of `update`, which is base + factor * sum."""
    try:
        form = update_form(program).state[program.state[0].name]
    except ClosedFormError as reason:
        raise NotSettlingError(f"update is not one expression: {reason}") from None
    for item in subexpressions(form):
        if isinstance(item, x.StateRef):
            raise NotSettlingError("update looks at the state that it replaces")
        if isinstance(item, x.Iteration):
            raise NotSettlingError("update looks at the iteration")
    return affine(form)


def _bases(base: x.Expression, values: Values) -> tuple[float, float]:
    """The least and the most that a vertex has without edges; refuses what may be below 0."""
    text = expression_text(base)
    for item in subexpressions(base):
        if isinstance(item, x.VertexFact) and item.fact != "id":
            raise NotSettlingError(f"its base {text} depends on how many edges v has")
    range_ = range_of(base, values)
    if not range_.least >= 0:
        raise NotSettlingError(f"its base {text} may be below 0")
    if range_.greatest == 0:
        raise NotSettlingError(f"its base {text} is 0 everywhere, and nothing is small beside 0")
    least = range_.least or range_.greatest
    if not _LEAST <= least <= range_.greatest <= _MOST:
        raise NotSettlingError(f"its base {text} is not always from {_LEAST:g} to {_MOST:g}")
    return range_.least, range_.greatest


def with_equal_bases(program: VertexProgram, found: SettlingSum) -> VertexProgram:
    """A program for the sum with the greatest base at every vertex, until floats move no more.

    It starts below where it ends, so that it never moves back.
    """
    field, accumulator = program.state[0], program.accumulators[0]
    base = x.Const(found.greatest, x.FLOAT)
    source = x.StateRef("u", field.name, x.FLOAT)
    total = x.AccumulatorRef(accumulator.name, x.FLOAT)
    return replace(
        program,
        initialize=(AssignState(field.name, base),),
        traverse=(Send(accumulator.name, x.Binary("*", source, found.share)),),
        update=(AssignState(field.name, x.Binary("+", base, total)),),
        tolerance=LEAST_TOLERANCE,
    )


def _message(program: VertexProgram) -> tuple[x.Expression, list[x.Expression]]:
    """The message as coefficient * u's state / divisors: its coefficient and divisors."""
    factors = _Factors([], [])
    factors.take(_sent(program), above=True)
    states = [item for item in factors.above if isinstance(item, x.StateRef)]
    source = x.StateRef("u", program.state[0].name, x.FLOAT)
    if states != [source]:
        raise NotSettlingError(f"the message is not in proportion to {expression_text(source)}")
    coefficient: x.Expression = ONE
    for item in factors.above:
        if item != source:
            if not is_constant(item):
                raise NotSettlingError(f"the message is weighed by {expression_text(item)}")
            coefficient = product(coefficient, item)
    return coefficient, factors.below


def _sent(program: VertexProgram) -> x.Expression:
    """What `traverse` sends along every edge, once, with local names written out."""
    names: dict[str, x.Expression] = {}
    sent: x.Expression | None = None

    def leaf(item: x.Expression) -> x.Expression:
        return names[item.name] if isinstance(item, x.Local) else item

    for statement in program.traverse:
        match statement:
            case AssignLocal(name, value):
                names[name] = rewrite(value, leaf)
            case Send(_, value) if sent is None:
                sent = rewrite(value, leaf)
            case _:
                raise NotSettlingError("traverse does not send one message along every edge")
    if sent is None:
        raise NotSettlingError("traverse sends nothing")
    _check_reads(sent)
    return sent


def _check_reads(sent: x.Expression) -> None:
    for item in subexpressions(sent):
        if isinstance(item, x.EdgeProperty):
            raise NotSettlingError(
                f"the message depends on {expression_text(item)}: what such weights add up to, "
                "out of a vertex, is not known from the program"
            )
        if (
            isinstance(item, x.StateRef | x.VertexFact | x.VertexProperty | x.Member)
            and item.vertex == "v"
        ):
            raise NotSettlingError("the message depends on v")


@dataclass
class _Factors:
    """A product written out: what stands above the line, and what below."""

    above: list[x.Expression]
    below: list[x.Expression]

    def take(self, expression: x.Expression, above: bool) -> None:
        match expression:
            case x.Binary("*", left, right) if expression.type is x.FLOAT:
                self.take(left, above)
                self.take(right, above)
            case x.Binary("/", left, right):
                self.take(left, above)
                self.take(right, not above)
            case _:
                (self.above if above else self.below).append(expression)


def _check_divisors(program: VertexProgram, divisors: list[x.Expression], values: Values) -> None:
    """One divisor is no less than the edges that leave u, and no other is below 1."""
    covering = [item for item in divisors if covers(item, program.direction, values)]
    if not covering:
        raise NotSettlingError(
            f"the message is not divided by how many edges leave u (direction {program.direction})"
        )
    for item in divisors:
        range_ = range_of(item, values)
        if item is not covering[0] and not range_.least >= 1:
            raise NotSettlingError(f"the divisor {expression_text(item)} may be below 1")
        if not range_.greatest <= _MOST:
            raise NotSettlingError(f"the divisor {expression_text(item)} has no bound")


def _number(expression: x.Expression, values: Values) -> float:
    range_ = range_of(expression, values)
    if range_.least != range_.greatest:
        raise NotSettlingError(f"its factor {expression_text(expression)} is no known number")
    return range_.least
