"""What campaigns of failures share: one life after the other by a seed, and the command.

A life is one graph or store, from its beginning to its end. It raises where something is wrong, and
its story says what was done until then. A seed repeats it.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class Life(Protocol):
    """What is tried: `failures` counts the acts that met with one."""

    failures: int
    story: list[str]

    def live(self) -> None: ...


def try_lives(
    name: str,
    begin: Callable[[Path, random.Random], Life],
    failures: int,
    seed: int,
    minutes: float = 1e9,
) -> tuple[int, int]:
    """Let so many acts meet with a failure; how many did, in how many lives.

    Raises what the first wrong one shows, with all that it did.
    """
    began, done, lives = time.monotonic(), 0, 0
    while done < failures and time.monotonic() - began < 60 * minutes:
        folder, life = Path(tempfile.mkdtemp(prefix=f"{name}-")), None
        try:
            life = begin(folder, random.Random(f"{seed}:{lives}"))
            life.live()
        except (Exception, KeyboardInterrupt):
            story = "\n".join(life.story if life else [])
            told = f"seed {seed}, life {lives} in {folder}:\n{story}\n{traceback.format_exc()}"
            raise AssertionError(told) from None
        done += life.failures
        lives += 1
        shutil.rmtree(folder)
    return done, lives


def command(doc: str, counted: str, run: Callable[[int, int, float], str]) -> None:
    """The command of a campaign, which tells what `run` says of what was tried."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument(f"--{counted}", type=int, default=1 << 60, dest="most")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    given = parser.parse_args()
    began = time.monotonic()
    told = run(given.most, given.seed, given.minutes)
    print(f"seed {given.seed}: {told} in {time.monotonic() - began:.0f} s, 0 wrong")
