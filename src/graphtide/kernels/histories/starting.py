"""The differences of a new search, found iteration by iteration in arrays, and written to rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.histories.dropping import drops
from graphtide.kernels.histories.evaluating import write_difference
from graphtide.kernels.histories.joining import put_message
from graphtide.kernels.histories.records import (
    AT,
    DONE,
    LACKING,
    STACK,
    Float64,
    Int32,
    Int64,
    work_of,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.queries.records import AGAINST, ALONG, BASE, STATES, searches_of
from graphtide.kernels.queries.rows import key_of, packed, vertex_of
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of


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
    """How many of some differences the policy drops."""
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
