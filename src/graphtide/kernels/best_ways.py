"""The best ways through the steps of a plan, at given prices.

A step is reached by following its delta from a state at its parent (FOLLOW), by making that state
first (RESTART), from scratch with a state for its children (SPLIT) or without one (PASS). A
state at a parent serves all its children in turn; one that was split off serves a subtree. So two
numbers a step tell all: what is left of the parent's subtree takes so long with a state at the
parent, and so long without. Backwards over the order of visits they follow from one another.

What lies behind the steps that are looked at counts as nothing, with a state and without. O(steps).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel

FOLLOW, RESTART, SPLIT, PASS = 0, 1, 2, 3

FLIP = 3e-8
"""Seconds to flip an edge, which every way does for each edge of the delta. Measuring it in every
run gained 2%."""

ANEW = 1.25
"""A repair that is broken off and run anew, as a multiple of a start."""

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

    From scratch by the version, flips apart, and `state` times that with a state. Following by the
    delta, flips included; from `border`, a share of the version, on it is broken off.
    """

    scratch: float
    scratch_slope: float
    state: float
    follow: float
    follow_slope: float
    border: float


class Ways(NamedTuple):
    """By step: seconds of following it, from scratch and with a state, and the best ways.

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


@kernel
def best_ways(first: int, behind: int, plan: PlanSizes, lines: WayLines, ways: Ways) -> None:
    """Fill in `ways` for the steps from `first` to `behind`."""
    for step in range(behind - 1, first - 1, -1):
        size, parent, end = plan.version[step], plan.parent[step], plan.end[step]
        flips = FLIP * plan.delta[step]
        alone = lines.scratch + lines.scratch_slope * size
        split = flips + lines.state * alone
        scratch = flips if plan.free[step] else flips + alone
        in_vain = flips + ANEW * lines.state * alone
        follow = min(in_vain, lines.follow + lines.follow_slope * plan.delta[step])
        if plan.delta[step] >= lines.border * size:
            follow = in_vain
        ways.follow[step], ways.scratch[step], ways.split[step] = follow, scratch, split

        below_ready = below_bare = beside_ready = beside_bare = 0.0
        if step + 1 < min(end, behind):
            below_ready, below_bare = ways.ready[step + 1], ways.bare[step + 1]
        siblings = len(plan.end) if parent < 0 else plan.end[parent]
        if end < min(siblings, behind):
            beside_ready, beside_bare = ways.ready[end], ways.bare[end]

        best, move = scratch + below_bare, PASS
        if split + below_ready < best:
            best, move = split + below_ready, SPLIT
        following = follow + below_ready
        ways.ready[step] = min(best, following) + beside_ready
        ways.with_state[step] = FOLLOW if following <= best else move

        above = plan.empty if parent < 0 else plan.version[parent]
        start_above = lines.state * (lines.scratch + lines.scratch_slope * above)
        restarting = start_above + following + beside_ready
        ways.bare[step] = min(best + beside_bare, restarting)
        ways.without[step] = RESTART if restarting < best + beside_bare else move
