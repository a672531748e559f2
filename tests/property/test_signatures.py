"""Views told from signatures equal views told from rows, whatever the predicates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.plan import predicates as p
from graphtide.plan.classes import classify_signatures
from graphtide.plan.signatures import Bucketing, Feature, SignatureLayout, layout_signatures
from tests.examples import examples
from tests.oracle.predicates import Row, holds, truth
from tests.property.strategies import edge_rows, predicates, vertex_rows

rows = st.builds(
    lambda edge, src, dst: {"edge": edge, "src": src, "dst": dst},
    edge_rows(),
    vertex_rows(),
    vertex_rows(),
)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(rows, min_size=1, max_size=12),
    st.lists(predicates(), min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from([0, 1, 2, 6, 64]),
)
def test_classes_say_what_the_rows_say(
    table: list[Row], views: list[p.Predicate], packed: bool, many: int
) -> None:
    layout = layout_signatures(views)
    signatures = [encode(layout, row) for row in table]
    distinct = sorted(set(signatures))
    counts = np.array([signatures.count(item) for item in distinct], np.int64)
    distinct_rows = np.array(distinct, np.int64).reshape(len(distinct), len(layout.columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphtide.plan.classes.packs", lambda views, rows: packed)
        patch.setattr("graphtide.plan.classes.MANY", many)
        classes = classify_signatures(layout, distinct_rows, counts, views)
    found = classes.views
    holding = np.stack([found.held(at) for at in range(len(views))], axis=1)
    for row, signature in zip(table, signatures, strict=True):
        number = classes.of_signature[distinct.index(signature)]
        expected = [holds(view, row) for view in views]
        assert expected == ([False] * len(views) if number < 0 else holding[number].tolist())
    sizes = [sum(holds(view, row) for row in table) for view in views]
    assert (found.weights @ holding).tolist() == found.sizes().tolist() == sizes
    assert len({tuple(row) for row in holding.tolist()}) == found.classes


def encode(layout: SignatureLayout, row: Row) -> tuple[int, ...]:
    numbers = []
    for column in layout.columns:
        number, radix = 0, 1
        for feature in (feature for word in column for feature in word.features):
            number += radix * code(feature, row)
            radix *= feature.size
        assert radix < 2**63
        numbers.append(number)
    return tuple(numbers)


def code(feature: Feature, row: Row) -> int:
    if not isinstance(feature, Bucketing):
        answer = truth(feature.atom, row)
        return 0 if answer is None else 1 + answer
    if row[feature.item.owner].get(feature.item.name) is None:
        return 0
    reached = [
        holds(p.Comparison(p.Operator.GE, feature.item, p.Constant(cut, feature.item.type)), row)
        for cut in feature.cuts
    ]
    assert reached == sorted(reached, reverse=True), "cuts are sorted"
    return 1 + sum(reached)


def test_a_thousand_windows_are_one_feature() -> None:
    year = p.PropertyRef("edge", "year", p.PropertyType.INT)
    views = [
        p.Comparison(p.Operator.LE, year, p.Constant(value, p.PropertyType.INT))
        for value in range(1000)
    ]
    (feature,) = layout_signatures(views).features
    assert isinstance(feature, Bucketing)
    assert feature.cuts == tuple(range(1, 1001))


def test_many_flags_take_several_words() -> None:
    name = p.PropertyRef("edge", "kind", p.PropertyType.STRING)
    views: list[Any] = [p.Like(name, f"%{value}%") for value in range(100)]
    layout = layout_signatures(views)
    assert len(layout.words) == 3
    assert len(layout.features) == 100
