"""Removes machine code that nobody has used for a month.

Every version of our kernels has a folder of its own, named after its sources, and the last one is
of no use after an update. The date of a folder is the day when it was last used: the first process
of a day sets it, and looks for old ones. All others ask for one date and are done.

A process that has run for longer than that month finds its folder gone, and compiles again what it
has not yet loaded: nothing else is lost.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

DAY = 24 * 3600.0
UNUSED = 30 * DAY


def mark_used(folder: Path) -> None:
    """Set the date of a folder of kernels; where that is news, remove old ones beside it."""
    now = time.time()
    with contextlib.suppress(OSError):  # A folder that cannot be written is somebody else's.
        if folder.is_dir() and now - folder.stat().st_mtime < DAY:
            return
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder, (now, now))
        for other in folder.parent.glob("kernels-*"):
            if other != folder:
                _remove_if_unused(other, now)


def _remove_if_unused(folder: Path, now: float) -> None:
    """Renamed first, so that nobody finds half of it; if that is left over, its date is old."""
    with contextlib.suppress(OSError):
        if folder.is_symlink() or not folder.is_dir() or now - folder.stat().st_mtime < UNUSED:
            return
        going = folder.with_name(f"{folder.name}.removed{os.getpid()}")
        folder.rename(going)
        shutil.rmtree(going, ignore_errors=True)
