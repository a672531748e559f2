"""Several workers share a dataflow: the same answers, whoever carries out whose step, and when."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from graphtide.algorithms import dataflow as library
from graphtide.api.datalog import datalog
from graphtide.dataflow import Dataflow, col, count, total
from graphtide.engine.dataflow import machine as machines
from graphtide.engine.dataflow import worker_pool
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import InputError, LimitError
from tests.compiled import interpreted
from tests.dataflow.building import MEMORY
from tests.dataflow.campaign import fault
from tests.dataflow.crews import carried_out, shared_by
from tests.dataflow.histories import scenario
from tests.dataflow.test_once import once

EACH = 2000 if "GRAPHTIDE_CAMPAIGN" in os.environ else 2 if interpreted() else 12
ADVANCES = 5000 if "GRAPHTIDE_CAMPAIGN" in os.environ else 30 if interpreted() else 300


@pytest.fixture(autouse=True)
def _nobody_is_left() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if "dataflow worker" in thread.name]


@pytest.mark.parametrize(
    ("workers", "way"), [(2, "turns"), (2, "threads"), (3, "threads"), (3, "chance")]
)
def test_random_dataflows_mean_the_same(workers: int, way: str) -> None:
    first = 9_000_000 + 10_000 * workers + 1_000 * len(way)
    for seed in range(first, first + EACH):
        for tried in (scenario(seed), once(seed)):
            with carried_out(way):
                found = fault(shared_by(tried, workers))
            assert found is None, f"scenario {seed}: {found[0]}\n" + "\n".join(found[1])


@pytest.mark.parametrize("way", ["turns", "threads"])
def test_sums_of_an_aggregate_go_to_who_has_the_key(way: str) -> None:
    """They are added up on the way there, a chunk at a time: here are more rows than one has."""
    random, rows = Random(way), []
    flow = Dataflow(workers=3, memory=MEMORY)
    sales = flow.input("sales", item=int, pieces=int, due=float)
    found = sales.aggregate("item", n=count(), pieces=total("pieces"), due=total("due")).output()
    with carried_out(way):
        for _ in range(4):
            new = [(random.randrange(30), random.randrange(-5, 9), 0.5) for _ in range(400)]
            gone = random.sample(rows, len(rows) // 2)
            sales.insert(new)
            sales.remove(gone)
            flow.advance()
            for row in gone:
                rows.remove(row)
            rows += new
            sums: dict[int, list[float]] = {}
            for item, pieces, due in rows:
                one = sums.setdefault(item, [0, 0, 0.0])
                one[:] = one[0] + 1, one[1] + pieces, one[2] + due
            assert found.records() == {(key, *one): 1 for key, one in sums.items()}
    flow.close()


def shares(flow: Dataflow, kind: str) -> list[list[int]]:
    """For each operator of a kind, how many rows each worker took in."""
    installed = flow.install()
    numbers = [
        number
        for number in sorted(installed.addresses.operators)
        if type(installed.plan.nodes[number]).__name__ == kind
    ]
    return [
        [
            machine.field(done.operators[number], layout.OP_IN)
            for machine, done in zip(flow.host.pool.machines, installed.shards, strict=True)
        ]
        for number in numbers
    ]


def exchanged(flow: Dataflow) -> list[list[str]]:
    """The kinds of nodes that rows are exchanged for, meeting by meeting."""
    installed = flow.install()
    names = {address: number for number, address in installed.addresses.operators.items()}
    found: list[list[str]] = [[]]
    for code, operator, _, stops in installed.addresses.instructions:
        if code == layout.EXCHANGE:
            found[-1].append(type(installed.plan.nodes[names[operator]]).__name__)
            found += [[]] if stops else []
    return found[:-1]


def random_edges(count: int, vertices: int, seed: int) -> list[tuple[int, int]]:
    random = Random(seed)
    return [(random.randrange(vertices), random.randrange(vertices)) for _ in range(count)]


@pytest.mark.parametrize("way", ["turns", "threads"])
def test_strong_components_change_alike_for_any_number_of_workers(way: str) -> None:
    """Loops in loops, several versions in a batch, and half of all edges deleted again."""
    size = 16 if interpreted() else 400
    edges = random_edges(2 * size, size, 5)
    found = []
    for workers in (1, 2, 3):
        flow = Dataflow(memory=MEMORY, workers=workers)
        given = flow.input("edges", src=int, dst=int)
        output = library.strong_edges(given).output()
        changes = []
        with carried_out(way):
            for first in range(0, len(edges), size // 2):
                given.insert(edges[first : first + size // 2])
                given.remove(edges[first // 2 : first // 2 + size // 8], at=flow.version + 1)
                flow.advance_to(flow.version + 2)
                changes.append(output.changes())
        found.append((changes, output.records()))
        flow.host.end()
    assert found[0] == found[1] == found[2]
    assert found[0][1]


def test_every_worker_has_its_share_of_the_keys() -> None:
    flow = Dataflow(memory=MEMORY, workers=3)
    edges = flow.input("edges", src=int, dst=int)
    edges.distinct().count(by="src").output()
    edges.insert([(n, n % 7) for n in range(600)])
    flow.advance()
    whole, by_source = shares(flow, "Arrange")
    assert sum(whole) == sum(by_source) == 600
    assert all(120 < share < 280 for share in [*whole, *by_source])


def test_what_one_worker_has_all_of_is_added_up_before() -> None:
    flow = Dataflow(memory=MEMORY, workers=2)
    edges = flow.input("edges", src=int, dst=int)
    output = edges.count(by=()).output()
    edges.insert(random_edges(100, 9, 1))
    flow.advance()
    assert output.records() == {(100,): 1}
    assert shares(flow, "Arrange") == [[2, 0]]


@pytest.mark.parametrize("keys", [4_999, 1])
def test_large_inputs_are_given_room_at_once(keys: int) -> None:
    """With one key, the other worker has room for what never comes."""
    flow = Dataflow(memory=MEMORY, workers=2)
    edges = flow.input("edges", src=int, dst=int)
    output = edges.min(by="src").output()
    edges.insert({"src": np.arange(8_400) % keys, "dst": np.arange(8_400)})
    flow.advance()
    assert sum(output.columns()["dst"]) == sum(range(keys))
    assert sum(shares(flow, "Arrange")[0]) == 8_400


def test_one_exchange_serves_all_that_nobody_sends_to_meanwhile() -> None:
    flow = Dataflow(memory=MEMORY, workers=2)
    edges = flow.input("edges", src=int, dst=int)
    longer = edges.join_map(edges, on={"dst": "src"}, src=col.src, dst=col.dst_right)
    longer.count(by="src").output()
    assert exchanged(flow) == [["Arrange", "Arrange"], ["Arrange"]]


def test_what_has_its_key_already_is_not_exchanged() -> None:
    flow = Dataflow(memory=MEMORY, workers=2)
    edges = flow.input("edges", src=int, dst=int)
    degrees = edges.count(by="src")
    degrees.min(by="src").output()
    degrees.min(by="count").output()
    assert exchanged(flow) == [["Arrange"], ["Arrange"]]
    edges.insert(random_edges(60, 9, 2))
    with carried_out("turns"):
        flow.advance()


def hubs(workers: int, ways: int) -> tuple[Dataflow, Any]:
    """Every way into each of four hubs joined with every way out of it."""
    flow = Dataflow(memory=MEMORY, workers=workers, fuel=1 << 8)
    edges = flow.input("edges", src=int, dst=int)
    pairs = edges.join_map(edges, on={"dst": "src"}, src=col.src, dst=col.dst_right)
    output = pairs.count(by=("src", "dst")).output()
    edges.insert([(n + 10, hub) for hub in range(4) for n in range(ways)])
    edges.insert([(hub, -n - 1) for hub in range(4) for n in range(ways)])
    return flow, output


@pytest.mark.parametrize("way", ["turns", "threads"])
def test_an_interrupt_from_the_keyboard_stops_all_workers(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow, _ = hubs(2, 60)
    run, calls = machines.run, 0

    def interrupted(memory: Any, schedule: int) -> Any:
        nonlocal calls
        calls += 1
        if calls == 6:
            os.kill(os.getpid(), signal.SIGINT)
        return run(memory, schedule)

    monkeypatch.setattr(machines, "run", interrupted)
    with carried_out(way), pytest.raises(KeyboardInterrupt):
        flow.advance()
    assert calls < 30
    assert flow.advance() == 1
    flow.host.end()


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_what_fails_in_one_worker_is_told_once(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow, _ = hubs(3, 30)
    run, words = machines.run, flow.host.pool.machines[failing].words

    def failed(memory: Any, schedule: int) -> Any:
        if memory is words:
            raise MemoryError
        return run(memory, schedule)

    monkeypatch.setattr(machines, "run", failed)
    with carried_out("threads"), pytest.raises(LimitError, match="more memory"):
        flow.advance()
    with pytest.raises(InputError, match="cannot go on"):
        flow.advance()


@pytest.mark.parametrize("way", ["turns", "threads"])
def test_a_sum_beyond_its_word_is_an_error_with_any_worker(way: str) -> None:
    flow = Dataflow(memory=MEMORY, workers=2)
    numbers = flow.input("numbers", key=int, value=int)
    numbers.sum("value", by="key").output()
    numbers.insert([(key, (1 << 62) + key) for key in range(8) for _ in range(4)])
    with carried_out(way), pytest.raises(LimitError, match="64 bits"):
        flow.advance()


@pytest.mark.parametrize("way", ["turns", "threads"])
def test_a_loop_that_never_rests_is_refused(way: str) -> None:
    flow = Dataflow(memory=MEMORY, workers=2, most_rounds=64)
    numbers = flow.input("numbers", value=int)
    with flow.loop() as loop:
        held = loop.variable(value=int)
        held.set(held.map(value=col.value + 1).concat(numbers).distinct())
    held.leave().output()
    numbers.insert([(1,), (2,)])
    with carried_out(way), pytest.raises(LimitError, match="too often"):
        flow.advance()


@pytest.mark.parametrize("way", ["turns", "threads", "chance"])
def test_functions_are_called_by_the_thread_that_advances(way: str) -> None:
    flow = Dataflow(memory=MEMORY, workers=3)
    names = flow.input("names", name=str, key=int)
    callers = set()

    def longer(name: str, key: int) -> tuple[str, int]:
        callers.add(threading.get_ident())
        return name + name, key

    def spread(key: Any, rows: Any) -> list[tuple[int]]:
        callers.add(threading.get_ident())
        return [(len(rows),)]

    made = names.map(longer, types={"name": str, "key": int})
    counted = made.reduce(spread, by="name", types={"n": int}).output()
    first = made.min(by="key").output()
    names.insert([(f"{n % 7}", n % 3) for n in range(60)])
    with carried_out(way):
        flow.advance()
        names.remove([("0", 0)])
        flow.advance()
    assert counted.records() == {(f"{n}{n}", 3): 1 for n in range(7)}
    assert first.records() == {(0, "00"): 1, (1, "00"): 1, (2, "00"): 1}
    assert callers == {threading.get_ident()}


def test_a_function_that_uses_its_dataflow_is_refused() -> None:
    flow = Dataflow(memory=MEMORY, workers=2)
    numbers = flow.input("numbers", value=int)
    output = numbers.map(lambda value: len(output.records()), types={"n": int}).output()
    numbers.insert([(n,) for n in range(10)])
    with carried_out("threads"), pytest.raises(InputError, match="between two versions"):
        flow.advance()


def test_very_many_small_batches_by_threads() -> None:
    flow = Dataflow(memory=MEMORY, workers=2)
    edges = flow.input("edges", src=int, dst=int)
    roots = flow.input("roots", node=int)
    roots.insert([(0,)])
    output = library.distances(edges, roots).output()
    length = 8
    edges.insert([(n, n + 1) for n in range(length)])
    with carried_out("threads"):
        flow.advance()
        for turn in range(ADVANCES):
            (edges.insert if turn % 2 else edges.remove)([(3, 4)])
            flow.advance()
            assert len(output.changes()) == (length + 1 if turn == 0 else length - 3) or turn == 0
    flow.host.end()


def test_a_batch_that_takes_a_while_gets_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins without, whatever its size, and goes on with them."""
    steps: list[str] = []
    helpers = worker_pool.WorkerThreads

    class Counted(helpers):  # type: ignore[misc, valid-type]
        def step(self, workers: Any) -> Any:
            steps.append(threading.current_thread().name)
            return super().step(workers)

    monkeypatch.setattr(worker_pool, "THREADS", Counted)
    flow, output = hubs(2, 12)
    flow.advance_to(1)
    small = len(steps)
    flow.host.end()
    monkeypatch.setattr(worker_pool, "PATIENCE", -1.0)
    flow, output = hubs(2, 12)
    flow.advance()
    assert len(steps) > small
    assert sum(record[2] * count for record, count in output.records().items()) == 4 * 144


