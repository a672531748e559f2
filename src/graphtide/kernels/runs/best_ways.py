"""The best ways through the steps of a plan, at given prices.

A step is reached by following its delta from a state at its parent (FOLLOW), by making that state
first (RESTART), from scratch with a state for its children (SPLIT) or without one (PASS). A
state at a parent serves all its children in turn; one that was split off serves a subtree. So two
numbers a step tell all: what is left of the parent's subtree takes so long with a state at the
parent, and so long without. Backwards over the order of visits they follow from one another.

What lies behind the steps that are looked at counts as nothing, with a state and without. O(steps).
"""

from __future__ import annotations

from graphtide.kernels.jit import joined_kernel, kernel
from graphtide.kernels.runs.ways_records import PlanSizes, WayLines, Ways

FOLLOW, RESTART, SPLIT, PASS = 0, 1, 2, 3


@joined_kernel
def _start(lines: WayLines, size: int) -> float:
    """Making a state at a version of this size."""
    return max(
        lines.bare + lines.bare_slope * size,
        lines.fresh + lines.fresh_slope * size,
    )


@kernel
def best_ways(first: int, behind: int, plan: PlanSizes, lines: WayLines, ways: Ways) -> None:
    """Fill in `ways` for the steps from `first` to `behind`."""
    for step in range(behind - 1, first - 1, -1):
        size, parent, end = plan.version[step], plan.parent[step], plan.end[step]
        flips = lines.flip * plan.delta[step]
        start = _start(lines, size)
        vain = max(lines.anew * start, lines.vain + lines.vain_slope * size) + flips
        follow = min(vain, lines.follow + lines.follow_slope * plan.delta[step])
        if plan.delta[step] >= lines.border * size:
            follow = vain
        scratch = flips
        if not plan.free[step]:
            scratch += lines.bare + lines.bare_slope * size
        ways.follow[step], ways.scratch[step], ways.split[step] = follow, scratch, flips + start

        below_ready = below_bare = beside_ready = beside_bare = 0.0
        if step + 1 < min(end, behind):
            below_ready, below_bare = ways.ready[step + 1], ways.bare[step + 1]
        siblings = len(plan.end) if parent < 0 else plan.end[parent]
        if end < min(siblings, behind):
            beside_ready, beside_bare = ways.ready[end], ways.bare[end]

        best, move = scratch + below_bare, PASS
        if flips + start + below_ready < best:
            best, move = flips + start + below_ready, SPLIT
        following = follow + below_ready
        ways.ready[step] = min(best, following) + beside_ready
        ways.with_state[step] = FOLLOW if following <= best else move

        above = plan.empty if parent < 0 else plan.version[parent]
        restarting = _start(lines, above) + following + beside_ready
        ways.bare[step] = min(best + beside_bare, restarting)
        ways.without[step] = RESTART if restarting < best + beside_bare else move
