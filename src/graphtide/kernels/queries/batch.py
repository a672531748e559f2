"""One batch for all queries: one call, unless it lacks room; and the way back.

Phases follow one another: doubts about what came by deleted edges, their decision, what the fallen
are offered, what inserted edges offer, and settling. How far a call got stands in the block, so
that it goes on there when it is called again. What has fallen for good is taken out at the end.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.queries.crossing import offer_across
from graphtide.kernels.queries.falling import decide, doubt_edge, pull, remove_fallen
from graphtide.kernels.queries.offering import offer, push_entry, settle
from graphtide.kernels.queries.records import (
    AT,
    BASE,
    DONE,
    HEAP,
    LACKS_HEAP,
    LACKS_POOL,
    PHASE,
    Float64,
    Int32,
    Int64,
    UInt16,
    rows_of,
    searches_of,
    work_of,
)
from graphtide.kernels.queries.rows import (
    can_grow,
    find_entry,
    insert_entry,
    key_of,
    put_value,
    remove_entry,
    value_at,
    vertex_of,
)
from graphtide.kernels.queries.stepping import fact

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
