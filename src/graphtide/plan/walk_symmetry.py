"""Positions that are ordered only so that each set of vertices is found once.

`u < v < w` makes of the six ways to walk round a triangle one. Where exchanging any two neighbours
of such an order changes nothing else of a walk - neither its hops and conditions nor what it sends
- any order does as well: a run from scratch takes that of the degrees, and the delta of a walk
begins at a changed pair wherever in the order its ends stand. Walks that follow directions are left
out: the two directions of one pair may change at once, at two hops of one walk. The proof is the
exchange itself, done on the normal form; what it cannot see to be the same is taken to differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from graphtide.plan.expressions import Compare, Expression, Joined, StateRef, Unary, VertexFact
from graphtide.plan.programs import Direction
from graphtide.plan.walk_forms import Leaf, Walk, normal_joined, replaced
from graphtide.plan.walks import Report


@dataclass(frozen=True)
class Symmetry:
    """A walk, its interchangeable positions from the least to the greatest, and what else holds."""

    walk: Walk
    ordered: tuple[str, ...]
    unordered: tuple[Expression, ...]
    """The conditions of the walk without the order."""

    def orbits(self, atoms: Iterable[Joined]) -> list[frozenset[Joined]]:
        """Atoms that exchanges lead from one to another, in the order of the first of each."""
        found: list[set[Joined]] = []
        for atom in atoms:
            if any(atom in orbit for orbit in found):
                continue
            orbit, waiting = {atom}, [atom]
            while waiting:
                one = waiting.pop()
                for pair in pairwise(self.ordered):
                    other = _exchanged(one, *pair)
                    if other not in orbit:
                        orbit.add(other)
                        waiting.append(other)
            found.append(orbit)
        return [frozenset(orbit) for orbit in found]

    def ordered_among_themselves(self, bound: Joined) -> Walk:
        """The walk for a term that begins at two positions: others keep their order among
        themselves, and differ from those two.
        """
        inside = [item for item in (bound.source, bound.target) if item in self.ordered]
        rest = [item for item in self.ordered if item not in inside]
        conditions = [_compared("<", *pair) for pair in pairwise(rest)]
        conditions += [_compared("!=", one, other) for one in rest for other in inside]
        if len(inside) == 2 and inside[0] != inside[1]:
            conditions.append(_compared("!=", *inside))
        return replace(self.walk, conditions=(*conditions, *self.unordered))


def symmetry(walk: Walk) -> Symmetry | None:
    """The symmetry of a walk; None where its positions cannot be exchanged."""
    if any(hop.edge is not None for hop in walk.hops):
        return None
    orders = {item: ends for item in walk.conditions if (ends := order_of(item)) is not None}
    ordered = _total_order(set(orders.values()))
    if ordered is None:
        return None
    rest = tuple(item for item in walk.conditions if item not in orders)
    bare = replace(walk, conditions=rest)
    pairs = pairwise(ordered)
    if any(isinstance(send, Report) for send in walk.sends):
        return None
    if any(isinstance(item, StateRef) for item in bare.expressions()):
        return None
    if any(hop.way is not Direction.BOTH for hop in walk.hops):
        return None
    if any(isinstance(item, Joined) and item.way != "both" for item in bare.expressions()):
        return None
    if any(_facts(bare, *pair) != _facts(bare) for pair in pairs):
        return None
    return Symmetry(walk, ordered, rest)


def order_of(condition: Expression) -> tuple[str, str] | None:
    """(u, v) of a condition that says `u < v` of two positions."""
    match condition:
        case Compare("<", VertexFact(one, "id"), VertexFact(other, "id")):
            return one, other
        case Compare(">", VertexFact(one, "id"), VertexFact(other, "id")):
            return other, one
        case Unary("not", Compare("<=", VertexFact() as one, VertexFact() as other)):
            return order_of(Compare(">", one, other))
        case Unary("not", Compare(">=", VertexFact() as one, VertexFact() as other)):
            return order_of(Compare("<", one, other))
        case _:
            return None


def _total_order(pairs: set[tuple[str, str]]) -> tuple[str, ...] | None:
    """All that is compared, from the least on; None if two of them may stand either way."""
    names = {name for pair in pairs for name in pair}
    above = {name: {other for one, other in pairs if one == name} for name in names}
    for _ in names:
        above = {
            name: found.union(*(above[other] for other in found)) for name, found in above.items()
        }
    ordered = sorted(names, key=lambda name: -len(above[name]))
    chain = pairwise(ordered)
    if len(ordered) < 2 or any(other not in above[one] for one, other in chain):
        return None
    return None if any(name in above[name] for name in names) else tuple(ordered)


def _facts(walk: Walk, *exchange: str) -> tuple[Any, ...]:
    """All that a walk says, in no order, after an exchange of two positions."""
    names = dict(zip(exchange, reversed(exchange), strict=True))
    atoms = {hop.joined for hop in walk.hops} | {
        item for item in walk.conditions if isinstance(item, Joined)
    }
    conditions = [item for item in walk.conditions if not isinstance(item, Joined)]
    leaves = Counter(_leaf_facts(leaf, names) for leaf in walk.leaves)
    return (
        frozenset(normal_joined(_renamed(atom, names)) for atom in atoms),
        frozenset(_normal(replaced(item, {}, names)) for item in conditions),
        frozenset(leaves.items()),
    )


def _leaf_facts(leaf: Leaf, names: dict[str, str]) -> Any:
    sends = Counter(replaced(send, {}, names) for send in leaf.sends)
    conditions = frozenset(_normal(replaced(item, {}, names)) for item in leaf.conditions)
    return conditions, frozenset(sends.items())


def _renamed(atom: Joined, names: dict[str, str]) -> Joined:
    return Joined(
        names.get(atom.source, atom.source), names.get(atom.target, atom.target), atom.way
    )


def _exchanged(atom: Joined, one: str, other: str) -> Joined:
    return normal_joined(_renamed(atom, {one: other, other: one}))


def _normal(condition: Expression) -> Expression:
    """One spelling of what does not depend on the order of its sides."""
    match condition:
        case Compare("==" | "!=" as operator, left, right) if repr(left) > repr(right):
            return Compare(operator, right, left)
        case Compare(">", left, right):
            return Compare("<", right, left)
        case _:
            return condition


def _compared(operator: Any, one: str, other: str) -> Expression:
    return Compare(operator, VertexFact(one, "id"), VertexFact(other, "id"))
