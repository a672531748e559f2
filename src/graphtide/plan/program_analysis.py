"""What can be told about a program from its plan alone, to choose how it is run and maintained.

Everything here is a proof or nothing: `selection` and `invertible` answer None where the shape is
not recognised, which never means that the program is wrong, only that the general way is taken.
`explain_analysis` gives every answer with its reason in words.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.plan import expressions as x
from graphtide.plan.program_bounds import (
    Known,
    Obligation,
    Proof,
    at_least,
    at_most,
    both,
    never_nan,
)
from graphtide.plan.program_proofs import never_overtakes, rises
from graphtide.plan.program_reads import invertible, reads_expression, why_not_invertible
from graphtide.plan.program_symbols import ClosedFormError, initial_form, traverse_form, update_form
from graphtide.plan.program_text import expression_text
from graphtide.plan.programs import (
    AccumulatorKind,
    Direction,
    VertexProgram,
    identity,
    subexpressions,
)
from graphtide.plan.selecting_updates import keeps_better

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


def _known(source: x.StateRef, initial: x.Expression | None) -> Known:
    """By induction: a selection keeps the bounds of its start if messages never overtake."""
    nothing = Known(source)
    if initial is None or source.type is not x.FLOAT:
        return nothing
    positive = at_least(initial, 0, nothing) == frozenset()
    finite = positive and at_most(initial, _LARGEST_FLOAT, nothing) == frozenset()
    return Known(source, at_least_zero=positive, finite=finite)


def _claim_monotone(message: x.Expression, known: Known) -> Claim:
    state = expression_text(known.source)
    return _claim(
        rises(message, known),
        f"a greater {state} never gives a lesser message",
    )


def _claim_never_overtakes(
    message: x.Expression, initial: x.Expression | None, known: Known, least: bool
) -> Claim:
    proof = never_overtakes(message, known, least)
    if any(map(_may_wrap, subexpressions(message))):
        proof = both(proof, _start_proof(initial, known))
    relation = "less" if least else "more"
    state = expression_text(known.source)
    return _claim(proof, f"a message is never {relation} than {state}")


def _may_wrap(part: x.Expression) -> bool:
    """Arithmetic that an int at the end of its range does not survive."""
    match part:
        case x.Unary("-") | x.Binary() | x.Call("abs"):
            return True
        case _:
            return False


def _start_proof(initial: x.Expression | None, known: Known) -> Proof | None:
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
