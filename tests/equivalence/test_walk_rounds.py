"""Walks that read state, followed round by round, against the oracle after every step.

Batches delete as much as they insert, vertices come, and advances are rolled back in any number. It
is not enough that results agree: so must the state that every round ended with, since the next
advance begins with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.engine.walks.matches import RowChange
from graphtide.plan import walks as w
from tests.equivalence.walk_cases import History, agree
from tests.equivalence.walk_round_cases import (
    far_labels,
    far_ranks,
    level_edges,
    levels,
    lone_counters,
    rising_ranks,
    spread,
)
from tests.oracle.walks import run
from tests.property.walk_round_plans import round_programs
from tests.resident_graphs import bring_in

PROGRAMS = {
    "Labels": far_labels(),
    "Ranks": far_ranks(),
    "Levels": levels(),
    "Edges between levels": level_edges(),
    "Counters": lone_counters(),
    "Rising ranks": rising_ranks(),
    "Spread": spread(),
}
NAMES = [
    pytest.param(name, marks=() if name == "Labels" else pytest.mark.interpreted)
    for name in PROGRAMS
]


class GrowingHistory(History):
    """A history whose graph gets vertices too; weights are such that sums of them are exact."""

    def __init__(self, program: w.WalkProgram, seed: int, vertices: int = 7) -> None:
        super().__init__(program, vertices, 30, seed)
        self.maintainer.anew_share = 0 if seed % 5 else 4
        self.done: list[Any] = []

    def _row(self, vertices: int) -> tuple[int, int, dict[str, Any]]:
        *ends, values = super()._row(vertices)
        return *ends, {**values, "weight": self.random.choice((-1.5, 0.0, 0.5, 2.0, 0.25))}

    def flip(self, inserted: list[int], deleted: list[int]) -> Any:
        self.live.update(inserted)
        self.live.difference_update(deleted)
        return self.graph.flip(self._inside(inserted), self._inside(deleted))

    def _inside(self, edges: list[int]) -> Any:
        """Numbers of edges in the graph: those that came later keep their place."""
        numbers = self.graph.numbers
        return np.array([numbers[at] if at < len(numbers) else at for at in edges], np.int32)

    def advance(self) -> Any:
        """A batch at random, with a vertex or two that come once in a while."""
        before, known = self.graph.vertices, self.graph.edges
        come, gone = self.batch()
        if self.random.random() < 0.3:
            return self._grow(before, known)
        delta = self.flip(come, gone)
        self.done.append((before, known, come, gone))
        return self.maintainer.follow(delta)

    def _grow(self, before: int, known: int) -> Any:
        count = self.random.choice((1, 1, 2))
        self.graph.append_vertices(count)
        self.given_vertices += [self._vertex() for _ in range(count)]
        rows = [self._row(before + count) for _ in range(self.random.randrange(3))]
        for at, (_, _, values) in enumerate(rows):  # No edge that left is the same, and comes back.
            values["kind"] = 10 + len(self.rows) + at
        lines = [(src, dst, *row.values()) for src, dst, row in rows]
        _, delta = bring_in(self.graph, lines)
        come = list(range(len(self.rows), len(self.rows) + len(rows)))
        self.rows += rows
        self.live.update(come)
        self.done.append((before, known, come, []))
        return self.maintainer.follow(delta)

    def undo(self) -> None:
        before, known, come, gone = self.done.pop()
        self.maintainer.undo()
        if self.graph.edges != known:
            numbers = np.arange(known, self.graph.edges, dtype=np.int32)
            self.graph.flip(np.empty(0, np.int32), numbers)
            self.live.difference_update(come)
            del self.rows[known:]
        else:
            self.flip(gone, come)
        self.graph.forget(before, known)
        del self.given_vertices[before:]

    def check(self) -> None:
        super().check()
        rounds, before = self.maintainer.rounds(), None
        patient = "Iteration()" in repr(self.program.update)
        for iteration, states in enumerate(rounds):
            program = replace(self.program, iterations=iteration)
            edges = [self.rows[at] for at in sorted(self.live)]
            count, given = self.graph.vertices, self.given_vertices
            expected = run(program, self.given, count, edges, given=given).state
            for name, column in expected.items():
                assert agree(column, states[name].tolist()), (iteration, name)
            goes_on = patient or expected != before or iteration + 1 == len(rounds)
            assert goes_on, "a round behind the end"
            before = expected


def follow_rounds(program: w.WalkProgram, seed: int, steps: int) -> None:
    history = GrowingHistory(program, seed)
    maintainer = history.maintainer
    maintainer.start()
    history.check()
    for _ in range(steps):
        names = (*maintainer.fields, *maintainer.matches)
        before = {name: maintainer.values(name).copy() for name in names}
        changes = history.advance()
        history.check()
        for name, change in changes.items():
            if isinstance(change, RowChange):
                before[name].update(change.appeared)
                before[name].subtract(change.disappeared)
                assert before[name] == maintainer.values(name)
                continue
            known = change.vertices < len(before[name])
            before[name][change.vertices[known]] = change.new[known]
            assert agree(
                before[name].tolist(), maintainer.values(name)[: len(before[name])].tolist()
            )
        while history.done and history.random.random() < 0.3:
            history.undo()
            history.check()
    maintainer.verify()
    while history.done:
        history.undo()
        history.check()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", range(8))
def test_programs_by_hand(name: str, number: int) -> None:
    follow_rounds(PROGRAMS[name], number, steps=12)


@pytest.mark.interpreted
@given(round_programs(), st.integers(0, 10_000))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_programs(program: w.WalkProgram, number: int) -> None:
    follow_rounds(program, number, steps=6)


@gt.program
class EvenLabels:
    """The least number within any even number of steps, and the ends of steps that agree."""

    label: int
    best = gt.Min(int)
    agreeing = gt.Matches(one=gt.Vertex, other=gt.Vertex)

    def initialize(self, v):  # type: ignore[no-untyped-def]
        v.label = v.id

    def traverse(self, u):  # type: ignore[no-untyped-def]
        for v in u.neighbours:
            if u < v and u.label == v.label:
                self.agreeing(u, v)
            for far in v.neighbours:
                far.best(u.label)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.label = min(v.label, v.best)


@pytest.mark.interpreted
def test_a_graph_that_begins_without_vertices() -> None:
    graph = gt.Graph([], [])
    live = graph.maintain(EvenLabels)
    assert live["label"].tolist() == [] == live.matches().to_pylist()
    for _ in range(2):
        live.advance(insert=[("a", "b"), ("b", "c"), ("c", "d")])
        assert live["label"].tolist() == ["a", "b", "a", "b"]
        live.advance(insert=[("a", "c")])
        assert live["label"].tolist() == ["a"] * 4
        pairs = [(row["one"], row["other"]) for row in live.matches().to_pylist()]
        assert pairs == [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]
        live.verify()
        live.rollback()
        live.rollback()
        assert live["label"].tolist() == [] == live.matches().to_pylist()
    assert graph.run(EvenLabels, {"none": []}, verify=1).table("none").num_rows == 0
