"""Programs that list `active`: only active vertices traverse, and only who was sent to updates.

A run of a plan knows neither. A superstep of L_NGA becomes an iteration in which `active` is state
like any other:

    traverse    nothing leaves a vertex that is not active
    update      active = False, and then, for vertices that were sent to, what the program says

The run ends one iteration after the last vertex was active, which changes nothing: nobody sends, so
nobody updates. Three kinds of programs need none of this, and become what they would be without
`active`, so that the engine sees them as they are:

- All vertices begin active and none is activated again: one superstep.
- An update keeps the better of what a vertex holds and what it was sent, and activates the vertex
  where that is a change (components, breadth-first search). What a vertex that is not active would
  send, it has sent before: whoever it reaches holds that or better. A vertex that never was active
  must then have nothing to say: its message is infinite, as the identity of the accumulator is.
- Sums over neighbours (PageRank as the paper prints it): all vertices begin active, and an update
  activates a vertex wherever it assigns something. A vertex that is not active is what it was when
  it last sent, so what it sent still holds, and is sent again. A sum of those alone that are still
  moving would be no rank of anything, and hardly ever come to rest.
"""

from __future__ import annotations

from dataclasses import replace

from graphtide.lang.nga.declarations import ACTIVE
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.program_reads import reads
from graphtide.plan.programs import ClosedFormError, initial_form, rewrite
from graphtide.plan.walk_lowering import fresh_name, one_hop

_TRUE, _FALSE = x.Const(True, x.BOOL), x.Const(False, x.BOOL)
_ON = p.AssignState(ACTIVE, _TRUE)
Walk = tuple[w.WalkStatement, ...]


def with_activation(program: w.WalkProgram) -> w.WalkProgram | None:
    """The program as a plan that runs by the book; None if its results would be lost.

    That is so where accumulators of the whole graph are results of a program of several supersteps:
    the last iteration, in which no vertex is active, empties them.
    """
    plain = _one_superstep(program) or _keeps_the_better(program) or _adds_up(program)
    if plain is not None:
        return plain
    return None if program.globals or program.matches else _by_the_book(program)


def _by_the_book(program: w.WalkProgram) -> w.WalkProgram:
    noted = _only_who_was_sent_to(program)
    active = x.StateRef(program.root, ACTIVE, x.BOOL)
    off = p.AssignState(ACTIVE, _FALSE)
    return replace(noted, traverse=(w.When(active, noted.traverse),), update=(off, *noted.update))


def _only_who_was_sent_to(program: w.WalkProgram) -> w.WalkProgram:
    """The program with an update that vertices skip that were sent nothing."""
    if not program.update:
        return program
    taken = {item.name for item in (*program.parameters, *program.sized)}
    received = p.Accumulator(fresh_name("received", taken), p.AccumulatorKind.COUNT, x.INT)
    heard = x.Compare(">", x.AccumulatorRef(received.name, x.INT), x.Const(0, x.INT))
    return replace(
        program,
        accumulators=(*program.accumulators, received),
        traverse=_noted(program.traverse, received.name),
        update=(p.If(heard, program.update),),
    )


def _noted(body: Walk, received: str) -> Walk:
    """Each send followed by a count at its vertex; one does for sends in a row."""
    statements: list[w.WalkStatement] = []
    for at, statement in enumerate(body):
        match statement:
            case w.SendAt(vertex=vertex):
                statements.append(statement)
                behind = body[at + 1] if at + 1 < len(body) else None
                if not (isinstance(behind, w.SendAt) and behind.vertex == vertex):
                    statements.append(w.SendAt(vertex, received, x.Const(1, x.INT)))
            case w.When(condition, then, otherwise):
                statements.append(
                    w.When(condition, _noted(then, received), _noted(otherwise, received))
                )
            case w.Step() | w.Paths() | w.ForEach() | w.Along():
                statements.append(replace(statement, body=_noted(statement.body, received)))
            case _:
                statements.append(statement)
    return tuple(statements)


def _one_superstep(program: w.WalkProgram) -> w.WalkProgram | None:
    counted = isinstance(program.iterations, str) or program.iterations == 0
    if counted or _reads_active(program) or _assignments(program.update):
        return None
    if _ON not in program.initialize or _assignments(program.initialize) != 1:
        return None
    return replace(_only_who_was_sent_to(_without_active(program)), iterations=1)


def _keeps_the_better(program: w.WalkProgram) -> w.WalkProgram | None:
    """The program without `active`, where the two compute the same in every superstep."""
    plain = one_hop(program)
    if (
        plain is None
        or program.tolerance != 0.0
        or _reads_active(program)
        or len(program.accumulators) != 1
    ):
        return None
    (offered,) = program.accumulators
    fields = [item for item in program.state if item.name != ACTIVE]
    if len(fields) != 1 or fields[0].size is not None or offered.size is not None:
        return None
    held = fields[0]
    if reads(plain.traverse).reads_target or not _takes_better(program.update, held, offered):
        return None
    if not _idle_ones_are_silent(plain, held, offered):
        return None
    better = x.Call(
        "min" if offered.kind is p.AccumulatorKind.MIN else "max",
        (x.StateRef("v", held.name, held.type), x.AccumulatorRef(offered.name, offered.type)),
        held.type,
    )
    return replace(_without_active(program), update=(p.AssignState(held.name, better),))


