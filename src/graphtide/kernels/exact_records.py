"""What exact kernels keep, work with and are given.

They are here and not in the generated modules so that all programs share them: to Numba's quick
look at arguments two classes of one shape are the same, and a call with the wrong one of the two
takes the slow way, a quarter of a millisecond instead of a few microseconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.adjacency import Adjacency

Int32 = NDArray[np.int32]


class Histories(NamedTuple):
    """Entries as linked lists in ascending time: 16 bytes an entry, 8 a vertex.

    `free[0]` heads the list of unused entries. The entry of iteration 0 is not stored.
    """

    head: Int32
    stamp: Int32
    time: Int32
    value: Any
    following: Int32
    free: Int32


class Agenda(NamedTuple):
    """Visits by iteration: `first[t]` heads the list of those at t. Empty between advances."""

    first: Int32


class Visits(NamedTuple):
    """Visits to come: a vertex, and the edge whose event may help it, or NOTHING for a look."""

    vertex: Int32
    edge: Int32
    source: Int32
    following: Int32


class Log(NamedTuple):
    """Histories before an advance: vertices, where their entries begin, and the entries."""

    vertex: Int32
    begin: Int32
    time: Int32
    value: Any


class Changed(NamedTuple):
    """Vertices whose entry at the current iteration is not what it was, with what it was."""

    vertex: Int32
    had: Any
    value: Any


class Context(NamedTuple):
    """What the kernels read: the graph, edge properties, parameters, and the last iteration."""

    graph: Adjacency
    properties: Any
    parameters: Any
    iterations: int


class Desk(NamedTuple):
    """What an advance works with; counters are single cells, so that all of it can be passed on.

    `counts` are: visits, log vertices, log entries, changed, times waiting, edges touched, and
    whether room ran out.
    """

    visits: Visits
    log: Log
    changed: Changed
    times: Int32
    mark: Int32
    counts: NDArray[np.int64]
