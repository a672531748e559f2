"""What predicates mean: the text read naively against the plan it resolves to, row by row.

The reading here goes over the syntax tree with three-valued logic of its own; the plan is
evaluated by the oracle. Both see rows with missing values.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.lang.gvdl import tree as t
from graphtide.lang.gvdl.lower import lower_views
from graphtide.lang.gvdl.parse import parse_predicate
from graphtide.lang.gvdl.resolve import resolve_predicate
from graphtide.lang.gvdl.unparse import unparse
from graphtide.model.schema import PropertyType
from graphtide.plan.predicates import Operator
from tests.examples import examples
from tests.oracle.predicates import Row, holds, truth
from tests.property.strategies import SCHEMA, edge_rows, vertex_rows

MANY = settings(deadline=None, max_examples=examples(200))
P = PropertyType
PROPERTIES = [("edge", item.name, item.type) for item in SCHEMA.edge] + [
    (owner, item.name, item.type) for owner in ("src", "dst") for item in SCHEMA.vertex
]
SIMPLE: dict[PropertyType, list[Any]] = {
    P.INT: [-1, 0, 1, 2, 0.5],
    P.FLOAT: [-1.5, 0.0, 0.5, 1, 2],
    P.STRING: ["", "a", "CA", "it's", "é"],
    P.BOOL: [True, False],
    P.DATE: [dt.date(2020, 2, 28), "2020-02-29"],
    P.TIMESTAMP: [
        dt.datetime(2020, 1, 1, 1),
        dt.datetime(2020, 1, 1, 3, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        "2020-01-01 02:00:00",
        dt.date(2020, 1, 1),
    ],
}
rows = st.fixed_dictionaries({"edge": edge_rows(), "src": vertex_rows(), "dst": vertex_rows()})


def typed(value: Any, kind: PropertyType) -> Any:
    """A literal as a value of the property's type, in UTC."""
    if kind == P.DATE and isinstance(value, str):
        return dt.date.fromisoformat(value)
    if kind == P.TIMESTAMP:
        if isinstance(value, str):
            value = dt.datetime.fromisoformat(value)
        if not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        return value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    return value


def kind_of(node: t.Operand) -> PropertyType | None:
    if isinstance(node, t.PropertyName):
        return next(k for o, n, k in PROPERTIES if (o, n) == (node.owner, node.name))
    return None


def read(node: Any, row: Row, kind: PropertyType | None) -> Any:
    if isinstance(node, t.PropertyName):
        return row[node.owner].get(node.name)
    assert kind is not None
    return typed(node.value, kind)


def both(left: Any, right: Any, row: Row) -> tuple[Any, Any]:
    kind = kind_of(left) or kind_of(right)
    return read(left, row, kind), read(right, row, kind)


def ordered(one: Any, other: Any) -> int:
    """NaN is above everything and equal to itself, as in Spark."""
    if one != one or other != other:
        return int(one != one) - int(other != other)
    return int(one > other) - int(one < other)


def naive(node: Any, row: Row) -> bool | None:
    match node:
        case t.Compare(operator, left, right):
            one, other = both(left, right, row)
            if one is None or other is None:
                return None
            order = ordered(one, other)
            answers = {"=": order == 0, "<>": order != 0, "<": order < 0}
            answers |= {"<=": order <= 0, ">": order > 0, ">=": order >= 0}
            return answers[str(operator)]
        case t.Between(operand, low, high, negated):
            ends = (t.Compare(Operator.LE, low, operand), t.Compare(Operator.LE, operand, high))
            return flip(naive(t.And(ends), row), negated)
        case t.InList(operand, values, negated):
            value = read(operand, row, None)
            listed = [typed(item.value, kind_of(operand)) for item in values]  # type: ignore[arg-type, union-attr]
            found = None if value is None else any(ordered(value, x) == 0 for x in listed)
            return flip(found, negated)
        case t.NullTest(operand, negated):
            return flip(read(operand, row, None) is None, negated)
        case t.LikeTest(operand, pattern, negated):
            value = read(operand, row, None)
            form = re.escape(pattern.value).replace("%", ".*").replace("_", ".")  # type: ignore[union-attr, arg-type]
            matched = None if value is None else bool(re.fullmatch(form, value, re.DOTALL))
            return flip(matched, negated)
        case t.TruthTest(term, value, negated):
            return flip(naive(term, row) is value, negated)
        case t.Not(term):
            return flip(naive(term, row), True)
        case t.And(terms):
            found_all = [naive(term, row) for term in terms]
            return False if False in found_all else None if None in found_all else True
        case t.Or(terms):
            found_all = [naive(term, row) for term in terms]
            return True if True in found_all else None if None in found_all else False
        case t.PropertyName():
            return read(node, row, None)
        case t.Literal(value):
            return bool(value)
    raise AssertionError(node)


