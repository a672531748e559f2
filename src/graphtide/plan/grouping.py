"""A grouped graph as a plan: which vertices and edges become one, and what is kept of them.

A section says which rows it takes (`where`), into which groups they go and what is worked out of
each group. A row is in a group of every grouping whose condition is true of it, so it may be in
several groups, or in none. Two rows are in the same group of a grouping if all `keys` are equal;
null equals null, as in SQL's `group by`. Edges go where their ends go: one edge of the result for
each ordered pair of groups, for each section and for each group of the section's own.

Properties of vertices are found on `src`, as everywhere in predicates over a vertex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from graphtide.model.schema import Property, PropertyType
from graphtide.plan.predicates import EVERYTHING, Predicate, PropertyRef


class AggregateFunction(StrEnum):
    """What can be worked out of a group. All but `count(*)` pass over missing values."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True)
class GroupAggregate:
    """A function of a property of a group's rows, or the count of its rows (`item` None)."""

    function: AggregateFunction
    item: PropertyRef | None
    name: str

    @property
    def type(self) -> PropertyType:
        if self.function is AggregateFunction.COUNT or self.item is None:
            return PropertyType.INT
        return PropertyType.FLOAT if self.function is AggregateFunction.AVG else self.item.type

    def __str__(self) -> str:
        return f"{self.name} = {self.function}({'*' if self.item is None else self.item})"


@dataclass(frozen=True)
class Key:
    """A property that the rows of a group share, and the name that the result has it under."""

    item: PropertyRef
    name: str


@dataclass(frozen=True)
class RowGrouping:
    """Rows on which `condition` is true, by equal `keys`.

    `condition_name` is what the result says of the condition; None where there is none. `naming`
    are the properties of which the id of a group is made: the keys, unless every row is a group
    of its own and the keys are merely kept.
    """

    keys: tuple[Key, ...] = ()
    condition: Predicate = EVERYTHING
    condition_name: str | None = None
    naming: tuple[Key, ...] = ()

    def __str__(self) -> str:
        if self.naming != self.keys:
            return f"each by itself, called by {', '.join(key.name for key in self.naming)}"
        if not self.keys and self.condition_name is None:
            return "all together"
        parts = [] if self.condition_name is None else [f"{self.condition_name}: {self.condition}"]
        parts += [key.name for key in self.keys]
        return f"by ({', '.join(parts)})"


@dataclass(frozen=True)
class GroupSection:
    """Rows, groupings and aggregates; `between` are places of sections of vertices.

    `qualifier` tells ids of this section from those of others, where there are several.
    """

    where: Predicate
    groupings: tuple[RowGrouping, ...]
    aggregates: tuple[GroupAggregate, ...] = ()
    label: str | None = None
    between: tuple[int, int] | None = None
    qualifier: str | None = None


@dataclass(frozen=True)
class GroupTable:
    """The sections that make the vertices, or the edges, of the result.

    `condition_property` is the property that tells a group's condition; None where no grouping
    has one.
    """

    sections: tuple[GroupSection, ...]
    condition_property: str | None = None

    @property
    def shared(self) -> tuple[Property, ...]:
        """The properties that the rows of a group share: its keys and the name of its condition."""
        groupings = [item for section in self.sections for item in section.groupings]
        types = {key.name: key.item.type for item in groupings for key in item.keys}
        if self.condition_property is not None:
            types[self.condition_property] = PropertyType.STRING
        return tuple(Property(name, type_) for name, type_ in types.items())

    @property
    def aggregated(self) -> tuple[Property, ...]:
        """The properties that are worked out of the rows of a group."""
        types = {item.name: item.type for one in self.sections for item in one.aggregates}
        return tuple(Property(name, type_) for name, type_ in types.items())

    @property
    def is_labelled(self) -> bool:
        return any(section.label is not None for section in self.sections)


@dataclass(frozen=True)
class GroupPlan:
    """A grouped graph; `named_keys` puts the names of keys into the ids of groups."""

    vertices: GroupTable
    edges: GroupTable
    named_keys: bool = False

    def explain(self) -> str:
        """One line per section, one for each of its groupings, and one for its aggregates."""
        return "\n".join([*_lines("vertices", self.vertices), *_lines("edges", self.edges)])


def _lines(kind: str, table: GroupTable) -> Iterator[str]:
    for place, section in enumerate(table.sections):
        label = f" as {section.label}" if section.label is not None else ""
        ends = section.between
        between = "" if ends is None else f" between sections {ends[0] + 1} and {ends[1] + 1}"
        yield f"{kind} {place + 1}{label}{between} where {section.where}"
        yield from (f"  group {grouping}" for grouping in section.groupings)
        if section.aggregates:
            yield f"  aggregate {', '.join(map(str, section.aggregates))}"
