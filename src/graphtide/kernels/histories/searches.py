"""Whole searches: begun in arrays and written to rows, read for answers, taken out of all rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.chunks import give_back
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.histories.advance import put_message, write_difference
from graphtide.kernels.histories.costs import (
    GONE,
    cost_until,
    difference_at,
    last_iteration,
    recomputed,
)
from graphtide.kernels.histories.rows import (
    AT,
    DONE,
    LACKING,
    NEW,
    STACK,
    Float64,
    Int32,
    Int64,
    Pool,
    close_place,
    copy_between,
    drops,
    end_of,
    first_at,
    key_at,
    work_of,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel, kernel
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    BASE,
    STATES,
    class_of,
    cost_of,
    fact,
    searches_of,
    step_of,
    ways_of,
)
from graphtide.kernels.queries.rows import key_of, packed, vertex_of


class Dense(NamedTuple):
    """By vertex * states + state: the cost so far, and the least offer of this iteration."""

    cost: Float64
    offered: Float64


@bare_kernel
def expand(words: Int64, dense: Dense, search: int, frontier: Int32, found: Int32) -> int:
    """Offer what the differences of one iteration lead to; list who takes it, and how many."""
    graph, states, count = adjacency_at(words, 0), fact(words, search, STATES), 0
    for at in range(len(frontier)):
        item = int(frontier[at])
        ways = ways_of(words, search, item % states)
        if ways & ALONG:
            count = expand_one_way(words, dense, graph.out, (search, item, 0), found, count)
        if ways & AGAINST:
            count = expand_one_way(words, dense, graph.into, (search, item, 1), found, count)
    return count


@inner_kernel
def expand_one_way(
    words: Int64, dense: Dense, slabs: Slabs, given: tuple[int, int, int], found: Int32, count: int
) -> int:
    """The same along edges, or against them: `given` is the search, the entry and the way."""
    search, item, back = given
    states, bound = fact(words, search, STATES), searches_of(words).bound[search]
    vertex, state, cost = item // states, item % states, dense.cost[item]
    start = slabs.start[vertex]
    for place in range(start, start + slabs.live[vertex]):
        edge = slabs.edge[place]
        reached = step_of(words, search, state, 2 * class_of(words, search, edge) + back)
        if reached < 0:
            continue
        there = slabs.neighbour[place] * states + reached
        total = cost + cost_of(words, search, edge)
        if total > bound or total >= dense.cost[there] or total >= dense.offered[there]:
            continue
        if dense.offered[there] == np.inf:
            found[count] = there
            count += 1
        dense.offered[there] = total
    return count


@bare_kernel
def count_dropped(words: Int64, state: Int64, items: Int64, iterations: Int32) -> int:
    count = 0
    for at in range(len(items)):
        count += drops(words, state, items[at], iterations[at])
    return count


@bare_kernel
def write_differences(
    words: Int64, state: Int64, items: Int64, iterations: Int32, costs: Float64
) -> int:
    """Keep or drop the differences of a new search; `AT` counts how many. How that ended."""
    work = work_of(state)
    while work.counts[AT] < len(items):
        at = work.counts[AT]
        write_difference(words, state, items[at], iterations[at], costs[at])
        if work.counts[LACKING] != 0:
            return int(work.counts[LACKING])
        work.counts[AT] += 1
    return DONE


@bare_kernel
def write_messages(
    words: Int64, state: Int64, items: Int64, iterations: Int32, costs: Float64
) -> int:
    """Keep what differences of a new search send; how that ended.

    `AT` counts how many have sent all, and `STACK` the messages that the next has sent.
    """
    work, graph = work_of(state), adjacency_at(words, 0)
    while work.counts[AT] < len(items):
        at = work.counts[AT]
        key = key_of(items[at])
        search = searches_of(words).owner[key]
        ways, sent = ways_of(words, search, key - fact(words, search, BASE)), 0
        if ways & ALONG:
            sent = send_one_way(
                words, state, graph.out, (items[at], iterations[at], 0, sent), costs[at]
            )
        if ways & AGAINST and work.counts[LACKING] == 0:
            send_one_way(words, state, graph.into, (items[at], iterations[at], 1, sent), costs[at])
        if work.counts[LACKING] != 0:
            return int(work.counts[LACKING])
        work.counts[STACK] = 0
        work.counts[AT] += 1
    return DONE


@inner_kernel
def send_one_way(
    words: Int64, state: Int64, slabs: Slabs, given: tuple[int, int, int, int], cost: float
) -> int:
    """The same for one difference and way: the entry, its iteration, the way, and what was sent."""
    item, iteration, back, sent = given
    vertex, key, work = vertex_of(item), key_of(item), work_of(state)
    search = searches_of(words).owner[key]
    base, bound = fact(words, search, BASE), searches_of(words).bound[search]
    start = slabs.start[vertex]
    for place in range(start, start + slabs.live[vertex]):
        edge = slabs.edge[place]
        reached = step_of(words, search, key - base, 2 * class_of(words, search, edge) + back)
        total = cost + cost_of(words, search, edge)
        sent += 1
        if reached < 0 or total > bound or sent <= work.counts[STACK]:
            continue
        there = packed(slabs.neighbour[place], base + reached)
        if not put_message(words, state, there, iteration + 1, total, 1):
            return sent
        work.counts[STACK] = sent
    return sent


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
    for vertex in range(first, last):
        if pool.kind[vertex] > 0:
            give_back(pool, vertex)
        pool.length[vertex] = 0
