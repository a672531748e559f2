"""The normal form of `traverse`: chains of hops, what must hold, and what is sent where it does.

    for v in u.neighbours:              hops        u - v, v - w
        if u < v:                       conditions  u < v, w joined to u
            for w in v.neighbours:      leaf        u.found(1), self.total(1)
                if w in u.neighbours:
                    u.found(1)
                    self.total(1)

Statements behind the same loops are leaves of one walk, which is therefore found once for all of
them: conditions that all leaves share are those of the walk, and each leaf keeps the rest.

A hop whose vertex must equal an earlier one closes the walk. Over distinct neighbours it is no loop
at all but a condition, that the two are joined; over edges it looks for edges between the two.
Where it is known whether two positions are joined, expressions that ask again read a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan import walks as w
from graphtide.plan.programs import Direction, subexpressions

Sending = w.SendAt | w.SendGlobal | w.Report


@dataclass(frozen=True)
class Hop:
    """From one position to another: along distinct neighbours, or along edges by name."""

    origin: str
    way: Direction
    vertex: str
    edge: str | None = None

    @property
    def joined(self) -> x.Joined:
        """What it asks for, where both positions are known."""
        return normal_joined(x.Joined(self.origin, self.vertex, self.way.value))


@dataclass(frozen=True)
class Leaf:
    """What is sent where all of some more conditions hold."""

    conditions: tuple[x.Expression, ...]
    sends: tuple[Sending, ...]


@dataclass(frozen=True)
class NormalWalk:
    """Hops in the order of their loops, conditions that are all to hold, and leaves."""

    root: str
    hops: tuple[Hop, ...]
    conditions: tuple[x.Expression, ...]
    leaves: tuple[Leaf, ...]

    @property
    def positions(self) -> tuple[str, ...]:
        """All positions, in the order in which the program binds them."""
        return tuple(dict.fromkeys([self.root, *(hop.vertex for hop in self.hops)]))

    @property
    def sends(self) -> tuple[Sending, ...]:
        """What all leaves send."""
        return tuple(send for leaf in self.leaves for send in leaf.sends)

    def expressions(self) -> Iterator[x.Expression]:
        """Every condition, value and index, each followed by the ones inside of it."""
        for leaf in self.leaves:
            for root in (*leaf.conditions, *(e for send in leaf.sends for e in sent(send))):
                yield from subexpressions(root)
        for condition in self.conditions:
            yield from subexpressions(condition)


def walks_of(program: w.WalkProgram) -> tuple[NormalWalk, ...]:
    """The walks of a program whose repeated steps have been unrolled, in the order they stand."""
    grouped: dict[tuple[Hop, ...], list[Leaf]] = {}
    for hops, conditions, sends in _chains(program.traverse, (), ()):
        closed, held, leaving = _close(program.root, hops, conditions, sends)
        held, leaving = _settle(closed, held, leaving)
        if x.Const(False, x.BOOL) not in held:
            grouped.setdefault(closed, []).append(Leaf(held, leaving))
    return tuple(_walk(program.root, hops, leaves) for hops, leaves in grouped.items())


def sent(send: Sending) -> tuple[x.Expression, ...]:
    """The expressions of a send."""
    if isinstance(send, w.Report):
        return send.values
    return (send.value,) if send.index is None else (send.index, send.value)


def conjuncts(condition: x.Expression) -> Iterator[x.Expression]:
    """The parts that must all hold for a condition to hold."""
    match condition:
        case x.Boolean("and", terms):
            for term in terms:
                yield from conjuncts(term)
        case x.Unary("not", x.Boolean("or", terms)):
            for term in terms:
                yield from conjuncts(x.Unary("not", term))
        case x.Unary("not", x.Unary("not", inner)):
            yield from conjuncts(inner)
        case x.Joined():
            yield normal_joined(condition)
        case _:
            yield condition


def normal_joined(atom: x.Joined) -> x.Joined:
    """One form for equal questions: `in` is `out` from the other end, `both` sorts its ends."""
    ends = atom.source, atom.target
    match atom.way:
        case "in":
            return x.Joined(atom.target, atom.source, "out")
        case "both":
            return x.Joined(min(ends), max(ends), "both")
        case _:
            return atom


def is_literal(condition: x.Expression) -> bool:
    """True for `joined` and `not joined`."""
    return literal_of(condition) is not None


def literal_of(condition: x.Expression) -> tuple[x.Joined, bool] | None:
    """The question and its answer, of a condition that asks nothing else."""
    match condition:
        case x.Joined():
            return condition, True
        case x.Unary("not", x.Joined() as atom):
            return normal_joined(atom), False
        case _:
            return None


def replaced(
    expression: Any, known: dict[x.Expression, x.Expression], names: dict[str, str]
) -> Any:
    """An expression with parts replaced, and positions renamed."""
    if known and expression in known:
        return known[expression]
    if isinstance(expression, x.Joined):
        renamed = x.Joined(
            names.get(expression.source, expression.source),
            names.get(expression.target, expression.target),
            expression.way,
        )
        return known.get(normal_joined(renamed), normal_joined(renamed))
    changes: dict[str, Any] = {}
    for field in fields(expression):
        value = getattr(expression, field.name)
        if field.name == "vertex" and isinstance(value, str):
            changes[field.name] = names.get(value, value)
        elif isinstance(value, tuple):
            changes[field.name] = tuple(replaced(item, known, names) for item in value)
        elif hasattr(value, "__dataclass_fields__"):
            changes[field.name] = replaced(value, known, names)
    return replace(expression, **changes)


def reads_index(expression: x.Expression) -> bool:
    """True where an index may be outside of its array: such a condition is tested last."""
    return any(
        isinstance(item, x.StateRef) and item.index is not None
        for item in subexpressions(expression)
    )


def _chains(
    body: tuple[w.WalkStatement, ...], hops: tuple[Hop, ...], conditions: tuple[x.Expression, ...]
) -> Iterator[tuple[tuple[Hop, ...], tuple[x.Expression, ...], tuple[Sending, ...]]]:
    """Every run of sends, with the loops and conditions that it stands in."""
    waiting: list[Sending] = []
    for statement in body:
        match statement:
            case w.SendAt() | w.SendGlobal() | w.Report():
                waiting.append(statement)
            case w.When(condition, then, otherwise):
                yield from _chains(then, hops, (*conditions, *conjuncts(condition)))
                refused = x.Unary("not", condition)
                yield from _chains(otherwise, hops, (*conditions, *conjuncts(refused)))
            case w.Step(origin, way, vertex, edge, inside):
                hop = Hop(origin, way, vertex, edge)
                yield from _chains(inside, (*hops, hop), conditions)
            case _:
                raise AssertionError("repeated steps are unrolled before walks are looked at")
    if waiting:
        yield hops, conditions, tuple(waiting)


def _close(
    root: str,
    hops: tuple[Hop, ...],
    conditions: tuple[x.Expression, ...],
    sends: tuple[Sending, ...],
) -> tuple[tuple[Hop, ...], tuple[x.Expression, ...], tuple[Sending, ...]]:
    """Put an earlier position in place of a later one that must equal it."""
    order = [root, *(hop.vertex for hop in hops)]
    for condition in conditions:
        match condition:
            case x.Compare("==", x.VertexFact(one, "id"), x.VertexFact(other, "id")) if (
                one != other
            ):
                early, late = sorted((one, other), key=order.index)
                names = {late: early}
                renamed = tuple(
                    Hop(
                        names.get(hop.origin, hop.origin),
                        hop.way,
                        names.get(hop.vertex, hop.vertex),
                        hop.edge,
                    )
                    for hop in hops
                )
                rest = tuple(
                    replaced(item, {}, names) for item in conditions if item is not condition
                )
                closing = tuple(
                    renamed[at].joined
                    for at, hop in enumerate(hops)
                    if hop.vertex == late and hop.edge is None
                )
                kept = tuple(
                    renamed[at]
                    for at, hop in enumerate(hops)
                    if hop.vertex != late or hop.edge is not None
                )
                moved = tuple(replaced(send, {}, names) for send in sends)
                return _close(root, kept, (*rest, *closing), moved)
    return hops, conditions, sends


def _settle(
    hops: tuple[Hop, ...], conditions: tuple[x.Expression, ...], sends: tuple[Sending, ...]
) -> tuple[tuple[x.Expression, ...], tuple[Sending, ...]]:
    """Replace questions that the conditions or the hops answer by their answers."""
    demanded = {hop.joined for hop in hops if hop.edge is None}
    literals: dict[x.Expression, x.Expression] = {atom: x.Const(True, x.BOOL) for atom in demanded}
    for condition in conditions:
        found = literal_of(condition)
        if found is not None:
            atom, holds = found
            if literals.setdefault(atom, x.Const(holds, x.BOOL)) != x.Const(holds, x.BOOL):
                return (x.Const(False, x.BOOL),), sends
    kept: list[x.Expression] = [
        atom if answer == x.Const(True, x.BOOL) else x.Unary("not", atom)
        for atom, answer in literals.items()
        if atom not in demanded
    ]
    kept += [replaced(item, literals, {}) for item in conditions if not is_literal(item)]
    return tuple(dict.fromkeys(kept)), tuple(replaced(send, literals, {}) for send in sends)


def _walk(root: str, hops: tuple[Hop, ...], leaves: Iterable[Leaf]) -> NormalWalk:
    found = _merged(leaves)
    shared = tuple(
        condition
        for condition in found[0].conditions
        if all(condition in leaf.conditions for leaf in found)
    )
    rest = tuple(
        Leaf(tuple(item for item in leaf.conditions if item not in shared), leaf.sends)
        for leaf in found
    )
    return NormalWalk(root, hops, shared, rest)


def _merged(leaves: Iterable[Leaf]) -> list[Leaf]:
    """Leaves with the same conditions are one."""
    sends: dict[tuple[x.Expression, ...], tuple[Sending, ...]] = {}
    for leaf in leaves:
        sends[leaf.conditions] = (*sends.get(leaf.conditions, ()), *leaf.sends)
    return [Leaf(conditions, found) for conditions, found in sends.items()]
