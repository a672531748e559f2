"""Arrays in which a new search is found, where there is room for them."""

from __future__ import annotations

import numpy as np

from graphtide.engine.queries.searches import Search
from graphtide.kernels.queries.starting import Dense

MOST_DENSE = 1 << 24
"""So many vertices times states have arrays; beyond, a search is found in its rows.

At 22 bytes each that is 370 MB at most, of which only the pages that are touched are ever there.
"""


def dense_arrays(search: Search, vertices: int) -> Dense | None:
    """Arrays for a search that starts; None where they would be too large."""
    size = vertices * search.automaton.states
    if size > MOST_DENSE:
        return None
    waiting = 0 if search.weight is None else size
    return Dense(
        came=np.zeros(size, np.int32),
        value=np.empty(size, np.float64),
        via=np.empty(size, np.int16),
        reached=np.empty(size, np.int32),
        heap=np.empty(waiting, np.int32),
        place=np.full(waiting, -1, np.int32),
        sizes=np.zeros(2, np.int64),
    )
