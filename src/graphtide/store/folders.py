"""The generations in the folder of a store: their names, their order, and their removal."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

from graphtide.model import disk

PARTIAL = ".partial"
_GENERATION = re.compile(r"g-(\d{6,})(\.partial)?")

# Times that a folder in use is removed again, a twentieth of a second apart.
_PATIENCE = 100


def generations(folder: Path) -> list[str]:
    """Everything that is called like a generation, finished or not, the oldest first."""
    with disk.read_errors("the store", folder):
        try:
            names = [name for name in disk.names_in(folder) if _GENERATION.fullmatch(name)]
        except (FileNotFoundError, NotADirectoryError):
            return []
    return sorted(names, key=lambda name: (_number(name), name))


def complete(folder: Path) -> list[str]:
    """The generations that have been finished, the oldest first."""
    return [name for name in generations(folder) if not name.endswith(PARTIAL)]


def _number(name: str) -> int:
    matched = _GENERATION.fullmatch(name)
    return int(matched[1]) if matched else 0


def next_generation(folder: Path) -> str:
    """The name of a generation that nothing is called by yet."""
    return f"g-{max(map(_number, generations(folder)), default=0) + 1:06d}"


def remove_all_but(folder: Path, kept: set[str] | set[str | None]) -> None:
    """Remove every generation, finished or not, that is not to be kept."""
    for name in generations(folder):
        if name not in kept:
            discard(folder / name)


def discard(path: Path, *, must: bool = False) -> None:
    """Remove a folder, or what stands in its place."""
    if path.is_dir() and not path.is_symlink():
        disk.remove_tree(path, must=must)
        return
    with contextlib.nullcontext() if must else contextlib.suppress(OSError):
        disk.remove(path)


def remove_tree(path: Path, looks: int = 1) -> None:
    """Remove a folder into which tasks that have been told to stop may still write for a moment.

    It has to be gone for so many looks in turn: what Spark had begun to plan when it was
    interrupted is not yet a job that can be stopped, and makes its folders later.
    """
    gone = 0
    for _ in range(_PATIENCE):
        disk.remove_tree(path)
        time.sleep(0.05)
        gone = 0 if path.exists() else gone + 1
        if gone == looks:
            return
