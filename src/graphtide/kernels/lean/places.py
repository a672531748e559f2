"""Where an edge of a lean graph stands in columns of properties."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.jit import joined_kernel
from graphtide.kernels.lanes.records import LaneRows


@joined_kernel
def edge_at(rows: LaneRows, position: Any) -> Any:
    """The number of the edge at a position; by source it is the position. Without a sign."""
    if len(rows.edge) == 0:
        return np.uint64(position)
    return np.uint64(rows.edge[position])
