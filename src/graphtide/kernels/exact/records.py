"""What exact kernels keep, work with and are given.

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
Int64 = NDArray[np.int64]

NOTHING = -1

VISITS, VERTICES, ENTRIES, CHANGED, TIMES, TOUCHED, PASSED, MOST, STOPPED = range(9)
"""What `Desk.counts` counts: visits lined up, vertices and entries logged, vertices changed at the
current iteration, iterations waiting, edges looked at, entries passed on the way to those that were
looked for, the most of both that may be, and why the work was broken off, which is one of the
following."""

PASSED_AN_EDGE = 24
"""So many entries that are passed count as an edge that is looked at. On a road network, where
components have histories of 44 entries and shortest paths of 22, a repair that counted edges alone
took up to twice a run from scratch before it was broken off. The longest batch there, broken off
and run from scratch, took 1.46 times one with this (1.5 is what it may)."""

GOING, DESK_FULL, HISTORIES_FULL, TOO_MUCH = range(4)

NOW, ITERATIONS, MOST_WORK = range(3)
"""The orders of an advance: its number, the last iteration, and the most edges to look at."""

TIME, FRONTIER, LISTED, WORK = range(4)
"""How far a run from scratch is: the iteration, vertices that have something to say, vertices with
a value that is not kept yet, edges looked at."""


class Histories(NamedTuple):
    """Entries as linked lists in ascending time: 16 bytes an entry, 8 a vertex.

    Time, value and following of an entry lie side by side: three views of one array. `free` are
    the head of the list of entries that were given up, and the first that was never used. The
    entry of iteration 0 is not stored.
    """

    head: Int32
    stamp: Int32
    time: Int32
    value: Any
    following: Int32
    free: Int32


class Rounds(NamedTuple):
    """What a run from scratch works with: values now and next, who is to send, who improved.

    `tail` is the last entry of each vertex, without room where no histories are kept.
    """

    value: Any
    fresh: Any
    frontier: Int32
    listed: Int32
    tail: Int32
    progress: Int64


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
    """What vertices were before an advance: their last values, and their entries.

    The entries of number n are those from begin[n] to begin[n + 1].
    """

    vertex: Int32
    begin: Int32
    last: Any
    time: Int32
    value: Any


class Changed(NamedTuple):
    """Vertices whose entry at the current iteration is not what it was, with what it was."""

    vertex: Int32
    had: NDArray[np.bool_]
    value: Any


class Context(NamedTuple):
    """What the kernels read: the graph, a block of properties and parameters, the end."""

    graph: Adjacency
    read: Int64
    iterations: int


class Desk(NamedTuple):
    """What an advance works with; its counters are cells, so that all of it can be passed on."""

    visits: Visits
    log: Log
    changed: Changed
    times: Int32
    mark: Int32
    counts: Int64


histories_at = record_reader(Histories, strided=("time", "value", "following"))
desk_at = record_reader(Desk)
