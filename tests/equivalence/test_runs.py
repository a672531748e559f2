"""Every view of every run equals the naive twin on that view's edges, however it was reached."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.optimize.strategy import Move
from graphtide.run.collection import start, step_batches
from graphtide.run.collection.differences import Cursor, RunDifferences
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.runs_in_memory import arranged
from graphtide.run.collection.start import PreparedRun
from graphtide.run.live.programs import compiled_program
from graphtide.store.parts import PartsInMemory
from tests.compiled import few_compiled
from tests.equivalence.algorithm_cases import CASES, DATAFLOWS, WALKS, Case
from tests.equivalence.run_cases import RunCase, SplitAt, make_run_case, wilful
from tests.examples import repeats

ORDERS = ("auto", "chain", "tree", "manual")
FAST = [case for case in CASES if case.name in ("WCC", "BFS", "ShortestPaths", "KHops")]
FAST += [case for case in CASES if case.name == "PairDistances"]
FAST += DATAFLOWS
FAST += [case for case in WALKS if case.name in ("Triangles", "CommonNeighbours", "Transitivity")]
SLOW = [case for case in CASES if case.name in ("PageRank", "DegreeStatistics", "KCore")]
SLOW += [case for case in CASES if case.name in ("LabelPropagation", "ConvergedPageRank")]
ALL = few_compiled([*FAST, *SLOW])


def same(one: Any, other: Any, within: float) -> bool:
    if isinstance(one, list | tuple | np.ndarray):
        return len(one) == len(other) and all(
            same(a, b, within) for a, b in zip(one, other, strict=True)
        )
    return bool(one == other) or math.isclose(one, other, rel_tol=within, abs_tol=within)


def found_by_twin(given: RunCase, case: Case, parameters: dict[str, Any]) -> dict[str, Any]:
    n = given.campaign.vertices
    return {
        version: case.twin_results(parameters, n, given.edges(version))
        for version in given.versions
    }


def check(run: gt.Run, expected: dict[str, Any], case: Case, ids: list[str]) -> None:
    assert run.finished
    for version, fields in expected.items():
        for field, values in fields.items():
            if np.ndim(values):
                wanted = list(case.shown(field, values, ids))
                assert same(run.values(version, field).tolist(), wanted, case.within), version
    whole = {row.pop("view"): row for row in run.globals().to_pylist()}
    for version, fields in expected.items():
        graph = {name: value for name, value in fields.items() if not np.ndim(value)}
        assert whole[version] == graph


def named_parameters(case: Case, given: RunCase, pick: random.Random) -> tuple[Any, Any]:
    parameters = case.parameters(pick, given.campaign.vertices)
    kinds = ("vertex", "vertices", "pairs")
    vertices = {item.name for item in case.program.parameters if item.kind in kinds}
    named = {
        name: _ids(given, value) if name in vertices else value
        for name, value in parameters.items()
    }
    return parameters, case.program(**named)


def _ids(given: RunCase, value: Any) -> Any:
    return tuple(_ids(given, at) for at in value) if isinstance(value, tuple) else given.ids[value]


@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch", "wilful"])
@pytest.mark.parametrize("case", ALL)
def test_every_view_equals_the_twin(
    case: Case, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(repeats(6)):
        seed = f"{case.name}-{strategy}-{number}"
        print("seed", seed)
        pick = random.Random(seed)
        monkeypatch.setitem(start.CHOOSERS, "wilful", wilful(number))
        monkeypatch.setattr(step_batches, "MOST_STATES", pick.choice([1, 2, 4]))
        monkeypatch.setattr(step_batches, "_UNDO_STEPS", pick.choice([1, 3, 32]))
        given = make_run_case(pick)
        parameters, program = named_parameters(case, given, pick)
        expected = found_by_twin(given, case, parameters)
        order = ORDERS[number % 4]
        run = given.graph().run(program, given.versions, order=order, strategy=strategy)
        check(run, expected, case, given.ids)


@pytest.mark.parametrize("number", [42, 100, 194, 258])
def test_a_state_at_a_stone_whose_results_were_left_out(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reached from scratch, a stone is not looked at; a state made there later knows more."""
    case = next(case for case in CASES if case.name == "ShortestPaths")
    pick = random.Random(f"x-{number}")
    monkeypatch.setitem(start.CHOOSERS, "wilful", wilful(number))
    monkeypatch.setattr(step_batches, "MOST_STATES", pick.choice([1, 2, 4]))
    monkeypatch.setattr(step_batches, "_UNDO_STEPS", pick.choice([1, 3, 32]))
    given = make_run_case(pick)
    parameters, program = named_parameters(case, given, pick)
    strategy: Any = "wilful"
    run = given.graph().run(program, given.versions, order=ORDERS[number % 4], strategy=strategy)
    check(run, found_by_twin(given, case, parameters), case, given.ids)


