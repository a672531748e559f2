"""The rows of entries: finding, inserting and removing one, in `chunks` of a pool.

A row that is full moves to a chunk a quarter larger, so that what is kept is little more than what
is in use; the chunk that it leaves goes on a list of its kind. New searches have the greatest keys
as a rule, and then an entry is appended.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.chunks import can_take_more, give_back, lie_in, take_chunk
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import (
    MOST_SMALL,
    NO_COST,
    NO_SIGN,
    SIGNS,
    Int64,
    Rows,
    rows_of,
)

_LOW = np.int64((1 << 32) - 1)
_HALF = np.int64(32)


@joined_kernel
def packed(vertex: Any, key: Any) -> Any:
    """A vertex and a key as one number."""
    return np.int64(vertex) << _HALF | np.int64(key)


@joined_kernel
def vertex_of(item: Any) -> Any:
    """The vertex of an entry."""
    return item >> _HALF


@joined_kernel
def key_of(item: Any) -> Any:
    """The key of an entry."""
    return item & _LOW


@joined_kernel
def value_at(rows: Rows, place: int) -> float:
    """What an entry costs; infinity where it has fallen."""
    if len(rows.wide) > 0:
        return float(rows.wide[place])
    small = rows.small[place]
    return np.inf if small == NO_COST else float(small)


@joined_kernel
def put_value(rows: Rows, place: int, value: float) -> None:
    """Write what an entry costs, which fits."""
    if len(rows.wide) > 0:
        rows.wide[place] = value
    else:
        rows.small[place] = np.uint16(NO_COST if value == np.inf else value)


@joined_kernel
def fits(rows: Rows, value: float) -> bool:
    """Whether the rows can hold a cost exactly as it is."""
    small = value == np.inf or (value <= MOST_SMALL and value == np.floor(value))
    return len(rows.wide) > 0 or small


@joined_kernel
def sign_of(edge: int) -> int:
    """The sign of an edge; of -1, which stands for none, `NO_SIGN`."""
    return NO_SIGN if edge < 0 else int(edge & SIGNS) + 1


@inner_kernel
def first_from(words: Int64, vertex: int, key: int) -> int:
    """The place in the pool of the first entry of a row whose key is not below one. O(log row)."""
    rows = rows_of(words)
    low = rows.start[vertex]
    high = low + rows.length[vertex]
    if high > low and rows.key[high - 1] <= key:  # So it is for the search that came last.
        return int(high - (rows.key[high - 1] == key))
    while low < high:
        middle = (low + high) >> 1
        if rows.key[middle] < key:
            low = middle + 1
        else:
            high = middle
    return int(low)


@joined_kernel
def find_entry(words: Int64, vertex: int, key: int) -> int:
    """The place of an entry in the pool, or -1."""
    rows = rows_of(words)
    place = first_from(words, vertex, key)
    there = place < rows.start[vertex] + rows.length[vertex] and rows.key[place] == key
    return place if there else -1


@inner_kernel
def can_grow(words: Int64, vertex: int) -> bool:
    """Whether the row of a vertex can take one more entry."""
    return can_take_more(rows_of(words), vertex)


@inner_kernel
def insert_entry(words: Int64, vertex: int, key: int) -> int:
    """Open a place for a key that the row lacks, and say where in the pool it is.

    The row must be able to grow.
    """
    rows = rows_of(words)
    at = first_from(words, vertex, key) - rows.start[vertex]
    length, kind = rows.length[vertex], rows.kind[vertex]
    if length == rows.sizes[kind]:
        move_row(words, vertex, kind + 1)
    place = rows.start[vertex] + at
    for later in range(rows.start[vertex] + length, place, -1):
        copy_entry(words, later - 1, later)
    rows.key[place] = key
    rows.length[vertex] = length + 1
    return int(place)


@inner_kernel
def remove_entry(words: Int64, vertex: int, place: int) -> None:
    """Close the place of an entry; a row without any gives its chunk back."""
    rows = rows_of(words)
    last = rows.start[vertex] + rows.length[vertex] - 1
    for later in range(place, last):
        copy_entry(words, later + 1, later)
    rows.length[vertex] -= 1
    if rows.length[vertex] == 0:
        give_back(rows, vertex)


@inner_kernel
def move_row(words: Int64, vertex: int, kind: int) -> None:
    """Move a row to a chunk of another kind, of which there is one."""
    rows = rows_of(words)
    start, there = rows.start[vertex], take_chunk(rows, kind)
    for step in range(rows.length[vertex]):
        copy_entry(words, start + step, there + step)
    lie_in(rows, vertex, there, kind)


@joined_kernel
def copy_entry(words: Int64, place: int, to: int) -> None:
    """Write an entry to another place of the pool."""
    rows = rows_of(words)
    rows.key[to] = rows.key[place]
    rows.sign[to] = rows.sign[place]
    if len(rows.wide) > 0:
        rows.wide[to] = rows.wide[place]
    else:
        rows.small[to] = rows.small[place]
