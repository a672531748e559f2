"""What a stretch of steps is given, and what it leaves behind.

Steps are counted from the first of the stretch; -1 stands for the version that it starts from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import record_reader
from graphtide.kernels.fixpoint.records import ChangeLog

Int32 = NDArray[np.int32]
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
