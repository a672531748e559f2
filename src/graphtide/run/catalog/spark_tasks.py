"""What a task of Spark does for a run: open the stored graph once, and walk a sub-plan.

A Python worker of Spark carries out one task after the other. It opens the collection and prepares
the program with the first, and keeps both for the next ones of the same run. Each task writes the
parts of an attempt of its own, and never touches what another one wrote: whoever is killed leaves
parts that the next attempt begins with, or nothing.

An error of ours is handed back as a report, because trying again would not help; any other one ends
the task, and Spark tries again.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, thread_time, time
from typing import Any

from graphtide.kernels.jit import kernels_digest
from graphtide.model import errors
from graphtide.model.errors import GraphtideError, SetupError, StoreError
from graphtide.run.catalog.stored_versions import stored_versions
from graphtide.run.collection.facts import Strategy
from graphtide.run.collection.prepare import PreparedProgram, prepare
from graphtide.run.collection.settings import RunSettings
from graphtide.run.collection.start import base_values
from graphtide.run.collection.sub_plans import SubPlanRun, sub_plan_run
from graphtide.run.live.modes import Mode
from graphtide.run.live.programs import Bound, compiled_program
from graphtide.store.behind import graph_behind
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, open_collection
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.read_edges import READ_EDGES
from graphtide.store.results import StoredRun, open_run
from graphtide.version import __version__

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
class Order(RunOrder):
    """What the driver sends to tasks that walk sub-plans."""

    mode: Mode
    cuts: tuple[int, ...]
    verify: int | None


@dataclass(frozen=True)
class Report:
    """What a task has done: its attempt, or its error; and how many edges it has read for that."""

    number: int
    attempt: str = ""
    stopped: bool = False
    error: tuple[str, str, str | None, str | None] | None = None
    worker: str = ""
    edges_read: int = 0

    def failure(self) -> GraphtideError:
        """The error of ours that ended the task."""
        assert self.error is not None
        name, what, where, hint = self.error
        kind: Any = getattr(errors, name, StoreError)
        error: GraphtideError = kind(what, where=where, hint=hint)
        return error


class StoppedError(Exception):
    """The run has ended elsewhere."""


@dataclass
class _Opened:
    """What a Python worker keeps from task to task."""

    order: Order
    prepared: PreparedProgram
    run: SubPlanRun
    base: Any
    parts: PartsOnDisk


_OPENED: list[_Opened] = []


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
    return pickle.dumps(Report(number, **ended, worker=_this_worker(), edges_read=read))


def _this_worker() -> str:
    return f"{socket.gethostname()} {os.getpid()}"


def _walk(order: Order, number: int, since: tuple[float, float]) -> str:
    """The name of the attempt that has all steps of a sub-plan, begun with `since` then."""
    opened = _opened(order)
    if opened.parts.attempts_stopped():
        raise StoppedError
    settings = RunSettings(
        verify=order.verify,
        keep_every=order.keep_every,
        go_on=_watch(opened.parts),
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


def _opened(order: Order) -> _Opened:
    """The run as this process knows it; opened with its first task."""
    if not _OPENED or _OPENED[0].order != order:
        _OPENED[:] = [_open(order)]
    return _OPENED[0]


def _open(order: Order) -> _Opened:
    catalog, run, stored = open_ordered(order)
    directed = graph_behind(catalog, stored).directed
    compiled = compiled_program(order.program, order.mode, directed=directed)
    versions = stored_versions(catalog, stored, compiled)
    prepared = prepare(compiled, versions.known)
    sub_plans = sub_plan_run(versions, order.cuts, order.strategy)
    return _Opened(order, prepared, sub_plans, base_values(run.base()), run.parts)


def _watch(parts: PartsOnDisk) -> Callable[[], None]:
    """Ends the task, within a second or so, once the run has ended elsewhere."""
    looked = [monotonic()]

    def go_on() -> None:
        now = monotonic()
        if now - looked[0] > _LOOK_EVERY:
            looked[0] = now
            if parts.attempts_stopped():
                raise StoppedError

    return go_on
