"""The accountant of queries, and what lives within its grants."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.engine.queries.budget import Budget, GrantedArray, LacksRoomError
from graphtide.engine.queries.searches import SearchRecord
from graphtide.engine.queries.values import CostLayout, packed_list, width_of
from graphtide.kernels.queries.pairs import LAST_STAMP, STAMP
from graphtide.model.errors import InputError, LimitError

Q = gt.queries


def random_graph(vertices: int, edges: int, budget: object = None) -> gt.Graph:
    src, dst = np.random.default_rng(3).integers(vertices, size=(2, edges))
    return gt.Graph(src, dst, vertices=vertices, budget=budget)  # type: ignore[arg-type]


def test_nothing_is_granted_beyond_the_budget() -> None:
    budget = Budget(100)
    budget.take(60)
    with pytest.raises(LacksRoomError) as caught:
        budget.take(41)
    assert (caught.value.wanted, budget.used, budget.highest) == (1, 60, 60)
    with budget.lent(40):
        assert budget.used == 100
    assert (budget.used, budget.highest) == (60, 100)
    with pytest.raises(AssertionError):
        budget.give(61)


def test_a_copy_counts_twice_while_there_are_two() -> None:
    budget = Budget(10 * 8 + 15 * 8)
    array = GrantedArray(budget, 10, np.int64)
    array.view[:] = np.arange(10)
    with pytest.raises(LacksRoomError):
        array.resize(16)
    assert (budget.used, array.length) == (80, 10)
    array.resize(15)
    assert (budget.used, budget.highest) == (120, 200)
    assert array.view[:10].tolist() == list(range(10))


@pytest.mark.parametrize("given", ["much", "-2 GB", 0, -5, 1.5, True, ""])
def test_what_is_no_budget_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="a budget cannot be"):
        random_graph(4, 4, given)


@pytest.mark.parametrize(
    ("given", "wanted"), [("2 GB", 2 * 10**9), ("2 GiB", 2 << 30), (1234, 1234), (None, None)]
)
def test_budgets_are_numbers_and_texts(given: object, wanted: int | None) -> None:
    assert random_graph(4, 4, given).budget == wanted


def test_a_budget_is_told_as_it_was_given() -> None:
    assert "budget: 4.0 MB" in random_graph(4, 4, "4 MB").explain()


def test_a_budget_too_small_for_anything_is_refused_and_says_what_to_do() -> None:
    graph = random_graph(50, 100, 100)
    with pytest.raises(LimitError, match="too small") as caught:
        graph.query("q", Q.Reach(1))
    assert "set_budget" in str(caught.value)
    graph.set_budget("1 MB")
    graph.query("q", Q.Reach(1)).verify()


@pytest.mark.compiled
def test_queries_that_do_not_fit_keep_their_answers_alone() -> None:
    graph = random_graph(300, 1_500, 400_000)
    queries = [graph.query(f"q{at}", Q.Path(at, at + 100)) for at in range(90)]
    engine = graph._queries().engine
    dropped = [number for number in engine.states.records if number in engine.states.pairs]
    assert len(dropped) > 0
    pick = random.Random(1)
    for _ in range(20):
        edge = pick.choice(graph.edges().column("edge").to_pylist())
        graph.advance(delete=[edge], insert=[(pick.randrange(300), pick.randrange(300))])
        assert engine.budget.used == graph._queries().nbytes <= engine.budget.highest <= 400_000
    for query in queries:
        query.verify()
    text = graph.explain()
    assert "90 queries, budget: 400,000 bytes" in text
    assert "100% dropped" in text
    assert "computed anew" in text
    assert_told_by_query(graph)
    assert "its answer" in queries[-1].explain()
    assert queries[-1].path(7) is None or queries[-1].path(7)[0] == 89  # type: ignore[index]


def test_the_time_of_a_batch_is_told_by_query() -> None:
    graph = random_graph(60, 240)
    for name, hops in (("near", 1), ("far", 9)):
        graph.query(name, Q.Hops(0, hops))
    for edge in range(40):
        graph.advance(delete=[edge])
    graph.query("late", Q.Hops(1, 9))
    engine = graph._queries().engine
    near, far, late = (engine.seconds_of(number) for number in engine.states.records)
    assert 0.0 <= near < far <= engine.times.mean
    assert late == 0.0
    assert_told_by_query(graph)
    graph.drop_query("far")
    assert sum(map(engine.states.fixpoints.searches.share_of_looks, engine.states.records)) < 1.0


def assert_told_by_query(graph: gt.Graph) -> None:
    """Every query is told what it takes of a batch, which is no more in all than a batch takes."""
    engine, text = graph._queries().engine, graph.explain()
    for name, query in graph.queries.items():
        own = sum(map(engine.seconds_of, graph._queries().queries[name].numbers))
        assert f"{1e3 * own:.3f} ms a batch" in text
        assert f"{1e3 * own:.3f} ms of its own" in query.explain()
    assert sum(map(engine.seconds_of, engine.states.records)) <= engine.times.mean


def test_states_come_back_where_there_is_room() -> None:
    graph = random_graph(60, 240)
    query = graph.query("q", Q.Hops(0, 4))
    engine = graph._queries().engine
    (number,) = engine.states.records
    assert engine.states.give_up(1)
    assert not engine.states.keeps_entries(number)
    pick = random.Random(1)
    for _ in range(40):
        graph.advance(insert=[(pick.randrange(60), pick.randrange(60))], delete=[pick_edge(graph)])
        query.verify()
    assert engine.states.keeps_entries(number)


def pick_edge(graph: gt.Graph) -> int:
    edges = graph.edges().column("edge").to_pylist()
    return int(random.Random(len(edges) + graph.version).choice(edges))


def test_what_is_worth_least_for_its_bytes_goes_first() -> None:
    graph = random_graph(60, 240)
    for at in range(6):
        graph.query(f"q{at}", Q.Reach(at))
    engine = graph._queries().engine
    records = engine.states.records
    often = sorted(records)[3]
    for batch in range(5):
        records[often].concern(batch)
    assert records[often].worth(5, 10) > 0
    assert engine.states.give_up(1)
    assert engine.states.keeps_entries(often)
    assert sum(engine.states.keeps_entries(number) for number in records) < 6


def test_what_was_long_ago_counts_less() -> None:
    record = SearchRecord(None, 0)  # type: ignore[arg-type]
    record.concern(1)
    assert record.often(1) == 1.0
    assert record.often(300) < 0.1


def test_following_takes_no_longer_than_patience_allows_for() -> None:
    """Half of all edges leave: to follow looks at more edges than to begin anew."""
    graph = random_graph(200, 800, "10 MB")
    queries = [graph.query(f"q{at}", Q.Reach(at)) for at in range(20)]
    states = graph._queries().engine.states
    scratch = sum(record.begins for record in states.records.values())
    graph.set_budget("10 MB", patience=0.2)
    graph.advance(delete=list(range(100)))
    assert not any(states.keeps_entries(number) for number in states.records)
    assert graph._queries().engine.looked < 3 * scratch
    for query in queries:
        query.verify()
    graph.set_budget("10 MB", patience=50)
    for _ in range(3):
        graph.advance(delete=[pick_edge(graph)])
    for query in queries:
        query.verify()


@pytest.mark.parametrize("given", [-1, float("nan"), float("inf"), "much", True])
def test_what_is_no_patience_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="patience cannot be"):
        random_graph(4, 4).set_budget("1 MB", patience=given)  # type: ignore[arg-type]


def test_balls_are_right_behind_their_last_stamp() -> None:
    graph = random_graph(60, 240)
    queries = [graph.query(f"q{at}", Q.Path(at, at + 30)) for at in range(20)]
    states = graph._queries().engine.states
    assert states.give_up(1 << 40)
    for ball in states.pairs._ready_balls():
        ball.sizes[STAMP] = LAST_STAMP - 3
    for at in range(6):
        graph.advance(insert=[(at, at + 31)], delete=[pick_edge(graph)])
        for query in queries:
            query.verify()
    assert all(ball.sizes[STAMP] < LAST_STAMP - 3 for ball in states.pairs._ready_balls())


def test_a_path_is_looked_for_even_where_there_is_no_room() -> None:
    """Of a query that keeps its answer alone: to read is never refused."""
    graph = random_graph(60, 240)
    query = graph.query("q", Q.Hops(0, 4))
    engine = graph._queries().engine
    assert engine.states.give_up(1)
    vertex = query.table()["id"][-1].as_py()
    path = query.path(vertex)
    engine.budget.give(engine.room.reserve)
    engine.room.reserve, engine.budget.most = 0, engine.budget.used + 100
    used = engine.budget.used
    assert query.path(vertex) == path
    assert engine.budget.used == used


def test_a_batch_whose_log_lacks_room_leaves_all_as_it_was() -> None:
    """One row loses all its entries: it could not be filled again within such a budget."""
    graph = gt.Graph([0], [1])
    queries = [graph.query(f"q{at}", Q.Hops(0, at + 1)) for at in range(300)]
    engine = graph._queries().engine
    engine.states.fixpoints.trim()
    engine.budget.most = engine.budget.used + 1_000
    with pytest.raises(LimitError, match="more than their budget"):
        graph.advance(delete=[0])
    assert all(len(query) == 2 for query in queries)
    graph.set_budget(None)
    graph.advance(delete=[0])
    gone = [{"id": 1, "old": 1, "new": None}]
    assert all(query.changes().to_pylist() == gone for query in queries)


@pytest.mark.parametrize("kept_by", [{}, {"budget": 60_000}, {"queries": Q.Histories()}])
def test_queries_that_come_and_go_leave_nothing_behind(kept_by: dict[str, object]) -> None:
    """Whatever they asked for: automata, codes of labels, and keys are there for the next ones."""
    graph = gt.Graph([0, 1, 2], [1, 2, 3], kind=["a", "b", "a"], **kept_by)  # type: ignore[arg-type]
    graph.query("stays", Q.Regular("a/b/a", 0, label="kind"))
    taken = []
    for at in range(40):
        graph.query("goes", Q.Regular(f"a/b{{{50 + at}}}|c{at}", 0, label="kind"))
        graph.query("pair", Q.Path(0, 3))
        graph.drop_query("goes")
        graph.drop_query("pair")
        taken.append(graph.query_bytes)
    assert max(taken) - taken[0] < 20_000
    graph.query("last", Q.Regular("a/b", 0, label="kind")).verify()
    graph.queries["stays"].verify()


def test_labels_that_only_queries_name_go_with_the_last_of_them() -> None:
    """Whoever asks for ever new labels fills no memory, and no label is taken for another."""
    graph = gt.Graph([0, 1], [1, 2], kind=["a", "b"], budget=400_000)
    graph.query("goes", Q.Regular("early", 1, label="kind"))
    stays = graph.query("stays", Q.Regular("late/a?", 1, label="kind"))
    graph.drop_query("goes")
    taken = graph.query_bytes
    for at in range(40):
        for name in ("one", "two"):
            graph.query(name, Q.Regular("x" * 9_900 + str(at), 0, label="kind"))
        assert graph.query_bytes - taken > 9_900
        graph.drop_query("one")
        assert graph.query_bytes - taken > 9_900
        graph.drop_query("two")
        assert graph.query_bytes - taken < 5_000
    with pytest.raises(LimitError):
        graph.query(
            "long", Q.Regular("/".join(f"k{at:09000}" for at in range(45)), 0, label="kind")
        )
    graph.advance(insert=pa.table({"src": [1, 0], "dst": [0, 2], "kind": ["other", "late"]}))
    assert len(stays) == 0
    graph.advance(insert=pa.table({"src": [1], "dst": [0], "kind": ["late"]}))
    assert stays.table().to_pylist() == [{"id": 0, "hops": 1}, {"id": 1, "hops": 2}]
    graph.drop_query("stays")
    graph.query("again", Q.Regular("late", 1, label="kind")).verify()


def test_labels_come_out_of_the_budget() -> None:
    """Their dictionary takes more than all columns where each edge has a label of its own."""
    ends, kinds = np.arange(200), [f"label {at}" for at in range(200)]
    graph = gt.Graph(ends[:-1], ends[1:], kind=kinds[:-1], budget=200_000)
    free = graph.query_bytes
    asked = graph.query("q", Q.Regular("'label 0'/'label 1'", 0, label="kind"))
    assert graph.query_bytes - free > 200 * 200
    for at in range(40):
        kind = "x" * 10_000 + str(at)
        try:
            graph.advance(insert=pa.table({"src": [0], "dst": [1], "kind": [kind]}))
        except LimitError:
            break
        assert graph._queries().engine.budget.used <= 200_000
    else:
        pytest.fail("labels were never refused")
    asked.verify()
    assert asked.table().to_pylist() == [{"id": 2, "hops": 2}]
    graph.set_budget("2 MB")
    graph.advance(insert=pa.table({"src": [0], "dst": [1], "kind": [kind]}))
    asked.verify()


def hops_from(edges: Counter[tuple[int, int]], start: int, most: float) -> dict[int, int]:
    """By plain breadth-first search."""
    out: dict[int, list[int]] = {}
    for source, target in +edges:
        out.setdefault(source, []).append(target)
    reached, level = {start: 0}, [start]
    while level and reached[level[0]] < most:
        following = {end for vertex in level for end in out.get(vertex, ())} - set(reached)
        reached |= dict.fromkeys(following, reached[level[0]] + 1)
        level = list(following)
    return reached


@pytest.mark.compiled
@pytest.mark.parametrize(("most", "kind"), [(5, lambda at: Q.Hops(at, 5)), (1e9, Q.Reach)])
def test_three_quarters_of_what_queries_take_hold_all_of_them(most: float, kind: Any) -> None:
    """No query and no advance is refused, and all answers are those of a plain search."""
    random = np.random.default_rng(3)
    ends = random.integers(2_500, size=(10_000, 2))
    graph = gt.Graph(*ends.T, vertices=2_500)
    for at in range(40):
        graph.query(str(at), kind(at))
    free = graph.query_bytes
    graph = gt.Graph(*ends.T, vertices=2_500, budget=free * 3 // 4)
    for at in range(40):
        graph.query(str(at), kind(at))
    edges = Counter(map(tuple, ends.tolist()))
    deleted = random.choice(len(ends), 100, replace=False).tolist()
    for step, edge in enumerate(deleted):
        pair = tuple(random.integers(2_500, size=2).tolist())
        edges[pair] += 1
        graph.advance(insert=[pair])
        edges[tuple(ends[edge].tolist())] -= 1
        graph.advance(delete=[edge])
        for at in (step % 40, (step * 7) % 40):
            table = graph.queries[str(at)].table()
            wanted = hops_from(edges, at, most)
            found = table["hops"].to_pylist() if most == 5 else [wanted[v] for v in wanted]
            if most == 5:
                assert dict(zip(table["id"].to_pylist(), found, strict=True)) == wanted
            assert set(table["id"].to_pylist()) == set(wanted)
    used = graph._queries().engine.budget
    assert used.highest <= free * 3 // 4


@pytest.mark.parametrize(
    ("costs", "width"),
    [([0, 254], 1), ([0, 255], 2), ([65_534], 2), ([65_535], 8), ([0.5], 8), ([np.inf, 3], 1)],
)
def test_costs_are_packed_into_as_few_bytes_as_hold_them(costs: list[float], width: int) -> None:
    given, items = np.array(costs, np.float64), np.arange(len(costs), dtype=np.int32) * 3
    packed = packed_list(items, given)
    assert width_of(given) == packed.width == width
    assert [part.tolist() for part in packed.entries()] == [items.tolist(), costs]
    assert [packed.cost(item) for item in range(7)] == [
        costs[item // 3] if item in items.tolist() else np.inf for item in range(7)
    ]
    placed = CostLayout(False, 9, width).empty()
    placed.costs[items[given < np.inf]] = given[given < np.inf]
    there = [at for at, cost in enumerate(costs) if cost < np.inf]
    wanted = [items[there].tolist(), given[there].tolist()]
    assert [part.tolist() for part in placed.entries()] == wanted
    assert placed.filled == packed.filled == len(there)
    assert (placed.cost(1), placed.cost(99)) == (np.inf, np.inf)


def test_items_are_listed_where_that_takes_less() -> None:
    assert CostLayout.smallest(10, 50, 1) == (False, 50, 1)
    assert CostLayout.smallest(9, 50, 1) == (True, 9, 1)
    assert CostLayout.smallest(0, 50, 1).nbytes == 0


def test_a_rollback_to_answers_that_do_not_fit_can_be_read() -> None:
    """The budget was set when next to nothing was reached: each look at the answers was refused."""
    count = 600
    graph = gt.Graph(range(count), range(1, count + 1))
    queries = [graph.query(f"from {at}", Q.Hops(at, count)) for at in range(3)]
    graph.advance(delete=[0, 1, 2])
    graph.advance(delete=[count - 1])
    graph.set_budget(4 * graph.query_bytes, patience=0.0)
    graph._queries().engine.budget.most = most = 30_000
    assert [len(query) for query in queries] == [1, 1, 1]
    graph.rollback()
    graph.rollback()
    for at, query in enumerate(queries):
        assert query.table()["hops"].to_pylist() == list(range(count + 1 - at))
        assert query.path(count) == list(range(at, count + 1))
        query.explain()
    assert graph.query_bytes > most
    with pytest.raises(LimitError):
        graph.query("more", Q.Reach(7))
    assert list(graph.queries) == ["from 0", "from 1", "from 2"]
    graph.set_budget(None)
    graph.advance(delete=[count - 1])
    assert [len(query) for query in queries] == [count, count - 1, count - 2]


def test_a_query_that_is_refused_for_its_labels_leaves_the_others() -> None:
    """Everybody read its labels afterwards, for which there was no room."""
    kinds = [f"{at:0>600}" for at in range(200)]
    graph = gt.Graph(range(200), range(1, 201), kind=kinds)
    stays = graph.query("stays", Q.Hops(0, 9))
    graph.set_budget(graph.query_bytes + 60_000)
    with pytest.raises(LimitError):
        graph.query("labels", Q.Regular(f"'{kinds[0]}'", 0, label="kind"))
    graph.advance(delete=[8])
    assert len(stays) == 9
    assert stays.path(3) == [0, 1, 2, 3]


@pytest.mark.parametrize("drop", [None, 0.5])
def test_histories_have_no_budget_to_be_taken_away(drop: float | None) -> None:
    graph = gt.Graph([0, 1], [1, 2], queries=Q.Histories(drop=drop))
    query = graph.query("q", Q.Hops(0, 2))
    graph.set_budget(None)
    graph.set_landmarks(None)
    with pytest.raises(InputError, match="have no budget"):
        graph.set_budget("1 MB")
    graph.advance(delete=[1])
    assert (len(query), graph.budget) == (2, None)
