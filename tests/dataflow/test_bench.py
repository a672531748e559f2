"""The benchmark of dataflows runs in small, and finds what the peer finds where it is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
