"""What the best ways through a plan are found from, and what is found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class PlanSizes(NamedTuple):
    """All steps of a plan: their sizes, their parents, and the first step behind each subtree.

    `free` steps take no more than their flips from scratch; `empty` is the size of what a step
    without a parent begins with.
    """

    version: Int64
    delta: Int64
    parent: Int32
    end: Int32
    free: NDArray[np.bool_]
    empty: int


class WayLines(NamedTuple):
    """Seconds of every way, as lines over sizes: two numbers each, at no size and by the size.

    From scratch without a state by the version; with one the larger of two lines. Following by the
    delta, from `border`, a share of the version, on in vain: then it takes `anew` times a start, or
    the line `vain` if that is more. `flip` is part of every way, for each edge of the delta; the
    line of following has it in it.
    """

    bare: float
    bare_slope: float
    fresh: float
    fresh_slope: float
    follow: float
    follow_slope: float
    vain: float
    vain_slope: float
    anew: float
    flip: float
    border: float


class Ways(NamedTuple):
    """By step: seconds of following it and from scratch, and the best ways of `best_ways`.

    `ready` and `bare` are the best seconds of the step, its subtree and all that is left of its
    parent's, with a state at the parent and without; `with_state` and `without` the moves.
    """

    follow: Float64
    scratch: Float64
    split: Float64
    ready: Float64
    bare: Float64
    with_state: NDArray[np.int8]
    without: NDArray[np.int8]
