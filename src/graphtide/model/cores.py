"""How many cores this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Those that the process may run on, where the system tells; at least one."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
