"""Answers read out of the rows, and rows written anew without what is gone."""

from __future__ import annotations

import numpy as np

from graphtide.kernels.chunks import give_back
from graphtide.kernels.jit import bare_kernel
from graphtide.kernels.queries.records import (
    BASE,
    ROWS,
    SEARCHES,
    STATES,
    Float64,
    Int16,
    Int32,
    Int64,
    rows_at,
    searches_at,
)
from graphtide.kernels.queries.rows import copy_entry, find_entry, first_from
from graphtide.kernels.queries.stepping import fact

_HALF = np.int64(31)
_LOW = np.int64((1 << 31) - 1)


@bare_kernel
def collect_entries(
    words: Int64, search: int, known: int, vertices: Int32, states: Int32, values: Float64
) -> int:
    """List the entries of a search by vertex and state; how many there are. O(`known` vertices)."""
    rows, count = rows_at(words, ROWS), 0
    base = fact(words, search, BASE)
    last = base + fact(words, search, STATES)
    for vertex in range(known):
        end = rows.start[vertex] + rows.length[vertex]
        place = first_from(words, vertex, base)
        while place < end and rows.key[place] < last:
            vertices[count] = vertex
            states[count] = rows.key[place] - base
            values[count] = rows.value[place]
            count += 1
            place += 1
    return count


@bare_kernel
def look_up(words: Int64, vertex: int, key: int, values: Float64, came: Int32) -> bool:
    """Read one entry: its value, and in `came` its edge and the state and way before that."""
    rows = rows_at(words, ROWS)
    place = find_entry(words, vertex, key)
    if place < 0:
        return False
    values[0], came[0], came[1] = rows.value[place], rows.edge[place], rows.via[place]
    return True


@bare_kernel
def list_rows(words: Int64, order: Int64) -> None:
    """Tell of each vertex where its row is, in numbers that come in the order of the rows."""
    rows = rows_at(words, ROWS)
    for vertex in range(len(order)):
        order[vertex] = rows.start[vertex] << _HALF | vertex


@bare_kernel
def close_up(words: Int64, order: Int64) -> None:
    """Move all rows to the front of the pool, without entries that belong to nobody.

    `order` has the vertices as their rows lie in the pool (`list_rows`): each moves down, to where
    nothing is that is still to be read.
    """
    rows, owner = rows_at(words, ROWS), searches_at(words, SEARCHES).owner
    rows.free[:] = -1
    top = 0
    for item in order:
        vertex = item & _LOW
        start, count = rows.start[vertex], 0
        for place in range(start, start + rows.length[vertex]):
            if owner[rows.key[place]] >= 0:
                copy_entry(words, place, top + count)
                count += 1
        kind = 0
        while rows.sizes[kind] < count:
            kind += 1
        rows.start[vertex], rows.length[vertex], rows.kind[vertex] = top, count, kind
        top += rows.sizes[kind]
    rows.top[0] = top


@bare_kernel
def empty_rows(words: Int64, first: int, last: int) -> None:
    """Forget the rows of vertices that go."""
    rows = rows_at(words, ROWS)
    for vertex in range(first, last):
        if rows.kind[vertex] > 0:
            give_back(rows, vertex)
        rows.length[vertex] = 0


@bare_kernel
def answer_at(words: Int64, search: int, accepting: Int16, vertices: Int32, found: Float64) -> None:
    """The least cost in an accepting state at each of some vertices; infinity without one."""
    rows, base = rows_at(words, ROWS), fact(words, search, BASE)
    for at in range(len(vertices)):
        found[at] = np.inf
        for state in accepting:
            place = find_entry(words, vertices[at], base + state)
            if place >= 0 and rows.value[place] < found[at]:
                found[at] = rows.value[place]
