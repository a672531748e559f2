"""Runs on shards that tasks of Spark hold: the answers of a run here, whoever is killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import graphtide as gt
from graphtide.algorithms import BFS, WCC, KCore, PageRank
from graphtide.model.errors import GraphtideError, InputError
from graphtide.run.catalog.build import whole_view
from graphtide.run.catalog.opened_runs import open_stored_run
from graphtide.run.catalog.stored_runs import run_collection
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.live.programs import compiled_program
from graphtide.run.shards import runs
from graphtide.spark import tasks
from graphtide.store.files import READ_EDGES, READ_VERTICES

pytestmark = pytest.mark.spark
VIEWS = {f"upto-{at}": f"at <= {at}" for at in (0, 20, 40, 59)}
MASTER = os.environ.get("GRAPHTIDE_TEST_MASTER", "local[2]")


@pytest.fixture(scope="module")
def views(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> gt.Collection:
    folder = tmp_path_factory.mktemp("shards") / "data"
    rows = [(at * 7 % 23, at * 11 % 19, at) for at in range(60)]
    session = gt.session(folder, spark=spark, progress=False)
    graph = session.load("net", edges=rows, edge_columns=["src", "dst", "at"])
    return graph.collection("growing", VIEWS)


class Watched:
    """The reports of the tasks of all runs."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reports: list[Any] = []
        run = runs.ShardedRun.run

        def watched(*given: Any) -> Any:
            found = run(*given)
            self.reports += found
            return found

        patch.setattr(runs.ShardedRun, "run", watched)


