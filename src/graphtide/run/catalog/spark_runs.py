"""A run whose sub-plans are walked by tasks of Spark: the driver's side and the tasks' side.

The driver plans, knows the results of the empty version, and holds the lock of the run; it reads no
edges. Tasks write the parts of their attempts where the run is stored, which all of them must see.
The driver looks at what they have written, twice a second, and reports that in a thread of its own;
if the report raises, as one does that cancels the work, the tasks are told to stop. When Spark is
done, the driver makes the attempts that it was told of parts of the run, in order, and sweeps the
rest: those of tasks that were killed, or tried twice. Whatever ends the run before, the steps that
come next in the plan become parts, and all other attempts stay for whoever resumes it, here or on
Spark.

A Python worker of Spark carries out one task after the other. It opens the collection and prepares
the program with the first, and keeps both for the next ones of the same run. Each task writes the
parts of an attempt of its own, and never touches what another one wrote: whoever is killed leaves
parts that the next attempt begins with, or nothing. An error of ours is handed back as a report,
because trying again would not help; any other one ends the task, and Spark tries again.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter, thread_time, time
from typing import Any

from graphtide.kernels.jit import kernels_digest
from graphtide.model import errors
from graphtide.model.errors import GraphtideError, InputError, SetupError, StoreError
from graphtide.model.machine import cache_root
from graphtide.model.progress import ProgressReport
from graphtide.model.progress import ProgressReport as Telling
from graphtide.run.catalog.opened_runs import stored_versions
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.facts import RunSettings, Strategy
from graphtide.run.collection.prepare import PreparedProgram, prepare
from graphtide.run.collection.start import base_values
from graphtide.run.collection.sub_plans import JoinedAttempts, SubPlanRun, sub_plan_run
from graphtide.run.live.computation import Mode
from graphtide.run.live.programs import Bound, compiled_program
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, graph_behind, open_collection
from graphtide.store.files import READ_EDGES
from graphtide.store.parts import Parts, PartsOnDisk
from graphtide.store.results import StoredRun, open_run
from graphtide.version import __version__

_REPORT_EVERY = 0.5


@contextlib.contextmanager
def watched(
    look: Callable[[], tuple[str, float]], report: ProgressReport, stop: Callable[[], object]
) -> Iterator[None]:
    """Look and report, as long as this lasts; what cannot be read yet is left to the next look.

    `stop` has the tasks end, within a second or so.
    """
    ended = threading.Event()
    raised: list[BaseException] = []

    def look_on() -> None:
        while not ended.wait(_REPORT_EVERY):
            try:
                stage, done = look()
            except (OSError, GraphtideError):
                continue
            try:
                report(stage, done)
            except BaseException as error:
                raised.append(error)
                with contextlib.suppress(OSError, GraphtideError):
                    stop()
                return

    watcher = threading.Thread(target=look_on, daemon=True)
    watcher.start()
    try:
        yield
    except Exception:
        if not raised:  # Tasks that are stopped may fail over it.
            raise
    finally:
        ended.set()
        watcher.join()
    if raised:
        raise raised[0]


_LOOK_EVERY = 0.5


def this_code() -> str:
    """The code that runs here: results of another one might differ."""
    return f"{__version__} {kernels_digest()}"


@dataclass(frozen=True, kw_only=True)
class RunOrder:
    """What the driver sends to every task: the run by its checksum, and what it runs over."""

    folder: Path
    run: str
    checksum: str
    collection: str
    program: Bound
    strategy: Strategy
    keep_every: float
    made_by: str = field(default_factory=lambda: this_code())


@dataclass(frozen=True, kw_only=True)
class SubPlanOrder(RunOrder):
    """What the driver sends to tasks that walk sub-plans."""

    mode: Mode
    cuts: tuple[int, ...]
    verify: int | None


@dataclass(frozen=True)
class TaskReport:
    """What a task has done: its attempt, or its error; and how many edges it has read for that."""

    number: int
    attempt: str = ""
    stopped: bool = False
    error: tuple[str, str, str | None, str | None] | None = None
    worker: str = ""
    edges_read: int = 0

    def failure(self) -> GraphtideError:
        assert self.error is not None
        name, what, where, hint = self.error
        kind: Any = getattr(errors, name, StoreError)
        error: GraphtideError = kind(what, where=where, hint=hint)
        return error


class StoppedError(Exception):
    """The run has ended elsewhere."""


@dataclass
class _OpenedRun:
    """What a Python worker keeps from task to task."""

    order: SubPlanOrder
    prepared: PreparedProgram
    run: SubPlanRun
    base: Any
    parts: PartsOnDisk


_OPENED: list[_OpenedRun] = []


def open_ordered(order: RunOrder) -> tuple[Catalog, StoredRun, StoredCollection]:
    """The run and the collection of an order; refused by another code than the driver's."""
    if order.made_by != this_code():
        raise SetupError(
            f"a worker has another Graphtide ({this_code()}) than the driver ({order.made_by})",
            where=socket.gethostname(),
            hint="install the same one where tasks run",
        )
    catalog = Catalog(order.folder)
    run, stored = open_run(catalog, order.run), open_collection(catalog, order.collection)
    if run.generation.checksum != order.checksum:
        raise StoreError(f"the run '{order.run}' has been begun anew since", hint="run it again")
    return catalog, run, stored


