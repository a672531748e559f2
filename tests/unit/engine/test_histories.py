"""Histories: what is refused and told, bytes that are true and come back, work that is counted."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.histories import arrays
from graphtide.engine.histories import engine as engines
from graphtide.engine.histories import state as starting
from graphtide.engine.histories.arrays import HistoryPool
from graphtide.kernels.histories import rows as records
from graphtide.model.errors import LimitError
from tests.equivalence.query_cases import Beside, Watched, ask
from tests.equivalence.test_histories import SETTINGS, check_state, engine_of
from tests.equivalence.test_queries import NODE

Histories = gt.queries.Histories
Path = gt.queries.Path


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"drop": 1.5}, "drop cannot be 1.5"),
        ({"drop": True}, "drop cannot be True"),
        ({"how": "maybe"}, "how cannot be 'maybe'"),
        ({"policy": "best"}, "policy cannot be 'best'"),
        ({"degrees": (5, 2)}, "degrees cannot be"),
        ({"degrees": 3}, "degrees cannot be"),
        ({"seed": -1}, "seed cannot be -1"),
        ({"join_on_demand": 1}, "join_on_demand cannot be 1"),
        ({"join_on_demand": False, "drop": 0.5}, "messages of the join are kept"),
    ],
)
def test_settings_that_cannot_be_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(gt.GraphtideError, match=said):
        Histories(**given)


def test_anything_else_is_refused_by_the_graph() -> None:
    with pytest.raises(gt.GraphtideError, match="cannot be kept by 'histories'"):
        gt.Graph([1], [2], queries="histories")  # type: ignore[arg-type]


@pytest.mark.parametrize("how", SETTINGS)
def test_memory_comes_back_when_queries_go(how: Any) -> None:
    pick = random.Random(1)
    beside = Beside(pick, 20, 90, queries=how)
    beside.graph.query("stays", Path(0, 1))
    least = 0
    for turn in range(4):
        for at in range(5):
            ask(beside, f"q{at}", ("(a|^b)*/!c?", NODE))
        beside.advance(2, 2)
        check_state(beside)
        for at in range(5):
            beside.graph.drop_query(f"q{at}")
        check_state(beside)
        engine = engine_of(beside.graph)
        size = sum(pool.nbytes for pool in engine.state.pools) + engine.state.filters.nbytes
        least = size if turn == 1 else least
        assert turn < 2 or size <= 2 * least
    beside.graph.queries["stays"].verify()


def test_bytes_of_queries_are_those_of_their_differences() -> None:
    chain = gt.Graph([1, 2, 3], [2, 3, 4], queries=Histories())
    query = chain.query("far", Path(1, 4))
    assert query.nbytes == 4 * 6  # A key with an iteration and a cost for each of four vertices.
    assert chain.query_bytes > query.nbytes
    kept = gt.Graph([1, 2, 3], [2, 3, 4], queries=Histories(join_on_demand=False))
    assert kept.query("far", Path(1, 4)).nbytes == 4 * 6 + 3 * 10


def test_costs_that_need_64_bits_are_held_exactly() -> None:
    for how in SETTINGS:
        graph = gt.Graph([1, 2], [2, 3], km=[0.1, 0.2], queries=how)
        assert graph.query("far", Path(1, 3, weight="km")).value == 0.1 + 0.2
        graph.advance([(1, 3, 0.3)])
        assert graph.queries["far"].value == min(0.1 + 0.2, 0.3)
        graph.rollback()
        assert graph.queries["far"].value == 0.1 + 0.2


@pytest.mark.parametrize("cost", [65_534, 65_535, 2**40])
def test_costs_beyond_small_ones_are_held_exactly(cost: int) -> None:
    for how in SETTINGS:
        graph = gt.Graph([1, 2], [2, 3], km=[cost, 1], queries=how)
        query = graph.query("far", Path(1, 3, weight="km"))
        assert query.value == cost + 1
        graph.advance([(1, 3, cost)])
        assert query.value == cost
        graph.rollback()
        query.verify()


@pytest.mark.parametrize(
    "how",
    [Histories(), Histories(join_on_demand=False), Histories(drop=0.0, degrees=(2, 5))],
)
def test_searches_of_many_iterations(how: Any) -> None:
    """A chain of 262 edges: iterations beyond eight bits, in a batch and at a start."""
    graph = gt.Graph(range(250), range(1, 251), vertices=263, queries=how)
    short, far = graph.query("short", Path(0, 9)), graph.query("far", Path(0, 262))
    graph.advance([(at, at + 1) for at in range(250, 262)])
    assert far.value == 262
    graph.advance([(0, 260)])
    assert far.value == 3
    graph.rollback()
    graph.query("whole", gt.queries.Reach(0)).verify()
    assert far.value == 262
    graph.rollback()
    assert (far.value, short.value) == (None, 9)


def test_keys_that_histories_cannot_tell_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_KEYS", 2)
    graph = gt.Graph([1], [2], queries=Histories())
    for target in (1, 2):
        graph.query(f"to {target}", Path(1, target))
    with pytest.raises(LimitError, match="no more than 2 states in all"):
        graph.query("one more", Path(2, 1))
    assert list(graph.queries) == ["to 1", "to 2"]


def test_explain_tells_the_setting_and_what_is_dropped() -> None:
    graph = gt.Graph([1, 2, 3], [2, 3, 4], queries=Histories(drop=1.0, policy="random"))
    query = graph.query("far", Path(1, 4))
    lines = query.explain().splitlines()
    assert "mode: histories, join on demand, 100% dropped by random, deterministic" in lines
    assert "state: 1 differences, 3 more dropped (75%), 0 recomputed, 18 bytes" in lines
    assert query.path() == [1, 2, 3, 4]
    assert "0 recomputed" not in query.explain()


def test_the_degree_policy_keeps_hubs_and_drops_leaves() -> None:
    leaves = list(range(2, 12))
    graph = gt.Graph([0, *[1] * 10], [1, *leaves], queries=Histories(drop=0.0, degrees=(2, 5)))
    graph.query("all", gt.queries.Reach(0))
    engine = engine_of(graph)
    assert (engine.entries(0), engine.dropped(0)) == (2, 10)


def test_a_filter_that_is_full_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_LEAST_FILTER", 1)
    pick = random.Random(5)
    beside = Beside(pick, 14, 10, queries=Histories(drop=1.0, how="probabilistic", policy="random"))
    watched = [ask(beside, f"q{at}", ("(a|^b)*/!c?", NODE)) for at in range(3)]
    beside.graph.query("grows", gt.queries.Reach(0))
    engine = engine_of(beside.graph)
    number = beside.graph._queries().get("grows").numbers[0]
    size, renewed = engine.state.filters.fact(number, records.SIZE), 0
    for _ in range(20):
        beside.advance(4, 3)
        check_all(beside, watched, advanced=True)
        if engine.state.filters.fact(number, records.SIZE) != size:
            renewed += 1
            beside.rollback()  # What was dropped before is not in the new filter.
            check_all(beside, watched, advanced=False)
            engine = engine_of(beside.graph)
            number = beside.graph._queries().get("grows").numbers[0]
            size = engine.state.filters.fact(number, records.SIZE)
    assert renewed > 0


def check_all(beside: Beside, watched: list[Watched], *, advanced: bool) -> None:
    for item in watched:
        item.check(advanced=advanced)
    check_state(beside)


def test_too_many_iterations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "MOST_ITERATIONS", 3)
    graph = gt.Graph([1, 2, 3, 4], [2, 3, 4, 5], queries=Histories())
    with pytest.raises(gt.GraphtideError, match="more than 3 iterations"):
        graph.query("far", Path(1, 5))
    assert list(graph.queries) == []
    monkeypatch.setattr(starting, "MOST_DENSE", 3)
    with pytest.raises(gt.GraphtideError, match="more than a query by histories can begin with"):
        graph.query("far", Path(1, 5))


def test_an_edge_that_matters_to_nobody_evaluates_nobody() -> None:
    graph = gt.Graph([1, 2, 3], [2, 3, 4], queries=Histories())
    graph.query("far", Path(1, 4))
    graph.advance([(4, 1)])
    assert engine_of(graph).state.work.counts[records.EVALUATED] == 0
    graph.advance([(1, 4)])
    # At iteration 1, and at 3, where it had a difference before.
    assert engine_of(graph).state.work.counts[records.EVALUATED] == 2


def test_logs_are_limited_and_rolling_back_further_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "LEAST", 0)
    monkeypatch.setattr(engines, "SHARE", 1 << 40)
    beside = Beside(random.Random(2), 10, 40, queries=Histories(drop=0.5, policy="random"))
    watched = ask(beside, "q", ("(a|^b)*/!c?", NODE))
    for _ in range(4):
        beside.advance(3, 3)
    assert engine_of(beside.graph).undoable == 1
    for _ in range(4):
        beside.rollback()
        watched.check(advanced=False)
        check_state(beside)


def test_a_pool_that_was_swept_and_still_lacks_room_grows() -> None:
    pool = HistoryPool(4, "key", "small")
    pool._top[0] = 60  # Left behind by rows, all of it.
    nobody = np.full(1, -1, np.int32)
    pool.grow(nobody)
    assert pool._top[0] == 0
    swept, pool._top[0] = pool.nbytes, 60
    pool.grow(nobody)
    assert pool.nbytes > swept
    pool.at_rest()
    pool.grow(nobody)
    assert pool._top[0] == 0


def test_vertices_that_came_go_with_a_rollback() -> None:
    graph = gt.Graph([1, 2], [2, 3], queries=Histories())
    reach = graph.query("reach", gt.queries.Reach(1))
    graph.advance([(3, 4), (4, 5)])
    assert len(reach) == 5
    graph.rollback()
    assert len(reach) == 3
    reach.verify()
