"""The sub-plans of a run: each a plan of its own, walked by whoever has a copy of the graph.

Threads of this process and tasks of Spark do the same with a sub-plan: walk it from the empty
version, into an attempt beside the parts of the run. Attempts number steps as the cut plan does, so
that their parts become parts of the run as they are; whoever walks a sub-plan counts its own steps.

Of threads, each has its own live state of one graph. Edges, properties and classes are shared;
which edges are live, and the states of programs, belong to a thread. Kernels run without the
interpreter's lock, so that threads compute at the same time. The thread that asked for the run
waits, makes finished attempts parts of the run in the order of the plan, and hears Ctrl-C. Whatever
ends the run, every thread keeps what it has finished before it ends, and so it can be resumed with
any number of workers. Of several errors the one of the first sub-plan is raised.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import pyarrow as pa

from graphtide.engine.changes import Values
from graphtide.model.errors import GraphtideError
from graphtide.model.progress import ProgressReport
from graphtide.optimize.cutting import Cutting, StepCosts, choose_cutting, paying, step_costs
from graphtide.plan.collection import CutPlan, cut_plan
from graphtide.run.collection.facts import RunSettings, Strategy
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.runner import Runner, chooser_of, program_sizes
from graphtide.run.collection.steps import Deltas, RunSteps, RunVersions, run_steps
from graphtide.store.collection import GroupedEdges
from graphtide.store.parts import FinishedParts, Part, PartMaker, Parts

DEARER = {"fixpoint": 1.0, "exact": 0.5, "walk": 10.0, "dataflow": 20.0}
"""What a program of each mode takes beside components, a vertex and edge: ten rounds of PageRank in
lanes took 0.33 over 2,351 daily windows."""


SUB_PLANS_A_SLOT = (8, 6, 4, 2, 1)
"""Sub-plans that are tried for each slot of Spark: more than for a thread, since machines differ
and tasks are lost."""

SPARK_MORE = 1.15
"""More of them are taken as long as that is predicted to cost no more: a lost task costs a whole
sub-plan, and a slow machine keeps all others waiting for one."""

SPARK_SECONDS = 4.0
"""What a run on Spark takes beside its steps: Python workers begin, and each reads the graph. An
estimate for a million edges; larger graphs take longer to read, and their runs far longer."""


@dataclass(frozen=True)
class SubPlanRun:
    """A run whose plan is cut, as all of its workers know it."""

    cut: CutPlan
    names: tuple[str, ...]
    grouped: GroupedEdges
    strategy: Strategy

    def walk(
        self,
        number: int,
        base: Values,
        prepared: PreparedProgram,
        parts: FinishedParts,
        settings: RunSettings,
    ) -> None:
        """All steps of a sub-plan that its attempt does not have yet; the graph is empty then."""
        plan = self.cut.sub_plans[number]
        deltas = Deltas(plan, self.grouped)
        steps = run_steps(plan, self.names, deltas)
        seen = self._views_before(number)
        settings = replace(settings, seen=seen, sub_plan=number, kept=lambda finished: None)
        own = OwnSteps(parts, self.cut.firsts[number])
        chooser = chooser_of(self.strategy, steps, prepared)
        try:
            Runner(steps, deltas, prepared, base, own).run(chooser, settings)
        finally:
            prepared.graph.clear()

    def _views_before(self, number: int) -> int:
        return sum(len(plan.steps) - plan.stones for plan in self.cut.sub_plans[:number])


def sub_plan_run(versions: RunVersions, cuts: tuple[int, ...], strategy: Strategy) -> SubPlanRun:
    cut = cut_plan(versions.plan, cuts, versions.names)
    return SubPlanRun(cut, versions.names, versions.grouped, strategy)


class OwnSteps:
    """The parts of an attempt, with steps counted from the first one of its sub-plan."""

    def __init__(self, parts: FinishedParts, first: int) -> None:
        self._parts = parts
        self._first = first

    def __len__(self) -> int:
        return len(self._parts)

    def append(self, part: Part) -> None:
        differences = {name: _moved(table, self._first) for name, table in part.differences.items()}
        self._parts.append(Part(_moved(part.record, self._first), differences, part.made))

    def record(self) -> pa.Table | None:
        record = self._parts.record()
        return None if record is None else _moved(record, -self._first)

    def first_step(self, part: int) -> int:
        return self._parts.first_step(part) - self._first

    def differences(self, part: int, field: str) -> pa.Table:
        return _moved(self._parts.differences(part, field), -self._first)

    def made(self, part: int) -> tuple[PartMaker, ...]:
        return self._parts.made(part)


class JoinedAttempts:
    """Moves attempts into the run as parts, in the order of its plan."""

    def __init__(self, parts: Parts, cut: CutPlan) -> None:
        record = parts.record()
        self._parts = parts
        self._cut = cut
        self.finished = 0 if record is None else int(record.num_rows)
        """How many steps are parts of the run: the first ones of the cut plan."""

    def missing(self) -> list[int]:
        """The sub-plans that are not, or not wholly, part of the run."""
        return [at for at in range(len(self._cut)) if self._cut.firsts[at + 1] > self.finished]

    def take_over(self, attempts: dict[int, Parts]) -> None:
        """Make parts of attempts parts of the run, as long as their steps come next."""
        for number in self.missing():
            if number in attempts:
                self._take_over(attempts[number])
            if self.finished < self._cut.firsts[number + 1]:
                return

    def end_attempts(self) -> None:
        """Give up all attempts, whose steps are all in the run now."""
        assert not self.missing()
        self._parts.end_attempts()

    def _take_over(self, attempt: Parts) -> None:
        record = attempt.record()
        if record is None:
            return
        firsts = [attempt.first_step(part) for part in range(len(attempt))]
        behind = [*firsts[1:], int(record.column("step")[-1].as_py()) + 1]
        for part, last in enumerate(behind):
            if last > self.finished:
                self._parts.take_over(attempt, part)
                self.finished = last


def run_costs(steps: RunSteps, prepared: PreparedProgram, strategy: Strategy) -> StepCosts:
    mode, scratch = prepared.compiled.choice.mode, strategy == "scratch"
    sizes = program_sizes(steps, prepared)
    one_by_one = scratch or mode != "fixpoint"  # The others are followed in stretches.
    return step_costs(sizes, scratch=scratch, dearer=DEARER[mode], one_by_one=one_by_one)


def cutting_for_slots(costs: StepCosts, slots: int, *, forced: bool = False) -> Cutting:
    """Where a plan is cut for so many slots of Spark; nowhere where a run here is done before,
    unless it is `forced`.
    """
    costs = replace(costs, locked=0.0)  # Each slot has a Python of its own.
    cutting = choose_cutting(costs, slots, each=SUB_PLANS_A_SLOT, more=SPARK_MORE, forced=forced)
    pays = forced or cutting.alone >= cutting.together + SPARK_SECONDS
    return cutting if pays else choose_cutting(costs, 1)


def chosen_cutting(costs: StepCosts, workers: int | None, most: int) -> Cutting:
    """Where a plan is cut for so many workers; None takes up to `most` where that pays."""
    if workers is not None:
        return choose_cutting(costs, workers, forced=True)
    cutting = choose_cutting(costs, most)
    return cutting if paying(cutting) else choose_cutting(costs, 1)


def _moved(table: pa.Table, by: int) -> pa.Table:
    if not by:
        return table
    place = table.schema.get_field_index("step")
    steps = table.column(place).to_numpy() + np.int32(by)
    return table.set_column(place, table.schema.field(place), pa.array(steps, pa.int32()))


_LISTEN_EVERY = 0.1


class _StoppedError(Exception):
    """Another thread has ended the run."""


class ThreadedRun:
    """The sub-plans of a run that are not finished, on their way through several threads."""

    def __init__(self, run: SubPlanRun, base: Values, parts: Parts, settings: RunSettings) -> None:
        self._run = run
        self._base = base
        self._settings = settings
        self._joined = JoinedAttempts(parts, run.cut)
        self._waiting = self._joined.missing()
        self._attempts: dict[int, Parts] = {at: parts.attempt(at) for at in self._waiting}
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._ended: dict[int, Parts] = {}
        self._errors: dict[int, BaseException] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._progress = SharedProgress(settings.report, run, self._joined.finished)

    def run(self, prepared: PreparedProgram, workers: int) -> None:
        """Walk all of them with so many threads; the graph of `prepared` is that of the first."""
        count = min(workers, len(self._waiting))
        copies = [prepared, *(prepared.twin() for _ in range(count - 1))][:count]
        threads = [
            threading.Thread(target=self._work, args=(copy, f"thread {number}"))
            for number, copy in enumerate(copies, 1)
        ]
        try:
            with self._ending(threads):
                for thread in threads:
                    thread.start()
                self._listen(threads)
            self._raise_first()
        except BaseException:
            # Threads have ended: what they have of the steps that come next can be read.
            with contextlib.suppress(GraphtideError):
                self._joined.take_over(self._attempts)
            raise
        self._joined.take_over(self._attempts)
        self._joined.end_attempts()
        self._settings.kept(self._joined.finished)

    @contextlib.contextmanager
    def _ending(self, threads: list[threading.Thread]) -> Iterator[None]:
        """End all threads before this is left, whatever happens within."""
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()

    def _listen(self, threads: list[threading.Thread]) -> None:
        """Make attempts parts of the run as they end, until no thread is left."""
        while any(thread.is_alive() for thread in threads):
            with contextlib.suppress(queue.Empty):
                number = self._done.get(timeout=_LISTEN_EVERY)
                self._ended[number] = self._attempts[number]
                self._joined.take_over(self._ended)
                self._settings.kept(self._joined.finished)

    def _work(self, prepared: PreparedProgram, worker: str) -> None:
        """One sub-plan after the other, until none is left or the run has ended."""
        while (number := self._next()) is not None:
            try:
                settings = replace(
                    self._settings,
                    report=self._progress.of(number),
                    go_on=self._go_on,
                    worker=worker,
                )
                attempt = self._attempts[number]
                self._run.walk(number, self._base, prepared, attempt, settings)
            except _StoppedError:
                return
            except BaseException as error:
                self._errors[number] = error
                self._stop.set()
                return
            self._done.put(number)

    def _next(self) -> int | None:
        with self._lock:
            if self._stop.is_set() or not self._waiting:
                return None
            return self._waiting.pop(0)

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise _StoppedError

    def _raise_first(self) -> None:
        if self._errors:
            raise self._errors[min(self._errors)]


class SharedProgress:
    """Reports how far all sub-plans together are, whenever a thread has come further."""

    def __init__(self, report: ProgressReport, run: SubPlanRun, finished: int) -> None:
        self._report = report
        self._sizes = [len(plan.steps) for plan in run.cut.sub_plans]
        self._shares = [
            min(1.0, max(0.0, (finished - first) / size))
            for first, size in zip(run.cut.firsts, self._sizes, strict=False)
        ]
        self._began, self._first = perf_counter(), self._steps()
        self._lock = threading.Lock()

    def of(self, number: int) -> ProgressReport:
        """The report of one sub-plan."""

        def report(stage: str, done: float | None = None) -> None:
            with self._lock:
                self._shares[number] = max(self._shares[number], done or 0.0)
                self._tell(stage.partition(",")[0])

        return report

    def _tell(self, view: str) -> None:
        steps, total, passed = self._steps(), sum(self._sizes), perf_counter() - self._began
        left = passed / max(steps - self._first, 1.0) * (total - steps)
        self._report(f"{view}, about {left:,.0f} s left", steps / max(1, total))

    def _steps(self) -> float:
        return sum(map(float.__mul__, self._shares, map(float, self._sizes)))
