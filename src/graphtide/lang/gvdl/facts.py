"""What lowering must know of a graph's data, asked for through a protocol.

Windows without a start need the smallest value of a property; outages need the edges,
vertices or values to remove. Whoever holds the graph answers; a statement that needs nothing asks
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from graphtide.plan.predicates import Predicate, PropertyRef, Value


class EdgeFact(NamedTuple):
    """An edge's number and the ids of its endpoints, as text."""

    edge: int
    src: str
    dst: str


class VertexFact(NamedTuple):
    """A vertex's number and its id, as text."""

    vertex: int
    id: str


class GraphFacts(Protocol):
    """Answers about one graph. Each may cost a pass over its edges."""

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        """The smallest and largest value over the edges that satisfy `where`; None if none.

        Missing values and NaN do not count; timestamps come with a time zone.
        """

    def edges(self, where: Predicate, limit: int) -> Sequence[EdgeFact]:
        """The edges that satisfy `where`, by number; LimitError if there are more than `limit`."""

    def vertices(self, where: Predicate, limit: int) -> Sequence[VertexFact]:
        """The vertices that satisfy `where`, by number; their properties stand on `src`."""

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        """The distinct values over the edges that satisfy `where`, ascending, as for `bounds`.

        LimitError if there are more than `limit`.
        """


class RememberedFacts:
    """Facts that are asked for once and then remembered, for as long as this object lives."""

    def __init__(self, facts: GraphFacts) -> None:
        self._facts = facts
        self._bounds: dict[tuple[PropertyRef, Predicate], tuple[Value, Value] | None] = {}
        self._edges: dict[tuple[Predicate, int], Sequence[EdgeFact]] = {}
        self._vertices: dict[tuple[Predicate, int], Sequence[VertexFact]] = {}
        self._values: dict[tuple[PropertyRef, Predicate, int], Sequence[Value]] = {}

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        key = (property, where)
        if key not in self._bounds:
            self._bounds[key] = self._facts.bounds(property, where)
        return self._bounds[key]

    def edges(self, where: Predicate, limit: int) -> Sequence[EdgeFact]:
        key = (where, limit)
        if key not in self._edges:
            self._edges[key] = self._facts.edges(where, limit)
        return self._edges[key]

    def vertices(self, where: Predicate, limit: int) -> Sequence[VertexFact]:
        key = (where, limit)
        if key not in self._vertices:
            self._vertices[key] = self._facts.vertices(where, limit)
        return self._vertices[key]

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        key = (property, where, limit)
        if key not in self._values:
            self._values[key] = self._facts.values(property, where, limit)
        return self._values[key]
