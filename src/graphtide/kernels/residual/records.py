"""What the kernels of settling sums keep and are given.

They are here and not in the generated modules so that all programs share them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]

QUEUED, LOGGED, MET = 1, 2, 4
"""Marks of a vertex: it waits to be pushed, it is in the log, it is an end of a changed edge."""

FIRST, WAITING, ENTRIES, TOUCHED, MOST, WIDE = range(6)
"""The counts of an advance: where the queue begins, how many wait in it, entries of the log, edges
looked at, how many of them before a kernel returns, and the edges of a frontier that is wide."""

MASS, DRIFT, LIMIT = range(3)
"""The measures of a state: no less than all absolute residuals together; no less than what rounding
has put any of them off by; and what share of its base a residual may be."""


class Context(NamedTuple):
    """What the kernels read: the graph, and the program's parameters."""

    graph: Adjacency
    parameters: Any


class Summed(NamedTuple):
    """What is kept a vertex: its value, what it sends along each edge, and its residual.

    residual(v) = base(v) + what the edges to v carry - value(v), but for rounding; sent(u) is
    value(u) * share(u), and 0 where no edge leaves u.
    """

    value: Float64
    sent: Float64
    residual: Float64


class ResidualLog(NamedTuple):
    """What vertices had before an advance, in the order in which they were first changed."""

    vertex: Int32
    value: Float64
    sent: Float64
    residual: Float64


class ResidualState(NamedTuple):
    """What is kept, and what an advance works with: marks are 0 and nobody waits between them."""

    summed: Summed
    mark: NDArray[np.uint8]
    queue: Int32
    log: ResidualLog
    counts: NDArray[np.int64]
    measures: Float64
