"""Vertices that wait to be asked, lowest levels first: a list a level, and no heap.

The lists are stacks, linked from vertex to vertex. Beyond the last list, and below level 0, levels
share one: whoever takes vertices out must not rely on the order, which only saves work.

`first[:LISTS]` are where the lists begin; `after[vertex]` is who comes next, NOT_WAITING if the
vertex is in no list, LAST if nobody does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import joined_kernel

Int32 = NDArray[np.int32]

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
