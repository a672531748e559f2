"""What the functions of a program need in lanes besides arithmetic."""

from __future__ import annotations

from typing import Any

from graphtide.kernels.jit import joined_kernel
from graphtide.kernels.lanes.values import (
    at_most,
    both,
    differ,
    either,
    equal,
    greatest,
    magnitude,
    multiply,
    opposite,
    spread,
    subtract,
)

INFINITY = float("inf")


@joined_kernel
def floats_moved(before: Any, after: Any, tolerance: float) -> Any:
    """Where floats moved by more than a share of themselves; NaN stays where it is."""
    neither = both(differ(before, before), differ(after, after))
    differs = both(differ(before, after), opposite(neither))
    if tolerance == 0.0:
        return differs
    one, other = magnitude(before), magnitude(after)
    share = multiply(spread(tolerance), greatest(one, other))
    near = at_most(magnitude(subtract(before, after)), share)
    endless = either(equal(one, spread(INFINITY)), equal(other, spread(INFINITY)))
    return both(differs, either(endless, opposite(near)))