@pytest.mark.masters
def test_shards_give_the_answers_of_a_run_here(
    views: gt.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = views.run(WCC, name="here", workers=1)
    watched, read = Watched(monkeypatch), (READ_EDGES.count, READ_VERTICES.count)
    there = views.run(WCC, name="there", on="shards")
    summary = there.summary()
    assert there.explain()
    assert (READ_EDGES.count, READ_VERTICES.count) == read, "the driver has read edges or vertices"
    assert summary.equals(here.summary())
    assert "2 tasks at the same time" in views.explain_run(WCC, on="shards")
    assert len(watched.reports) == 2
    assert sum(item.edges_read for item in watched.reports) == 2 * 60, "by both ends"
    assert there.to_arrow().equals(here.to_arrow())
    told = there.record().column("strategy").to_pylist()
    assert told == ["scratch", "differential", "differential", "differential"]
    assert not list(views._space.catalog.root.glob("runs/*/*/parts/shards"))
    far = views.run(PageRank, name="far", on="shards", workers=1).to_arrow()
    both = views.run(PageRank, name="both", on="shards")
    assert both.to_arrow().equals(far), "one task adds up in the order of two"
    check_told(both)
    read = READ_VERTICES.count
    frame = both.to_spark().toArrow()
    assert READ_VERTICES.count == read, "the driver has read results"
    keys = [("view", "ascending"), ("id", "ascending")]
    assert frame.sort_by(keys).to_pylist() == far.sort_by(keys).to_pylist()
    workers = {item.worker for item in watched.reports[:2]}
    assert set(there.workers().column("worker").to_pylist()) == workers
    check_supersteps(there, here, workers)


def check_told(run: gt.Run) -> None:
    """What tasks tell and pages have is what the whole results say."""
    contents, found = run._contents, (run.summary(), run.top(3), run.history(7))
    whole = replace(contents, facts=replace(contents.facts, on_shards=False))
    again = gt.Run(replace(whole, base=dict(contents.base)))
    for one, other in zip(found, (again.summary(), again.top(3), again.history(7)), strict=True):
        assert one.equals(other)
    rows = run.top(3)
    assert {"rose", "new"} <= set(rows.column_names)


def check_supersteps(there: gt.Run, here: gt.Run, workers: set[str]) -> None:
    """Every task tells of the same supersteps, in a row, within the time of its view."""
    assert here.supersteps().num_rows == 0
    found = there.supersteps().to_pylist()
    for made in there.workers().to_pylist():
        own = [
            row for row in found if (row["worker"], row["view"]) == (made["worker"], made["view"])
        ]
        assert [row["superstep"] for row in own] == list(range(1, len(own) + 1))
        at = made["began"] - 0.2
        for row in own:
            assert row["began"] >= at
            at = row["began"] + row["computed"] + row["waited"] + row["transferred"] - 1e-5
        assert at <= made["ended"] + 0.2
    each = [[row["view"] for row in found if row["worker"] == worker] for worker in workers]
    assert each[0] == each[1]
    assert f"2 tasks, {len(each[0])} supersteps" in there.explain()
    sent = {row["worker"]: row["sent"] for row in there.workers().to_pylist() if row["sent"]}
    assert set(sent) == workers, "each task has mirrors of the other"
    assert all(f"{worker}: computed" in there.explain() for worker in workers)
    assert "superstep" not in here.explain()
    for run, told in ((there, f"2 tasks, {len(each[0])} supersteps"), (here, "on 1 sub-plan")):
        texts = [item.get_text() for item in run.picture(of="workers").figure.texts]
        assert any(told in text for text in texts), texts


def test_damaged_shards_are_made_again(
    views: gt.Collection, caplog: pytest.LogCaptureFixture
) -> None:
    catalog = views._space.catalog
    session = gt.session(catalog.root, spark=views._space.gateway.session)
    whole = views.run(WCC, name="before", on="shards").to_arrow()
    file = sorted(catalog.shards_folder("growing").glob("g-*/into-*.arrays"))[-1]
    data = bytearray(file.read_bytes())
    data[-65] ^= 1
    file.write_bytes(data)
    damaged = [row for row in session.check().to_pylist() if row["state"] == "damaged"]
    assert [(row["kind"], row["name"]) for row in damaged] == [("shards", "growing")]
    assert damaged[0]["file"] == str(file)
    again = views.run(WCC, name="after", on="shards")
    assert f"{file.name} has changed" in caplog.text
    assert again.to_arrow().equals(whole)
    assert set(session.check().column("state").to_pylist()) == {"ok"}


def test_views_that_lose_edges_follow(views: gt.Collection) -> None:
    session = gt.session(views._space.catalog.root, spark=views._space.gateway.session)
    windows = {f"from-{at}": f"at >= {at} and at < {at + 50}" for at in (0, 1, 6, 10)}
    sliding = session.graph("net").collection("sliding", windows, order="manual")
    here = sliding.run(WCC, name="slid here", workers=1).to_arrow()
    assert "each view from the last one" in sliding.explain_run(WCC, on="shards")
    assert "each view from scratch" in sliding.explain_run(PageRank, on="shards")
    for strategy in ("adaptive", "differential"):
        found = sliding.run(WCC, name="slid", on="shards", strategy=strategy)  # type: ignore[arg-type]
        assert found.to_arrow().equals(here), strategy
        told = found.record().column("strategy").to_pylist()
        assert told[:2] == ["scratch", "differential"], told
        assert strategy == "adaptive" or told[1:] == ["differential"] * 3


def test_a_whole_graph_runs_on_shards(views: gt.Collection) -> None:
    session = gt.session(views._space.catalog.root, spark=views._space.gateway.session)
    graph = session.graph("net")
    here = graph.run(WCC).table()
    found = graph.run(WCC, on="shards", workers=2)
    assert found.name == "net-whole-WCC"
    assert found.table(0).equals(here)
    read = READ_EDGES.count, READ_VERTICES.count
    assert session.execute("run bfs(source=0) on net as hops on shards;")
    hops = session.results("hops")
    assert hops.summary().column("reached").to_pylist() == [19]
    assert (READ_EDGES.count, READ_VERTICES.count) == read, "the driver has read edges or vertices"
    assert hops.table(0).equals(graph.run(BFS(source=0)).table())
    for words, match in (
        ({"on": "spark"}, "on cannot be 'spark' for a whole graph"),
        ({"on": "shards", "lean": True}, "`lean` goes without on='shards'"),
        ({"name": "x"}, "`name` goes only with on='shards'"),
        ({"resume": True}, "`resume` goes only with on='shards'"),
    ):
        with pytest.raises(InputError, match=match):
            graph.run(WCC, **words)  # type: ignore[call-overload]


def test_an_undirected_graph_is_that_wherever_it_runs(spark: Any, tmp_path: Path) -> None:
    """Loaded by statements and from NetworkX; loops and parallel edges are met as they are here."""
    session = gt.session(tmp_path / "data", spark=spark, progress=False)
    rows = [(at * 7 % 11, at * 5 % 9, at) for at in range(60)]
    text = "\n".join(f"{src},{dst},{at}" for src, dst, at in [("src", "dst", "at"), *rows])
    (tmp_path / "net.csv").write_text(text)
    session.execute(f"load graph net with edges from '{tmp_path}/net.csv' undirected;")
    graph = session.graph("net")
    assert repr(graph).startswith("<undirected graph 'net'")
    memory = graph.to_memory()
    assert not memory.directed
    assert any(src == dst for src, dst, _ in rows)
    cores, ranks = KCore(k=9), PageRank(iterations=3)
    growing = graph.collection("growing", VIEWS)
    for program in (cores, ranks, WCC):
        here = growing.run(program, name="here", workers=1, verify=1)
        found = {
            "shards": growing.run(program, name="shards", on="shards"),
            "spark": growing.run(program, name="spark", on="spark", force=True),
        }
        at = {name: memory.view(VIEWS[name]).to_graph(vertices="all") for name in VIEWS}
        for name in VIEWS:
            right = here.values(name)
            np.testing.assert_allclose(at[name].maintain(program)[here.fields[0]], right)
            for run in found.values():
                np.testing.assert_allclose(run.values(name), right)
    assert found["shards"].summary().equals(here.summary())
    karate = session.load("karate", edges=nx.karate_club_graph())
    assert not karate.directed
    assert sum(karate.run(KCore(k=4)).table()["inside"].to_pylist()) == 10
    assert session.load("ways", edges=nx.path_graph(3), directed=True).directed


def test_a_whole_graph_that_has_changed_is_made_anew(spark: Any, tmp_path: Path) -> None:
    session = gt.session(tmp_path / "data", spark=spark, progress=False)
    graph = session.load("pairs", edges=[(0, 1), (2, 3)], edge_columns=["src", "dst"])
    late = session.graph("pairs")
    assert graph.run(WCC, on="shards").values(0).tolist() == [0, 0, 2, 2]
    graph.append(edges=[(1, 2)], edge_columns=["src", "dst"])
    assert graph.run(WCC, on="shards").values(0).tolist() == [0, 0, 0, 0]
    with pytest.raises(GraphtideError, match="has changed since it was opened"):
        late.run(WCC, on="shards")
    graph.view("pairs-whole", "false", replace=True)
    with pytest.raises(InputError, match="is to be the view of all edges of 'pairs'"):
        graph.run(WCC, on="shards")


def test_a_run_goes_on_from_the_state_before(spark: Any, tmp_path: Path) -> None:
    """Edges and vertices come, edges go: each run follows, and one that is resumed does."""
    session = gt.session(tmp_path / "data", spark=spark, progress=False)
    columns = ["src", "dst", "weight"]
    rows = [(at * 7 % 23, at * 11 % 19, float(at % 5)) for at in range(60)]
    graph = session.load("net", edges=rows, edge_columns=columns)
    distances = gt.algorithms.ShortestPaths(source=0)

    def check(expected: str, **words: Any) -> gt.Run:
        read = READ_EDGES.count, READ_VERTICES.count
        found: Any = graph.run(distances, on="shards", **words)
        assert (READ_EDGES.count, READ_VERTICES.count) == read
        assert found.record().column("strategy").to_pylist() == [expected]
        assert found.table(0).equals(graph.run(distances).table())
        return found  # type: ignore[no-any-return]

    assert "on from where" not in check("scratch").explain()
    graph.append(edges=[(3, 90, 1.0), (90, 91, 0.0), (5, 6, 0.5)], edge_columns=columns)
    followed = check("differential", workers=1)
    assert "1 step differentially" in followed.explain()
    assert "on from where the run before it ended" in followed.explain()
    graph.append(delete=rows[20:26], edge_columns=columns)
    check("differential")
    graph.append(edges=[(91, 4, 0.5)], edge_columns=columns)
    request = replace(asked(followed.name), compiled=compiled_program(distances, "auto"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs.Taking, "_part", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_collection(graph._space, whole_view(graph._space, graph._stored), request)
    check("differential", resume=True)
    check("scratch")
    graph.append(delete=rows[26:57], edge_columns=columns)
    check("scratch")


def test_what_cannot_be_on_shards_is_refused(
    views: gt.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, match in (
        ({"results": False}, "results=False"),
        ({"verify": 1}, "verify a run on shards"),
        ({"mode": "fixpoint"}, "no fixpoint mode"),
        ({"workers": 9}, "9 tasks must run at the same time, and Spark has 2 slots"),
    ):
        with pytest.raises(InputError, match=match):
            views.run(WCC, name="refused", on="shards", **words)  # type: ignore[arg-type]
    assert "refused" not in views._space.catalog.runs()
    with pytest.raises(InputError, match="follow each other only where a program selects"):
        views.run(PageRank, on="shards", strategy="differential")
    with pytest.raises(InputError, match="only those run on shards"):
        views.run(gt.algorithms.Triangles, on="shards")
    with pytest.raises(GraphtideError, match="names a vertex that is not there"):
        views.run(BFS(source="nobody"), on="shards")
    monkeypatch.setattr("graphtide.run.catalog.spark_runs.this_code", lambda: "another one")
    with pytest.raises(GraphtideError, match="a worker has another Graphtide"):
        views.run(WCC, name="wrong", on="shards")
    monkeypatch.undo()
    # The run was begun: it can be resumed, in GVDL as well.
    session = gt.session(views._space.catalog.root, spark=views._space.gateway.session)
    assert session.execute("run wcc on growing as wrong resume on shards workers 2;")
    assert session.results("wrong").finished


def dying(where: str, marker: Path) -> Callable[..., Any]:
    """Tasks of which the first that knows of a superstep that all have kept kills somebody."""
    plain, mark = tasks._barrier_task, str(marker)

    def made(*given: Any) -> Any:
        inner = plain(*given)

        def task(batches: Iterator[Any]) -> Iterator[Any]:
            import os
            import signal
            import time

            from graphtide.store import shards as supersteps

            def parent(process: int) -> int:
                with open(f"/proc/{process}/stat") as file:
                    return int(file.read().rpartition(")")[2].split()[1])

            forget, rows = supersteps.TaskFiles.forget, supersteps.KeptSupersteps.rows

            def deadly(files: Any, step: int, superstep: int) -> None:
                if step != 2 or superstep == 0:
                    return
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    forget(files, step, superstep)
                    return
                victim = os.getpid()
                if where == "executor":
                    victim = parent(parent(victim))
                    with open(f"/proc/{victim}/comm") as file:
                        assert file.read().strip() == "java"
                os.kill(victim, signal.SIGKILL)
                # Python lives a moment longer than its executor, and would finish the views.
                time.sleep(20)

            def resumed(kept: Any, attempt: str, step: int, superstep: int, *shards: int) -> Any:
                open(f"{mark} {step}", "w").close()
                return rows(kept, attempt, step, superstep, *shards)

            supersteps.TaskFiles.forget = deadly  # type: ignore[method-assign]
            supersteps.KeptSupersteps.rows = resumed  # type: ignore[method-assign]
            try:
                yield from inner(batches)
            finally:
                supersteps.TaskFiles.forget = forget  # type: ignore[method-assign]
                supersteps.KeptSupersteps.rows = rows  # type: ignore[method-assign]

        return task

    return made


def asked(name: str, **more: Any) -> RunRequest:
    settings = RunSettings(keep_every=0.0)
    compiled = compiled_program(PageRank(), "auto")
    return RunRequest(name, compiled, settings=settings, on="shards", **more)


@pytest.mark.parametrize("where", ["worker", pytest.param("executor", marks=pytest.mark.masters)])
def test_killed_in_the_middle_of_a_superstep(
    where: str, views: gt.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cluster = MASTER.startswith("local-cluster") or MASTER == "connect"
    if where == "executor" and not on_cluster:
        pytest.skip("executors are processes of their own on a cluster only")
    space, stored = views._space, views._stored
    run_collection(space, stored, asked("whole"))
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "_barrier_task", dying(where, tmp_path / "died"))
        run_collection(space, stored, asked("there"))
    assert (tmp_path / "died").exists()
    assert (tmp_path / "died 2").exists(), "nobody went on from what was kept"
    whole, there = (gt.Run(open_stored_run(space.catalog, name)) for name in ("whole", "there"))
    assert there.finished
    assert there.to_arrow().equals(whole.to_arrow())
    assert not list(space.catalog.root.glob("runs/*/*/parts/shards"))


def test_a_driver_that_was_interrupted_takes_in_what_is_finished(
    views: gt.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, stored = views._space, views._stored
    with monkeypatch.context() as patch:
        patch.setattr(runs.Taking, "_part", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_collection(space, stored, asked("left"))
    assert open_stored_run(space.catalog, "left").differences.finished == 0
    watched = Watched(monkeypatch)
    found = views.run(PageRank, name="left", on="shards", resume=True, workers=1)
    assert found.finished
    assert not watched.reports, "no task had anything left to do"
    assert not list(space.catalog.root.glob("runs/*/*/parts/shards"))


def _interrupt(*given: Any) -> None:
    raise KeyboardInterrupt


def test_vertices_that_are_taken_out_are_told_of_by_no_task(views: gt.Collection) -> None:
    graph = views._space.graph("net")  # type: ignore[attr-defined]
    each = graph.collection("each", gt.without_each("vertex", where="id < 3"))
    here = each.run(WCC, name="each-here", workers=1)
    there = each.run(WCC, name="each-there", on="shards")
    assert there.summary().equals(here.summary())
    assert there.summary().column("vertices").to_pylist() == [graph.num_vertices - 1] * 3
    assert there.to_arrow().equals(here.to_arrow())
    keys = [("view", "ascending"), ("id", "ascending")]
    frame = there.to_spark().toArrow().sort_by(keys)
    assert frame.select(["view", "id"]).equals(here.to_arrow().sort_by(keys).select(["view", "id"]))
    days = graph.collection("by-at", gt.tumbling("at", 20))
    assert "vertices" not in days.run(WCC, name="days", on="shards").summary().column_names
