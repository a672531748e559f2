"""Walk programs that look at one edge at a time: the same thing as vertex programs.

    for v, e in u.out_edges:            direction out,    v.best(u.dist + e.weight)
        v.best(u.dist + e.weight)

    for v, e in u.in_edges:             direction out,    v.best(u.dist + e.weight)
        u.best(v.dist + e.weight)

As vertex programs, the engine does for them all that it does for those. A loop over distinct
neighbours is one over edges where it makes no difference how often a message arrives: accumulators
that select one of the values sent, and messages that read no edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.expressions import INT, Const, Expression, Joined, ParameterRef
from graphtide.plan.walk_names import renamed

_REVERSED = {p.Direction.OUT: p.Direction.IN, p.Direction.IN: p.Direction.OUT}
Walk = tuple[w.WalkStatement, ...]


def one_hop(program: w.WalkProgram) -> p.VertexProgram | None:
    """The vertex program that computes the same; None where there is none."""
    steps = [item for item in w.walk_statements(program.traverse) if isinstance(item, w.Step)]
    ways = {step.way for step in steps}
    ends = set(_ends(program.traverse, program.root, None))
    if program.globals or program.matches or not program.state:
        return None
    if len(ways) != 1 or len(ends) != 1 or ends & {None} or not _may_repeat(program, steps):
        return None
    if any(isinstance(item, Joined) for item in w.walk_expressions(program.traverse)):
        return None
    pulls = ends == {"root"}
    way = ways.pop()
    return p.VertexProgram(
        name=program.name,
        parameters=program.parameters,
        state=program.state,
        accumulators=program.accumulators,
        initialize=program.initialize,
        traverse=_body(program.traverse, {program.root: "v" if pulls else "u"}, pulls),
        update=program.update,
        direction=_REVERSED.get(way, way) if pulls else way,
        iterations=program.iterations,
        tolerance=program.tolerance,
        documentation=program.documentation,
    )


def _ends(body: Walk, root: str, step: w.Step | None) -> Iterator[str | None]:
    """Which end of its edge each send goes to; None for what no vertex program has."""
    for statement in body:
        match statement:
            case w.SendAt(vertex=vertex) if step is not None and vertex in (root, step.vertex):
                yield "root" if vertex == root else "other"
            case w.Step(origin=origin, body=inner) if step is None and origin == root:
                yield from _ends(inner, root, statement)
            case w.When(_, then, otherwise):
                yield from _ends((*then, *otherwise), root, step)
            case w.ForEach(body=inner):
                yield from _ends(inner, root, step)
            case _:
                yield None


def _may_repeat(program: w.WalkProgram, steps: Iterable[w.Step]) -> bool:
    """Whether every loop goes over edges, or may as well do so."""
    selects = all(item.kind.selects for item in program.accumulators)
    return all(step.edge is not None or selects for step in steps)


def _body(body: Walk, names: dict[str, str], pulls: bool) -> p.Body:
    return tuple(statement for item in body for statement in _statements(item, names, pulls))


def _statements(
    statement: w.WalkStatement, names: dict[str, str], pulls: bool
) -> Iterator[p.Statement]:
    match statement:
        case w.SendAt(_, accumulator, value, index):
            at = None if index is None else renamed(index, names)
            yield p.Send(accumulator, renamed(value, names), at)
        case w.When(condition, then, otherwise):
            yield p.If(
                renamed(condition, names),
                _body(then, names, pulls),
                _body(otherwise, names, pulls),
            )
        case w.Step(vertex=vertex, edge=edge, body=inner):
            known = names | {vertex: "u" if pulls else "v"} | ({edge: "e"} if edge else {})
            yield from _body(inner, known, pulls)
        case w.ForEach(variable, start, stop, inner, step):
            yield p.ForRange(
                variable, _bound(start), _bound(stop), _body(inner, names, pulls), step
            )
        case _:
            raise AssertionError(f"{statement} is in no vertex program")


def _bound(size: p.Size) -> Expression:
    return ParameterRef(size, INT) if isinstance(size, str) else Const(size, INT)
