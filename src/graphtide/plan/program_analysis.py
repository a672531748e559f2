"""What can be proved about a program from its plan alone, to choose how it is run and maintained.

Everything here is a proof or nothing: `selection`, `invertible` and `tolerance_bound` do not
answer where they do not recognise the form of a program. That never means that the program is
wrong, only that the general way is taken. `explain_analysis` gives every answer with its reason.

A *selection* keeps the best value that it ever got. A *tolerance bound* says how far `tolerance`
may move results: with a tolerance t, every state is within a share t of what its own accumulators
say. Suppose that what a program computes from states within a factor r of the true ones is within
that factor too. Then the factor grows by 1 / (1 - t) in a round and by nothing else, whatever the
number of advances. This holds where messages and updates are sums of states that are not negative,
times factors that are not negative and do not depend on states: PageRank. It does not hold where a
message is a logarithm of a state, where two states are multiplied or divided, or where terms of
both signs cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.program_proofs import (
    PROVED,
    Obligation,
    Proof,
    SourceAssumptions,
    at_least,
    at_most,
    both,
    never_nan,
    never_overtakes,
    rises,
)
from graphtide.plan.program_reads import invertible, reads_expression, why_not_invertible
from graphtide.plan.program_text import expression_text
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.programs import (
    AccumulatorKind,
    ClosedFormError,
    Direction,
    VertexProgram,
    identity,
    initial_form,
    rewrite,
    subexpressions,
    traverse_form,
    update_form,
)


def keeps_better(
    update: x.Expression,
    held: x.StateRef,
    offered: x.AccumulatorRef,
    least: bool,
    *,
    strictly: bool,
) -> bool:
    """Whether an update is the lesser (or the greater) of the two, however it is written.

    min(held, offered)   offered if offered < held else held   held or offered   ...

    Of two that are equal it may be either, and anything of a NaN; unless `strictly`, which asks for
    what is held wherever the offer is not strictly better.
    """
    if strictly and not _keeps_on_ties(update, held, offered):
        return False
    match update:
        case x.Call("min" | "max" as function, arguments):
            return (function == "min") is least and _are(arguments, held, offered)
        case x.Boolean(operator, terms):
            return (operator == "and") is least and _are(terms, held, offered)
        case x.Choice(condition, yes, no):
            if held.type is x.BOOL and _is_logical(update, held, offered, least):
                return True
            return _are((yes, no), held, offered) and _prefers(condition, yes, no, least)
        case _:
            return False


def _keeps_on_ties(update: x.Expression, held: x.Expression, offered: x.Expression) -> bool:
    """True of `min(held, offered)`, which is held unless offered < held; also spelled out."""
    match update:
        case x.Call(_, arguments):
            return arguments == (held, offered)
        case x.Choice(x.Compare("<" | ">"), yes, no):
            return (yes, no) == (offered, held)
        case _:
            return False


def _are(pair: tuple[x.Expression, ...], held: x.Expression, offered: x.Expression) -> bool:
    return pair in ((held, offered), (offered, held))


def _prefers(condition: x.Expression, yes: x.Expression, no: x.Expression, least: bool) -> bool:
    """Whether the condition says that yes is better than no; ties do not matter."""
    match condition:
        case x.Compare(operator, left, right) if operator in ("<", "<=", ">", ">="):
            lesser, greater = (left, right) if operator.startswith("<") else (right, left)
            return (lesser, greater) == ((yes, no) if least else (no, yes))
        case _:
            return False


def _is_logical(choice: x.Choice, held: x.Expression, offered: x.Expression, least: bool) -> bool:
    """`True if offered else held` is an or, `held if offered else False` an and; either way."""
    for one, other in ((held, offered), (offered, held)):
        if choice.condition == one:
            if least and (choice.yes, choice.no) == (other, x.Const(False, x.BOOL)):
                return True
            if not least and (choice.yes, choice.no) == (x.Const(True, x.BOOL), other):
                return True
    return False


_LARGEST_FLOAT = 1.7976931348623157e308
_LARGEST_START = 2**62


@dataclass(frozen=True)
class Claim:
    """A statement about all messages: whether it was proved, on which conditions, and why."""

    holds: bool
    obligations: tuple[Obligation, ...]
    reason: str


@dataclass(frozen=True)
class Selection:
    """A program that keeps the best value it ever got: one state field, one accumulator.

    `kind` is MIN or MAX; `or` and `and` of truth values are MAX and MIN of them. `message` is
    what an edge carries, over u's state, its number, properties and parameters only; it is
    `identity` where nothing is sent. `initial` is the state of iteration 0, over v's facts,
    properties and parameters; None where it has no closed form. `start` claims that it is always a
    number and never changes with the graph: without that, the general way is taken.
    """

    kind: AccumulatorKind
    type: x.ValueType
    state: str
    accumulator: str
    message: x.Expression
    identity: x.Number
    initial: x.Expression | None
    start: Claim
    monotone: Claim
    never_overtakes: Claim

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        """What the data must satisfy for all claims."""
        claims = self.start, self.monotone, self.never_overtakes
        return tuple(dict.fromkeys(item for claim in claims for item in claim.obligations))

    @property
    def settles(self) -> bool:
        """True where all claims hold: one value a vertex then suffices, if only the end counts.

        Only for data that satisfies the obligations.
        """
        return self.start.holds and self.monotone.holds and self.never_overtakes.holds


class _NotSelectingError(Exception):
    """Why a program is not a selection."""


def selection(program: VertexProgram) -> Selection | None:
    """The program as a selection; None if it is not recognised as one."""
    try:
        return _select(program)
    except _NotSelectingError:
        return None


def is_plain_components(program: VertexProgram) -> bool:
    """True of labels that spread unchanged both ways from v.id until nothing changes.

    The result is the least (or greatest) vertex number of each connected component.
    """
    selecting = selection(program)
    return selecting is not None and labels_components(program, selecting)


def labels_components(program: VertexProgram, found: Selection) -> bool:
    """`is_plain_components` of a program whose selection is known: to find it takes a while."""
    return (
        found.type is x.INT
        and program.iterations is None
        and program.direction is Direction.BOTH
        and found.message == x.StateRef("u", found.state, x.INT)
        and found.initial == x.VertexFact("v", "id")
    )


def why_not_selection(program: VertexProgram) -> str | None:
    """The reason in words why a program is no selection; None if it is one."""
    try:
        _select(program)
    except _NotSelectingError as reason:
        return str(reason)
    return None


def explain_analysis(program: VertexProgram) -> list[str]:
    """What was found, with reasons, a line each."""
    selecting = selection(program)
    lines = [f"not selecting: {why_not_selection(program)}"]
    if selecting is not None:
        lines = _explain_selection(selecting)
    if is_plain_components(program):
        lines.append("plain components: labels spread unchanged both ways, starting at v.id")
    differences = invertible(program)
    if differences is not None:
        lines.append(f"invertible: {differences.reason}")
    else:
        lines.append(f"not invertible: {why_not_invertible(program)}")
    return lines


def _explain_selection(found: Selection) -> list[str]:
    word = "least" if found.kind is AccumulatorKind.MIN else "greatest"
    lines = [
        f"selecting: {found.state} keeps the {word} of its start and of all "
        f"{expression_text(found.message)}"
    ]
    if not found.start.holds:
        lines.append(f"start: {found.start.reason}")
    for name, claim in (
        ("monotone", found.monotone),
        ("never overtakes", found.never_overtakes),
    ):
        lines.append(f"{name}: {f'yes, {claim.reason}' if claim.holds else claim.reason}")
    return lines


def _select(program: VertexProgram) -> Selection:
    if len(program.state) != 1 or len(program.accumulators) != 1:
        raise _NotSelectingError("it has more than one state field or accumulator")
    field, accumulator = program.state[0], program.accumulators[0]
    if field.size is not None or accumulator.size is not None:
        raise _NotSelectingError("it works on arrays")
    if not accumulator.kind.selects:
        raise _NotSelectingError(f"its accumulator is a {accumulator.kind}, which does not select")
    if field.type is not accumulator.type:
        raise _NotSelectingError("state and accumulator differ in type")
    least = accumulator.kind in (AccumulatorKind.MIN, AccumulatorKind.AND)
    message, initial = _message(program), _initial(program)
    source = x.StateRef("u", field.name, field.type)
    known = _known(source, initial)
    start, monotone = _claim_start(initial), _claim_monotone(message, known)
    tells_ties = field.type is x.FLOAT and not (start.holds and monotone.holds)
    _check_update(program, least, tells_ties)
    return Selection(
        kind=AccumulatorKind.MIN if least else AccumulatorKind.MAX,
        type=field.type,
        state=field.name,
        accumulator=accumulator.name,
        message=message,
        identity=identity(accumulator.kind, accumulator.type),
        initial=initial,
        start=start,
        monotone=monotone,
        never_overtakes=_claim_never_overtakes(message, initial, known, least),
    )


def _check_update(program: VertexProgram, least: bool, tells_ties: bool) -> None:
    """Refuse an update that does not keep the better.

    `tells_ties`: the program may tell NaN, or the two zeros, from what equals or replaces them, so
    that the offer must be taken just where it is strictly better, as kernels do.
    """
    field, accumulator = program.state[0], program.accumulators[0]
    try:
        update = update_form(program).state[field.name]
    except ClosedFormError as reason:
        raise _NotSelectingError(f"update is not one expression: {reason}") from None
    held = x.StateRef("v", field.name, field.type)
    offered = x.AccumulatorRef(accumulator.name, accumulator.type)
    if not keeps_better(update, held, offered, least, strictly=tells_ties):
        better = "less" if least else "more"
        raise _NotSelectingError(
            f"update does not keep {field.name} unless {accumulator.name} is {better}"
        )


def _message(program: VertexProgram) -> x.Expression:
    name = program.accumulators[0].name
    try:
        message = traverse_form(program).sent[name]
    except ClosedFormError as reason:
        raise _NotSelectingError(f"traverse is not one expression: {reason}") from None
    read = reads_expression(message)
    if read.reads_changing_target:
        raise _NotSelectingError("the message depends on v")
    if read.source_degrees:
        raise _NotSelectingError("the message depends on how many edges u has")
    return message


def _initial(program: VertexProgram) -> x.Expression | None:
    try:
        return initial_form(program).state[program.state[0].name]
    except ClosedFormError:
        return None


def _claim_start(initial: x.Expression | None) -> Claim:
    if initial is None:
        return Claim(False, (), "its start is not one expression")
    if reads_expression(initial).target_degrees:
        return Claim(False, (), "its start depends on how many edges v has")
    return _claim(never_nan(initial), "its start is a number")


def _known(source: x.StateRef, initial: x.Expression | None) -> SourceAssumptions:
    """By induction: a selection keeps the bounds of its start if messages never overtake."""
    nothing = SourceAssumptions(source)
    if initial is None or source.type is not x.FLOAT:
        return nothing
    positive = at_least(initial, 0, nothing) == frozenset()
    finite = positive and at_most(initial, _LARGEST_FLOAT, nothing) == frozenset()
    return SourceAssumptions(source, at_least_zero=positive, finite=finite)


def _claim_monotone(message: x.Expression, known: SourceAssumptions) -> Claim:
    state = expression_text(known.source)
    return _claim(
        rises(message, known),
        f"a greater {state} never gives a lesser message",
    )


def _claim_never_overtakes(
    message: x.Expression, initial: x.Expression | None, known: SourceAssumptions, least: bool
) -> Claim:
    proof = never_overtakes(message, known, least)
    if any(map(_may_wrap, subexpressions(message))):
        proof = both(proof, _start_proof(initial, known))
    relation = "less" if least else "more"
    state = expression_text(known.source)
    return _claim(proof, f"a message is never {relation} than {state}")


def _may_wrap(part: x.Expression) -> bool:
    """Whether this arithmetic overflows for an int at the end of its range."""
    match part:
        case x.Unary("-") | x.Binary() | x.Call("abs"):
            return True
        case _:
            return False


def _start_proof(initial: x.Expression | None, known: SourceAssumptions) -> Proof | None:
    """Ints must start far enough from the end of int64 to be added to along any path."""
    if known.source.type is not x.INT:
        return frozenset()
    if initial is None:
        return None
    return both(at_most(initial, _LARGEST_START, known), at_least(initial, -_LARGEST_START, known))


def _claim(proof: Proof | None, proved: str) -> Claim:
    if proof is None:  # Which says nothing about the statement itself.
        return Claim(False, (), f"it could not be proved that {proved}")
    obligations = tuple(sorted(proof, key=str))
    condition = f" where {' and '.join(map(str, obligations))}" if obligations else ""
    return Claim(True, obligations, proved + condition)


_ADDED = (
    p.AccumulatorKind.SUM,
    p.AccumulatorKind.COUNT,
    p.AccumulatorKind.MIN,
    p.AccumulatorKind.MAX,
)
_NO_STATE = SourceAssumptions(x.StateRef("u", "", x.FLOAT))


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
    """The values of a function's local names, and the obligations collected so far."""

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
        """Forget names that a branch or a loop assigns: they may stand for several values."""
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
    """Whether a value may depend on states; a name that is not known may."""
    return any(
        isinstance(item, x.StateRef | x.AccumulatorRef | x.Local)
        for item in p.subexpressions(expression)
    )


def _folded(expression: x.Expression) -> x.Expression:
    """The expression with the arithmetic of its constants carried out."""
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
