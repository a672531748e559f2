"""The signed edges between two versions of a graph, and how wide the numbers of edges are.

Numbers have 32 bits in a graph that these suffice for, and 64 in a larger one. The width follows
from how many numbers a graph has given out, so no manifest has to state it. Files that were
written before a graph outgrew 32 bits stay as they are: whoever reads a graph with wide numbers
reads every file's numbers as wide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

EdgeIds = NDArray[Any]
"""Numbers of edges: int32, and int64 in stored graphs that outgrew it (`edge_numbers`)."""


def no_edges() -> EdgeIds:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class Delta:
    """Edges that enter and edges that leave, by edge number; an edge is in at most one of them."""

    inserted: EdgeIds = field(default_factory=no_edges)
    deleted: EdgeIds = field(default_factory=no_edges)

    def __len__(self) -> int:
        return len(self.inserted) + len(self.deleted)

    def inverse(self) -> Delta:
        return Delta(inserted=self.deleted, deleted=self.inserted)

    def apply(self, alive: NDArray[np.bool_]) -> None:
        """Flip the edges in a mask over all edges, in place. O(len(self))."""
        alive[self.inserted] = True
        alive[self.deleted] = False


MOST_NARROW = 1 << 31
"""Graphs of fewer edges have narrow numbers; and no graph in memory has as many."""

MOST_EDGES = 10**12 - 1
"""The name of a file of edges has the number of its first edge, in twelve digits."""


def is_wide(edges: int) -> bool:
    """Whether the numbers of this many edges need 64 bits."""
    return edges >= MOST_NARROW


def number_type(edges: int) -> Any:
    """The NumPy type of edge numbers in a graph that has given out this many."""
    return np.int64 if is_wide(edges) else np.int32
