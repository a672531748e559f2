"""What trimming keeps and works with, on the part of a graph that a task has."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


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
