"""Arrays in files, mapped into memory: read where they are used, and shared by all who map them.

A page is read from disk when it is first touched, and given up again where memory is short. So
arrays may be larger than memory, and any number of processes have one copy. Kernels are compiled
for arrays that could be written to: pages are mapped so that a write would go to a copy, and no
kernel writes.

A file of several arrays begins with a line of JSON that says where each array begins, its type
and its length; arrays stand at multiples of 64 bytes behind it. Whoever lists the file keeps its
checksum, and whoever uses the numbers in it checks them.
"""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphtide.model import disk
from graphtide.model.disk import checksum, checksum_text
from graphtide.store.files import FileFacts, well_formed

# Python names it from 3.13 on. Without it, Linux refuses what is larger than memory and swap.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


def mapped_array(path: Path, dtype: DTypeLike) -> NDArray[Any]:
    """Map a whole file as one array."""
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


_ALIGNED = 64


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> FileFacts:
    """Write one-dimensional arrays in order; they are on the disk when this returns."""
    places, at = {}, 0
    for name, array in arrays.items():
        places[name] = [at, array.dtype.str, len(array)]
        at = _aligned(at + array.nbytes)
    head = json.dumps(places, ensure_ascii=False).encode() + b"\n"
    head = head[:-1].ljust(_aligned(len(head)) - 1) + b"\n"
    pieces: list[bytes | memoryview] = [head]
    for part in map(_bytes_of, arrays.values()):
        pieces += part, bytes(_aligned(len(part)) - len(part))
    size, sum_ = 0, 0
    with disk.open_new(path) as file:
        for piece in pieces:
            file.write(piece)
            size, sum_ = size + len(piece), checksum(piece, sum_)
        file.sync()
    return FileFacts(size, None, checksum_text(sum_))


def map_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Map the arrays of a file: pages are read when they are used, and never written back."""
    plain, arrays = mapped_array(path, np.uint8), {}
    with well_formed(f"the file '{path.name}'", path):
        head = _head_of(plain)
        for name, (at, kind, length) in json.loads(head).items():
            dtype = np.dtype(kind)
            first, behind = len(head) + at, len(head) + at + length * dtype.itemsize
            there = len(head) <= first <= behind <= len(plain)
            if dtype.kind not in "biuf" or at % _ALIGNED or not there:
                raise ValueError(f"the array '{name}' is not in the file")
            arrays[name] = plain[first:behind].view(dtype)
    return arrays


def _head_of(plain: NDArray[Any]) -> bytes:
    size = 4096
    while b"\n" not in (head := plain[:size].tobytes()) and size < len(plain):
        size *= 16
    return head[: head.find(b"\n") + 1]


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).view(np.uint8).data
