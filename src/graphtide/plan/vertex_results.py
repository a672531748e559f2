"""Which results of a program name a vertex: they are shown as the users' own ids.

A vertex has a number, `v.id`, that says where it stands in the graph. A result names a vertex if
all that it ever holds are such numbers, copied, chosen or compared, and constants that no vertex
has: below 0, or 2**31 and more. These, and what `Min` and `Max` hold where nothing was sent, name
nobody. Arithmetic makes a plain number of a vertex's number, and so does any other constant: nobody
can tell a 0 that stands for nothing from the vertex 0.

This is found out from the plan alone, so that it holds for programs of every language, and for
plans that were stored before anybody asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntFlag
from itertools import chain

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.program_proofs import MOST_VERTICES

Program = p.VertexProgram | w.WalkProgram
_Key = tuple[str, str]
"""What a name belongs to (a local name, to its function), and the name."""

_STATE, _ACCUMULATOR, _GLOBAL, _ROWS = "state", "accumulator", "global", "rows of "


class Holds(IntFlag):
    """What a value may hold: the number of a vertex, another number, or neither."""

    NOBODY = 0
    VERTEX = 1
    NUMBER = 2


@dataclass(frozen=True)
class VertexResults:
    """What a program names vertices by: `results` of vertices and of the whole graph, and
    `columns` of matches, each with the name of its matches.

    `mixed` are results that hold numbers of vertices and other numbers, and so name nobody.
    """

    results: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    columns: frozenset[tuple[str, str]] = frozenset()

    def explain(self) -> list[str]:
        lines = [f"{name} names a vertex, and is shown as its id" for name in self.results]
        mixed = "holds other numbers beside those of vertices, and is shown as a number"
        return [*lines, *(f"{name} {mixed}" for name in self.mixed)]


def vertex_results(program: Program, iterations: int | None) -> VertexResults:
    """What names a vertex in a program that runs so many iterations (None: until it settles)."""
    known = _known(program, iterations)
    keys = [(_STATE, item.name) for item in program.state]
    keys += [(_GLOBAL, item.name) for item in getattr(program, "globals", ())]
    both = Holds.VERTEX | Holds.NUMBER
    return VertexResults(
        tuple(key[1] for key in keys if known.get(key) == Holds.VERTEX),
        tuple(key[1] for key in keys if known.get(key) == both),
        frozenset(
            (kind[len(_ROWS) :], name)
            for (kind, name), holds in known.items()
            if kind.startswith(_ROWS) and holds == Holds.VERTEX
        ),
    )


def _known(program: Program, iterations: int | None) -> dict[_Key, Holds]:
    """What each int field, accumulator and local name holds: the least that fits all sources."""
    sources = [*_sources(program, iterations)]
    vertices = {item.name for item in program.parameters if item.kind is p.ParameterKind.VERTEX}
    known = {key: Holds.NOBODY for key, _, _ in sources}
    changed = True
    while changed:
        changed = False
        for key, function, value in sources:
            holds = known[key] | _holds(value, function, known, vertices)
            changed |= holds != known[key]
            known[key] = holds
    return known


def _sources(program: Program, iterations: int | None) -> Iterator[tuple[_Key, str, x.Expression]]:
    """Every assignment and send: the target, the function that it is in, and the value."""
    for item in _seen_defaults(program, iterations):
        yield (_STATE, item.name), "", x.Const(item.default, item.type)
    for name, body in _bodies(program).items():
        for statement in p.statements_of(body):
            match statement:
                case p.AssignState(field, value):
                    yield (_STATE, field), name, value
                case p.AssignLocal(local, value):
                    yield (name, local), name, value
                case p.ForRange(variable):
                    yield (name, variable), name, x.Const(0, x.INT)
                case p.Send(accumulator, value):
                    yield (_ACCUMULATOR, accumulator), name, value
    if isinstance(program, w.WalkProgram):
        yield from _walk_sources(program)
    for own in program.accumulators:
        yield (_ACCUMULATOR, own.name), "", _empty(own)
    for whole in getattr(program, "globals", ()):
        yield (_GLOBAL, whole.name), "", _empty(whole)


def _walk_sources(program: w.WalkProgram) -> Iterator[tuple[_Key, str, x.Expression]]:
    columns = {item.name: item.columns for item in program.matches}
    for statement in w.walk_statements(program.traverse):
        match statement:
            case w.SendAt(_, accumulator, value):
                yield (_ACCUMULATOR, accumulator), "traverse", value
            case w.SendGlobal(accumulator, value):
                yield (_GLOBAL, accumulator), "traverse", value
            case w.Report(matches, values):
                for (column, _), value in zip(columns[matches], values, strict=False):
                    yield (_ROWS + matches, column), "traverse", value


def _bodies(program: Program) -> dict[str, p.Body]:
    bodies = {"initialize": program.initialize, "update": program.update}
    if isinstance(program, p.VertexProgram):
        bodies["traverse"] = program.traverse
    return bodies


def _empty(accumulator: p.Accumulator) -> x.Expression:
    """What an accumulator holds by itself: sums and counts are numbers whatever is sent."""
    if accumulator.type is not x.INT or not accumulator.kind.selects:
        return x.Const(0, x.INT)
    return x.Const(accumulator.identity, x.INT)


def _holds(
    value: x.Expression, function: str, known: dict[_Key, Holds], vertices: set[str]
) -> Holds:
    match value:
        case x.VertexFact(_, "id") | x.PairSource():
            return Holds.VERTEX
        case x.ParameterRef(name) if name in vertices:
            return Holds.VERTEX
        case x.StateRef(_, name):
            return known.get((_STATE, name), Holds.NUMBER)
        case x.AccumulatorRef(name):
            return known.get((_ACCUMULATOR, name), Holds.NUMBER)
        case x.GlobalRef(name):
            return known.get((_GLOBAL, name), Holds.NUMBER)
        case x.Local(name):
            return known.get((function, name), Holds.NUMBER)
        case x.Const(number, x.INT):
            return Holds.NUMBER if 0 <= number < MOST_VERTICES else Holds.NOBODY
        case x.Choice(_, yes, no):
            parts: Iterable[x.Expression] = (yes, no)
        case x.Call("min" | "max" | "least" | "greatest", arguments):
            parts = arguments
        case _:
            return Holds.NUMBER
    holds = Holds.NOBODY
    for part in parts:
        holds |= _holds(part, function, known, vertices)
    return holds


def _seen_defaults(program: Program, iterations: int | None) -> Iterator[p.StateField]:
    """The fields whose defaults may be read, or stay."""
    sizes = {item.name: item.size for item in program.state}
    exposed: set[str] = set()
    begun = _after(program.initialize, frozenset(), sizes, exposed)
    later: set[str] = set()
    updated = _after(program.update, frozenset(), sizes, later)
    read = exposed | later | _read(program)
    for item in program.state:
        replaced = iterations != 0 and item.name in updated and item.name not in read
        if item.name in exposed or not (item.name in begun or replaced):
            yield item


def _read(program: Program) -> set[str]:
    if isinstance(program, p.VertexProgram):
        expressions = p.expressions_of(program.traverse)
    else:
        expressions = w.walk_expressions(program.traverse)
    return {item.name for item in expressions if isinstance(item, x.StateRef)}


def _after(
    body: p.Body, assigned: frozenset[str], sizes: dict[str, p.Size | None], exposed: set[str]
) -> frozenset[str]:
    """The fields that a function has surely assigned; those it reads before go to `exposed`."""
    for statement in body:
        match statement:
            case p.If(condition, then, otherwise):
                _expose((condition,), assigned, exposed)
                one = _after(then, assigned, sizes, exposed)
                assigned = one & _after(otherwise, assigned, sizes, exposed)
            case p.ForRange(_, start, stop, inner):
                _expose((start, stop), assigned, exposed)
                _after(inner, assigned, sizes, exposed)
                assigned |= _filled(statement, sizes)
            case _:
                _expose(p.expressions_of((statement,)), assigned, exposed)
                if isinstance(statement, p.AssignState) and sizes[statement.name] is None:
                    assigned |= {statement.name}
    return assigned


def _filled(loop: p.ForRange, sizes: dict[str, p.Size | None]) -> frozenset[str]:
    """The arrays that a loop assigns at each of its numbers, from the first place to the last."""
    if loop.step != 1 or loop.start != x.Const(0, x.INT):
        return frozenset()
    match loop.stop:
        case x.ParameterRef(name):
            stop: object = name
        case x.Const(number):
            stop = number
        case _:
            return frozenset()
    return frozenset(
        item.name
        for item in loop.body
        if isinstance(item, p.AssignState)
        and item.index == x.Local(loop.variable, x.INT)
        and sizes[item.name] == stop
    )


def _expose(
    expressions: Iterable[x.Expression], assigned: frozenset[str], exposed: set[str]
) -> None:
    for item in chain.from_iterable(map(p.subexpressions, expressions)):
        if isinstance(item, x.StateRef) and item.name not in assigned:
            exposed.add(item.name)
