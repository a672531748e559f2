"""Mistakes that people make with results: each is told with what, where, and what to do."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.api.run import Run
from graphtide.api.session import Session
from graphtide.optimize.strategy import Move
from graphtide.run.collection import runner

A = gt.algorithms


@pytest.fixture
def session(data: Path) -> Session:
    return gt.session(data, progress=False)


@pytest.fixture
def hops(session: Session) -> Run:
    return session.collection("years").run(A.BFS(source="ann"))


def refused(act: Callable[[], Any]) -> str:
    with pytest.raises(gt.GraphtideError) as caught:
        act()
    return str(caught.value)


def test_vertices_that_are_not_there(hops: Run) -> None:
    assert "did you mean 'Zoë'?" in refused(lambda: hops.history("zoë"))
    assert "ids are texts here, such as 'ann'" in refused(lambda: hops.history(5))
    numbered = gt.Graph([1, 2], [2, 3]).run(A.WCC, [[0, 1]])
    assert "ids are whole numbers here" in refused(lambda: numbered.history("1"))


@pytest.mark.parametrize("count", [0, 1.5, True, "3"])
def test_counts_that_cannot_be(hops: Run, count: Any) -> None:
    assert f"count cannot be {count!r}" in refused(lambda: hops.top(count))


def test_what_has_no_order_has_no_top(session: Session, hops: Run) -> None:
    parts = session.collection("years").run(A.WCC)
    assert "'component' names components" in refused(parts.top)
    assert "run.components(VIEW)" in refused(lambda: parts.picture(of="top"))


def test_what_is_not_reached_comes_last(session: Session) -> None:
    graph = gt.Graph(list("abx"), list("bcy"))
    run = graph.run(A.BFS(source="a"), {"some": [0], "more": [0, 1, 2]})
    first = [row["id"] for row in run.top(3).to_pylist()]
    assert first == ["b", "a", "c", "c", "b", "a"]
    lines = run.picture(of="top", count=3).figure.axes[0].get_legend().get_texts()
    assert [line.get_text() for line in lines] == ["c", "b", "a"]


def test_files_that_cannot_be_written(hops: Run, tmp_path: Path) -> None:
    told = refused(lambda: hops.to_csv(tmp_path / "nowhere" / "x.csv"))
    assert "there is no folder" in told
    assert "is no run" in refused(lambda: hops.picture(of="times", reference="other"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "told"),
    [("", "'' cannot be"), ("a/é", "text of letters"), (5, "5 cannot"), ("x" * 300, "xxx... ")],
)
def test_names_that_cannot_be(session: Session, name: Any, told: str) -> None:
    assert told in refused(lambda: session.collection("years").run(A.WCC, name=name))


def test_a_program_by_its_name(session: Session) -> None:
    told = refused(lambda: session.collection("years").run("wcc"))  # type: ignore[arg-type]
    assert "did you mean graphtide.algorithms.WCC?" in told


def test_a_run_is_replaced_unless_told_otherwise(session: Session) -> None:
    years = session.collection("years")
    first = years.run(A.BFS(source="ann"), replace=False)
    assert "the run 'years-BFS' is already there" in refused(
        lambda: years.run(A.BFS(source="Zoë"), replace=False)
    )
    assert session.results("years-BFS").program == first.program
    assert years.run(A.BFS(source="Zoë"), replace=True).program != first.program


def test_resuming_what_was_never_begun(session: Session) -> None:
    told = refused(lambda: session.collection("years").run(A.WCC, resume=True))
    assert "without `resume` a run of that name is begun" in told


def test_parts_that_are_gone_or_damaged(session: Session, hops: Run, data: Path) -> None:
    (part,) = data.rglob("part-000000")
    file = part / "hops.field.parquet"
    file.write_bytes(b"PAR1 nothing PAR1")
    assert "is damaged: hops.field" in refused(lambda: session.results("years-BFS").summary())
    shutil.rmtree(part)
    assert "is damaged: " in refused(hops.summary)


def test_parameters_are_told_as_they_are_given() -> None:
    assert str(A.Reachability(sources=["a"])) == "Reachability(sources=['a'])"
    assert str(A.PairHops(pairs=[("a", "b")])) == "PairHops(pairs=[('a', 'b')])"
    many = str(A.Reachability(sources=list(range(1000))))
    assert many == "Reachability(sources=[0, 1, 2, 3, 4, 5, and 994 more])"


def test_an_interrupted_run_says_how_to_go_on(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = runner.Runner._reach

    def interrupted(self: Any, step: int, *rest: Any) -> Move:
        if step == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return reach(self, step, *rest)

    monkeypatch.setattr(runner.Runner, "_reach", interrupted)
    monkeypatch.setattr(runner.Runner, "_stretch", lambda *_: (Move.FOLLOW, 0))
    years = session.collection("years")
    with pytest.raises(KeyboardInterrupt) as caught:
        years.run(A.WCC)
    (note,) = caught.value.__notes__
    assert note == (
        "the run 'years-WCC' keeps 4 of 30 views; "
        "to go on: collection.run(..., name='years-WCC', resume=True)"
    )
    monkeypatch.undo()
    assert "is not finished" in refused(lambda: session.results("years-WCC").table("upto-2039"))
    assert years.run(A.WCC, resume=True).to_arrow().equals(years.run(A.WCC).to_arrow())
