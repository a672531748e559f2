"""Dataflows that run once: the same answers, with tables where nothing is ever taken away."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from graphtide.dataflow import Dataflow, col
from graphtide.engine.dataflow.lowering import forgetting, tables_of
from graphtide.kernels.dataflow.distinct import NUMBERS
from graphtide.kernels.dataflow.ports import hash_words
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY
from tests.dataflow.campaign import fault
from tests.dataflow.histories import scenario
from tests.dataflow.scenarios import Scenario

PARTS, EACH = 3, 8


def once(seed: int) -> Scenario:
    """The scenario of a number with all that is inserted at once, and nothing taken away."""
    tried = scenario(seed)
    changes = tuple((n, 0, record, abs(diff)) for n, _, record, diff in tried.changes)
    settings = tuple(item for item in tried.settings if item[0] not in ("coordinates", "debug"))
    return replace(
        tried,
        changes=changes,
        stops=(1,),
        settings=(*settings, ("once", True)),
        guest=None,
        columns=0,
        held=(),
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_random_dataflows_that_run_once_mean_the_same(part: int) -> None:
    for seed in range(7_000 + part * EACH, 7_000 + (part + 1) * EACH):
        found = fault(once(seed))
        assert found is None, f"{found[0]}\n" + "\n".join(found[1])


def closure(flow: Dataflow) -> tuple[Any, Any]:
    """Pairs of vertices with a way from one to the other."""
    edges = flow.input("edges", src=int, dst=int)
    with flow.loop() as loop:
        ways = loop.variable(src=int, dst=int)
        further = ways.join_map(edges, on={"dst": "src"}, src=col.src, dst=col.dst_right)
        found = further.concat(edges).distinct()
        ways.set(found)
    return edges, found.leave()


def test_a_closure_is_kept_in_a_table_and_forgets_what_is_not_fresh() -> None:
    flow = Dataflow(memory=MEMORY, once=True)
    edges, ways = closure(flow)
    output = ways.output()
    edges.insert([(n, n + 1) for n in range(70)] + [(70, 0)])
    flow.advance()
    assert len(output.records()) == 71 * 71
    assert len(tables_of(flow.plan)) == len(forgetting(flow.plan)) == 1


HALVES_ALIKE = {
    1: [(23457,), (272614,), (34549,), (103550,)],
    2: [(388, 79), (405, 529), (170, 424), (199, 117), (217, 359), (405, 420)],
    3: [(4, 0, 40), (37, 56, 43), (3, 68, 9), (10, 88, 16)],
}
"""Records by their columns, of which each two have the same half of a hash (`kernels/.../seen`)."""


def distinct_once(columns: int, inserted: list[tuple[int, ...]]) -> Any:
    """The distinct records of twice what is inserted, by a table."""
    flow = Dataflow(memory=MEMORY, once=True)
    rows = flow.input("rows", **{f"c{number}": int for number in range(columns)})
    output = rows.concat(rows).distinct().output()
    assert len(tables_of(flow.plan)) == 1
    rows.insert(inserted)
    flow.advance()
    return output.records()


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_records_with_the_same_half_of_a_hash_are_told_apart(columns: int) -> None:
    alike = HALVES_ALIKE[columns]
    words, hashed = (
        np.array(alike, np.int64).reshape(-1),
        getattr(hash_words, "py_func", hash_words),
    )
    with np.errstate(over="ignore"):
        halves = [hashed(words, columns * n, columns) & NUMBERS for n in range(len(alike))]
    assert halves[::2] == halves[1::2]
    assert distinct_once(columns, [*alike, *alike[1:]]) == dict.fromkeys(alike, 1)


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_table_grows_and_sees_each_record_once(columns: int, seed: int) -> None:
    """Chunks that are full, half full and one more; few and many that are the same."""
    pick = random.Random(seed)
    count = pick.choice([1, 63, 64, 65, 255, 256, 257, 700, 1_100])
    values = pick.choice([3, 40, 1 << 62])
    inserted = [
        tuple(pick.randrange(-values, values) for _ in range(columns)) for _ in range(count)
    ]
    assert distinct_once(columns, inserted) == dict.fromkeys(inserted, 1)


def test_what_is_taken_away_needs_times() -> None:
    """Negation in a loop, a variable that starts as a collection, least values: no tables."""
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    closed = flow.input("closed", dst=int)
    with flow.loop() as loop:
        ways = loop.variable(edges)
        further = ways.join_map(edges, on={"dst": "src"}, src=col.src, dst=col.dst_right)
        started = further.concat(edges).distinct()
        ways.set(started)
    with flow.loop() as loop:
        others = loop.variable(src=int, dst=int)
        further = others.join_map(edges, on={"dst": "src"}, src=col.src, dst=col.dst_right)
        without = further.concat(edges).antijoin(closed, on="dst").distinct()
        others.set(without)
    assert not {started.number, without.number} & set(tables_of(flow.plan))


def test_what_runs_once_refuses_the_rest() -> None:
    flow = Dataflow(memory=MEMORY, once=True)
    edges, _ways = closure(flow)
    with pytest.raises(InputError, match="insertions alone"):
        edges.remove([(1, 2)])
    with pytest.raises(InputError, match="one version"):
        edges.insert([(1, 2)], at=3)
    distinct = edges.distinct()
    edges.insert([(1, 2)])
    flow.advance()
    with pytest.raises(InputError, match="without an index"):
        distinct.read()
    with pytest.raises(InputError, match="runs once"):
        flow.advance()
    with pytest.raises(InputError, match="runs once"):
        Dataflow(beside=flow)
    flow.close()
