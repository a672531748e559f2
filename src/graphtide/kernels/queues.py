"""Who comes next: heaps, and lists by level.

The indexed heap holds vertices by a key array that the caller may improve: `heap[:size]` are
vertices, `place[vertex]` is where one stands, or -1. A vertex is in it once at most, so that it
never needs more room than there are vertices.

The keyed heap holds the keys beside the vertices and has four below each, which is faster. Who
improves a key puts the vertex in again, and passes over what is stale when it comes out. Its places
are numbers without a sign, which Numba need not ask whether they count from the end.

The heap of plain numbers brings the least first. Heap functions return the new size where it
changes; `sign` is 1 for smallest key first, -1 for largest.

Level lists hold vertices that wait, lowest levels first, without a heap: a stack a level, linked
from vertex to vertex. Beyond the last list, and below level 0, levels share one: whoever takes
vertices out must not rely on the order, which only saves work. `first[:LISTS]` are where the lists
begin; `after[vertex]` is who comes next, NOT_WAITING if the vertex is in no list, LAST if nobody.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import joined_kernel

Int32 = NDArray[np.int32]

_NONE, _ONE, _TWO, _THREE, _FOUR = (np.uint64(number) for number in range(5))


class Keyed(NamedTuple):
    """Vertices with the keys that they were put in with."""

    vertex: Int32
    key: Any


@joined_kernel
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


@joined_kernel
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


@joined_kernel
def keyed_push(heap: Keyed, size: int, vertex: Any, key: Any, sign: int) -> int:
    """Put a vertex in. There must be room. O(log size)."""
    at = np.uint64(size)
    while at > _NONE:
        above = (at - _ONE) >> _TWO
        if sign * heap.key[above] <= sign * key:
            break
        heap.vertex[at] = heap.vertex[above]
        heap.key[at] = heap.key[above]
        at = above
    heap.vertex[at] = vertex
    heap.key[at] = key
    return size + 1


@joined_kernel
def keyed_pop(heap: Keyed, size: int, sign: int) -> int:
    """Take the best, heap.vertex[0] with heap.key[0], out; read them before. O(log size)."""
    size -= 1
    last = np.uint64(size)
    vertex, key = heap.vertex[last], heap.key[last]
    at, below = _NONE, _ONE
    while below < last:
        least = best_of_four(heap, below, last, sign)
        if sign * key <= sign * heap.key[least]:
            break
        heap.vertex[at] = heap.vertex[least]
        heap.key[at] = heap.key[least]
        at, below = least, _FOUR * least + _ONE
    heap.vertex[at] = vertex
    heap.key[at] = key
    return size


@joined_kernel
def best_of_four(heap: Keyed, first: Any, size: Any, sign: int) -> Any:
    """The best of up to four places next to each other, of which the first is in use."""
    if first + _THREE < size:
        one, other = first, first + _TWO
        if sign * heap.key[first + _ONE] < sign * heap.key[first]:
            one = first + _ONE
        if sign * heap.key[first + _THREE] < sign * heap.key[other]:
            other = first + _THREE
        return other if sign * heap.key[other] < sign * heap.key[one] else one
    best = first
    for at in range(first + _ONE, size):
        if sign * heap.key[at] < sign * heap.key[best]:
            best = at
    return best


@joined_kernel
def number_push(heap: Any, size: int, number: Any) -> int:
    """Put a number in. There must be room. O(log size)."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > number:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = number
    return size + 1


@joined_kernel
def number_pop(heap: Any, size: int) -> int:
    """Take the least, heap[0], out; read it before. O(log size)."""
    size -= 1
    moved, at = heap[size], 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if moved <= heap[below]:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = moved
    return size


LISTS = 1024
NOT_WAITING, LAST = -1, -2


@joined_kernel
def clear_lists(first: Int32) -> None:
    """Begin with nobody waiting. `first` is work space; there are fewer lists where it is short."""
    for level in range(min(LISTS, len(first))):
        first[level] = LAST


@joined_kernel
def put_in_list(first: Int32, after: Int32, vertex: int, level: int) -> int:
    """Have a vertex wait, which does not yet; returns its list."""
    level = min(max(level, 0), LISTS - 1, len(first) - 1)
    after[vertex] = first[level]
    first[level] = vertex
    return level


@joined_kernel
def next_list(first: Int32, level: int) -> int:
    """The first list from this one on that has somebody; there must be one."""
    while first[level] == LAST:
        level += 1
    return level


@joined_kernel
def take_from_list(first: Int32, after: Int32, level: int) -> int:
    """Take a vertex out of a list that has one."""
    vertex = first[level]
    first[level] = after[vertex]
    after[vertex] = NOT_WAITING
    return int(vertex)
