"""Where the product keeps what it can make again: machine code, generated modules, small tools."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path


def cache_root() -> Path:
    """GRAPHTIDE_CACHE, else the user's cache folder; a private one where that cannot be written.

    Several processes and machines may share the folder: all files in it are put there whole, under
    names that follow from what they hold.
    """
    chosen = os.environ.get("GRAPHTIDE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(chosen) if chosen else Path(base) / "graphtide"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _private_folder()
    return folder if os.access(folder, os.W_OK) else _private_folder()


@cache
def _private_folder() -> Path:
    """A temporary folder that nobody else can write: what lies in a cache is executed."""
    folder = Path(tempfile.gettempdir()) / f"graphtide-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="graphtide-"))
    if found.st_uid == os.getuid() and found.st_mode & 0o777 == 0o700 and folder.is_dir():
        return folder
    return Path(tempfile.mkdtemp(prefix="graphtide-"))
