"""What a stretch of steps is given, and what it leaves behind.

Steps are counted from the first of the stretch; -1 stands for the version that it starts from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.fixpoint_records import ChangeLog

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Stretch(NamedTuple):
    """Steps to be followed: the edges of step n are those between places 2n, 2n + 1 and 2n + 2.

    First those that enter, then those that leave. `final` steps are never gone back from.
    """

    edges: Int32
    places: Int64
    parent: Int32
    final: NDArray[np.bool_]


class StretchLimits(NamedTuple):
    """Where a stretch ends before its last step.

    A repair that looks at more than `patience` times the live edges is not made; `live` is how many
    there are at first. After so many cycles or so many rows no further step is begun.
    """

    live: int
    patience: float
    cycles: int
    rows: int


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
