"""The syntax tree of predicates, view lists and grouped graphs, before it means anything.

Nothing is resolved here: a bare name may be a property or a loop variable, a literal may meet
a property of another type, a timestamp without an offset has no time zone yet. Nodes compare
and hash by what they say; their place in the text (`span`) does not count, and nodes built by
hand need none:

    View(Compare(Operator.LE, PropertyName("year"), Variable("y")), name="upto-{y}")

A grouped graph is made of sections. This is two of them:

    vertices as people where age > 17 group by (city, [young: age < 30], [old: age >= 30])
        aggregate count(*), avg(age) as mean
    edges between (people, people) aggregate sum(duration)

Statements are in `statements`; text comes from `unparse`, meaning from `resolve` and `lower`.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Literal as OneOf

from graphtide.lang.trees import Node
from graphtide.model.errors import InputError
from graphtide.plan.predicates import Operator, Owner

LiteralValue = int | float | str | bool | dt.date | dt.datetime | None
Unit = OneOf["millisecond", "second", "minute", "hour", "day", "week", "month", "year"]
WindowKind = OneOf["expanding", "sliding", "tumbling"]

_PLAIN_NAME = re.compile(r"(?:[^\W\d]|\{[^\W\d]\w*\})(?:\w|\{[^\W\d]\w*\})*")
_NEVER_BARE = {"not", "true", "false", "null"}


@dataclass(frozen=True)
class Literal(Node):
    """A number, string, truth value, date, timestamp (with or without offset) or null.

    `kind` keeps `1`, `1.0` and `true` apart, which Python calls equal.
    """

    value: LiteralValue
    kind: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value).__name__)


@dataclass(frozen=True)
class Duration(Node):
    """So many of a unit of time: `3 months`."""

    count: int
    unit: Unit


@dataclass(frozen=True)
class PropertyName(Node):
    """A property of the edge, or of `src` or `dst`; unquoted, it may hold `{variable}` holes.

    A bare unquoted name that is a loop variable in scope means the variable. A name that can
    only be written in quotes counts as quoted.
    """

    name: str
    owner: Owner = "edge"
    quoted: bool = False

    def __post_init__(self) -> None:
        bare = self.owner == "edge" and self.name.lower() in _NEVER_BARE
        if bare or not _PLAIN_NAME.fullmatch(self.name):
            object.__setattr__(self, "quoted", True)


@dataclass(frozen=True)
class Variable(Node):
    """A loop variable, said outright: `$y`."""

    name: str


@dataclass(frozen=True)
class Shifted(Node):
    """A loop variable moved by an int, or by a count of a unit of time: `y + 5`, `d - 1 month`."""

    base: PropertyName | Variable
    count: int
    unit: Unit | None = None


Operand = Literal | PropertyName | Variable | Shifted


@dataclass(frozen=True)
class Compare(Node):
    """One of the six comparisons between two operands."""

    operator: Operator
    left: Operand
    right: Operand


@dataclass(frozen=True)
class InList(Node):
    """`x in (1, 2)`, `x not in (1, 2)`."""

    operand: Operand
    values: tuple[Operand, ...]
    negated: bool = False


@dataclass(frozen=True)
class Between(Node):
    """`x between 1 and 5`, both ends included; or `not between`."""

    operand: Operand
    low: Operand
    high: Operand
    negated: bool = False


@dataclass(frozen=True)
class NullTest(Node):
    """`x is null`, `x is not null`."""

    operand: Operand
    negated: bool = False


@dataclass(frozen=True)
class LikeTest(Node):
    """`x like 'a%'`, `x not like 'a%'`."""

    operand: Operand
    pattern: Operand
    negated: bool = False


@dataclass(frozen=True)
class TruthTest(Node):
    """`p is true`, `p is not true`, `p is false`, `p is not false`: never unknown."""

    term: Predicate
    value: bool = True
    negated: bool = False


@dataclass(frozen=True)
class Not(Node):
    """`not p`, also written `! p`."""

    term: Predicate


@dataclass(frozen=True)
class And(Node):
    """Two or more terms joined by `and`."""

    terms: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        _need_two(self.terms, "And")


@dataclass(frozen=True)
class Or(Node):
    """Two or more terms joined by `or`."""

    terms: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        _need_two(self.terms, "Or")


Test = Compare | InList | Between | NullTest | LikeTest
Predicate = Test | TruthTest | Not | And | Or | Operand


@dataclass(frozen=True)
class View(Node):
    """`[name: predicate]`; a view without a name is named by its place."""

    predicate: Predicate
    name: str | None = None


@dataclass(frozen=True)
class Range(Node):
    """`a..b step s`: both ends included."""

    start: Operand
    stop: Operand
    step: Literal | Duration | None = None


@dataclass(frozen=True)
class ValueList(Node):
    """`('CA', 'NY')`: the values of a loop, one by one."""

    values: tuple[Operand, ...]


@dataclass(frozen=True)
class Loop(Node):
    """`for y in 2000..2020 [upto-{y}: year <= y]`: the body once for each value."""

    variable: str
    values: Range | ValueList
    body: tuple[Item, ...]


@dataclass(frozen=True)
class Windows(Node):
    """Windows over a numeric or time property; `windows` says exactly which."""

    kind: WindowKind
    property: PropertyName
    width: Literal | Duration
    step: Literal | Duration | None = None
    start: Operand | None = None
    until: Operand | None = None
    timezone: str | None = None
    drop_partial: bool = False
    drop_empty: bool = False
    name: str | None = None


@dataclass(frozen=True)
class Group(Node):
    """`( ... )`: a list of items where one is expected."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Product(Node):
    """`a cross b`: every view of a with every view of b, joined by `and`."""

    factors: tuple[Item, ...]

    def __post_init__(self) -> None:
        _need_two(self.factors, "Product")


