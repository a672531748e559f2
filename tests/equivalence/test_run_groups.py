"""Runs whose views are passed in groups: the same as one by one, resumed, watched and compared."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.lanes.runs import LaneGroups
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.optimize.strategy import AlwaysScratch, Move
from graphtide.run.collection import step_batches as grouping
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.collection.runs_in_memory import arranged
from graphtide.run.collection.start import PreparedRun
from graphtide.run.live.programs import compiled_program
from graphtide.store.parts import PartsInMemory
from tests.equivalence.algorithm_cases import CASES
from tests.equivalence.run_cases import RunCase, make_run_case
from tests.equivalence.test_runs import (
    ORDERS,
    finished_values,
    found_by_twin,
    in_hand,
    named_parameters,
    same,
)

RANKS = next(case for case in CASES if case.name == "PageRank")


class Interrupting(AlwaysScratch):
    """Passes all steps, and stops at one, as a user would."""

    def __init__(self, stop: int) -> None:
        self._stop = stop

    def choose(self, step: int, ready: bool) -> Move:
        if step == self._stop:
            raise KeyboardInterrupt
        return Move.PASS


class Mixing(AlwaysScratch):
    """Passes most steps, and makes and follows a state now and then: groups end anywhere."""

    def __init__(self, seed: int) -> None:
        self._pick = random.Random(seed)

    def choose(self, step: int, ready: bool) -> Move:
        ways = [Move.PASS, Move.PASS, Move.PASS, Move.SPLIT, Move.RESTART]
        return self._pick.choice([*ways, Move.FOLLOW, Move.FOLLOW] if ready else ways)


def all_share(steps: Any, known: int) -> np.ndarray:
    """Stands in for what keeps views apart that share little."""
    return np.ones(len(steps), np.bool_)


def case_with(pick: random.Random, least: int) -> RunCase:
    """A case of so many versions at least."""
    while True:
        given = make_run_case(pick)
        if len(given.versions) >= least:
            return given


@pytest.mark.parametrize("lanes", [1, 3, 8])
@pytest.mark.parametrize("order", ORDERS)
def test_groups_of_any_size_equal_the_twin(
    order: str, lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "LANES", lanes)
    monkeypatch.setattr(grouping, "_shares", all_share)
    pick = random.Random(f"groups-{order}-{lanes}")
    for chooser in (AlwaysScratch(), *map(Mixing, range(12))):
        given = case_with(pick, 5)
        parameters, program = named_parameters(RANKS, given, pick)
        expected = found_by_twin(given, RANKS, parameters)
        hand = in_hand(given, program, order)
        base, parts = hand.base(), PartsInMemory()
        hand.run(base, parts, chooser, RunSettings(verify=2))
        found = finished_values(hand, base, parts)
        assert set(found) == set(expected)
        for view, fields in found.items():
            assert same(fields["rank"], list(expected[view]["rank"]), RANKS.within), view


def test_stones_in_groups_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stone without results is passed in a group, and a state made at it or below it."""
    monkeypatch.setattr(grouping, "_shares", all_share)
    stones = 0
    for seed in range(60):
        pick = random.Random(f"stones {seed}")
        given = case_with(pick, 5)
        parameters, program = named_parameters(RANKS, given, pick)
        hand = in_hand(given, program, "tree")
        if not hand.steps.skipped.any():
            continue
        stones += 1
        expected = found_by_twin(given, RANKS, parameters)
        base, parts = hand.base(), PartsInMemory()
        hand.run(base, parts, Mixing(seed), RunSettings(verify=pick.choice([None, 1])))
        for view, fields in finished_values(hand, base, parts).items():
            right = list(expected[view]["rank"])
            assert same(fields["rank"], right, RANKS.within), (seed, view)
    assert stones > 5


def windows_in_hand(order: Any) -> PreparedRun:
    """Sliding windows over two thousand edges, some of whose vertices have hundreds."""
    pick = np.random.default_rng(8)
    src, dst = (pick.pareto(1.0, (2, 2000)) * 10).astype(np.int64) % 150
    edge = np.arange(2000)
    versions = {f"from-{at}": (edge >= 90 * at) & (edge < 90 * at + 900) for at in range(12)}
    graph = gt.Graph(src, dst, vertices=150)
    chosen = compiled_program(gt.algorithms.PageRank, "auto")
    return PreparedRun(
        arranged(graph._snapshot(), versions, order, chosen.needed),
        RunRequest("", chosen, workers=1),
    )


@pytest.mark.compiled
@pytest.mark.parametrize("order", ["chain", "tree", "manual"])
def test_a_resumed_run_has_the_same_bits(order: str) -> None:
    hand = windows_in_hand(order)
    base, whole = hand.base(), PartsInMemory()
    hand.run(base, whole, AlwaysScratch(), RunSettings())
    for stop in range(0, len(hand.steps), 2):
        parts, first = PartsInMemory(), windows_in_hand(order)
        with pytest.raises(KeyboardInterrupt):
            first.run(base, parts, Interrupting(stop), RunSettings())
        finished = RunDifferences(parts, first.compiled.fields).finished
        assert stop - 2 * grouping.LANES < finished <= stop
        again = windows_in_hand(order)
        again.run(base, parts, AlwaysScratch(), RunSettings())
        assert finished_values(again, base, parts) == finished_values(hand, base, whole)


def ring() -> tuple[gt.Graph, dict[str, Any]]:
    graph = gt.Graph(range(40), [(at * 7 + 3) % 40 for at in range(40)])
    return graph, {f"upto-{at}": np.arange(40) <= at + 10 for at in range(20)}


def test_a_wrong_lane_is_found_and_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, versions = ring()
    told = LaneGroups.run

    def lie(self: Any) -> Any:
        answers = told(self)
        if len(answers) > 2:
            answers[2]["rank"][0] *= 1.001
        return answers

    monkeypatch.setattr(LaneGroups, "run", lie)
    with pytest.raises(gt.GraphtideError, match="from scratch") as caught:
        graph.run(gt.algorithms.PageRank, versions, order="manual", strategy="scratch", verify=1)
    assert "upto-2" in str(caught.value)


def test_few_runs_do_for_many_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: 20 views in three groups, and nothing alone but the empty version."""
    graph, versions = ring()
    groups: list[int] = []
    alone: list[int] = []
    told, ran = LaneGroups.run, SynchronousMaintainer.scratch
    monkeypatch.setattr(LaneGroups, "run", lambda self: groups.append(self.size) or told(self))
    monkeypatch.setattr(SynchronousMaintainer, "scratch", lambda self: alone.append(1) or ran(self))
    run = graph.run(gt.algorithms.PageRank, versions, order="manual", strategy="scratch")
    assert run.finished
    assert [size for size in groups if size > 1] == [8, 8, 4]
    assert len(alone) <= 2
    assert all(seconds > 0 for seconds in run.record().column("seconds").to_pylist())


def test_views_that_share_little_are_run_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = ring()
    groups: list[int] = []
    told = LaneGroups.run
    monkeypatch.setattr(LaneGroups, "run", lambda self: groups.append(self.size) or told(self))
    versions = {f"only-{at}": np.arange(40) // 4 == at for at in range(10)}
    graph.run(gt.algorithms.PageRank, versions, order="manual", strategy="scratch")
    assert not groups
