"""What kernels of fixpoint mode keep and are given, in an advance, a stretch, or a task of many.

They are here and not in the generated modules so that all programs share them: to Numba's quick
look at arguments two classes of one shape are the same, and a call with the wrong one of the two
takes the slow way, a quarter of a millisecond instead of a few microseconds.

Steps of a stretch are counted from the first; -1 stands for the version that it starts from.
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


Int64 = NDArray[np.int64]

DONE, DEPTH, COUNT, UNDOABLE, LIVE, BEGAN, LAST, FIRST_NOW, MOST_CYCLES, MOST_COUNT = range(10)
"""How far a stretch is: steps made, those on the path, rows, entries of the undo log, live edges,
the processor's counter at its begin (0 before) and after the last step; and its orders: the number
of its first repair, and after how many cycles or rows no further step is begun."""


class Stretch(NamedTuple):
    """Steps to be followed: the edges of step n are those between places 2n, 2n + 1 and 2n + 2.

    First those that enter, then those that leave. `final` steps are never gone back from.
    """

    edges: Int32
    places: Int64
    parent: Int32
    final: NDArray[np.bool_]


class StretchRows(NamedTuple):
    """What changed, step by step: step n has rows bounds[n] to bounds[n + 1]."""

    vertex: Int32
    old: Any
    new: Any
    bounds: Int64
    touched: Int64
    cycles: Int64


class StretchPath(NamedTuple):
    """The way from the start of the stretch to where it stands, and what undoes it.

    Entry n of the path is `step[n]`, undone by the log's entries from `start[n]` to the next.
    """

    step: Int64
    start: Int64
    undo: ChangeLog


class StretchRoom(NamedTuple):
    """Room for what a stretch leaves, and for the ends of the edges of a step."""

    rows: StretchRows
    path: StretchPath
    sources: Int32
    targets: Int32


stretch_at = record_reader(Stretch)
room_at = record_reader(StretchRoom)


class Held(NamedTuple):
    """Values and levels of all vertices that a task knows, and the own ones in line to be asked.

    `line` is a ring with room for every own vertex; `waiting` says who is in it, so that nobody is
    twice. `fallen` has room for every own vertex as well.
    """

    value: Any
    level: Int64
    line: Int32
    waiting: NDArray[np.bool_]
    fallen: Int32
