"""Sub-plans walked by threads of this process, each with its own live state of one graph.

Edges, properties and classes are shared; which edges are live, and the states of programs, belong
to a thread. Kernels run without the interpreter's lock, so that threads compute at the same time.
The thread that asked for the run waits, makes finished attempts parts of the run in the order of
the plan, and hears Ctrl-C.

Whatever ends the run, every thread keeps what it has finished before it ends, and so it can be
resumed with any number of workers. Of several errors the one of the first sub-plan is raised.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

from graphtide.engine.changes import Values
from graphtide.model.errors import GraphtideError
from graphtide.model.progress import Report
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.settings import RunSettings
from graphtide.run.collection.sub_plans import Joined, SubPlanRun
from graphtide.store.parts import Parts

_LISTEN_EVERY = 0.1


class _StoppedError(Exception):
    """Another thread has ended the run."""


class ThreadedRun:
    """The sub-plans of a run that are not finished, on their way through several threads."""

    def __init__(self, run: SubPlanRun, base: Values, parts: Parts, settings: RunSettings) -> None:
        self._run = run
        self._base = base
        self._settings = settings
        self._joined = Joined(parts, run.cut)
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

    def __init__(self, report: Report, run: SubPlanRun, finished: int) -> None:
        self._report = report
        self._sizes = [len(plan.steps) for plan in run.cut.sub_plans]
        self._shares = [
            min(1.0, max(0.0, (finished - first) / size))
            for first, size in zip(run.cut.firsts, self._sizes, strict=False)
        ]
        self._began, self._first = perf_counter(), self._steps()
        self._lock = threading.Lock()

    def of(self, number: int) -> Report:
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
