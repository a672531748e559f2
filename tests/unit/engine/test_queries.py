"""The state of queries: its bytes are true, come back, and stay flat; what a batch looks at."""

from __future__ import annotations

import itertools
import random
import sys

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.queries import fixpoint, states
from graphtide.engine.queries import pool as logs
from graphtide.engine.queries.engine import QueryEngine
from graphtide.engine.queries.pool import NARROW, SIZES, WIDE, chunk_sizes
from graphtide.engine.queries.states import QueryRoom
from graphtide.model.errors import SetupError
from graphtide.run.queries import standing_query
from graphtide.run.queries.standing_queries import StandingQueries
from tests.equivalence.query_cases import Beside, ask
from tests.equivalence.test_queries import NODE

Q = gt.queries


def kept_of(graph: gt.Graph) -> StandingQueries:
    kept = graph._asked
    assert kept is not None
    return kept


def check_rows(engine: QueryEngine) -> None:
    """Rows are sorted, lie apart, and hold as many entries as are counted; so do free chunks."""
    rows, held = engine.states.fixpoints.rows.view, []
    entries = 0
    for vertex in range(engine.states.fixpoints.rows.vertices):
        start, length, kind = rows.start[vertex], rows.length[vertex], rows.kind[vertex]
        assert 0 <= length <= SIZES[kind]
        keys = rows.key[start : start + length]
        assert (np.diff(keys) > 0).all()
        entries += int((engine.states.fixpoints.searches.owner[keys] >= 0).sum())
        held += [(int(start), int(SIZES[kind]))] if kind else []
    for kind, place in enumerate(rows.free.tolist()):
        while place >= 0:
            held.append((place, int(SIZES[kind])))
            place = int(rows.key[place])
    held.sort()
    assert all(one + size <= other for (one, size), (other, _) in itertools.pairwise(held))
    assert sum(size for _, size in held) == rows.top[0] <= len(rows.key)
    assert entries == engine.states.fixpoints.searches.total


def test_chunks_grow_by_a_quarter_at_most_from_eight_on() -> None:
    sizes = chunk_sizes(4)
    assert (np.diff(sizes) > 0).all()
    assert (sizes[9:] * 4 <= sizes[8:-1] * 5).all()


@pytest.mark.parametrize("seed", range(4))
def test_rows_stay_in_order_while_queries_come_and_go(seed: int) -> None:
    pick = random.Random(seed)
    beside = Beside(pick, 9, 30)
    watched = {}
    for step in range(30):
        watched[step] = ask(beside, f"q{step}", ("(a|^b)*/!c?", NODE))
        if len(watched) > 6:
            gone = pick.choice(list(watched))
            beside.graph.drop_query(f"q{gone}")
            del watched[gone]
        beside.advance(pick.randrange(4), pick.randrange(4))
        check_rows(kept_of(beside.graph).engine)
        for item in watched.values():
            item.query.verify()


def test_memory_comes_back_when_queries_go() -> None:
    graph = gt.Graph(np.arange(300), np.arange(1, 301))
    graph.query("first", Q.Hops(0, 3))
    kept = kept_of(graph)
    small = kept.nbytes
    for at in range(40):
        graph.query(f"q{at}", Q.Reach(at))
    assert kept.nbytes > small + 40 * 250 * NARROW
    for at in range(40):
        graph.drop_query(f"q{at}")
    assert kept.nbytes < 2 * small
    check_rows(kept.engine)


def test_keys_are_used_again() -> None:
    graph = gt.Graph(np.arange(20), np.arange(1, 21))
    for at in range(200):
        graph.query("q", Q.Hops(at % 20, 5))
        graph.advance(delete=[(3, 4)])
        graph.advance(insert=[(3, 4)])
        graph.drop_query("q")
    assert len(kept_of(graph).engine.states.fixpoints.searches.owner) < 20


