"""Versions and collections planned the way of a hundred thousand: the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.plan.view_runs import row_classes

EDGES = 60


@pytest.fixture
def graph() -> gt.Graph:
    random = np.random.default_rng(2)
    return gt.Graph(*random.integers(0, 30, (2, EDGES)).tolist(), vertices=30)


def versions() -> dict[str, Any]:
    """Windows, outages of one and of two edges, random edges, nothing and everything."""
    numbers, random = np.arange(EDGES), np.random.default_rng(3)
    found: dict[str, Any] = {f"until {at}": numbers < at for at in range(0, EDGES + 1, 7)}
    found |= {f"without {at}": numbers != at for at in range(0, EDGES, 9)}
    found |= {f"without {at} and 5": (numbers != at) & (numbers != 5) for at in range(6, 30, 8)}
    return found | {f"random {at}": random.random(EDGES) < 0.5 for at in range(4)}


def planned_as_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("graphtide.plan.view_runs.packs", lambda views, rows: False)


@pytest.mark.parametrize("order", ["auto", "chain", "tree", "manual"])
def test_many_versions_have_the_results_of_few(
    graph: gt.Graph, monkeypatch: pytest.MonkeyPatch, order: Any
) -> None:
    few = graph.run(WCC, versions(), order=order)
    planned_as_many(monkeypatch)
    many = graph.run(WCC, versions(), order=order, verify=1)
    assert many.to_arrow().equals(few.to_arrow())


def test_both_ways_tell_the_same_rows_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = list(versions().values())
    one = row_classes(len(masks), EDGES, lambda at: masks[at])
    planned_as_many(monkeypatch)
    other = row_classes(len(masks), EDGES, lambda at: masks[at])
    assert one[1].classes == other[1].classes
    assert one[1].sizes().tolist() == other[1].sizes().tolist()
    pairs = set(zip(one[0].tolist(), other[0].tolist(), strict=True))
    assert len(pairs) == len({number for number, _ in pairs}) == len({at for _, at in pairs})
    for view, mask in enumerate(masks):
        for of_row, views in (one, other):
            held = np.append(views.held(view), False)
            assert held[of_row].tolist() == mask.tolist()
