"""Which differences are dropped, and how that is remembered: by records, or in a Bloom filter.

Whether a difference is dropped is drawn by a hash of the seed and what it is, so that the same run
drops the same. A filter never forgets: what was dropped and is gone stays in it, as a difference
that may be there, until the search is given a new one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.histories.records import (
    DEGREE,
    FILTER_FACTS,
    FIRST,
    HOW,
    KEEP,
    LEAST,
    MOST,
    POLICY,
    SEED,
    SHARE,
    SIZE,
    USED,
    Int64,
    filters_of,
    work_of,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel

PROBES = 4
"""A difference sets this many bits of a filter: with ten bits each, 1% are falsely found."""

_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_OTHER_FACTOR = np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_THIRTY, _TWENTY_SEVEN, _HALF = np.uint64(30), np.uint64(27), np.uint64(32)
_SIX, _LOW_SIX, _ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@joined_kernel
def mixed(number: Any) -> Any:
    """64 bits, each of which depends on all of those given."""
    number = (number ^ (number >> _THIRTY)) * _FIRST_FACTOR
    number = (number ^ (number >> _TWENTY_SEVEN)) * _OTHER_FACTOR
    return number ^ (number >> _HALF)


@joined_kernel
def hash_of(seed: int, item: int, iteration: int) -> Any:
    """The hash of a difference."""
    return mixed(mixed(np.uint64(item) + _STEP) + np.uint64(iteration) * _STEP + np.uint64(seed))


@inner_kernel
def drops(words: Int64, state: Int64, item: int, iteration: int) -> bool:
    """Whether the policy drops a difference. A start has its own at iteration 0, and keeps it."""
    settings = work_of(state).settings
    if settings[HOW] == KEEP or iteration == 0:
        return False
    if settings[POLICY] == DEGREE:
        graph, vertex = adjacency_at(words, 0), item >> 32
        degree = graph.out.live[vertex] + graph.into.live[vertex]
        if degree < settings[LEAST]:
            return True
        if degree > settings[MOST]:
            return False
    return bool(np.int64(hash_of(settings[SEED], item, iteration) >> _HALF) < settings[SHARE])


@inner_kernel
def filter_has(state: Int64, search: int, item: int, iteration: int) -> bool:
    """Whether a difference may have been dropped."""
    filters = filters_of(state)
    size = np.uint64(filters.facts[search * FILTER_FACTS + SIZE])
    first = np.uint64(filters.facts[search * FILTER_FACTS + FIRST])
    one = hash_of(1, item, iteration)
    step = (one >> _HALF) | _ONE
    for _ in range(PROBES):
        bit = one % size
        if not (filters.bits[first + (bit >> _SIX)] >> (bit & _LOW_SIX)) & _ONE:
            return False
        one = one + step
    return True


@inner_kernel
def filter_add(state: Int64, search: int, item: int, iteration: int) -> None:
    """Remember that a difference is dropped."""
    filters = filters_of(state)
    size = np.uint64(filters.facts[search * FILTER_FACTS + SIZE])
    first = np.uint64(filters.facts[search * FILTER_FACTS + FIRST])
    one = hash_of(1, item, iteration)
    step, fresh = (one >> _HALF) | _ONE, False
    for _ in range(PROBES):
        bit = one % size
        place, mask = first + (bit >> _SIX), _ONE << (bit & _LOW_SIX)
        fresh = fresh or (filters.bits[place] & mask) != mask
        filters.bits[place] |= mask
        one = one + step
    filters.facts[search * FILTER_FACTS + USED] += fresh
