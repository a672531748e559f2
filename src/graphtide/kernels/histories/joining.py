"""The messages of the join, where they are kept: what each entry is offered at each iteration.

Messages that are equal are one with a count. As costs only fall from iteration to iteration, what a
difference took back need not be kept: the least of an entry's messages until an iteration is the
same with it.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.histories.pools import (
    close_place,
    cost_at,
    first_at,
    is_at,
    iteration_at,
    lacking_for,
    open_place,
    put_cost,
)
from graphtide.kernels.histories.records import (
    DONE,
    FILTER_FACTS,
    JOINED_COUNT,
    LACKING,
    LACKS_JOINED,
    LACKS_MESSAGES,
    MESSAGES,
    Int64,
    Pool,
    filters_of,
    joined_of,
    work_of,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import searches_of
from graphtide.kernels.queries.rows import key_of, vertex_of


@inner_kernel
def change_message(
    words: Int64, state: Int64, item: int, iteration: int, cost: float, change: int
) -> None:
    """Count a message once more or once less, and note it for the way back."""
    work = work_of(state)
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
    pool, vertex, key = joined_of(state), vertex_of(item), key_of(item)
    work, facts = work_of(state), filters_of(state).facts
    counted = searches_of(words).owner[key] * FILTER_FACTS + JOINED_COUNT
    place = first_at(pool, vertex, key, iteration)
    while is_of(pool, vertex, place, key, iteration) and cost_at(pool, place) < cost:
        place += 1
    if is_of(pool, vertex, place, key, iteration) and cost_at(pool, place) == cost:
        pool.copies[place] += change
        if pool.copies[place] == 0:
            close_place(pool, vertex, place)
            facts[counted] -= 1
        return True
    lacking = lacking_for(pool, vertex, iteration, cost, LACKS_JOINED)
    if lacking != DONE:
        work.counts[LACKING] = lacking
        return False
    place = open_place(pool, vertex, place, key, iteration)
    put_cost(pool, place, cost)
    pool.copies[place] = change
    facts[counted] += 1
    return True


@inner_kernel
def least_message(state: Int64, item: int, iteration: int) -> float:
    """The least message that an entry has at exactly an iteration; infinity without one."""
    pool, vertex, key = joined_of(state), vertex_of(item), key_of(item)
    place = first_at(pool, vertex, key, iteration)
    return cost_at(pool, place) if is_of(pool, vertex, place, key, iteration) else np.inf


@joined_kernel
def is_of(pool: Pool, vertex: int, place: int, key: int, iteration: int) -> bool:
    """Whether a place is in the row of a vertex, and has a key and an iteration."""
    return is_at(pool, vertex, place, key) and iteration_at(pool, place) == iteration


@inner_kernel
def next_message(state: Int64, item: int, iteration: int) -> int:
    """The next iteration at which an entry has a message, or -1."""
    pool, vertex, key = joined_of(state), vertex_of(item), key_of(item)
    place = first_at(pool, vertex, key, iteration + 1)
    return iteration_at(pool, place) if is_at(pool, vertex, place, key) else -1
