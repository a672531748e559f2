"""Joins with many more pairs than results: bounded memory, pauses that nobody can tell, Ctrl-C."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.engine.dataflow import machine as machines
from graphtide.engine.dataflow.machine import Machine
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.ports import add_up_bucket
from graphtide.kernels.jit import INTERPRETED
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_terms import col
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY
from tests.examples import examples


def hub(ways: int, fuel: int = 1 << 20) -> tuple[Dataflow, Any, Any]:
    """Pairs of a source and a destination through one hub, by their last digits."""
    flow = Dataflow(memory=MEMORY, fuel=fuel)
    edges = flow.input("edges", src=int, dst=int)
    pairs = edges.join_map(
        edges, on={"dst": "src"}, start=col.src % 10, end=col.dst_right % 10
    ).consolidate()
    output = pairs.output()
    into = np.arange(1, ways + 1)
    edges.insert({"src": into, "dst": np.zeros(ways, np.int64)})
    edges.insert({"src": np.zeros(ways, np.int64), "dst": -into})
    return flow, edges, output


def expected(ways: int) -> Counter[tuple[int, int]]:
    starts = Counter(at % 10 for at in range(1, ways + 1))
    ends = Counter(-at % 10 for at in range(1, ways + 1))
    return Counter({(a, b): n * m for a, n in starts.items() for b, m in ends.items()})


def most_bytes(flow: Dataflow) -> int:
    """The most that was ever in use: memory is taken from the front, and freed blocks again."""
    return int(flow.host.machine.words[layout.NEXT_FREE]) * 8


@pytest.mark.compiled
def test_a_hub_with_a_hub_takes_little_memory() -> None:
    ways, fuel = 2_000, 1 << 14
    flow, edges, output = hub(ways, fuel)
    flow.advance()
    assert output.records() == expected(ways)
    counted = flow.counters()
    joined = next(found for name, found in counted.items() if "join" in name)
    assert joined["out"] == ways * ways
    # Four million rows of four words are 128 megabytes, and twice that while their bucket grows.
    assert most_bytes(flow) < 8_000_000
    edges.remove({"src": np.arange(1, 1001), "dst": np.zeros(1000, np.int64)})
    flow.advance()
    left = Counter(at % 10 for at in range(1001, ways + 1))
    ends = Counter(-at % 10 for at in range(1, ways + 1))
    assert output.records() == {(a, b): n * m for a, n in left.items() for b, m in ends.items()}
    assert most_bytes(flow) < 8_000_000


@pytest.mark.parametrize("fuel", [1, 2, 7, 50, 1000])
def test_pauses_change_nothing(fuel: int) -> None:
    flow, _, output = hub(40, fuel)
    pauses = 0
    run = machines.run

    def counted(words: Any, schedule: int) -> Any:
        nonlocal pauses
        ended = run(words, schedule)
        pauses += ended == layout.PAUSED
        return ended

    machines.run = counted
    try:
        flow.advance()
    finally:
        machines.run = run
    assert output.records() == expected(40)
    assert pauses >= 40 * 40 // (fuel + 40) - 1
    joined = next(found for name, found in flow.counters().items() if "join" in name)
    assert joined["out"] == 1600
    assert joined["activations"] <= 2


def test_a_long_join_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    flow, _, _ = hub(3_000, 1 << 12)
    run, calls = machines.run, 0

    def interrupted(words: Any, schedule: int) -> Any:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt
        return run(words, schedule)

    monkeypatch.setattr(machines, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        flow.advance()
    joined = next(found for name, found in flow.counters().items() if "join" in name)
    assert 0 < joined["out"] < 100_000
    assert flow.advance() == 1, "the batch is gone, and the dataflow is not"


def test_no_fuel_is_refused() -> None:
    with pytest.raises(InputError, match="fuel cannot be 0"):
        Dataflow(fuel=0)


rows_of = st.lists(
    st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.sampled_from((-1, 1, 1, 2))), max_size=60
)


@pytest.mark.interpreted
@pytest.mark.skipif(not INTERPRETED, reason="only kernels call it")
@given(rows_of)
@settings(deadline=None, max_examples=examples(60))
def test_a_bucket_is_added_up_where_it_stands(rows: list[tuple[int, int, int]]) -> None:
    machine = Machine(memory=1 << 20)
    bucket = machine.store([len(rows), len(rows), *(word for row in rows for word in row)])
    held = machine.held_bytes
    add_up_bucket(machine.words, bucket, 3)
    count = int(machine.words[bucket])
    start = bucket + layout.BUCKET_ROWS
    left = machine.words[start : start + 3 * count].reshape(count, 3).tolist()
    totals: Counter[tuple[int, int]] = Counter()
    for a, b, diff in rows:
        totals[a, b] += diff
    assert {(a, b): diff for a, b, diff in left} == {k: v for k, v in totals.items() if v}
    assert len({(a, b) for a, b, _ in left}) == count
    assert machine.held_bytes == held
