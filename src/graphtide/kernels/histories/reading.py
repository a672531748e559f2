"""The differences of an entry, before the batch and after it: which are kept, and which are gone.

Before the batch, an entry that was noted is read from its note, any other from the rows: they are
what they were. After the batch, rows are final below the iteration that is evaluated.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.histories.dropping import filter_has
from graphtide.kernels.histories.noting import noted_at
from graphtide.kernels.histories.pools import (
    cost_at,
    exactly_at,
    first_at,
    is_at,
    iteration_at,
    last_until,
)
from graphtide.kernels.histories.records import (
    DETERMINISTIC,
    FILTER_FACTS,
    HOW,
    LAST,
    OLD,
    PROBABILISTIC,
    Int64,
    dropped_of,
    filters_of,
    kept_of,
    work_of,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import searches_of
from graphtide.kernels.queries.rows import key_of, vertex_of

NONE, KNOWN, GONE = range(3)
"""Of a difference: there is none, its cost is known, or it was dropped (or may have been)."""


@joined_kernel
def last_iteration(state: Int64, search: int) -> int:
    """The last iteration at which a search ever had a difference."""
    return int(filters_of(state).facts[search * FILTER_FACTS + LAST])


@inner_kernel
def difference_at(
    words: Int64, state: Int64, item: int, iteration: int, when: int
) -> tuple[int, float]:
    """Whether an entry has a difference at exactly an iteration, and its cost."""
    work, vertex, key = work_of(state), vertex_of(item), key_of(item)
    note = noted_at(state, item) if when == OLD else -1
    if note >= 0:
        for at in range(work.noted_first[note], work.noted_first[note + 1]):
            if work.log_iteration[at] == iteration:
                cost = work.log_value[at]
                return (GONE, np.inf) if np.isnan(cost) else (KNOWN, cost)
    else:
        kept = kept_of(state)
        place = exactly_at(kept, vertex, key, iteration)
        if place >= 0:
            return KNOWN, cost_at(kept, place)
        if work.settings[HOW] == DETERMINISTIC:
            gone = exactly_at(dropped_of(state), vertex, key, iteration) >= 0
            return (GONE if gone else NONE), np.inf
    if work.settings[HOW] == PROBABILISTIC and iteration > 0:
        search = searches_of(words).owner[key]
        if iteration <= last_iteration(state, search) and filter_has(
            state, search, item, iteration
        ):
            return GONE, np.inf
    return NONE, np.inf


@inner_kernel
def cheap_cost(state: Int64, item: int, iteration: int, when: int) -> tuple[int, float]:
    """The iteration and cost of the last kept difference until an iteration; -1 and infinity.

    The cost at that iteration is no more than this.
    """
    work, found, cost = work_of(state), -1, np.inf
    note = noted_at(state, item) if when == OLD else -1
    if note < 0:
        kept = kept_of(state)
        place = last_until(kept, vertex_of(item), key_of(item), iteration)
        return (iteration_at(kept, place), cost_at(kept, place)) if place >= 0 else (found, cost)
    for at in range(work.noted_first[note], work.noted_first[note + 1]):
        is_later = found < work.log_iteration[at] <= iteration
        if is_later and not np.isnan(work.log_value[at]):
            found, cost = int(work.log_iteration[at]), work.log_value[at]
    return found, cost


@inner_kernel
def last_dropped(state: Int64, item: int, iteration: int, when: int) -> int:
    """The last iteration until one at which a record says that a difference was dropped, or -1."""
    work, found = work_of(state), -1
    note = noted_at(state, item) if when == OLD else -1
    if note < 0:
        dropped = dropped_of(state)
        place = last_until(dropped, vertex_of(item), key_of(item), iteration)
        return iteration_at(dropped, place) if place >= 0 else found
    for at in range(work.noted_first[note], work.noted_first[note + 1]):
        is_later = found < work.log_iteration[at] <= iteration
        if is_later and np.isnan(work.log_value[at]):
            found = int(work.log_iteration[at])
    return found


@inner_kernel
def next_after(words: Int64, state: Int64, item: int, iteration: int, when: int) -> int:
    """The next iteration at which an entry has a difference, or may have; -1 without one."""
    work, vertex, key = work_of(state), vertex_of(item), key_of(item)
    search = searches_of(words).owner[key]
    last = last_iteration(state, search) + 1
    found = last
    note = noted_at(state, item) if when == OLD else -1
    if note >= 0:
        for at in range(work.noted_first[note], work.noted_first[note + 1]):
            if iteration < work.log_iteration[at] < found:
                found = int(work.log_iteration[at])
    else:
        kept, dropped = kept_of(state), dropped_of(state)
        place = first_at(kept, vertex, key, iteration + 1)
        if is_at(kept, vertex, place, key):
            found = min(found, iteration_at(kept, place))
        if work.settings[HOW] == DETERMINISTIC:
            place = first_at(dropped, vertex, key, iteration + 1)
            if is_at(dropped, vertex, place, key):
                found = min(found, iteration_at(dropped, place))
    if work.settings[HOW] == PROBABILISTIC:
        for later in range(iteration + 1, found):
            if filter_has(state, search, item, later):
                return later
    return found if found < last else -1