@pytest.mark.compiled
def test_memory_stays_flat_over_many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of edges that come and go; what can be undone is limited, whoever goes back."""
    monkeypatch.setattr(logs, "LEAST", 4096)
    pick = random.Random(1)
    graph = gt.Graph([0], [1], vertices=30, undo=None)
    queries = [graph.query(f"q{at}", Q.Hops(at, 4)) for at in range(10)]
    there: list[tuple[int, int]] = []
    sizes = []
    for _ in range(400):
        come = [(pick.randrange(30), pick.randrange(30)) for _ in range(2)]
        there += come
        gone = [there.pop(0) for _ in range(2)] if len(there) > 60 else None
        graph.advance(insert=come, delete=gone)
        sizes.append(kept_of(graph).nbytes)
    assert max(sizes[200:]) <= 1.5 * max(sizes[100:200])
    assert kept_of(graph).engine.undoable < 300
    for _ in range(350):
        graph.rollback()
    for query in queries:
        query.verify()


def test_the_bytes_are_all_bytes() -> None:
    graph = gt.Graph(np.arange(100), np.arange(1, 101), kind=["a", "b"] * 50)
    graph.query("q", Q.Regular("(a/b)*", 0, label="kind"))
    graph.advance(delete=[50])
    kept = kept_of(graph)
    engine = kept.engine
    arrays = [
        *(array for array in engine.states.fixpoints.rows.view if array is not SIZES),
        *engine.states.fixpoints.searches.view,
        *engine.states.fixpoints.work.view,
        *(part for log in engine.states.fixpoints.logs._kept for part in log),
        engine.states.fixpoints.rows._starts,  # As much again, to plan in.
        *kept.labels._columns.values(),
    ]
    objects = states.OBJECTS * len(engine.states.records)
    objects += sum(sys.getsizeof(label) + standing_query._IN_DICT for label in "ab")
    assert kept.nbytes == engine.budget.used == sum(array.nbytes for array in arrays) + objects


def test_searches_too_large_for_arrays_are_found_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "MOST_DENSE", 0)
    pick = random.Random(5)
    beside = Beside(pick, 8, 25)
    for at in range(12):
        ask(beside, f"q{at}", ("(a|^b)*/!c?", NODE)).check(advanced=False)


def test_costs_are_exact_whatever_they_are() -> None:
    """Small whole numbers in two bytes, until the first that is not one."""
    steps = [65_533.0, 1.0, 1.0, 0.5, 2.0**60, 1e-300]
    graph = gt.Graph(np.arange(6), np.arange(1, 7), cost=steps)
    hops = graph.query("hops", Q.Reach(0))
    entry = kept_of(graph).engine.states.fixpoints.rows
    sums = list(itertools.accumulate(steps, initial=0.0))
    for at in range(1, 7):
        query = graph.query(f"q{at}", Q.Path(0, at, weight="cost"))
        assert query.value == sums[at]
        assert entry.entry == WIDE
    graph.advance(delete=[2])
    assert [query.value for query in list(graph.queries.values())[1:]] == [*sums[1:3], *[None] * 4]
    graph.rollback()
    assert [query.value for query in list(graph.queries.values())[1:]] == sums[1:]
    assert len(hops) == 7


def test_the_first_cost_that_is_not_small_may_come_with_a_batch() -> None:
    graph = gt.Graph([0, 1], [1, 2], cost=[65_000.0, 534.0])
    query = graph.query("q", Q.Path(0, 2, weight="cost"))
    pool = kept_of(graph).engine.states.fixpoints.rows
    assert (query.value, pool.entry) == (65_534.0, NARROW)
    graph.advance(delete=[1], insert=[(1, 2, 535.0)])
    assert (query.value, pool.entry) == (65_535.0, WIDE)
    graph.rollback()
    assert query.value == 65_534.0
    query.verify()


def test_paths_by_edges_that_add_nothing_go_round_in_no_circle() -> None:
    """Three circles of free edges, one behind the other; who has no state computes it otherwise."""
    ring = [(base + at, base + (at + 1) % 4) for base in (0, 10, 20) for at in range(4)]
    edges = [*ring, *[(b, a) for a, b in ring], (2, 10), (12, 20)]
    cost = [0.0] * len(ring) + [1e-17] * len(ring) + [1.0, 1.0]
    graph = gt.Graph(*zip(*edges, strict=True), cost=cost)
    for target in (1, 3, 12, 11, 22, 23):
        path = graph.query(f"to {target}", Q.Path(1, target, weight="cost")).path()
        assert path is not None
        assert (path[0], path[-1]) == (1, target)
        assert len(set(path)) == len(path) <= 9
        assert all(step in edges for step in itertools.pairwise(path))


def test_a_path_is_read_within_what_a_full_budget_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It comes by one of 150 vertices that all cost the same: more than are listed in one go."""
    middle = range(2, 152)
    edges = [*((0, at) for at in middle), *((at, at + 200) for at in middle)]
    edges += [(at + 200, 1) for at in middle]
    graph = gt.Graph(*zip(*edges, strict=True), cost=[0.0] * len(edges))
    query = graph.query("free", Q.Path(0, 1, weight="cost"))
    engine = kept_of(graph).engine
    engine.budget.most = engine.budget.used
    monkeypatch.setattr(QueryRoom, "_make", lambda *given: pytest.fail("asks for room"))
    path = query.path()
    assert path is not None
    assert (len(path), path[0], path[-1]) == (4, 0, 1)
    assert all(step in edges for step in itertools.pairwise(path))


