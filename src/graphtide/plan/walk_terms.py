"""The delta of a walk as a sum of terms, each begun where something has changed.

A *factor* is anything of a walk that a batch can change: a hop (are these two joined, or: is this
edge live), a question whether two positions are joined, and a position whose degrees or state are
read. State is that of the round before, and changes where earlier rounds had other results. What
all walks send is a function of all factors. Change them one by one, and the whole change is the sum
of what each one changed: the term of a factor has new values at those before it and old values at
those behind it (rule 7 of 003, which speaks of products). A literal that the walk demands makes
its term one-sided; any other question is answered both ways, and the difference is sent.

Pairs and not edges are what changes at distinct neighbours: a second parallel edge changes nothing.

`u < v < w` makes one of the six ways to walk round a triangle: positions are ordered only so that
each set of vertices is found once. Where exchanging any two neighbours of such an order changes
nothing else of a walk (its hops and conditions, what it sends), any order does as well. This is a
*symmetry*: a run from scratch takes the order of the degrees, hops that can be exchanged share one
term, and the order among changes is that of the pairs, those of lower rank being new. Walks that
follow directions are left out: the two directions of one pair may change at once, at two hops of
one walk. The proof is the exchange itself, done on the normal form; what it cannot see to be the
same is taken to differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from graphtide.plan.expressions import (
    Compare,
    Expression,
    Joined,
    Member,
    StateRef,
    Unary,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.programs import Direction
from graphtide.plan.walk_forms import Hop, Leaf, NormalWalk, literal_of, normal_joined, replaced
from graphtide.plan.walks import Report


@dataclass(frozen=True)
class Symmetry:
    """A walk, its interchangeable positions from the least to the greatest, and what else holds."""

    walk: NormalWalk
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

    def ordered_among_themselves(self, bound: Joined) -> NormalWalk:
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


def symmetry(walk: NormalWalk) -> Symmetry | None:
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


def _facts(walk: NormalWalk, *exchange: str) -> tuple[Any, ...]:
    """The content of a walk, without order, after two positions are exchanged."""
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


@dataclass(frozen=True)
class HopFactor:
    """Whether the two ends of a hop are joined, or whether its edge is live."""

    hop: Hop


@dataclass(frozen=True)
class JoinFactor:
    """Whether two positions are joined, where no hop asks; None: a formula asks, not the walk."""

    atom: Joined
    wanted: bool | None


@dataclass(frozen=True)
class DegreeFactor:
    """The degrees of a position, of those facts that the walk reads there."""

    position: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class StateFactor:
    """The state of a position, of those fields that the walk reads there."""

    position: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class RootFactor:
    """Whether the vertex is there: walks without hops begin at vertices that come."""

    position: str


Factor = HopFactor | JoinFactor | DegreeFactor | StateFactor | RootFactor


class FactorVersion(StrEnum):
    """Which changes a factor reflects in a term."""

    NEW = "new"
    OLD = "old"
    UPTO = "those before"
    """Changed pairs of a lower rank than the one that the term is at."""
    WITH = "those before, and this"
    """The same, and that one too."""


@dataclass(frozen=True)
class DeltaTerm:
    """One factor's part of the delta.

    `versions` are those of the factors of `walk`. `walk` is the walk itself, or without the order
    of interchangeable positions; then `once` says that a pair is looked at from one end only.
    """

    walk: NormalWalk
    factor: Factor
    versions: tuple[tuple[Factor, FactorVersion], ...]
    once: bool = False

    def version(self, factor: Factor) -> FactorVersion:
        """The version of one factor; that of the term itself is the business of its loop."""
        return dict(self.versions)[factor]


def factors_of(walk: NormalWalk) -> tuple[Factor, ...]:
    """All factors, in the order in which rule 7 changes them."""
    found: list[Factor] = [] if walk.hops else [RootFactor(walk.root)]
    found += dict.fromkeys(HopFactor(hop) for hop in walk.hops)
    hops = {hop.joined for hop in walk.hops if hop.edge is None}
    literals = filter(None, map(literal_of, walk.conditions))
    wanted = dict(literals)
    atoms = {normal_joined(item) for item in walk.expressions() if isinstance(item, Joined)}
    ordered = [*wanted, *sorted(atoms - wanted.keys(), key=repr)]
    found += [JoinFactor(atom, wanted.get(atom)) for atom in ordered if atom not in hops]
    for position in walk.positions:
        facts = sorted(
            {
                item.fact
                for item in walk.expressions()
                if isinstance(item, VertexFact) and item.vertex == position and item.fact != "id"
            }
        )
        if facts:
            found.append(DegreeFactor(position, tuple(facts)))
    for position in walk.positions:
        read = [item for item in walk.expressions() if isinstance(item, StateRef)]
        names = sorted({item.name for item in read if item.vertex == position})
        if names:
            found.append(StateFactor(position, tuple(names)))
    return tuple(found)


def terms_of(walk: NormalWalk) -> tuple[DeltaTerm, ...]:
    """One term for each factor, or for each set of interchangeable ones."""
    found = symmetry(walk)
    return tuple(_orbit_terms(found) if found is not None else _plain_terms(walk))


def _plain_terms(walk: NormalWalk) -> Iterator[DeltaTerm]:
    factors = factors_of(walk)
    for at, factor in enumerate(factors):
        before = [(item, FactorVersion.NEW) for item in factors[:at]]
        yield DeltaTerm(
            walk, factor, (*before, *((item, FactorVersion.OLD) for item in factors[at + 1 :]))
        )


def _orbit_terms(found: Symmetry) -> Iterator[DeltaTerm]:
    """The terms of a symmetric walk: pairs first, then degrees."""
    factors = factors_of(found.walk)
    pairs = [item for item in factors if isinstance(item, HopFactor | JoinFactor)]
    rest = [item for item in factors if item not in pairs]
    orbits = found.orbits([_ends(item) for item in pairs])
    for number, orbit in enumerate(orbits):
        factor = next(item for item in pairs if _ends(item) in orbit)
        versions = [
            (item, FactorVersion.WITH if _number(orbits, item) < number else FactorVersion.UPTO)
            for item in pairs
            if item != factor
        ]
        atom = _ends(factor)
        inside = atom.source in found.ordered and atom.target in found.ordered
        yield DeltaTerm(
            found.ordered_among_themselves(atom),
            factor,
            (*versions, *((item, FactorVersion.OLD) for item in rest)),
            once=inside and atom.way == "both",
        )
    for at, degrees in enumerate(rest):
        new = [(item, FactorVersion.NEW) for item in (*pairs, *rest[:at])]
        yield DeltaTerm(
            found.walk, degrees, (*new, *((item, FactorVersion.OLD) for item in rest[at + 1 :]))
        )


def _ends(factor: HopFactor | JoinFactor) -> Joined:
    return factor.hop.joined if isinstance(factor, HopFactor) else factor.atom


def _number(orbits: list[frozenset[Joined]], factor: HopFactor | JoinFactor) -> int:
    return next(at for at, orbit in enumerate(orbits) if _ends(factor) in orbit)


def positions_in(expression: Expression) -> set[str]:
    """The positions that an expression reads, not those of expressions inside of it."""
    match expression:
        case Joined(source, target):
            return {source, target}
        case VertexFact(vertex) | VertexProperty(vertex) | Member(vertex) | StateRef(vertex):
            return {vertex}
        case _:
            return set()
