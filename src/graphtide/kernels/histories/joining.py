"""The messages of the join, where they are kept: what each entry is offered at each iteration.

Messages that are equal are one with a count. As costs only fall from iteration to iteration, what a
difference took back need not be kept: the least of an entry's messages until an iteration is the
same with it.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.histories.pools import (
    can_grow,
    close_place,
    cost_at,
    end_of,
    first_at,
    fits,
    open_place,
    put_cost,
)
from graphtide.kernels.histories.records import (
    FILTER_FACTS,
    FILTERS,
    JOINED,
    JOINED_COUNT,
    LACKING,
    LACKS_JOINED,
    LACKS_MESSAGES,
    LACKS_WIDTH,
    MESSAGES,
    WORK,
    Int64,
    filters_at,
    joined_at,
    work_at,
)
from graphtide.kernels.jit import inner_kernel
from graphtide.kernels.queries.records import SEARCHES, searches_at
from graphtide.kernels.queries.rows import key_of, vertex_of


@inner_kernel
def change_message(
    words: Int64, state: Int64, item: int, iteration: int, cost: float, change: int
) -> None:
    """Count a message once more or once less, and note it for the way back."""
    work = work_at(state, WORK)
    at = work.counts[MESSAGES]
    if at == len(work.message_item):
        work.counts[LACKING] = LACKS_MESSAGES
        return
    if not put_message(words, state, item, iteration, cost, change):
        return
    work.message_item[at], work.message_iteration[at] = item, iteration
    work.message_value[at], work.message_change[at] = cost, change
    work.counts[MESSAGES] = at + 1


@inner_kernel
def put_message(
    words: Int64, state: Int64, item: int, iteration: int, cost: float, change: int
) -> bool:
    """The same without a note; whether there was room."""
    pool, vertex, key = joined_at(state, JOINED), vertex_of(item), key_of(item)
    work, facts = work_at(state, WORK), filters_at(state, FILTERS).facts
    counted = searches_at(words, SEARCHES).owner[key] * FILTER_FACTS + JOINED_COUNT
    place, end = first_at(pool, vertex, key, iteration), end_of(pool, vertex)
    while place < end and pool.key[place] == key and pool.iteration[place] == iteration:
        if cost_at(pool, place) >= cost:
            break
        place += 1
    there = place < end and pool.key[place] == key and pool.iteration[place] == iteration
    if there and cost_at(pool, place) == cost:
        pool.copies[place] += change
        if pool.copies[place] == 0:
            close_place(pool, vertex, place)
            facts[counted] -= 1
        return True
    if not fits(pool, cost):
        work.counts[LACKING] = LACKS_WIDTH
        return False
    if not can_grow(pool, vertex):
        work.counts[LACKING] = LACKS_JOINED
        return False
    place = open_place(pool, vertex, place, key, iteration)
    put_cost(pool, place, cost)
    pool.copies[place] = change
    facts[counted] += 1
    return True


@inner_kernel
def least_message(state: Int64, item: int, iteration: int) -> float:
    """The least message that an entry has at exactly an iteration; infinity without one."""
    pool, vertex, key = joined_at(state, JOINED), vertex_of(item), key_of(item)
    place = first_at(pool, vertex, key, iteration)
    if place == end_of(pool, vertex) or pool.key[place] != key:
        return np.inf
    return cost_at(pool, place) if pool.iteration[place] == iteration else np.inf


@inner_kernel
def next_message(state: Int64, item: int, iteration: int) -> int:
    """The next iteration at which an entry has a message, or -1."""
    pool, vertex, key = joined_at(state, JOINED), vertex_of(item), key_of(item)
    place = first_at(pool, vertex, key, iteration + 1)
    if place == end_of(pool, vertex) or pool.key[place] != key:
        return -1
    return int(pool.iteration[place])
