"""Folders that a job writes into for a while.

Only this module makes them, so that none outlives the job that asked for it. Jobs hold no frame in
memory: they write what they need twice, and read it again.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def scratch_folder(parent: Path, name: str = "staging") -> Iterator[Path]:
    """A new folder under `parent`, on the same file system, gone after the block."""
    folder = parent / name
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
