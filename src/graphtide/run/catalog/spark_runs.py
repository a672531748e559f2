"""A run whose sub-plans are walked by tasks of Spark.

The driver plans, knows the results of the empty version, and holds the lock of the run; it reads no
edges. Tasks write the parts of their attempts where the run is stored, which all of them must see.
When Spark is done, the driver makes the attempts that it was told of parts of the run, in order,
and sweeps the rest: those of tasks that were killed, or tried twice.

Whatever ends the run before, the steps that come next in the plan become parts, and all other
attempts stay for whoever resumes it, here or on Spark.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Sequence
from time import perf_counter

from graphtide.model.cache import cache_root
from graphtide.model.errors import GraphtideError, InputError, StoreError
from graphtide.model.progress import Report as Telling
from graphtide.run.catalog.spark_tasks import Order, Report
from graphtide.run.catalog.watching import watched
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.sub_plans import Joined, SubPlanRun
from graphtide.store.parts import Parts
from graphtide.store.parts_on_disk import PartsOnDisk

ENTRY = "graphtide.run.catalog.spark_tasks:carry_out"


class SparkRun:
    """The sub-plans of a run that are not finished, on their way through tasks of Spark."""

    def __init__(
        self, space: Workspace, order: Order, run: SubPlanRun, parts: PartsOnDisk, report: Telling
    ) -> None:
        self._space = space
        self._order = _pickled(order)
        self._run = run
        self._parts = parts
        self._joined = Joined(parts, run.cut)
        self._report = report

    def run(self) -> list[Report]:
        """Run all of them, and make them parts of the run."""
        numbers = self._joined.missing()
        self._parts.begin_attempts()
        try:
            look = _progress_of(self._parts, self._run)
            with watched(look, self._report, self._parts.stop_attempts):
                reports = self._tasks(numbers)
        except BaseException:
            self._leave()
            raise
        failed = [item for item in reports if item.error is not None]
        if failed:
            self._leave()
            raise min(failed, key=lambda item: item.number).failure()
        if any(item.stopped for item in reports):
            raise StoreError("the run was stopped elsewhere", hint="resume it: resume=True")
        attempts = {item.number: self._parts.named_attempt(item.attempt) for item in reports}
        self._joined.take_over(dict[int, Parts](attempts))
        self._joined.end_attempts()
        return reports

    def _tasks(self, numbers: Sequence[int]) -> list[Report]:
        gateway = self._space.gateway
        pickled = gateway.run_tasks(ENTRY, self._order, numbers, str(cache_root()))
        return [pickle.loads(item) for item in pickled]

    def _leave(self) -> None:
        """Let tasks end that go on still, and keep what can be read of the attempts."""
        self._parts.stop_attempts()
        attempts: dict[int, Parts] = {}
        with contextlib.suppress(GraphtideError):
            for number in self._joined.missing():
                furthest = self._parts.furthest_attempt(number)
                if furthest is not None:
                    attempts[number] = furthest
            self._joined.take_over(attempts)


def _progress_of(parts: PartsOnDisk, run: SubPlanRun) -> Callable[[], tuple[str, float]]:
    """What tells how many steps all tasks together have finished."""
    firsts, began = run.cut.firsts, perf_counter()
    first: int | None = None

    def look() -> tuple[str, float]:
        nonlocal first
        done = sum(behind - firsts[at] for at, behind in parts.attempted().items())
        first = done if first is None else first
        left = (perf_counter() - began) / max(1, done - first) * (firsts[-1] - done)
        wait = f", about {left:,.0f} s left" if done > first else ""
        return f"{done:,} of {firsts[-1]:,} steps on Spark{wait}", done / firsts[-1]

    return look


def _pickled(order: Order) -> bytes:
    try:
        return pickle.dumps(order)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"{order.program} cannot be sent to Spark: {error}",
            hint="leave out on='spark'; threads of this process need not send it",
        ) from None