def test_answers_that_are_written_down_in_a_batch_are_those_before_it() -> None:
    """The batch takes edges of the paths, and is put back because it takes too long to follow."""
    pick = random.Random(2)
    ends = [(pick.randrange(60), pick.randrange(60)) for _ in range(300)]
    graph = gt.Graph(*zip(*ends, strict=True), vertices=60)
    queries = [graph.query(f"q{at}", Q.Path(at, at + 30)) for at in range(20)]
    before = [query.value for query in queries]
    graph.set_budget("10 MB", patience=1e-9)
    graph.advance(delete=list(range(40)), insert=[(at, at + 29) for at in range(20)])
    states = kept_of(graph).engine.states
    assert not any(states.keeps_entries(number) for number in states.records)
    for query in queries:
        query.verify()
        assert query.path() is None or len(query.path()) == query.value + 1  # type: ignore[arg-type]
    graph.rollback()
    assert [query.value for query in queries] == before


def test_a_failure_in_the_middle_leaves_the_last_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room is asked for in the middle of a batch, and is not to be had."""
    monkeypatch.setattr(logs, "_LEAST_ROOM", 4)
    graph = gt.Graph(np.arange(40), np.arange(1, 41))
    query = graph.query("q", Q.Reach(0))
    before = query.table()

    def fail(self: object, first: int, last: int) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(logs.WorkRoom, "grow", fail)
        with pytest.raises(SetupError, match="there is no memory"):
            graph.advance(delete=[(0, 1)])
    assert (graph.version, query.table()) == (0, before)
    query.verify()
    graph.advance(delete=[(0, 1)])
    assert len(query) == 1
    query.verify()


def test_an_edge_that_concerns_nobody_costs_no_look_at_edges() -> None:
    """Two parts: queries in one, changes in the other."""
    graph = gt.Graph([*range(20), *range(100, 120)], [*range(1, 21), *range(101, 121)])
    for at in range(10):
        graph.query(f"q{at}", Q.Reach(at))
    graph.advance(delete=[(105, 106)])
    assert kept_of(graph).engine.looked == 0
    graph.advance(insert=[(105, 107), (107, 101)])
    assert kept_of(graph).engine.looked == 0
    graph.advance(insert=[(3, 105)])
    assert kept_of(graph).engine.looked > 0


def test_an_edge_means_to_each_search_what_its_own_labels_say() -> None:
    """Searches with other labels, with weights and without either, one after the other in a row."""
    graph = gt.Graph([0], [1], kind=["a"], sort=["b"], cost=[2.0], vertices=4)
    asked = [
        graph.query("cost", Q.Path(0, 3, weight="cost")),
        graph.query("kind a", Q.Regular("a/a", 0, label="kind")),
        graph.query("kind b", Q.Regular("a/b", 0, label="kind")),
        graph.query("sort", Q.Regular("b/b", 0, label="sort")),
        graph.query("back", Q.Regular("a/^b", 0, label="kind")),
        graph.query("hops", Q.Hops(0, 3)),
    ]
    for kind, sort, ends in (("b", "b", (1, 2)), ("a", "a", (1, 3)), ("b", "a", (3, 1))):
        row = {"src": ends[0], "dst": ends[1], "kind": kind, "sort": sort, "cost": 1.0}
        graph.advance(insert=[row])
        for query in asked:
            query.verify()
    graph.advance(delete=[(0, 1)])
    graph.rollback()
    for query in asked:
        query.verify()


def test_a_rollback_puts_the_edge_back_that_an_answer_came_by() -> None:
    """Another edge takes over in one batch; without it, the first one must count again."""
    graph = gt.Graph([0, 1], [1, 2])
    query = graph.query("near", Q.Hops(0, 5))
    graph.advance(insert=[(0, 1)], delete=[0])
    graph.rollback()
    graph.advance(delete=[0])
    assert query.table().to_pylist() == [{"id": 0, "hops": 0}]
    query.verify()
