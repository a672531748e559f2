"""The syntax tree of what a grouped graph is made of: sections, groupings and aggregates.

    vertices as people where age > 17 group by (city, [young: age < 30], [old: age >= 30])
        aggregate count(*), avg(age) as mean
    edges between (people, people) aggregate sum(duration)

is two sections. Names are unresolved, as everywhere in the tree; `lower_groups` gives them
their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.lang.gvdl.tree import Node, Predicate, PropertyName, View


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
