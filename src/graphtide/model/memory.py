"""How much memory there is to use: what the user allows, or what is left.

Units are decimal wherever they are read or told, as disks and networks have them: a MB is 1,000,000
bytes. Whoever means 1,048,576 writes MiB.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from graphtide.model.errors import InputError

MEMORY_SETTING = "GRAPHTIDE_MEMORY"
"""The environment variable that says how much memory plans and runs may take, such as 2G."""

_UNITS = {"": 1} | {
    letter + binary: base**power
    for power, letter in enumerate("KMGT", 1)
    for binary, base in (("", 1_000), ("I", 1_024))
}
_SIZE = re.compile(r"([0-9.]+)\s*([KMGT]?I?)B?", re.ASCII)
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
    return min(bytes_left for bytes_left in left if bytes_left is not None)


def in_words(count: int) -> str:
    """A number of bytes as people say it."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,} bytes"


def bytes_in(text: str) -> int | None:
    """A number of bytes as people write it, such as 500M, 2 GB or 2 GiB; None if it is no such."""
    said = _SIZE.fullmatch(text.strip().upper())
    try:
        return None if said is None else round(float(said[1]) * _UNITS[said[2]])
    except (KeyError, ValueError):
        return None


def _parsed(setting: str) -> int:
    size = bytes_in(setting)
    if size is None:
        raise InputError(
            f"{MEMORY_SETTING} cannot be '{setting}'", hint="give bytes, or such as 500M or 2G"
        )
    return size


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
