"""Arrays in files, mapped into memory: read where they are used, and shared by all who map them.

A page is read from disk when it is first touched, and given up again where memory is short. So
arrays may be larger than memory, and any number of processes have one copy. Kernels are compiled
for arrays that could be written to: pages are mapped so that a write would go to a copy, and no
kernel writes.
"""

from __future__ import annotations

import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphtide.model import disk

# Python names it from 3.13 on. Without it, Linux refuses what is larger than memory and swap.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


def mapped_array(path: Path, dtype: DTypeLike) -> NDArray[Any]:
    """A file as an array of one type."""
    with disk.open_file(path) as file:
        size = file.status().st_size
        if size == 0:
            return np.empty(0, dtype)
        memory = mmap.mmap(
            file.fileno(),
            size,
            flags=mmap.MAP_PRIVATE | _NO_RESERVE,
            prot=mmap.PROT_READ | mmap.PROT_WRITE,
        )
    return np.frombuffer(memory, dtype)
