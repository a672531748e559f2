"""What a job keeps for a while: folders to write into, and frames held in memory.

The one place that persists, checkpoints or makes temporary folders, so that nothing of the kind
outlives the job that asked for it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame


@contextlib.contextmanager
def scratch_folder(parent: Path, name: str = "staging") -> Iterator[Path]:
    """A new folder under `parent`, on the same file system, gone after the block."""
    folder = parent / name
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def persisted(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, computed at most once while the block lasts."""
    kept = frame.persist()
    try:
        yield kept
    finally:
        kept.unpersist()
