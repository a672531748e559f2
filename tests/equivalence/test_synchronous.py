"""Synchronous maintenance equals the naive run in every iteration after every step."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.model.errors import InputError
from graphtide.plan.programs import ParameterKind, VertexProgram
from tests.compiled import few_compiled
from tests.equivalence.campaigns import SHAPES, Campaign, Shape, make_campaign
from tests.equivalence.summing_programs import SUMMING, Core, PageRank, Walks
from tests.examples import repeats
from tests.oracle.programs import run

ROUNDS = repeats(2)
PLANS = [item.plan for item in SUMMING]
COMPILED = ("PageRank", "Mixed")
PAIR = few_compiled([PageRank.plan, Core.plan], COMPILED)
NOTHING = np.empty(0, np.int32)


def parameters_for(program: VertexProgram, pick: random.Random, vertices: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in program.parameters:
        one = pick.randrange(vertices)
        match item.kind:
            case ParameterKind.VERTICES:
                found[item.name] = (one, pick.randrange(vertices))
            case ParameterKind.VERTEX:
                found[item.name] = one
            case _:
                found[item.name] = pick.randrange(2, 4)
    return found


def graph_of(campaign: Campaign) -> ResidentGraph:
    weights = {"weight": np.array(campaign.weights)}
    graph = ResidentGraph(campaign.vertices, campaign.src, campaign.dst, weights)
    dead = tuple(at for at, live in enumerate(campaign.live) if not live)
    graph.flip(NOTHING, inside(graph, dead))
    return graph


def inside(graph: ResidentGraph, edges: tuple[int, ...]) -> np.ndarray:
    return graph.numbers[list(edges)].astype(np.int32) if edges else NOTHING


def agree(one: Any, other: Any, share: float = 1e-11) -> bool:
    """Equal up to rounding; NaN is NaN."""
    if isinstance(one, list):
        return all(agree(a, b, share) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=share, abs_tol=1e-12)


def check(
    maintainer: SynchronousMaintainer, parameters: dict[str, Any], campaign: Campaign
) -> None:
    """Every iteration that is kept, and the last.

    Where floats run until nothing changes at all, one of the two may stand still an iteration
    sooner, because it rounds otherwise.
    """
    program = maintainer.program
    _, expected = run(program, parameters, campaign.vertices, campaign.edges())
    last = len(expected) - 1
    if program.tolerance > 0 or all(item.type != "float" for item in program.state):
        assert maintainer.reached == last
    for item in program.state:
        history = maintainer.history(item.name)
        for at, found in enumerate(history):
            assert agree(found.tolist(), expected[min(at, last)][item.name]), (item.name, at)
        assert agree(maintainer.values(item.name).tolist(), expected[-1][item.name])


@pytest.mark.parametrize("keep", [None, 2], ids=["all", "kept to 2"])
@pytest.mark.parametrize("program", few_compiled(PLANS, COMPILED))
def test_every_iteration_equals_the_naive_run(program: VertexProgram, keep: int | None) -> None:
    for shape in SHAPES:
        for seed in range(ROUNDS):
            campaign_of(program, shape, seed, keep)


@pytest.mark.parametrize("program", PAIR)
def test_running_anew_in_between_is_the_same(program: VertexProgram) -> None:
    """Corrected and fresh versions alternate; rollbacks go back through both."""
    for shape in SHAPES:
        for keep in (None, 2):
            campaign_of(program, shape, 7, keep, budgets=(0, 3, None))


@pytest.mark.parametrize("program", PAIR)
def test_scratch_answers_for_the_present_version_alone(program: VertexProgram) -> None:
    for shape in SHAPES:
        pick = random.Random(f"{program.name} {shape}")
        campaign = make_campaign(pick, shape)
        graph = graph_of(campaign)
        parameters = parameters_for(program, pick, campaign.vertices)
        maintainer = SynchronousMaintainer(graph, program, tuple(parameters.values()))
        _, expected = run(program, parameters, campaign.vertices, campaign.edges())
        for name, values in maintainer.scratch().items():
            assert agree(values.tolist(), expected[-1][name]), (shape, name)


def random_ranks(tolerance: float, vertices: int, edges: int) -> SynchronousMaintainer:
    """PageRank on random edges, half of them live."""
    pick = np.random.default_rng(3)
    ends = pick.integers(0, vertices, (2, edges)).astype(np.int32)
    graph = ResidentGraph(vertices, *ends)
    graph.flip(NOTHING, np.arange(0, edges, 2, dtype=np.int32))
    maintainer = SynchronousMaintainer(graph, PageRank.plan, (), tolerance=tolerance)
    maintainer.budget = 1 << 40
    maintainer.start()
    return maintainer


@pytest.mark.compiled
def test_thousands_of_small_advances_stay_within_the_bound() -> None:
    tolerance, pick = 1e-3, random.Random(5)
    maintainer = random_ranks(tolerance, 60, 400)
    bound = (1 - tolerance) ** -10 - 1
    live, worst = set(range(1, 400, 2)), 0.0
    for step in range(3000):
        edge = pick.randrange(400)
        chosen = np.array([edge], np.int32)
        if edge in live:
            maintainer.advance(NOTHING, chosen)
        else:
            maintainer.advance(chosen, NOTHING)
        live ^= {edge}
        maintainer.forget()
        if step % 50 == 0:
            true = maintainer.scratch()["rank"]
            worst = max(worst, float(np.max(np.abs(maintainer.values("rank") / true - 1))))
    assert 0 < worst <= bound


@pytest.mark.compiled
def test_without_a_tolerance_thousands_of_advances_do_not_drift() -> None:
    maintainer, pick = random_ranks(0.0, 60, 400), random.Random(6)
    live = set(range(1, 400, 2))
    for _ in range(2000):
        edge = pick.randrange(400)
        chosen = np.array([edge], np.int32)
        maintainer.advance(*((NOTHING, chosen) if edge in live else (chosen, NOTHING)))
        live ^= {edge}
        maintainer.forget()
    true = maintainer.scratch()["rank"]
    assert np.max(np.abs(maintainer.values("rank") / true - 1)) < 1e-14


@pytest.mark.compiled
def test_a_tolerance_leaves_most_edges_alone() -> None:
    looked = []
    for tolerance in (0.0, 1e-2):
        maintainer = random_ranks(tolerance, 2000, 16000)
        maintainer.advance(np.array([0], np.int32), NOTHING)
        looked.append(maintainer.touched)
    assert 20 * looked[1] < looked[0]


def test_a_degree_that_messages_do_not_read_is_no_difference() -> None:
    """A new edge into a vertex with many edges out of it: its own out-degree is what it was."""
    hub, sources, targets = 0, range(1, 42), range(42, 542)
    ends = [(at, hub) for at in sources] + [(hub, at) for at in targets]
    graph = ResidentGraph(542, *np.array(ends, np.int32).T.copy())
    last = inside(graph, (40,))
    graph.flip(NOTHING, last)
    maintainer = SynchronousMaintainer(graph, PageRank.plan, (), tolerance=0.1)
    maintainer.start()
    maintainer.advance(last, NOTHING)
    assert 0 < maintainer.touched < 30


@pytest.mark.compiled
def test_an_advance_that_will_be_too_dear_runs_anew_at_once() -> None:
    """The degrees of the ends tell: no edge is looked at in vain."""
    maintainer = random_ranks(0.0, 2000, 16000)
    maintainer.budget = 100
    maintainer.advance(np.arange(0, 50, 2, dtype=np.int32), NOTHING)
    assert maintainer.touched == maintainer._version.gathered
    maintainer.verify()


def kept_of(maintainer: SynchronousMaintainer) -> list[Any]:
    """All that can be asked of a maintainer, in plain lists."""
    fields = [item.name for item in maintainer.program.state]
    histories = [[layer.tolist() for layer in maintainer.history(name)] for name in fields]
    counts = maintainer._version.counts.tolist()
    return [maintainer.reached, counts, histories, maintainer.scratch()["number"].tolist()]


@pytest.mark.interpreted
def test_an_advance_that_fails_midway_leaves_everything_as_it_was() -> None:
    """A vertex runs out of its table in some later iteration, others having moved already."""
    failed, done, pick = 0, 0, random.Random(11)
    ends = np.array([(pick.randrange(9), pick.randrange(9)) for _ in range(24)], np.int32)
    graph = ResidentGraph(9, *np.ascontiguousarray(ends.T))
    graph.flip(NOTHING, np.arange(24, dtype=np.int32))
    maintainer = SynchronousMaintainer(graph, Walks.plan, (4,))
    maintainer.start()
    live: set[int] = set()
    for step in range(200):
        chosen = set(pick.sample(range(24), pick.randrange(1, 4)))
        edges = [(*ends[at].tolist(), {}) for at in sorted(live ^ chosen)]
        before = kept_of(maintainer)
        inserted, deleted = inside(graph, tuple(chosen - live)), inside(graph, tuple(chosen & live))
        maintainer.budget = 0 if step % 5 == 0 else 1 << 40
        try:
            _, expected = run(Walks.plan, {"iterations": 4}, 9, edges)
        except IndexError:
            with pytest.raises(InputError, match="outside of an array of 12"):
                maintainer.advance(inserted, deleted)
            assert kept_of(maintainer) == before
            failed += 1
            continue
        maintainer.advance(inserted, deleted)
        live ^= chosen
        done += 1
        for at, found in enumerate(maintainer.history("number")):
            assert found.tolist() == expected[min(at, len(expected) - 1)]["number"]
        maintainer.verify()
    assert failed > 10
    assert done > 10


def campaign_of(
    program: VertexProgram,
    shape: Shape,
    seed: int,
    keep: int | None,
    budgets: tuple[int | None, ...] = (None,),
) -> None:
    pick = random.Random(f"{program.name} {shape} {seed}")
    campaign = make_campaign(pick, shape)
    graph = graph_of(campaign)
    parameters = parameters_for(program, pick, campaign.vertices)
    maintainer = SynchronousMaintainer(graph, program, tuple(parameters.values()), keep=keep)
    maintainer.start()
    check(maintainer, parameters, campaign)
    for step in campaign.steps(pick, 8):
        before = {item.name: maintainer.values(item.name).copy() for item in program.state}
        maintainer.budget = pick.choice(budgets)
        if step.kind == "rollback":
            maintainer.rollback()
        else:
            changes = maintainer.advance(inside(graph, step.inserted), inside(graph, step.deleted))
            for name, change in changes.items():
                now = maintainer.values(name)
                differs = (before[name] != now) & ~((before[name] != before[name]) & (now != now))
                differs = differs.any(axis=1) if differs.ndim == 2 else differs
                assert sorted(change.vertices.tolist()) == np.flatnonzero(differs).tolist()
                assert agree(change.old.tolist(), before[name][change.vertices].tolist())
        check(maintainer, parameters, campaign)
    maintainer.verify()
