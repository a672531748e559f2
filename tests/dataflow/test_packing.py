"""Packed rows against plain Python: any words, any diffs, any versions, through many merges."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.dataflow import Dataflow
from graphtide.engine.dataflow.host import Host
from graphtide.engine.dataflow.machine import Machine
from graphtide.engine.dataflow.reading import trace_rows
from graphtide.kernels.dataflow import layout
from tests.dataflow.building import MEMORY
from tests.examples import examples

MOST = (1 << 63) - 1
words = st.one_of(
    st.integers(0, 3),
    st.integers(-5, 70_000),
    st.sampled_from((-MOST - 1, -MOST, MOST, 1 << 62, -(1 << 62), (1 << 40) + 7)),
)
diffs = st.one_of(
    st.sampled_from((1, 1, 1, -1, -1)),
    st.sampled_from((2, -3, 1 << 39, -(1 << 41), 1 << 55, -(1 << 55))),
)
Row = tuple[int, int, int, int, int]
"""Key, two values, a step of the version, diff."""
rows = st.lists(st.tuples(st.integers(0, 3), words, words, st.integers(0, 3), diffs), max_size=12)


def arranged(*, by_time: bool, values: int = 2, effort: int = 4) -> tuple[Host, int, int]:
    """A machine that arranges records of one key word and some values; its port and trace."""
    host = Host(memory=MEMORY, effort=effort)
    machine: Machine = host.machine
    trace, port = machine.new_trace(1, values, by_time), machine.new_port(1 + values)
    fields = {layout.OP_PORT: port, layout.OP_OUTPUT: trace}
    operator = machine.new_operator(layout.ARRANGE, 0, fields)
    machine.set_schedule([[layout.DO, operator, 0, 0]])
    return host, port, trace


def held(host: Host, trace: int, since: int) -> Counter[tuple[int, ...]]:
    """The rows of a trace, versions up to a frontier as one, each batch found in order."""
    by_time = host.machine.field(trace, layout.TRACE_BY_TIME) != 0
    found: Counter[tuple[int, ...]] = Counter()
    for part in trace_rows(host.pool, trace):
        listed = part.tolist()
        order = [
            (key, *((*time, *values) if by_time else (*values, *time)))
            for key, *values, position, version, _ in listed
            for time in [(position, version)]
        ]
        assert order == sorted(set(order))
        for key, *values, _, version, diff in listed:
            assert diff != 0
            found[key, *values, max(version, since)] += diff
    return Counter({record: count for record, count in found.items() if count})


@given(st.lists(rows, min_size=1, max_size=12), st.booleans(), st.sampled_from((-1, 1, 4)))
@settings(deadline=None, max_examples=examples(120))
def test_packing_loses_nothing(turns: list[list[Row]], by_time: bool, effort: int) -> None:
    """Whatever the words are, and wherever merging and compaction are, the sums are the same."""
    host, port, trace = arranged(by_time=by_time, effort=effort)
    expected: Counter[tuple[int, ...]] = Counter()
    version = 0
    for turn in turns:
        host.machine.set_frontier(layout.SINCE, [version])
        table = [(key, one, two, version + step, diff) for key, one, two, step, diff in turn]
        host.machine.feed(port, np.array(table, np.int64).reshape(-1, 5))
        host.machine.run()
        for *record, diff in table:
            expected[tuple(record)] += diff
        seen: Counter[tuple[int, ...]] = Counter()
        for (*record, at), diff in expected.items():
            seen[*record, max(at, version)] += diff
        assert held(host, trace, version) == {r: c for r, c in seen.items() if c}
        version += 2


@pytest.mark.compiled
@pytest.mark.parametrize("by_time", [False, True])
def test_a_long_life_with_heavy_deletion_keeps_little(by_time: bool) -> None:
    """What is held stays in proportion to what is there, and so do the times and the words."""
    random = np.random.default_rng(5)
    host, port, trace = arranged(by_time=by_time, values=1)
    machine = host.machine
    live = np.zeros((50, 40), np.int64)
    for version in range(600):
        machine.set_frontier(layout.SINCE, [max(version - 1, 0)])
        wanted = (random.random(live.shape) < 0.3).astype(np.int64)
        keys, values = np.nonzero(wanted != live)
        change = (wanted - live)[keys, values]
        stamped = np.full(len(keys), version)
        machine.feed(port, np.column_stack([keys, values, stamped, change]))
        machine.run()
        live = wanted
    total = np.zeros_like(live)
    count = 0
    for part in trace_rows(host.pool, trace):
        np.add.at(total, (part[:, 0], part[:, 1]), part[:, -1])
        count += len(part)
    assert np.array_equal(total, live)
    assert count <= 5 * len(live) * 40
    assert machine.held_bytes - machine_bytes() <= 16 * 8 * count


def machine_bytes() -> int:
    """What a machine takes that has nothing in it."""
    return Host(memory=MEMORY).machine.held_bytes


def test_an_edge_takes_one_word() -> None:
    """Value, time and diff of an edge fit into a word, and all its times into one."""
    random = np.random.default_rng(6)
    host, port, _ = arranged(by_time=False, values=1)
    edges = np.unique(random.integers(0, 1 << 20, (100_000, 2)), axis=0)
    ones = np.ones((len(edges), 1), np.int64)
    host.machine.feed(port, np.hstack([edges, 0 * ones, ones]))
    host.machine.run()
    keys = len(np.unique(edges[:, 0]))
    assert host.machine.held_bytes - machine_bytes() <= 1.3 * 8 * (len(edges) + 2.25 * keys)


@pytest.mark.parametrize("keys", [1, 2, 40, 200], ids=lambda keys: f"{keys} keys")
def test_rows_too_wide_to_pack_are_sorted_and_added_up(keys: int) -> None:
    """Told apart by their key as a rule, now and then, or never; equal ones are one."""
    random = Random(keys)
    wide = [random.randrange(-(1 << 62), 1 << 62) for _ in range(60)]
    rows = [(random.randrange(keys), random.choice(wide), random.choice(wide)) for _ in range(90)]
    rows += random.sample(rows, 30)
    flow = Dataflow(memory=MEMORY)
    source = flow.input("source", key=int, one=int, other=int)
    whole = source.arrange("key")
    least = source.min(by="key", of=["one", "other"]).output()
    source.insert(rows)
    flow.advance()
    source.remove(rows[:40])
    flow.advance()
    left = Counter(rows)
    left.subtract(rows[:40])
    left = +left
    assert whole.read() == dict(left)
    ends = {key: min(row for row in left if row[0] == key) for key in {row[0] for row in left}}
    assert least.records() == dict.fromkeys(ends.values(), 1)
    flow.host.end()
