"""Fixpoint maintenance equals the naive synchronous run after every step, and undoes exactly."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.plan.programs import ParameterKind, VertexProgram
from tests.compiled import few_compiled
from tests.equivalence.campaigns import SHAPES, Campaign, Shape, make_campaign
from tests.equivalence.programs import SELECTING
from tests.examples import repeats
from tests.oracle.programs import run

ROUNDS = repeats(3)
PLANS = [item.plan for item in SELECTING]


def parameters_for(program: VertexProgram, pick: random.Random, vertices: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in program.parameters:
        one = pick.randrange(vertices)
        found[item.name] = (one,) if item.kind is ParameterKind.VERTICES else one
    return found


def expected(program: VertexProgram, parameters: dict[str, Any], campaign: Campaign) -> list[Any]:
    state = run(program, parameters, campaign.vertices, campaign.edges())[0]
    return list(state[program.state[0].name])


def inside(graph: ResidentGraph, edges: tuple[int, ...]) -> np.ndarray:
    return graph.numbers[list(edges)].astype(np.int32) if edges else np.empty(0, np.int32)


@pytest.mark.parametrize(
    "patience",
    [(0.25,), (-1e6,), (0.25, -1e6)],
    ids=["repairing", "running again", "one or the other"],
)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", few_compiled(PLANS))
def test_every_step_equals_the_naive_run(
    program: VertexProgram, shape: Shape, patience: tuple[float, ...]
) -> None:
    for seed in range(ROUNDS):
        pick = random.Random(f"{program.name} {shape} {seed}")
        campaign = make_campaign(pick, shape)
        graph = ResidentGraph(
            campaign.vertices,
            campaign.src,
            campaign.dst,
            {"weight": np.array(campaign.weights)},
        )
        dead = tuple(at for at, live in enumerate(campaign.live) if not live)
        graph.flip(inside(graph, ()), inside(graph, dead))
        parameters = parameters_for(program, pick, campaign.vertices)
        maintainer = FixpointMaintainer(graph, program, tuple(parameters.values()))
        maintainer.start()
        assert maintainer.values().tolist() == expected(program, parameters, campaign)
        for step in campaign.steps(pick, 10 if len(patience) == 1 else 30):
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
                assert change.old.tolist() == before[change.vertices].tolist()
            wanted = expected(program, parameters, campaign)
            assert maintainer.values().tolist() == wanted, seed
            assert maintainer.scratch()[program.state[0].name].tolist() == wanted, seed
        maintainer.verify()


def test_work_is_in_proportion_to_what_changes() -> None:
    """One edge at the end of a long path touches what hangs on it, not the path."""
    length = 20_000
    src = np.arange(length, dtype=np.int32)
    graph = ResidentGraph(length + 1, src, src + 1)
    maintainer = FixpointMaintainer(graph, SELECTING[0].plan, (0,))
    maintainer.start()
    last = graph.numbers[[length - 1]].astype(np.int32)
    nothing = np.empty(0, np.int32)
    (change,) = maintainer.advance(nothing, last).values()
    assert (change.vertices.tolist(), change.old.tolist()) == ([length], [float(length)])
    assert maintainer.touched <= 2
    maintainer.advance(last, nothing)
    assert maintainer.touched <= 2
