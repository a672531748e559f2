"""What lowering must know of a graph's data, asked for through a protocol.

Windows without a start need the smallest value of a property; outages need the edges,
vertices or values to remove. Whoever holds the graph answers; a statement that needs nothing asks
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import NamedTuple, Protocol, cast

from graphtide.plan.predicates import Predicate, PropertyRef, Value


class NamedEdge(NamedTuple):
    """An edge's number and the ids of its endpoints, as text."""

    edge: int
    src: str
    dst: str


class NamedVertex(NamedTuple):
    """A vertex's number and its id, as text."""

    vertex: int
    id: str


class GraphFacts(Protocol):
    """Answers about one graph. Each may cost a pass over its edges."""

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        """The smallest and largest value over the edges that satisfy `where`; None if none.

        Missing values and NaN do not count; timestamps come with a time zone.
        """

    def edges(self, where: Predicate, limit: int) -> Sequence[NamedEdge]:
        """The edges that satisfy `where`, by number; LimitError if there are more than `limit`."""

    def vertices(self, where: Predicate, limit: int) -> Sequence[NamedVertex]:
        """The vertices that satisfy `where`, by number; their properties stand on `src`."""

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        """The distinct values over the edges that satisfy `where`, ascending, as for `bounds`.

        LimitError if there are more than `limit`.
        """


def remembered_facts(facts: GraphFacts) -> GraphFacts:
    """Facts that are asked for once and then remembered, as long as the answer lives."""

    @cache
    def answer(question: str, *about: object) -> object:
        return getattr(facts, question)(*about)

    questions = ("bounds", "edges", "vertices", "values")
    return cast(GraphFacts, SimpleNamespace(**{one: partial(answer, one) for one in questions}))
