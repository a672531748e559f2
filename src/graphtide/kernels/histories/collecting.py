"""Answers read from histories; rows written anew without what is gone; searches taken out."""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.chunks import give_back
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.histories.pools import close_place, copy_between, end_of, first_at, key_at
from graphtide.kernels.histories.reading import GONE, difference_at, last_iteration
from graphtide.kernels.histories.recomputing import cost_until, recomputed
from graphtide.kernels.histories.records import LACKING, NEW, Float64, Int32, Int64, Pool, work_of
from graphtide.kernels.jit import bare_kernel, inner_kernel, kernel
from graphtide.kernels.queries.records import BASE, STATES
from graphtide.kernels.queries.rows import packed
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of


@bare_kernel
def costs_of(words: Int64, state: Int64, search: int, items: Int64, found: Float64) -> int:
    """The costs of some entries of a search; how that ended."""
    last = last_iteration(state, search)
    for at in range(len(items)):
        found[at] = cost_until(words, state, items[at], last, NEW)
        if work_of(state).counts[LACKING] != 0:
            break
    return int(work_of(state).counts[LACKING])


@bare_kernel
def all_costs(words: Int64, state: Int64, search: int, found: Float64) -> int:
    """The costs of all entries of a search, by vertex * states + state; how that ended."""
    last, states = last_iteration(state, search), fact(words, search, STATES)
    base = fact(words, search, BASE)
    for at in range(len(found)):
        item = packed(at // states, base + at % states)
        found[at] = cost_until(words, state, item, last, NEW)
        if work_of(state).counts[LACKING] != 0:
            break
    return int(work_of(state).counts[LACKING])


@bare_kernel
def came_from(words: Int64, state: Int64, search: int, given: Int64, came: Int64) -> int:
    """By which edge the best walk to an entry came: the edge, the state before and the way.

    `given` is the vertex, the state of the automaton and the number of edges of the walk, and
    `came` begins with an edge of -1. How that ended.
    """
    graph = adjacency_at(words, 0)
    item = packed(given[0], fact(words, search, BASE) + given[1])
    cost = cost_until(words, state, item, given[2], NEW)
    came_one_way(words, state, graph.into, (search, item, given[2], 0), cost, came)
    came_one_way(words, state, graph.out, (search, item, given[2], 1), cost, came)
    return int(work_of(state).counts[LACKING])


@inner_kernel
def came_one_way(
    words: Int64,
    state: Int64,
    slabs: Slabs,
    wanted: tuple[int, int, int, int],
    cost: float,
    came: Int64,
) -> None:
    """The same by edges of one direction, unless one was found."""
    search, item, iteration, back = wanted
    vertex, base = item >> 32, fact(words, search, BASE)
    reached = (item & 0xFFFFFFFF) - base
    start = slabs.start[vertex]
    for place in range(start, start + slabs.live[vertex]):
        edge = slabs.edge[place]
        letter = 2 * class_of(words, search, edge) + back
        for other in range(fact(words, search, STATES)):
            if came[0] >= 0 or step_of(words, search, other, letter) != reached:
                continue
            there = packed(slabs.neighbour[place], base + other)
            kind, offered = difference_at(words, state, there, iteration - 1, NEW)
            if kind == GONE:
                offered = recomputed(words, state, there, iteration - 1, NEW)
            if offered + cost_of(words, search, edge) == cost and offered < np.inf:
                came[0], came[1], came[2] = edge, other, back


@bare_kernel
def first_with(words: Int64, state: Int64, search: int, given: Int64) -> int:
    """The first iteration at which an entry has the cost that it has in the end.

    `given` is the vertex and the state. -1 where no walk leads to it, -2 where room lacks.
    """
    last = last_iteration(state, search)
    item = packed(given[0], fact(words, search, BASE) + given[1])
    cost = cost_until(words, state, item, last, NEW)
    while last > 0 and cost_until(words, state, item, last - 1, NEW) == cost < np.inf:
        last -= 1
    if work_of(state).counts[LACKING] != 0:
        return -2
    return last if cost < np.inf else -1


@kernel
def count_owned(pool: Pool, owner: Int32, found: Int32) -> None:
    """How many of each row belong to a search which is still there."""
    for vertex in range(len(found)):
        count = 0
        for place in range(pool.start[vertex], end_of(pool, vertex)):
            count += owner[key_at(pool, place)] >= 0
        found[vertex] = count


@kernel
def copy_owned(pool: Pool, owner: Int32, to: Pool, vertices: int) -> None:
    """Copy these to the rows of another pool, whose starts are set and lengths 0."""
    for vertex in range(vertices):
        for place in range(pool.start[vertex], end_of(pool, vertex)):
            if owner[key_at(pool, place)] >= 0:
                copy_between(pool, place, to, to.start[vertex] + to.length[vertex])
                to.length[vertex] += 1


@kernel
def remove_keys(pool: Pool, first: int, last: int, vertices: int) -> None:
    """Take all that has a key from `first` until before `last` out of all rows."""
    for vertex in range(vertices):
        place = first_at(pool, vertex, first, 0)
        while place < end_of(pool, vertex) and key_at(pool, place) < last:
            close_place(pool, vertex, place)


@kernel
def empty_rows(pool: Pool, first: int, last: int) -> None:
    """Forget the rows of vertices that go."""
    for vertex in range(first, last):
        if pool.kind[vertex] > 0:
            give_back(pool, vertex)
        pool.length[vertex] = 0
