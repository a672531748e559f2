"""Programs that add up and settle: where a contraction can be proved, residuals are enough.

A settling sum has one float a vertex, x(v) = base(v) + the sum of x(u) * share(u) over the edges
that lead to v. If the shares of a vertex, one for each edge that leaves it, add up to at most a
factor below one, and every base is above 0, then there is exactly one solution x*, from whatever
start, and what is missing at each vertex tells how far x is from it:

    r(v) = base(v) + sum of x(u) * share(u) - x(v)
    |r(v)| <= t * base(v) for every v   implies   |x(v) - x*(v)| <= t * x*(v) for every v

because x* - x = (I - A)^-1 r, where A has the shares and (I - A)^-1 = I + A + A^2 + ... has no
negative entry, so that |x* - x| <= (I - A)^-1 (t * base) = t * x*. (What takes the place of the
base where that asks for too much, and why it may, is in docs/design.)

A proof or nothing, as in `program_analysis`: what is not recognised runs in exact mode. Bases of 0,
as those of a personalised rank, are refused: no residual is small beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from graphtide.plan.program_ranges import Values, covers, known_values, range_of
from graphtide.plan.program_symbols import ClosedFormError, initial_form, rewrite, update_form
from graphtide.plan.program_text import expression_text
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.programs import (
    AccumulatorKind,
    AssignLocal,
    Send,
    VertexProgram,
    subexpressions,
)

_ONE, _NONE = Const(1.0, FLOAT), Const(0.0, FLOAT)
LEAST_TOLERANCE = 1e-12
_LEAST, _MOST = 1e-100, 1e100
"""Numbers between these can be multiplied and divided with no loss but rounding."""


@dataclass(frozen=True)
class SettlingSum:
    """A program as x(v) = base(v) + sum of x(u) * share(u).

    `base` reads v's number, properties, memberships and parameters; `share` reads u's degrees and
    properties and parameters, and holds where an edge leaves u. `factor` is what the shares of a
    vertex add up to at most, and no base is below `least`.
    """

    state: str
    base: Expression
    share: Expression
    factor: float
    least: float

    def __str__(self) -> str:
        return f"it adds up, and what a vertex sends is at most {self.factor:g} of what it has"


class _NotSettlingError(Exception):
    """Why a program is no settling sum."""


def settling_sum(bound: BoundProgram) -> SettlingSum | None:
    """The program with its parameters as a settling sum; None if that is not proved."""
    try:
        return _recognise(bound)
    except _NotSettlingError:
        return None


def why_not_settling_sum(bound: BoundProgram) -> str | None:
    """The reason in words why there is no such proof; None if there is one."""
    try:
        _recognise(bound)
    except _NotSettlingError as reason:
        return str(reason)
    return None


def explain_settling(bound: BoundProgram) -> list[str]:
    """What was found of a program that adds up, in a line; nothing of one that selects."""
    if all(item.kind.selects for item in bound.program.accumulators):
        return []
    found = settling_sum(bound)
    if found is None:
        return [f"not settling: {why_not_settling_sum(bound)}"]
    told = f"{found.state} is {expression_text(found.base)} and what edges carry"
    return [f"settling: {told}, each u.{found.state} * {expression_text(found.share)}"]


def _recognise(bound: BoundProgram) -> SettlingSum:
    program, values = bound.program, known_values(bound)
    _check_fields(program)
    _check_ending(bound)
    _check_start(program, values)
    base, outer = _update(program)
    least = _least_base(base, values)
    coefficient, divisors = _message(program)
    factor = _number(_product(outer, coefficient), values)
    told = expression_text(_product(outer, coefficient))
    if not factor >= _LEAST:
        raise _NotSettlingError(f"its factor {told} is {factor:g}, which is not above 0")
    _check_divisors(program, divisors, values)
    if not factor < 1:
        raise _NotSettlingError(f"its factor {told} is {factor:g}, which is not below 1")
    share: Expression = _product(outer, coefficient)
    for divisor in divisors:
        share = Binary("/", share, divisor)
    return SettlingSum(program.state[0].name, base, share, factor, least)


def _check_fields(program: VertexProgram) -> None:
    if len(program.state) != 1 or len(program.accumulators) != 1:
        raise _NotSettlingError("it has more than one state field or accumulator")
    field, accumulator = program.state[0], program.accumulators[0]
    if field.size is not None or accumulator.size is not None:
        raise _NotSettlingError("it works on arrays")
    if accumulator.kind is not AccumulatorKind.SUM:
        raise _NotSettlingError(f"its accumulator is a {accumulator.kind}, and no sum")
    if field.type is not FLOAT or accumulator.type is not FLOAT:
        raise _NotSettlingError("it does not add floats")
    if program.pairs is not None:
        raise _NotSettlingError("it runs on pairs")


def _check_ending(bound: BoundProgram) -> None:
    if bound.iterations is not None:
        raise _NotSettlingError(f"it ends after {bound.iterations} iterations")
    if bound.tolerance == 0:
        raise _NotSettlingError("it has no tolerance to settle within")
    if bound.tolerance < LEAST_TOLERANCE:
        raise _NotSettlingError(
            f"its tolerance {bound.tolerance:g} is below {LEAST_TOLERANCE:g}, "
            "which rounding alone may take up"
        )
    if not bound.tolerance < 1:
        raise _NotSettlingError(f"its tolerance {bound.tolerance:g} is not below 1")


def _check_start(program: VertexProgram, values: Values) -> None:
    """Any finite start leads to the one solution; an infinite one never leaves itself."""
    try:
        start = initial_form(program).state[program.state[0].name]
    except ClosedFormError as reason:
        raise _NotSettlingError(f"initialize is not one expression: {reason}") from None
    if not range_of(start, values).finite:
        raise _NotSettlingError(f"its start {expression_text(start)} may be infinite")


def _update(program: VertexProgram) -> tuple[Expression, Expression]:
    """Base and factor of `update`, which is base + factor * sum."""
    try:
        form = update_form(program).state[program.state[0].name]
    except ClosedFormError as reason:
        raise _NotSettlingError(f"update is not one expression: {reason}") from None
    for item in subexpressions(form):
        if isinstance(item, StateRef):
            raise _NotSettlingError("update looks at the state that it replaces")
        if isinstance(item, Iteration):
            raise _NotSettlingError("update looks at the iteration")
    return _affine(form)


def _affine(form: Expression) -> tuple[Expression, Expression]:
    """An expression as a part without the sum, and what the sum is multiplied by."""
    if not any(isinstance(item, AccumulatorRef) for item in subexpressions(form)):
        return form, _NONE
    match form:
        case AccumulatorRef():
            return _NONE, _ONE
        case Unary("-", inner):
            base, factor = _affine(inner)
            return Unary("-", base), Unary("-", factor)
        case Binary("+" | "-" as sign, left, right):
            one, other = _affine(left), _affine(right)
            return _combined(sign, one[0], other[0]), _combined(sign, one[1], other[1])
        case Binary("*", left, right) if _is_constant(left):
            base, factor = _affine(right)
            return _product(left, base), _product(left, factor)
        case Binary("*", left, right) if _is_constant(right):
            return _affine(Binary("*", right, left))
        case Binary("/", left, right) if _is_constant(right):
            base, factor = _affine(left)
            return _quotient(base, right), _quotient(factor, right)
        case Choice(condition, yes, no):
            return _affine_choice(condition, yes, no)
    raise _NotSettlingError(f"{expression_text(form)} is not in proportion to the sum")


def _affine_choice(
    condition: Expression, yes: Expression, no: Expression
) -> tuple[Expression, Expression]:
    if any(isinstance(item, AccumulatorRef) for item in subexpressions(condition)):
        raise _NotSettlingError(f"the condition {expression_text(condition)} depends on the sum")
    one, other = _affine(yes), _affine(no)
    if one[1] != other[1]:
        raise _NotSettlingError("the sum counts otherwise at some vertices")
    return Choice(condition, one[0], other[0]), one[1]


def _least_base(base: Expression, values: Values) -> float:
    """What no vertex has less of without edges; refuses 0."""
    told = expression_text(base)
    for item in subexpressions(base):
        if isinstance(item, VertexFact) and item.fact != "id":
            raise _NotSettlingError(f"its base {told} depends on how many edges v has")
    found = range_of(base, values)
    if not found.least > 0:
        raise _NotSettlingError(f"its base {told} may be 0 or less, and nothing is small beside 0")
    if not _LEAST <= found.least <= found.greatest <= _MOST:
        raise _NotSettlingError(f"its base {told} is not always from {_LEAST:g} to {_MOST:g}")
    return found.least


def _message(program: VertexProgram) -> tuple[Expression, list[Expression]]:
    """The message as coefficient * u's state / divisors: its coefficient and divisors."""
    found = _Factors([], [])
    found.take(_sent(program), above=True)
    states = [item for item in found.above if isinstance(item, StateRef)]
    source = StateRef("u", program.state[0].name, FLOAT)
    if states != [source]:
        raise _NotSettlingError(f"the message is not in proportion to {expression_text(source)}")
    coefficient: Expression = _ONE
    for item in found.above:
        if item != source:
            if not _is_constant(item):
                raise _NotSettlingError(f"the message is weighed by {expression_text(item)}")
            coefficient = _product(coefficient, item)
    return coefficient, found.below