def listed(value: Any) -> list[Any]:
    """The values of all vertices; what there is once for the whole graph is a list of one."""
    return list(value) if isinstance(value, list | tuple | np.ndarray) else [value]


def in_hand(given: RunCase, program: Any, order: Any) -> PreparedRun:
    graph = given.graph()
    compiled = compiled_program(program, "auto")
    return PreparedRun(
        arranged(graph._snapshot(), given.versions, order, compiled.needed),
        RunRequest("", compiled, workers=1),
    )


def finished_values(hand: PreparedRun, base: Any, parts: PartsInMemory) -> dict[str, Any]:
    differences = RunDifferences(parts, hand.compiled.results)
    cursor = Cursor(hand.steps, differences, base)
    return {
        hand.steps.label(step): {
            name: values.tolist() for name, values in cursor.values(step).items()
        }
        for step in range(differences.finished)
        if hand.steps.view[step] >= 0
    }


@pytest.mark.parametrize("case", few_compiled(FAST))
def test_split_anywhere(case: Case) -> None:
    pick = random.Random(f"split-{case.name}")
    for order in ("chain", "tree"):
        given = make_run_case(pick)
        parameters, program = named_parameters(case, given, pick)
        expected = found_by_twin(given, case, parameters)
        for at in range(len(given.versions)):
            hand = in_hand(given, program, order)
            base, parts = hand.base(), PartsInMemory()
            hand.run(base, parts, SplitAt(at, at + 1), RunSettings(verify=1))
            for view, fields in finished_values(hand, base, parts).items():
                for field, values in fields.items():
                    assert same(values, listed(expected[view][field]), 0.0), (order, at, view)


class BlankStones(SplitAt):
    """Passes every stone, and follows from what it makes at the parent of anything else."""

    def choose(self, step: int, ready: bool) -> Any:
        if self.stones[step]:
            return Move.PASS
        return Move.FOLLOW if ready else Move.RESTART

    stones: Any = ()


@pytest.mark.parametrize("case", few_compiled(FAST))
def test_nothing_is_followed_from_a_stone_that_has_no_results(case: Case) -> None:
    pick = random.Random(f"stones-{case.name}")
    for _ in range(6):
        given = make_run_case(pick)
        parameters, program = named_parameters(case, given, pick)
        expected = found_by_twin(given, case, parameters)
        hand = in_hand(given, program, "tree")
        base, parts, chooser = hand.base(), PartsInMemory(), BlankStones()
        chooser.stones = hand.steps.view < 0
        hand.run(base, parts, chooser, RunSettings())
        for view, fields in finished_values(hand, base, parts).items():
            for field, values in fields.items():
                assert same(values, listed(expected[view][field]), 0.0), view