@dataclass(frozen=True)
class Combinations(Node):
    """`without 5 of (...)`: each choice of `count` items removed from the graph."""

    count: int
    items: tuple[Item, ...]
    name: str | None = None


@dataclass(frozen=True)
class Outages(Node):
    """`without each edge where p`: each edge or vertex, or each pair of them, removed in turn.

    `without each value of airline` removes all edges with that value of the `property`.
    """

    what: OneOf["edge", "vertex", "value"] = "edge"
    pairs: bool = False
    where: Predicate | None = None
    name: str | None = None
    property: PropertyName | None = None


Item = View | Loop | Windows | Group | Product | Combinations | Outages


@dataclass(frozen=True)
class ViewList(Node):
    """The items of a collection, and the predicate that all its views share."""

    items: tuple[Item, ...]
    within: Predicate | None = None


def _need_two(parts: tuple[object, ...], what: str) -> None:
    if len(parts) < 2:
        raise InputError(f"{what} needs two or more parts", hint="use the one part by itself")


@dataclass(frozen=True)
class Alternatives(Node):
    """`[young: age < 30], [old: age >= 30]`: a group for each of some conditions."""

    views: tuple[View, ...]


Term = Predicate | Alternatives


@dataclass(frozen=True)
class Grouping(Node):
    """`(city, age > 30)`: a bare property groups by its values, a condition by being true."""

    terms: tuple[Term, ...]


@dataclass(frozen=True)
class AggregateCall(Node):
    """`avg(age) as mean`, also written `mean: avg(age)`; no operand means `*`."""

    function: str
    operand: PropertyName | None = None
    name: str | None = None


@dataclass(frozen=True)
class Section(Node):
    """What is grouped and how. `between` is for edges: labels of two sections of vertices."""

    label: str | None = None
    where: Predicate | None = None
    groupings: tuple[Grouping, ...] = ()
    aggregates: tuple[AggregateCall, ...] = ()
    between: tuple[str, str] | None = None
