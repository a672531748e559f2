"""Sums that settle are within their tolerance after every step, and undo exactly.

The true values are solved for (`tests.oracle.settled`).
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.residual import schedule
from graphtide.engine.residual.maintainer import ResidualMaintainer
from graphtide.kernels.fixpoint.residuals import FLOOR, LIMIT
from graphtide.run.live.computation import choose_mode
from tests.equivalence.campaigns import SHAPES, Campaign, Shape, make_campaign
from tests.equivalence.settling_programs import SETTLING, CloseTo, Settling
from tests.examples import repeats
from tests.oracle.settled import settled

ROUNDS = repeats(2)
TOLERANCES = (1e-2, 1e-6, 0.3, 1e-9)
ROUNDING = 1e-13
WAYS = {
    "usual": (0.05, 1.0, 0.85),
    "swept": (0.0, 0.0, 0.0),
    "scanned": (0.0, 0.0, 1e9),
    "pushed": (0.0, 1e9, 1e9),
}
"""The few, the wide and the most share of edges. Pushes have relief where the tolerance is 1e-2."""


class Truth(NamedTuple):
    """What is right, and what an error is a share of."""

    values: np.ndarray
    beside: np.ndarray


def settled_case(case: Settling, vertices: int, edges: list[tuple[int, int]]) -> Truth:
    def solved(base: Any) -> np.ndarray:
        return np.array(settled(vertices, edges, case.direction, base, case.share))

    values = solved(lambda vertex: case.base(vertex, case.parameters))
    return Truth(values, values + solved(lambda vertex: case.greatest) / 1024)


def true_values(case: Settling, campaign: Campaign) -> Truth:
    edges = [(src, dst) for src, dst, _ in campaign.edges()]
    return settled_case(case, campaign.vertices, edges)


def check_within(found: Any, right: Truth, tolerance: float) -> None:
    off = np.abs(np.asarray(found) - right.values) / right.beside
    assert off.max(initial=0.0) <= tolerance + ROUNDING


def kept_of(maintainer: ResidualMaintainer) -> list[list[float]]:
    record = maintainer._state.record
    return [array.tolist() for array in (*record.summed, record.measures)]


def check_at_rest(maintainer: ResidualMaintainer) -> None:
    """What the bound is proved from: slack above 0, ceilings below values, small residuals."""
    record = maintainer._state.record
    residual, slack = record.summed.balance[::2], record.summed.balance[1::2]
    assert not record.mark.any()
    assert (slack >= record.measures[FLOOR] / 2).all()
    assert (slack > 0).all()
    assert (record.summed.ceiling <= record.summed.value).all()
    assert (
        np.abs(residual) <= record.measures[LIMIT] * slack + ROUNDING * record.summed.value
    ).all()


def started(
    case: Settling, campaign: Campaign, tolerance: float
) -> tuple[ResidualMaintainer, ResidentGraph]:
    graph = ResidentGraph(campaign.vertices, campaign.src, campaign.dst)
    dead = tuple(at for at, live in enumerate(campaign.live) if not live)
    graph.flip(inside(graph, ()), inside(graph, dead))
    bound = case.program(tolerance=tolerance, **case.parameters)
    values = tuple(value for _, value in bound.values)
    maintainer = ResidualMaintainer(graph, bound, values)
    maintainer.start()
    return maintainer, graph


def inside(graph: ResidentGraph, edges: tuple[int, ...]) -> np.ndarray:
    return graph.numbers[list(edges)].astype(np.int32) if edges else np.empty(0, np.int32)


@pytest.mark.parametrize("ways", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", SETTLING, ids=lambda case: case.name)
def test_every_step_is_within_the_tolerance(
    case: Settling, shape: Shape, ways: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, share in zip(("FEW_SHARE", "WIDE_SHARE", "MOST_SHARE"), ways, strict=True):
        monkeypatch.setattr(schedule, name, share)
    for seed in range(ROUNDS):
        pick = random.Random(f"{case.name} {shape} {ways} {seed}")
        campaign, tolerance = make_campaign(pick, shape), TOLERANCES[seed % len(TOLERANCES)]
        maintainer, graph = started(case, campaign, tolerance)
        check_within(maintainer.values(), true_values(case, campaign), tolerance)
        kept: list[Any] = []
        for step in campaign.steps(pick, 12):
            before = maintainer.values().copy()
            if step.kind == "rollback":
                maintainer.rollback()
                assert kept_of(maintainer) == kept.pop(), seed
            else:
                kept.append(kept_of(maintainer))
                (change,) = maintainer.advance(
                    inside(graph, step.inserted), inside(graph, step.deleted)
                ).values()
                differ = np.flatnonzero(before != maintainer.values())
                assert sorted(change.vertices.tolist()) == differ.tolist()
                assert change.old.tolist() == before[change.vertices].tolist()
                assert change.new.tolist() == maintainer.values()[change.vertices].tolist()
            right = true_values(case, campaign)
            check_within(maintainer.values(), right, tolerance)
            (scratch,) = maintainer.scratch().values()
            check_within(scratch, right, tolerance)
            check_at_rest(maintainer)
        maintainer.verify()


def test_what_falls_to_0_lets_go_of_all_that_its_edges_carried() -> None:
    graph = ResidentGraph(4, *np.array([[0, 1, 1], [1, 2, 3]], np.int32))
    maintainer = ResidualMaintainer(graph, CloseTo(sources=(0,)), ((0,), 0.85, 1e-6))
    maintainer.start()
    assert (maintainer.values() > 0).all()
    maintainer.advance(inside(graph, ()), inside(graph, (0,)))
    assert maintainer.values().tolist() == pytest.approx([0.15, 0, 0, 0], abs=1e-12)
    record = maintainer._state.record
    slack = record.summed.balance[1::2] - record.summed.ceiling
    assert slack.tolist() == pytest.approx([record.measures[FLOOR]] * 4, rel=1e-6)
    maintainer.verify()


@pytest.mark.compiled
@pytest.mark.parametrize("case", SETTLING, ids=lambda case: case.name)
def test_residuals_are_those_of_the_values_after_many_advances(
    case: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where what is set apart for rounding is used up at once, and balances pulled anew."""
    for share in (schedule.FOR_DRIFT, 1e-12):
        monkeypatch.setattr(schedule, "FOR_DRIFT", share)
        pick = random.Random(f"drift {case.name} {share}")
        campaign = make_campaign(pick, "dense")
        maintainer, graph = started(case, campaign, 1e-4)
        for step in campaign.steps(pick, 300):
            if step.kind == "rollback":
                maintainer.rollback()
            else:
                maintainer.advance(inside(graph, step.inserted), inside(graph, step.deleted))
        record = maintainer._state.record
        kept = record.summed.balance.copy()
        maintainer.kernels.pull_balances(maintainer._words(maintainer._state))
        assert np.abs(kept - record.summed.balance).max() < 1e-12
        assert (record.summed.ceiling <= record.summed.value).all()
        assert (kept[1::2] > 0).all()


