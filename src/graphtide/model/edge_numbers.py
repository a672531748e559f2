"""How wide the numbers of edges are: 32 bits in a graph that these suffice for, 64 in a larger one.

The width follows from how many numbers a graph has given out, so no manifest has to tell it. Files
that were written before a graph outgrew 32 bits stay as they are: whoever reads a graph of wide
numbers reads those of every file as wide. Vertices always have 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_NARROW = 1 << 31
"""Graphs of fewer edges have narrow numbers; and no graph in memory has as many."""

MOST_EDGES = 10**12 - 1
"""The name of a file of edges has the number of its first edge, in twelve digits."""


def is_wide(edges: int) -> bool:
    """Whether the numbers of so many edges need 64 bits."""
    return edges >= MOST_NARROW


def number_type(edges: int) -> Any:
    """The type of the numbers of so many edges."""
    return np.int64 if is_wide(edges) else np.int32
