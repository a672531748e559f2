"""All searches begin, follow one batch together, and go back.

Phases of a batch follow one another: doubts about what came by deleted edges, their decision, what
the fallen are offered, what inserted edges offer, and settling. How far a call came stands in the
block, so that it goes on there when it is called again with more room. What has fallen for good is
taken out at the end.

Most entries at an inserted edge are not concerned: the other end has what they could bring, or
better. So these are passed in loops that write nothing, and only the others are offered.

A search that begins is found in arrays with a place for each (vertex, state) and then written to
the rows: several times faster than in rows, where finding one entry takes a binary search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    ANY_STEP,
    AT,
    BASE,
    DONE,
    HEAP,
    LABEL,
    LACKS_HEAP,
    LACKS_POOL,
    LACKS_WIDTH,
    NAMES,
    NO_COST,
    PHASE,
    PLAIN,
    STATES,
    TABLE,
    WEIGHT,
    WIDTH,
    EntryRows,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt16,
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
    fits,
    insert_entry,
    key_of,
    put_value,
    remove_entry,
    sign_of,
    value_at,
    vertex_of,
)
from graphtide.kernels.queries.search import (
    decide,
    doubt_edge,
    offer,
    pull,
    push_entry,
    remove_fallen,
    settle,
)
from graphtide.kernels.queues import heap_pop, heap_push


@inner_kernel
def offer_across(words: Int64, edge: int, here: int, there: int, back: int) -> int:
    """Offer to one end of an edge what the entries of the other lead to. O(both rows).

    Both rows are in the order of their keys, and so are the searches in them: one look at each
    entry tells which searches the edge concerns.
    """
    rows, plain = rows_of(words), searches_of(words).plain
    at, passed, way = -1, 0, AGAINST if back else ALONG
    while at + 1 < rows.length[here]:
        alike = passed_alike(words, (here, at + 1), (there, passed), way)
        at, passed = at + 1 + alike, passed + alike
        if at == rows.length[here]:
            break
        if plain[rows.key[rows.start[here] + at]] & ANY_STEP:
            at, passed = pass_unconcerned(words, (here, at), (there, passed), edge, back)
            if at == rows.length[here]:
                break
        place = rows.start[here] + at
        key, value = rows.key[place], value_at(rows, place)
        reached, total = key, value + 1.0
        if plain[key] & ANY_STEP:
            reached, total = step_across(words, key, value, edge, back)
        elif not plain[key] & way:
            continue
        if value == np.inf or reached < 0:
            continue
        found = passed_below(rows, there, passed, reached)
        if not plain[key] & ANY_STEP:
            passed = found
        place = rows.start[there] + found
        known = found < rows.length[there] and rows.key[place] == reached
        if known and value_at(rows, place) <= total:
            continue
        if total > searches_of(words).bound[searches_of(words).owner[key]]:
            continue
        ended = offer(words, there, reached, total, edge)
        if ended != DONE:
            return ended
    return DONE


@inner_kernel
def passed_alike(
    words: Int64, from_here: tuple[int, int], from_there: tuple[int, int], way: int
) -> int:
    """How many entries, one after the other, have the same keys in two rows, of plain searches that
    the edge does not concern. Most are of that kind where all searches reach everything.

    Both rows are told as a vertex and how many of its entries are passed.
    """
    rows, plain = rows_of(words), searches_of(words).plain
    (here, at), (there, passed) = from_here, from_there
    count = min(rows.length[here] - at, rows.length[there] - passed)
    one, other = rows.start[here] + at, rows.start[there] + passed
    if len(rows.wide) > 0:
        return alike(rows.key, rows.wide, plain, (one, other, count), way)
    return alike(rows.key, rows.small, plain, (one, other, count), way)


@inner_kernel
def alike(keys: Int32, costs: Any, plain: Int8, places: tuple[int, int, int], way: int) -> int:
    """Count such entries from two places on; costs are small or wide.

    What may have fallen at the other end ends it: that takes any offer.
    """
    one, other, count = places
    for step in range(count):
        key, cost = keys[one + step], costs[other + step]
        same = key == keys[other + step] and plain[key] & way
        if not same or cost == NO_COST or cost > float(costs[one + step]) + 1.0:
            return step
    return count


@inner_kernel
def pass_unconcerned(
    words: Int64, from_here: tuple[int, int], from_there: tuple[int, int], edge: int, back: int
) -> tuple[int, int]:
    """How many entries are passed in two rows, up to one of a plain search or one that the edge
    leads from to something better. What the edge means is looked up once for each search, and its
    letter once for searches one after the other that have the same labels.
    """
    rows, searches = rows_of(words), searches_of(words)
    (here, at), (there, passed) = from_here, from_there
    search, base, table, width, letter, cost = -1, 0, 0, 0, 0, 0.0
    names, label = -1, -1
    while at < rows.length[here]:
        place = rows.start[here] + at
        key = rows.key[place]
        if not searches.plain[key] & ANY_STEP:
            break
        if searches.owner[key] != search:
            search = searches.owner[key]
            base, cost = fact(words, search, BASE), cost_of(words, search, edge)
            table, width = fact(words, search, TABLE), fact(words, search, WIDTH)
            if fact(words, search, NAMES) != names or fact(words, search, LABEL) != label:
                names, label = fact(words, search, NAMES), fact(words, search, LABEL)
                letter = 2 * class_of(words, search, edge) + back
        at += 1
        state = searches.steps[table + (key - base) * width + letter]
        if state < 0:
            continue
        total = value_at(rows, place) + cost
        if total == np.inf or total > searches.bound[search]:
            continue
        passed = passed_below(rows, there, passed, base)
        found = passed_below(rows, there, passed, base + state)
        place = rows.start[there] + found
        known = found < rows.length[there] and rows.key[place] == base + state
        if not known or value_at(rows, place) > total:
            at -= 1
            break
    return at, passed


@inner_kernel
def step_across(words: Int64, key: int, value: float, edge: int, back: int) -> tuple[int, float]:
    """The key behind an edge, -1 where it leads nowhere, and what a walk costs there."""
    search = searches_of(words).owner[key]
    base = fact(words, search, BASE)
    if not ways_of(words, search, key - base) & (AGAINST if back else ALONG):
        return -1, value
    reached = step_of(words, search, key - base, 2 * class_of(words, search, edge) + back)
    return base + reached if reached >= 0 else -1, value + cost_of(words, search, edge)


@joined_kernel
def passed_below(rows: EntryRows, vertex: int, passed: int, key: int) -> int:
    """How many entries of a row have lower keys, where it is known that `passed` have."""
    start, length = rows.start[vertex], rows.length[vertex]
    while passed < length and rows.key[start + passed] < key:
        passed += 1
    return passed


DOUBT, DECIDE, PULL, OFFER, SETTLE = range(5)


@bare_kernel
def follow_batch(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> int:
    """Bring all queries to the version that the graph is at; how that ended."""
    counts, ended = work_of(words).counts, DONE
    if counts[PHASE] == DOUBT:
        ended = doubt_deleted(words, deleted, len(inserted), sources, targets)
        counts[PHASE] += ended == DONE
    if counts[PHASE] == DECIDE and ended == DONE:
        ended = decide(words)
        counts[AT] = 0
        counts[PHASE] += ended == DONE
    if counts[PHASE] == PULL and ended == DONE:
        ended = pull(words)
        if ended == DONE:
            counts[AT] = 0
            counts[PHASE] += 1
    if counts[PHASE] == OFFER and ended == DONE:
        ended = offer_inserted(words, inserted, sources, targets)
        counts[PHASE] += ended == DONE
    if counts[PHASE] == SETTLE and ended == DONE:
        ended = settle(words)
    return ended


@bare_kernel
def end_batch(words: Int64) -> None:
    """Take out what has fallen for good. Until then, putting everything back takes no room."""
    remove_fallen(words)


@inner_kernel
def doubt_deleted(words: Int64, deleted: Int32, first: int, sources: Int32, targets: Int32) -> int:
    """Make candidates of all that came by deleted edges, whose ends stand from `first` on."""
    counts, goes = work_of(words).counts, searches_of(words).goes
    while counts[AT] < len(deleted):
        at, ended = counts[AT], DONE
        source, target = sources[first + at], targets[first + at]
        if goes[0] > 0 or source == target:
            ended = doubt_edge(words, target, deleted[at])
        if ended == DONE and goes[1] > 0 and source != target:
            ended = doubt_edge(words, source, deleted[at])
        if ended != DONE:
            return ended
        counts[AT] += 1
    return DONE


@inner_kernel
def offer_inserted(words: Int64, inserted: Int32, sources: Int32, targets: Int32) -> int:
    """Offer what inserted edges lead to, in both directions."""
    counts, goes = work_of(words).counts, searches_of(words).goes
    while counts[AT] < len(inserted):
        source, target = sources[counts[AT]], targets[counts[AT]]
        edge, ended = inserted[counts[AT]], DONE
        if source == target:
            ended = spread_again(words, source)
        else:
            if goes[0] > 0:
                ended = offer_across(words, edge, source, target, 0)
            if ended == DONE and goes[1] > 0:
                ended = offer_across(words, edge, target, source, 1)
        if ended != DONE:
            return ended
        counts[AT] += 1
    return DONE


@inner_kernel
def spread_again(words: Int64, vertex: int) -> int:
    """Let all entries of a vertex that got a loop pass on again what they cost.

    Its row grows while one goes through it, so that entries wait on the heap.
    """
    rows, work = rows_of(words), work_of(words)
    start, length = rows.start[vertex], rows.length[vertex]
    if work.counts[HEAP] + length + 2 > len(work.item):
        return LACKS_HEAP
    for place in range(start, start + length):
        key, value = rows.key[place], value_at(rows, place)
        if searches_of(words).owner[key] >= 0 and value < np.inf:
            push_entry(words, vertex, key, value)
    return DONE


@bare_kernel
def start_search(words: Int64, search: int, vertex: int) -> int:
    """Find all entries of a search from its start, in its rows alone; how that ended."""
    counts = work_of(words).counts
    if counts[PHASE] == DOUBT:
        ended = offer(words, vertex, fact(words, search, BASE), 0.0, -1)
        if ended != DONE:
            return ended
        counts[PHASE] = SETTLE
    return settle(words)


@bare_kernel
def put_back(words: Int64, items: Int64, values: Float64, signs: UInt16) -> int:
    """Undo what a log tells of, from its end; `AT` counts how much is done. How that ended."""
    counts, searches = work_of(words).counts, searches_of(words)
    rows = rows_of(words)
    while counts[AT] < len(items):
        at = len(items) - 1 - counts[AT]
        if items[at] < 0:
            counts[AT] += 1
            continue
        vertex, key = vertex_of(items[at]), key_of(items[at])
        search = searches.owner[key]
        place = find_entry(words, vertex, key)
        if search < 0:
            place = -1
        elif values[at] == np.inf:
            if place >= 0:
                remove_entry(words, vertex, place)
                searches.entries[search] -= 1
            place = -1
        elif place < 0:
            if not can_grow(words, vertex):
                return LACKS_POOL
            place = insert_entry(words, vertex, key)
            searches.entries[search] += 1
        if place >= 0:
            put_value(rows, place, values[at])
            rows.sign[place] = signs[at]
        counts[AT] += 1
    return DONE


class DenseSearch(NamedTuple):
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
def find_all(words: Int64, dense: DenseSearch, search: int, vertex: int) -> int:
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
def find_plainly(words: Int64, dense: DenseSearch, search: int) -> None:
    """Do so where every edge costs 1 and leads to the one state that there is."""
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
    dense: DenseSearch, slabs: Slabs, vertex: int, value: float, so_far: tuple[int, int]
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
def reach_from(words: Int64, dense: DenseSearch, search: int, item: int) -> None:
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
    words: Int64, dense: DenseSearch, slabs: Slabs, search: int, entry: tuple[int, int, int]
) -> None:
    """Do so along edges, or against them: `entry` is a vertex, a state and the way."""
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
def write_all(words: Int64, dense: DenseSearch, search: int, reached: Int32) -> int:
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
