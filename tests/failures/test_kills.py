"""A few steps of each campaign of this folder, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("campaign", "said"),
    [
        ("kills --kills 24 --seed 30", "24 writers killed"),
        ("calls --failures 15 --seed 12", "met a failing call"),
        ("signals --interrupts 6 --seed 100", "interrupts"),
        ("power --cuts 4 --seed 1", "4 power cuts"),
    ],
)
def test_writers_whom_something_befalls_lose_nothing(campaign: str, said: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *f"tests.failures.{campaign}".split()],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert said in ended.stdout
