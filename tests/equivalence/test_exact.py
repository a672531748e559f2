"""Exact maintenance: whole histories equal the naive synchronous run after every step."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from graphtide.algorithms import WCC
from graphtide.engine.exact.maintainer import ExactMaintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.exact.histories import PASSED, PASSED_AN_EDGE
from graphtide.plan.programs import VertexProgram
from tests.compiled import few_compiled
from tests.equivalence.campaigns import SHAPES, Campaign, Shape, make_campaign
from tests.equivalence.programs import SELECTING
from tests.equivalence.test_fixpoint import ROUNDS, inside, parameters_for
from tests.oracle.programs import run

PLANS = [item.plan for item in SELECTING]


def expected_histories(
    program: VertexProgram, parameters: dict[str, Any], campaign: Campaign, iterations: int | None
) -> list[list[tuple[int, Any]]]:
    """Where the values of each vertex change over the iterations of a naive run."""
    name = program.state[0].name
    rounds = run(program, parameters, campaign.vertices, campaign.edges(), iterations=iterations)[1]
    found: list[list[tuple[int, Any]]] = [[] for _ in range(campaign.vertices)]
    for time, state in enumerate(rounds):
        for vertex, value in enumerate(state[name]):
            if not found[vertex] or found[vertex][-1][1] != value:
                found[vertex].append((time, value))
    return found


@pytest.mark.parametrize(
    "patience", [(0.15,), (-1e6, -1e6, 0.15)], ids=["repairing", "mostly running again"]
)
@pytest.mark.parametrize("iterations", [None, 1, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", few_compiled(PLANS, ("BFS",)))
def test_every_history_equals_the_naive_run(
    program: VertexProgram, shape: Shape, iterations: int | None, patience: tuple[float, ...]
) -> None:
    for seed in range(ROUNDS):
        pick = random.Random(f"{program.name} {shape} {iterations} {seed}")
        campaign = make_campaign(pick, shape)
        properties = {"weight": np.array(campaign.weights)}
        graph = ResidentGraph(campaign.vertices, campaign.src, campaign.dst, properties)
        dead = tuple(at for at, live in enumerate(campaign.live) if not live)
        graph.flip(inside(graph, ()), inside(graph, dead))
        parameters = parameters_for(program, pick, campaign.vertices)
        maintainer = ExactMaintainer(
            graph, program, tuple(parameters.values()), iterations=iterations
        )
        maintainer.start()

        def check(maintainer: ExactMaintainer = maintainer, campaign: Campaign = campaign) -> None:
            wanted = expected_histories(program, parameters, campaign, iterations)  # noqa: B023
            found = [maintainer.history(vertex) for vertex in range(campaign.vertices)]
            assert found == wanted
            last = [history[-1][1] for history in wanted]
            assert maintainer.values().tolist() == last
            assert maintainer.scratch()[program.state[0].name].tolist() == last

        check()
        for step in campaign.steps(pick, 12):
            maintainer.patience = pick.choice(patience)
            before = maintainer.values().copy()
            if step.kind == "rollback":
                maintainer.rollback()
            else:
                (change,) = maintainer.advance(
                    inside(graph, step.inserted), inside(graph, step.deleted)
                ).values()
                differ = np.flatnonzero(before != maintainer.values())
                assert sorted(change.vertices.tolist()) == differ.tolist()
            check()
        maintainer.verify()


@pytest.mark.interpreted
def test_walking_along_long_histories_counts_as_work() -> None:
    """On a path whose ends are far apart, a repair looks at few edges and passes many entries."""
    count = 60
    ends = np.arange(count, dtype=np.int32)
    graph = ResidentGraph(count, ends[:-1], ends[1:], {})
    maintainer = ExactMaintainer(graph, WCC.plan, ())
    maintainer.start()
    before = [maintainer.history(vertex) for vertex in range(count)]

    def repaired(most: int) -> bool:
        maintainer.patience = (most - 1024) / maintainer._work
        maintainer.advance(inside(graph, ()), inside(graph, (0,)))
        return maintainer._done.last.state is None

    assert repaired(10**9)
    edges, entries = maintainer.touched, int(maintainer._desk.counts[PASSED])
    assert entries > 10 * edges
    maintainer.rollback()
    assert not repaired(edges + entries // (2 * PASSED_AN_EDGE))
    maintainer.rollback()
    assert [maintainer.history(vertex) for vertex in range(count)] == before
    assert repaired(edges + entries // PASSED_AN_EDGE + 1)
