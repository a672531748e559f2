"""Edge properties that a run makes itself, because no file has them.

Graphsurge numbers vertices as it meets them: those of the vertex file first, in its order, then
ends of edges, src before dst. Its weights are made of these numbers. Ours are the same for
vertices of tables; those that only edges speak of we number by id.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.store.graph import StoredGraph
from graphtide.store.merged import live_edges

ENDS = "_ends"
"""The sum of the numbers of both ends. No property of a file can have this name."""


def with_ends(edges: pa.Table, stored: StoredGraph) -> pa.Table:
    """All edges of a graph (`_src`, `_dst`, ...) with the column `_ends`."""
    src, dst = (edges.column(name).to_numpy() for name in ("_src", "_dst"))
    there = live_edges(stored)
    numbers = numbers_by_appearance(src[there], dst[there], stored.vertices, stored.listed)
    return edges.append_column(ENDS, pa.array(numbers[src] + numbers[dst]))


def numbers_by_appearance(
    src: NDArray[np.int32], dst: NDArray[np.int32], vertices: int, listed: int
) -> NDArray[np.int64]:
    """By our number, that of Graphsurge; the first `listed` vertices are of tables."""
    numbers = np.arange(vertices, dtype=np.int64)
    if listed == vertices:
        return numbers
    met = np.empty(2 * len(src), np.int32)
    met[0::2], met[1::2] = src, dst
    distinct, first = np.unique(met[met >= listed], return_index=True)
    order = distinct[np.argsort(first)]
    # Behind those that edges meet come those whose edges are all deleted.
    order = np.concatenate([order, np.setdiff1d(np.arange(listed, vertices), order)])
    numbers[order] = np.arange(listed, vertices)
    return numbers
