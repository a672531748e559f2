"""The rows of entries in their pool: find, insert and remove one; lay all of them out anew.

A row that is full moves to a chunk a quarter larger, so that the pool is little larger than what is
in use; the chunk that it leaves goes on a list of its kind. New searches have the greatest keys as
a rule, and then an entry is appended.

A search that begins lets nearly all rows grow, each by one: the chunks that they leave are then too
small for any of them. So all rows are written to another pool, in the order of vertices, each with
a share of its length free; or moved together in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.chunks import can_take_more, give_back, lie_in, take_chunk
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, kernel
from graphtide.kernels.queries.records import (
    MOST_SMALL,
    NO_COST,
    NO_SIGN,
    SIGNS,
    EntryRows,
    Float64,
    Int8,
    Int32,
    Int64,
    UInt16,
    rows_of,
    searches_of,
)

_LOW = np.int64((1 << 32) - 1)
_HALF = np.int64(32)


@joined_kernel
def packed(vertex: Any, key: Any) -> Any:
    return np.int64(vertex) << _HALF | np.int64(key)


@joined_kernel
def vertex_of(item: Any) -> Any:
    return item >> _HALF


@joined_kernel
def key_of(item: Any) -> Any:
    return item & _LOW


@joined_kernel
def value_at(rows: EntryRows, place: int) -> float:
    """What an entry costs; infinity where it has fallen."""
    if len(rows.wide) > 0:
        return float(rows.wide[place])
    small = rows.small[place]
    return np.inf if small == NO_COST else float(small)


@joined_kernel
def put_value(rows: EntryRows, place: int, value: float) -> None:
    """Write the cost of an entry, which must fit."""
    if len(rows.wide) > 0:
        rows.wide[place] = value
    else:
        rows.small[place] = np.uint16(NO_COST if value == np.inf else value)


@joined_kernel
def fits(rows: EntryRows, value: float) -> bool:
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
    rows = rows_of(words)
    rows.key[to] = rows.key[place]
    rows.sign[to] = rows.sign[place]
    if len(rows.wide) > 0:
        rows.wide[to] = rows.wide[place]
    else:
        rows.small[to] = rows.small[place]


_VERTEX_BITS = np.int64(31)
_VERTEX_MASK = np.int64((1 << 31) - 1)


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
    """Write the start and the vertex of each row as one number, which sorts by start.

    `order` begins where `starts` does, in the same memory, and takes its place: from the end, no
    start is written over that is still to be read.
    """
    for vertex in range(len(order) - 1, -1, -1):
        order[vertex] = np.int64(starts[vertex]) << _VERTEX_BITS | vertex


@bare_kernel
def take_starts(order: Int64, starts: Int32) -> None:
    """Write the start of each row, by vertex, from numbers in the order of vertices."""
    for vertex in range(len(order)):
        starts[vertex] = order[vertex] & _VERTEX_MASK


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
        vertex, start, count = order[at] & _VERTEX_MASK, order[at] >> _VERTEX_BITS, 0
        for place in range(start, start + rows.length[vertex]):
            if owner[rows.key[place]] >= 0:
                copy_entry(words, place, top + count)
                count += 1
        kind = 0
        while rows.sizes[kind] < count:
            kind += 1
        rows.length[vertex], rows.kind[vertex] = count, kind
        order[at] = vertex << _VERTEX_BITS | np.int64(top)
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
