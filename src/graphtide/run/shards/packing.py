"""The edges of a shard, packed: rows that come sorted become arrays that a task takes as they are.

Rows are sorted by the vertex of the shard, then by the other end, then by the number of the edge.
That is the order in which sums are added up, for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.shards.live_edges import ShardEdges


def pack_shard(
    size: int,
    places: NDArray[Any],
    ends: NDArray[Any],
    classes: NDArray[Any],
    properties: Mapping[str, NDArray[Any]],
) -> ShardEdges:
    """A shard of so many vertices; `places` are those of the own ends among them."""
    table, compact = np.unique(ends, return_inverse=True)
    return ShardEdges(
        start=np.searchsorted(places, np.arange(size + 1)).astype(np.int64),
        ends=compact.astype(np.int32),
        table=table.astype(np.int32),
        classes=np.asarray(classes, np.int32),
        properties=dict(properties),
    )
