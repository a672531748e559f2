"""What tasks tell of their vertices, joined, is what the whole results say: by plain Python."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from graphtide.engine.shards.local_graph import LocalGraph, Placement
from graphtide.run.collection.figures import (
    exact_sum,
    figure_of,
    joined,
    missing_end,
    partial_figure,
)
from graphtide.run.collection.ranking import LED, joined_leaders, partial_leaders
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.tasks import Summing
from tests.equivalence.sharded import pairs_of_sockets
from tests.oracle import summaries as plain

ODD = [0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan, 1e16, 1.0, -1e-300]

INT_ENDS = (2**63 - 1, -(2**63))
INFINITIES = (np.inf, -np.inf)


def drawn(pick: random.Random, kind: str, size: int) -> np.ndarray:
    if kind == "bool":
        return np.array([pick.random() < 0.5 for _ in range(size)], np.bool_)
    if kind == "int":
        return np.array([pick.choice([0, -3, 2**62, *INT_ENDS]) for _ in range(size)], np.int64)
    values = [pick.choice(ODD) if pick.random() < 0.4 else pick.gauss(0, 1e3) for _ in range(size)]
    return np.array(values, np.float64)


def same(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))


@pytest.mark.parametrize("kind", ["bool", "int", "float"])
def test_joined_figures_and_leaders(kind: str) -> None:
    pick = random.Random(f"partial figures {kind}")
    for turn in range(60):
        size = pick.choice([0, 1, 2, 7, 40, 3 * LED])
        values, base = drawn(pick, kind, size), drawn(pick, kind, size)
        ends = INFINITIES if kind == "float" else INT_ENDS
        if kind != "bool" and turn % 3:
            base = np.full(size, pick.choice(ends), values.dtype)
        vertices = np.array(pick.sample(range(10**6), size), np.int64)
        cuts = sorted(pick.randrange(size + 1) for _ in range(pick.choice([0, 1, 3])))
        pieces = [slice(*both) for both in zip([0, *cuts], [*cuts, size], strict=True)]
        told = joined([partial_figure(values[at], base[at]) for at in pieces])
        found = figure_of(told, whole=kind == "int")
        at = next((at for at in (0, 1) if 2 * (base == ends[at]).sum() >= size > 0), None)
        missing = None if kind == "bool" or at is None else ends[at]
        if kind == "bool":
            expected: dict[str, Any] = {"true": sum(values.tolist())}
        else:
            expected = plain.numbers(values.tolist(), missing)
        assert found.keys() == expected.keys()
        assert all(same(found[name], expected[name]) for name in found), (found, expected)
        assert kind == "bool" or missing_end(told) == at
        far = missing == ends[0]
        led = joined_leaders([partial_leaders(values[at], vertices[at], far=far) for at in pieces])
        order = np.argsort(vertices)
        first = plain.order(values[order].tolist(), missing if far else None)[:LED]
        assert led["vertices"] == vertices[order][first].tolist()
        assert all(map(same, led["values"], values[order][first].tolist()))


def test_sums_are_exact_whatever_their_order() -> None:
    pick = random.Random("exact sums")
    values = [
        pick.choice([-1, 1]) * pick.random() * 2.0 ** pick.randrange(-1070, 1023)
        for _ in range(999)
    ]
    total = sum(map(Fraction, values))
    assert Fraction(exact_sum(np.array(values)), 2**1126) == total
    whole = np.array([2**63 - 1, 2**63 - 1, -(2**63), -5], np.int64)
    assert exact_sum(whole) == sum(whole.tolist())
    assert exact_sum(whole[:0]) == 0


@pytest.mark.parametrize("tasks", [1, 2, 3, 7])
def test_owners_count_components(tasks: int) -> None:
    pick = random.Random(f"owners {tasks}")
    for shards, vertices in ((7, 40), (5, 3), (1, 9), (7, 0)):
        labels = np.array([pick.randrange(at + 1) for at in range(vertices)], np.int64)
        far = np.where(labels % 3 == 0, np.inf, 1.0)
        told = told_by(tasks, Placement(vertices, shards, tasks), labels, far)
        found = joined([item["figures"]["component"] for item in told])
        assert found == plain.components(labels.tolist())
        assert all("component" not in item["leaders"] for item in told)
        is_far = 2 * np.count_nonzero(far == np.inf) >= vertices > 0
        assert {item["leaders"]["hops"]["far"] for item in told} == {is_far}


def told_by(tasks: int, placed: Placement, labels: np.ndarray, hops: np.ndarray) -> list[Any]:
    """What each of some tasks tells of labels, and of hops that are the same without edges."""
    sockets = pairs_of_sockets(tasks)

    def go(task: int) -> dict[str, Any]:
        graph, mesh = LocalGraph(placed, task, {}, {}), Sockets(task, sockets[task])
        base = {"component": graph.own, "hops": hops[graph.own]}
        try:
            summing = Summing(graph, mesh, base, "component")
            return summing.told({**base, "component": labels[graph.own]})
        finally:
            mesh.close()

    with ThreadPoolExecutor(tasks) as pool:
        return list(pool.map(go, range(tasks)))
