"""Threads that share a graph or a dataflow: every call sees one version, whole."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.run.live import versions
from graphtide.run.turns import uninterrupted
from tests.examples import repeats
from tests.oracle import algorithms as oracle

THREADS = 4
ROUNDS = 25 * repeats(2)
VERTICES = 24


def run_all(*workers: Callable[[], None]) -> None:
    """All at once; raises what the first that failed has raised."""
    failed: list[BaseException] = []

    def guarded(worker: Callable[[], None]) -> None:
        try:
            worker()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()  # However long compiling takes; a test has a limit of its own.
    if failed:
        raise failed[0]


def edges_of(graph: gt.Graph) -> list[tuple[int, int]]:
    table = graph.edges()
    return list(zip(table["src"].to_pylist(), table["dst"].to_pylist(), strict=True))


def writer(graph: gt.Graph, seed: int, mine: Counter[tuple[int, int]]) -> Callable[[], None]:
    """Inserts edges of its own, which it knows by their weight, and deletes them again."""
    chosen = random.Random(seed)

    def work() -> None:
        for _ in range(ROUNDS):
            ends = [(chosen.randrange(VERTICES), chosen.randrange(VERTICES)) for _ in range(3)]
            gone = chosen.sample(sorted(mine.elements()), min(2, mine.total()))
            graph.advance(
                insert=[(*pair, float(seed)) for pair in ends],
                delete=[(*pair, float(seed)) for pair in gone],
            )
            mine.update(ends)
            mine.subtract(gone)

    return work


def test_threads_that_advance_one_graph_lose_nothing() -> None:
    graph = gt.Graph([0], [1], vertices=VERTICES, weight=[-1.0])
    parts = graph.maintain(gt.algorithms.WCC)
    ways = graph.maintain(gt.algorithms.BFS(source=0))
    mine: list[Counter[tuple[int, int]]] = [Counter() for _ in range(THREADS)]

    def reader() -> None:
        for _ in range(ROUNDS):
            parts.verify()
            assert len(ways.table()) == graph.num_vertices
            assert graph.num_edges >= 1

    run_all(reader, *(writer(graph, seed, kept) for seed, kept in enumerate(mine)))
    assert graph.version == THREADS * ROUNDS
    expected = Counter({(0, 1): 1})
    for kept in mine:
        expected.update(kept)
    assert Counter(edges_of(graph)) == expected
    edges = [(one, other, 1.0) for one, other in expected.elements()]
    assert parts["component"].tolist() == oracle.components(VERTICES, edges)["component"]
    assert ways["hops"].tolist() == oracle.bfs(VERTICES, edges, 0)["hops"]
    for live in (parts, ways):
        live.verify()


def test_an_advance_and_what_it_changed_are_one_call() -> None:
    """Every change is told to the thread that made it."""
    graph = gt.Graph([], [], vertices=2 * THREADS)
    live = graph.maintain(gt.algorithms.WCC)

    def joining(first: int) -> Callable[[], None]:
        def work() -> None:
            for _ in range(ROUNDS):
                told = live.advance(insert=[(first, first + 1)])
                assert told["id"].to_pylist() == [first + 1]
                told = live.advance(delete=[(first, first + 1)])
                assert told["id"].to_pylist() == [first + 1]

        return work

    run_all(*(joining(2 * at) for at in range(THREADS)))


def test_programs_come_and_go_while_others_advance() -> None:
    graph = gt.Graph([0], [1], vertices=VERTICES)

    def coming() -> None:
        for _ in range(ROUNDS):
            live = graph.maintain(gt.algorithms.WCC)
            live.verify()
            live.close()

    def advancing() -> None:
        for at in range(ROUNDS):
            graph.advance(insert=[(at % VERTICES, (at * 7 + 1) % VERTICES)])
            if at % 3 == 2:
                graph.rollback()

    run_all(coming, coming, advancing)
    graph.maintain(gt.algorithms.WCC).verify()


def test_a_run_keeps_its_vertices_while_the_graph_goes_on() -> None:
    graph = gt.Graph(["a", "b"], ["b", "c"])
    run = graph.run(gt.algorithms.WCC, {"one": [0], "both": [0, 1]})
    graph.advance(insert=[("c", "d")])
    assert run.table("both").to_pydict() == {"id": ["a", "b", "c"], "component": ["a", "a", "a"]}


def test_runs_and_advances_go_on_at_once() -> None:
    graph = gt.Graph([0, 1], [1, 2], vertices=VERTICES)

    def running() -> None:
        for _ in range(5):
            run = graph.run(gt.algorithms.WCC, {"first": [0], "both": [0, 1]}, verify=1)
            table = run.table("both")
            ids, named = (table[name].to_pylist() for name in ("id", "component"))
            assert named[:4] == [ids[at] for at in (0, 0, 0, 3)]

    def advancing() -> None:
        for at in range(ROUNDS):
            graph.advance(insert=[(f"new {at}", 0)])

    run_all(running, advancing)
    assert graph.num_vertices == VERTICES + ROUNDS


def test_threads_that_feed_one_dataflow_lose_nothing() -> None:
    flow = gt.Dataflow()
    rows = flow.input("rows", key=int, name=str)
    counts = rows.count(by="key").output()
    arranged = rows.arrange("key")
    flow.advance()

    def feeding(seed: int) -> Callable[[], None]:
        def work() -> None:
            for at in range(ROUNDS):
                rows.insert([(seed, f"text {seed} {at}"), (at % 5 + 100, f"text {at}")])
                if at % 4 == seed % 4:
                    flow.advance()

        return work

    def reading() -> None:
        for _ in range(ROUNDS):
            assert all(number == 1 for number in counts.records().values())
            arranged.read()

    run_all(reading, *(feeding(seed) for seed in range(THREADS)))
    flow.advance()
    expected = Counter(dict.fromkeys(range(THREADS), ROUNDS))
    expected.update(at % 5 + 100 for at in range(ROUNDS) for _ in range(THREADS))
    assert counts.records() == dict.fromkeys(expected.items(), 1)
    held = Counter(dict(arranged.read().items()))
    assert held.total() == expected.total()
    assert held[(0, "text 0 3")] == 1


def test_a_function_that_a_dataflow_calls_cannot_advance_it() -> None:
    flow = gt.Dataflow()
    rows = flow.input("rows", key=int)
    said: list[str] = []

    def nosy(key: int) -> list[tuple[int]]:
        for forbidden in (flow.advance, partial(rows.insert, [(4,)])):
            try:
                forbidden()
            except InputError as error:
                said.append(str(error))
        return [(key,)]

    found = rows.flat_map(nosy, types={"key": int}).output()
    rows.insert([(3,)])
    flow.advance()
    assert [text.splitlines()[0] for text in said] == ["the dataflow is between two versions"] * 2
    assert found.records() == {(3,): 1}


@contextmanager
def interrupting(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[None]:
    """Ctrl-C at the moment in which a method is called, and once more when it is done."""
    whole = getattr(owner, name)

    def interrupted(*given: Any, **named: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        found = whole(*given, **named)
        os.kill(os.getpid(), signal.SIGINT)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, interrupted)
        yield


@pytest.mark.parametrize("moment", ["bring_in", "take_out"])
def test_an_interrupt_leaves_one_version_or_the_other(
    monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    graph = gt.Graph(["a", "b"], ["b", "c"])
    live = graph.maintain(gt.algorithms.WCC)
    graph.advance(insert=[("d", "e")])
    edges = [("e", "f"), ("a", "g")]
    act = partial(graph.advance, insert=edges) if moment == "bring_in" else graph.rollback
    with interrupting(monkeypatch, versions, moment), pytest.raises(KeyboardInterrupt):
        act()
    assert graph.version == (1 if moment == "bring_in" else 0)
    assert graph.num_vertices == len(live.table()) == (5 if moment == "bring_in" else 3)
    live.verify()
    graph.advance(insert=[("c", "d"), ("x", "y")])
    live.verify()
    assert len(live.table()) == graph.num_vertices


def test_an_interrupt_while_programs_follow_undoes_the_advance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = gt.Graph([0], [1], vertices=4)
    first, second = graph.maintain(gt.algorithms.WCC), graph.maintain(gt.algorithms.WCC)
    for live in (first, second):
        with interrupting(monkeypatch, live._kept, "follow"), pytest.raises(KeyboardInterrupt):
            graph.advance(insert=[(2, 3)])
        assert (graph.version, graph.num_edges) == (0, 1)
        for each in (first, second):
            each.verify()
            assert each["component"].tolist() == [0, 0, 2, 3]
    graph.advance(insert=[(2, 3)])
    assert first["component"].tolist() == second["component"].tolist() == [0, 0, 2, 2]


def test_a_program_that_is_interrupted_while_it_begins_anew_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = gt.Graph([0], [1], vertices=3)
    graph.advance(insert=[(1, 2)])
    late, other = graph.maintain(gt.algorithms.WCC), graph.maintain(gt.algorithms.WCC)
    starting = interrupting(monkeypatch, late._kept.maintainer, "start")
    with starting, pytest.raises(KeyboardInterrupt):
        graph.rollback()
    with pytest.raises(InputError, match="could not begin anew"):
        late.table()
    assert "closed" in repr(late)
    assert other["component"].tolist() == [0, 0, 2]
    other.verify()


def test_an_interrupt_waits_for_the_end_of_a_block() -> None:
    done = []
    before = signal.getsignal(signal.SIGINT)

    @uninterrupted()
    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is before


def test_numbers_of_a_graph_are_those_of_one_version() -> None:
    """Reading the results of all vertices while others come."""
    graph = gt.Graph([0], [1])
    live = graph.maintain(gt.algorithms.WCC)

    def advancing() -> None:
        for at in range(2, 2 + 4 * ROUNDS):
            graph.advance(insert=[(at - 1, at)])

    def reading() -> None:
        for _ in range(4 * ROUNDS):
            table = live.table()
            ids = table["id"].to_numpy()
            assert np.array_equal(ids, np.arange(len(ids)))
            assert not table["component"].to_numpy().any()

    run_all(advancing, reading, reading)
