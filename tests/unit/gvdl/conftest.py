"""A small schema and facts that are written down, for all tests of the language."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

import pytest

from graphtide.lang.gvdl.facts import NamedEdge, NamedVertex
from graphtide.lang.gvdl.lower import LoweredViews, lower_views
from graphtide.lang.gvdl.parse import parse_views
from graphtide.model.errors import LimitError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.plan.predicates import Predicate, PropertyRef, Value

P = PropertyType
SCHEMA = GraphSchema(
    P.STRING,
    vertex=(
        Property("state", P.STRING),
        Property("active", P.BOOL),
        *(Property(f"c{i}", P.BOOL) for i in range(10)),
    ),
    edge=(
        Property("year", P.INT),
        Property("weight", P.FLOAT),
        Property("day", P.DATE),
        Property("ts", P.TIMESTAMP),
        Property("note", P.STRING),
        Property("Note 2", P.STRING),
        Property("y", P.INT),
        Property("empty", P.INT),
    ),
)


class WrittenFacts:
    """Facts of a graph of four edges; counts what it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.where: Predicate | None = None

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        self.asked += 1
        self.where = where
        known: dict[str, tuple[Value, Value]] = {
            "year": (2001, 2010),
            "weight": (0.1, 0.35),
            "day": (dt.date(2020, 1, 31), dt.date(2020, 4, 15)),
            "ts": (
                dt.datetime(2020, 1, 5, 13, 45, 10, tzinfo=dt.UTC),
                dt.datetime(2020, 1, 8, 0, 0, tzinfo=dt.UTC),
            ),
        }
        return known.get(property.name)

    def edges(self, where: Predicate, limit: int) -> Sequence[NamedEdge]:
        self.asked += 1
        self.where = where
        rows = [NamedEdge(0, "a", "b"), NamedEdge(1, "b", "c"), NamedEdge(2, "a", "b")]
        if len(rows) > limit:
            raise LimitError("too many edges")
        return rows

    def vertices(self, where: Predicate, limit: int) -> Sequence[NamedVertex]:
        self.asked += 1
        self.where = where
        return [NamedVertex(0, "a"), NamedVertex(1, "b"), NamedVertex(2, "c")]

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        self.asked += 1
        self.where = where
        known: dict[str, list[Value]] = {"note": ["it's", "x"], "year": [2001, 2002, 2003]}
        return known.get(property.name, [])


@pytest.fixture
def facts() -> WrittenFacts:
    return WrittenFacts()


Lower = Callable[[str], LoweredViews]


@pytest.fixture
def lower(facts: WrittenFacts) -> Lower:
    return lambda text: lower_views(parse_views(text), SCHEMA, facts)


@pytest.fixture
def views(lower: Lower) -> Callable[[str], dict[str, str]]:
    """The views of a text, by name, as text."""
    return lambda text: {view.name: str(view.predicate) for view in lower(text).views}
