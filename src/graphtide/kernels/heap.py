"""An indexed binary heap of vertices, ordered by a key array that the caller may lower.

`heap[:size]` are vertices; `place[vertex]` is where one stands, or -1. A vertex is in the heap
once at most, so the two arrays never need more room than there are vertices. Every function
returns the new size where it changes. `sign` is 1 for smallest key first, -1 for largest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel

Int32 = NDArray[np.int32]


@kernel
def heap_push(heap: Int32, place: Int32, size: int, vertex: int, key: Any, sign: int) -> int:
    """Put a vertex in, or move it up after its key got better. O(log size)."""
    at = place[vertex]
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = (at - 1) >> 1
        other = heap[above]
        if sign * key[other] <= sign * key[vertex]:
            break
        heap[at] = other
        place[other] = at
        at = above
    heap[at] = vertex
    place[vertex] = at
    return size


@kernel
def heap_pop(heap: Int32, place: Int32, size: int, key: Any, sign: int) -> int:
    """Take the best vertex, heap[0], out; read it before. O(log size). Returns the new size."""
    place[heap[0]] = -1
    size -= 1
    if size == 0:
        return size
    moved = heap[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and sign * key[heap[below + 1]] < sign * key[heap[below]]:
            below += 1
        if sign * key[moved] <= sign * key[heap[below]]:
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = moved
    place[moved] = at
    return size
