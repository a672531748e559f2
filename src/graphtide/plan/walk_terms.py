"""The delta of a walk as a sum of terms, each begun where something has changed.

A *factor* is anything of a walk that a batch can change: a hop (are these two joined, or: is this
edge live), a question whether two positions are joined, and a position whose degrees or state are
read. State is that of the round before, and changes where earlier rounds came out otherwise. What
all walks send is a function of all factors. Change them one by one, and the whole change is the sum
of what each one changed: the term of a factor has new values at those before it and old values at
those behind it (rule 7 of 003, which speaks of products). A literal that the walk demands makes
its term one-sided; any other question is answered both ways, and the difference is sent.

Pairs and not edges are what changes at distinct neighbours: a second parallel edge changes nothing.

Where positions are only ordered so that each set of vertices is found once (`walk_symmetry`),
hops that such an order makes interchangeable share one term. The order among changes is then that
of the pairs: those of lower rank are new. All other terms have `new` and `old` alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from graphtide.plan.expressions import (
    Expression,
    Joined,
    Member,
    StateRef,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.walk_forms import Hop, Walk, literal_of, normal_joined
from graphtide.plan.walk_symmetry import Symmetry, symmetry


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


class Version(StrEnum):
    """Which changes a factor has seen in a term."""

    NEW = "new"
    OLD = "old"
    UPTO = "those before"
    """Changed pairs of a lower rank than the one that the term is at."""
    WITH = "those before, and this"
    """The same, and that one too."""


@dataclass(frozen=True)
class Term:
    """One factor's part of the delta.

    `versions` are those of the factors of `walk`. `walk` is the walk itself, or without the order
    of interchangeable positions; then `once` says that a pair is looked at from one end only.
    """

    walk: Walk
    factor: Factor
    versions: tuple[tuple[Factor, Version], ...]
    once: bool = False

    def version(self, factor: Factor) -> Version:
        """The version of one factor; that of the term itself is the business of its loop."""
        return dict(self.versions)[factor]


def factors_of(walk: Walk) -> tuple[Factor, ...]:
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


def terms_of(walk: Walk) -> tuple[Term, ...]:
    """One term for each factor, or for each set of interchangeable ones."""
    found = symmetry(walk)
    return tuple(_orbit_terms(found) if found is not None else _plain_terms(walk))


def _plain_terms(walk: Walk) -> Iterator[Term]:
    factors = factors_of(walk)
    for at, factor in enumerate(factors):
        before = [(item, Version.NEW) for item in factors[:at]]
        yield Term(walk, factor, (*before, *((item, Version.OLD) for item in factors[at + 1 :])))


def _orbit_terms(found: Symmetry) -> Iterator[Term]:
    """Pairs first, one by one, and then degrees; hops of one orbit never meet at one pair."""
    factors = factors_of(found.walk)
    pairs = [item for item in factors if isinstance(item, HopFactor | JoinFactor)]
    rest = [item for item in factors if item not in pairs]
    orbits = found.orbits([_ends(item) for item in pairs])
    for number, orbit in enumerate(orbits):
        factor = next(item for item in pairs if _ends(item) in orbit)
        versions = [
            (item, Version.WITH if _number(orbits, item) < number else Version.UPTO)
            for item in pairs
            if item != factor
        ]
        atom = _ends(factor)
        inside = atom.source in found.ordered and atom.target in found.ordered
        yield Term(
            found.ordered_among_themselves(atom),
            factor,
            (*versions, *((item, Version.OLD) for item in rest)),
            once=inside and atom.way == "both",
        )
    for at, degrees in enumerate(rest):
        new = [(item, Version.NEW) for item in (*pairs, *rest[:at])]
        yield Term(found.walk, degrees, (*new, *((item, Version.OLD) for item in rest[at + 1 :])))


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
