"""Folders that somebody else made: a few cases of `tests.failures.hostile`."""

from __future__ import annotations

import os
import subprocess
import sys


def test_folders_that_somebody_has_changed() -> None:
    """In a process of its own: an audit hook stays for good."""
    given = ["--cases", "40", "--seed", "30"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.failures.hostile", *given],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 cases, 0 wrong" in done.stdout
