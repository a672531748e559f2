"""The benchmark of runs works from end to end on stand-ins, and finds no wrong value."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_quick_run(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "runs", "--quick", "--json", str(report)],
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(report.read_text())["figures"]
    checked = [item for item in figures if "values that differ" in item["name"]]
    assert checked
    assert all(item["measured"] == 0 for item in checked), checked
    assert not [item for item in figures if "views differ" in item["note"]]
    skipped = [item for item in figures if item["measured"] is None]
    assert all("not installed" in item["note"] for item in skipped), skipped
