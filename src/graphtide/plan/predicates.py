"""Predicates over an edge, its `src` and its `dst`, as a typed tree.

The tree is already resolved: every property is known to exist, both sides of a comparison have
types that compare, and a constant has the type of the property it meets (an int constant may
meet a float property and the other way round). Truth has three values, as in SQL: a comparison
with a missing value is neither true nor false, and an edge belongs to a view only if the
predicate is true.

Values of constants are int, float, str, bool, datetime.date and datetime.datetime; a datetime
is always in UTC.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from graphtide.model.schema import PropertyType

Owner = Literal["edge", "src", "dst"]
Value = int | float | str | bool | dt.date | dt.datetime


class Operator(StrEnum):
    """The six comparisons."""

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@dataclass(frozen=True)
class PropertyRef:
    """A property of the edge or of one of its endpoints."""

    owner: Owner
    name: str
    type: PropertyType

    def __str__(self) -> str:
        name = self.name if self.name.isidentifier() else f"`{self.name}`"
        return name if self.owner == "edge" else f"{self.owner}.{name}"


@dataclass(frozen=True)
class Constant:
    """A literal. Compares by type and value, so that `1`, `1.0` and `true` stay apart."""

    value: Value
    type: PropertyType

    def __str__(self) -> str:
        return format_value(self.value)


@dataclass(frozen=True)
class Comparison:
    """A property compared with a constant or with another property."""

    operator: Operator
    left: PropertyRef
    right: Constant | PropertyRef

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True)
class InSet:
    """A property equal to one of some constants; the missing value is in no set, nor out of it."""

    property: PropertyRef
    constants: tuple[Constant, ...]

    def __str__(self) -> str:
        return f"{self.property} in ({', '.join(map(str, self.constants))})"


@dataclass(frozen=True)
class IsNull:
    """A property that is missing. The only atom that a missing value makes true."""

    property: PropertyRef

    def __str__(self) -> str:
        return f"{self.property} is null"


@dataclass(frozen=True)
class Like:
    """A string property against a pattern: % any run, _ any one character, \\ escapes."""

    property: PropertyRef
    pattern: str

    def __str__(self) -> str:
        return f"{self.property} like {format_value(self.pattern)}"


@dataclass(frozen=True)
class Always:
    """True of every edge, or of none."""

    value: bool = True

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Not:
    """The opposite; unknown stays unknown."""

    term: Predicate

    def __str__(self) -> str:
        return f"not {_in_parentheses(self.term)}"


@dataclass(frozen=True)
class IsTrue:
    """Two-valued: true where the term is true, false where it is false or unknown."""

    term: Predicate

    def __str__(self) -> str:
        return f"({self.term}) is true"


@dataclass(frozen=True)
class And:
    """All of two or more terms."""

    terms: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " and ".join(map(_in_parentheses, self.terms))


@dataclass(frozen=True)
class Or:
    """Any of two or more terms."""

    terms: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " or ".join(map(_in_parentheses, self.terms))


Atom = Comparison | InSet | IsNull | Like
Predicate = Atom | Always | Not | IsTrue | And | Or

EVERYTHING = Always(True)


@dataclass(frozen=True)
class NamedPredicate:
    """One view: its name and the edges it wants.

    `removed` are the vertices, by number, that are taken out of it, and so are not there. The
    vertices of a `window` are those with an edge in it, unless somebody asks for all.
    """

    name: str
    predicate: Predicate
    removed: tuple[int, ...] = ()
    window: bool = False


@dataclass(frozen=True)
class Unviewed:
    """Why edges may be in no view: they are of `base`, and the first reason that holds counts."""

    base: Predicate
    reasons: tuple[NamedPredicate, ...] = ()

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        return (self.base, *(item.predicate for item in self.reasons))


ANY_EDGE = Unviewed(EVERYTHING)

OTHERWISE = "no view asks for them"
"""Why an edge is in no view, where no reason holds."""


def conjunction(*terms: Predicate) -> Predicate:
    """The terms joined by and: flattened, without `true`, one term alone as it is."""
    flat: list[Predicate] = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, And) else (term,))
    rest = tuple(term for term in flat if term != EVERYTHING)
    if not rest:
        return EVERYTHING
    return rest[0] if len(rest) == 1 else And(rest)


def disjunction(*terms: Predicate) -> Predicate:
    """The terms joined by or: flattened, without `false`, one term alone as it is."""
    flat: list[Predicate] = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, Or) else (term,))
    rest = tuple(term for term in flat if term != Always(False))
    if not rest:
        return Always(False)
    return rest[0] if len(rest) == 1 else Or(rest)


def atoms_of(predicate: Predicate) -> Iterator[Atom]:
    """Every atom of the tree, from left to right, repeated as often as it stands there."""
    stack = [predicate]
    while stack:
        node = stack.pop()
        match node:
            case And(terms) | Or(terms):
                stack.extend(reversed(terms))
            case Not(term) | IsTrue(term):
                stack.append(term)
            case Always():
                pass
            case _:
                yield node


def properties_of(atom: Atom) -> tuple[PropertyRef, ...]:
    """The properties that an atom looks at: one, or two where it compares them."""
    match atom:
        case Comparison(_, left, PropertyRef() as right):
            return (left, right)
        case Comparison(_, left, _):
            return (left,)
        case InSet(item, _) | IsNull(item) | Like(item, _):
            return (item,)


def format_value(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            return f"timestamp '{value.astimezone(dt.UTC).isoformat().replace('+00:00', 'Z')}'"
        case dt.date():
            return f"date '{value.isoformat()}'"
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            for plain, code in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
                escaped = escaped.replace(plain, code)
            return f"'{escaped}'"
        case float():
            return repr(value)
        case int():
            return json.dumps(value)


def _in_parentheses(term: Predicate) -> str:
    return f"({term})" if isinstance(term, And | Or) else str(term)
