"""Signatures: the answers to all atoms of all views on one edge, as a few small integers.

Every comparison of a property with a constant becomes `value >= cut`. The values of a property
type are totally ordered, and each type has a next value (the next integer, day, microsecond,
float, or the string with a zero character behind it). So `v > c` is `v >= next(c)`, `v <= c` is
its opposite, and all six comparisons come down to where a value stands among sorted cuts. A
constant that no value can reach gives no cut but `NEVER`, one that all values reach `ALWAYS`.
Comparisons of ints with floats are exact, not rounded. NaN is the largest float and equal to
itself, as in Spark.

Atoms that compare one property with constants become one `Bucketing` of that property; an atom
that does not (a pattern, a property against a property) becomes a three-valued `Flag`. These are
the *features* of a collection. The code of an edge for a bucketing is 0 where the property is
missing and otherwise 1 + the number of cuts that the value reaches; for a flag 0 is unknown, 1
false, 2 true. Codes are packed, mixed radix, into *words* of 62 bits, apart for what depends on
the edge alone, on its src, on its dst, and on more than one of them, so that the words of the ends
can be computed once per vertex. Words that fit share a column, so that a signature is mostly a
single integer.

Two edges with one signature are in the same views. The number of features, and so the cost per
edge, depends on the properties used and not on the number of views.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from graphtide.model.schema import PropertyType
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


class CutReach(Enum):
    """A cut that is not a value: no value reaches it, or every one does."""

    NEVER = "never"
    ALWAYS = "always"


Cut = Value | CutReach
OrderingKey = tuple[int, int | float | str]

_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def cut_at(type_: PropertyType, constant: Constant) -> Cut:
    """The smallest value of the type that is >= the constant."""
    value = constant.value
    match type_:
        case PropertyType.INT:
            return _int_cut(value, math.ceil)
        case PropertyType.FLOAT:
            return _float_cut(value)
        case PropertyType.BOOL:
            return True if value else CutReach.ALWAYS
        case _:
            return value


def cut_above(type_: PropertyType, constant: Constant) -> Cut:
    value = constant.value
    match type_:
        case PropertyType.INT:
            return _int_cut(value, lambda number: math.floor(number) + 1)
        case PropertyType.FLOAT:
            return _next_float(value)
        case PropertyType.BOOL:
            return CutReach.NEVER if value else True
        case PropertyType.STRING:
            return str(value) + "\0"
        case _:
            assert isinstance(value, dt.date)
            return _next_time(value)


def cuts_of(operator: Operator, type_: PropertyType, constant: Constant) -> list[Value]:
    """The cuts that decide one comparison: none, one, or both sides of the constant."""
    wanted: list[Cut] = []
    if operator not in (Operator.GT, Operator.LE):
        wanted.append(cut_at(type_, constant))
    if operator not in (Operator.GE, Operator.LT):
        wanted.append(cut_above(type_, constant))
    return [cut for cut in wanted if not isinstance(cut, CutReach)]


def ordering_key(value: Value) -> OrderingKey:
    """A sort key that agrees with the order of the property's type, NaN last."""
    match value:
        case float():
            return (1, 0.0) if math.isnan(value) else (0, value)
        case dt.datetime():
            return 0, micros_of(value)
        case dt.date():
            return 0, value.toordinal()
        case _:
            return 0, value


def micros_of(moment: dt.datetime) -> int:
    """Microseconds since 1970 in UTC, exact (a float timestamp() is not)."""
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)


def comparable(value: Value) -> int | float | str:
    """A constant in the form in which columns are compared: dates as days, timestamps as
    microseconds since 1970, and truth values as 0 and 1.
    """
    match value:
        case dt.datetime():
            return micros_of(value)
        case dt.date():
            return (value - _EPOCH.date()).days
        case bool():
            return int(value)
        case _:
            return value


def _int_cut(value: Value, to_int: Callable[[int | float], int]) -> Cut:
    assert isinstance(value, int | float)
    if isinstance(value, float) and not math.isfinite(value):
        return CutReach.ALWAYS if value == -math.inf else CutReach.NEVER
    cut = to_int(value)
    if cut > _INT_MAX:
        return CutReach.NEVER
    return cut if cut > _INT_MIN else CutReach.ALWAYS


def _float_cut(value: Value) -> float:
    """The smallest float >= an int or float."""
    assert isinstance(value, int | float)
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return near if math.isnan(near) or near >= value else math.nextafter(near, math.inf)


def _next_float(value: Value) -> Cut:
    """The smallest float > an int or float: past infinity that is NaN, past NaN nothing."""
    assert isinstance(value, int | float)
    at = _float_cut(value)
    if math.isnan(at):
        return CutReach.NEVER
    if at > value:
        return at
    return math.nan if at == math.inf else math.nextafter(at, math.inf)


def _next_time(value: dt.date) -> Cut:
    step = dt.timedelta(microseconds=1) if isinstance(value, dt.datetime) else dt.timedelta(days=1)
    try:
        return value + step
    except OverflowError:
        return CutReach.NEVER


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
        return 3

    @property
    def side(self) -> Side:
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