def _sent(program: VertexProgram) -> Expression:
    """What `traverse` sends along every edge, once, with local names written out."""
    names: dict[str, Expression] = {}
    sent: Expression | None = None

    def leaf(item: Expression) -> Expression:
        return names[item.name] if isinstance(item, Local) else item

    for statement in program.traverse:
        match statement:
            case AssignLocal(name, value):
                names[name] = rewrite(value, leaf)
            case Send(_, value) if sent is None:
                sent = rewrite(value, leaf)
            case _:
                raise _NotSettlingError("traverse does not send one message along every edge")
    if sent is None:
        raise _NotSettlingError("traverse sends nothing")
    _check_reads(sent)
    return sent


def _check_reads(sent: Expression) -> None:
    for item in subexpressions(sent):
        if isinstance(item, EdgeProperty):
            raise _NotSettlingError(
                f"the message depends on {expression_text(item)}: what such weights add up to, "
                "out of a vertex, is not known from the program"
            )
        if isinstance(item, StateRef | VertexFact | VertexProperty | Member) and item.vertex == "v":
            raise _NotSettlingError("the message depends on v")


@dataclass
class _Factors:
    """A product written out: what stands above the line, and what below."""

    above: list[Expression]
    below: list[Expression]

    def take(self, expression: Expression, above: bool) -> None:
        match expression:
            case Binary("*", left, right) if expression.type is FLOAT:
                self.take(left, above)
                self.take(right, above)
            case Binary("/", left, right):
                self.take(left, above)
                self.take(right, not above)
            case _:
                (self.above if above else self.below).append(expression)


