"""Work that the page has asked for: GVDL that is carried out, and runs that are gone on with.

A job is a thread of the server. It reports through the progress function of its workspace, and is
cancelled there: the report raises, which ends the work as Ctrl-C does, so that a run keeps the
views that are finished. Jobs that write take turns; whoever waits says so. Those that only look at
something do not wait.

Between two reports a job cannot be cancelled: a job of Spark, reading a large collection, and one
view that takes long from scratch end first.
"""

from __future__ import annotations

import datetime as dt
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.parse import parse_script
from graphtide.model.errors import GraphtideError, InputError, NotFoundError
from graphtide.model.text import counted
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.facts import facts_from
from graphtide.store.results import open_run
from graphtide.web.gvdl import check_reach, given_text
from graphtide.web.json_values import NotAllowedError, Options, problem_of
from graphtide.web.shelf import Shelf

_log = logging.getLogger("graphtide")

MOST_JOBS = 100
"""Jobs that are remembered; the oldest that have ended are forgotten."""

_MOST_WAITING = 20
_EVERY = 0.2
_QUIET = 1.0
_LONGEST_TITLE, _LONGEST_ANSWER = 100, 20_000
_READING = (
    *(s.Show, s.Explain, s.UseGraph),
    *(s.ShowLive, s.ShowRegistered, s.ExplainRegistered),
)


class CancelledError(BaseException):
    """Raised where a job reports that is to end. No `except Exception` stops it."""


