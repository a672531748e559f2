"""One batch for all queries that are kept by histories, and the way back.

A call that lacks room says so and stops. Between two evaluations everything is in order: what lacks
room to work in there gets more, and goes on. What stops elsewhere, because a pool is full, is put
back by the notes, and begins again with more room. So nothing is lost by stopping anywhere.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.histories.evaluating import evaluate_all, tell_by
from graphtide.kernels.histories.joining import put_message
from graphtide.kernels.histories.noting import enter_notes
from graphtide.kernels.histories.pools import (
    close_place,
    end_of,
    first_at,
    is_at,
    key_at,
    lacking_for,
    open_place,
    put_cost,
)
from graphtide.kernels.histories.reading import last_iteration, next_after
from graphtide.kernels.histories.recomputing import cost_until
from graphtide.kernels.histories.records import (
    AT,
    DELETED,
    DETERMINISTIC,
    DONE,
    DROPPED_COUNT,
    FILTER_FACTS,
    HOW,
    INSERTED,
    KEPT_COUNT,
    LACKING,
    LACKS_DROPPED,
    LACKS_KEPT,
    NEW,
    NOTED,
    OLD,
    PROBABILISTIC,
    TOLD,
    Float64,
    Int32,
    Int64,
    Pool,
    dropped_of,
    filters_of,
    kept_of,
    work_of,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.queries.records import AGAINST, ALONG, BASE, STATES, searches_of
from graphtide.kernels.queries.rows import key_of, packed, vertex_of
from graphtide.kernels.queries.stepping import fact, ways_of


@bare_kernel
def follow_batch(words: Int64, state: Int64) -> int:
    """Bring all histories to the version that the graph is at; how that ended."""
    work = work_of(state)
    if work.counts[TOLD] == 0:
        tell_batch(words, state)
        work.counts[TOLD] = work.counts[LACKING] == 0
    else:
        enter_notes(state)
    evaluate_all(words, state)
    if work.counts[LACKING] == 0:
        note_ends(words, state)
    return int(work.counts[LACKING])


@inner_kernel
def tell_batch(words: Int64, state: Int64) -> None:
    """Have all entries evaluated that the edges of a batch concern."""
    work = work_of(state)
    inserted, deleted = work.counts[INSERTED], work.counts[DELETED]
    for at in range(inserted + deleted):
        source, target, edge = work.sources[at], work.targets[at], work.edges[at]
        tell_across(words, state, source, (edge, target, 0), at < inserted)
        tell_across(words, state, target, (edge, source, 1), at < inserted)


@inner_kernel
def tell_across(
    words: Int64, state: Int64, vertex: int, by: tuple[int, int, int], comes: bool
) -> None:
    """Tell those across an edge that comes or goes of all differences at its other end."""
    if work_of(state).settings[HOW] == PROBABILISTIC:
        tell_of_all(words, state, vertex, by, comes)
        return
    kept, key = kept_of(state), -1
    for place in range(kept.start[vertex], end_of(kept, vertex)):
        if key_at(kept, place) != key:
            key = key_at(kept, place)
            tell_of_key(words, state, packed(vertex, key), by, comes)
    if work_of(state).settings[HOW] == DETERMINISTIC:
        dropped, key = dropped_of(state), -1
        for place in range(dropped.start[vertex], end_of(dropped, vertex)):
            if key_at(dropped, place) != key:
                key = key_at(dropped, place)
                if not has_key(kept, vertex, key):
                    tell_of_key(words, state, packed(vertex, key), by, comes)


@inner_kernel
def has_key(pool: Pool, vertex: int, key: int) -> bool:
    """Whether a row has a key."""
    return is_at(pool, vertex, first_at(pool, vertex, key, 0), key)


@inner_kernel
def tell_of_all(
    words: Int64, state: Int64, vertex: int, by: tuple[int, int, int], comes: bool
) -> None:
    """The same where only a filter knows which entries there are: every search is asked."""
    owner, key = searches_of(words).owner, 0
    while key < len(owner):
        search = owner[key]
        if search < 0 or fact(words, search, BASE) != key:
            key += 1
            continue
        for step in range(fact(words, search, STATES)):
            tell_of_key(words, state, packed(vertex, key + step), by, comes)
        key += fact(words, search, STATES)


@inner_kernel
def tell_of_key(
    words: Int64, state: Int64, item: int, by: tuple[int, int, int], comes: bool
) -> None:
    """The same of one entry."""
    key = key_of(item)
    search = searches_of(words).owner[key]
    if search < 0:
        return
    if not ways_of(words, search, key - fact(words, search, BASE)) & (AGAINST if by[2] else ALONG):
        return
    iteration = next_after(words, state, item, -1, OLD)
    before = np.inf
    while iteration >= 0:
        cost = cost_until(words, state, item, iteration, OLD)
        if cost < before:
            costs = (np.inf, cost) if comes else (cost, np.inf)
            tell_by(words, state, item, iteration, costs, by)
            before = cost
        iteration = next_after(words, state, item, iteration, OLD)


@inner_kernel
def note_ends(words: Int64, state: Int64) -> None:
    """Note the costs of all evaluated entries before the batch and after it."""
    work = work_of(state)
    for note in range(work.counts[NOTED]):
        item = work.noted_item[note]
        last = last_iteration(state, searches_of(words).owner[key_of(item)])
        work.noted_old[note] = cost_until(words, state, item, last, OLD)
        work.noted_new[note] = cost_until(words, state, item, last, NEW)


@bare_kernel
def put_back(
    words: Int64, state: Int64, items: Int64, firsts: Int64, iterations: Int32, costs: Float64
) -> int:
    """Give entries the histories that were noted; `AT` counts how many are done. How that ended."""
    work, owner = work_of(state), searches_of(words).owner
    kept, dropped = kept_of(state), dropped_of(state)
    facts = filters_of(state).facts
    while work.counts[AT] < len(items):
        at = work.counts[AT]
        vertex, key = vertex_of(items[at]), key_of(items[at])
        if owner[key] >= 0:
            first = owner[key] * FILTER_FACTS
            facts[first + KEPT_COUNT] -= remove_key(kept, vertex, key)
            if work.settings[HOW] == DETERMINISTIC:
                facts[first + DROPPED_COUNT] -= remove_key(dropped, vertex, key)
            for place in range(firsts[at], firsts[at + 1]):
                pool, lacks, counted = kept, LACKS_KEPT, KEPT_COUNT
                if np.isnan(costs[place]):
                    pool, lacks, counted = dropped, LACKS_DROPPED, DROPPED_COUNT
                lacking = lacking_for(pool, vertex, iterations[place], costs[place], lacks)
                if lacking != DONE:
                    return lacking
                put_back_one(pool, vertex, key, iterations[place], costs[place])
                facts[first + counted] += 1
        work.counts[AT] += 1
    return DONE


@inner_kernel
def remove_key(pool: Pool, vertex: int, key: int) -> int:
    """Remove all that a row has of a key; how many that were."""
    count, place = 0, first_at(pool, vertex, key, 0)
    while is_at(pool, vertex, place, key):
        close_place(pool, vertex, place)
        count += 1
    return count


@inner_kernel
def put_back_one(pool: Pool, vertex: int, key: int, iteration: int, cost: float) -> None:
    """Insert a difference into a row that lacks nothing for it."""
    place = first_at(pool, vertex, key, iteration)
    put_cost(pool, open_place(pool, vertex, place, key, iteration), cost)


@bare_kernel
def put_back_messages(
    words: Int64, state: Int64, items: Int64, iterations: Int32, costs: Float64, changes: Int32
) -> int:
    """Undo changes of messages, from the last; `AT` counts how many are done. How that ended."""
    work, owner = work_of(state), searches_of(words).owner
    while work.counts[AT] < len(items):
        at = len(items) - 1 - work.counts[AT]
        gone = owner[key_of(items[at])] < 0
        change = -changes[at]
        if not gone and not put_message(words, state, items[at], iterations[at], costs[at], change):
            return int(work.counts[LACKING])
        work.counts[AT] += 1
    return DONE
