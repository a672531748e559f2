"""Runs whose steps tasks of Spark make: the answers of a run here, whoever is killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import WCC, PageRank
from graphtide.lang.python import AnyProgram
from graphtide.model.errors import GraphtideError, InputError
from graphtide.run.catalog import spark_runs
from graphtide.run.catalog.opened_runs import open_stored_run
from graphtide.run.catalog.stored_runs import run_collection
from graphtide.run.collection import sub_plans
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.live.programs import compiled_program
from graphtide.spark import tasks
from graphtide.store.files import READ_EDGES

pytestmark = pytest.mark.spark
VIEWS = {f"upto-{at}": f"at <= {at}" for at in range(0, 60, 3)}
MASTER = os.environ.get("GRAPHTIDE_TEST_MASTER", "local[2]")


@pytest.fixture(scope="module")
def views(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> gt.Collection:
    folder = tmp_path_factory.mktemp("runs") / "data"
    rows = [(at * 7 % 23, at * 11 % 19, at) for at in range(60)]
    session = gt.session(folder, spark=spark, progress=False)
    graph = session.load("net", edges=rows, edge_columns=["src", "dst", "at"])
    return graph.collection("growing", VIEWS)


@pytest.fixture
def session(spark: Any, views: gt.Collection) -> gt.Session:
    return gt.session(views._space.catalog.root, spark=spark, progress=False)


@pytest.fixture(scope="module")
def here(views: gt.Collection) -> gt.Run:
    return views.run(WCC, name="here", workers=1)


@pytest.fixture(autouse=True)
def small_runs_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sub_plans, "SPARK_SECONDS", -1e9)
    monkeypatch.setattr("graphtide.optimize.cutting.STEP", 1e7)


class Watched:
    """The reports of the tasks of all runs."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reports: list[Any] = []
        run = spark_runs.SparkRun.run

        def watched(given: Any) -> Any:
            found = run(given)
            self.reports += found
            return found

        patch.setattr(spark_runs.SparkRun, "run", watched)


