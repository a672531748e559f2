"""Skipping and replay: the same answers with less reading, and never the square of a history."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.kernels.dataflow import layout
from graphtide.plan.dataflow_terms import col
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY
from tests.dataflow.test_library import naive_components
from tests.examples import examples

SIDE = 3
Change = tuple[int, int, int, int, int]
"""Two coordinates of a version, the ends of an edge, diff."""
changes = st.lists(
    st.tuples(
        st.integers(0, SIDE - 1),
        st.integers(0, SIDE - 1),
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from((1, 1, 2, -1, -1)),
    ),
    max_size=24,
)


def labels(flow: Dataflow, edges: Collection, end: str = "min") -> Collection:
    """Components in which all labels set out at once: many equal labels reach a vertex."""
    both = edges.concat(edges.map(src=col.dst, dst=col.src))
    start = both.map(node=col.src).distinct().map(node=col.node, label=col.node)
    with flow.loop() as loop:
        held = loop.variable(start)
        moved = held.join_map(both, on={"node": "src"}, node=col.dst, label=col.label)
        found = getattr(moved.concat(start), end)(by="node")
        held.set(found)
    return found.leave()  # type: ignore[no-any-return]


def legal(listed: list[Change]) -> list[Change]:
    """Of the changes those that leave no edge with a negative count at any version."""
    kept: list[Change] = []
    for change in listed:
        tried = [*kept, change]
        if all(min(live(tried, (p, q)).values()) >= 0 for p in range(SIDE) for q in range(SIDE)):
            kept = tried
    return kept


def live(listed: list[Change], version: tuple[int, int]) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for a, b, src, dst, diff in listed:
        found[src, dst] += diff if a <= version[0] and b <= version[1] else 0
    return found


@given(changes, st.booleans(), st.sampled_from((0, 1, 2)), st.sampled_from(("min", "max")))
@settings(deadline=None, max_examples=examples(120))
def test_two_coordinates_may_skip(
    given_changes: list[Change], at_once: bool, skipping: int, end: str
) -> None:
    """At every version (a, b), fed at once or one by one, all rules give the components."""
    kept = legal(given_changes)
    flow = Dataflow(memory=MEMORY, coordinates=2)
    flow.host.machine.words[layout.SKIPPING] = skipping
    edges = flow.input("edges", src=int, dst=int)
    output = labels(flow, edges, end).output()
    for a, b, src, dst, diff in kept:
        edges.update([(src, dst)], [diff], at=(a, b))
    if at_once:
        flow.advance_to((SIDE, 0), (0, SIDE))
    else:
        for a in range(SIDE):
            for b in range(SIDE):
                flow.advance_to((a, b + 1), (a + 1, 0))
    found = output.changes()
    for version in ((p, q) for p in range(SIDE) for q in range(SIDE)):
        total: Counter[Any] = Counter()
        for record, (a, b), diff in found:
            total[record] += diff if a <= version[0] and b <= version[1] else 0
        pairs = [pair for pair, count in live(kept, version).items() if count > 0]
        assert {r: c for r, c in total.items() if c} == expected(pairs, end)


def expected(pairs: list[tuple[int, int]], end: str) -> dict[tuple[int, int], int]:
    found = dict(naive_components(pairs))
    if end == "max":
        largest: dict[int, int] = {}
        for node, label in found.items():
            largest[label] = max(largest.get(label, node), node)
        found = {node: largest[label] for node, label in found.items()}
    return dict.fromkeys(found.items(), 1)


@pytest.mark.compiled
@pytest.mark.parametrize("versions", [1, 4])
def test_equal_labels_taken_away_are_skipped_by_counting(versions: int) -> None:
    """A dense graph loses most of its edges, a few at a time; every version is right."""
    counts = {}
    for skipping in (0, 1, 2):
        flow = Dataflow(memory=MEMORY)
        flow.host.machine.words[layout.SKIPPING] = skipping
        edges = flow.input("edges", src=int, dst=int)
        output = labels(flow, edges).output()
        present = [(a, b) for a in range(24) for b in range(a + 1, 24)]
        edges.insert(present)
        flow.advance()
        version = 1
        gone = [present[(7 * turn) % len(present)] for turn in range(len(present))]
        for start in range(0, 256, 4):
            for step in range(4):
                edges.remove([gone[start + step]], at=version + step * versions // 4)
            version += versions
            flow.advance_to(version)
            left = set(gone[: start + 4])
            rest = [pair for pair in present if pair not in left]
            assert output.records() == dict.fromkeys(naive_components(rest), 1)
        counts[skipping] = [
            sum(item.get(name, 0) for item in flow.counters().values())
            for name in ("recomputed", "skipped")
        ]
    assert counts[0][1] == 0 < counts[1][1] < counts[2][1]
    assert counts[2][0] < counts[1][0] < counts[0][0]


@pytest.mark.compiled
@pytest.mark.parametrize("versions", [500, 1000])
def test_many_versions_of_a_key_take_their_number_not_its_square(versions: int) -> None:
    """Each version replaces the minimum; what looks go through is counted."""
    flow = Dataflow(memory=MEMORY)
    items = flow.input("items", key=int, value=int)
    output = items.min(by="key").output()
    for version in range(versions):
        items.insert([(0, 5 * versions - version)], at=version)
        items.remove([(0, 5 * versions - version)], at=version + 1)
    flow.advance_to(versions + 1)
    assert len(output.changes()) == 2 * versions
    assert int(flow.host.machine.words[layout.ROWS_TOLD_APART]) <= 8 * versions


@pytest.mark.parametrize("side", [8, 16, pytest.param(24, marks=pytest.mark.compiled)])
def test_a_grid_of_versions_is_bounded_by_looks_times_a_side(side: int) -> None:
    """Each version (a, b) has a record of its own: the history is the grid, what counts a side."""
    flow = Dataflow(memory=MEMORY, coordinates=2)
    items = flow.input("items", key=int, value=int)
    output = items.min(by="key").output()
    values = {(a, b): 1000 - a * side - b for a in range(side) for b in range(side)}
    for (a, b), value in values.items():
        for p, q, diff in ((a, b, 1), (a + 1, b, -1), (a, b + 1, -1), (a + 1, b + 1, 1)):
            if p < side and q < side:
                items.update([(0, value)], [diff], at=(p, q))
    for a in range(side):
        flow.advance_to((a, side), (a + 1, 0))
    total: Counter[Any] = Counter()
    found = output.changes()
    for (a, b), value in values.items():
        total.clear()
        for record, (p, q), diff in found:
            total[record] += diff if p <= a and q <= b else 0
        assert {r: c for r, c in total.items() if c} == {(0, value): 1}
    read = int(flow.host.machine.words[layout.ROWS_TOLD_APART])
    looks = sum(item.get("recomputed", 0) for item in flow.counters().values())
    assert looks <= 2 * side * side
    assert read <= 10 * looks * side
