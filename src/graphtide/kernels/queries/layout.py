"""Where rows lie in their pool: written anew with room to grow, or moved together in place.

A row that grows takes a larger chunk and leaves its own behind. Searches that begin let nearly all
rows grow, each by one: their chunks are then too small for any of them. So all are written to
another pool, in the order of vertices, each with a share of its length free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.chunks import give_back
from graphtide.kernels.jit import bare_kernel, joined_kernel, kernel
from graphtide.kernels.queries.records import (
    NO_COST,
    Float64,
    Int8,
    Int32,
    Int64,
    UInt16,
    rows_of,
    searches_of,
)
from graphtide.kernels.queries.rows import copy_entry

_HALF = np.int64(31)
_LOW = np.int64((1 << 31) - 1)


@joined_kernel
def kind_for(sizes: Int64, length: int, spare: int) -> int:
    """The kind of chunk for a row of a length and that share of it free; none for an empty row."""
    if length == 0:
        return 0
    wanted = length + length // spare + 1
    low, high = 1, len(sizes) - 1
    while low < high:
        middle = (low + high) >> 1
        if sizes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@bare_kernel
def plan_rows(lengths: Int32, sizes: Int64, starts: Int32, spare: int) -> int:
    """Say where each row begins if all are written anew, and where the last one ends."""
    top = 0
    for vertex in range(len(starts)):
        starts[vertex] = top
        top += sizes[kind_for(sizes, lengths[vertex], spare)]
    return top


@kernel
def copy_rows(before: Any, after: Any, starts: Int32, lengths: Int32, there: Int32) -> None:
    """Write one column of all rows from where they begin to where they will."""
    for vertex in range(len(there)):
        start, place = starts[vertex], there[vertex]
        for step in range(lengths[vertex]):
            after[place + step] = before[start + step]


@bare_kernel
def choose_kinds(lengths: Int32, sizes: Int64, kinds: Int8, spare: int) -> None:
    """Say in what kind of chunk each row lies that `plan_rows` has planned."""
    for vertex in range(len(lengths)):
        kinds[vertex] = kind_for(sizes, lengths[vertex], spare)


@bare_kernel
def widen_costs(small: UInt16, wide: Float64) -> None:
    """Write small costs as they are written where some are not."""
    for place in range(len(small)):
        wide[place] = np.inf if small[place] == NO_COST else float(small[place])


@bare_kernel
def list_rows(starts: Int32, order: Int64) -> None:
    """Tell of each vertex where its row is, in numbers that come in the order of the rows.

    `order` begins where `starts` does, in the same memory, and takes its place: from the end, no
    start is written over that is still to be read.
    """
    for vertex in range(len(order) - 1, -1, -1):
        order[vertex] = np.int64(starts[vertex]) << _HALF | vertex


@bare_kernel
def take_starts(order: Int64, starts: Int32) -> None:
    """Tell of each vertex where its row is, as it stands in `order`, by vertex; the way back."""
    for vertex in range(len(order)):
        starts[vertex] = order[vertex] & _LOW


@bare_kernel
def close_up(words: Int64, order: Int64) -> None:
    """Move all rows to the front of the pool, without entries that belong to nobody.

    `order` has the vertices as their rows lie in the pool (`list_rows`): each moves down, to where
    nothing is that is still to be read. It then has where they begin, to be sorted by vertex.
    """
    rows, owner = rows_of(words), searches_of(words).owner
    rows.free[:] = -1
    top = 0
    for at in range(len(order)):
        vertex, start, count = order[at] & _LOW, order[at] >> _HALF, 0
        for place in range(start, start + rows.length[vertex]):
            if owner[rows.key[place]] >= 0:
                copy_entry(words, place, top + count)
                count += 1
        kind = 0
        while rows.sizes[kind] < count:
            kind += 1
        rows.length[vertex], rows.kind[vertex] = count, kind
        order[at] = vertex << _HALF | np.int64(top)
        top += rows.sizes[kind]
    rows.top[0] = top


@bare_kernel
def empty_rows(words: Int64, first: int, last: int) -> None:
    """Forget the rows of vertices that go."""
    rows = rows_of(words)
    for vertex in range(first, last):
        if rows.kind[vertex] > 0:
            give_back(rows, vertex)
        rows.length[vertex] = 0
