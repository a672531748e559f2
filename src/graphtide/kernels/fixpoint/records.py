"""What fixpoint kernels keep and are given.

They are here and not in the generated modules so that all programs share them: to Numba's quick
look at arguments two classes of one shape are the same, and a call with the wrong one of the two
takes the slow way, a quarter of a millisecond instead of a few microseconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import record_reader
from graphtide.kernels.graph.adjacency import Adjacency

Int32 = NDArray[np.int32]

NOW, MOST, LABEL, NEW_LABEL = range(4)
"""The orders of an advance: its number and the most edges that it may look at. And its report: the
label of a component that was renamed, and the new one; the same where none was."""
ATTEMPTS = 2
"""An advance may begin anew, under the next number."""
LAST_NUMBER = (1 << 31) - 1
"""Stamps hold no greater one: two hours of advances of one edge each get there."""


class Reached(NamedTuple):
    """What a run from scratch finds a vertex; parents and levels have no room if nobody asks."""

    value: Any
    parent: Int32
    level: Int32


class ChangeLog(NamedTuple):
    """What vertices were before an advance, in the order in which they were first changed."""

    vertex: Int32
    value: Any
    parent: Int32
    level: Int32


class Line(NamedTuple):
    """Vertices in the order in which they are settled, and who has been made an offer."""

    queue: Int32
    offered: NDArray[np.uint8]


class FixpointState(NamedTuple):
    """What is kept a vertex; `stamp` is the last advance that logged it.

    `place` is -1 for all between advances; `heap` holds nothing. What an advance logs and who fell
    in it is there until the next one.
    """

    value: Any
    parent: Int32
    level: Int32
    stamp: Int32
    heap: Int32
    place: Int32
    log: ChangeLog
    fallen: Int32


state_at = record_reader(FixpointState)


class Context(NamedTuple):
    """What the kernels read: the graph, and a block of edge properties and parameters."""

    graph: Adjacency
    read: NDArray[np.int64]