class Interrupting(SplitAt):
    """Stops at a step, as a user would."""

    def choose(self, step: int, ready: bool) -> Any:
        if step == self.stop:
            raise KeyboardInterrupt
        return super().choose(step, ready)

    stop = -1


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", few_compiled(FAST))
def test_resumed_equals_uninterrupted(case: Case, order: str) -> None:
    pick = random.Random(f"resume-{case.name}-{order}")
    given = make_run_case(pick)
    _, program = named_parameters(case, given, pick)
    whole = PartsInMemory()
    hand = in_hand(given, program, order)
    base = hand.base()
    hand.run(base, whole, hand.chooser("adaptive"), RunSettings())
    expected = finished_values(hand, base, whole)
    for stop in range(len(hand.steps)):
        parts = PartsInMemory()
        first = in_hand(given, program, order)
        chooser = Interrupting()
        chooser.stop = stop
        with pytest.raises(KeyboardInterrupt):
            first.run(first.base(), parts, chooser, RunSettings(keep_every=pick.choice([0.0, 9.0])))
        assert RunDifferences(parts, first.compiled.fields).finished == stop
        again = in_hand(given, program, order)
        strategy: Any = pick.choice(["adaptive", "differential", "scratch"])
        again.run(again.base(), parts, again.chooser(strategy), RunSettings(verify=1))
        assert finished_values(again, base, parts) == expected


def test_tables_tell_what_the_views_hold() -> None:
    pick = random.Random("tables")
    for number in range(10):
        given = make_run_case(pick)
        source = given.ids[0]
        run = given.graph().run(gt.algorithms.BFS(source=source), given.versions)
        found = {view: run.values(view).tolist() for view in run.views}
        assert run.views == list(given.versions)
        one, other = pick.choice(run.views), pick.choice(run.views)
        changed = {
            vertex: (a, b)
            for vertex, a, b in zip(given.ids, found[one], found[other], strict=True)
            if a != b
        }
        rows = run.changes(one, other).to_pylist()
        assert {row["id"]: (row["old"], row["new"]) for row in rows} == changed, number
        for at, vertex in enumerate(given.ids):
            told = run.history(vertex).to_pylist()
            assert [row["hops"] for row in told] == [found[view][at] for view in run.views]
        tidy = run.to_arrow().to_pylist()
        assert [(row["view"], row["id"], row["hops"]) for row in tidy] == [
            (view, vertex, value)
            for view in run.views
            for vertex, value in zip(given.ids, found[view], strict=True)
        ]


def test_a_wrong_result_is_found_and_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gt.Graph(range(9), range(1, 10))
    versions = {f"upto-{at}": np.arange(9) <= at for at in range(9)}
    told = step_batches.States.follow

    def lie(self: Any, step: int, *delta: Any) -> Any:
        changes = told(self, step, *delta)
        if step == 5:
            next(iter(changes.values())).new[:] += 1
        return changes

    monkeypatch.setattr(step_batches.States, "follow", lie)
    program = gt.algorithms.BFS(source=0)
    with pytest.raises(gt.GraphtideError, match="from scratch") as caught:
        graph.run(program, versions, order="manual", strategy="differential", verify=3)
    assert "upto-5" in str(caught.value)
    assert "vertex 6 has hops = 7.0, from scratch 6.0" in str(caught.value)


@pytest.mark.interpreted
def test_a_wrong_result_of_a_pair_is_told_by_both_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gt.Graph(list("abc"), list("bcd"))
    versions = {f"first-{at}": np.arange(3) <= at for at in range(3)}
    told = PreparedProgram.plainly

    def lie(self: Any) -> Any:
        found = {name: column.copy() for name, column in told(self).items()}
        found["distance"][1:] = 9.0
        return found

    monkeypatch.setattr(PreparedProgram, "plainly", lie)
    program = gt.algorithms.PairHops(pairs=[("a", "b"), ("b", "d")])
    with pytest.raises(gt.GraphtideError, match="from scratch") as caught:
        graph.run(program, versions, order="manual", strategy="differential", verify=1)
    assert "the pair 'b' to 'd' has distance = " in str(caught.value)
