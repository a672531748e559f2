"""The benchmark of dataflows runs in small, and finds what the peer finds where it is there."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from bench.rules_engine import engine_figures
from bench.rules_tpch import same_rows
from bench.rules_workers import worker_figures

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.compiled
def test_quick_run(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    command = [sys.executable, "-m", "bench", "dataflow", "--quick", "--json", str(report)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(report.read_text())["figures"]
    assert len(figures) == 27
    assert not any("differ" in item["note"] for item in figures)
    alone = [item for item in figures if item["name"].startswith("query")]
    assert all(item["measured"] is not None for item in alone)


@pytest.mark.compiled
def test_figures_of_the_engine_are_measured() -> None:
    figures = list(engine_figures(quick=True))
    assert len(figures) == 7
    assert all(item.measured is not None for item in figures)


def test_figures_of_workers_are_measured() -> None:
    figures = list(worker_figures(quick=True))
    assert len(figures) == 7
    assert all(item.measured is not None for item in figures)


def test_rows_of_two_engines_are_compared_as_they_are() -> None:
    found = [(1, Decimal("2.50"), "a"), (2, 0.1 + 0.2, "b")]
    assert same_rows(found, [["2", "0.3", "b"], ["1", "2.5000", "a"]])
    assert not same_rows(found, [["2", "0.31", "b"], ["1", "2.5000", "a"]])
    assert not same_rows(found[:1], [["1", "2.5000", "b"]])
    assert same_rows([], [["None", "None"]])
    assert not same_rows([], [["1"]])