def flip(value: bool | None, negated: bool) -> bool | None:
    return value if value is None or not negated else not value


@st.composite
def atoms(draw: st.DrawFn) -> Any:
    owner, name, kind = draw(st.sampled_from(PROPERTIES))
    item = t.PropertyName(name, owner)  # type: ignore[arg-type]
    literal = st.sampled_from(SIMPLE[kind]).map(t.Literal)
    negated = draw(st.booleans())
    shape = draw(st.sampled_from(["compare", "flipped", "in", "between", "null", "like", "two"]))
    operators = [Operator.EQ, Operator.NE] if kind == P.BOOL else list(Operator)
    operator = draw(st.sampled_from(operators))
    if shape == "in":
        return t.InList(item, tuple(draw(st.lists(literal, min_size=1, max_size=3))), negated)
    if shape == "between" and kind != P.BOOL:
        return t.Between(item, draw(literal), draw(literal), negated)
    if shape == "null":
        return t.NullTest(item, negated)
    if shape == "like" and kind == P.STRING:
        return t.LikeTest(item, t.Literal(draw(st.sampled_from(["%", "_", "a%", "%A"]))), negated)
    if shape == "like" and kind == P.BOOL:
        return item
    if shape == "flipped":
        return t.Compare(operator, draw(literal), item)
    if shape == "two":
        same = [p for p in PROPERTIES if p[2] == kind or (p[2].is_number and kind.is_number)]
        other = draw(st.sampled_from(same))
        return t.Compare(operator, item, t.PropertyName(other[1], other[0]))  # type: ignore[arg-type]
    return t.Compare(operator, item, draw(literal))


@st.composite
def predicates(draw: st.DrawFn) -> Any:
    return draw(
        st.recursive(
            atoms() | st.booleans().map(t.Literal),
            lambda inner: st.one_of(
                st.builds(t.Not, inner),
                st.builds(t.TruthTest, inner, st.booleans(), st.booleans()),
                st.lists(inner, min_size=2, max_size=3).map(lambda terms: t.And(tuple(terms))),
                st.lists(inner, min_size=2, max_size=3).map(lambda terms: t.Or(tuple(terms))),
            ),
            max_leaves=6,
        )
    )


class NoFacts:
    """A graph that nothing may be asked of."""

    def bounds(self, *_: Any) -> Any:
        raise AssertionError("nothing to ask")

    edges = vertices = bounds


@MANY
@given(predicates(), st.lists(rows, min_size=1, max_size=6))
def test_a_resolved_predicate_means_what_was_written(node: Any, table: list[Row]) -> None:
    resolved = resolve_predicate(node, SCHEMA)
    again = resolve_predicate(parse_predicate(unparse(node)), SCHEMA)
    assert again == resolved
    for row in table:
        assert truth(resolved, row) == naive(node, row)


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(predicates(), min_size=1, max_size=4),
    st.integers(1, 4),
    st.lists(rows, min_size=1, max_size=4),
)
def test_removed_views_take_away_only_what_is_true(
    nodes: list[Any], count: int, table: list[Row]
) -> None:
    count = min(count, len(nodes))
    items = tuple(t.View(node, f"v{i}") for i, node in enumerate(nodes))
    lowered = lower_views((t.Combinations(count, items),), SCHEMA, NoFacts())
    chosen = list(itertools.combinations(range(len(nodes)), count))
    names = ["without " + ", ".join(f"v{i}" for i in choice) for choice in chosen]
    assert [view.name for view in lowered.views] == names
    for view, choice in zip(lowered.views, chosen, strict=True):
        for row in table:
            removed = any(naive(nodes[i], row) is True for i in choice)
            assert holds(view.predicate, row) == (not removed)


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(st.lists(predicates(), min_size=1, max_size=3), min_size=2, max_size=3),
    st.none() | predicates(),
    st.lists(rows, min_size=1, max_size=4),
)
def test_a_product_joins_every_choice_of_factors(
    factors: list[list[Any]], within: Any, table: list[Row]
) -> None:
    groups = tuple(
        t.Group(tuple(t.View(node, f"{i}") for i, node in enumerate(factor))) for factor in factors
    )
    lowered = lower_views(t.ViewList((t.Product(groups),), within), SCHEMA, NoFacts())
    chosen = list(itertools.product(*(range(len(factor)) for factor in factors)))
    assert [view.name for view in lowered.views] == [" * ".join(map(str, c)) for c in chosen]
    for view, choice in zip(lowered.views, chosen, strict=True):
        terms = [factor[i] for factor, i in zip(factors, choice, strict=True)]
        terms += [within] if within is not None else []
        for row in table:
            assert holds(view.predicate, row) == all(naive(term, row) is True for term in terms)
