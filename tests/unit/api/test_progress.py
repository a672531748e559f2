"""Runs in memory tell how far they are, as stored ones do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import graphtide as gt
from graphtide.model.progress import ProgressReport, silent
from graphtide.run import progress
from graphtide.run.collection import runner, runs_in_memory


def test_a_run_in_memory_reports_its_views(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float | None]] = []
    asked: list[tuple[str, bool | None]] = []

    @contextmanager
    def shown(title: str, *, enabled: bool | None = None) -> Iterator[ProgressReport]:
        asked.append((title, enabled))
        yield lambda stage, done=None: told.append((stage, done))

    monkeypatch.setattr(runs_in_memory, "shown", shown)
    monkeypatch.setattr(runner, "_TELL_EVERY", -1.0)
    graph = gt.Graph([0, 1, 2], [1, 2, 3])
    versions = [np.arange(3) != out for out in range(3)]
    graph.run(gt.algorithms.BFS(source=0), versions, strategy="scratch", progress=True)
    assert asked == [("run BFS", True)]
    assert told[0] == ("arranging the versions", None)
    assert [done for _, done in told if done is not None][-1] == 1.0


def test_nothing_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.shown("work") as report:
        report("a stage", 0.5)
    assert report is silent
    assert capsys.readouterr() == ("", "")


def test_a_line_is_shown_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.shown("work", enabled=True) as report:
        report("a stage", 0.5)
    assert "work" in capsys.readouterr().err
