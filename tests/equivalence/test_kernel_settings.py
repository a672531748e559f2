"""The same campaigns with kernels interpreted, and with every index checked.

Compiled code reads beyond an array without a word, and Numba's arithmetic is not quite Python's.
What a compiled run hides shows in one of these. Each runs in a process of its own, since Numba
reads its settings when it is imported; checked code has a cache folder of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphtide.kernels import jit

ROOT = Path(__file__).parents[2]
CAMPAIGNS = ("tests/equivalence/test_fixpoint.py", "tests/equivalence/test_exact.py")


def run_tests(settings: dict[str, str], *arguments: str) -> None:
    run_module(settings, "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments)


def run_module(settings: dict[str, str], module: str, *arguments: str) -> None:
    """Run a module of Python in a process with other settings; it must end well."""
    command = [sys.executable, "-m", module, *arguments]
    inherited = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**inherited, "GRAPHTIDE_CAMPAIGN_EXAMPLES": "1", **settings},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_campaigns_hold_interpreted() -> None:
    run_tests({"NUMBA_DISABLE_JIT": "1"}, *CAMPAIGNS, "-k", "random or path")


def test_sums_hold_interpreted() -> None:
    sums = "tests/equivalence/test_synchronous.py"
    run_tests({"NUMBA_DISABLE_JIT": "1"}, sums, "-k", "every_iteration")


def test_leaves_hold_interpreted() -> None:
    leaves = "tests/equivalence/test_leaves.py"
    run_tests({"NUMBA_DISABLE_JIT": "1", "GRAPHTIDE_CAMPAIGN_EXAMPLES": "8"}, leaves)


def test_lanes_hold_interpreted() -> None:
    lanes = "tests/equivalence/test_lanes.py"
    run_tests({"NUMBA_DISABLE_JIT": "1"}, lanes, "-k", "every_lane or grows")


def test_summaries_hold_interpreted() -> None:
    summaries = "tests/equivalence/test_summaries.py"
    run_tests({"NUMBA_DISABLE_JIT": "1"}, summaries, "-k", "recomputation and followed")


def test_summaries_hold_with_every_index_checked() -> None:
    summaries = "tests/equivalence/test_summaries.py"
    run_tests({"NUMBA_BOUNDSCHECK": "1"}, summaries, "-k", "recomputation and followed")


def test_campaigns_hold_with_every_index_checked() -> None:
    """Two programs; `make checked` runs them all."""
    chosen = "BFS-random or ShortestPaths-random-repairing"
    run_tests(
        {"NUMBA_BOUNDSCHECK": "1"}, CAMPAIGNS[0], "tests/unit/engine", "-k", f"growth or {chosen}"
    )


def test_checked_code_is_not_mixed_with_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = jit.kernels_digest.__wrapped__()
    assert jit.cache_folder().name == f"kernels-{plain}"
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert jit.kernels_digest.__wrapped__() != plain
