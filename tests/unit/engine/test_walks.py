"""What the maintainer of walk programs does at its edges: limits, vertices that come, faults."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.maintainer import WalkMaintainer
from graphtide.kernels.walks import records
from graphtide.kernels.walks.versions import LAST_GATHERING
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


def test_neighbours_of_a_pair_that_left_beside_others_are_those_of_before() -> None:
    """The end that is gathered has lost many neighbours, more than it has now, and got one."""
    pairs = [(0, other) for other in range(1, 30)] + [(at, at + 1) for at in range(1, 29)]
    src, dst = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    graph = ResidentGraph(50, src, dst, live=False)
    maintainer = WalkMaintainer(graph, triangles(SUM), ())
    maintainer.anew_share = 0
    live = set(range(len(pairs))) - {5}
    graph.flip(graph.numbers[sorted(live)], graph.numbers[[]])
    maintainer.start()
    for come, gone in (([5], list(range(6, 28))), ([6, 7], [5, 30]), ([5, 30], [0, 1, 2])):
        maintainer.follow(graph.flip(graph.numbers[come], graph.numbers[gone]))
        live = (live | set(come)) - set(gone)
        edges = [(*pairs[at], {}) for at in sorted(live)]
        compare(run(triangles(SUM), {}, 50, edges), maintainer)


def test_gatherings_are_counted_from_0_before_their_number_is_too_large() -> None:
    graph = ResidentGraph(
        4, np.array([0, 1, 2, 0], np.int32), np.array([1, 2, 0, 3], np.int32), live=True
    )
    maintainer = WalkMaintainer(graph, triangles(SUM), ())
    maintainer.anew_share = 0
    maintainer.start()
    state = maintainer._run.state
    state.beside[:], state.counts[records.GATHERED] = np.iinfo(np.int64).max, LAST_GATHERING + 1
    state.make_ready(1)
    assert not state.beside.any()
    assert not state.counts[records.GATHERED]
    edge = graph.numbers[[1]]
    maintainer.follow(graph.flip(edge[:0], edge))
    assert maintainer.values().tolist() == [0, 0, 0, 0]
    maintainer.follow(graph.flip(edge, edge[:0]))
    assert maintainer.values().tolist() == [1, 1, 1, 0]
    assert state.counts[records.GATHERED] == 2


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


def test_an_index_outside_of_its_array_leaves_rows_alone() -> None:
    send = w.SendAt("v", "found", ONE, x.VertexFact("u", "out_degree"))
    (step,) = pairs_of(None).traverse
    assert isinstance(step, w.Step)
    program = replace(
        pairs_of(None),
        accumulators=(p.Accumulator("found", SUM, x.INT, 3),),
        traverse=(replace(step, body=(*step.body, send)),),
        update=(p.AssignState("triangles", x.AccumulatorRef("found", x.INT, ONE)),),
    )
    src, dst = np.array([0, 0, 0, 1], np.int32), np.array([1, 2, 3, 0], np.int32)
    graph = ResidentGraph(4, src, dst, live=False)
    graph.flip(np.array([0, 3], np.int32), np.empty(0, np.int32))
    maintainer = WalkMaintainer(graph, program, ())
    maintainer.anew_share = 0
    maintainer.start()
    with pytest.raises(InputError, match="outside"):
        maintainer.advance(np.array([1, 2], np.int32), np.empty(0, np.int32))
    found = maintainer.matches["pairs"]
    assert (found.rows(), found.total) == ([(0, 1), (1, 0)], 2)


def test_only_the_last_walk_with_the_best_value_leaves_a_vertex_in_doubt() -> None:
    """A hub that loses one of many looks at nothing; it looks when none is left."""
    least = p.Accumulator("found", p.AccumulatorKind.MIN, x.INT)
    value = x.Binary("//", x.VertexFact("u", "id"), x.Const(4, x.INT))
    program = replace(
        triangles(),
        name="Least",
        accumulators=(least,),
        traverse=(w.Step("u", OUT, "v", None, (w.SendAt("v", "found", value),)),),
        update=(p.AssignState("triangles", x.AccumulatorRef("found", x.INT)),),
    )
    src = np.arange(1, 9, dtype=np.int32)
    graph = ResidentGraph(9, src, np.zeros(8, np.int32))
    maintainer = WalkMaintainer(graph, program, ())
    maintainer.anew_share = 0
    maintainer.start()
    state = maintainer._run.state
    doubts, values = [], []
    for edge in range(8):
        maintainer.advance(np.empty(0, np.int32), np.array([edge], np.int32))
        doubts.append(int(state.touched.doubt[: state.counts[records.TOUCHED]].sum()))
        values.append(int(maintainer.values()[0]))
    assert doubts == [0, 0, 1, 0, 0, 0, 1, 1]
    assert values == [0, 0, 1, 1, 1, 1, 2, p.INT_MAX]
    for _ in range(8):
        maintainer.rollback()
    maintainer.verify()


@pytest.mark.parametrize("seed", range(3))
def test_batches_of_a_graph_without_parallel_edges(seed: int) -> None:
    """Marks are then looked at where a batch has changed something, and nowhere else."""
    draw, program = random.Random(seed), triangles()
    ends = [(one, two) for one in range(7) for two in range(one + 1, 7)]
    ends = sorted(pair if draw.random() < 0.5 else pair[::-1] for pair in ends)
    graph = ResidentGraph(7, *np.array(ends, np.int32).T, live=False)
    maintainer = WalkMaintainer(graph, program, ())
    maintainer.anew_share = 0
    maintainer.start()
    live = set[int]()
    for _ in range(25):
        flipped = draw.sample(range(len(ends)), 6)
        come = np.array([edge for edge in flipped if edge not in live], np.int32)
        gone = np.array([edge for edge in flipped if edge in live], np.int32)
        maintainer.advance(come, gone)
        live ^= set(flipped)
        assert maintainer._run.state.counts[records.PARALLEL] == 0
        compare(run(program, {}, 7, [(*ends[edge], {}) for edge in sorted(live)]), maintainer)


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
    results = history.maintainer.scratch()
    assert results["triangles"].tolist() == expected.state["triangles"]
    assert {name: results[name].item() for name in expected.globals} == expected.globals
    assert np.array_equal(history.maintainer.values(), before)


def test_a_run_that_never_ends_is_refused() -> None:
    more = x.Binary("+", x.StateRef("v", "triangles", x.INT), ONE)
    program = replace(
        triangles(), name="Endless", update=(p.AssignState("triangles", more),), iterations=None
    )
    graph = ResidentGraph(1, np.empty(0, np.int32), np.empty(0, np.int32))
    counts = WalkMaintainer(graph, program, ())._run.state.counts
    assert counts[records.LAST] == 100_000
