"""Landmarks on graphs that change: what they say is what a plain search says, and answers stay.

The oracle is Dijkstra's algorithm on a list of edges, for every landmark, both ways, after every
step; bounds must hold for all pairs of vertices, not only for those that are asked.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator

import pytest

import graphtide as gt
from graphtide.engine.queries import landmarks, pool
from graphtide.engine.queries.engine import QueryEngine
from graphtide.engine.queries.landmarks import bounds_of
from graphtide.model.errors import LimitError
from tests.equivalence.query_cases import Beside

Step = tuple[int, int, float]
WHOLE, ROUNDED = (0.0, 1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 0.7, 1e-17, 1e16)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an index be small, and lack room often."""
    monkeypatch.setattr(pool, "_LEAST_ROOM", 4)
    monkeypatch.setattr(pool, "_LEAST_POOL", 4)
    monkeypatch.setattr(landmarks, "_LEAST", 2_000)


def plain_distances(steps: list[Step], vertices: int, start: int) -> list[float]:
    """By the textbook."""
    found = [math.inf] * vertices
    found[start] = 0.0
    waiting = [(0.0, start)]
    while waiting:
        cost, vertex = heapq.heappop(waiting)
        for source, target, more in steps:
            if source == vertex and cost + more < found[target]:
                found[target] = cost + more
                heapq.heappush(waiting, (cost + more, target))
    return found


def plain_steps(beside: Beside, weight: str | None, direction: str) -> list[Step]:
    found: list[Step] = []
    for edge in beside.edges:
        cost = 1.0 if weight is None else float(edge.cost)
        if direction != "in":
            found.append((edge.source, edge.target, cost))
        if direction != "out":
            found.append((edge.target, edge.source, cost))
    return found


def engine_of(beside: Beside) -> QueryEngine:
    engine = beside.graph._queries().engine
    assert isinstance(engine, QueryEngine)
    return engine


def indexes(beside: Beside) -> Iterator[tuple[str | None, str, landmarks.LandmarkIndex]]:
    """Each index with what its walks are."""
    engine = engine_of(beside)
    for number, index in engine.states.landmarks._indexes.items():
        search = engine.states.records[number].search
        out, into = (search.automaton.goes(back=back) for back in (False, True))
        yield search.weight, "both" if out and into else "out" if out else "in", index


def check_landmarks(beside: Beside, *, exact: bool) -> int:
    """How many landmarks there were to be checked."""
    count, checked = len(beside.ids), 0
    for weight, direction, index in indexes(beside):
        steps = plain_steps(beside, weight, direction)
        against = [(target, source, cost) for source, target, cost in steps]
        checked += len(index.vertices)
        for at, mark in enumerate(index.vertices):
            turned = at + index.marks.turned
            for number, way in ((at, steps), (turned, against)):
                known, _, costs = index._fixpoints.collect(number)
                found = dict(zip(known.tolist(), costs.tolist(), strict=True))
                plain = plain_distances(way, count, mark)
                wanted = {v: cost for v, cost in enumerate(plain) if cost < math.inf}
                assert found == wanted if exact else found == pytest.approx(wanted)
        for source in beside.ids:
            distances = plain_distances(steps, count, source)
            for target in beside.ids:
                least, most = bounds_of(index.marks, source, target)
                assert least <= distances[target] <= most, (source, target)
    return checked


def ask_pairs(beside: Beside, count: int) -> list[gt.queries.Query]:
    pick, found = beside.pick, []
    for at in range(count):
        pair = pick.choices(beside.ids, k=2)
        weight, bound = pick.choice([None, "cost"]), pick.choice([None, None, 2.0])
        way = pick.choice(["out", "in", "both"])
        found.append(beside.graph.query(f"q{at}", gt.queries.Path(*pair, weight, bound, way)))
    return found


@pytest.mark.parametrize(("seed", "choice"), [(0, "degree"), (1, "far")])
@pytest.mark.parametrize("costs", [WHOLE, ROUNDED])
def test_landmarks_are_right_while_most_edges_leave_and_come_back(
    seed: int, costs: tuple[float, ...], choice: str
) -> None:
    pick = random.Random(seed)
    beside = Beside(pick, 9, 26, costs)
    beside.graph.set_landmarks(gt.queries.Landmarks(3, choice))  # type: ignore[arg-type]
    beside.graph.set_budget("10 MB", patience=0)
    queries, exact = ask_pairs(beside, 8), costs is WHOLE
    checked = 0
    while beside.edges:
        beside.advance(pick.randrange(3), 4)
        checked += check_landmarks(beside, exact=exact)
        for query in queries:
            query.verify()
        assert engine_of(beside).budget.used == beside.graph._queries().nbytes
    assert checked > 0
    while beside.versions:
        beside.rollback()
        check_landmarks(beside, exact=exact)
        for query in queries:
            query.verify()
    assert engine_of(beside).budget.used == beside.graph._queries().nbytes


@pytest.mark.parametrize("seed", range(3))
def test_landmarks_come_and_go_with_the_budget(seed: int) -> None:
    """States, landmarks and answers change places all the time; nothing else does."""
    pick = random.Random(seed)
    beside = Beside(pick, 9, 26, WHOLE)
    queries = ask_pairs(beside, 8)
    for step in range(12):
        given = pick.choice([None, 1, 3, gt.queries.Landmarks(2, "far")])
        beside.graph.set_landmarks(given)
        used = engine_of(beside).budget.used
        try:
            share = pick.choice([0.4, 0.8, 1.0, 2.0, 8.0])
            beside.graph.set_budget(int(share * used), patience=pick.choice([0.0, 1.0]))
            beside.advance(pick.randrange(4), pick.randrange(6))
            if step % 4 == 3:
                beside.rollback()
                engine_of(beside)  # What the way back has lost may not fit: whoever asks is told.
        except LimitError:
            beside.graph.set_budget(None)
        check_landmarks(beside, exact=True)
        for query in queries:
            query.verify()
        budget = engine_of(beside).budget
        assert budget.used == beside.graph._queries().nbytes
        assert budget.most is None or budget.used <= budget.most


def test_landmarks_bound_walks_whose_labels_count() -> None:
    pick = random.Random(4)
    beside = Beside(pick, 8, 30, WHOLE)
    beside.graph.set_landmarks(3)
    beside.graph.set_budget("10 MB", patience=0)
    query = beside.graph.query("q", gt.queries.Regular("(a|^b)*", 0, 5, "kind", "cost"))
    for _ in range(8):
        beside.advance(2, 3)
        query.verify()
    assert engine_of(beside).states.landmarks.vertices
