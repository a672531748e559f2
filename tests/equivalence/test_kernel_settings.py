"""Campaigns with every index checked, in a process of its own.

Compiled code reads beyond an array without a word. Numba reads its settings when it is imported;
checked code has a cache folder of its own. The same campaigns with interpreted kernels are a part
of `make test` (`tests/compiled.py`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphtide.kernels import jit

ROOT = Path(__file__).parents[2]
CAMPAIGNS = ("tests/equivalence/test_fixpoint.py", "tests/equivalence/test_summaries.py")


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


@pytest.mark.compiled
@pytest.mark.skipif(
    "GRAPHTIDE_CAMPAIGN" not in os.environ, reason="compiles anew; `make checked` runs everything"
)
def test_campaigns_hold_with_every_index_checked() -> None:
    """One program, and kernels that are no program's."""
    chosen = "ShortestPaths-random-repairing or (recomputation and followed-0)"
    run_tests({"NUMBA_BOUNDSCHECK": "1"}, *CAMPAIGNS, "-k", chosen)


def test_checked_code_is_not_mixed_with_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = jit.kernels_digest.__wrapped__()
    assert jit.cache_folder().name == f"kernels-{plain}"
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert jit.kernels_digest.__wrapped__() != plain
