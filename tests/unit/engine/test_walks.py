"""What the maintainer of walk programs does at its edges: limits, vertices that come, faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.maintainer import WalkMaintainer
from graphtide.kernels.walks import records
from graphtide.model.errors import InputError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.equivalence.walk_cases import COUNT, ONE, OUT, SUM, History, compare, triangles
from tests.oracle.walks import run
from tests.resident_graphs import bring_in

pytestmark = pytest.mark.interpreted


def pairs_of(limit: int | None) -> w.WalkProgram:
    """Every distinct pair of neighbours as a row."""
    row = w.Report("pairs", (x.VertexFact("u", "id"), x.VertexFact("v", "id")))
    return replace(
        triangles(),
        name="Pairs",
        matches=(w.Matches("pairs", (("u", "vertex"), ("v", "vertex")), limit),),
        traverse=(w.Step("u", OUT, "v", None, (row,)),),
    )


def test_a_limit_cuts_and_says_so() -> None:
    history = History(pairs_of(3), 12, 400, 1)
    maintainer, whole = history.maintainer, pairs_of(None)
    maintainer.anew_share = 0
    maintainer.start()
    deltas = []
    for _ in range(30):
        gone = history.random.sample(sorted(history.live), min(8, len(history.live)))
        maintainer.follow(history.flip([], gone))
        deltas.append(gone)
        edges = [history.rows[at] for at in sorted(history.live)]
        rows = run(whole, {}, 12, edges).matches["pairs"]
        found = maintainer.matches["pairs"]
        assert (found.rows(), found.total) == (rows[:3], len(rows))
        assert found.cut == (len(rows) > 3)
    for gone in reversed(deltas):
        maintainer.undo()
        history.flip(gone, [])
    edges = [history.rows[at] for at in sorted(history.live)]
    rows = run(whole, {}, 12, edges).matches["pairs"]
    assert maintainer.matches["pairs"].rows() == rows[:3]


def test_rows_that_came_and_left_are_told() -> None:
    graph = ResidentGraph(4, np.array([0, 1], np.int32), np.array([1, 2], np.int32))
    maintainer = WalkMaintainer(graph, pairs_of(None), ())
    maintainer.anew_share = 0
    maintainer.start()
    changes = maintainer.advance(np.empty(0, np.int32), np.array([0], np.int32))
    assert changes.matches["pairs"].disappeared == ((0, 1),)
    assert changes.matches["pairs"].appeared == ()
    maintainer.rollback()
    assert maintainer.matches["pairs"].rows() == [(0, 1), (1, 2)]


def counting_vertices() -> w.WalkProgram:
    """Vertices, with their degrees and the triangles that they are in."""
    own = (w.SendGlobal("total", ONE), w.SendAt("u", "found", x.VertexFact("u", "degree")))
    found = triangles(SUM)
    return replace(
        found,
        name="Vertices",
        traverse=(*found.traverse, *own),
        globals=(p.Accumulator("total", COUNT, x.INT),),
    )


def test_vertices_that_come_have_their_walks() -> None:
    program = counting_vertices()
    graph = ResidentGraph(
        3, np.array([0, 1], np.int32), np.array([1, 2], np.int32), live=True, grows=True
    )
    maintainer = WalkMaintainer(graph, program, ())
    maintainer.anew_share = 0
    maintainer.start()
    edges = [(0, 1), (1, 2)]
    steps = [[(0, 2)], [(3, 0), (3, 1)], [(4, 4), (4, 3), (3, 4)]]
    for at, rows in enumerate(steps):
        graph.append_vertices(0 if at == 0 else 1)
        _, delta = bring_in(graph, rows)
        changes = maintainer.follow(delta)
        edges += rows
        compare(run(program, {}, graph.vertices, [(*ends, {}) for ends in edges]), maintainer)
        assert changes.globals or not at
    maintainer.verify()
    for rows in reversed(steps):
        maintainer.undo()
        del edges[-len(rows) :]
        count = max(max(ends) for ends in edges) + 1
        expected = run(program, {}, count, [(*ends, {}) for ends in edges])
        assert maintainer.values().tolist() == expected.state["triangles"]
        assert dict(maintainer.globals) == expected.globals


def test_an_index_outside_of_its_array_changes_nothing() -> None:
    send = w.SendAt("v", "found", ONE, x.VertexFact("u", "out_degree"))
    program = replace(
        triangles(SUM),
        name="Outside",
        accumulators=(p.Accumulator("found", SUM, x.INT, 3),),
        traverse=(w.Step("u", OUT, "v", None, (send,)),),
        update=(p.AssignState("triangles", x.AccumulatorRef("found", x.INT, ONE)),),
    )
    src, dst = np.array([0, 0, 0, 1], np.int32), np.array([1, 2, 3, 0], np.int32)
    graph = ResidentGraph(4, src, dst, live=False)
    graph.flip(np.array([0, 3], np.int32), np.empty(0, np.int32))
    maintainer = WalkMaintainer(graph, program, ())
    maintainer.anew_share = 0
    maintainer.start()
    before = maintainer.values().tolist()
    with pytest.raises(InputError, match="index 3 is outside of an array of 3"):
        maintainer.advance(np.array([1, 2], np.int32), np.empty(0, np.int32))
    assert maintainer.values().tolist() == before
    maintainer.advance(np.array([1], np.int32), np.empty(0, np.int32))
    maintainer.verify()


def test_verify_finds_a_wrong_value() -> None:
    history = History(triangles(), 6, 26, 3)
    history.maintainer.start()
    history.maintainer.verify()
    history.maintainer.values()[2] += 1
    with pytest.raises(AssertionError, match="triangles of 2"):
        history.maintainer.verify()


def test_scratch_leaves_the_maintainer_alone() -> None:
    history = History(triangles(), 6, 26, 4)
    history.maintainer.start()
    before = history.maintainer.values().copy()
    history.flip([], sorted(history.live)[:4])
    expected = history.expected()
    state, totals, _ = history.maintainer.scratch_results()
    assert state["triangles"].tolist() == expected.state["triangles"]
    assert dict(totals) == expected.globals
    assert np.array_equal(history.maintainer.values(), before)


def test_a_run_that_never_ends_is_refused() -> None:
    more = x.Binary("+", x.StateRef("v", "triangles", x.INT), ONE)
    program = replace(
        triangles(), name="Endless", update=(p.AssignState("triangles", more),), iterations=None
    )
    graph = ResidentGraph(1, np.empty(0, np.int32), np.empty(0, np.int32))
    counts = WalkMaintainer(graph, program, ())._run.state.counts
    assert counts[records.LAST] == 100_000
