"""What is kept of a graph in memory, as one block: both directions, and what they grow with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import places, record_reader
from graphtide.kernels.graph.adjacency import Adjacency


class KnownGraph(NamedTuple):
    """`taken` has a bit for each edge, 0 but while rows are matched; `tops` are the ends of the
    parts of both pools that are in use; `pairs` is a table of edges by their ends, or empty
    (`pair_tables`); `types` are those of the property columns, which come behind it.
    """

    graph: Adjacency
    taken: NDArray[np.uint8]
    tops: NDArray[np.int64]
    pairs: NDArray[np.int64]
    types: NDArray[np.int64]


WHOLE, REAL, TRUTH = 0, 1, 2
"""The types that a property can have: int64, float64, bool."""

COLUMNS = places(KnownGraph)
known_at = record_reader(KnownGraph)
