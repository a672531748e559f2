"""Jobs of the page: carried out, followed, cancelled, gone on with; and functions as `progress`."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import graphtide as gt
from graphtide.lang.gvdl import statements as live
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.parse import parse_script
from graphtide.model.errors import GraphtideError, InputError, LanguageError, NotFoundError
from graphtide.run.catalog.spark_runs import watched
from graphtide.run.collection import runner
from graphtide.web import jobs
from graphtide.web.answers import Answers
from graphtide.web.gvdl import check_reach
from graphtide.web.json_values import NotAllowedError
from graphtide.web.shelf import Shelf
from tests.web.stored import SLOW, VIEWS, big_session

LONG = 60
"""Seconds after which something hangs."""


class Gate:
    """Holds reports of jobs back, from one that says enough on, until it is opened."""

    def __init__(self, from_share: float) -> None:
        self.from_share = from_share
        self.reached, self.opened = threading.Event(), threading.Event()

    def wait(self, done: float | None) -> None:
        if done is not None and done >= self.from_share:
            self.reached.set()
            assert self.opened.wait(LONG)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(big_session(tmp_path), changes=True)


@pytest.fixture
def gated(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Gate]:
    """Makes a gate that every job goes through; reports come behind each step."""
    monkeypatch.setattr(runner, "_TELL_EVERY", 0.0)

    def make(from_share: float) -> Gate:
        gate, report = Gate(from_share), jobs.Job.report

        def held(job: jobs.Job, stage: str, done: float | None = None) -> None:
            report(job, stage, done)
            gate.wait(done)

        monkeypatch.setattr(jobs.Job, "report", held)
        return gate

    return make


def begin(shelf: Shelf, statement: str) -> jobs.Job:
    return jobs.jobs_of(shelf).get(jobs.begin_job(shelf, {"statement": statement})["id"])


def ended(shelf: Shelf, job: jobs.Job) -> dict[str, Any]:
    assert job.wait_for_end(LONG)
    return jobs.show_job(shelf, job.id, {})


def test_a_statement_is_carried_out_and_answers(shelf: Shelf) -> None:
    told = ended(shelf, begin(shelf, "show collections; show graph Calls;"))
    assert told["state"] == "done"
    assert told["problem"] is None
    assert "big" in told["answer"]
    assert "60 edges" in told["answer"]
    assert [item["id"] for item in jobs.list_jobs(shelf, {})["jobs"]] == [told["id"]]


def test_a_run_is_cancelled_in_the_middle_and_gone_on_with(
    shelf: Shelf, gated: Callable[[float], Gate]
) -> None:
    gate = gated(0.5)
    job = begin(shelf, SLOW)
    assert gate.reached.wait(LONG)
    assert jobs.job_of_run(shelf, "slow") == job.id
    told = jobs.cancel_job(shelf, job.id, {})
    assert told["state"] == "going on"
    gate.opened.set()
    told = ended(shelf, job)
    assert told["state"] == "cancelled"
    assert told["result"] == {"kind": "run", "name": "slow"}
    assert told["resumable"]
    assert jobs.job_of_run(shelf, "slow") is None
    done, of = told["views"]
    assert of == VIEWS
    assert VIEWS / 2 <= done < VIEWS
    assert f"keeps {done} of {VIEWS} views" in told["answer"]
    assert shelf.resumable("slow")
    again = jobs.jobs_of(shelf).get(jobs.begin_job(shelf, {"resume": "slow"})["id"])
    told = ended(shelf, again)
    assert told["state"] == "done"
    assert told["views"] == [VIEWS, VIEWS]
    assert shelf.session is not None
    run, whole = (
        shelf.session.results("slow"),
        shelf.session.collection("big").run(gt.algorithms.WCC),
    )
    assert run.to_arrow().equals(whole.to_arrow())
    with pytest.raises(InputError, match="is finished"):
        jobs.begin_job(shelf, {"resume": "slow"})


@pytest.mark.parametrize("workers", [None, 2])
def test_a_function_hears_of_progress_and_ends_the_work_by_raising(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int | None
) -> None:
    monkeypatch.setattr(runner, "_TELL_EVERY", 0.0)
    session, heard = big_session(tmp_path), list[tuple[str, float | None]]()

    def hear(stage: str, done: float | None = None) -> None:
        heard.append((stage, done))
        if done is not None and done > 0.5:
            raise KeyError("enough")

    session.progress = hear
    collection = session.collection("big")
    with pytest.raises(KeyError, match="enough"):
        collection.run(gt.algorithms.WCC, name="half", verify=1, workers=workers)
    assert heard[0] == ("reading the collection", None)
    run = session.results("half")
    assert 0 < len(run) < VIEWS
    session.progress = False
    assert collection.run(gt.algorithms.WCC, name="half", resume=True).finished


def test_a_run_in_memory_takes_a_function_too() -> None:
    heard: list[str] = []
    graph = gt.Graph([1, 2, 3], [2, 3, 1])
    versions = [np.array([True, False, True]), np.array([True, True, True])]
    graph.run(gt.algorithms.WCC, versions, progress=lambda stage, done=None: heard.append(stage))
    assert heard[0] == "arranging the versions"
    with pytest.raises(InputError, match="progress cannot be 'yes'"):
        graph.run(gt.algorithms.WCC, versions, progress="yes")  # type: ignore[call-overload]


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_watcher_reports_ends_the_work_that_it_watches(fails: bool) -> None:
    stopped = threading.Event()

    def refuse(stage: str, done: float | None = None) -> None:
        raise jobs.CancelledError

    def work() -> None:
        with watched(lambda: ("half way", 0.5), refuse, stopped.set):
            assert stopped.wait(LONG)
            if fails:  # As tasks may that are stopped.
                raise InputError("stopped")

    with pytest.raises(jobs.CancelledError):
        work()


def test_what_fails_while_it_is_watched_is_raised() -> None:
    with (
        pytest.raises(InputError, match="of its own"),
        watched(lambda: ("", 0.0), lambda stage, done=None: None, lambda: None),
    ):
        raise InputError("of its own")


def test_events_follow_a_job_until_it_ends(shelf: Shelf, gated: Callable[[float], Gate]) -> None:
    gate = gated(0.9)
    gate.opened.set()
    events = [item for item in jobs.job_events(shelf, begin(shelf, SLOW).id) if item is not None]
    assert events[-1]["state"] == "done"
    assert events[-1]["done"] == 1.0
    assert events[-1]["views"] == [VIEWS, VIEWS]
    assert all(item["state"] == "going on" for item in events[:-1])
    assert len(events) <= 5 * events[-1]["seconds"] + 2


def test_events_come_while_a_job_says_nothing(shelf: Shelf, gated: Callable[[float], Gate]) -> None:
    gate = gated(0.5)
    job = begin(shelf, SLOW)
    events = jobs.job_events(shelf, job.id)
    assert gate.reached.wait(LONG)
    assert any(item is None for item in _first(events, 5))
    gate.opened.set()
    assert [item for item in events if item is not None][-1]["state"] == "done"


def _first(events: Iterator[Any], count: int) -> list[Any]:
    return [item for _, item in zip(range(count), events, strict=False)]


def test_jobs_that_write_take_turns_and_those_that_read_do_not(
    shelf: Shelf, gated: Callable[[float], Gate]
) -> None:
    gate = gated(0.5)
    first = begin(shelf, SLOW)
    assert gate.reached.wait(LONG)
    second, third = begin(shelf, "delete collection years"), begin(shelf, "delete view early")
    reading = begin(shelf, "show runs")
    assert ended(shelf, reading)["state"] == "done"
    while "waits" not in second.stage:
        assert second.state == "going on"
        second.wait(second.changed, LONG)
    third.cancel()
    assert ended(shelf, third)["state"] == "cancelled"
    assert first.state == second.state == "going on"
    gate.opened.set()
    assert ended(shelf, first)["state"] == ended(shelf, second)["state"] == "done"
    assert shelf.session is not None
    assert shelf.session.collections() == ["big"]
    assert shelf.session.views() == ["early"]


def test_a_job_that_fails_says_why_without_a_traceback(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ended(shelf, begin(shelf, "show graph Calls; delete collection nowhere; show runs"))
    assert told["state"] == "failed"
    assert "nowhere" in told["problem"]["what"]
    assert "60 edges" in told["answer"]
    from graphtide.run.statements import execute

    def break_off(*given: Any) -> None:
        raise ZeroDivisionError("a secret: /home/somebody")

    monkeypatch.setattr(execute, "execute_statement", break_off)
    told = ended(shelf, begin(shelf, "show runs"))
    assert told["state"] == "failed"
    assert "ZeroDivisionError" in told["problem"]["what"]
    assert "secret" not in str(told["problem"])


def test_what_cannot_begin_is_refused_at_once(shelf: Shelf) -> None:
    with pytest.raises(LanguageError):
        jobs.begin_job(shelf, {"statement": "crate view x"})
    with pytest.raises(InputError, match="no statement"):
        jobs.begin_job(shelf, {"statement": "  -- nothing\n"})
    with pytest.raises(InputError, match="is no text"):
        jobs.begin_job(shelf, {"statement": ["show runs"]})
    with pytest.raises(InputError, match="cannot be the name"):
        jobs.begin_job(shelf, {"resume": "<script>alert(1)</script>"})
    with pytest.raises(NotFoundError):
        jobs.begin_job(shelf, {"resume": "nowhere"})
    with pytest.raises(NotFoundError):
        jobs.cancel_job(shelf, "../../etc", {})
    with pytest.raises(NotAllowedError, match="reading only"):
        jobs.begin_job(Shelf(shelf.session), {"statement": "show runs"})
    with pytest.raises(InputError, match="no store"):
        jobs.begin_job(Shelf(changes=True), {"statement": "show runs"})
    assert jobs.list_jobs(Shelf(), {}) == {"jobs": []}
    assert jobs.list_jobs(shelf, {}) == {"jobs": []}


def test_a_run_of_a_program_of_ones_own_is_gone_on_with_from_its_text(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shelf.session is not None
    _leave_off(shelf.session, gt.algorithms.KHops(sources=["p1"], k=2), monkeypatch)
    job = jobs.jobs_of(shelf).get(jobs.begin_job(shelf, {"resume": "left"})["id"])
    assert ended(shelf, job)["state"] == "done"


def test_a_run_that_does_not_say_its_program_is_refused_with_a_hint(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graphtide.run.catalog import stored_runs

    monkeypatch.setattr(stored_runs, "_asked", lambda request: {})
    assert shelf.session is not None
    _leave_off(shelf.session, gt.algorithms.WCC, monkeypatch)
    with pytest.raises(InputError, match="does not say") as refused:
        jobs.begin_job(shelf, {"resume": "left"})
    assert "resume=True" in str(refused.value.hint)


def _leave_off(session: gt.Session, program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_TELL_EVERY", 0.0)

    def stop(stage: str, done: float | None = None) -> None:
        if done is not None and done > 0.3:
            raise KeyboardInterrupt

    session.progress = stop
    with pytest.raises(KeyboardInterrupt):
        session.collection("big").run(program, name="left", verify=1)
    session.progress = False


def _run_elsewhere(root: str, going_on: Any, go_on: Any) -> None:
    runner._TELL_EVERY = 0.0

    def hold(stage: str, done: float | None = None) -> None:
        if done is not None and done > 0.3:
            going_on.set()
            assert go_on.wait(LONG)

    session = gt.session(root, progress=hold)
    session.collection("big").run(gt.algorithms.WCC, name="elsewhere", verify=1)


def test_a_run_of_another_process_is_seen_going_on_and_not_taken_over(shelf: Shelf) -> None:
    assert shelf.session is not None
    assert shelf.stored is not None
    context = multiprocessing.get_context("spawn")
    going_on, go_on = context.Event(), context.Event()
    root = str(shelf.session.catalog.root)
    other = context.Process(target=_run_elsewhere, args=(root, going_on, go_on))
    other.start()
    try:
        assert going_on.wait(LONG)
        item = shelf.stored.item("run", "elsewhere")
        assert item is not None
        assert item.state == "going on"
        job = jobs.jobs_of(shelf).get(jobs.begin_job(shelf, {"resume": "elsewhere"})["id"])
        told = ended(shelf, job)
        assert told["state"] == "failed"
        assert "is being written by process" in told["problem"]["what"]
    finally:
        go_on.set()
        other.join(LONG)
    item = shelf.stored.item("run", "elsewhere")
    assert item is not None
    assert item.state == "ok"


def test_the_page_asks_for_jobs_by_paths(shelf: Shelf) -> None:
    answers, reading = Answers(shelf), Answers(Shelf(shelf.session))
    job = answers.post("jobs", {"statement": "show runs"})
    events = [item for item in answers.events(f"jobs/{job['id']}/events") if item is not None]
    assert events[-1]["state"] == "done"
    assert answers.get(f"jobs/{job['id']}", {}) == events[-1]
    assert answers.get("jobs", {})["jobs"] == [events[-1]]
    assert answers.post(f"jobs/{job['id']}/cancel", {})["state"] == "done"
    for path in ("jobs", f"jobs/{job['id']}/cancel"):
        with pytest.raises(NotAllowedError):
            reading.post(path, {"statement": "delete graph Calls"})
    assert reading.post("gvdl/check", {"text": "show runs"}) == {"problems": []}
    assert "Show" in reading.post("gvdl/explain", {"text": "show runs"})["text"]


FILES = [
    "run wcc from '/tmp/own.py' on collection big",
    "run 'own.py' on collection big",
    "explain run wcc from 'own.py' on collection big",
    "create program p on live graph g run wcc from 'own.py'",
    "run wcc on collection big save results to '/tmp/out'",
    "load graph g with edges from '/etc/passwd'",
    "load graph g with edges from '../../etc/passwd'",
    "load graph g with edges from 'file:///etc/passwd'",
    "load graph g with edges from 'http://localhost/x.csv'",
    "create live graph g with edges from '/etc/passwd'",
    "advance live graph g insert from '/etc/passwd'",
    "serialize to '/tmp/out'",
    "deserialize from '/tmp/in'",
    "save graph to '/tmp/out'",
]


@pytest.mark.parametrize("text", FILES)
def test_statements_of_the_page_reach_no_file(shelf: Shelf, text: str) -> None:
    with pytest.raises(LanguageError, match="the page"):
        jobs.begin_job(shelf, {"statement": text})
    assert jobs.list_jobs(shelf, {}) == {"jobs": []}


def test_files_within_the_store_can_be_read(shelf: Shelf) -> None:
    assert shelf.session is not None
    root = shelf.session.catalog.root
    (root / "rows.csv").write_text("src,dst\n1,2\n")
    (root / "link.csv").symlink_to("/etc/passwd")
    for text, fits in (
        (f"{root}/rows.csv", True),
        (f"{root}/link.csv", False),
        (f"{root}/*.csv", False),
        (f"{root}/../x", False),
    ):
        (statement,) = parse_script(f"create live graph fed with edges from '{text}'")
        if fits:
            check_reach(statement, root)
        else:
            with pytest.raises(LanguageError):
                check_reach(statement, root)
    told = ended(shelf, begin(shelf, f"create live graph fed with edges from '{root}/rows.csv'"))
    assert told["state"] == "done", told
    assert told["result"] == {"kind": "live", "name": "fed"}
    with gt.session(root).live("fed") as graph:  # The job has let it go.
        assert graph.num_edges == 1


HARMLESS = {
    "name", "base", "separator", "comment", "timezone", "at_most", "id", "src", "dst", "label",
    "edge_label", "computation", "collection", "graph", "time", "keep", "asked", "start", "target",
    "path_pattern", "weight", "direction", "mode", "to", "what", "on_bad_rows", "results", "on",
}  # fmt: skip


def test_every_text_of_a_statement_is_known_to_name_a_file_or_not() -> None:
    """So that a statement that comes to name files is not forgotten here."""
    for kind in (*get_args(s.Statement), *get_args(live.LiveStatement)):
        if kind is live.LiveStatement or not hasattr(kind, "__dataclass_fields__"):
            continue
        known = {name for _, name in s.files_of(kind)}
        if kind is live.CreateQuery:
            known.add("path")  # A regular path.
        texts = {item.name for item in fields(kind) if "str" in str(item.type)}
        unknown = texts - known - HARMLESS - {"hosts", "match", "parameters", "places"}
        assert not unknown, f"{kind.__name__} has {unknown}"


def test_errors_of_ours_are_no_graphtide_errors() -> None:
    """`except GraphtideError` within the work must not swallow a cancellation."""
    assert not issubclass(jobs.CancelledError, Exception)
    assert not issubclass(jobs.CancelledError, GraphtideError)
