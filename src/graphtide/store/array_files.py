"""Arrays in a file, as they lie in memory: to be mapped, by anybody, without reading them.

A file begins with a line of JSON that says where each array begins, its type and its length; arrays
stand at multiples of 64 bytes behind it. Its checksum is a matter of whoever lists the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.checksums import checksum, written
from graphtide.store.files import FileFacts
from graphtide.store.mapped import mapped_array

_ALIGNED = 64


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> FileFacts:
    """Write arrays of one dimension, in their order; on disk when this returns."""
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
    return FileFacts(size, None, written(sum_))


def map_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file, mapped: read as they are used, and never written back."""
    plain, arrays = mapped_array(path, np.uint8), {}
    head = _head_of(plain)
    places = json.loads(head)
    for name, (at, kind, length) in places.items():
        first = len(head) + at
        dtype = np.dtype(kind)
        arrays[name] = plain[first : first + length * dtype.itemsize].view(dtype)
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
