"""A few of the cases of `python -m tests.failures.fuzz`, in a process that forks."""

from __future__ import annotations

import os
import subprocess
import sys


def test_hostile_texts_and_files_are_answered_or_refused() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.failures.fuzz", "--cases", "100", "--seed", "30"],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "98 texts and 2 files" in ended.stdout