@pytest.mark.parametrize("case", SETTLING, ids=lambda case: case.name)
def test_a_graph_that_grows_and_shrinks_is_followed(case: Settling) -> None:
    """Users' ids, new vertices, whole vertices cut off, and all of it undone."""
    pick = random.Random(f"growing {case.name}")
    edges = [(pick.randrange(6), pick.randrange(6)) for _ in range(12)]
    graph = gt.Graph([one for one, _ in edges], [other for _, other in edges], vertices=range(6))
    live = graph.maintain(case.program(tolerance=1e-5, **case.parameters))
    assert live.mode == "fixpoint"
    versions = []
    for _ in range(12):
        versions.append((list(edges), live[live.fields[0]].tolist(), len(graph.vertices())))
        known = len(graph.vertices())
        gone = pick.sample(edges, min(len(edges), pick.randrange(6)))
        come = [(pick.randrange(known + 3), pick.randrange(known)) for _ in range(4)]
        come = relabelled(come, known)
        live.advance(insert=come, delete=gone)
        for edge in gone:
            edges.remove(edge)
        edges += come
        count = len(graph.vertices())
        check_within(live[live.fields[0]], settled_case(case, count, edges), 1e-5)
        live.verify()
    for _, values, count in reversed(versions):
        live.rollback()
        assert live[live.fields[0]].tolist() == values
        assert len(graph.vertices()) == count


def relabelled(edges: list[tuple[int, int]], known: int) -> list[tuple[int, int]]:
    """New vertices get the next numbers in the order in which they come."""
    names: dict[int, int] = {}
    found = []
    for one, other in edges:
        if one >= known:
            one = names.setdefault(one, known + len(names))
        found.append((one, other))
    return found


@pytest.mark.parametrize("case", SETTLING, ids=lambda case: case.name)
def test_exact_mode_is_still_there(case: Settling) -> None:
    bound = case.program(tolerance=1e-3, **case.parameters)
    assert choose_mode(bound, "exact").mode == "exact"
    assert choose_mode(bound, "auto").mode == "fixpoint"


@pytest.mark.parametrize("strategy", ["scratch", "differential", "adaptive"])
@pytest.mark.parametrize("case", [*SETTLING[:3], SETTLING[5]], ids=lambda case: case.name)
def test_runs_over_views_are_within_the_tolerance(case: Settling, strategy: Any) -> None:
    """Windows that grow, and a tree that goes back from every view; verified by definition, too."""
    pick = random.Random(f"views {case.name}")
    edges = [(pick.randrange(9), pick.randrange(9)) for _ in range(24)]
    days = sorted(pick.randrange(8) for _ in edges)
    graph = gt.Graph(
        [one for one, _ in edges], [other for _, other in edges], vertices=range(9), day=days
    )
    program = case.program(tolerance=1e-4, **case.parameters)
    windows = graph.collection("windows", "for d in 0..7 [upto-{d}: day <= d]")
    without = graph.collection("without", "for d in 0..7 [without-{d}: day != d]")
    for views, held in ((windows, lambda at, d: at <= d), (without, lambda at, d: at != d)):
        run = views.run(program, strategy=strategy, verify=1)
        for d in range(8):
            there = [edge for edge, at in zip(edges, days, strict=True) if held(at, d)]
            check_within(run.values(d), settled_case(case, 9, there), 1e-4)
