"""Answers read out of the rows, and rows written anew without what is gone."""

from __future__ import annotations

import numpy as np

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
    Rows,
    rows_at,
    searches_at,
)
from graphtide.kernels.queries.rows import find_entry, first_from, give_back
from graphtide.kernels.queries.stepping import fact


@bare_kernel
def collect_entries(
    words: Int64, search: int, vertices: Int32, states: Int32, values: Float64
) -> int:
    """List the entries of a search by vertex and state; how many there are. O(vertices)."""
    rows, count = rows_at(words, ROWS), 0
    base = fact(words, search, BASE)
    last = base + fact(words, search, STATES)
    for vertex in range(len(rows.length)):
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
def count_current(words: Int64, found: Int32) -> None:
    """How many entries each vertex has that belong to a search which is still there."""
    rows, owner = rows_at(words, ROWS), searches_at(words, SEARCHES).owner
    for vertex in range(len(found)):
        start, count = rows.start[vertex], 0
        for place in range(start, start + rows.length[vertex]):
            count += owner[rows.key[place]] >= 0
        found[vertex] = count


@bare_kernel
def copy_current(words: Int64, to: Int64, vertices: int) -> None:
    """Copy these entries to the rows of another block, whose starts are set and lengths 0."""
    rows, owner = rows_at(words, ROWS), searches_at(words, SEARCHES).owner
    others: Rows = rows_at(to, 0)
    for vertex in range(vertices):
        start = rows.start[vertex]
        for place in range(start, start + rows.length[vertex]):
            if owner[rows.key[place]] >= 0:
                there = others.start[vertex] + others.length[vertex]
                others.key[there] = rows.key[place]
                others.value[there] = rows.value[place]
                others.edge[there] = rows.edge[place]
                others.via[there] = rows.via[place]
                others.length[vertex] += 1


@bare_kernel
def empty_rows(words: Int64, first: int, last: int) -> None:
    """Forget the rows of vertices that go."""
    rows = rows_at(words, ROWS)
    for vertex in range(first, last):
        if rows.kind[vertex] > 0:
            give_back(words, vertex)
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
