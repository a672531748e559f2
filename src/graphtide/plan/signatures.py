"""Signatures: the answers to all atoms of all views on one edge, as a few small integers.

Atoms that compare one property with constants become one `Bucketing` of that property; an atom
that does not (a pattern, a property against a property) becomes a three-valued `Flag`. These are
the *features* of a collection. The code of an edge for a bucketing is 0 where the property is
missing and otherwise 1 + the number of cuts that the value reaches; for a flag 0 is unknown, 1
false, 2 true. Codes are packed, mixed radix, into *words* of 62 bits, apart for what depends on
the edge alone, on its src, on its dst, and on more than one of them, so that the endpoints'
words can be computed once a vertex. Words that fit share a column, so that a signature is
mostly a single integer.

Two edges with one signature are in the same views. The number of features, and so the work an
edge costs, depends on the properties used and not on the number of views.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from graphtide.plan.cuts import OrderingKey, cuts_of, ordering_key
from graphtide.plan.predicates import (
    Atom,
    Comparison,
    Constant,
    InSet,
    IsNull,
    Operator,
    Predicate,
    PropertyRef,
    Value,
    atoms_of,
    properties_of,
)

Side = Literal["edge", "src", "dst", "mixed"]
SIDES: tuple[Side, ...] = ("edge", "src", "dst", "mixed")
VERTEX_NUMBER = "_vertex"
EDGE_NUMBER = "_edge"
_WORD_LIMIT = 2**62


@dataclass(frozen=True)
class Bucketing:
    """One property cut at sorted, distinct values."""

    item: PropertyRef
    cuts: tuple[Value, ...]

    @property
    def size(self) -> int:
        """How many codes there are: missing, and one bucket more than cuts."""
        return len(self.cuts) + 2

    @property
    def side(self) -> Side:
        """Whose row decides the code. An endpoint's number stands on the edge itself."""
        return "edge" if self.item.name == VERTEX_NUMBER else self.item.owner

    def __str__(self) -> str:
        shown = ", ".join(str(Constant(cut, self.item.type)) for cut in self.cuts[:6])
        more = f", ... {len(self.cuts)} cuts" if len(self.cuts) > 6 else ""
        return f"{self.item} cut at [{shown}{more}]"


@dataclass(frozen=True)
class Flag:
    """One atom that no cut decides."""

    atom: Atom

    @property
    def size(self) -> int:
        """Unknown, false, true."""
        return 3

    @property
    def side(self) -> Side:
        """Whose row decides the code."""
        owners = {item.owner for item in properties_of(self.atom)}
        return owners.pop() if len(owners) == 1 else "mixed"

    def __str__(self) -> str:
        return f"flag {self.atom}"


Feature = Bucketing | Flag


@dataclass(frozen=True)
class Word:
    """Features packed into one integer: code_0 + size_0 * (code_1 + size_1 * (...))."""

    side: Side
    features: tuple[Feature, ...]

    @property
    def radix(self) -> int:
        """One more than the largest number that the word can hold."""
        return math.prod(feature.size for feature in self.features)


@dataclass(frozen=True)
class SignatureLayout:
    """All features of a collection, in words."""

    words: tuple[Word, ...]

    @property
    def columns(self) -> tuple[tuple[Word, ...], ...]:
        """Words that fit into one column together, packed as features are into words."""
        groups: list[list[Word]] = []
        radix = _WORD_LIMIT
        for word in self.words:
            if radix * word.radix >= _WORD_LIMIT:
                groups.append([])
                radix = 1
            groups[-1].append(word)
            radix *= word.radix
        return tuple(tuple(group) for group in groups)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features in the order of their words."""
        return tuple(feature for word in self.words for feature in word.features)

    def explain(self) -> str:
        """A line a feature."""
        if not self.words:
            return "no atoms: every edge has the same signature"
        return "\n".join(
            f"word {number} ({word.side}): {feature}"
            for number, word in enumerate(self.words)
            for feature in word.features
        )


def layout_signatures(predicates: Iterable[Predicate]) -> SignatureLayout:
    """The features that decide all the predicates, packed."""
    atoms = dict.fromkeys(atom for predicate in predicates for atom in atoms_of(predicate))
    features: list[Feature] = [*merge_cut_points(atoms), *_flags(atoms)]
    words: list[Word] = []
    for side in SIDES:
        words.extend(_pack(side, [feature for feature in features if feature.side == side]))
    return SignatureLayout(tuple(words))


def merge_cut_points(atoms: Iterable[Atom]) -> list[Bucketing]:
    """year < 2001, year < 2002, ...  becomes  one bucketing of year at [2001, 2002, ...].

    A thousand windows over one property then cost one binary search an edge instead of a
    thousand comparisons. A property that is only tested for being missing has no cuts.
    """
    cuts: dict[PropertyRef, dict[OrderingKey, Value]] = {}
    for atom in atoms:
        if not is_cut(atom):
            continue
        (item,) = properties_of(atom)
        values = cuts.setdefault(item, {})
        for value in _atom_cuts(atom):
            values[ordering_key(value)] = value
    return [
        Bucketing(item, tuple(values[key] for key in sorted(values)))
        for item, values in cuts.items()
    ]


def is_cut(atom: Atom) -> bool:
    """True for the atoms that a bucketing decides."""
    match atom:
        case Comparison(_, _, Constant()) | InSet() | IsNull():
            return True
        case _:
            return False


def _atom_cuts(atom: Atom) -> Iterable[Value]:
    match atom:
        case Comparison(operator, left, Constant() as right):
            yield from cuts_of(operator, left.type, right)
        case InSet(item, constants):
            for constant in constants:
                yield from cuts_of(Operator.EQ, item.type, constant)


def _flags(atoms: Iterable[Atom]) -> list[Flag]:
    return [Flag(atom) for atom in atoms if not is_cut(atom)]


def _pack(side: Side, features: Sequence[Feature]) -> list[Word]:
    """First fit in order; a word is full when its radix would pass 62 bits."""
    words: list[Word] = []
    current: list[Feature] = []
    radix = 1
    for feature in features:
        if current and radix * feature.size > _WORD_LIMIT:
            words.append(Word(side, tuple(current)))
            current, radix = [], 1
        current.append(feature)
        radix *= feature.size
    if current:
        words.append(Word(side, tuple(current)))
    return words
