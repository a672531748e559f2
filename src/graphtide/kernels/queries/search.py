"""Entries find a support, fall, are offered a better cost, and settle; and are read.

Candidates for a fall come by value. A support must cost strictly less than what it supports: all
that cost less have been decided by then, so that none rests on something that still falls, be it in
a circle of edges that cost nothing. An entry without a support falls, and those that came by it are
candidates. What has fallen then takes the best that those who stand offer, and the rest settles.

A better cost is written down, noted for the way back, and passed on best first. Costs are never
negative, so that an entry which comes out of the heap is final unless a batch has more to offer
from elsewhere: then it comes out again. A call that lacks room leaves everything in order, with the
entry that it was at back on the heap: to offer the same again changes nothing.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs, other_end
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
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
    LACKS_LOG,
    LACKS_POOL,
    LACKS_WIDTH,
    LOG,
    LOGS,
    MOST,
    NO_SIGN,
    STATES,
    TAKES_LONG,
    TOUCHED,
    WAYS,
    Float64,
    Int16,
    Int32,
    Int64,
    class_of,
    cost_of,
    fact,
    rows_of,
    searches_of,
    step_of,
    ways_of,
    work_of,
)
from graphtide.kernels.queries.rows import (
    can_grow,
    find_entry,
    first_from,
    fits,
    insert_entry,
    key_of,
    packed,
    put_value,
    remove_entry,
    sign_of,
    value_at,
    vertex_of,
)
from graphtide.kernels.queues import Keyed, keyed_pop, keyed_push


@joined_kernel
def push_entry(words: Int64, vertex: int, key: int, value: float) -> None:
    """Put an entry on the heap, which must have room."""
    work = work_of(words)
    heap = Keyed(work.item, work.rank)
    work.counts[HEAP] = keyed_push(heap, work.counts[HEAP], packed(vertex, key), value, 1)


@joined_kernel
def pop_entry(words: Int64) -> None:
    """Remove the best entry from the heap; read it before."""
    work = work_of(words)
    work.counts[HEAP] = keyed_pop(Keyed(work.item, work.rank), work.counts[HEAP], 1)


@joined_kernel
def count_looks(words: Int64, search: int, edges: int) -> None:
    """Count edges that a search looks at: of this batch, and of the search."""
    work_of(words).counts[TOUCHED] += edges
    searches_of(words).looked[search] += edges


@joined_kernel
def lacks_work(words: Int64) -> int:
    """Whether heap and log have room: for one more, and for the one that goes back on the heap."""
    work = work_of(words)
    if work.counts[HEAP] + 2 > len(work.item):
        return LACKS_HEAP
    if work.counts[LOGS] and work.counts[LOG] == len(work.log_item):
        return LACKS_LOG
    return DONE


@joined_kernel
def note_entry(words: Int64, vertex: int, key: int, place: int) -> None:
    """Log what is at a place of the pool; -1: that nothing was there."""
    rows, work = rows_of(words), work_of(words)
    if work.counts[LOGS] == 0:
        return
    at = work.counts[LOG]
    work.log_item[at] = packed(vertex, key)
    work.log_value[at] = np.inf if place < 0 else value_at(rows, place)
    work.log_sign[at] = NO_SIGN if place < 0 else rows.sign[place]
    work.counts[LOG] = at + 1


@inner_kernel
def offer(words: Int64, vertex: int, key: int, value: float, edge: int) -> int:
    """Lower the cost of an entry if the offer is better; returns what was lacking where it could
    not.
    """
    rows = rows_of(words)
    place = find_entry(words, vertex, key)
    if place >= 0 and value >= value_at(rows, place):
        return DONE
    lacking = lacks_work(words)
    if lacking != DONE:
        return lacking
    if not fits(rows, value):
        return LACKS_WIDTH
    if place < 0:
        if not can_grow(words, vertex):
            return LACKS_POOL
        note_entry(words, vertex, key, -1)
        place = insert_entry(words, vertex, key)
        searches = searches_of(words)
        searches.entries[searches.owner[key]] += 1
    elif value_at(rows, place) < np.inf:  # What has fallen was noted then.
        note_entry(words, vertex, key, place)
    put_value(rows, place, value)
    rows.sign[place] = sign_of(edge)
    push_entry(words, vertex, key, value)
    return DONE


@inner_kernel
def spread(words: Int64, vertex: int, key: int, value: float) -> int:
    """Offer a cost to all that an entry leads to."""
    searches, graph = searches_of(words), adjacency_at(words, 0)
    search = searches.owner[key]
    state = key - fact(words, search, BASE)
    ways, lacking = ways_of(words, search, state), DONE
    if ways & ALONG:
        lacking = spread_one_way(words, graph.out, vertex, (search, state, 0), value)
    if lacking == DONE and ways & AGAINST:
        lacking = spread_one_way(words, graph.into, vertex, (search, state, 1), value)
    return lacking


@inner_kernel
def spread_one_way(
    words: Int64, slabs: Slabs, vertex: int, from_state: tuple[int, int, int], value: float
) -> int:
    """Do so along edges, or against them: `from_state` is a search, a state and the way."""
    search, state, back = from_state
    base, bound = fact(words, search, BASE), searches_of(words).bound[search]
    start, live = slabs.start[vertex], slabs.live[vertex]
    count_looks(words, search, live)
    for place in range(start, start + live):
        edge = slabs.edge[place]
        reached = step_of(words, search, state, 2 * class_of(words, search, edge) + back)
        if reached < 0:
            continue
        total = value + cost_of(words, search, edge)
        if total <= bound:
            ended = offer(words, slabs.neighbour[place], base + reached, total, edge)
            if ended != DONE:
                return ended
    return DONE


@inner_kernel
def settle(words: Int64) -> int:
    """Pass on whatever is on the heap, best first, until nothing is."""
    work, rows = work_of(words), rows_of(words)
    while work.counts[HEAP] > 0:
        if work.counts[TOUCHED] > work.counts[MOST]:
            return TAKES_LONG
        item, value = work.item[0], work.rank[0]
        pop_entry(words)
        vertex, key = vertex_of(item), key_of(item)
        place = find_entry(words, vertex, key)
        if place < 0 or value_at(rows, place) != value:
            continue
        ended = spread(words, vertex, key, value)
        if ended != DONE:
            push_entry(words, vertex, key, value)
            return ended
    return DONE


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
    """Take the cost of an entry away; `remove_fallen` removes it unless it gets another."""
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
    """Do so along edges, or against them: `from_state` is a state and the way."""
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
    """Give all that have fallen the best that they are offered; the list stays as it is."""
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
    """Remove entries that have fallen and got no cost since."""
    work, rows = work_of(words), rows_of(words)
    searches = searches_of(words)
    for at in range(work.counts[FALLEN]):
        vertex, key = vertex_of(work.fallen[at]), key_of(work.fallen[at])
        place = find_entry(words, vertex, key)
        if place >= 0 and value_at(rows, place) == np.inf:
            remove_entry(words, vertex, place)
            searches.entries[searches.owner[key]] -= 1
    work.counts[FALLEN] = 0


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
