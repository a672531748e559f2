"""Answers do not depend on where a plan is cut, nor on how many workers walk its sub-plans."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError, StoreError
from graphtide.run.collection import start
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.collection.runner import Runner
from graphtide.run.collection.runs_in_memory import arranged
from graphtide.run.collection.start import PreparedRun
from graphtide.run.collection.step_batches import States
from graphtide.run.live.programs import compiled_program
from graphtide.store.catalog import Catalog
from graphtide.store.parts import Part, Parts, PartsInMemory
from graphtide.store.results import EmptyVersionTables, begin_run, open_run
from tests.compiled import few_compiled
from tests.equivalence.algorithm_cases import Case
from tests.equivalence.run_cases import RunCase, make_run_case
from tests.equivalence.test_runs import (
    FAST,
    SLOW,
    finished_values,
    found_by_twin,
    listed,
    named_parameters,
    same,
)


def in_hand(
    given: RunCase,
    program: Any,
    order: Any,
    workers: int = 1,
    strategy: Any = "adaptive",
    cuts: tuple[int, ...] | None = None,
) -> PreparedRun:
    compiled = compiled_program(program, "auto")
    versions = arranged(given.graph()._snapshot(), given.versions, order, compiled.needed)
    request = RunRequest("", compiled, strategy, workers=workers)
    return PreparedRun(versions, request, cuts=cuts)


def walked(hand: PreparedRun, parts: Parts, **how: Any) -> dict[str, Any]:
    """The values of all views, once the rest of the steps is made."""
    base = hand.base()
    hand.run(base, parts, hand.chooser("adaptive"), RunSettings(**how))
    assert RunDifferences(parts, hand.compiled.results).finished == len(hand.steps)
    return finished_values(hand, base, parts)  # type: ignore[arg-type]


def some_cuts(pick: random.Random, steps: int, count: int) -> tuple[int, ...]:
    return tuple(sorted(pick.sample(range(1, steps), min(count, steps) - 1)))


def many_views(pick: random.Random) -> RunCase:
    while len((given := make_run_case(pick)).versions) < 9:
        pass
    return given


@pytest.mark.parametrize("order", ["chain", "tree"])
@pytest.mark.parametrize("case", few_compiled([*FAST, *SLOW]))
def test_every_program_in_2_and_8_sub_plans(case: Case, order: str) -> None:
    seed = f"cut-{case.name}-{order}"
    print("seed", seed)
    pick = random.Random(seed)
    given = many_views(pick)
    parameters, program = named_parameters(case, given, pick)
    expected = found_by_twin(given, case, parameters)
    strategy: Any = pick.choice(["adaptive", "differential", "scratch"])
    whole = walked(in_hand(given, program, order, 1, strategy), PartsInMemory())
    steps = len(in_hand(given, program, order).steps)
    for count in (2, 8):
        cuts = some_cuts(pick, steps, count)
        hand = in_hand(given, program, order, pick.choice([1, 2, 3]), strategy, cuts)
        assert hand.steps.names == tuple(given.versions)
        found = walked(hand, PartsInMemory())
        for view, fields in found.items():
            for field, values in fields.items():
                assert same(values, listed(expected[view][field]), case.within), (count, view)
        if not case.within:
            assert found == whole, cuts


class Stop:
    """Interrupts the run like Ctrl-C, once so many parts have been kept by any worker."""

    def __init__(self, patch: pytest.MonkeyPatch, after: int) -> None:
        self._left, self._lock = after, threading.Lock()
        kept = PartsInMemory.append

        def append(parts: Any, part: Any) -> None:
            kept(parts, part)
            with self._lock:
                self._left -= 1
                if not self._left:
                    raise KeyboardInterrupt

        patch.setattr(PartsInMemory, "append", append)


@pytest.mark.interpreted
@pytest.mark.parametrize("after", [1, 3, 6])
def test_resumed_with_another_number_of_workers(
    after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = random.Random(f"stop-{after}")
    given = many_views(pick)
    program = gt.algorithms.WCC()
    whole = walked(in_hand(given, program, "tree"), PartsInMemory())
    steps = len(in_hand(given, program, "tree").steps)
    cuts, parts = some_cuts(pick, steps, 4), PartsInMemory()
    first = in_hand(given, program, "tree", 2, cuts=cuts)
    told: list[int] = []
    with monkeypatch.context() as patch:
        Stop(patch, after)
        settings = RunSettings(keep_every=0.0, kept=told.append)
        with pytest.raises(KeyboardInterrupt):
            first.run(first.base(), parts, first.chooser("adaptive"), settings)
    # What can be read is whole, and is the beginning of the plan.
    base, finished = first.base(), RunDifferences(parts, first.compiled.results).finished
    for view, fields in finished_values(first, base, parts).items():
        assert fields == whole[view]
    assert finished < len(first.steps)
    assert told == sorted(told)
    again = in_hand(given, program, "tree", pick.choice([1, 3]), cuts=cuts)
    made = _counting(again)
    assert walked(again, parts, verify=1) == whole
    assert made[0] <= len(again.steps) - finished
    assert made[0] <= len(again.steps) - after + 1, "what other workers kept is made again"


def _counting(hand: PreparedRun) -> list[int]:
    """Counts the steps that are made from now on."""
    sub_plans: Any = hand.sub_plans
    made, told = [0], type(sub_plans).walk

    class Counted(PartsInMemory):
        def __init__(self, parts: Any) -> None:
            super().__init__()
            self._parts = parts._parts

        def append(self, part: Any) -> None:
            made[0] += part.record.num_rows
            super().append(part)

    def walk(number: int, base: Any, prepared: Any, parts: Any, settings: Any) -> None:
        told(sub_plans, number, base, prepared, Counted(parts), settings)

    object.__setattr__(sub_plans, "walk", walk)
    return made


@pytest.mark.interpreted
def test_interrupted_while_threads_work() -> None:
    pick = random.Random("main")
    given = many_views(pick)
    program = gt.algorithms.WCC()
    whole = walked(in_hand(given, program, "chain"), PartsInMemory())
    cuts, parts = some_cuts(pick, len(whole), 5), PartsInMemory()
    hand = in_hand(given, program, "chain", 2, cuts=cuts)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        hand.run(hand.base(), parts, hand.chooser("adaptive"), RunSettings(kept=_stop))
    assert threading.active_count() == before
    assert walked(in_hand(given, program, "chain", 2, cuts=cuts), parts) == whole


def _stop(finished: int) -> None:
    raise KeyboardInterrupt


@pytest.mark.interpreted
def test_on_disk_and_killed_between_attempt_and_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = random.Random("disk")
    given = many_views(pick)
    program = gt.algorithms.BFS(source=given.ids[0])
    whole = walked(in_hand(given, program, "chain"), PartsInMemory())
    cuts = some_cuts(pick, len(whole), 4)
    table = pa.table({"nothing": [0]})
    with begin_run(
        Catalog(tmp_path), "hops", {}, EmptyVersionTables(table, None, {}), table
    ) as run:
        hand, parts = in_hand(given, program, "chain", 2, cuts=cuts), run.parts
        with monkeypatch.context() as patch:
            patch.setattr("graphtide.run.collection.sub_plans.JoinedAttempts.take_over", _die)
            with pytest.raises(SystemError):
                hand.run(hand.base(), parts, hand.chooser("adaptive"), RunSettings(keep_every=0.0))
    parts = open_run(Catalog(tmp_path), "hops").parts
    assert len(parts) == 0
    attempted, late = parts.attempted(), parts.furthest_attempt(0)
    assert attempted
    assert late is not None
    assert not parts.attempts_stopped()
    for number, behind in attempted.items():
        firsts = hand.sub_plans.cut.firsts  # type: ignore[union-attr]
        assert firsts[number] < behind <= firsts[number + 1]
    assert walked(in_hand(given, program, "chain", 3, cuts=cuts), parts) == whole
    assert parts.attempts_stopped(), "who is late still goes on"
    with pytest.raises(StoreError):
        late.append(Part(pa.table({"step": [0]}), {}))
    assert not list(tmp_path.rglob("sub-plans")), "who is late has left something behind"
    again = open_run(Catalog(tmp_path), "hops").parts
    assert [part.manifest["part"] for part in again.generations] == list(range(len(again)))
    for part in again.generations:
        part.compare(part.files)


def _die(*given: Any) -> None:
    raise SystemError


@pytest.mark.interpreted
def test_the_error_of_the_first_sub_plan_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gt.Graph(range(9), range(1, 10))
    versions = {f"upto-{at}": np.arange(9) <= at for at in range(9)}
    told = States.follow

    def lie(self: Any, step: int, *delta: Any) -> Any:
        changes = told(self, step, *delta)
        if step == 2:
            next(iter(changes.values())).new[:] += 1
        return changes

    monkeypatch.setattr(States, "follow", lie)
    compiled = compiled_program(gt.algorithms.BFS(source=0), "auto")
    chain = arranged(graph._snapshot(), versions, "manual", compiled.needed)
    hand = PreparedRun(chain, RunRequest("", compiled, "differential", workers=1), cuts=(4,))
    with pytest.raises(gt.GraphtideError, match="from scratch") as caught:
        hand.run(hand.base(), PartsInMemory(), hand.chooser("adaptive"), RunSettings(verify=3))
    assert "upto-2" in str(caught.value)


@pytest.mark.interpreted
def test_every_third_view_is_verified_wherever_the_plan_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = gt.Graph(range(9), range(1, 10))
    versions = {f"upto-{at}": np.arange(9) <= at for at in range(9)}
    compared: list[str] = []
    monkeypatch.setattr(
        Runner, "_compare", lambda self, step, values: compared.append(self._steps.label(step))
    )
    compiled = compiled_program(gt.algorithms.WCC(), "auto")
    for cuts in ((), (4,), (2, 3, 7)):
        chain = arranged(graph._snapshot(), versions, "manual", compiled.needed)
        hand = PreparedRun(chain, RunRequest("", compiled, "differential", workers=1), cuts=cuts)
        hand.run(hand.base(), PartsInMemory(), hand.chooser("adaptive"), RunSettings(verify=3))
        assert sorted(compared) == ["upto-2", "upto-5", "upto-8"]
        compared.clear()


@pytest.mark.interpreted
def test_workers_are_chosen_and_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random("asked")
    given = many_views(pick)
    graph, program = given.graph(), gt.algorithms.WCC()
    alone = graph.run(program, given.versions)
    assert alone._contents.facts.cuts == ()
    monkeypatch.setattr("graphtide.optimize.cutting.STEP", 1e7)
    two = graph.run(program, given.versions, workers=2)
    assert two._contents.facts.cuts
    assert two.to_arrow().equals(alone.to_arrow())
    rows = two.workers()
    assert set(rows.column("worker").to_pylist()) <= {"thread 1", "thread 2"}
    assert sum(rows.column("steps").to_pylist()) == two.record().num_rows
    assert all(row["began"] <= row["ended"] for row in rows.to_pylist())
    assert f" on {len(two._contents.facts.cuts) + 1} sub-plans" in two.explain()
    picture = two.picture(of="workers")
    assert len(picture.figure.axes[0].patches) == rows.num_rows
    assert alone.workers().column("worker").to_pylist() == ["this process"]
    monkeypatch.setattr(start, "usable_cores", lambda: 2)
    assert graph.run(program, given.versions)._contents.facts.cuts
    monkeypatch.setattr(start, "available_bytes", lambda: 0)
    assert not graph.run(program, given.versions)._contents.facts.cuts
    one = dict(list(given.versions.items())[:1])
    with pytest.warns(gt.UnusedOptionWarning, match="workers=2: one of them works.*one view"):
        assert graph.run(program, one, workers=2).to_arrow().num_rows
    with pytest.warns(gt.UnusedOptionWarning, match=r"workers=900: \d+ of them work on the run"):
        graph.run(program, given.versions, workers=900)
    for wrong in (0, -1, True, "2", 1.5):
        with pytest.raises(InputError, match="workers cannot be"):
            graph.run(program, given.versions, workers=wrong)  # type: ignore[arg-type]