def _adds_up(program: w.WalkProgram) -> w.WalkProgram | None:
    """The program in which all send in every superstep, where who is not active has not changed."""
    begins = _ON in program.initialize and _assignments(program.initialize) == 1
    adds = bool(program.accumulators) and not any(
        item.kind.selects for item in program.accumulators
    )
    if not begins or not adds or _reads_active(program) or not _activates_changes(program.update):
        return None
    plain = _without_active(program)
    return _only_who_was_sent_to(plain) if _divides_by_sent(program.update) else plain


def _divides_by_sent(update: p.Body) -> bool:
    """Whether a vertex that nobody sends to may divide by nothing, or take its logarithm."""
    sent = {
        item.name
        for item in p.statements_of(update)
        if isinstance(item, p.AssignLocal) and _reads_sent(item.value)
    }
    for item in p.expressions_of(update):
        match item:
            case x.Binary("/" | "//" | "%" | "**", _, by) | x.Call("log" | "sqrt", (by,)):
                names = (leaf for leaf in p.subexpressions(by) if isinstance(leaf, x.Local))
                if _reads_sent(by) or any(leaf.name in sent for leaf in names):
                    return True
            case _:
                pass
    return False


def _reads_sent(expression: x.Expression) -> bool:
    return any(isinstance(item, x.AccumulatorRef) for item in p.subexpressions(expression))


def _activates_changes(body: p.Body, active: bool = False) -> bool:
    """Whether a vertex is activated wherever something is assigned to it."""
    active = active or _ON in body
    for statement in body:
        match statement:
            case p.AssignState(name, value) if name == ACTIVE:
                if value != _TRUE:
                    return False
            case p.AssignState():
                if not active:
                    return False
            case p.If(_, then, otherwise):
                if not _activates_changes(then, active) or not _activates_changes(
                    otherwise, active
                ):
                    return False
            case p.ForRange(body=inner):
                if not _activates_changes(inner, active):
                    return False
            case _:
                pass
    return True


def _takes_better(update: p.Body, held: p.StateField, offered: p.Accumulator) -> bool:
    """Whether it is `If (offered < held) { held = offered; active = true }`, or with `>`."""
    here, there = (
        x.StateRef("v", held.name, held.type),
        x.AccumulatorRef(offered.name, offered.type),
    )
    signs = {p.AccumulatorKind.MIN: ("<", ">"), p.AccumulatorKind.MAX: (">", "<")}.get(offered.kind)
    taken = p.AssignState(held.name, there)
    match update:
        case (p.If(x.Compare(sign, left, right), then, ()),) if signs is not None:
            written = ((signs[0], there, here), (signs[1], here, there))
            return (sign, left, right) in written and then in ((taken, _ON), (_ON, taken))
        case _:
            return False


def _idle_ones_are_silent(
    program: p.VertexProgram, held: p.StateField, offered: p.Accumulator
) -> bool:
    """Whether vertices that do not begin active would send nothing that anybody takes."""
    try:
        start = initial_form(program).state
    except ClosedFormError:
        return False
    active, value = start[ACTIVE], start[held.name]
    if active == _TRUE:
        return True
    match active:
        case x.Choice(condition, yes, no) if (yes, no) == (_TRUE, _FALSE):
            active = condition
    match value:
        case x.Choice(condition, _, idle) if condition == active:
            value = idle
    if value != x.Const(offered.identity, offered.type) or held.type is not offered.type:
        return False
    sent = [item.value for item in p.statements_of(program.traverse) if isinstance(item, p.Send)]
    return all(_is_infinite(_put(message, held, value), offered) for message in sent)


def _put(message: x.Expression, held: p.StateField, value: x.Expression) -> x.Expression:
    source = x.StateRef("u", held.name, held.type)
    return rewrite(message, lambda leaf: value if leaf == source else leaf)


def _is_infinite(value: x.Expression, offered: p.Accumulator) -> bool:
    """Whether a message surely is what the accumulator holds anyway, or NaN, which it ignores."""
    match value:
        case x.Const(number):
            return bool(number == offered.identity) and offered.type is not x.INT
        case x.Binary("+", left, right):
            return _is_infinite(left, offered) or _is_infinite(right, offered)
        case x.Binary("-", left, _):
            return _is_infinite(left, offered)
        case x.Call("min", arguments) if offered.kind is p.AccumulatorKind.MAX:
            return any(_is_infinite(item, offered) for item in arguments)
        case x.Call("max", arguments) if offered.kind is p.AccumulatorKind.MIN:
            return any(_is_infinite(item, offered) for item in arguments)
        case _:
            return False


def _without_active(program: w.WalkProgram) -> w.WalkProgram:
    return replace(
        program,
        state=tuple(item for item in program.state if item.name != ACTIVE),
        initialize=_unassigned(program.initialize),
        update=_unassigned(program.update),
    )


def _unassigned(body: p.Body) -> p.Body:
    statements = []
    for statement in body:
        match statement:
            case p.AssignState(name) if name == ACTIVE:
                continue
            case p.If(condition, then, otherwise):
                statement = p.If(condition, _unassigned(then), _unassigned(otherwise))
                if not statement.then and not statement.otherwise:
                    continue
            case _:
                pass
        statements.append(statement)
    return tuple(statements)


def _assignments(body: p.Body) -> int:
    assigned = (item for item in p.statements_of(body) if isinstance(item, p.AssignState))
    return sum(item.name == ACTIVE for item in assigned)


def _reads_active(program: w.WalkProgram) -> bool:
    return any(
        isinstance(item, x.StateRef) and item.name == ACTIVE for item in w.all_expressions(program)
    )