def test_rules_are_shared_by_workers() -> None:
    text = """
        .decl edge(x: number, y: number)
        .decl tc(x: number, y: number)
        tc(x, y) :- edge(x, y).
        tc(x, z) :- tc(x, y), edge(y, z).
        .output tc
    """
    rules = datalog(text, workers=2)
    rules.insert("edge", [(1, 2), (2, 3), (3, 1), (3, 4)])
    rules.advance()
    whole = {(x, y) for x in (1, 2, 3) for y in (1, 2, 3, 4)}
    assert set(rules.facts("tc")) == whole
    rules.delete("edge", [(3, 1)])
    rules.advance()
    assert set(rules.facts("tc")) == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}


def test_closing_frees_what_is_exchanged_in_every_worker() -> None:
    flow = Dataflow(memory=MEMORY, workers=2)
    edges = flow.input("edges", src=int, dst=int)
    arranged = edges.arrange("src")
    edges.insert(random_edges(40, 9, 3))
    flow.advance()
    held = []
    for _ in range(3):
        late = Dataflow("late", beside=flow)
        output = late.import_arrangement(arranged).count(by="dst").output()
        flow.advance()
        assert sum(n * count for (_, n), count in output.records().items()) == 40
        late.close()
        held.append([machine.held_bytes for machine in flow.host.pool.machines])
    assert held[1] == held[2]


def test_settings_that_cannot_be() -> None:
    with pytest.raises(InputError, match="workers cannot be 0"):
        Dataflow(workers=0)
    with pytest.raises(InputError, match="workers cannot be 65"):
        Dataflow(workers=65)
    with pytest.raises(InputError, match="settings"):
        Dataflow("late", beside=Dataflow(memory=MEMORY), workers=2)
