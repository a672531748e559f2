"""All differences of a search on the graph as it is, iteration by iteration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.searches import Search
from graphtide.kernels.histories.records import MOST_ITERATIONS
from graphtide.kernels.histories.starting import Dense, expand
from graphtide.model.errors import LimitError

MOST_DENSE = 1 << 26
"""A search begins in arrays of at most this many (vertex, state): 24 bytes each."""


class Differences(NamedTuple):
    """Of one search, by entry and iteration; an entry is a vertex and a key in one number."""

    items: NDArray[np.int64]
    iterations: NDArray[np.int32]
    costs: NDArray[np.float64]


def find_differences(
    words: NDArray[np.int64], search: Search, number: int, base: int, vertices: int
) -> Differences:
    """Run a search from its start; what each iteration changed."""
    states = search.automaton.states
    size = vertices * states
    _check_size(size)
    dense = Dense(np.full(size, np.inf), np.full(size, np.inf))
    room = np.empty(size, np.int32)
    frontier = np.array([search.start * states], np.int32)
    dense.cost[frontier] = 0.0
    items, costs = [frontier], [np.zeros(1)]
    while len(frontier):
        count = expand(words, dense, number, frontier, room)
        frontier = room[:count].copy()
        dense.cost[frontier] = dense.offered[frontier]
        dense.offered[frontier] = np.inf
        items.append(frontier)
        costs.append(dense.cost[frontier])
        check_iterations(len(items))
    iterations = np.repeat(np.arange(len(items), dtype=np.int32), list(map(len, items)))
    places = np.concatenate(items).astype(np.int64)
    order = np.lexsort((iterations, places))
    packed = (places // states) << 32 | (places % states + base)
    return Differences(packed[order], iterations[order], np.concatenate(costs)[order])


def check_iterations(count: int) -> None:
    """Refuse a search that takes more iterations than a history can tell apart."""
    if count > MOST_ITERATIONS:
        raise LimitError(
            f"a query takes more than {MOST_ITERATIONS:,} iterations, which no history holds",
            hint="give it a bound, or leave out queries=gt.queries.Histories(...)",
        )


def _check_size(size: int) -> None:
    if size > MOST_DENSE:
        raise LimitError(
            f"{size:,} vertices times states are more than a query by histories can begin with",
            hint="ask a path with fewer states, or leave out queries=gt.queries.Histories(...)",
        )
