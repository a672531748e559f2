"""The signed edges between two versions of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

EdgeIds = NDArray[Any]
"""Numbers of edges: int32, and int64 in stored graphs that outgrew it (`edge_numbers`)."""


def no_edges() -> EdgeIds:
    """An empty array of edge numbers."""
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class Delta:
    """Edges that enter and edges that leave, by edge number; an edge is in at most one of them."""

    inserted: EdgeIds = field(default_factory=no_edges)
    deleted: EdgeIds = field(default_factory=no_edges)

    def __len__(self) -> int:
        return len(self.inserted) + len(self.deleted)

    def inverse(self) -> Delta:
        """The delta that undoes this one."""
        return Delta(inserted=self.deleted, deleted=self.inserted)

    def apply(self, alive: NDArray[np.bool_]) -> None:
        """Flip the edges in a mask over all edges, in place. O(len(self))."""
        alive[self.inserted] = True
        alive[self.deleted] = False
