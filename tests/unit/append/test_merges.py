"""Merges: when they are due, what they leave as it is, and what they number anew."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import graphtide as gt
from graphtide.store import next_state
from graphtide.store.graph import GraphState
from tests.changing import begin_graph, check_same, random_edge


def parts(graph: gt.CatalogGraph) -> int:
    return len(graph._stored.generation.parts("edges"))


def test_a_merge_is_due_when_reading_has_cost_more_than_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Appends of 10 rows to 112: 10 x (1 + 2 + 3 + ...) exceeds the rows at the seventh."""
    monkeypatch.setattr(next_state, "FILE_ROWS", 0)
    pick = random.Random(1)
    graph, known = begin_graph(tmp_path, pick, edges=100)
    merged = []
    for number in range(1, 10):
        rows = [random_edge(pick) for _ in range(10)]
        graph.append(rows)
        known.append(rows)
        total = 112 + 10 * number
        if not merged and 10 * number * (number - 1) // 2 > total:
            merged.append(number)
            assert len(graph._stored.states) == 1
        elif not merged:
            assert len(graph._stored.states) == number + 1
    assert merged == [7]
    check_same(graph, known)


def test_files_count_however_few_rows_they_hold(tmp_path: Path) -> None:
    pick = random.Random(2)
    graph, _ = begin_graph(tmp_path, pick, edges=50)
    for _ in range(4):
        graph.append([random_edge(pick)])
    assert len(graph._stored.states) == 1 + 4 - 3
    assert parts(graph) == 2


def test_a_merge_keeps_numbers_until_half_of_them_are_of_deleted_edges(tmp_path: Path) -> None:
    pick = random.Random(3)
    graph, known = begin_graph(tmp_path, pick, edges=20)
    identity = None
    for count, numbers in ((6, 20), (6, 8)):
        gone = known.edges[:count]
        graph.append(delete=gone)
        known.append(delete=gone)
        identity = graph._stored.identity
        graph.merge()
        assert graph._stored.numbers == numbers
        assert (graph._stored.identity == identity) == (numbers == 20)
        check_same(graph, known)
    graph.append(known.edges[:2])
    known.append(known.edges[:2])
    check_same(graph, known)


def test_the_rule_is_that_of_the_rows_not_merged_yet() -> None:
    states = [GraphState("a", 3, "g", 10, 100)]
    states += [GraphState(str(at), 3 + at, "g", 10, 100 + at, rows=at, files=1) for at in (1, 2, 3)]

    class Graph:
        pass

    graph = Graph()
    graph.states = states  # type: ignore[attr-defined]
    cost = next_state.reading_cost(graph)  # type: ignore[arg-type]
    assert cost == 2 * (1 + next_state.FILE_ROWS) + 1 * (2 + next_state.FILE_ROWS)
