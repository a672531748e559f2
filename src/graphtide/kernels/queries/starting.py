"""The entries of a new search, found in arrays by (vertex, state) and then written to the rows.

Rows are for changes: to find one entry there takes a search in a row. From scratch, an array with a
place for each vertex and state is several times faster, and its pages that nobody touches cost
nothing. Where all edges cost the same, a queue brings entries in order; otherwise a heap. Where an
edge also leads to the same state whatever its label, nothing is looked up at it: that takes half of
the time.
"""

from __future__ import annotations

from typing import NamedTuple

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.heap import heap_pop, heap_push
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    ANY_STEP,
    AT,
    BASE,
    DONE,
    LACKS_POOL,
    LACKS_WIDTH,
    PLAIN,
    STATES,
    WEIGHT,
    Float64,
    Int16,
    Int32,
    Int64,
    rows_of,
    searches_of,
    work_of,
)
from graphtide.kernels.queries.rows import can_grow, fits, insert_entry, put_value, sign_of
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of


class Dense(NamedTuple):
    """By vertex * states + state: `came` is the edge by which a walk came plus 2, 1 at the start
    and 0 where none came; `value` is what it costs, `via` twice the state before plus the way.
    `reached` lists them as they were met.
    `heap` and `place` are a heap of them, and empty where all edges cost the same.
    """

    came: Int32
    value: Float64
    via: Int16
    reached: Int32
    heap: Int32
    place: Int32
    sizes: Int64


REACHED, WAITING, LOOKED = range(3)
SIZES = 3
"""The places in `sizes`: how many are reached, how many wait; how many edges were looked at."""


@bare_kernel
def find_all(words: Int64, dense: Dense, search: int, vertex: int) -> int:
    """Find all that a search reaches from its start; how many entries that makes."""
    states = fact(words, search, STATES)
    weighted = fact(words, search, WEIGHT) >= 0
    first = vertex * states
    dense.came[first], dense.value[first], dense.via[first] = 1, 0.0, 0
    dense.reached[0], dense.sizes[REACHED] = first, 1
    if fact(words, search, PLAIN) != ANY_STEP:
        find_plainly(words, dense, search)
    elif weighted:
        dense.sizes[WAITING] = heap_push(dense.heap, dense.place, 0, first, dense.value, 1)
        while dense.sizes[WAITING] > 0:
            item = dense.heap[0]
            waiting = dense.sizes[WAITING]
            dense.sizes[WAITING] = heap_pop(dense.heap, dense.place, waiting, dense.value, 1)
            reach_from(words, dense, search, item)
    else:
        at = 0
        while at < dense.sizes[REACHED]:
            reach_from(words, dense, search, dense.reached[at])
            at += 1
    return int(dense.sizes[REACHED])


@inner_kernel
def find_plainly(words: Int64, dense: Dense, search: int) -> None:
    """The same where every edge costs 1 and leads to the one state that there is."""
    graph, ways = adjacency_at(words, 0), fact(words, search, PLAIN)
    bound = searches_of(words).bound[search]
    at, count, looked = 0, 1, 0
    while at < count:
        vertex = dense.reached[at]
        value = dense.value[vertex] + 1.0
        if value > bound:
            break
        if ways & ALONG:
            looked += graph.out.live[vertex]
            count = reach_plainly(dense, graph.out, vertex, value, (count, 0))
        if ways & AGAINST:
            looked += graph.into.live[vertex]
            count = reach_plainly(dense, graph.into, vertex, value, (count, 1))
        at += 1
    dense.sizes[REACHED] = count
    dense.sizes[LOOKED] += looked


@joined_kernel
def reach_plainly(
    dense: Dense, slabs: Slabs, vertex: int, value: float, so_far: tuple[int, int]
) -> int:
    """Reach the neighbours of a vertex; `so_far` is how many have been, and the way."""
    count, back = so_far
    start = slabs.start[vertex]
    for place in range(start, start + slabs.live[vertex]):
        there = slabs.neighbour[place]
        if dense.came[there] == 0:
            dense.came[there] = slabs.edge[place] + 2
            dense.value[there] = value
            dense.via[there] = back
            dense.reached[count] = there
            count += 1
    return count


@inner_kernel
def reach_from(words: Int64, dense: Dense, search: int, item: int) -> None:
    """Reach whatever one entry leads to."""
    states, graph = fact(words, search, STATES), adjacency_at(words, 0)
    vertex, state = item // states, item % states
    ways = ways_of(words, search, state)
    if ways & ALONG:
        reach_one_way(words, dense, graph.out, search, (vertex, state, 0))
    if ways & AGAINST:
        reach_one_way(words, dense, graph.into, search, (vertex, state, 1))


@inner_kernel
def reach_one_way(
    words: Int64, dense: Dense, slabs: Slabs, search: int, entry: tuple[int, int, int]
) -> None:
    """The same along edges, or against them: `entry` is a vertex, a state and the way."""
    vertex, state, back = entry
    states, weighted = fact(words, search, STATES), fact(words, search, WEIGHT) >= 0
    bound, value = searches_of(words).bound[search], dense.value[vertex * states + state]
    start = slabs.start[vertex]
    dense.sizes[LOOKED] += slabs.live[vertex]
    for place in range(start, start + slabs.live[vertex]):
        edge = slabs.edge[place]
        reached = step_of(words, search, state, 2 * class_of(words, search, edge) + back)
        if reached < 0:
            continue
        there = slabs.neighbour[place] * states + reached
        known = dense.came[there] > 0
        if known and not weighted:
            continue
        total = value + cost_of(words, search, edge)
        if total > bound or (known and total >= dense.value[there]):
            continue
        if not known:
            dense.reached[dense.sizes[REACHED]] = there
            dense.sizes[REACHED] += 1
        dense.came[there], dense.value[there] = edge + 2, total
        dense.via[there] = 2 * state + back
        if weighted:
            waiting = dense.sizes[WAITING]
            waiting = heap_push(dense.heap, dense.place, waiting, there, dense.value, 1)
            dense.sizes[WAITING] = waiting


@bare_kernel
def write_all(words: Int64, dense: Dense, search: int, reached: Int32) -> int:
    """Write what was reached, in the order of vertices, to the rows; how that ended."""
    rows, counts = rows_of(words), work_of(words).counts
    base, states = fact(words, search, BASE), fact(words, search, STATES)
    while counts[AT] < len(reached):
        item = reached[counts[AT]]
        vertex = item // states
        if not fits(rows, dense.value[item]):
            return LACKS_WIDTH
        if not can_grow(words, vertex):
            return LACKS_POOL
        place = insert_entry(words, vertex, base + item % states)
        put_value(rows, place, dense.value[item])
        rows.sign[place] = sign_of(dense.came[item] - 2)
        searches_of(words).entries[search] += 1
        counts[AT] += 1
    return DONE
