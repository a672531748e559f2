"""Where planning changes its way, and how much memory it may take: all in one place.

Up to `EXACT_VIEWS` views over a matrix of `MATRIX_CELLS` a collection is planned over all
distances between views, which takes memory in proportion to the square of the views. Beyond, views
are runs of classes and distances are worked out for candidates only. Both ways are told beforehand
what they will take, and are refused where that is more than there is.
"""

from __future__ import annotations

import os
from pathlib import Path

from graphtide.model.errors import InputError, LimitError

EXACT_VIEWS = 5_000
"""All distances of 5,000 views take 100 MB, the tour beside them as much again; seconds in all.
Of 18,804 views they took 5.3 GB and 101 s."""

MATRIX_CELLS = 2**28
"""Planning holds three boolean copies of the matrix: 800 MB at this size."""

PACKED_BYTES = 2**29
"""Answers to all views on all signatures, packed; comparing rows needs them twice."""

ROWS_TIMES_VIEWS = 2**38
"""Views are evaluated on all signatures at a few GB/s: minutes at this size, hours beyond."""

SAMPLED_VIEWS = 64
"""Views whose runs are counted before those of all others are made."""

BYTES_A_VIEW, BYTES_A_CLASS, BYTES_A_BOUND = 4_000, 200, 150
"""What planning by runs takes, measured at 100,000 views of windows and outages, rounded up: the
steps of the plan and the candidates a view has, the tables over classes, and bounds sorted."""

MEMORY_SETTING = "GRAPHTIDE_PLANNING_MEMORY"
"""The environment variable that says how much memory planning may take, such as 2G."""

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


def matrix_bytes(views: int, classes: int) -> int:
    """What planning over all distances takes: three matrices, and 20 bytes a pair of views."""
    return 3 * views * classes + 20 * views * views


def runs_bytes(views: int, classes: int, bounds: int) -> int:
    """What planning by runs takes."""
    return BYTES_A_VIEW * views + BYTES_A_CLASS * classes + BYTES_A_BOUND * bounds


def check_memory(needed: int, views: int, classes: int) -> None:
    """LimitError if planning would need more memory than there is; before it takes any."""
    there = available_bytes()
    if needed <= there:
        return
    raise LimitError(
        f"planning {views:,} views over {classes:,} classes of edges needs about "
        f"{_in_words(needed)} of memory, and {_in_words(there)} are available",
        hint="make several collections of fewer views, use coarser views, "
        f"or allow more with {MEMORY_SETTING}, such as {MEMORY_SETTING}=16G",
    )


def available_bytes() -> int:
    """What planning may take: the setting, or what machine and container have left."""
    setting = os.environ.get(MEMORY_SETTING)
    if setting:
        return _parsed(setting)
    left = [_machine_bytes(), *(_left_in_group(*files) for files in _CGROUPS)]
    return min(found for found in left if found is not None)


def _parsed(setting: str) -> int:
    text = setting.strip().upper().removesuffix("B").removesuffix("I")
    digits, unit = (text[:-1], text[-1]) if text[-1:].isalpha() else (text, "")
    try:
        found = int(float(digits) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        found = -1
    if found < 0:
        raise InputError(
            f"{MEMORY_SETTING} cannot be '{setting}'", hint="give bytes, or such as 500M or 2G"
        )
    return found


def _machine_bytes() -> int:
    """The memory of the machine that programs can have now."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _left_in_group(limit: str, used: str) -> int | None:
    """What a container has left; None where there is none, or no limit."""
    try:
        return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()))
    except (OSError, ValueError):
        return None


def _in_words(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,} bytes"
