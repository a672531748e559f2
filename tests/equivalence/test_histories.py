"""Queries kept by histories, under every setting: answers and histories after every step."""

from __future__ import annotations

import itertools
import os
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.engine.histories import arrays
from graphtide.engine.histories.arrays import SIZES
from graphtide.engine.histories.engine import HistoryEngine
from graphtide.lang.paths import unparse_path
from graphtide.plan.regular_paths import RegularPath
from tests.equivalence.query_cases import EXAMPLES, Beside, Watched, ask
from tests.equivalence.test_queries import NODE, step_once
from tests.oracle.histories import PlainEdge, histories, messages
from tests.property.path_trees import oracle_node, paths

Histories = gt.queries.Histories
HOWS = ("deterministic", "probabilistic")
SETTINGS = [
    Histories(join_on_demand=False),
    Histories(),
    *(Histories(drop=share, how=how, policy="random") for how in HOWS for share in (0.5, 1.0)),
    *(Histories(drop=0.5, how=how, degrees=(2, 6)) for how in HOWS),
    Histories(drop=0.0),
]


def engine_of(graph: gt.Graph) -> HistoryEngine:
    assert graph._asked is not None
    engine = graph._asked.engine
    assert isinstance(engine, HistoryEngine)
    return engine


@settings(max_examples=2 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(SETTINGS), st.integers(0, 2**32), st.lists(paths, min_size=3, max_size=3))
def test_queries_follow_come_go_and_roll_back(
    how: Any, seed: int, several: list[RegularPath]
) -> None:
    pick = random.Random(seed)
    beside = Beside(pick, pick.randrange(2, 8), pick.randrange(14), queries=how)
    regular = [(unparse_path(path), oracle_node(path)) for path in several]
    watched: dict[str, Watched] = {}
    for step in range(10):
        advanced = step_once(beside, watched, regular, step)
        for item in watched.values():
            item.check(advanced=advanced)
            item.query.verify()
        check_state(beside)


@pytest.mark.parametrize("how", SETTINGS)
def test_a_graph_that_loses_all_its_edges(how: Any) -> None:
    pick = random.Random(7)
    beside = Beside(pick, 7, 30, queries=how)
    watched = [ask(beside, f"q{at}", ("(a|^b)*/!c?", NODE)) for at in range(9)]
    while beside.edges:
        beside.advance(0, 3)
        for item in watched:
            item.check(advanced=True)
        check_state(beside)
    while beside.versions:
        beside.rollback()
        for item in watched:
            item.check(advanced=False)
        check_state(beside)


