"""Dataflows that run once: the same answers, with tables where nothing is ever taken away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphtide.dataflow import Dataflow, col
from graphtide.engine.dataflow.once import forgetting, tables_of
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
