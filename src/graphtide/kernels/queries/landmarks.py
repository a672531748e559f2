"""Bounds by landmarks: what a walk between two vertices costs at least, and at most.

Landmarks are starts of searches of their own, in rows of their own, that go along walks and against
them: so a row says what its vertex costs from each landmark, and to each. Where walks go both ways
alike, one search says both. A walk from s to t cannot cost less than what t costs from a landmark
beyond what s does, and it cannot cost more than the way round through the landmark.

Costs with fractions are sums in several orders: `slack` is the share by which they may be off. It
is taken of the sums that are compared, not of their difference, which may be far smaller.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.queries.records import Float64, Int64, rows_of
from graphtide.kernels.queries.rows import find_entry, value_at


class Marks(NamedTuple):
    """The block of the landmarks' searches, none where `size` is 0. Those with keys below `size`
    go along walks, those with keys from `turned` on against them; `turned` is 0 where they are the
    same. `slack` is what rounding may make of costs, as a share.
    """

    words: Int64
    size: int
    turned: int
    slack: float


SLACK = 1e-9
"""Of a cost: sums of a million parts, in any two orders, differ by less."""

EXACT = 2.0**53
"""Whole numbers beyond it are not told apart, so that their sums depend on their order as well."""

FAR = 1e290
"""Beyond it, a sum may have ended for want of larger numbers: then nothing is concluded."""


@inner_kernel
def least_between(marks: Marks, source: int, target: int) -> float:
    """What a walk from one vertex to another costs at least; infinity where there is none."""
    rows, least = rows_of(marks.words), 0.0
    one, other = rows.start[source], rows.start[target]
    one_end, other_end = one + rows.length[source], other + rows.length[target]
    while one < one_end or other < other_end:
        here = rows.key[one] if one < one_end else np.int32(2**31 - 1)
        there = rows.key[other] if other < other_end else np.int32(2**31 - 1)
        key, near, far = min(here, there), np.inf, np.inf
        if here == key:
            near = value_at(rows, one)
            one += 1
        if there == key:
            far = value_at(rows, other)
            other += 1
        if key < marks.size:
            least = max(least, beyond(near, far, marks.slack))
        if key >= marks.turned:
            least = max(least, beyond(far, near, marks.slack))
    return least


@inner_kernel
def beyond(near: float, far: float, slack: float) -> float:
    """By how much one cost exceeds another, at least; 0 where the other one is not known."""
    if near > FAR:
        return 0.0
    if far == np.inf:
        return far
    return float(far - near - rounding(slack, far + near) * (far + near))


@joined_kernel
def rounding(slack: float, cost: float) -> float:
    """By which share a cost may be off that adds up what may be off by `slack`."""
    return slack if cost < EXACT else SLACK


@inner_kernel
def most_between(marks: Marks, source: int, target: int) -> float:
    """What the best walk through a landmark costs; infinity where there is none."""
    rows, most = rows_of(marks.words), np.inf
    start = rows.start[source]
    for place in range(start, start + rows.length[source]):
        mark = rows.key[place] - marks.turned
        if mark < 0:
            continue
        there = find_entry(marks.words, target, mark)
        if there >= 0:
            most = min(most, value_at(rows, place) + value_at(rows, there))
    return float(most * (1.0 + rounding(marks.slack, most)))


@bare_kernel
def bounds_between(marks: Marks, source: int, target: int, found: Float64) -> None:
    """Write what a walk costs at least and at most."""
    found[0] = least_between(marks, source, target)
    found[1] = most_between(marks, source, target)