@pytest.mark.parametrize("how", SETTINGS)
def test_room_that_lacks_everywhere(how: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least room: every part runs out in the middle of batches, which go on, or begin again."""
    monkeypatch.setattr(arrays, "_LEAST_ROOM", 2)
    monkeypatch.setattr(arrays, "_MOST_ROOM", 8)
    monkeypatch.setattr(arrays, "_LEAST_FILTER", 1)
    pick = random.Random(3)
    beside = Beside(pick, 12, 40, queries=how)
    watched = [ask(beside, f"q{at}", ("(a|^b)*/!c?", NODE)) for at in range(5)]
    for _ in range(12):
        beside.advance(pick.randrange(6), pick.randrange(7))
        for item in watched:
            item.check(advanced=True)
        check_state(beside)
    for _ in range(4):
        beside.rollback()
        for item in watched:
            item.check(advanced=False)
        check_state(beside)


def check_state(beside: Beside) -> None:
    """Kept and dropped differences are those of a run from scratch; so are messages."""
    if beside.graph._asked is None:
        return
    engine = engine_of(beside.graph)
    for pool in (engine.state.kept, engine.state.dropped, engine.state.joined):
        check_pool(pool)
    for number, search in engine._by_number.items():
        edges = plain_edges(beside.graph, search)
        table = search.automaton.steps

        def steps(state: int, letter: int, table: Any = table) -> int:
            return int(table[state][letter])

        wanted = histories(steps, edges, search.start, search.bound)
        kept, dropped = found_of(engine, number)
        assert set(kept.items()) <= set(wanted.items())
        assert len(kept) == engine.entries(number)
        left = set(wanted) - set(kept)
        if engine.state.drops_by("probabilistic"):
            assert all(may_be_dropped(engine, number, one) for one in left)
        else:
            assert dropped == left
            assert len(dropped) == engine.dropped(number)
        if not engine.settings.join_on_demand:
            sent = messages(steps, edges, wanted, search.bound)
            assert sent_of(engine, number) == sent
            assert len(sent) == engine.messages(number)


def plain_edges(graph: gt.Graph, search: Any) -> list[PlainEdge]:
    resident = graph._resident
    live = resident.live_edges()
    sources, targets = resident.ends(live)
    named = list(search.automaton.letters.labels)
    labels: list[Any] = [None] * len(live)
    if search.label is not None and graph._asked is not None:
        labels = graph._asked.labels.values(search.label, live)
    costs = np.ones(len(live))
    if search.weight is not None:
        costs = resident.properties[search.weight][live].astype(float)

    def letter(label: Any) -> int:
        if not named:
            return 0
        if label is None:
            return 2 * (len(named) + 1)
        return 2 * (named.index(label) + 1) if label in named else 0

    rows = zip(sources.tolist(), targets.tolist(), labels, costs.tolist(), strict=True)
    return [PlainEdge(source, target, letter(label), cost) for source, target, label, cost in rows]


def found_of(engine: HistoryEngine, number: int) -> tuple[dict[Any, float], set[Any]]:
    kept = {key[:3]: key[3] for key in rows_of(engine, engine.state.kept, number)}
    return kept, {key[:3] for key in rows_of(engine, engine.state.dropped, number)}


def sent_of(engine: HistoryEngine, number: int) -> dict[Any, int]:
    return {key[:4]: key[4] for key in rows_of(engine, engine.state.joined, number)}


def rows_of(engine: HistoryEngine, pool: Any, number: int) -> list[tuple[Any, ...]]:
    view, found = pool.view, []
    base, states = engine.state.searches.base(number), engine._by_number[number].automaton.states
    for vertex in range(pool.vertices):
        for place in range(view.start[vertex], view.start[vertex] + view.length[vertex]):
            key, iteration = divmod(int(view.key[place]), 256)
            iteration += 256 * int(view.late[place]) if len(view.late) else 0
            state = key - base
            if 0 <= state < states:
                costs = view.wide if len(view.wide) else view.small
                cost = float(costs[place]) if len(costs) else None
                count = int(view.copies[place]) if len(view.copies) else None
                found.append((vertex, state, iteration, cost, count))
    return found


def may_be_dropped(engine: HistoryEngine, number: int, one: tuple[int, int, int]) -> bool:
    from graphtide.kernels.histories.rows import filter_has

    if not os.environ.get("NUMBA_DISABLE_JIT"):
        return True  # A kernel that kernels alone call.
    vertex, state, iteration = one
    item = vertex << 32 | (engine.state.searches.base(number) + state)
    return filter_has(engine.state.words()[1], number, np.int64(item), iteration)


def check_pool(pool: Any) -> None:
    """Rows are sorted and lie apart; so do free chunks; together they are what is in use."""
    if not pool._columns:
        return
    view, held = pool.view, []
    for vertex in range(pool.vertices):
        start, length, kind = (int(part[vertex]) for part in view[:3])
        assert 0 <= length <= SIZES[kind]
        keys = view.key[start : start + length].tolist()
        late = view.late[start : start + length].tolist() if len(view.late) else [0] * length
        rows = [(key // 256, more, key % 256) for key, more in zip(keys, late, strict=True)]
        assert rows == sorted(rows)
        held += [(start, int(SIZES[kind]))] if kind else []
    for kind, place in enumerate(view.free.tolist()):
        while place >= 0:
            held.append((place, int(SIZES[kind])))
            place = int(view.key[place])
    held.sort()
    assert all(one + size <= other for (one, size), (other, _) in itertools.pairwise(held))
    assert sum(size for _, size in held) == view.top[0] <= len(view.key)
