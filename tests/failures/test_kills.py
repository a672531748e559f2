"""A few of the kills of `python -m tests.failures.kills`, in a process that forks."""

from __future__ import annotations

import os
import subprocess
import sys


def test_killed_writers_lose_nothing() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.failures.kills", "--kills", "24", "--seed", "30"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "24 writers killed" in ended.stdout