class Job:
    """One piece of work, and how far it is."""

    def __init__(self, title: str, statement: str, result: tuple[str, str] | None) -> None:
        self.id = secrets.token_hex(6)
        self.title = _shortened(title, _LONGEST_TITLE)
        self.statement = statement
        self.result = result
        self.state = "going on"
        self.stage, self.answer = "beginning", ""
        self.done: float | None = None
        self.problem: dict[str, Any] | None = None
        self.resumable = False
        self.changed = 0
        self._condition = threading.Condition()
        self._cancelled = threading.Event()
        self._created = dt.datetime.now(dt.UTC)
        self._began, self._ended = monotonic(), 0.0
        self._first: tuple[float, float] | None = None

    def report(self, stage: str, done: float | None = None) -> None:
        """Note the progress; raises CancelledError if the job is to end."""
        if self._cancelled.is_set():
            raise CancelledError
        now = monotonic()
        with self._condition:
            self.stage, self.done = stage.partition(", about ")[0], done
            if done is None:
                self._first = None
            elif self._first is None or done < self._first[1]:
                self._first = now, done
            self._note()

    def cancel(self) -> None:
        """Make the job end at its next report."""
        self._cancelled.set()
        with self._condition:
            if self.state == "going on":
                self.stage = "is being cancelled"
                self._note()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def end(self, state: str, *, answer: str = "", problem: dict[str, Any] | None = None) -> None:
        with self._condition:
            self.state, self.problem, self._ended = state, problem, monotonic()
            texts = filter(None, (self.answer, answer))
            self.answer = _shortened("\n".join(texts), _LONGEST_ANSWER)
            self.stage = self.stage if state == "failed" else ""
            self.done = 1.0 if state == "done" else self.done
            self._note()

    def wait(self, changed: int, seconds: float) -> int:
        """Wait for a change, at most so long; the number of changes so far."""
        with self._condition:
            self._condition.wait_for(lambda: self.changed != changed, seconds)
            return self.changed

    def wait_for_end(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        with self._condition:
            return self._condition.wait_for(lambda: self.state != "going on", seconds)

    def told(self) -> dict[str, Any]:
        with self._condition:
            ended = self._ended or monotonic()
            result = self.result
            return {
                "id": self.id,
                "title": self.title,
                "statement": self.statement,
                "state": self.state,
                "stage": self.stage,
                "done": self.done,
                "left": self._left(),
                "seconds": round(ended - self._began, 3),
                "result": None if result is None else {"kind": result[0], "name": result[1]},
                "answer": self.answer,
                "problem": self.problem,
                "resumable": self.resumable,
            }

    def has_made(self, created: str) -> bool:
        """Whether something created at that time was made by this job, or later."""
        return dt.datetime.fromisoformat(created) >= self._created

    def _left(self) -> float | None:
        if self.state != "going on" or self.done is None or self._first is None:
            return None
        since, done = self._first
        if self.done <= done:
            return None
        left: float = (monotonic() - since) * (1.0 - self.done) / (self.done - done)
        return round(left, 1)

    def _note(self) -> None:
        self.changed += 1
        self._condition.notify_all()


class Jobs:
    """The jobs of one server."""

    def __init__(self, session: Workspace) -> None:
        self._session = session
        self._jobs: dict[str, Job] = {}
        self._views: dict[str, tuple[float, int, tuple[int, int] | None]] = {}
        self._steps: tuple[tuple[str, str], NDArray[np.int64]] | None = None
        """Of the run that was looked at last: how many views are among its first steps."""
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def begin(self, text: str) -> Job:
        """Carry out GVDL. Texts that do not parse or reach too far are refused at once."""
        statements = parse_script(text)
        if not statements:
            raise InputError("there is no statement", hint="show graphs")
        for statement in statements:
            check_reach(statement, self._session.catalog.root)
        results = [found for item in statements if (found := _result_of(self._session, item))]
        job = Job(text.strip().split("\n")[0], text, results[-1] if results else None)
        writes = not all(isinstance(item, _READING) for item in statements)
        return self._start(job, lambda space: _carry_out(space, statements, job), writes=writes)

    def resume(self, name: str) -> Job:
        """Resume a run that was interrupted."""
        # Imported here: programs, which the other jobs may not need.
        from graphtide.run.catalog.stored_runs import resume_run, resumed

        resumed(self._session, name)
        job = Job(f"go on with {name}", "", ("run", name))

        def work(space: Workspace) -> None:
            from graphtide.run.statements.answers import run_answer

            job.answer = run_answer(resume_run(space, name)).text

        return self._start(job, work, writes=True)

    def get(self, number: str) -> Job:
        with self._lock:
            job = self._jobs.get(number)
        if job is None:
            raise NotFoundError(
                "there is no such job", hint="jobs end with the server that began them"
            )
        return job

    def all(self) -> list[Job]:
        with self._lock:
            return [*reversed(self._jobs.values())]

    def told(self, job: Job) -> dict[str, Any]:
        """The job for the page, with the finished views of its run."""
        views = self._finished(job)
        return {**job.told(), "views": None if views is None else list(views)}

    def of_run(self, name: str) -> str | None:
        """The id of the job that makes a run now; None if there is none."""
        result = ("run", name)
        return next((job.id for job in self.all() if _is_making(job, result)), None)

    def _start(self, job: Job, work: Callable[[Workspace], None], *, writes: bool) -> Job:
        with self._lock:
            going_on = [item for item in self._jobs.values() if item.state == "going on"]
            if len(going_on) >= _MOST_WAITING:
                raise InputError(
                    f"{counted(len(going_on), 'job')} are going on or wait",
                    hint="wait until one is done, or cancel one",
                )
            ended = [item.id for item in self._jobs.values() if item.state != "going on"]
            for number in ended[: max(0, len(self._jobs) - MOST_JOBS + 1)]:
                del self._jobs[number]
                self._views.pop(number, None)
            self._jobs[job.id] = job
        target = self._carry_out
        threading.Thread(
            target=target, args=(job, work, writes), name=f"job {job.id}", daemon=True
        ).start()
        return job

    def _carry_out(self, job: Job, work: Callable[[Workspace], None], writes: bool) -> None:
        try:
            if not writes:
                self._work(job, work)
            else:
                self._take_turn(job)
                try:
                    self._work(job, work)
                finally:
                    self._writing.release()
        except CancelledError:
            self._note_run(job)
            job.end("cancelled", answer=self._left_off(job))
        except BaseException as error:
            if not isinstance(error, GraphtideError):
                _log.error("the job '%s' failed", job.title, exc_info=error)
            self._note_run(job)
            job.end("failed", problem=problem_of(error))
        else:
            job.end("done")

    def _work(self, job: Job, work: Callable[[Workspace], None]) -> None:
        """Do the work, and close what it opened before anybody hears that it is done."""
        space = self._session.reporting_to(job.report)
        try:
            job.report("beginning")
            work(space)
        finally:
            self._session.current = space.current
            with suppress(GraphtideError):
                space.close_opened(self._session)

    def _take_turn(self, job: Job) -> None:
        while not self._writing.acquire(timeout=0.1):
            job.report("waits for the job before it")

    def _note_run(self, job: Job) -> None:
        """Note whether the interrupted run of a job can be resumed."""
        from graphtide.run.catalog.stored_runs import resumed

        if job.result is None or job.result[0] != "run":
            return
        with suppress(GraphtideError):
            resumed(self._session, job.result[1])
            job.resumable = True

    def _left_off(self, job: Job) -> str:
        views = self._finished(job, look=True)
        if views is None:
            return ""
        return f"the run keeps {views[0]:,} of {counted(views[1], 'view')}"

    def _finished(self, job: Job, *, look: bool = False) -> tuple[int, int] | None:
        """The finished views of the run of a job, looked up at most once a second."""
        if job.result is None or job.result[0] != "run":
            return None
        at, changed, views = self._views.get(job.id, (0.0, -1, None))
        early = job.state == "going on" and monotonic() - at < _QUIET
        if not look and (changed == job.changed or early):
            return views
        changed = job.changed
        with suppress(GraphtideError):
            views = self._look_up(job, job.result[1])
        self._views[job.id] = monotonic(), changed, views
        return views

    def _look_up(self, job: Job, name: str) -> tuple[int, int] | None:
        """The finished views of a run on disk. O(1)."""
        stored = open_run(self._session.catalog, name)
        facts = facts_from(name, stored.manifest)
        if job.statement and not job.has_made(facts.created):
            return None  # An earlier run of that name, which is still to be replaced.
        key, finished = (name, facts.created), stored.parts.finished
        if self._steps is None or self._steps[0] != key:
            self._steps = key, np.cumsum(stored.steps().column("view").to_numpy() >= 0)
        views = self._steps[1]
        return int(views[finished - 1]) if finished else 0, int(views[-1])


def _carry_out(space: Workspace, statements: tuple[s.Statement, ...], job: Job) -> None:
    """Carry out statements one by one; the answer has a text for each."""
    # Imported here: programs and Spark's sources, which looking at a page does not need.
    from graphtide.run.statements.execute import execute_statement

    answers = []
    for number, statement in enumerate(statements, 1):
        if len(statements) > 1:
            job.report(f"statement {number} of {len(statements)}")
        answer = execute_statement(space, statement)
        table = "" if answer.table is None else f"\n{answer.table!r}"
        answers.append(f"{answer}{table}")
        job.answer = _shortened("\n\n".join(answers), _LONGEST_ANSWER)


def _result_of(space: Workspace, statement: s.Statement) -> tuple[str, str] | None:
    """What a statement makes or changes: its kind and name on the page."""
    match statement:
        case s.CreateView(name) | s.Refresh("view", name):
            return "view", name
        case s.CreateCollection(name) | s.Refresh("collection", name):
            return "collection", name
        case s.CreateGrouped(name):
            return "graph", name
        case s.LoadGraph(name=name):
            return "graph", name or "graph"
        case s.Run() if statement.results != "noresults":
            return "run", statement.name or _run_name(space, statement)
        case s.CreateLive(name) | s.AdvanceLive(name):
            return "live", name
        case s.CreateQuery() | s.CreateProgram() | s.SetLive():
            return "live", statement.graph
    return None


def _run_name(space: Workspace, statement: s.Run) -> str:
    # Imported here: the programs of the library, which other statements do not need.
    from graphtide.run.collection.facts import run_name
    from graphtide.run.statements.computations import chosen_computation, said_outright
    from graphtide.store.collection import graph_behind, open_collection

    with suppress(GraphtideError):
        stored = open_collection(space.catalog, statement.collection)
        statement = said_outright(graph_behind(space.catalog, stored).schema, statement)
    return run_name(statement.collection, chosen_computation(statement).program)


def _is_making(job: Job, result: tuple[str, str]) -> bool:
    return job.result == result and job.state == "going on"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def jobs_of(shelf: Shelf) -> Jobs:
    """The jobs of a shelf; InputError if it has no store."""
    if shelf.session is None:
        raise InputError(
            "there is no store that statements could be about",
            hint="open one: graphtide open STORE, or session.open()",
        )
    session = shelf.session
    return shelf.part(Jobs, lambda: Jobs(session))


def job_of_run(shelf: Shelf, name: str) -> str | None:
    """The id of the job that makes a run now."""
    return None if shelf.session is None else jobs_of(shelf).of_run(name)


def list_jobs(shelf: Shelf, options: Options) -> dict[str, Any]:
    if shelf.session is None:
        return {"jobs": []}
    jobs = jobs_of(shelf)
    return {"jobs": [jobs.told(job) for job in jobs.all()]}


def show_job(shelf: Shelf, number: str, options: Options) -> dict[str, Any]:
    jobs = jobs_of(shelf)
    return jobs.told(jobs.get(number))


def begin_job(shelf: Shelf, body: dict[str, Any]) -> dict[str, Any]:
    """Carry out a statement, or resume a run."""
    jobs = jobs_of(shelf)
    if not shelf.changes:
        raise NotAllowedError(
            "this page is for reading only", hint="graphtide open --allow-changes"
        )
    if "resume" in body:
        job = jobs.resume(given_text(body, "resume"))
    else:
        job = jobs.begin(given_text(body, "statement"))
    return jobs.told(job)


def cancel_job(shelf: Shelf, number: str, body: dict[str, Any]) -> dict[str, Any]:
    """Make a job end; finished views of a run are kept."""
    jobs = jobs_of(shelf)
    job = jobs.get(number)
    job.cancel()
    return jobs.told(job)


def job_events(shelf: Shelf, number: str) -> Iterator[dict[str, Any] | None]:
    """A job as it goes on, five times a second at most, until it has ended.

    None where nothing has changed for a second.
    """
    jobs = jobs_of(shelf)
    job, seen = jobs.get(number), -1
    while True:
        changed = job.wait(seen, _QUIET)
        told = None if changed == seen else jobs.told(job)
        seen = changed
        yield told
        if told is not None and told["state"] != "going on":
            return
        job.wait_for_end(_EVERY)


ROUTES = {"jobs": list_jobs, "jobs/*": show_job}
POSTS = {"jobs": (begin_job, True), "jobs/*/cancel": (cancel_job, True)}
EVENTS = {"jobs/*/events": job_events}
