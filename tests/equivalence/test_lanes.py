"""Every lane of every group equals the naive run on that version's edges alone."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import graphtide.lang.python as gt
from graphtide.engine.lanes.runs import LaneGroups
from graphtide.engine.lanes.source import why_not_lanes
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous import facts
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.kernels.lanes.values import LANES
from graphtide.model.errors import LimitError
from graphtide.plan.programs import VertexProgram
from tests.compiled import few_compiled
from tests.equivalence.algorithm_cases import CASES
from tests.equivalence.campaigns import SHAPES, Campaign, Shape, make_campaign
from tests.equivalence.lane_programs import LANE_PROGRAMS
from tests.equivalence.summing_programs import SUMMING, PageRank, SettledRank
from tests.equivalence.test_synchronous import COMPILED, agree, graph_of, inside, parameters_for
from tests.examples import repeats
from tests.oracle.programs import run
from tests.resident_graphs import append

ROUNDS = repeats(2)
PLANS = [item.plan for item in (*SUMMING, *LANE_PROGRAMS)]
FITTING = [plan for plan in PLANS if why_not_lanes(plan) is None]
NOTHING = np.empty(0, np.int32)


def lanes_of(graph: ResidentGraph, program: VertexProgram, parameters: Any) -> LaneGroups:
    lanes = maintainer_of(graph, program, parameters).lanes
    assert lanes is not None
    return lanes


def maintainer_of(graph: ResidentGraph, program: VertexProgram, parameters: Any) -> Any:
    return SynchronousMaintainer(graph, program, tuple(parameters.values()))


def walk(graph: ResidentGraph, campaign: Campaign, groups: LaneGroups, turned: set[int]) -> None:
    """Flip edges of a campaign and of its graph, and tell the group."""
    was = campaign.live
    campaign.live = [live ^ (at in turned) for at, live in enumerate(was)]
    came = inside(graph, tuple(at for at in turned if not was[at]))
    went = inside(graph, tuple(at for at in turned if was[at]))
    graph.flip(came, went)
    groups.flip(came, went)


def turns(pick: random.Random, campaign: Campaign) -> set[int]:
    """Edges to flip: few, about half, all that are there, or none."""
    edges = range(len(campaign.ends))
    match pick.randrange(5):
        case 0:
            return {at for at in edges if campaign.live[at]}
        case 1:
            return set()
        case 2:
            return {at for at in edges if pick.random() < 0.5}
        case _:
            return set(pick.sample(edges, pick.randrange(min(len(edges), 4) + 1)))


def check_groups(program: VertexProgram, shape: Shape, seed: int) -> None:
    pick = random.Random(f"{program.name} {shape} {seed}")
    campaign = make_campaign(pick, shape)
    graph, n = graph_of(campaign), campaign.vertices
    parameters = parameters_for(program, pick, n)
    maintainer = maintainer_of(graph, program, parameters)
    groups = maintainer.lanes
    for size in (pick.randrange(1, LANES), LANES, 1):
        groups.begin()
        expected = []
        for _ in range(size):
            for _ in range(pick.randrange(1, 3)):
                walk(graph, campaign, groups, turns(pick, campaign))
            groups.take()
            expected.append(run(program, parameters, n, campaign.edges())[1][-1])
            for name, column in maintainer.scratch().items():
                assert agree(column.tolist(), expected[-1][name]), (seed, size, name)
        for lane, values in enumerate(groups.run()):
            for name, column in values.items():
                assert agree(column.tolist(), expected[lane][name]), (seed, size, lane, name)


@pytest.mark.parametrize("program", few_compiled(FITTING, COMPILED))
def test_every_lane_and_version_equals_the_naive_run(program: VertexProgram) -> None:
    for shape in SHAPES:
        for seed in range(ROUNDS):
            check_groups(program, shape, seed)


def large_walk(size: int) -> tuple[ResidentGraph, list[np.ndarray]]:
    """A graph of a few thousand edges, and what is flipped before each of some versions."""
    pick = np.random.default_rng(5)
    ends = (pick.pareto(1.0, (2, 6000)) * 20).astype(np.int64) % 900
    graph = ResidentGraph(900, *ends.astype(np.int32))
    graph.flip(NOTHING, np.arange(0, 6000, 3, dtype=np.int32))
    flips = [pick.permutation(6000)[: 40 * at].astype(np.int32) for at in range(size)]
    return graph, flips


def taken(graph: ResidentGraph, groups: LaneGroups, flips: list[np.ndarray]) -> list[Any]:
    groups.begin()
    for turned in flips:
        there = graph.are_live(turned)
        graph.flip(turned[~there], turned[there])
        groups.flip(turned)
        groups.take()
    return groups.run()


@pytest.mark.compiled
@pytest.mark.parametrize("program", [PageRank.plan, SettledRank.plan], ids=lambda plan: plan.name)
def test_a_version_has_the_same_bits_in_every_group(program: VertexProgram) -> None:
    graph, flips = large_walk(6)
    together = taken(graph, lanes_of(graph, program, {}), flips)
    for cut in ([0, 1, 6], [0, 4, 6], [0, 1, 2, 3, 4, 5, 6]):
        graph, flips = large_walk(6)
        groups = lanes_of(graph, program, {})
        found: list[Any] = []
        for first, behind in pairwise(cut):
            found += taken(graph, groups, flips[first:behind])
        for one, other in zip(together, found, strict=True):
            assert np.array_equal(one["rank"], other["rank"])


@pytest.mark.compiled
@pytest.mark.parametrize("program", [PageRank.plan, SettledRank.plan], ids=lambda plan: plan.name)
def test_lanes_are_as_near_as_plain_sums(program: VertexProgram) -> None:
    graph, flips = large_walk(8)
    found = taken(graph, lanes_of(graph, program, {}), flips)
    graph, flips = large_walk(8)
    alone = SynchronousMaintainer(graph, program, ())
    for turned, values in zip(flips, found, strict=True):
        there = graph.are_live(turned)
        graph.flip(turned[~there], turned[there])
        assert np.allclose(values["rank"], alone.scratch()["rank"], rtol=1e-12, atol=0)


def test_groups_follow_a_graph_that_grows() -> None:
    graph = ResidentGraph(3, np.array([0, 1], np.int32), np.array([1, 2], np.int32))
    groups = lanes_of(graph, PageRank.plan, {})
    groups.begin()
    groups.take()
    before = groups.run()[0]["rank"]
    graph.append_vertices(1)
    added = append(graph, [(3, 0)])
    graph.flip(NOTHING, added)
    groups.begin()
    groups.take()
    graph.flip(added, NOTHING)
    groups.flip(added)
    groups.take()
    first, second = (values["rank"] for values in groups.run())
    assert np.array_equal(first[:3], before)
    assert first[3] == 0.15
    assert second[0] > first[0]
    graph.flip(NOTHING, added)
    graph.forget(4, 2)
    assert append(graph, [(2, 0)]).tolist() == added.tolist()
    groups.begin()
    groups.take()
    assert groups.run()[0]["rank"][3] == 0.15
    alone = SynchronousMaintainer(graph, PageRank.plan, ()).scratch()["rank"]
    assert np.allclose(groups.run()[0]["rank"], alone, rtol=1e-12, atol=0)


def test_what_does_not_fit_says_why() -> None:
    reasons = {plan.name: why_not_lanes(plan) for plan in PLANS}
    assert reasons["SoftLabels"] == "it has arrays"
    assert reasons["Beliefs"] == "it multiplies messages"
    assert reasons["PageRank"] is None


def test_the_library_programs_that_add_up_fit() -> None:
    fitting = {case.name for case in CASES if why_not_lanes(case.program.plan) is None}
    assert {"PageRank", "ConvergedPageRank", "PersonalisedPageRank", "KCore"} <= fitting


@pytest.mark.interpreted
def test_a_run_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "MOST_ITERATIONS", 50)

    @gt.program
    class Endless:
        level: int
        seen = gt.Count()

        def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
            v.seen()

        def update(self, v):  # type: ignore[no-untyped-def]
            v.level = 1 - v.level if v.seen < 1000 else 0

    graph = ResidentGraph(2, np.array([0], np.int32), np.array([1], np.int32))
    groups = lanes_of(graph, Endless.plan, {})
    groups.begin()
    groups.take()
    with pytest.raises(LimitError):
        groups.run()
