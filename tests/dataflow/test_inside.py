"""To see inside: explain, the picture, counters, debug mode; and work in proportion to change."""

from __future__ import annotations

import itertools
from typing import Any
from xml.etree import ElementTree

import pytest

from graphtide.algorithms.dataflow import distances, strong_edges
from graphtide.model.errors import GraphtideError
from graphtide.plan.dataflow_terms import col
from tests.dataflow.building import MEMORY
from tests.dataflow.checked import Dataflow


def star(leaves: int) -> tuple[Dataflow, Any, Any]:
    """BFS on a root with many children, all of which have one grandchild in common."""
    flow = Dataflow("star", memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    roots = flow.input("roots", node=int)
    output = distances(edges, roots).output()
    roots.insert([(0,)])
    edges.insert([(0, n) for n in range(2, leaves + 2)] + [(n, 1) for n in range(2, leaves + 2)])
    flow.advance()
    return flow, edges, output


def test_explain_says_what_is_there_and_what_it_did() -> None:
    flow, _, _ = star(3)
    text = flow.explain()
    assert text.splitlines()[0] == "dataflow star"
    assert "loop distances" in text
    assert "reduce min by node (node, hops)" in text
    assert "recomputed" in text


def test_the_picture_is_well_formed_and_names_every_node() -> None:
    flow, _, _ = star(3)
    picture = ElementTree.fromstring(flow.draw())
    titles = [item.text or "" for item in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 1 + len(flow.plan.nodes)
    assert any("held" in title for title in titles)


def counted(flow: Dataflow, name: str) -> int:
    return sum(found.get(name, 0) for found in flow.counters().values())


def test_a_change_costs_what_it_changes() -> None:
    """Among thousands of equal supports, one more or less is not a scan of all of them."""
    flow, edges, output = star(3000)
    output.drain()
    before = counted(flow, "in")
    edges.remove([(7, 1)])
    flow.advance()
    edges.insert([(8, 1)])
    flow.advance()
    assert output.changes() == []
    assert counted(flow, "in") - before <= 8


def test_what_cannot_change_is_skipped() -> None:
    flow, edges, output = star(50)
    output.drain()
    before = counted(flow, "skipped"), counted(flow, "recomputed")
    edges.insert([(1, n) for n in range(2, 40)])
    flow.advance()
    assert output.changes() == []
    assert counted(flow, "skipped") - before[0] == 38
    assert counted(flow, "recomputed") == before[1]


def test_debug_mode_holds_nested_loops_to_their_definitions() -> None:
    flow = Dataflow(memory=MEMORY, debug=True)
    edges = flow.input("edges", src=int, dst=int)
    within = strong_edges(edges).output()
    edges.insert([(1, 2), (2, 1), (2, 3)])
    flow.advance()
    edges.insert([(3, 1)])
    edges.remove([(2, 1)])
    flow.advance()
    assert within.records() == {(1, 2): 1, (2, 3): 1, (3, 1): 1}


def test_debug_mode_finds_a_function_that_is_none() -> None:
    flow = Dataflow(memory=MEMORY, debug=True)
    numbers = flow.input("numbers", number=int)
    ticket = itertools.count()
    numbers.map(lambda number: number + next(ticket), types={"number": int}).output()
    numbers.insert([(1,)])
    with pytest.raises(GraphtideError, match="not what its definition says"):
        flow.advance()


def test_columns_of_many_kinds_in_debug_mode() -> None:
    flow = Dataflow(memory=MEMORY, debug=True)
    rows = flow.input("rows", name=str, price=float, count=int)
    rows.map(
        lambda name, price, count: (name, price * count),
        types={"name": str, "paid": float},
        vectorised=True,
    ).sum("paid", by="name").output()
    rows.filter((col.price > 1.0) | (col.name == "b")).max(by="count", of="price").output()
    rows.insert([("a", 0.5, 2), ("b", 1.5, 3), ("a", 4.0, 2)])
    flow.advance()
    rows.remove([("a", 4.0, 2)])
    flow.advance()


@pytest.mark.parametrize("end", ["min", "max"])
def test_nothing_is_skipped_where_the_output_is_gone_for_some_rounds(end: str) -> None:
    """Between two rounds without a record, a new one beyond all others is the only one."""
    flow = Dataflow(memory=MEMORY, debug=True)
    come = flow.input("come", key=int, value=int, round=int)
    gone = flow.input("gone", key=int, value=int, round=int)
    with flow.loop() as loop:
        early = come.enter(loop, at=col.round).select("key", "value")
        late = gone.enter(loop, at=col.round).select("key", "value")
        found = getattr(early.minus(late), end)(by="key")
    output = found.leave().output()
    sign = 1 if end == "min" else -1
    come.insert([(0, 10 * sign, 0), (0, 3 * sign, 9)])
    gone.insert([(0, 10 * sign, 5)])
    flow.advance()
    come.insert([(0, 20 * sign, 0)])
    flow.advance()
    assert output.records() == {(0, 3 * sign): 1}
