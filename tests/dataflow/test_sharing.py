"""Arrangements: shared within and across dataflows, imported late, held, compacted, dropped."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.algorithms.dataflow import neighbours
from graphtide.engine.dataflow.reading import rows_held
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_terms import col
from tests.dataflow.building import MEMORY
from tests.dataflow.checked import Dataflow
from tests.examples import examples

Pair = tuple[int, int]


def pairs_flow(**settings: Any) -> tuple[Dataflow, Any, Any]:
    flow = Dataflow(memory=MEMORY, **settings)
    edges = flow.input("edges", src=int, dst=int)
    return flow, edges, edges.arrange("src")


def test_equal_arrangements_are_one() -> None:
    flow, edges, arranged = pairs_flow()
    assert edges.arrange("src").number == arranged.number
    assert arranged.arrange("src") is arranged
    assert edges.arrange("dst").number != arranged.number
    for _ in range(5):
        edges.join_map(edges, on={"src": "src"}, a=col.dst, b=col.dst_right).output()
    edges.insert([(1, 2)])
    flow.advance()
    held = [name for name, found in flow.counters().items() if "held" in found]
    assert len(held) == 2


def test_a_late_dataflow_sees_what_came_before_and_what_comes() -> None:
    flow, edges, arranged = pairs_flow()
    edges.insert([(1, 2), (1, 3), (2, 3)])
    flow.advance()
    edges.remove([(1, 3)])
    flow.advance()
    late = Dataflow("late", beside=flow)
    asked = late.input("asked", node=int)
    answer = neighbours(late.import_arrangement(arranged), asked).output()
    asked.insert([(1,)])
    flow.advance()
    assert answer.changes() == [((1, 2), 2, 1)]
    edges.insert([(1, 7), (5, 5)])
    asked.insert([(5,)])
    flow.advance()
    assert answer.changes() == [((1, 7), 3, 1), ((5, 5), 3, 1)]
    asked.remove([(1,)])
    flow.advance()
    assert answer.records() == {(5, 5): 1}


@pytest.mark.parametrize("history", [False, True])
def test_imports_with_and_without_history(history: bool) -> None:
    flow, edges, arranged = pairs_flow()
    edges.insert([(1, 2)])
    edges.insert([(1, 1)], at=1)
    edges.remove([(1, 2)], at=2)
    hold = None
    flow.advance_to(1)
    hold = arranged.hold(0)
    flow.advance_to(3)
    late = Dataflow("late", beside=flow)
    imported = late.import_arrangement(arranged, history=history)
    seen = imported.output()
    counts = imported.count(by="src").output()
    least = imported.min(by="src").output()
    flow.advance()
    if history:
        assert seen.changes() == [((1, 2), 0, 1), ((1, 1), 1, 1), ((1, 2), 2, -1)]
        assert [time for _, time, _ in counts.changes()] == [0, 1, 1, 2, 2]
        assert least.changes() == [((1, 2), 0, 1), ((1, 1), 1, 1), ((1, 2), 1, -1)]
    else:
        assert seen.changes() == [((1, 1), 3, 1)]
        assert counts.changes() == [((1, 1), 3, 1)]
        assert least.changes() == [((1, 1), 3, 1)]
    hold.drop()


def test_a_dataflow_that_is_closed_gives_its_memory_back() -> None:
    flow, edges, arranged = pairs_flow()
    edges.insert([(n, n + 1) for n in range(100)])
    flow.advance()
    held = []
    for _ in range(4):
        late = Dataflow("late", beside=flow)
        asked = late.input("asked", node=int)
        answer = neighbours(late.import_arrangement(arranged), asked).count(by="node").output()
        asked.insert([(3,), (4,)])
        flow.advance()
        assert answer.records() == {(3, 1): 1, (4, 1): 1}
        late.close()
        edges.insert([(3, 9)])
        flow.advance()
        edges.remove([(3, 9)])
        flow.advance()
        held.append(flow.host.machine.held_bytes)
    assert held[-1] <= held[0]


def test_importers_go_first() -> None:
    flow, _, arranged = pairs_flow()
    flow.advance()
    late = Dataflow("late", beside=flow)
    late.import_arrangement(arranged).output()
    flow.advance()
    with pytest.raises(InputError, match="imports from it"):
        flow.close()


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from((1, -1))), max_size=30
    ),
    st.integers(0, 8),
    st.sampled_from(("value", "time")),
    st.sampled_from((-1, 1, 4)),
)
@settings(deadline=None, max_examples=examples(60))
def test_compaction_never_changes_what_a_reader_sees(
    changes: list[tuple[int, int, int]], held: int, order: Any, effort: int
) -> None:
    """Reads at every version from a handle on, after every later version, are what was."""
    flow = Dataflow(memory=MEMORY, effort=effort)
    edges = flow.input("edges", src=int, dst=int)
    arranged = edges.arrange("src", order=order)
    state: dict[Pair, int] = {}
    states: list[dict[Pair, int]] = []
    handle = None
    for version, (src, dst, diff) in enumerate(changes):
        edges.update([(src, dst)], [diff])
        state[src, dst] = state.get((src, dst), 0) + diff
        states.append({pair: count for pair, count in state.items() if count})
        flow.advance()
        if version == held:
            handle = arranged.hold(version)
        if handle is not None:
            for at in range(held, version + 1):
                assert handle.read(at) == states[at]
                assert arranged.lookup(src, at=at) == {
                    pair: count for pair, count in states[at].items() if pair[0] == src
                }
        assert arranged.read() == states[-1]


def test_memory_stays_in_proportion_to_what_is_live() -> None:
    flow, edges, arranged = pairs_flow()
    live = [(n, n) for n in range(200)]
    edges.insert(live)
    flow.advance()
    for step in range(1500):
        edges.remove([live[step % 200]])
        live[step % 200] = (step % 200, step)
        edges.insert([live[step % 200]])
        flow.advance()
    assert rows_held(flow.host.pool, arranged.trace) <= 2 * 200 + 64


def test_handles_hold_and_let_go() -> None:
    flow, edges, arranged = pairs_flow()
    edges.insert([(1, 2)])
    flow.advance()
    handle = arranged.hold()
    for version in range(1, 6):
        edges.insert([(1, 2 + version)])
        flow.advance()
    assert handle.read(0) == {(1, 2): 1}
    handle.downgrade(3)
    assert len(handle.read(3)) == 4
    with pytest.raises(InputError, match="compacted"):
        arranged.read(0)
    with pytest.raises(InputError, match="cannot go back"):
        handle.downgrade(1)
    handle.drop()
    handle.drop()
    with pytest.raises(InputError, match="dropped"):
        handle.downgrade(5)
    with pytest.raises(InputError, match="compacted"):
        arranged.read(3)
    with arranged.hold() as again:
        assert again.version == 5


@pytest.mark.parametrize("setting", [{"fuel": 8}, {"coordinates": 2}])
def test_settings_are_those_of_the_first(setting: dict[str, Any]) -> None:
    first = Dataflow("first", memory=MEMORY)
    with pytest.raises(InputError, match="second shares clock, memory and settings with first"):
        Dataflow("second", beside=first, **setting)


@pytest.mark.parametrize("age", [0, 1, 3])
@pytest.mark.parametrize("debug", [False, True])
def test_a_loop_over_an_imported_history_comes_to_rest(age: int, debug: bool) -> None:
    """Versions of the history are gone through one by one, long after they were closed."""
    flow = Dataflow(memory=MEMORY, most_rounds=64, debug=debug)
    numbers = flow.input("numbers", a=int)
    greatest = numbers.max(by=[], of=["a"])
    numbers.update([(5,), (9,)], [1, 1], at=1)
    numbers.update([(9,)], [-1], at=2)
    flow.advance_to(3 + age)
    late = Dataflow("late", beside=flow)
    given = late.import_arrangement(greatest, history=True)
    halves = given.iterate(lambda v: v.map(a=col.a // 2).concat(given.map(a=col.a)).distinct())
    output = halves.output()
    flow.advance_to(4 + age)
    assert output.records() == {(5,): 1, (2,): 1, (1,): 1, (0,): 1}
    numbers.insert([(8,)])
    flow.advance()
    assert output.records() == {(8,): 1, (4,): 1, (2,): 1, (1,): 1, (0,): 1}


@pytest.mark.parametrize("order", ["value", "time"])
def test_reductions_of_an_arrangement_are_those_of_its_records(order: Any) -> None:
    """Whatever rows are sorted by, and also where a late dataflow takes all of them in at once."""
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    arranged = edges.arrange("src", order=order)
    least = arranged.min(by=["src"], of=["dst"]).output()
    flow.advance()
    there: list[Pair] = []
    for step in range(12):
        come = [(at % 3, (7 * at + 5 * step) % 11) for at in range(4)]
        gone = there[: step % 4]
        edges.insert(come)
        edges.remove(gone)
        flow.advance()
        there = [*there[step % 4 :], *come]
        assert least.records() == _least_of(there)
    late = Dataflow("late", beside=flow)
    whole = late.import_arrangement(arranged)
    beside = whole.reduce(
        lambda _, found: [min(value for value, _ in found)], by="src", types={"dst": int}
    ).output()
    for _ in range(3):
        edges.remove(there[:2])
        flow.advance()
        there = there[2:]
        assert least.records() == beside.records() == _least_of(there)


def _least_of(pairs: list[Pair]) -> dict[Pair, int]:
    sources = {src for src, _ in pairs}
    return {(src, min(dst for one, dst in pairs if one == src)): 1 for src in sources}
