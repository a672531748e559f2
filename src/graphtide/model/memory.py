"""How much memory there is to use: what the user allows, or what is left."""

from __future__ import annotations

import os
from pathlib import Path

from graphtide.model.errors import InputError

MEMORY_SETTING = "GRAPHTIDE_MEMORY"
"""The environment variable that says how much memory plans and runs may take, such as 2G."""

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_GROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
)


def available_bytes() -> int:
    """The setting if there is one, or else the least of what machine and container have left."""
    setting = os.environ.get(MEMORY_SETTING)
    if setting:
        return _parsed(setting)
    left = [_left_on_machine(), *(_left_in_group(*names) for names in _GROUPS)]
    return min(found for found in left if found is not None)


def in_words(count: int) -> str:
    """A number of bytes as people say it."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,} bytes"


def bytes_in(text: str) -> int | None:
    """A number of bytes as people write it, such as 500M or 2 GB; None if it is no such text."""
    text = text.strip().upper().removesuffix("B").removesuffix("I").strip()
    digits, unit = (text[:-1], text[-1]) if text[-1:].isalpha() else (text, "")
    try:
        found = int(float(digits) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        return None
    return found if found >= 0 else None


def _parsed(setting: str) -> int:
    found = bytes_in(setting)
    if found is None:
        raise InputError(
            f"{MEMORY_SETTING} cannot be '{setting}'", hint="give bytes, or such as 500M or 2G"
        )
    return found


def _left_on_machine() -> int:
    """The memory of the machine that programs can have now."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _left_in_group(folder: str, limit: str, used: str, cached: str) -> int | None:
    """What a container has left, files that it has merely read set aside; None if unlimited."""
    try:
        most, taken = (int(Path(folder, name).read_text()) for name in (limit, used))
        counts = dict(line.split() for line in Path(folder, "memory.stat").read_text().splitlines())
        return max(0, most - taken + int(counts.get(cached, 0)))
    except (OSError, ValueError):
        return None
