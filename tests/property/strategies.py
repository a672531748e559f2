"""Hypothesis strategies for schemas' values, rows and predicates, nulls and edges included."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

from hypothesis import strategies as st

from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.plan import predicates as p

SCHEMA = GraphSchema(
    id_type=PropertyType.INT,
    vertex=(
        Property("state", PropertyType.STRING),
        Property("age", PropertyType.INT),
        Property("active", PropertyType.BOOL),
    ),
    edge=(
        Property("year", PropertyType.INT),
        Property("weight", PropertyType.FLOAT),
        Property("kind", PropertyType.STRING),
        Property("ok", PropertyType.BOOL),
        Property("day", PropertyType.DATE),
        Property("ts", PropertyType.TIMESTAMP),
    ),
)

_MOMENT = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
_VALUES: dict[PropertyType, list[Any]] = {
    PropertyType.INT: [-(2**63), -2, -1, 0, 1, 2, 3, 2**53, 2**53 + 1, 2**63 - 1],
    PropertyType.FLOAT: [
        float("-inf"),
        -1.5,
        -0.0,
        0.0,
        0.5,
        1.0,
        2.0,
        2.0**53,
        float("inf"),
        float("nan"),
    ],
    PropertyType.STRING: ["", "a", "a\0", "aa", "b", "CA", "é", "%", "it's", "\U0001f600", "￿"],
    PropertyType.BOOL: [False, True],
    PropertyType.DATE: [dt.date(2020, 2, 27) + dt.timedelta(days=i) for i in range(5)]
    + [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)],
    PropertyType.TIMESTAMP: [_MOMENT + dt.timedelta(microseconds=i) for i in range(3)]
    + [_MOMENT + dt.timedelta(hours=i) for i in range(1, 4)]
    + [dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=dt.UTC)],
}


def random_row(pick: random.Random, properties: tuple[Property, ...]) -> dict[str, Any]:
    """One row for tables that need no shrinking."""
    return {
        item.name: None if pick.random() < 0.2 else pick.choice(_VALUES[item.type])
        for item in properties
    }


def values(type_: PropertyType) -> st.SearchStrategy[Any]:
    return st.sampled_from(_VALUES[type_])


def optional_values(type_: PropertyType) -> st.SearchStrategy[Any]:
    return st.none() | values(type_)


def edge_rows() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({item.name: optional_values(item.type) for item in SCHEMA.edge})


def vertex_rows() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({item.name: optional_values(item.type) for item in SCHEMA.vertex})


PROPERTIES = [p.PropertyRef("edge", item.name, item.type) for item in SCHEMA.edge] + [
    p.PropertyRef(owner, item.name, item.type)  # type: ignore[arg-type]
    for owner in ("src", "dst")
    for item in SCHEMA.vertex
]


def constants(type_: PropertyType) -> st.SearchStrategy[p.Constant]:
    types = [type_]
    if type_.is_number:
        types = [PropertyType.INT, PropertyType.FLOAT]
    choices = [
        values(kind)
        .filter(lambda value: not (isinstance(value, float) and value != value))
        .map(lambda value, kind=kind: p.Constant(value, kind))  # type: ignore[misc]
        for kind in types
    ]
    return st.one_of(choices)


@st.composite
def atoms(draw: st.DrawFn) -> p.Atom:
    item = draw(st.sampled_from(PROPERTIES))
    shape = draw(st.sampled_from(["compare", "compare", "in", "null", "like", "property"]))
    if shape == "in":
        return p.InSet(item, tuple(draw(st.lists(constants(item.type), min_size=1, max_size=3))))
    if shape == "null":
        return p.IsNull(item)
    if shape == "like" and item.type is PropertyType.STRING:
        return p.Like(item, draw(st.sampled_from(["%", "_", "a%", "%A", "\\%", "", "it's", "a_"])))
    operator = draw(st.sampled_from(list(p.Operator)))
    if item.type is PropertyType.BOOL:
        operator = draw(st.sampled_from([p.Operator.EQ, p.Operator.NE]))
    if shape == "property":
        others = [
            other
            for other in PROPERTIES
            if other.type is item.type or (other.type.is_number and item.type.is_number)
        ]
        return p.Comparison(operator, item, draw(st.sampled_from(others)))
    return p.Comparison(operator, item, draw(constants(item.type)))


def predicates() -> st.SearchStrategy[p.Predicate]:
    return st.recursive(
        atoms() | st.booleans().map(p.Always),
        lambda inner: st.one_of(
            inner.map(p.Not),
            inner.map(p.IsTrue),
            st.lists(inner, min_size=2, max_size=3).map(lambda terms: p.And(tuple(terms))),
            st.lists(inner, min_size=2, max_size=3).map(lambda terms: p.Or(tuple(terms))),
        ),
        max_leaves=6,
    )
