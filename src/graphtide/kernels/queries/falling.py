"""Entries that lose the edge by which they came: another support, or a fall.

Candidates come by value. A support must cost strictly less than what it supports: all that cost
less have been decided by then, so that none rests on something that still falls, be it in a circle
of edges that cost nothing. Who has no support falls, and those who came by it are candidates. What
has fallen then takes the best that those who stand offer; the rest is settling, best first.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.offering import (
    count_looks,
    lacks_work,
    note_entry,
    pop_entry,
    push_entry,
)
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    AT,
    BASE,
    DONE,
    FALLEN,
    HEAP,
    LACKS_FALLEN,
    LACKS_HEAP,
    LACKS_WIDTH,
    MOST,
    STATES,
    TAKES_LONG,
    TOUCHED,
    WAYS,
    Int64,
    rows_of,
    searches_of,
    work_of,
)
from graphtide.kernels.queries.rows import (
    find_entry,
    first_from,
    fits,
    key_of,
    packed,
    put_value,
    remove_entry,
    sign_of,
    value_at,
    vertex_of,
)
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of


@inner_kernel
def doubt_edge(words: Int64, vertex: int, edge: int) -> int:
    """Make candidates of all entries of a vertex that may have come by an edge. O(row)."""
    rows, work = rows_of(words), work_of(words)
    start, sign = rows.start[vertex], sign_of(edge)
    for place in range(start, start + rows.length[vertex]):
        if rows.sign[place] == sign and searches_of(words).owner[rows.key[place]] >= 0:
            if work.counts[HEAP] + 2 > len(work.item):
                return LACKS_HEAP
            push_entry(words, vertex, rows.key[place], value_at(rows, place))
    return DONE


@inner_kernel
def decide(words: Int64) -> int:
    """Give every candidate another support, or let it fall."""
    work, rows = work_of(words), rows_of(words)
    while work.counts[HEAP] > 0:
        if work.counts[TOUCHED] > work.counts[MOST]:
            return TAKES_LONG
        item, value = work.item[0], work.rank[0]
        vertex, key = vertex_of(item), key_of(item)
        place = find_entry(words, vertex, key)
        if place < 0 or value_at(rows, place) != value:
            pop_entry(words)
            continue
        lacking = lacks_work(words)
        if lacking == DONE and work.counts[FALLEN] == len(work.fallen):
            lacking = LACKS_FALLEN
        if lacking != DONE:
            return lacking
        if best_support(words, vertex, key, value) == value:
            pop_entry(words)
            continue
        ended = doubt_followers(words, vertex, key)
        if ended != DONE:
            return ended
        fall(words, vertex, key)
    return DONE


@joined_kernel
def fall(words: Int64, vertex: int, key: int) -> None:
    """An entry has no cost any more; it goes unless it gets another."""
    work, rows = work_of(words), rows_of(words)
    place = find_entry(words, vertex, key)
    note_entry(words, vertex, key, place)
    put_value(rows, place, np.inf)
    work.fallen[work.counts[FALLEN]] = packed(vertex, key)
    work.counts[FALLEN] += 1


@inner_kernel
def doubt_followers(words: Int64, vertex: int, key: int) -> int:
    """Make candidates of those that may have come by an entry."""
    searches, graph = searches_of(words), adjacency_at(words, 0)
    search = searches.owner[key]
    state = key - fact(words, search, BASE)
    ways, lacking = ways_of(words, search, state), DONE
    if ways & ALONG:
        lacking = doubt_one_way(words, graph.out, vertex, search, (state, 0))
    if lacking == DONE and ways & AGAINST:
        lacking = doubt_one_way(words, graph.into, vertex, search, (state, 1))
    return lacking


@inner_kernel
def doubt_one_way(
    words: Int64, slabs: Slabs, vertex: int, search: int, from_state: tuple[int, int]
) -> int:
    """The same along edges, or against them: `from_state` is a state and the way."""
    state, back = from_state
    work, rows = work_of(words), rows_of(words)
    start, live, base = slabs.start[vertex], slabs.live[vertex], fact(words, search, BASE)
    count_looks(words, search, live)
    for place in range(start, start + live):
        edge = slabs.edge[place]
        reached = step_of(words, search, state, 2 * class_of(words, search, edge) + back)
        if reached < 0:
            continue
        neighbour, key = slabs.neighbour[place], base + reached
        there = find_entry(words, neighbour, key)
        # What has fallen may have the sign of this edge, too: it is decided.
        if there >= 0 and rows.sign[there] == sign_of(edge) and value_at(rows, there) < np.inf:
            if work.counts[HEAP] + 2 > len(work.item):
                return LACKS_HEAP
            push_entry(words, neighbour, key, value_at(rows, there))
    return DONE


@inner_kernel
def best_support(words: Int64, vertex: int, key: int, value: float) -> float:
    """The best that an entry is offered now: up to the first offer of `value`, which must come
    from something that costs less. The entry takes over the edge of that offer, after a note.

    With a value of infinity, which none reaches, the best of all, and the entry takes it if the
    rows can hold it.
    """
    graph, rows = adjacency_at(words, 0), rows_of(words)
    place, best, edge = find_entry(words, vertex, key), np.inf, -1
    ways = fact(words, searches_of(words).owner[key], WAYS)
    if ways & ALONG:
        best, edge, _ = best_one_way(words, graph.into, (vertex, key, 0), value)
    if ways & AGAINST and (best > value or value == np.inf):
        other, other_edge, _ = best_one_way(words, graph.out, (vertex, key, 1), value)
        if other < best:
            best, edge = other, other_edge
    if best < np.inf and value == np.inf and fits(rows, best):
        put_value(rows, place, best)
        rows.sign[place] = sign_of(edge)
    elif best == value and best < np.inf:
        note_entry(words, vertex, key, place)
        rows.sign[place] = sign_of(edge)
    return best


@inner_kernel
def best_one_way(
    words: Int64, slabs: Slabs, wanted: tuple[int, int, int], value: float
) -> tuple[float, int, int]:
    """The best offer by edges of one direction, with its edge and the state that it came from.

    `wanted` is the vertex, its key and the way of walks along these edges. Where `value` is a
    number, only an offer of that counts, by something that costs less.
    """
    vertex, key, back = wanted
    rows, search = rows_of(words), searches_of(words).owner[key]
    base = fact(words, search, BASE)
    last = base + fact(words, search, STATES)
    start, live = slabs.start[vertex], slabs.live[vertex]
    best, best_edge, best_state = np.inf, -1, 0
    count_looks(words, search, live)
    for place in range(start, start + live):
        edge, neighbour = slabs.edge[place], slabs.neighbour[place]
        end = rows.start[neighbour] + rows.length[neighbour]
        at = first_from(words, neighbour, base)
        if at >= end or rows.key[at] >= last:
            continue
        letter = 2 * class_of(words, search, edge) + back
        cost = cost_of(words, search, edge)
        while at < end and rows.key[at] < last:
            state, standing = rows.key[at] - base, value_at(rows, at)
            at += 1
            total = standing + cost
            if total >= best or step_of(words, search, state, letter) != key - base:
                continue
            if value == np.inf or (total == value and standing < value):
                best, best_edge, best_state = total, edge, state
        if best == value and best < np.inf:
            break
    return best, best_edge, best_state


@inner_kernel
def pull(words: Int64) -> int:
    """Let all that have fallen take the best that they are offered; the list stays as it is."""
    work, rows = work_of(words), rows_of(words)
    while work.counts[AT] < work.counts[FALLEN]:
        if work.counts[TOUCHED] > work.counts[MOST]:
            return TAKES_LONG
        item = work.fallen[work.counts[AT]]
        vertex, key = vertex_of(item), key_of(item)
        if work.counts[HEAP] + 2 > len(work.item):
            return LACKS_HEAP
        bound = searches_of(words).bound[searches_of(words).owner[key]]
        value = best_support(words, vertex, key, np.inf)
        if not fits(rows, value):
            return LACKS_WIDTH
        if value <= bound and value < np.inf:
            push_entry(words, vertex, key, value)
        else:
            put_value(rows, find_entry(words, vertex, key), np.inf)
        work.counts[AT] += 1
    return DONE


@inner_kernel
def remove_fallen(words: Int64) -> None:
    """Take out what has fallen and got no cost since."""
    work, rows = work_of(words), rows_of(words)
    searches = searches_of(words)
    for at in range(work.counts[FALLEN]):
        vertex, key = vertex_of(work.fallen[at]), key_of(work.fallen[at])
        place = find_entry(words, vertex, key)
        if place >= 0 and value_at(rows, place) == np.inf:
            remove_entry(words, vertex, place)
            searches.entries[searches.owner[key]] -= 1
    work.counts[FALLEN] = 0
