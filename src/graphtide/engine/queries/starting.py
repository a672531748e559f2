"""Arrays in which a new search is found, where there is room for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from graphtide.engine.queries.budget import Budget
from graphtide.engine.queries.searches import Search
from graphtide.kernels.queries.starting import SIZES, Dense

MOST_DENSE = 1 << 24
"""A search begins in arrays of at most this many (vertex, state); larger ones in rows.

At 22 bytes each that is 370 MB at most, of which only the pages that are touched are ever there.
"""

_BYTES, _HEAP_BYTES = 18, 8
_WRITTEN = 20
"""What each takes, what a heap takes besides, and what it takes to write those reached down: an
item and two costs for what was, and a cost for what is, until it is there in place of what was."""


def fits_arrays(search: Search, vertices: int) -> bool:
    """Whether a search is found in arrays."""
    return vertices * search.automaton.states <= MOST_DENSE


def dense_bytes(search: Search, vertices: int) -> int:
    """What a search that starts borrows."""
    return item_bytes(search) * vertices * search.automaton.states


def item_bytes(search: Search) -> int:
    """What it borrows for each (vertex, state)."""
    return _BYTES + _WRITTEN + (0 if search.weight is None else _HEAP_BYTES)


@contextmanager
def dense_arrays(search: Search, vertices: int, budget: Budget) -> Iterator[Dense]:
    """Arrays for a search that starts, granted for as long as they are needed."""
    size = vertices * search.automaton.states
    waiting = 0 if search.weight is None else size
    with budget.borrowed(dense_bytes(search, vertices)):
        yield Dense(
            came=np.zeros(size, np.int32),
            value=np.empty(size, np.float64),
            via=np.empty(size, np.int16),
            reached=np.empty(size, np.int32),
            heap=np.empty(waiting, np.int32),
            place=np.full(waiting, -1, np.int32),
            sizes=np.zeros(SIZES, np.int64),
        )
