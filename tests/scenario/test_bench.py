"""The benchmark command runs, prints a verdict a figure, and never counts what it skipped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.figures import Figure

ROOT = Path(__file__).parents[2]


@pytest.mark.spark
@pytest.mark.slow
def test_quick_run(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "views", "--quick", "--json", str(report)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "figures held" in done.stdout
    figures = json.loads(report.read_text())["figures"]
    assert {"worked example, differences, chain"} <= {item["name"] for item in figures}
    assert all(item["measured"] is not None for item in figures)
    counted = [item for item in figures if "differences" in item["name"]]
    assert all(item["held"] for item in counted)


def test_a_skipped_figure_is_not_held() -> None:
    figure = Figure("x", None, "at most", 1, "s", "no data")
    assert not figure.held
    assert figure.verdict == "skipped"
    assert Figure("x", 1, "at most", 1, "").held
    assert not Figure("x", 1, "below", 1, "").held
    assert Figure("x", 2, "at least", 1, "").held