def _check_divisors(program: VertexProgram, divisors: list[Expression], values: Values) -> None:
    """One divisor is no less than the edges that leave u, and no other is below 1."""
    covering = [item for item in divisors if covers(item, program.direction, values)]
    if not covering:
        raise _NotSettlingError(
            f"the message is not divided by how many edges leave u (direction {program.direction})"
        )
    for item in divisors:
        found = range_of(item, values)
        if item is not covering[0] and not found.least >= 1:
            raise _NotSettlingError(f"the divisor {expression_text(item)} may be below 1")
        if not found.greatest <= _MOST:
            raise _NotSettlingError(f"the divisor {expression_text(item)} has no bound")


def _is_constant(expression: Expression) -> bool:
    """True where it is the same number everywhere: of constants and parameters alone."""
    given = EdgeProperty | VertexFact | VertexProperty | Member
    own = StateRef | AccumulatorRef | given | Local | Iteration
    return not any(isinstance(item, own) for item in subexpressions(expression))


def _number(expression: Expression, values: Values) -> float:
    found = range_of(expression, values)
    if found.least != found.greatest:
        raise _NotSettlingError(f"its factor {expression_text(expression)} is no known number")
    return found.least


def _product(left: Expression, right: Expression) -> Expression:
    if left == _ONE or right == _NONE:
        return right
    return left if right == _ONE or left == _NONE else Binary("*", left, right)


def _quotient(left: Expression, right: Expression) -> Expression:
    return left if left == _NONE else Binary("/", left, right)


def _combined(sign: str, left: Expression, right: Expression) -> Expression:
    if right == _NONE:
        return left
    if sign == "+":
        return right if left == _NONE else Binary("+", left, right)
    return Unary("-", right) if left == _NONE else Binary("-", left, right)
