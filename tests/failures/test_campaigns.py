"""A few steps of the campaigns of this folder, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys

CAMPAIGNS = {
    "kills --kills 16 --seed 30": "16 writers killed",
    "signals --interrupts 6 --seed 100": "interrupts",
    "calls --failures 15 --seed 12": "graphs met a failing call",
    "power --cuts 4 --seed 1": "4 power cuts",
    "stored --failures 8 --seed 1": "stores met a failing call",
    "fuzz --cases 52 --seed 30": "50 texts and 2 files",
    # The last one: its hook and the limit to its memory stay.
    "hostile --cases 16 --seed 30": "16 cases, 0 wrong",
}


def test_campaigns() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.failures", *CAMPAIGNS],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for said in CAMPAIGNS.values():
        assert said in ended.stdout
