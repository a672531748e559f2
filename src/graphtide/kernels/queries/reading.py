"""Answers read out of the rows."""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs, other_end
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.queries.falling import best_one_way
from graphtide.kernels.queries.records import (
    BASE,
    STATES,
    Float64,
    Int16,
    Int32,
    Int64,
    rows_of,
    searches_of,
)
from graphtide.kernels.queries.rows import find_entry, first_from, value_at
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of


@bare_kernel
def collect_entries(
    words: Int64, search: int, known: int, vertices: Int32, states: Int32, values: Float64
) -> int:
    """List the entries of a search by vertex and state; how many there are. O(`known` vertices)."""
    rows, count = rows_of(words), 0
    base = fact(words, search, BASE)
    last = base + fact(words, search, STATES)
    for vertex in range(known):
        end = rows.start[vertex] + rows.length[vertex]
        place = first_from(words, vertex, base)
        while place < end and rows.key[place] < last:
            vertices[count] = vertex
            states[count] = rows.key[place] - base
            values[count] = value_at(rows, place)
            count += 1
            place += 1
    return count


@bare_kernel
def look_up(words: Int64, vertex: int, key: int) -> float:
    """What one entry costs; infinity where there is none."""
    place = find_entry(words, vertex, key)
    return np.inf if place < 0 else value_at(rows_of(words), place)


@bare_kernel
def find_support(words: Int64, vertex: int, key: int, came: Int32) -> bool:
    """Find what an entry may have come by, which costs less: the edge, from which vertex, state and
    way; whether there is such a one.
    """
    graph, value, back = adjacency_at(words, 0), look_up(words, vertex, key), 0
    best, edge, state = best_one_way(words, graph.into, (vertex, key, 0), value)
    if best != value:
        back = 1
        best, edge, state = best_one_way(words, graph.out, (vertex, key, 1), value)
    if best != value:
        return False
    came[0], came[1], came[2], came[3] = edge, other_end(graph, edge, vertex), state, back
    return True


@bare_kernel
def list_equals(words: Int64, vertex: int, key: int, skip: int, came: Int32) -> int:
    """List what an entry may have come by at no cost, four numbers each; how many there are.

    The first so many are skipped, and those behind them listed as far as there is room.
    """
    graph = adjacency_at(words, 0)
    count = list_one_way(words, graph.into, (vertex, key, 0), came, -skip)
    return skip + list_one_way(words, graph.out, (vertex, key, 1), came, count)


@inner_kernel
def list_one_way(
    words: Int64, slabs: Slabs, wanted: tuple[int, int, int], came: Int32, count: int
) -> int:
    """The same by edges of one direction, behind so many others, or skipping some."""
    vertex, key, back = wanted
    search, value = searches_of(words).owner[key], look_up(words, vertex, key)
    base = fact(words, search, BASE)
    start = slabs.start[vertex]
    for place in range(start, start + slabs.live[vertex]):
        edge, neighbour = slabs.edge[place], slabs.neighbour[place]
        cost = cost_of(words, search, edge)
        if value + cost != value:
            continue
        letter = 2 * class_of(words, search, edge) + back
        for state in range(fact(words, search, STATES)):
            leads = step_of(words, search, state, letter) == key - base
            if leads and look_up(words, neighbour, base + state) == value:
                at = 4 * count
                if 0 <= at < len(came):
                    came[at], came[at + 1], came[at + 2], came[at + 3] = (
                        edge,
                        neighbour,
                        state,
                        back,
                    )
                count += 1
    return count


@bare_kernel
def answer_at(words: Int64, search: int, accepting: Int16, vertices: Int32, found: Float64) -> None:
    """The least cost in an accepting state at each of some vertices; infinity without one."""
    rows, base = rows_of(words), fact(words, search, BASE)
    for at in range(len(vertices)):
        found[at] = np.inf
        for state in accepting:
            place = find_entry(words, vertices[at], base + state)
            if place >= 0 and value_at(rows, place) < found[at]:
                found[at] = value_at(rows, place)