def carry_out(order: bytes, number: int) -> bytes:
    """Walk a sub-plan; the entry of a task."""
    since = time(), thread_time()
    return reported(number, lambda: _walk(pickle.loads(order), number, since))


def reported(number: int, work: Callable[[], str]) -> bytes:
    """Do the work of a task, and report the attempt that it names, or how it ended."""
    read, ended = READ_EDGES.count, dict[str, Any]()
    try:
        ended["attempt"] = work()
    except StoppedError:
        ended["stopped"] = True
    except GraphtideError as error:
        ended["error"] = type(error).__name__, error.what, error.where, error.hint
    read = READ_EDGES.count - read
    return pickle.dumps(TaskReport(number, **ended, worker=_this_worker(), edges_read=read))


def _this_worker() -> str:
    return f"{socket.gethostname()} {os.getpid()}"


def _walk(order: SubPlanOrder, number: int, since: tuple[float, float]) -> str:
    """The name of the attempt that has all steps of a sub-plan, begun with `since` then."""
    opened = _opened(order)
    if opened.parts.attempts_stopped():
        raise StoppedError
    settings = RunSettings(
        verify=order.verify,
        keep_every=order.keep_every,
        go_on=_stop_check(opened.parts),
        worker=_this_worker(),
        since=since,
    )
    try:
        attempt = opened.parts.attempt(number)
        opened.run.walk(number, opened.base, opened.prepared, attempt, settings)
    except GraphtideError:
        opened.parts.stop_attempts()
        raise
    return attempt.name


def _opened(order: SubPlanOrder) -> _OpenedRun:
    """The run as this process knows it; opened with its first task."""
    if not _OPENED or _OPENED[0].order != order:
        _OPENED[:] = [_open(order)]
    return _OPENED[0]


def _open(order: SubPlanOrder) -> _OpenedRun:
    catalog, run, stored = open_ordered(order)
    directed = graph_behind(catalog, stored).directed
    compiled = compiled_program(order.program, order.mode, directed=directed)
    versions = stored_versions(catalog, stored, compiled)
    prepared = prepare(compiled, versions.known)
    sub_plans = sub_plan_run(versions, order.cuts, order.strategy)
    return _OpenedRun(order, prepared, sub_plans, base_values(run.base()), run.parts)


def _stop_check(parts: PartsOnDisk) -> Callable[[], None]:
    """Ends the task, within a second or so, once the run has ended elsewhere."""
    looked = [monotonic()]

    def go_on() -> None:
        now = monotonic()
        if now - looked[0] > _LOOK_EVERY:
            looked[0] = now
            if parts.attempts_stopped():
                raise StoppedError

    return go_on


ENTRY = "graphtide.run.catalog.spark_runs:carry_out"


class SparkRun:
    """The sub-plans of a run that are not finished, on their way through tasks of Spark."""

    def __init__(
        self,
        space: Workspace,
        order: SubPlanOrder,
        run: SubPlanRun,
        parts: PartsOnDisk,
        report: Telling,
    ) -> None:
        self._space = space
        self._order = _pickled(order)
        self._run = run
        self._parts = parts
        self._joined = JoinedAttempts(parts, run.cut)
        self._report = report

    def run(self) -> list[TaskReport]:
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

    def _tasks(self, numbers: Sequence[int]) -> list[TaskReport]:
        gateway = self._space.gateway
        pickled = gateway.run_tasks(ENTRY, self._order, numbers, str(cache_root()))
        return [pickle.loads(item) for item in pickled]

    def _leave(self) -> None:
        """Stop tasks that are still running, and keep what can be read of their attempts."""
        self._parts.stop_attempts()
        attempts: dict[int, Parts] = {}
        with contextlib.suppress(GraphtideError):
            for number in self._joined.missing():
                furthest = self._parts.furthest_attempt(number)
                if furthest is not None:
                    attempts[number] = furthest
            self._joined.take_over(attempts)


def _progress_of(parts: PartsOnDisk, run: SubPlanRun) -> Callable[[], tuple[str, float]]:
    """A function that says how many steps all tasks together have finished."""
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


def _pickled(order: SubPlanOrder) -> bytes:
    try:
        return pickle.dumps(order)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"{order.program} cannot be sent to Spark: {error}",
            hint="leave out on='spark'; threads of this process need not send it",
        ) from None