@pytest.mark.masters
def test_tasks_make_the_answers_of_a_run_here(
    session: gt.Session, views: gt.Collection, here: gt.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks = views.run(PageRank, name="ranks here", workers=1)
    watched, read = Watched(monkeypatch), READ_EDGES.count
    there = views.run(WCC, name="there", on="spark", verify=3)
    assert READ_EDGES.count == read, "the driver has read edges"
    assert len(watched.reports) > 2
    assert sum(item.edges_read for item in watched.reports) >= 60
    workers = {item.worker for item in watched.reports}
    reading = [item.worker for item in watched.reports if item.edges_read]
    assert sorted(reading) == sorted(workers), "a worker opens the graph once"
    assert there.to_arrow().equals(here.to_arrow())
    assert not list(views._space.catalog.root.rglob("sub-plans"))
    told = session.execute("run page_rank on growing as far workers 2 on spark;")
    assert told
    far, near = session.results("far").to_arrow(), ranks.to_arrow()
    assert far.column("id").equals(near.column("id"))
    assert far.column("rank").to_pylist() == pytest.approx(near.column("rank").to_pylist())


def test_where_a_run_would_be_is_said_and_can_be_forced(
    session: gt.Session, views: gt.Collection, here: gt.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "2 slots of Spark on" in views.explain_run(WCC, on="spark", workers=2)
    monkeypatch.setattr(sub_plans, "SPARK_SECONDS", 1e9)
    assert "in this process" in views.explain_run(WCC, on="spark", workers=2)
    watched = Watched(monkeypatch)
    with pytest.warns(gt.UnusedOptionWarning, match=r"stays in this process.*force=True"):
        assert views.run(WCC, on="spark").finished
    assert not watched.reports
    (answer,) = session.execute("run wcc on growing as told on spark;")
    assert any("stays in this process" in note for note in answer.notes)
    assert not watched.reports
    (answer,) = session.execute("run wcc on growing as sent on spark forced;")
    assert watched.reports
    assert not answer.notes
    assert session.results("sent").to_arrow().equals(here.to_arrow())
    with pytest.raises(InputError, match="900 workers cannot share the run"):
        views.run(WCC, on="spark", workers=900, force=True)
    with pytest.raises(InputError, match="nothing that it could force"):
        views.run(WCC, force=True)
    with pytest.raises(GraphtideError, match="'forced' has nothing to force"):
        session.execute("run wcc on growing forced;")


def test_what_cannot_be_on_spark_is_refused(session: gt.Session, views: gt.Collection) -> None:
    with pytest.raises(InputError, match="results=False"):
        views.run(WCC, on="spark", results=False)
    with pytest.raises(InputError, match="on cannot be"):
        views.run(WCC, on="moon")  # type: ignore[arg-type]
    with pytest.raises(GraphtideError, match="keeps nothing"):
        session.execute("run wcc on growing noresults on spark;")
    with pytest.raises(GraphtideError, match="begin anew elsewhere"):
        session.execute("run wcc on growing on spark indices [1];")


def dying(where: str, marker: Path) -> Callable[..., Any]:
    """Tasks of which the first that has kept a part kills somebody, once."""
    plain, mark = tasks._task, str(marker)

    def made(*given: Any) -> Any:
        inner = plain(*given)

        def task(batches: Iterator[Any]) -> Iterator[Any]:
            import os
            import signal

            def parent(process: int) -> int:
                with open(f"/proc/{process}/stat") as file:
                    return int(file.read().rpartition(")")[2].split()[1])

            from graphtide.store.parts import PartsOnDisk

            append = PartsOnDisk.append

            def deadly(parts: Any, part: Any) -> None:
                append(parts, part)
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return
                victim = os.getpid()
                if where == "executor":
                    victim = parent(parent(victim))
                    with open(f"/proc/{victim}/comm") as file:
                        assert file.read().strip() == "java"
                os.kill(victim, signal.SIGKILL)

            PartsOnDisk.append = deadly  # type: ignore[method-assign]
            try:
                yield from inner(batches)
            finally:
                PartsOnDisk.append = append  # type: ignore[method-assign]

        return task

    return made


def asked(name: str, program: AnyProgram, **more: Any) -> RunRequest:
    settings = RunSettings(keep_every=0.0)
    return RunRequest(name, compiled_program(program, "auto"), settings=settings, **more)


@pytest.mark.parametrize("where", ["worker", pytest.param("executor", marks=pytest.mark.masters)])
def test_killed_in_the_middle_of_a_sub_plan(
    where: str,
    views: gt.Collection,
    here: gt.Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_cluster = MASTER.startswith("local-cluster") or MASTER == "connect"
    if where == "executor" and not on_cluster:
        pytest.skip("executors are processes of their own on a cluster only")
    space, stored = views._space, views._stored
    monkeypatch.setattr(tasks, "_task", dying(where, tmp_path / "died"))
    try:
        run_collection(space, stored, asked("there", WCC(), on="spark"))
    except GraphtideError:
        # Within one machine Spark does not try a task again: what is finished is kept.
        assert not on_cluster
        left = open_stored_run(space.catalog, "there")
        assert not left.finished
        assert list(space.catalog.root.rglob("sub-plans"))
        run_collection(space, stored, asked("there", WCC(), on="spark", resume=True))
    assert (tmp_path / "died").exists()
    found = open_stored_run(space.catalog, "there")
    assert found.finished
    assert gt.Run(found).to_arrow().equals(here.to_arrow())
    assert not list(space.catalog.root.rglob("sub-plans"))


def test_an_interrupted_run_is_resumed_here_or_there(
    views: gt.Collection, here: gt.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, stored = views._space, views._stored
    with monkeypatch.context() as patch:
        patch.setattr(sub_plans.JoinedAttempts, "take_over", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_collection(space, stored, asked("there", WCC(), on="spark"))
        # Another driver goes on, and is interrupted before it makes a part of anything.
        with pytest.raises(KeyboardInterrupt):
            views.run(WCC, name="there", resume=True, on="spark", workers=3)
    left = open_stored_run(space.catalog, "there")
    assert left.differences.finished == 0
    resumed = views.run(WCC, name="there", resume=True, workers=3)
    assert resumed.finished
    assert resumed.to_arrow().equals(here.to_arrow())
    assert not list(space.catalog.root.rglob("sub-plans"))


def _interrupt(*given: Any) -> None:
    raise KeyboardInterrupt


def test_an_error_of_a_task_is_told_as_it_is(
    views: gt.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphtide.run.catalog.spark_runs.this_code", lambda: "another one")
    with pytest.raises(gt.GraphtideError, match="a worker has another Graphtide"):
        views.run(WCC, name="wrong", on="spark")
    monkeypatch.undo()
    # The run was begun: it can be resumed.
    assert views.run(WCC, name="wrong", resume=True).finished
