"""The benchmark of the engine runs through, and everyone in it finds the same answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.batches import Trial, ahead_of_measured
from bench.figures import Figure
from bench.maintained import PROGRAMS, Timed
from bench.peers import AbsentError, differential, libraries
from bench.streams import Size, rmat_input

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_quick_run(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "engine", "--quick", "--json", str(report)],
        cwd=ROOT,
        env=os.environ | {"PYTHONWARNINGS": "error", "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "figures held" in done.stdout
    figures = json.loads(report.read_text())["figures"]
    for item in figures:
        assert item["held"] is (item["verdict"] == "held")
        if item["measured"] is None:
            assert item["note"].startswith("skipped: ")
    compared = [item for item in figures if "differ" in item["name"] or "error" in item["name"]]
    assert len(compared) > 15
    assert [item["name"] for item in compared if item["verdict"] == "missed"] == []
    (state,) = (item["measured"] for item in figures if item["name"] == "fixpoint state")
    assert state > 20, "a value, a parent, a level, a stamp and two places in a heap"


def test_an_absent_peer_is_skipped_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*, build: bool) -> Path:
        raise AbsentError("skipped: no cargo")

    monkeypatch.setattr(differential, "find_peer", absent)
    sizes = (Size(1, 0, 1), Size(2, 2, 1))
    timed = Timed([1e-9, 1e-9], [0, 0, 0])
    trial = Trial(rmat_input(4), PROGRAMS[0], sizes, 1.0, {"fixpoint": timed})
    figures = ahead_of_measured(trial, build=False)
    assert len(figures) == 3
    assert all(item.verdict == "skipped" and not item.held for item in figures)


def test_an_absent_library_says_how_to_get_it() -> None:
    with pytest.raises(AbsentError, match=r"skipped: no_such is not installed .*bench"):
        libraries._import("no_such.part")


def test_a_figure_without_a_bar_is_shown_and_not_held() -> None:
    figure = Figure("x", 1.0, "at least", None, "x")
    assert figure.verdict == "shown"
    assert not figure.held
    assert not figure.missed
